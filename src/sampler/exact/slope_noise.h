/* Bounces off a slope G + y with y ~ N(0, sigma^2), independent at every time (Theorem 1). */
#ifndef SAMPLER_SLOPE_NOISE_H
#define SAMPLER_SLOPE_NOISE_H

#include "core/rng.h"

/* E (G + y)+ = G Phi(G/sigma) + sigma phi(G/sigma); G+ without noise. Convex and rising in
 * G. */
double noisy_rate(double g, double sigma);
/* The most by which it exceeds G+: sigma phi(0). */
double noisy_excess(double sigma);
/* Draws y of a bounce, in proportion to (G + y)+ N(y; 0, sigma^2); 0 without noise. */
double noisy_draw(rng *random, double g, double sigma);

#endif

/* Gaussian noise on the slope, averaged exactly. With a = G/sigma and x = (G + y)/sigma,
 *
 *   E (G + y)+ = sigma (a Phi(a) + phi(a)) <= G+ + sigma phi(0)                          (1)
 *
 * and x at a bounce has the density f(x) ~ x exp(-(x - a)^2/2), x > 0, whose log has
 * curvature minus (1 + 1/x^2). So f is bounded by N(m, 1) at its mode m = (a + sqrt(a^2 +
 * 4))/2, with m - a = 1/m:
 *
 *   accept with probability (x/m) exp(1 - x/m)                                           (2)
 *
 * which is at least one half for a >= -1. Below, f ~ x exp(a x) exp(-x^2/2) is bounded by a
 * gamma density of shape 2 and rate -a:
 *
 *   accept with probability exp(-x^2/2)                                                  (3)
 *
 * which is at least one third. */
#include "sampler/exact/slope_noise.h"
#include "linalg/real.h"

#include <math.h>

double noisy_excess(double sigma)
{
    return sigma / sqrt(2.0 * M_PI);
}

double noisy_rate(double g, double sigma)
{
    if (!(sigma > 0.0)) return larger(g, 0.0);
    double a = g / sigma;
    double rate = 0.5 * g * erfc(-a * M_SQRT1_2) + noisy_excess(sigma) * exp(-0.5 * a * a);
    return larger(rate, 0.0); /* far below zero both terms cancel */
}

/* x by rejection from the normal of (2). */
static double near_mode(rng *random, double a)
{
    double m = 0.5 * (a + sqrt(a * a + 4.0)), ratio;
    do ratio = (m + rng_normal(random)) / m;
    /* never accepts a negative ratio */
    while (rng_uniform(random) >= ratio * exp(1.0 - ratio));
    return ratio * m;
}

/* x by rejection from the gamma distribution of (3). */
static double in_tail(rng *random, double a)
{
    double x;
    do x = (rng_exponential(random) + rng_exponential(random)) / -a;
    while (rng_uniform(random) >= exp(-0.5 * x * x));
    return x;
}

double noisy_draw(rng *random, double g, double sigma)
{
    if (!(sigma > 0.0)) return 0.0;
    double a = g / sigma;
    return sigma * (a < -1.0 ? in_tail(random, a) : near_mode(random, a)) - g;
}

/* Gaussian noise on the slope, averaged over exactly. With a = G/sigma and x = (G + y)/sigma,
 *
 *   E (G + y)+ = sigma (a Phi(a) + phi(a)) <= G+ + sigma phi(0)                          (1)
 *
 * and x at a bounce has the density f(x) ~ x exp(-(x - a)^2/2), x > 0, whose log bends by -1 - 1/x^2.
 * So f lies under N(m, 1) through its mode m = (a + sqrt(a^2 + 4))/2, with m - a = 1/m:
 *
 *   accept with (x/m) exp(1 - x/m)                                                       (2)
 *
 * taken half the time or more for a >= -1. Below, f ~ x exp(a x) exp(-x^2/2) lies under a gamma
 * density of shape 2 and rate -a:
 *
 *   accept with exp(-x^2/2)                                                              (3)
 *
 * taken a third of the time or more. */
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

static double near_mode(rng *random, double a)
{
    double m = 0.5 * (a + sqrt(a * a + 4.0)), ratio;
    do ratio = (m + rng_normal(random)) / m;
    while (rng_uniform(random) >= ratio * exp(1.0 - ratio)); /* negative: never */
    return ratio * m;
}

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

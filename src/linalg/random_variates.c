/* Random variates.
 *
 * Poisson, mean from 10 on: Hormann (1993), The transformed rejection method for generating
 * Poisson random variables, Insurance: Mathematics and Economics 12, 39-45, algorithm PTRS.
 * Binomial, many trials: the middle one of n uniform numbers is a beta variate, and decides how
 * many of the others are below p; Devroye (1986), Non-uniform random variate generation, X.4.
 * Gamma: Marsaglia, Tsang (2000), A simple method for generating gamma variables, ACM Trans.
 * Math. Software 26, 363-372. */
#include "linalg/random_variates.h"
#include "linalg/real.h"

/* Counts the arrivals of a Poisson process of rate 1 before time mu. */
static double count_arrivals(rng *r, double mu)
{
    double count = -1.0;
    for (double time = 0.0; time < mu; time += rng_exponential(r)) count++;
    return fmax(count, 0.0);
}

/* Algorithm PTRS, with the names of its constants there: a, b, 1/alpha and v_r. */
static double reject_transformed(rng *r, double mu)
{
    double b = 0.931 + 2.53 * sqrt(mu), a = -0.059 + 0.02483 * b;
    double scale = 1.1239 + 1.1328 / (b - 3.4), quick_accept = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        double u = rng_uniform(r) - 0.5, v = rng_uniform(r), s = 0.5 - fabs(u);
        double k = floor((2.0 * a / s + b) * u + mu + 0.43);
        if (s >= 0.07 && v <= quick_accept) return k;
        if (k < 0.0 || (s < 0.013 && v > s)) continue;
        if (log(v * scale / (a / (s * s) + b)) <= k * log(mu) - mu - log_gamma(k + 1.0))
            return k;
    }
}

double draw_poisson(rng *r, double mean)
{
    return mean < 10.0 ? count_arrivals(r, mean) : reject_transformed(r, mean);
}

/* Marsaglia and Tsang for shapes from 1 on. A variate of shape k < 1 is one of shape k + 1
 * times U^(1/k). */
double draw_log_gamma(rng *r, double shape)
{
    double boost = shape < 1.0 ? log(rng_uniform(r)) / shape : 0.0;
    double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        double x = rng_normal(r), v = pow(1.0 + c * x, 3.0);
        if (v > 0.0 && log(rng_uniform(r)) < 0.5 * x * x + d * (1.0 - v + log(v)))
            return boost + log(d * v);
    }
}

/* At most this many trials are drawn one by one. */
#define TRIALS_FEW 32.0

/* A beta(a, b) variate, from the ratio of two gamma variates. */
static double draw_beta(rng *r, double a, double b)
{
    double odds = draw_log_gamma(r, a) - draw_log_gamma(r, b);
    return 1.0 / (1.0 + exp(-odds));
}

/* While there are many trials, the position of their middle order statistic halves them. */
double draw_binomial(rng *r, double n, double p)
{
    double count = 0.0;
    while (n > TRIALS_FEW && p > 0.0 && p < 1.0) {
        double middle = floor((n + 1.0) / 2.0), at = draw_beta(r, middle, n + 1.0 - middle);
        if (at <= p) {
            count += middle;
            n -= middle;
            p = (p - at) / (1.0 - at);
        } else {
            n = middle - 1.0;
            p /= at;
        }
    }
    for (; n >= 1.0; n--) count += rng_uniform(r) < p;
    return count;
}

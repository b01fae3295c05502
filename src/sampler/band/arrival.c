/* gamma(t) = b1 t + b0 + k sqrt(v00 + 2 v01 t + v11 t^2 + noise) is convex, and so is its
 * maximum with a constant: chords between any nodes bound it from above. On a chord with
 * rate a + b s the arrival solves a s + b s^2/2 = E: s = 2 E / (a + sqrt(a^2 + 2 b E)).
 *
 * The band over a Gaussian process is not convex: there each chord is compared with the band
 * at points between its ends and raised by twice what is missing. Should a little still be
 * missing, the sampler's count of violations shows it, because it compares G with the chord.
 *
 * How often should G~ exceed lambda? Given the past and the time t of a proposal, G~ comes
 * from a fresh batch: it is N(mean, rho^2) if the regression is right, whatever thinning
 * does with it, so that
 *
 *     P(G~ > lambda) = Q(z),   z = (lambda - mean(t)) / rho(t) >= k,                        (1)
 *
 * with lambda as it was used: chords and floor lie above the band, so that k alone would
 * predict too many. The sum of (1) over proposals less the number of violations is a
 * martingale. Q is the normal tail by Sampford's (1953) bound of Mills' ratio, which costs
 * one exponential:
 *
 *     Q(z) < phi(z) 4 / (3 z + sqrt(z^2 + 8)). */
#include "sampler/band/arrival.h"
#include "linalg/real.h"

#include <math.h>

#define CHECKPOINTS 3 /* between the ends of a chord over a process */

double band_mean(const band *b, double t)
{
    double mean, variance;
    if (!b->curve) return fit_mean(&b->fit, t);
    process_predict(b->curve, t, &mean, &variance);
    return mean;
}

double band_sd(const band *b, double t)
{
    double mean, variance;
    if (!b->curve) return fit_sd(&b->fit, t);
    process_predict(b->curve, t, &mean, &variance);
    return sqrt(variance);
}

#define INVERSE_ROOT_2PI 0.39894228040143267794

double band_violation(const band *b, const arrival *a)
{
    const regression_fit *f =
        &b->fit; /* fit_mean and fit_sd inlined by hand: called at every proposal */
    double t = a->time, mean = f->b0 + f->b1 * t;
    double variance = f->v00 + t * (2.0 * f->v01 + t * f->v11) + f->noise;
    if (b->curve) process_predict(b->curve, t, &mean, &variance);
    double z2 = (a->rate - mean) * (a->rate - mean) / variance, z = sqrt(z2);
    return INVERSE_ROOT_2PI * exp(-0.5 * z2) * 4.0 / (3.0 * z + sqrt(z2 + 8.0));
}

double band_rise(const band *b)
{
    double mean = b->fit.b1, variance = b->fit.v11;
    if (b->curve) process_slope(b->curve, &mean, &variance);
    return mean + b->k * sqrt(variance);
}

double band_at_curve(const band *b, double t)
{
    double mean, variance;
    process_predict(b->curve, t, &mean, &variance);
    return mean + b->k * sqrt(variance);
}

/* How much a chord from rate r0 at t to rate r1 at t + h has to be raised to bound the band. */
static double shortfall(const band *b, double t, double h, double r0, double r1)
{
    double largest = 0.0;
    if (!b->curve) return 0.0;
    for (int i = 1; i <= CHECKPOINTS; i++) {
        double fraction = i / (CHECKPOINTS + 1.0);
        largest = larger(largest, band_at(b, t + fraction * h) - (r0 + fraction * (r1 - r0)));
    }
    return 2.0 * largest;
}

/* Fraction of a chord of length h from rate r0 to r1 at which its positive part has
 * integrated to `*left`. If the integral does not reach that, `*left` is reduced by the
 * whole and 1 is returned. */
static double chord_fraction(double r0, double r1, double h, double *left)
{
    double rise = r1 - r0, from = 0.0, to = 1.0;
    if (r0 <= 0.0 && r1 <= 0.0) return 1.0;
    if (r0 < 0.0) from = -r0 / rise;
    if (r1 < 0.0) to = -r0 / rise;
    double a = larger(r0, 0.0), mass = 0.5 * (a + larger(r1, 0.0)) * (to - from) * h;
    if (mass < *left) {
        *left -= mass;
        return 1.0;
    }
    double rest = *left / h, root = a * a + 2.0 * rise * rest;
    *left = 0.0;
    return smaller(from + 2.0 * rest / (a + sqrt(larger(root, 0.0))), 1.0);
}

arrival band_arrival(const band *b, const chord_grid *grid, double exponential)
{
    double t = grid->start, step = grid->step, left = exponential, r0 = band_at(b, t);
    while (t < grid->limit) {
        double next = smaller(t + step, grid->limit), h = next - t, r1 = band_at(b, next);
        double lift = shortfall(b, t, h, r0, r1);
        double fraction = chord_fraction(r0 + lift, r1 + lift, h, &left);
        if (left == 0.0)
            return (arrival){.arrived = true,
                             .time = t + fraction * h,
                             .rate = r0 + (r1 - r0) * fraction + lift};
        if (next == t) break; /* the step is lost in rounding */
        t = next;
        r0 = r1;
        step *= grid->growth;
        if (grid->longest > 0.0) step = smaller(step, grid->longest);
    }
    return (arrival){.arrived = false, .time = grid->limit, .rate = larger(r0, 0.0)};
}

/* Chooses the width of the band from the proposals of warm-up, see calibration.h. */
#include "sampler/band/calibration.h"
#include "linalg/real.h"

#include <float.h>
#include <math.h>

#define WIDTH_FIRST 1.0
#define WIDTH_RATIO 1.06
/* As for the stated bias (estimate/bias.c): two of these are the rule of three. */
#define UNSEEN_COUNT     1.5
#define ENOUGH_MISSES    4.0 /* misses that are needed to estimate their size */
#define PROPOSALS_GROWTH 1.05

double band_width(size_t index)
{
    return WIDTH_FIRST * pow(WIDTH_RATIO, (double)index);
}

void calibration_add_proposal(calibration *c, const band *b, double t, double g, double rate)
{
    double mean = band_mean(b, t), sd = band_sd(b, t), k = WIDTH_FIRST;
    for (size_t i = 0; i < BAND_CURVE; i++, k *= WIDTH_RATIO) {
        double lambda = larger(mean + k * sd, b->floor), missed = (g - lambda) / rate;
        c->proposals[i] += lambda / rate;
        if (!(missed > 0.0)) continue;
        c->missed[i] += missed;
        c->squares[i] += missed * missed;
    }
}

void calibration_add(calibration *c, const calibration *other)
{
    c->time += other->time;
    for (size_t i = 0; i < BAND_CURVE; i++) {
        c->missed[i] += other->missed[i];
        c->squares[i] += other->squares[i];
        c->proposals[i] += other->proposals[i];
    }
}

void calibration_begin(calibration *c, bool on)
{
    *c = (calibration){.on = on};
}

/* bound[i]: missed bounces plus two standard errors, those of a Poisson number of proposals
 * and of UNSEEN_COUNT unobserved ones, which are as large as those at the widest band that
 * missed a few. */
static void bound_missed(const calibration *c, double *bound)
{
    double size = 0.0;
    for (size_t i = 0; i < BAND_CURVE; i++) {
        bool rare = c->missed[i] * c->missed[i] < ENOUGH_MISSES * c->squares[i];
        if (!rare && c->missed[i] > 0.0) size = c->squares[i] / c->missed[i];
        double unseen = UNSEEN_COUNT * size;
        bound[i] = c->missed[i] + 2.0 * sqrt(c->squares[i] + unseen * unseen);
    }
}

/* The width at which a decreasing curve reaches the budget. */
static double width_at(const double *curve, double budget)
{
    for (size_t i = 0; i < BAND_CURVE; i++) {
        if (curve[i] > budget) continue;
        if (i == 0) return WIDTH_FIRST;
        double above = curve[i - 1], below = larger(curve[i], 1e-3 * budget);
        double fraction = log(above / budget) / log(above / below);
        return band_width(i - 1) * pow(WIDTH_RATIO, fraction);
    }
    return band_width(BAND_CURVE - 1);
}

double band_choose_width(const calibration *c, band_goal goal)
{
    double bound[BAND_CURVE];
    if (!(goal.target * c->time > 0.0)) return band_width(BAND_CURVE - 1);
    bound_missed(c, bound);
    double k = larger(width_at(c->missed, goal.target * c->time),
                      width_at(bound, goal.upper * c->time));
    /* Widen k as far as PROPOSALS_GROWTH allows: then a run that saw no rare miss chooses as
     * one that did. The largest width is not chosen this way. */
    size_t i = 0, best;
    while (i + 1 < BAND_CURVE && band_width(i + 1) <= k) i++;
    for (best = i; best + 2 < BAND_CURVE; best++)
        if (!(c->proposals[best + 1] <= PROPOSALS_GROWTH * c->proposals[i])) break;
    return larger(k, band_width(best));
}

void calibration_inspect(const calibration *c, inspection *x)
{
    INSPECT_COUNT(x, c->on, 1);
    INSPECT_REAL(x, c->time, 0.0, DBL_MAX);
    inspect_reals(x, "bounces that a band would miss", c->missed, BAND_CURVE, 0.0, INFINITY);
    inspect_reals(x, "their squares", c->squares, BAND_CURVE, 0.0, INFINITY);
    inspect_reals(x, "proposals that a band would make", c->proposals, BAND_CURVE, 0.0,
                  INFINITY);
}

/* Thinning with local bounds that are verified. The line is divided into cells; in a cell of
 * length h the slope is evaluated at four points, h/3 apart. With second differences D1, D2
 * of these slopes a parabola through them deviates from the chord G_0 -> G_3 by at most
 * (9/8) max |D|; twice that and the change of D give the margin
 *
 *   M = (9/4) (max(|D1|, |D2|) + |D1 - D2|)                                              (1)
 *   lambda(t) = chord of max(r(G_0 + M), floor) -> max(r(G_3 + M), floor)                (2)
 *
 * where r is the rate as a function of the slope: convex and increasing, so the chord of r
 * lies above r of the chord. A cell whose margin would cost more than WASTE proposals is
 * halved. The slope is evaluated at every proposal; where r(G) > lambda the bound was
 * violated, the event counts the r(G)/lambda - 1 bounces that did not happen, and cells
 * become shorter. The floor keeps proposals coming where no bounce is expected, so that a
 * rise between the evaluated points is noticed.
 *
 * Cells are chosen from slopes alone, never from the exponentials drawn. */
#include "sampler/exact/cell_thinning.h"
#include "linalg/real.h"
#include "sampler/core/sampler.h"
#include "sampler/exact/slope_noise.h"

#include <math.h>

#define WASTE      0.5    /* most proposals that the margin of a cell may cost */
#define FLOOR      0.05   /* least lambda, natural units */
#define LONGEST    1.0    /* longest cell, natural units */
#define LENGTH_MIN 0x1p-6 /* least value of the longest cell after violations */
/* shortest cell, next to a boundary: there the rate is larger still */
#define SHORTEST 0x1p-40
#define RECOVERY 1.001 /* growth of the longest cell per segment */
/* cells and proposals of a segment: with more it will not end */
#define CELLS_MAX ((size_t)1e6)

typedef struct {
    node from, to;
    double r0, r1; /* lambda at its ends */
} cell;

cell_lengths cell_thinning_start(void)
{
    return (cell_lengths){.length = 0.5 * LONGEST, .most = LONGEST};
}

/* (1) of four slopes. */
static double margin(const double g[4])
{
    double d1 = g[0] - 2.0 * g[1] + g[2], d2 = g[1] - 2.0 * g[2] + g[3];
    return 2.25 * (larger(fabs(d1), fabs(d2)) + fabs(d1 - d2));
}

/* Evaluates slopes from `from` as far as they allow, at most to the limit. */
static cell next_cell(exact_line *l, cell_lengths *c, double sigma, node from, double limit)
{
    double unit = 1.0 / sqrt(l->curvature), m, h;
    double g[4] = {from.slope};
    c->length = smaller(c->length, c->most);
    for (;;) {
        h = smaller(c->length * unit, limit - from.time);
        for (int i = 1; i < 4; i++) g[i] = exact_slope(l, from.time + h * i / 3.0);
        m = margin(g);
        /* a NaN does not end the loop by its margin */
        if (m * h <= WASTE || c->length <= SHORTEST) break;
        c->length *= 0.5;
    }
    if (m * h <= 0.1 * WASTE) c->length = smaller(2.0 * c->length, c->most);
    double rate_min = FLOOR / unit;
    return (cell){.from = from,
                  .to = {from.time + h, g[3]},
                  .r0 = larger(noisy_rate(g[0] + m, sigma), rate_min),
                  .r1 = larger(noisy_rate(g[3] + m, sigma), rate_min)};
}

/* First arrival in the cell after time t of the rate (2); INFINITY when there is none. */
static double next_arrival(const cell *k, double t, double exponential)
{
    double rise = (k->r1 - k->r0) / (k->to.time - k->from.time);
    double rate = k->r0 + rise * (t - k->from.time);
    double root = rate * rate + 2.0 * rise * exponential;
    if (root < 0.0) return INFINITY;
    t += 2.0 * exponential / (rate + sqrt(root));
    return t < k->to.time ? t : INFINITY;
}

/* True when the proposal at t becomes a bounce. */
static bool accept(exact_line *l, cell_lengths *c, const cell *k, double sigma, double t,
                   rng *random)
{
    double fraction = (t - k->from.time) / (k->to.time - k->from.time);
    double bound = k->r0 + (k->r1 - k->r0) * fraction,
           rate = noisy_rate(exact_slope(l, t), sigma);
    if (rate > bound) c->most = larger(0.5 * c->most, LENGTH_MIN);
    return sampler_accept(rate, bound, random, l->e);
}

bool cell_thinning_arrival(exact_line *l, cell_lengths *c, double sigma, rng *random,
                           double limit, double *time)
{
    node at = {0.0, exact_slope(l, 0.0)};
    c->most = smaller(RECOVERY * c->most, LONGEST);
    for (size_t i = 0; i < CELLS_MAX && at.time < limit; i++) {
        cell k = next_cell(l, c, sigma, at, limit);
        double t = at.time;
        while (t = next_arrival(&k, t, rng_exponential(random)),
               t < k.to.time && i++ < CELLS_MAX) {
            *time = t;
            if (accept(l, c, &k, sigma, t, random)) return true;
        }
        l->e->failed = i >= CELLS_MAX;
        if (k.to.time <= at.time) break; /* the cell is lost in rounding */
        at = k.to;
    }
    *time = at.time;
    return false;
}

void cell_thinning_inspect(const cell_lengths *c, inspection *x)
{
    INSPECT_REAL(x, c->length, 0.5 * SHORTEST, LONGEST);
    INSPECT_REAL(x, c->most, LENGTH_MIN, LONGEST);
}

/* The first arrival of the rate G+ where U is convex along the line, G = dU/dt. G increases,
 * so U falls to its minimum at t* and rises from there; with E ~ Exp(1) the arrival solves
 *
 *   F(t) = U(t) - U(t*) = E,    t > t*                                                  (1)
 *
 * t* is bracketed by slopes and refined by regula falsi with halving (Illinois), until the
 * parabola through the bracket puts U there within BOTTOM of its minimum. (1) is solved by
 * steps of
 *
 *   G h + b h^2 / 2 = E - F,    b the last secant of G,                                 (2)
 *
 * kept inside a bracket. Where G is linear both have closed forms: the first secant is
 * right, (2) is exact, and the evaluation at the end only confirms it. No test for linearity
 * is needed.
 *
 * Pakman, Gilboa, Carlson, Paninski (2017), ICML, Algorithm 1. */
#include "sampler/exact/exact_arrival.h"

#include "linalg/real.h"
#include "sampler/core/sampler.h"

#include <float.h>
#include <math.h>

#define BOTTOM 1e-14 /* tolerance of U(t*), log units */
/* tolerance of F, log units, in addition to the rounding of U */
#define HEIGHT 1e-12
/* distance from a kink, relative to the time plus the natural unit of time */
#define KINK            1e-13
#define TIME            1e-14 /* relative change of time that is negligible */
#define ROUNDING        (16 * DBL_EPSILON)
#define EVALUATIONS_MAX 200 /* limit per search; bisection alone needs a third of it */
#define LONGEST_STEP    4.0 /* relative to the previous step */

/* ---- evaluations ---- */

double exact_slope(exact_line *l, double t)
{
    if (t == l->time) return l->slope;
    observation o = potential_observe(l->u, t);
    l->e->rows += o.rows;
    l->time = t;
    return l->slope = o.slope;
}

double exact_value(exact_line *l, double t)
{
    l->e->rows += l->u->batch;
    return potential_line_value(l->u, t);
}

/* ---- the minimum ---- */

climb climb_start(exact_line *l)
{
    climb c = {.low = {0.0, exact_slope(l, 0.0)}, .rise = l->curvature};
    return c;
}

/* dG/dt between two nodes. */
static double secant(node a, node b)
{
    return (b.slope - a.slope) / (b.time - a.time);
}

/* G at t, INFINITY where U overflows: the minimum lies before such a point. */
static double slope_or_infinity(exact_line *l, double t)
{
    double g = exact_slope(l, t);
    return isnan(g) ? INFINITY : g;
}

/* Steps until the slope is not negative, at *high. False if that is beyond the limit. */
static bool bracket_minimum(exact_line *l, climb *c, double limit, node *high)
{
    double step = -c->low.slope / c->rise;
    for (int evaluations = 0; evaluations < EVALUATIONS_MAX && c->low.time < limit;
         evaluations++) {
        double t = smaller(c->low.time + step, limit);
        node next = {t, slope_or_infinity(l, t)};
        if (next.slope >= 0.0) {
            *high = next;
            return true;
        }
        double rise = secant(c->low, next),
               proposed = rise > 0.0 ? -next.slope / rise : INFINITY;
        c->low = next;
        step = smaller(larger(2.0 * proposed, step), LONGEST_STEP * step);
    }
    return false;
}

/* How far the parabola through the bracket falls below U at its better end. */
static double above_bottom(node low, node high)
{
    double g = smaller(-low.slope, high.slope);
    return isfinite(high.slope) ? g * g / secant(low, high) : INFINITY;
}

/* The slope jumps at the kinks of priors. Evaluations on both sides of each leave a bracket
 * without kinks, or one around the kink that is the minimum, so narrow that it needs no
 * refinement. */
static void separate_kinks(exact_line *l, node *low, node *high)
{
    double jump, margin = KINK * (1.0 / sqrt(l->curvature) + high->time);
    while (high->time - low->time > 4.0 * margin) {
        double kink = potential_next_kink(l->u, low->time, &jump);
        if (!(kink < high->time)) return;
        node after = {smaller(kink + margin, high->time), 0.0};
        after.slope = slope_or_infinity(l, after.time);
        if (after.slope < 0.0) {
            *low = after;
            continue;
        }
        *high = after;
        node before = {larger(kink - margin, low->time), 0.0};
        before.slope = slope_or_infinity(l, before.time);
        *(before.slope < 0.0 ? low : high) = before;
    }
}

/* Shrinks the bracket low.slope < 0 <= high.slope; c->low becomes its end nearer to the
 * minimum. */
static void refine(exact_line *l, climb *c, node high)
{
    node low = c->low;
    separate_kinks(l, &low, &high);
    double low_weight = 1.0, high_weight = 1.0; /* halved for an end that is kept again */
    int moved = 0;                              /* end moved last: -1 low, +1 high */
    for (int evaluations = 0; evaluations < EVALUATIONS_MAX && above_bottom(low, high) > BOTTOM;
         evaluations++) {
        double a = low_weight * low.slope, b = high_weight * high.slope;
        double t = isfinite(b) ? low.time - a * (high.time - low.time) / (b - a) : NAN;
        if (!(t > low.time && t < high.time)) t = 0.5 * (low.time + high.time);
        if (t <= low.time || t >= high.time) break; /* adjacent doubles */
        if (high.time - low.time <= 4.0 * KINK * high.time) break;
        node next = {t, slope_or_infinity(l, t)};
        if (next.slope < 0.0) {
            low = next;
            low_weight = 1.0;
            high_weight *= moved < 0 ? 0.5 : 1.0;
            moved = -1;
        } else {
            high = next;
            high_weight = 1.0;
            low_weight *= moved > 0 ? 0.5 : 1.0;
            moved = 1;
        }
    }
    if (isfinite(high.slope)) c->rise = secant(low, high);
    c->low = -low.slope < high.slope ? low : high;
}

/* Finds t*. False when F cannot reach the height before the limit. */
static bool find_minimum(exact_line *l, climb *c, double height, double limit)
{
    node high;
    if (c->bottom) return true;
    if (c->low.slope < 0.0) {
        if (!bracket_minimum(l, c, limit, &high)) return false;
        /* G increases, so F(limit) is at most this */
        if (high.time == limit && high.slope * (limit - c->low.time) < height) return false;
        refine(l, c, high);
    }
    c->bottom = true;
    c->base = exact_value(l, c->low.time);
    return true;
}

/* ---- the arrival ---- */

/* The solution h of (2) for E - F = left at slope g; NAN where the parabola does not reach
 * it. */
static double parabola_step(double g, double rise, double left)
{
    double root = g * g + 2.0 * larger(rise, 0.0) * left;
    return root >= 0.0 ? 2.0 * left / (g + sqrt(root)) : NAN;
}

/* A time strictly between low and high: `proposed` if possible. */
static double inside(double low, double high, double proposed, double step)
{
    if (proposed > low && proposed < high) return proposed;
    return isfinite(high) ? 0.5 * (low + high) : low + step;
}

bool climb_to(exact_line *l, climb *c, double height, double limit, double *time)
{
    if (!find_minimum(l, c, height, limit)) return false;
    double high = INFINITY, unit = 1.0 / sqrt(l->curvature), left = height - c->climbed;
    double proposed = c->low.time + parabola_step(larger(c->low.slope, 0.0), c->rise, left);
    for (int evaluations = 0; evaluations < EVALUATIONS_MAX; evaluations++) {
        double t = smaller(inside(c->low.time, high, proposed, unit), limit);
        /* adjacent doubles, or the limit was evaluated */
        if (t <= c->low.time || t >= high) break;
        node next = {t, slope_or_infinity(l, t)};
        if (t == limit && c->climbed + next.slope * (t - c->low.time) < height) return false;
        double f = exact_value(l, t) - c->base;
        *time = t;
        left = height - f;
        if (isfinite(next.slope)) c->rise = secant(c->low, next);
        proposed = t + parabola_step(next.slope, c->rise, left);
        if (fabs(left) <= HEIGHT + ROUNDING * fabs(c->base)) return true;
        if (fabs(proposed - t) <= TIME * t) return true;
        if (left > 0.0) {
            c->low = next;
            c->climbed = f;
        } else {
            high = t;
        }
        unit *= LONGEST_STEP;
    }
    if (c->low.time >= limit) return false;
    *time = c->low.time;
    exact_slope(l, *time);
    return true;
}

/* ---- noise on the slope ----
 *
 * Equation numbers are of this section.
 *
 * Gaussian noise on the slope, averaged exactly. With a = G/sigma and x = (G + y)/sigma,
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

/* ---- thinning by cells ----
 *
 * Equation numbers are of this section.
 *
 * Thinning with local bounds that are verified. The line is divided into cells; in a cell of
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

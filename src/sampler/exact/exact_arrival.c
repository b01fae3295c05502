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

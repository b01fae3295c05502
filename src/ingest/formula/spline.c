/* Splines as R's bs() and ns(): B-splines of degree 3 on knots at quantiles, boundaries at the
 * range (de Boor 1978, A Practical Guide to Splines);
 *
 *   B_{i,1}(x) = 1 for t_i <= x < t_{i+1}   (1)
 *   B_{i,k}(x) = (x - t_i) / (t_{i+k-1} - t_i) B_{i,k-1}(x)
 *              + (t_{i+k} - x) / (t_{i+k} - t_{i+1}) B_{i+1,k-1}(x)   (2)
 *   B'_{i,k}   = (k-1) (B_{i,k-1} / (t_{i+k-1} - t_i) - B_{i+1,k-1} / (t_{i+k} - t_{i+1}))   (3)
 *
 * Natural splines have no second derivatives at the boundaries: with C the 2 rows of these and
 * C' = Q R by Householder, they are the columns of Q'B past the second. */
#include "core/status.h"
#include "ingest/formula/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KNOTS_MAX  200
#define DEGREE_MAX 10

typedef struct {
    size_t order; /* degree + 1 */
    double *inner;
    size_t inners;
    bool intercept, natural;
    double *knot; /* boundaries `order` times each, inner knots between */
    size_t count; /* B-splines */
    double *reflector[2];
} spline;

static sbps_status read_knots(const call *c, const node *df, const node *knots, spline *s)
{
    size_t df_min = (s->natural ? 1 : s->order - 1) + s->intercept, count = df_min;
    sbps_status status = call_count(c, df, df_min, KNOTS_MAX, &count);
    s->inners = count - df_min;
    if (status == SBPS_OK) status = call_numbers(c, knots, &s->inner, &s->inners);
    if (status == SBPS_OK && s->inners > KNOTS_MAX)
        return fail_call(c, "it has too many knots");
    s->count = s->order + s->inners;
    return status;
}

static sbps_status bs_open(const call *c, const node **given, void **self)
{
    static const char *const formal[] = {"x", "df", "knots", "degree", "intercept", NULL};
    size_t degree = 3;
    spline *s = *self = pool_take(c->pool, sizeof *s);
    if (!s) return fail_memory(c->err);
    sbps_status status = call_match(c, formal, given);
    if (status == SBPS_OK) status = call_count(c, given[3], 1, DEGREE_MAX, &degree);
    if (status == SBPS_OK) status = call_flag(c, given[4], &s->intercept);
    s->order = degree + 1;
    return status == SBPS_OK ? read_knots(c, given[1], given[2], s) : status;
}

static sbps_status ns_open(const call *c, const node **given, void **self)
{
    static const char *const formal[] = {"x", "df", "knots", "intercept", NULL};
    spline *s = *self = pool_take(c->pool, sizeof *s);
    if (!s) return fail_memory(c->err);
    sbps_status status = call_match(c, formal, given);
    if (status == SBPS_OK) status = call_flag(c, given[3], &s->intercept);
    s->order = 4;
    s->natural = true;
    return status == SBPS_OK ? read_knots(c, given[1], given[2], s) : status;
}

/* Returns the quantile of sorted values as R's type 7. */
static double quantile(const double *sorted, size_t n, double p)
{
    double at = (double)(n - 1) * p;
    size_t below = (size_t)at;
    double rest = at - (double)below;
    if (below + 1 >= n || rest == 0.0) return sorted[below];
    return (1.0 - rest) * sorted[below] + rest * sorted[below + 1];
}

static sbps_status place_knots(const call *c, spline *s, double *value, size_t n)
{
    qsort(value, n, sizeof *value, by_number);
    double low = value[0], high = value[n - 1];
    if (!(high > low)) return fail_call(c, "all values are the same");
    s->knot = pool_array(c->pool, s->count + s->order, sizeof *s->knot);
    if (!s->knot) return fail_memory(c->err);
    for (size_t k = 0; k < s->order; k++) {
        s->knot[k] = low;
        s->knot[s->count + k] = high;
    }
    for (size_t k = 0; k < s->inners; k++) {
        double p = (double)(k + 1) / (double)(s->inners + 1);
        double at = s->inner ? s->inner[k] : quantile(value, n, p);
        if (!(at > low && at < high))
            return fail_call(
                c, "a knot is at or outside the range of the values: use fewer knots");
        s->knot[s->order + k] = at;
    }
    return SBPS_OK;
}

/* Returns i with knot[i] <= x < knot[i + 1]; the last interval includes its right end. */
static size_t interval_of(const spline *s, double x)
{
    size_t i = s->order - 1;
    while (i + 1 < s->count && x >= s->knot[i + 1]) i++;
    return i;
}

/* (2) for all i, where 0 / 0 is 0; only `order` values are not 0. */
static void evaluate(const spline *s, size_t order, double x, double *out)
{
    const double *t = s->knot;
    size_t at = interval_of(s, x);
    memset(out, 0, (s->count + s->order - order) * sizeof *out);
    out[at] = 1.0;
    for (size_t k = 2; k <= order; k++)
        for (size_t i = at + 1 - k; i <= at; i++) {
            double left = i > at + 1 - k ? (x - t[i]) / (t[i + k - 1] - t[i]) * out[i] : 0.0;
            double right = i < at ? (t[i + k] - x) / (t[i + k] - t[i + 1]) * out[i + 1] : 0.0;
            out[i] = left + right;
        }
}

/* (3): returns B'_{i,k} from the B_{.,k-1}, `lower`. */
static double slope_step(const spline *s, size_t i, size_t k, const double *lower)
{
    const double *t = s->knot;
    double left = t[i + k - 1] - t[i], right = t[i + k] - t[i + 1], sum = 0.0;
    if (left > 0.0) sum += lower[i] / left;
    if (right > 0.0) sum -= lower[i + 1] / right;
    return (double)(k - 1) * sum;
}

/* Second derivatives of the B-splines of order 4 from those of order 2, by (3) twice. */
static void second_derivatives(const spline *s, double x, double *out)
{
    double two[KNOTS_MAX + 2 * DEGREE_MAX], three[KNOTS_MAX + 2 * DEGREE_MAX];
    evaluate(s, 2, x, two);
    for (size_t i = 0; i < s->count + 1; i++) three[i] = slope_step(s, i, 3, two);
    for (size_t i = 0; i < s->count; i++) out[i] = slope_step(s, i, 4, three);
}

/* Householder reflection: y += t v with t = -v.y / v_first, v being zero before `first`. */
static void reflect(const double *v, size_t first, size_t n, double *y)
{
    double along = 0.0;
    for (size_t i = first; i < n; i++) along += v[i] * y[i];
    along = -along / v[first];
    for (size_t i = first; i < n; i++) y[i] += along * v[i];
}

/* Computes the two Householder vectors of C'. */
static sbps_status compute_reflectors(const call *c, spline *s)
{
    size_t skip = !s->intercept, n = s->count - skip;
    double all[KNOTS_MAX + 2 * DEGREE_MAX];
    const double end[2] = {s->knot[0], s->knot[s->count]};
    for (size_t k = 0; k < 2; k++) {
        double *v = s->reflector[k] = pool_array(c->pool, n, sizeof *v), norm = 0.0;
        if (!v) return fail_memory(c->err);
        second_derivatives(s, end[k], all);
        memcpy(v, all + skip, n * sizeof *v);
        if (k == 1) reflect(s->reflector[0], 0, n, v);
        for (size_t i = k; i < n; i++) norm = hypot(norm, v[i]);
        norm = copysign(norm, v[k]);
        for (size_t i = k; i < n; i++) v[i] /= norm;
        v[k] += 1.0;
    }
    return SBPS_OK;
}

static sbps_status spline_fit(const call *c, void *self, double *value, size_t n)
{
    spline *s = self;
    sbps_status status = place_knots(c, s, value, n);
    return status == SBPS_OK && s->natural ? compute_reflectors(c, s) : status;
}

static size_t spline_learned(const void *self, double *out)
{
    const spline *s = self;
    size_t knots = s->count + s->order;
    if (out) memcpy(out, s->knot, knots * sizeof *out);
    return knots;
}

static sbps_status spline_recall(const call *c, void *self, const double *learned, size_t n)
{
    spline *s = self;
    if (n != s->count + s->order) return fail_recall(c);
    s->knot = pool_array(c->pool, n, sizeof *s->knot);
    if (!s->knot) return fail_memory(c->err);
    memcpy(s->knot, learned, n * sizeof *learned);
    return s->natural ? compute_reflectors(c, s) : SBPS_OK;
}

static size_t spline_width(const void *self)
{
    const spline *s = self;
    return s->count - !s->intercept - (s->natural ? 2 : 0);
}

/* B-splines of order 4 at x outside the boundaries, where a natural spline is a straight
 * line. */
static void extrapolate(const spline *s, double x, double *all)
{
    double end = x < s->knot[0] ? s->knot[0] : s->knot[s->count];
    double lower[KNOTS_MAX + 2 * DEGREE_MAX];
    evaluate(s, 3, end, lower);
    evaluate(s, 4, end, all);
    for (size_t i = 0; i < s->count; i++) all[i] += (x - end) * slope_step(s, i, 4, lower);
}

static void spline_numbers(const void *self, double x, double *out)
{
    const spline *s = self;
    double all[KNOTS_MAX + 2 * DEGREE_MAX], *from = all + !s->intercept;
    size_t n = s->count - !s->intercept;
    if (s->natural && (x < s->knot[0] || x > s->knot[s->count]))
        extrapolate(s, x, all);
    else
        evaluate(s, s->order, x, all);
    for (size_t k = 0; s->natural && k < 2; k++) reflect(s->reflector[k], k, n, from);
    memcpy(out, from + (s->natural ? 2 : 0), spline_width(s) * sizeof *out);
}

const transform_kind transform_bs = {
    .name = "bs",
    .open = bs_open,
    .fit = spline_fit,
    .learned = spline_learned,
    .recall = spline_recall,
    .width = spline_width,
    .numbers = spline_numbers,
};

const transform_kind transform_ns = {
    .name = "ns",
    .open = ns_open,
    .fit = spline_fit,
    .learned = spline_learned,
    .recall = spline_recall,
    .width = spline_width,
    .numbers = spline_numbers,
};

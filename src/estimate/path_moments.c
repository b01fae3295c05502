/* Time averages along a path and their standard errors.
 *
 *   E f = (1/T) int f(w(t)) dt,   along w = c + a p + b q:
 *   int x = A p + B q,  int x^2 = AA p^2 + 2 AB p q + BB q^2   with the flow's integrals.
 *
 * Let g_k be the autocovariances of the means of batches of length L about the grand mean of
 * all chains, so that chains which disagree lower the ESS. Then s2 = L (g_0 + 2 sum g_k) is the
 * asymptotic variance, mcse^2 = s2 / T, ESS = var f / mcse^2. The sum is cut by Geyer's initial
 * monotone sequence (1992, Statistical Science 7, 473-483): in short runs batches are no longer
 * than the correlation, and their scatter alone would overstate the ESS. */
#include "estimate/path_moments.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define MIN_BATCHES ((size_t)16) /* per chain, for a standard error */
/* Relative difference between the time of all segments and of all batches: millions of
 * roundings. */
#define TIME_ROUNDING 1e-6

void moments_carve(moments *m, size_t dim, const reported_value *report, const double *centre,
                   arena *memory)
{
    m->dim = dim;
    m->of = NULL;
    m->report = report;
    m->centre = centre;
    m->state = arena_take(memory, sizeof *m->state);
    m->sum = arena_doubles(memory, 4 * dim);
    m->part = arena_doubles(memory, 2 * dim);
    m->batches = arena_doubles(memory, MOMENT_BATCHES * 2 * dim);
}

void moments_start(moments *m, double length)
{
    *m->state = (moments_state){.length = length};
    memset(m->sum, 0, 4 * m->dim * sizeof *m->sum);
    memset(m->part, 0, 2 * m->dim * sizeof *m->part);
}

/* Joins batches 2i and 2i+1 to batch i. */
static void join_batches(moments *m)
{
    size_t wide = 2 * m->dim;
    for (size_t i = 0; i < MOMENT_BATCHES / 2; i++)
        for (size_t j = 0; j < wide; j++)
            m->batches[i * wide + j] =
                m->batches[2 * i * wide + j] + m->batches[(2 * i + 1) * wide + j];
    m->state->full = MOMENT_BATCHES / 2;
    m->state->length *= 2.0;
}

/* Stores the current batch; joins batches first if all are full. */
static void close_batch(moments *m)
{
    size_t wide = 2 * m->dim;
    if (m->state->full == MOMENT_BATCHES) {
        /* the batch just closed is half of one of the new length, which is filled further */
        double length = m->state->length;
        join_batches(m);
        m->state->filled = length;
        return;
    }
    memcpy(m->batches + m->state->full * wide, m->part, wide * sizeof *m->part);
    memset(m->part, 0, wide * sizeof *m->part);
    m->state->full++;
    m->state->filled = 0.0;
}

/* The coordinate of moment j. */
static inline size_t coordinate(const moments *m, size_t j)
{
    return m->of ? m->of[j] : j;
}

/* Integrals of x and x^2 of a reported function over t0..t1, by Gauss-Legendre with five
 * nodes. */
static void quadrature(const moments *m, const segment *s, size_t j, double t0, double t1,
                       double *x1, double *x2)
{
    static const double node[5] = {-0.906179845938664, -0.538469310105683, 0.0,
                                   0.538469310105683, 0.906179845938664};
    static const double weight[5] = {0.236926885056189, 0.478628670499366, 0.568888888888889,
                                     0.478628670499366, 0.236926885056189};
    double half = 0.5 * (t1 - t0), mid = 0.5 * (t0 + t1), zero = m->report[j](m->centre[j]);
    *x1 = *x2 = 0.0;
    for (size_t i = 0; i < 5; i++) {
        double a, b;
        s->flow->at(mid + half * node[i], &a, &b);
        double x = m->report[j](m->centre[j] + a * s->p[j] + b * s->q[j]) - zero;
        *x1 += half * weight[i] * x;
        *x2 += half * weight[i] * x * x;
    }
}

/* Adds x1 = int x and x2 = int x^2 of moment j over a time 1 / per_time; x^3 and x^4 are taken
 * from the mean of x. */
static inline void add_integrals(moments *m, size_t j, double per_time, double x1, double x2)
{
    size_t d = m->dim;
    double mid = x1 * per_time, cube = x1 * mid * mid;
    m->part[j] += x1;
    m->part[d + j] += x2;
    m->sum[j] += x1;
    m->sum[d + j] += x2;
    m->sum[2 * d + j] += cube;
    m->sum[3 * d + j] += cube * mid;
}

/* Adds a piece of a segment to all sums. */
static void add_piece(moments *m, const segment *s, double t0, double t1)
{
    size_t d = m->dim;
    double h = t1 - t0, per_time = h > 0.0 ? 1.0 / h : 0.0;
    flow_integrals f;
    s->flow->integrate(t0, t1, &f);
    for (size_t j = 0; j < d; j++) {
        size_t at = coordinate(m, j);
        double p = s->p[at], q = s->q[at], x1 = f.a * p + f.b * q;
        double x2 = f.aa * p * p + 2.0 * f.ab * p * q + f.bb * q * q;
        if (m->report[at]) quadrature(m, s, at, t0, t1, &x1, &x2);
        add_integrals(m, j, per_time, x1, x2);
    }
    m->state->filled += h;
    m->state->time += h;
}

/* Adds t0..t1 of a segment: on a curved flow in pieces short enough for x^3 and x^4. */
static void add_stretch(moments *m, const segment *s, double t0, double t1)
{
    double max_stretch = s->flow->stretch;
    size_t pieces = max_stretch > 0.0 ? (size_t)ceil((t1 - t0) / max_stretch) : 1;
    double h = (t1 - t0) / (double)pieces;
    for (size_t i = 1; i < pieces; i++, t0 += h) add_piece(m, s, t0, t0 + h);
    add_piece(m, s, t0, t1);
}

void moments_take(void *self, const segment *s)
{
    moments *m = self;
    double t = 0.0;
    while (t < s->dt) {
        double left = m->state->length - m->state->filled;
        if (s->dt - t < left) {
            add_stretch(m, s, t, s->dt);
            return;
        }
        add_stretch(m, s, t, t + left);
        t += left;
        close_batch(m);
    }
}

/* ---- estimates ---- */

typedef struct {
    double mean, variance, square_variance; /* of x; of (x - mean)^2 */
    double time;
} pooled;

/* Moments of coordinate j over all chains. */
static pooled pool(const moments *chains, size_t count, size_t j)
{
    double s[4] = {0}, time = 0.0;
    for (size_t c = 0; c < count; c++) {
        for (size_t k = 0; k < 4; k++) s[k] += chains[c].sum[k * chains[c].dim + j];
        time += chains[c].state->time;
    }
    for (size_t k = 0; k < 4; k++) s[k] /= time;
    double m = s[0], var = s[1] - m * m;
    double fourth = s[3] - 4.0 * m * s[2] + 6.0 * m * m * s[1] - 3.0 * m * m * m * m;
    /* the rule for x^4 is approximate: bounds it around 2 var^2, the value of a Gaussian */
    double square = fmin(fmax(fourth - var * var, 0.5 * var * var), 50.0 * var * var);
    return (pooled){.mean = m, .variance = var, .square_variance = square, .time = time};
}

/* The mean over a batch of x - m (which = 0), or of (x - m)^2 - variance (which = 1). */
static double batch_value(const moments *chain, size_t batch, size_t j, size_t which,
                          const pooled *all)
{
    const double *sums = chain->batches + batch * 2 * chain->dim;
    double length = chain->state->length, m = all->mean, b1 = sums[j] / length;
    if (which == 0) return b1 - m;
    return sums[chain->dim + j] / length - 2.0 * m * b1 + m * m - all->variance;
}

/* The asymptotic variance s2 of a chain's time average: autocovariances of its batch means are
 * summed in pairs while these are positive, and made decreasing. */
static double chain_scatter(const moments *chain, size_t j, size_t which, const pooled *all)
{
    size_t n = chain->state->full;
    double x[MOMENT_BATCHES], sum = 0.0, last = INFINITY;
    for (size_t i = 0; i < n; i++) x[i] = batch_value(chain, i, j, which, all);
    for (size_t lag = 0; lag + 1 < n; lag += 2) {
        double pair = 0.0;
        for (size_t i = 0; i + lag < n; i++) pair += x[i] * x[i + lag];
        for (size_t i = 0; i + lag + 1 < n; i++) pair += x[i] * x[i + lag + 1];
        if (lag > 0 && !(pair > 0.0)) break;
        last = fmin(last, pair);
        sum += 2.0 * last;
        if (lag == 0)
            for (size_t i = 0; i < n; i++) sum -= x[i] * x[i];
    }
    return chain->state->length * sum / ((double)n - 1.0);
}

/* The asymptotic variances of x and of (x - mean)^2, averaged over the chains by time; false:
 * too few batches. */
static bool asymptotic_variances(const moments *chains, size_t count, size_t j,
                                 const pooled *all, double *s1, double *s2)
{
    *s1 = *s2 = 0.0;
    for (size_t c = 0; c < count; c++) {
        if (chains[c].state->full < MIN_BATCHES) return false;
        double weight = chains[c].state->time / all->time;
        *s1 += weight * chain_scatter(&chains[c], j, 0, all);
        *s2 += weight * chain_scatter(&chains[c], j, 1, all);
    }
    return *s1 > 0.0 && *s2 > 0.0;
}

static double chain_mean(const moments *chain, size_t j)
{
    return chain->sum[j] / chain->state->time;
}

/* Returns the mean of a group of chains; *within becomes the variance within its chains plus
 * that between their means. */
static double group_mean(const moments *chains, size_t each, size_t j, double *within)
{
    double mean = 0.0, between = 0.0, variance = 0.0;
    for (size_t c = 0; c < each; c++) mean += chain_mean(&chains[c], j) / (double)each;
    for (size_t c = 0; c < each; c++) {
        double m = chain_mean(&chains[c], j);
        double square = chains[c].sum[chains[c].dim + j] / chains[c].state->time;
        if (each > 1) between += (m - mean) * (m - mean) / ((double)each - 1.0);
        variance += (square - m * m) / (double)each;
    }
    *within = between + variance;
    return mean;
}

/* Nested R-hat of moment j (Margossian et al. 2022); with one chain per group it is the usual
 * R-hat. */
static double path_rhat(const moments *chains, size_t groups, size_t each, size_t j,
                        const pooled *all)
{
    if (groups < 2) return NAN;
    double between = 0.0, within = 0.0, own;
    for (size_t g = 0; g < groups; g++) {
        double mean = group_mean(chains + g * each, each, j, &own);
        between += (mean - all->mean) * (mean - all->mean) / ((double)groups - 1.0);
        within += own / (double)groups;
    }
    return sqrt(1.0 + between / within);
}

double moments_nested_rhat(const moments *chains, size_t groups, size_t each)
{
    double largest = NAN;
    for (size_t j = 0; j < chains->dim; j++) {
        pooled all = pool(chains, groups * each, j);
        largest = fmax(largest, path_rhat(chains, groups, each, j, &all));
    }
    return largest;
}

moment_summary moments_summarize(const moments *chains, size_t count, size_t j)
{
    pooled all = pool(chains, count, j);
    size_t at = coordinate(chains, j);
    double s1, s2, zero = chains->centre[at];
    if (chains->report[at]) zero = chains->report[at](zero);
    moment_summary out = {.mean = zero + all.mean,
                          .sd = sqrt(fmax(all.variance, 0.0)),
                          .mcse = NAN,
                          .rhat = path_rhat(chains, count, 1, j, &all)};
    if (!(all.time > 0.0) || !asymptotic_variances(chains, count, j, &all, &s1, &s2))
        return out;
    out.mcse = sqrt(s1 / all.time);
    out.ess_mean = all.variance / (s1 / all.time);
    out.ess_square = all.square_variance / (s2 / all.time);
    return out;
}

double moments_min_ess(const moments *chains, size_t count)
{
    double smallest = INFINITY;
    for (size_t j = 0; j < chains->dim; j++) {
        moment_summary s = moments_summarize(chains, count, j);
        smallest = fmin(smallest, fmin(s.ess_mean, s.ess_square));
    }
    return isfinite(smallest) ? smallest : 0.0;
}

/* ---- state read from a file ---- */

void moments_inspect(const moments *m, inspection *x)
{
    const moments_state *s = m->state;
    INSPECT_REAL(x, s->length, DBL_MIN, DBL_MAX);
    INSPECT_REAL(x, s->filled, 0.0, s->length);
    INSPECT_REAL(x, s->time, 0.0, DBL_MAX);
    inspect_count(x, "the number of batches", &s->full, MOMENT_BATCHES);
    inspect_finite(x, "a sum of the path", m->sum, 4 * m->dim);
    inspect_finite(x, "a sum of the path", m->part, 2 * m->dim);
    inspect_any(x, m->batches, MOMENT_BATCHES * 2 * m->dim * sizeof *m->batches);
    INSPECT_WHOLE(x, *s);
    if (x->wrong[0]) return;
    double expected = (double)s->full * s->length + s->filled;
    inspect_that(x, "batches that do not add up to the path",
                 fabs(s->time - expected) <= TIME_ROUNDING * expected);
    inspect_finite(x, "a sum of the path", m->batches, s->full * 2 * m->dim);
}

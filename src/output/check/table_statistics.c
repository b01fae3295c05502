/* Statistics of the response, for the rows and for every replicated table. With r_i = (y_i -
 * mean_i)/sd_i by the prediction of row i:
 *
 *   dispersion  mean r^2,  skewness  mean r^3 / (mean r^2)^(3/2),
 *   kurtosis    mean r^4 / (mean r^2)^2
 *
 * p: probability that a replicated table is as extreme on either side; ties count half. */
#include "core/memory.h"
#include "linalg/pareto.h"
#include "output/check/check_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums over the rows of one table. */
typedef struct {
    double sum, square; /* of y - about */
    double smallest, largest, zeros;
    double r2, r3, r4;
} table_sums;

typedef struct {
    table_sums *of; /* of each replicate, then of the rows */
    size_t count;
    double about, rows; /* a centre for the sums: the mean; number of rows */
} all_sums;

/* Adds a response y of this many trials and its standardised residual r. */
static void add_response(const all_sums *a, table_sums *t, double y, double trials, double r)
{
    double x = y / trials - a->about;
    t->sum += x;
    t->square += x * x;
    t->smallest = fmin(t->smallest, y / trials);
    t->largest = fmax(t->largest, y / trials);
    t->zeros += y == 0.0;
    t->r2 += r * r;
    t->r3 += r * r * r;
    t->r4 += r * r * r * r;
}

/* Adds row i to the sums of all tables. */
static void add_row_sums(const row_sample *s, const all_sums *a, size_t i)
{
    const sampled_row *row = s->row[i];
    const double *drawn = replicates_of(s, i);
    double precision = row->sd > 0.0 ? 1.0 / row->sd : 0.0;
    for (size_t k = 0; k < a->count; k++) {
        double y = k + 1 < a->count ? drawn[k] : row->y;
        add_response(a, &a->of[k], y, row->trials, (y - row->mean) * precision);
    }
}

/* Computes the sums of all tables. */
static sbps_status sum_table_rows(const row_sample *s, all_sums *a, sbps_error *err)
{
    *a = (all_sums){.count = s->replicates + 1, .rows = (double)s->rows};
    a->of = calloc(a->count, sizeof *a->of);
    if (!a->of) return fail_memory(err);
    for (size_t k = 0; k < a->count; k++)
        a->of[k] = (table_sums){.smallest = INFINITY, .largest = -INFINITY};
    for (size_t i = 0; i < s->rows; i++) a->about += s->row[i]->y / s->row[i]->trials / a->rows;
    for (size_t i = 0; i < s->rows; i++) add_row_sums(s, a, i);
    return SBPS_OK;
}

/* ---- statistics ---- */

static double mean_of_table(const all_sums *a, const table_sums *t)
{
    return a->about + t->sum / a->rows;
}

static double sd_of(const all_sums *a, const table_sums *t)
{
    return sqrt(fmax(t->square - t->sum * t->sum / a->rows, 0.0) / (a->rows - 1.0));
}

static double min_of(const all_sums *a, const table_sums *t)
{
    (void)a;
    return t->smallest;
}

static double max_of(const all_sums *a, const table_sums *t)
{
    (void)a;
    return t->largest;
}

static double zeros_of(const all_sums *a, const table_sums *t)
{
    return t->zeros / a->rows;
}

static double dispersion_of(const all_sums *a, const table_sums *t)
{
    return t->r2 / a->rows;
}

static double skewness_of(const all_sums *a, const table_sums *t)
{
    double r2 = t->r2 / a->rows;
    return t->r3 / a->rows / (r2 * sqrt(r2));
}

static double kurtosis_of(const all_sums *a, const table_sums *t)
{
    double r2 = t->r2 / a->rows;
    return t->r4 / a->rows / (r2 * r2);
}

/* A statistic, and the targets that have it. */
typedef struct {
    const char *name;
    double (*of)(const all_sums *a, const table_sums *t);
    unsigned supports; /* bits: targets that have it */
    bool of_tails;     /* a moment that a few extreme rows dominate */
} statistic_kind;

#define OF(support) (1u << (support))
#define NUMBERS     (OF(SUPPORT_REAL) | OF(SUPPORT_POSITIVE) | OF(SUPPORT_UNIT))
#define COUNTED     (OF(SUPPORT_COUNTS) | OF(SUPPORT_PROPORTIONS))

static const statistic_kind kinds[] = {
    {"mean", mean_of_table, NUMBERS | COUNTED | OF(SUPPORT_BINARY), false},
    {"sd", sd_of, NUMBERS | COUNTED, false},
    {"min", min_of, NUMBERS | COUNTED, false},
    {"max", max_of, NUMBERS | COUNTED, false},
    {"zeros", zeros_of, COUNTED, false},
    {"dispersion", dispersion_of, COUNTED | OF(SUPPORT_POSITIVE) | OF(SUPPORT_UNIT), false},
    {"skewness", skewness_of, OF(SUPPORT_REAL), true},
    {"kurtosis", kurtosis_of, OF(SUPPORT_REAL), true},
};

#define ROUNDING 1e-10 /* relative difference of equal sums */

/* Compares a statistic with those of n replicates, `value`, which it sorts. */
static check_statistic compare(const char *name, double observed, size_t n, double *value)
{
    double above = 0.0, near = ROUNDING * fabs(observed);
    for (size_t k = 0; k < n; k++)
        above += value[k] > observed + near ? 1.0 : value[k] >= observed - near ? 0.5 : 0.0;
    double share = (above + 0.5) / ((double)n + 1.0);
    interval_summary of = sort_and_summarise(n, value);
    return (check_statistic){
        name, observed, of.mean, of.sd, of.low, of.high, 2.0 * fmin(share, 1.0 - share), false};
}

/* Expected fraction of zeros of a negative binomial with the same means m and variances m +
 * m^2/phi. */
static double negative_binomial_zeros(const row_sample *s)
{
    double more = 0.0, squares = 0.0, zeros = 0.0;
    for (size_t i = 0; i < s->rows; i++) {
        double m = s->row[i]->mean, off = s->row[i]->y - m;
        more += off * off - m;
        squares += m * m;
    }
    double spread = more / squares; /* 1/phi */
    for (size_t i = 0; i < s->rows; i++) {
        double m = s->row[i]->mean;
        zeros += exp(spread > 1e-9 ? -log1p(m * spread) / spread : -m);
    }
    return zeros / (double)s->rows;
}

sbps_status compare_statistics(const row_sample *s, predictive_checks *out, sbps_error *err)
{
    target_support support = s->f->model->support;
    double *value = new_doubles(s->replicates + 1);
    all_sums a = {0};
    /* higher moments do not describe a distribution with heavy tails */
    bool has_tails = strcmp(s->f->model->name, "student_t") == 0;
    sbps_status status = value ? sum_table_rows(s, &a, err) : fail_memory(err);
    for (size_t j = 0; status == SBPS_OK && j < sizeof kinds / sizeof *kinds; j++) {
        if (!(kinds[j].supports & OF(support))) continue;
        for (size_t k = 0; k < a.count; k++) value[k] = kinds[j].of(&a, &a.of[k]);
        check_statistic *to = &out->statistic[out->statistics++];
        *to = compare(kinds[j].name, value[s->replicates], s->replicates, value);
        if (kinds[j].of_tails && has_tails) to->p = NAN;
    }
    out->negative_binomial_zeros =
        status == SBPS_OK && support == SUPPORT_COUNTS ? negative_binomial_zeros(s) : NAN;
    free(a.of);
    free(value);
    return status;
}

/* ---- probability integral transform ----
 *
 * u_i = P(y* <= y_i) under the posterior without row i is
 * uniform if the model is correct. For counts u_i is between P(y* < y_i) and P(y* <= y_i): the
 * bars spread it over that interval (Czado, Gneiting, Held 2009, Biometrics 65, 1254-1261), and
 * the test draws u_i from it.
 *
 * The test is that of Kolmogorov and Smirnov, with distance D; K is the Kolmogorov
 * distribution.
 *
 *     p = 1 - K((sqrt n + 0.12 + 0.11/sqrt n) D)                                      (1)
 *
 * Stephens (1970), J. Royal Statistical Society B 32, 115-122. */

/* Adds one row to the histogram, spread evenly over its interval. */
static void add_to_bars(double below, double upto, double *bar)
{
    double wide = upto - below;
    size_t at = (size_t)fmin(below * PIT_BARS, PIT_BARS - 1);
    if (wide < 1e-12) {
        bar[at]++;
        return;
    }
    for (size_t k = at; k < PIT_BARS; k++) {
        double from = fmax(below, (double)k / PIT_BARS),
               to = fmin(upto, (double)(k + 1) / PIT_BARS);
        if (to > from) bar[k] += (to - from) / wide;
    }
}

/* (1), for sorted u. */
static void test(size_t n, const double *u, check_pit *out)
{
    double count = (double)n, root = sqrt(count);
    for (size_t i = 0; i < n; i++) {
        double up = ((double)i + 1.0) / count - u[i], down = u[i] - (double)i / count;
        out->ks = fmax(out->ks, fmax(up, down));
    }
    double x = (root + 0.12 + 0.11 / root) * out->ks, sum = 0.0; /* sum: 1 - K(x) */
    for (int k = 1; k <= 100; k++)
        sum += (k % 2 ? 2.0 : -2.0) * exp(-2.0 * (double)k * (double)k * x * x);
    out->p = x < 0.2 ? 1.0 : fmin(fmax(sum, 0.0), 1.0);
}

/* Mean and variance as z, and the test. Sorts u. */
static void measure_pit(size_t n, double *u, check_pit *out)
{
    double count = (double)n, sum = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += u[i] - 0.5;
        square += (u[i] - 0.5) * (u[i] - 0.5);
    }
    out->mean_z = sum * sqrt(12.0 / count);
    out->spread_z = (square - count / 12.0) * sqrt(180.0 / count);
    sort_and_summarise(n, u);
    test(n, u, out);
}

sbps_status compare_pit(const row_sample *s, check_pit *out, sbps_error *err)
{
    double *u = new_doubles(s->rows + 1);
    if (!u) return fail_memory(err);
    for (size_t i = 0; i < s->rows; i++) {
        const sampled_row *row = s->row[i];
        rng r = rng_stream(s->f->seed, row->key, RNG_CHECK);
        if (isnan(row->below)) continue;
        out->untrusted += !(row->k <= PARETO_TRUSTED);
        add_to_bars(row->below, row->upto, out->bar);
        u[out->rows++] = row->below + rng_uniform(&r) * (row->upto - row->below);
    }
    if (out->rows > 0) {
        /* counts become densities; low and high are limits of a binomial for uniform u */
        double n = (double)out->rows, wide = 1.96 * sqrt((PIT_BARS - 1) / n);
        for (size_t k = 0; k < PIT_BARS; k++) out->bar[k] *= PIT_BARS / n;
        out->low = fmax(0.0, 1.0 - wide);
        out->high = 1.0 + wide;
        measure_pit(out->rows, u, out);
    }
    free(u);
    return SBPS_OK;
}

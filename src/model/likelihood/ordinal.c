/* Ordinal regression with the cumulative logit link: y is one of the ordered classes 0, ...,
 * K-1, with cutpoints c_1 < ... < c_(K-1) and no intercept; s is the logistic function. With u
 * = c_(y+1) - eta and l = c_y - eta:
 *
 *   P(y <= k)   = s(c_(k+1) - eta)
 *   P(y)        = s(u) - s(l) = s(u) s(-l) (1 - e^-(u - l))                                 (1)
 *   log P(y)    = -log(1 + e^-u) - log(1 + e^l) + b(c_(y+1) - c_y),  b(g) = log(1 - e^-g)   (2)
 *
 * The first class has no l and the last no u, and their terms are left out. So every term is a
 * logistic function of one difference, or b, and log P is concave in weights and cutpoints
 * (Pratt 1981).
 *
 *   b'(g) = 1/(e^g - 1)        b''(g) = -b' (1 + b')                                        (3)
 *
 * b keeps the cutpoints in order. Below a gap of NARROW/n, where the posterior of n rows has at
 * most a millionth of its mass, it is continued along its tangent, so that a path segment that
 * oversteps turns back instead of reaching an infinite potential.
 *
 * McCullagh (1980), Regression models for ordinal data, J. Royal Statistical Society B 42,
 * 109-142; Pratt (1981), Concavity of the log likelihood, JASA 76, 103-106. */
#include "linalg/real.h"

#include "core/printable.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"
#include "table/row_partition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NARROW 1e-3
#define ABSENT -1e4 /* argument at which a logistic function is 0 */

typedef struct {
    const rows *data;
    const kernels *k;
    /* columns: coefficients, without the intercept's column; cuts: cutpoints */
    size_t columns, cuts;
    double lowest; /* class; y need not begin at 0 */
    double narrow;
} ordinal;

/* ---- classes ---- */

/* Extends range to the targets of these rows. */
static void widen_class_range(const rows *data, double range[2])
{
    for (size_t i = 0; i < data->local_rows; i++) {
        range[0] = smaller(data->y[i], range[0]);
        range[1] = larger(data->y[i], range[1]);
    }
}

/* The lowest and the highest class over all ranks. */
static sbps_status class_range(const rows *data, double *lowest, double *highest,
                               sbps_error *err)
{
    sbps_status status = targets_whole(data, "ordinal", err);
    if (status != SBPS_OK) return status;
    double range[2] = {INFINITY, -INFINITY};
    row_relay(data, widen_class_range, range, 2);
    *lowest = range[0];
    *highest = range[1];
    return SBPS_OK;
}

/* Every class between the lowest and the highest must occur: otherwise two cutpoints have the
 * same likelihood. */
static sbps_status check_classes(const ordinal *o, double highest, sbps_error *err)
{
    const rows *data = o->data;
    const char *target = data->table.target ? data->table.target : "y";
    /* n rows hold at most n classes. */
    size_t count = highest - o->lowest < (double)total_rows(data) ? o->cuts + 1
                                                                  : total_rows(data) + 1,
           k = 0;
    if (highest == o->lowest)
        return fail(err, SBPS_BAD_DATA,
                    "target '%s' is %g in every row; ordinal needs at least two classes",
                    show_name(target).text, highest);
    bool *seen = calloc(count, sizeof *seen);
    if (!seen) return fail_memory(err);
    for (size_t i = 0; i < data->local_rows; i++)
        if (data->y[i] - o->lowest < (double)count)
            seen[(size_t)(data->y[i] - o->lowest)] = true;
    while (k < count && any_rank(data, seen[k])) k++;
    free(seen);
    if (k == count) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "target '%s' runs from %g to %g but is never %g; ordinal needs classes "
                "numbered in their order without gaps",
                show_name(target).text, o->lowest, highest, o->lowest + (double)k);
}

/* Finds the classes over all ranks and checks that each occurs. */
static sbps_status ordinal_open(const model_kind *kind, const rows *data,
                                const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    (void)shape;
    double lowest, highest;
    *self = NULL;
    sbps_status status = class_range(data, &lowest, &highest, err);
    if (status != SBPS_OK) return status;
    ordinal *o = malloc(sizeof *o);
    if (!o) return fail_memory(err);
    *o = (ordinal){.data = data,
                   .k = kernels_best(),
                   .columns = data->d - data->intercept,
                   .cuts = (size_t)smaller(highest - lowest, (double)total_rows(data)),
                   .lowest = lowest,
                   .narrow = NARROW / (double)total_rows(data)};
    status = check_classes(o, highest, err);
    if (status == SBPS_OK)
        *self = o;
    else
        free(o);
    return status;
}

static size_t ordinal_dim(const void *self)
{
    const ordinal *o = self;
    return o->columns + o->cuts;
}

/* Cutpoints are named as in R's polr: "1|2" separates the classes 1 and 2. */
static void ordinal_name(const void *self, size_t j, size_t size, char *text)
{
    const ordinal *o = self;
    double below = o->lowest + (double)j - (double)o->columns;
    char *const *label = o->data->table.labels;
    if (j >= o->columns && label && o->lowest == 0.0 &&
        o->data->table.label_count == o->cuts + 1)
        snprintf(text, size, "%s|%s", label[j - o->columns], label[j - o->columns + 1]);
    else if (j >= o->columns)
        snprintf(text, size, "%.0f|%.0f", below, below + 1.0);
    else
        snprintf(text, size, "%s",
                 o->data->table.names ? o->data->table.names[j + o->data->intercept]
                                      : "column");
}

static bool ordinal_intercept(const void *self, size_t j)
{
    return j >= ((const ordinal *)self)->columns;
}

/* Cutpoints have no prior by default: the rows of their classes determine them, and they depend
 * on where the columns have their zeros. */
static double ordinal_prior_sd(const void *self, size_t j)
{
    const ordinal *o = self;
    double sd = j < o->columns ? o->data->table.sd[j + o->data->intercept] : 0.0;
    if (j >= o->columns) return INFINITY;
    return 2.5 / (sd > 0.0 ? sd : 1.0);
}

/* Weights 0, and the cutpoints that reproduce the proportions of the classes. */
static void ordinal_start(const void *self, double *w)
{
    const ordinal *o = self;
    double *c = w + o->columns, n = (double)total_rows(o->data);
    memset(w, 0, ordinal_dim(self) * sizeof *w);
    for (size_t i = 0; i < o->data->local_rows; i++)
        for (size_t k = (size_t)(o->data->y[i] - o->lowest); k < o->cuts; k++) c[k]++;
    for (size_t k = 0; k < o->cuts; k++) c[k] = sum_over_ranks(o->data, c[k]);
    for (size_t k = 0; k < o->cuts; k++) c[k] = log(c[k] / (n - c[k]));
}

static int compare_cuts(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The prior of the cutpoints is that of independent ones, given that they are in order. If all
 * have the same prior, sorting gives such a draw. */
static bool ordinal_order(const void *self, bool alike, double *w)
{
    const ordinal *o = self;
    double *c = w + o->columns;
    if (alike) qsort(c, o->cuts, sizeof *c, compare_cuts);
    for (size_t k = 1; k < o->cuts; k++)
        if (!(c[k - 1] < c[k])) return false;
    return true;
}

/* ---- rows ---- */

/* Scratch of a call on n rows. */
typedef struct {
    double *p, *q, *total; /* padded weights, rates and sums by column of the table */
    double *eta, *deta;    /* eta and its rate */
    double *above, *below; /* by rows: -u and l, then their logistic functions */
    double *barrier, *barrier_slope,
        *barrier_curvature; /* b, b' and b'' by class; 0 for the first and the last */
} work;

/* Places the arrays of a call on n rows in base; returns their size in doubles. NULL base: size
 * only. */
static size_t carve_work(work *s, const ordinal *o, size_t n, double *base)
{
    size_t stride = o->data->stride, classes = o->cuts + 1, used = 0;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&s->p, stride},
                 {&s->q, stride},
                 {&s->total, stride},
                 {&s->eta, n},
                 {&s->deta, n},
                 {&s->above, n},
                 {&s->below, n},
                 {&s->barrier, classes},
                 {&s->barrier_slope, classes},
                 {&s->barrier_curvature, classes}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    return used;
}

static size_t ordinal_scratch(const void *self, size_t n)
{
    work s;
    return carve_work(&s, self, n, NULL);
}

/* Copies the weights of w to a vector with an entry for each column of the table, 0 for the
 * intercept. */
static void pad(const ordinal *o, const double *w, double *to)
{
    memset(to, 0, o->data->stride * sizeof *to);
    memcpy(to + o->data->intercept, w, o->columns * sizeof *to);
}

/* The class of the i-th row of a range, from 0. */
static size_t class_of(const ordinal *o, row_range r, size_t i)
{
    return (size_t)(o->data->y[row_index(r, i)] - o->lowest);
}

/* Sets b, b' and b'' of (2) and (3) for every class from the cutpoints c. */
static void compute_barriers(const ordinal *o, const double *c, work *s)
{
    memset(s->barrier, 0, (o->cuts + 1) * sizeof *s->barrier);
    memset(s->barrier_slope, 0, (o->cuts + 1) * sizeof *s->barrier_slope);
    memset(s->barrier_curvature, 0, (o->cuts + 1) * sizeof *s->barrier_curvature);
    for (size_t k = 1; k < o->cuts; k++) {
        double gap = c[k] - c[k - 1], at = larger(gap, o->narrow);
        s->barrier_slope[k] = 1.0 / expm1(at);
        s->barrier[k] = log(-expm1(-at)) + (gap - at) * s->barrier_slope[k];
        s->barrier_curvature[k] =
            gap < at ? 0.0 : -s->barrier_slope[k] * (1.0 + s->barrier_slope[k]);
    }
}

/* Computes eta, -u, l and b of the rows at w, and the rates of eta along v unless v is NULL. */
static work evaluate_rows(const ordinal *o, row_range r, const double *w, const double *v,
                          double *scratch)
{
    work s;
    const double *c = w + o->columns;
    carve_work(&s, o, r.n, scratch);
    pad(o, w, s.p);
    if (v) pad(o, v, s.q);
    rows_products(o->data, o->k, r, s.p, v ? s.q : NULL, s.eta, v ? s.deta : NULL);
    compute_barriers(o, c, &s);
    for (size_t i = 0; i < r.n; i++) {
        size_t k = class_of(o, r, i);
        s.above[i] = k < o->cuts ? s.eta[i] - c[k] : ABSENT;
        s.below[i] = k > 0 ? c[k - 1] - s.eta[i] : ABSENT;
    }
    return s;
}

/* (2) */
static void ordinal_loglik(const void *self, row_range r, const double *w, double *scratch,
                           double *out)
{
    const ordinal *o = self;
    work s = evaluate_rows(o, r, w, NULL, scratch);
    o->k->softplus(r.n, s.above, s.above);
    o->k->softplus(r.n, s.below, s.below);
    for (size_t i = 0; i < r.n; i++)
        out[i] = s.barrier[class_of(o, r, i)] - s.above[i] - s.below[i];
}

/* As evaluate_rows, with -u and l replaced by s(-u) and s(l). */
static work evaluate_rows_along(const ordinal *o, row_range r, const double *w, const double *v,
                                double *scratch)
{
    work s = evaluate_rows(o, r, w, v, scratch);
    o->k->sigmoid(r.n, s.above, s.above);
    o->k->sigmoid(r.n, s.below, s.below);
    return s;
}

/* Rates of u, l and the gap of a row along v; 0 for missing cutpoints. */
typedef struct {
    double u, l, gap;
} rates;

static rates rates_of(const ordinal *o, const double *v, size_t k, double deta)
{
    const double *c = v + o->columns;
    rates out = {k < o->cuts ? c[k] - deta : 0.0, k > 0 ? c[k - 1] - deta : 0.0, 0.0};
    if (k > 0 && k < o->cuts) out.gap = c[k] - c[k - 1];
    return out;
}

/* d/du of log(s(u)) is s(-u), and likewise for the others in (2). */
static void ordinal_slope(const void *self, row_range r, const double *w, const double *u,
                          double *scratch, double *out)
{
    const ordinal *o = self;
    work s = evaluate_rows_along(o, r, w, u, scratch);
    for (size_t i = 0; i < r.n; i++) {
        size_t k = class_of(o, r, i);
        rates d = rates_of(o, u, k, s.deta[i]);
        out[i] = s.above[i] * d.u - s.below[i] * d.l + s.barrier_slope[k] * d.gap;
    }
}

/* Adds a row's derivatives by its upper and lower cutpoint to cuts; *of_eta = its derivative by
 * eta. */
static void collect(const ordinal *o, size_t k, double upper, double lower, double *of_eta,
                    double *cuts)
{
    if (k < o->cuts) cuts[k] += upper;
    if (k > 0) cuts[k - 1] += lower;
    *of_eta = (k < o->cuts ? -upper : 0.0) - (k > 0 ? lower : 0.0);
}

/* out += sum_i (d log p_i/d eta_i) x_i, with these derivatives in s->eta. */
static void add_column_gradient(const ordinal *o, row_range r, const work *s, double *out)
{
    memset(s->total, 0, o->data->stride * sizeof *s->total);
    rows_combine(o->data, o->k, r, s->eta, s->total);
    for (size_t j = 0; j < o->columns; j++) out[j] += s->total[j + o->data->intercept];
}

/* Derivatives of (2) by the two cutpoints of the class, and by eta. */
static void ordinal_gradient(const void *self, row_range r, const double *w,
                             const double *factor, double *scratch, double *out)
{
    const ordinal *o = self;
    work s = evaluate_rows_along(o, r, w, NULL, scratch);
    for (size_t i = 0; i < r.n; i++) {
        size_t k = class_of(o, r, i);
        collect(o, k, factor[i] * (s.above[i] + s.barrier_slope[k]),
                -factor[i] * (s.below[i] + s.barrier_slope[k]), &s.eta[i], out + o->columns);
    }
    add_column_gradient(o, r, &s, out);
}

/* Rates along v of those derivatives: s(-u) has the rate -s(-u) s(u) u'. */
static void ordinal_hessian_vector(const void *self, row_range r, const double *w,
                                   const double *v, const double *factor, double *scratch,
                                   double *out)
{
    const ordinal *o = self;
    work s = evaluate_rows_along(o, r, w, v, scratch);
    for (size_t i = 0; i < r.n; i++) {
        size_t k = class_of(o, r, i);
        rates d = rates_of(o, v, k, s.deta[i]);
        double barrier = s.barrier_curvature[k] * d.gap;
        double upper = barrier - s.above[i] * (1.0 - s.above[i]) * d.u;
        double lower = -barrier - s.below[i] * (1.0 - s.below[i]) * d.l;
        collect(o, k, factor[i] * upper, factor[i] * lower, &s.eta[i], out + o->columns);
    }
    add_column_gradient(o, r, &s, out);
}

/* ---- simulated tables ---- */

static size_t ordinal_columns(size_t dim)
{
    return dim;
}

/* Three classes with cutpoints -1 and 1; weights are 1, -1, 1, ... over the root of their
 * number. */
static void ordinal_simulate(rng *r, size_t columns, double *x, double *y)
{
    double at = 0.0, p = rng_uniform(r);
    for (size_t j = 0; j < columns; j++) {
        x[j] = nearbyint(rng_normal(r) * MODEL_DECIMALS) / MODEL_DECIMALS;
        at += (j % 2 ? -1.0 : 1.0) * x[j] / sqrt((double)columns);
    }
    at += log(p / (1.0 - p));
    *y = at < -1.0 ? 0.0 : at < 1.0 ? 1.0 : 2.0;
}

const model_kind model_ordinal = {
    .name = "ordinal",
    .summary = "Ordinal regression: y a class among ordered ones, log odds of being above each "
               "linear.",
    .support = SUPPORT_ORDERED,
    .facts.any_storage = true,
    .facts.log_concave = true,
    .facts.bounded_above = true,
    .open = ordinal_open,
    .close = free,
    .parameters.dim = ordinal_dim,
    .parameters.name = ordinal_name,
    .parameters.prior_sd = ordinal_prior_sd,
    .parameters.intercept = ordinal_intercept,
    .parameters.start = ordinal_start,
    .parameters.join_prior_draw = ordinal_order,
    .rows.scratch = ordinal_scratch,
    .rows.loglik = ordinal_loglik,
    .rows.slope = ordinal_slope,
    .rows.gradient = ordinal_gradient,
    .rows.hessian_vector = ordinal_hessian_vector,
    .simulated.columns = ordinal_columns,
    .simulated.row = ordinal_simulate,
};

/* Exact comparison of two points by few rows. Let f_i(e) be -weight_i log p_i at eta_i + e
 * less its Taylor polynomial of second order, with eta_i the predictor at the reference and
 * e = x_i.(w - w_hat) = x~_i.z, x~ = A'x, w = w_hat + A z. As |f_i'''| <= T_i
 *
 *   |f_i(e') - f_i(e)| <= (T_i / 6) |e'^3 - e^3| <= b_i S,   b_i = (T_i / 6) |x~_i|^3,      (1)
 *   S = max over |u| = 1 of |(u.z')^3 - (u.z)^3|,
 *
 * the first because f_i' is at most T_i s^2 / 2 at s, and its integral from e to e' is that.
 * T_i is the largest third derivative within |x~_i| R, for pairs within distance R of the
 * reference: there is a table for each of several R.
 *
 * Two points are compared on rows i drawn with rates b_i S, as many as a Poisson process
 * gives. With D_i = (f_i(e') - f_i(e)) / (b_i S) each is kept with probability (1 + D_i)/2:
 * the number s_i of them is Poisson with mean a_i = (b_i S + f_i' - f_i)/2, and in the
 * reverse direction with a'_i = (b_i S - f_i' + f_i)/2. As sum a - sum a' is R' - R, R = sum
 * f_i,
 *
 *   e^-R' P'(s) / e^-R P(s) = prod (a'_i / a_i)^s_i = exp(-2 sum s_i artanh D_i),           (2)
 *
 * so that taking a step with probability min(1, (2)) keeps exp(-R) invariant for every s:
 * exactly. Where the expected number of rows exceeds the table's, R' - R itself is summed;
 * which of the two is done depends on the pair and not on its order.
 *
 * The posterior mean lies, to first order in its third derivatives, at
 *
 *   z = -A' grad U - (1/2) sum_i f_i'''(0) |x~_i|^2 x~_i                                    (3)
 *
 * from the reference, with gradient and derivatives taken there, where A A' is the
 * covariance: the reference need not be the mode.
 *
 * Zhang, Cooper, De Sa (2020), NeurIPS 33, for (2); Cornish et al. (2019), ICML, PMLR 97,
 * and Prado, Nemeth, Sherlock (2024), arXiv 2407.19602, for bounds by the third derivative. */
#include "posterior/minibatch/row_bounds.h"

#include "core/memory.h"
#include "core/rng.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "posterior/full/control.h"
#include "posterior/full/influence.h"
#include "posterior/minibatch/row_terms.h"
#include "table/row_sums.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK  1e-9 /* relative margin for rounding */
#define ANGLES 32
/* cos of three times half the angle between two angles: by M. Riesz, a polynomial of the
 * third degree on the circle has at the nearer one at least this fraction of its largest
 * value. */
#define ANGLES_FIND     0.9891
#define STRETCH_SQUARES 3
#define STRETCH_MAX     1.3           /* beyond, a pass over the rows is cheaper */
#define COST_PAIRS      256           /* pairs in the estimate of the cost */
#define DRAWN_MAX       ((size_t)256) /* rows per batch of draws */

/* ---- tables of bounds ----
 *
 * Rows in classes of similar bounds, to draw rows with probabilities proportional to their
 * bounds. Classes are sets of floats with the same exponent and the same four leading bits of
 * the mantissa, 16 per octave: the class of a row is read off the bits of its bound, and the
 * class limit exceeds the bound by 3 % on average. */

#define BOUND_TABLES  ((size_t)3)
#define BOUND_CLASSES ((size_t)512)

/* Within a class all rows are equally likely and have the class's upper limit as their
 * bound. */
typedef struct {
    double radius, total;            /* sum of bounds; INFINITY: some bound is infinite */
    double bound[BOUND_CLASSES];     /* of each row of a class */
    double upto[BOUND_CLASSES];      /* cumulative sum over classes */
    size_t first[BOUND_CLASSES + 1]; /* position in `order` of each class's first row */
    /* guide[i]: class at which the search starts for i / BOUND_CLASSES of the total */
    uint16_t guide[BOUND_CLASSES];
    uint32_t *order; /* rows by class; NULL: no row has a positive bound */
} bound_table;

/* bits dropped from a float: what remains are the exponent and four bits of the mantissa */
#define TOP_SHIFT 19
#define TOPS      ((size_t)4096)       /* classes of positive floats */
#define TOP_NONE  ((size_t)0x7f8 << 1) /* class of infinity */

typedef struct {
    const posterior *u;
    const control *cv;
    const float *norm;
    const bound_table *tables;
    uint16_t *top[BOUND_TABLES]; /* class of every row's bound */
} classification;

/* The class of a bound, rounded up. */
static uint16_t class_of_bound(double bound)
{
    float rounded = nextafterf((float)bound, INFINITY);
    uint32_t bits;
    if (!(bound <= (double)FLT_MAX)) return TOP_NONE;
    if (bound == 0.0) return 0;
    memcpy(&bits, &rounded, sizeof bits);
    return (uint16_t)(bits >> TOP_SHIFT);
}

/* The smallest float above the class. */
static double class_limit(size_t top)
{
    uint32_t bits = (uint32_t)(top + 1) << TOP_SHIFT;
    float edge;
    memcpy(&edge, &bits, sizeof edge);
    return (double)edge;
}

/* Classifies each row of the block by b_i = (T_i / 6) |x~_i|^3, for every table. */
static void classify(const void *self, row_range r, double *scratch, double *total)
{
    const classification *b = self;
    const predictor *model = b->u->model->predictor;
    const double *weight = b->u->data->weight;
    (void)scratch, (void)total;
    for (size_t i = r.first; i < r.first + r.n; i++) {
        double size = (double)b->norm[i];
        double cube = (weight ? weight[i] : 1.0) * size * size * size / 6.0;
        for (size_t k = 0; k < BOUND_TABLES; k++) {
            double reach = size > 0.0 ? size * b->tables[k].radius : 0.0;
            double third = cube > 0.0 ? model->third_bound(b->cv->eta[i], reach) : 0.0;
            b->top[k][i] = class_of_bound(cube * third);
        }
    }
}

/* Position of a class in the table, in descending order of bounds; small bounds share the
 * last. */
static size_t table_position(size_t largest, size_t top)
{
    return largest - top < BOUND_CLASSES ? largest - top : BOUND_CLASSES - 1;
}

/* Counts the rows of every class, and returns the largest class. */
static size_t count_rows(bound_table *t, size_t n, const uint16_t *top)
{
    size_t count[TOPS] = {0}, largest = TOPS - 1;
    for (size_t i = 0; i < n; i++) count[top[i]]++;
    while (largest > 0 && count[largest] == 0) largest--;
    for (size_t k = 0; k <= largest; k++) t->first[1 + table_position(largest, k)] += count[k];
    return largest;
}

/* Sorts the rows by class; sets bounds, cumulative sums and first positions. */
static void sort_rows(bound_table *t, size_t n, size_t largest, const uint16_t *top)
{
    size_t next[BOUND_CLASSES], *count = t->first + 1;
    for (size_t k = 0; k < BOUND_CLASSES; k++) {
        next[k] = t->first[k];
        t->bound[k] = k <= largest ? class_limit(largest - k) : 0.0;
        t->total += t->bound[k] * (double)count[k];
        t->upto[k] = t->total;
        count[k] += t->first[k];
    }
    for (size_t i = 0; i < n; i++)
        t->order[next[table_position(largest, top[i])]++] = (uint32_t)i;
}

/* Fills t->guide from the cumulative sums. */
static void make_guide(bound_table *t)
{
    size_t k = 0;
    for (size_t i = 0; i < BOUND_CLASSES; i++) {
        double from = t->total * (double)i / (double)BOUND_CLASSES;
        while (k + 1 < BOUND_CLASSES && t->upto[k] <= from) k++;
        t->guide[i] = (uint16_t)k;
    }
}

/* Fills one table from the classes of its rows. */
static sbps_status fill_table(bound_table *t, size_t n, const uint16_t *top, sbps_error *err)
{
    size_t largest = count_rows(t, n, top);
    if (largest >= TOP_NONE) t->total = INFINITY;
    if (largest == 0 || largest >= TOP_NONE) return SBPS_OK;
    t->order = malloc(n * sizeof *t->order);
    if (!t->order) return fail_memory(err);
    sort_rows(t, n, largest, top);
    make_guide(t);
    return SBPS_OK;
}

/* Fills BOUND_TABLES tables of increasing radius, the last for all distances. norm: |x~_i|
 * of every row, see bounds.h. The caller frees them with bound_tables_free, also after a
 * failure. */
static sbps_status bound_tables_fill(const posterior *u, const control *cv, const float *norm,
                                     bound_table *tables, sbps_error *err)
{
    size_t n = u->data->local_rows;
    uint16_t *buffer = malloc(BOUND_TABLES * n * sizeof *buffer);
    classification b = {u, cv, norm, tables, {buffer, buffer + n, buffer + 2 * n}};
    const row_sum what = {.self = &b, .add = classify, .uncounted = true};
    /* |z| of a d-dimensional standard normal has its mode near sqrt(d): nearly all draws are
     * within 1.5 of it, and all but very few within 1.5 times that. */
    double near = sqrt((double)u->dim) + 1.5;
    tables[0].radius = near;
    tables[1].radius = 1.5 * near;
    tables[2].radius = INFINITY;
    sbps_status status = buffer ? row_sums(u->data, &what, NULL, err) : fail_memory(err);
    for (size_t k = 0; status == SBPS_OK && k < BOUND_TABLES; k++)
        status = fill_table(&tables[k], n, b.top[k], err);
    free(buffer);
    return status;
}

/* Draws a row with probability proportional to its bound, which is written to *bound. */
static size_t bound_table_draw(const bound_table *t, rng *random, double *bound)
{
    double x = t->total * rng_uniform(random);
    size_t k = t->guide[(size_t)(x / t->total * (double)BOUND_CLASSES)];
    while (k + 1 < BOUND_CLASSES && t->upto[k] <= x) k++;
    *bound = t->bound[k];
    return t->order[t->first[k] + rng_below(random, t->first[k + 1] - t->first[k])];
}

/* ---- bounds of a posterior ---- */

struct row_bounds {
    bound_table of[BOUND_TABLES];
    double *mean; /* (3), and scratch */
    double skew;  /* square of the second term of (3) */
    bool mean_known;
};

/* ---- creation ---- */

typedef struct {
    const posterior *u;
    const control *cv;
    row_map map;
    float *norm; /* |x~| of every row, rounded up */
} measurement;

/* Norms of the block's rows; total (dim) += their part of the second term of (3). */
static void measure_block(const void *self, row_range block, double *mapped, double *total)
{
    const measurement *m = self;
    const rows *data = m->u->data;
    double *decoded = mapped + m->u->dim;
    for (size_t i = block.first; i < block.first + block.n; i++) {
        const double *x = data->storage.x ? data->storage.x + i * data->stride : decoded;
        if (!data->storage.x) data->storage.kind->decode(data, i, decoded);
        m->map.transpose(m->map.self, x, mapped);
        double square = dot(m->u->dim, mapped, mapped);
        double weight = data->weight ? data->weight[i] : 1.0;
        m->norm[i] = nextafterf((float)sqrt(square), INFINITY);
        double third = weight * m->u->model->predictor->third(m->cv->eta[i]);
        add_scaled(m->u->dim, 0.5 * third * square, mapped, total);
    }
}

/* Norms and the third-order term of every row, by a pass over the rows. */
static sbps_status measure_rows(const posterior *u, const control *cv, row_map map, float *norm,
                                double *third_term, sbps_error *err)
{
    const measurement m = {u, cv, map, norm};
    const row_sum what = {.self = &m,
                          .width = u->dim,
                          .scratch = 2 * u->dim + KERNEL_LANES,
                          .add = measure_block};
    return row_sums(u->data, &what, third_term, err);
}

/* E <- E E of a symmetric matrix; scratch: d*d. */
static void square_matrix(size_t d, double *e, double *scratch)
{
    memcpy(scratch, e, d * d * sizeof *e);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) e[i * d + j] = dot(d, scratch + i * d, scratch + j * d);
}

/* The largest |A'L u| over |u| = 1, rounded up: the eigenvalues of E = (A'L)'(A'L) - 1 are
 * at most the root of the norm of a power of E. INFINITY: no memory. */
static double stretch(size_t d, row_map map, const double *factor)
{
    double *m = new_doubles(2 * d * d + d), *e = m + d * d, *column = e + d * d;
    if (!m) return INFINITY;
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) column[i] = i < j ? 0.0 : factor[i * d + j];
        map.transpose(map.self, column, m + j * d);
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            e[i * d + j] = dot(d, m + i * d, m + j * d) - (i == j ? 1.0 : 0.0);
    for (int times = 0; times < STRETCH_SQUARES; times++) square_matrix(d, e, m);
    double root = pow(dot(d * d, e, e), 0.5 / (1 << STRETCH_SQUARES));
    free(m);
    return sqrt(1.0 + root) * (1.0 + SLACK);
}

/* Norms and third-order term from a reach in the metric of a Hessian nearby; false if that
 * metric is too different. */
static bool adopt_reach(const posterior *u, row_map map, const row_reach *known, float *norm,
                        double *third_term)
{
    double factor = known ? stretch(u->dim, map, known->factor) : INFINITY;
    if (!(factor < STRETCH_MAX)) return false;
    for (size_t i = 0; i < u->data->local_rows; i++)
        norm[i] = nextafterf((float)(factor * (double)known->norm[i]), INFINITY);
    map.transpose(map.self, known->third_sum, third_term);
    return true;
}

/* Mean and tables, from a known reach or by a pass over the rows. */
static sbps_status fill_row_bounds(row_bounds *r, const posterior *u, const control *cv,
                                   row_map map, const row_reach *known, float *norm,
                                   sbps_error *err)
{
    r->mean = new_doubles(3 * u->dim);
    if (!r->mean) return fail_memory(err);
    sbps_status status = SBPS_OK;
    if (!adopt_reach(u, map, known, norm, r->mean))
        status = measure_rows(u, cv, map, norm, r->mean, err);
    r->skew = dot(u->dim, r->mean, r->mean);
    /* The first term of (3). */
    double *scratch = r->mean + u->dim;
    memcpy(scratch, cv->gradient, u->dim * sizeof *scratch);
    log_prior_gradient(u, cv->w, 1.0, scratch);
    map.transpose(map.self, scratch, scratch + u->dim);
    add_scaled(u->dim, 1.0, scratch + u->dim, r->mean);
    return status == SBPS_OK ? bound_tables_fill(u, cv, norm, r->of, err) : status;
}

sbps_status row_bounds_create(const posterior *target, const control *cv, row_map map,
                              bool white, const row_reach *known, row_bounds **out,
                              sbps_error *err)
{
    size_t n = target->data->local_rows;
    *out = NULL;
    if (n > UINT32_MAX)
        return fail(err, SBPS_BAD_ARG, "--sampler: surrogate takes at most %lu rows",
                    (unsigned long)UINT32_MAX);
    row_bounds *r = calloc(1, sizeof *r);
    float *norm = malloc(n * sizeof *norm);
    sbps_status status =
        r && norm ? fill_row_bounds(r, target, cv, map, known, norm, err) : fail_memory(err);
    free(norm);
    if (status != SBPS_OK) {
        row_bounds_destroy(r);
        return status;
    }
    r->mean_known = white && all_finite(target->dim, r->mean);
    *out = r;
    return SBPS_OK;
}

void row_bounds_destroy(row_bounds *r)
{
    if (!r) return;
    for (size_t k = 0; k < BOUND_TABLES; k++) free(r->of[k].order);
    free(r->mean);
    free(r);
}

/* ---- bounds of a pair ---- */

/* An upper bound of S of (1): u moves in the plane of z and z'. */
static double span(const point_pair *p)
{
    double a = sqrt(p->from_square), b = a > 0.0 ? p->product / a : 0.0, largest = 0.0;
    double c = sqrt(larger(p->to_square - b * b, 0.0)), angle = acos(-1.0) / ANGLES;
    for (int i = 0; i < ANGLES; i++) {
        double along = cos(i * angle), across = sin(i * angle);
        double from = a * along, to = b * along + c * across;
        largest = larger(fabs(to * to * to - from * from * from), largest);
    }
    return largest / ANGLES_FIND;
}

/* The table of the smallest radius that contains both points. */
static const bound_table *table_for(const row_bounds *r, const point_pair *p)
{
    double distance = (1.0 + SLACK) * sqrt(larger(p->from_square, p->to_square));
    size_t k = 0;
    while (k + 1 < BOUND_TABLES && distance > r->of[k].radius) k++;
    return &r->of[k];
}

/* The inner products of independent standard normal z and z'; the same pairs for every
 * table. */
static point_pair draw_pair(size_t d, rng *random)
{
    point_pair p = {0};
    for (size_t j = 0; j < d; j++) {
        double from = rng_normal(random), to = rng_normal(random);
        p.from_square += from * from;
        p.to_square += to * to;
        p.product += from * to;
    }
    return p;
}

pair_cost row_bounds_cost(const row_bounds *r, size_t d, size_t n)
{
    pair_cost out = {.skew = r->mean_known ? r->skew : 0.0};
    rng random = rng_stream(0, 0, RNG_AUTO);
    for (size_t i = 0; i < COST_PAIRS; i++) {
        point_pair p = draw_pair(d, &random);
        double drawn = table_for(r, &p)->total * span(&p);
        out.drawn += drawn / COST_PAIRS;
        out.rows += smaller(drawn, (double)n) / COST_PAIRS;
    }
    return out;
}

/* ---- comparing two points ---- */

/* out = w - reference, padded. */
static void subtract_reference(const minibatch *u, const double *w, double *out)
{
    const double *at = u->cv ? u->cv->w : NULL;
    memset(out, 0, u->target->width * sizeof *out);
    for (size_t j = 0; j < u->target->dim; j++) out[j] = w[j] - (at ? at[j] : 0.0);
}

/* u->out = f_i(e') - f_i(e) of some rows; the points, less the reference, are in u->point
 * and u->aside. */
static void row_changes(minibatch *u, row_range r)
{
    const rows *data = u->target->data;
    const predictor *model = u->target->model->predictor;
    const control *cv = u->cv;
    double *to = u->eta, *from = u->deta;
    rows_products(data, u->target->k, r, u->point, u->aside, to, from);
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        double eta = cv ? cv->eta[row] : data->offset ? data->offset[row] : 0.0;
        u->y[i] = data->y[row];
        u->buffer[0][i] = eta + to[i];
        u->buffer[1][i] = eta + from[i];
    }
    batch b = {.k = u->target->k, .n = r.n, .eta = u->buffer[0], .y = u->y};
    model->loglik(&b, u->out);
    b.eta = u->buffer[1];
    model->loglik(&b, u->aux);
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        u->out[i] = u->aux[i] - u->out[i];
        if (!cv) continue;
        double slope = cv->d_eta[row] + 0.5 * cv->ee[row] * (to[i] + from[i]);
        u->out[i] += (to[i] - from[i]) * slope;
    }
    terms_weigh(u, r, u->out);
}

/* R' - R by all rows. */
static pair_ratio compare_all(minibatch *u)
{
    size_t n = u->target->data->local_rows;
    double sum = 0.0;
    for (size_t first = 0; first < n; first += MINIBATCH_BLOCK) {
        size_t take = n - first < MINIBATCH_BLOCK ? n - first : MINIBATCH_BLOCK;
        row_changes(u, rows_from(first, take));
        for (size_t i = 0; i < take; i++) sum += u->out[i];
    }
    return (pair_ratio){.log_ratio = -sum, .rows = n};
}

/* Draws whether a row counts in s_i, and adds its factor of (2); change: f_i' - f_i, bound:
 * b_i S. */
static void add_row_ratio(pair_ratio *out, double change, double bound, rng *random)
{
    double relative = change / bound;
    out->rows++;
    out->over += fabs(relative) > 1.0;
    relative = larger(-1.0, smaller(relative, 1.0));
    if (rng_uniform(random) < 0.5 * (1.0 + relative)) out->log_ratio -= 2.0 * atanh(relative);
}

/* (2) by rows drawn from table t. */
static pair_ratio compare_drawn(minibatch *u, const bound_table *t, double reach, rng *random)
{
    size_t list[DRAWN_MAX], n = DRAWN_MAX, available = u->target->data->local_rows;
    size_t capacity = available < DRAWN_MAX ? available : DRAWN_MAX;
    double bound[DRAWN_MAX], left = t->total * reach;
    pair_ratio out = {0};
    for (n = capacity; n == capacity;) {
        n = 0;
        while (n < capacity && (left -= rng_exponential(random)) > 0.0) {
            list[n] = bound_table_draw(t, random, &bound[n]);
            n++;
        }
        if (n == 0) break;
        row_changes(u, (row_range){list, 0, n});
        for (size_t i = 0; i < n; i++) {
            u->is.had_nan = u->is.had_nan || isnan(u->out[i]);
            add_row_ratio(&out, u->out[i], bound[i] * reach, random);
        }
    }
    return out;
}

/* ---- calls of bounds.h ---- */

sbps_status bounds_check_third(const potential_facts *facts, const char *sampler,
                               sbps_error *err)
{
    if (facts->third_bounded) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG,
                "--sampler: %s needs a bound on every row's third derivative, which logistic "
                "has, and poisson near its mode, and %s has not; sbps takes any model",
                sampler, facts->model);
}

double bounds_taylor(potential *of, const double *w)
{
    minibatch *u = minibatch_of(of);
    const control *cv = u->cv;
    size_t d = u->target->dim, stride = u->taylor.stride;
    double value = -log_prior_value(u->target, w), *x = u->point;
    if (!cv) return value;
    subtract_reference(u, w, x);
    for (size_t j = 0; j < d; j++)
        value -= x[j] * (cv->gradient[j] + 0.5 * dot(d, cv->hessian + j * stride, x));
    return value;
}

const double *bounds_mean(const potential *of)
{
    const row_bounds *r = minibatch_const(of)->bounds;
    return r && r->mean_known ? r->mean : NULL;
}

double bounds_skew(const potential *of)
{
    return bounds_mean(of) ? minibatch_const(of)->bounds->skew : 0.0;
}

pair_ratio bounds_compare(potential *of, const point_pair *pair, rng *random)
{
    minibatch *u = minibatch_of(of);
    u->state->residuals_kept = u->state->line_reversed = false; /* `out` is overwritten */
    subtract_reference(u, pair->to, u->point);
    subtract_reference(u, pair->from, u->aside);
    const bound_table *t = u->bounds ? table_for(u->bounds, pair) : NULL;
    double reach = span(pair);
    bool can_draw = t && t->total * reach < (double)u->target->data->local_rows;
    pair_ratio ratio = can_draw ? compare_drawn(u, t, reach, random) : compare_all(u);
    u->is.had_nan = u->is.had_nan || isnan(ratio.log_ratio);
    return ratio;
}

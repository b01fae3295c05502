/* Posteriors without a mode: detection, and a message that explains it.
 *
 * Separation. With flat priors along v, U falls without end along v when no row opposes the
 * move:
 *
 *   d log p_i/d eta * (x_i.v) >= 0 for every row i, > 0 for some                       (1)
 *
 * (complete or quasi-complete separation). Newton's method finds such v: each of its steps
 * then raises the margins of the separated rows by 1 and does not change the others, while
 * the decrement falls by a factor e only; at a mode x.step vanishes with the decrement. For
 * counts only zeros can be separated: (1) needs x_i.v = 0 wherever y_i > 0.
 *
 * Albert, Anderson (1984), On the existence of maximum likelihood estimates in logistic
 * regression models, Biometrika 71, 1-10. */
#include "core/memory.h"
#include "core/printable.h"
#include "posterior/full/log_prior.h"
#include "posterior/mode/search.h"
#include "table/row_partition.h"
#include "table/row_sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* decrement below which a step should hardly move the predictors */
#define SMALL 1e-3
#define MOVES 0.3 /* log odds by which a separating step still moves them */
/* contribution of a weight with a prior that is neglected, relative to the largest */
#define FLAT_PART 0.1
/* relative size of an opposing slope that may be rounding error */
#define NEAR_ZERO 1e-4
#define NAMES_MAX 6
#define DEPENDENT 1e-6 /* relative length of X v below which v is in the null space */
/* log of sd(y) over the residuals' sd above which the fit is perfect */
#define PERFECT_FIT 16.0
/* ridge over the curvature of the priors above which chains cannot cross the posterior */
#define RIDGE_RATIO_MAX 3e4
#define TYPICAL_ROWS    ((size_t)1001)
#define HARDLY_VARIES   1e6 /* |mean| / sd above which a column resembles the intercept */
/* the same for a target, whose residuals then have few digits */
#define TARGET_FAR 1e11

/* ---- how rows respond to a move along a direction ---- */

/* How the predictors of all rows change along a direction v. */
typedef struct {
    double largest;        /* max |x_i.v| */
    double opposing_slope; /* max of -sign(d log p/d eta) x_i.v */
    double mean_square;    /* of x_i.v */
} direction_scan;

/* A pass over the rows. */
typedef struct {
    const posterior *u;
    padded_line line;
    double rounding;
} scan;

/* Numbers of a block: predictors, their rate along v, d log p/d eta, and scratch for one
 * row. */
typedef struct {
    double *eta, *along, *pull, *row;
} block_arrays;

/* Evaluates the predictors of a block; rows of weight 0 count as not moving. */
static block_arrays scan_block(const scan *k, row_range r, double *scratch)
{
    const rows *data = k->u->data;
    block_arrays s = {scratch, scratch + ROW_BLOCK, scratch + 2 * ROW_BLOCK,
                      scratch + 3 * ROW_BLOCK};
    batch b = predictors_of(k->u, r, &k->line, s.eta, s.along);
    k->u->model->predictor->gradient(&b, s.pull, NULL);
    for (size_t i = 0; i < r.n; i++)
        if (data->weight && data->weight[r.first + i] == 0.0) s.along[i] = s.pull[i] = 0.0;
    return s;
}

/* -sign(d log p/d eta) x_i.v of row i of the block: positive where the row opposes a move
 * along v. */
static double opposing_slope(const block_arrays *s, size_t i)
{
    if (s->pull[i] == 0.0) return -INFINITY;
    return s->pull[i] > 0.0 ? -s->along[i] : s->along[i];
}

/* total: the members of direction_scan, in order. */
static void scan_rows(const void *self, row_range r, double *scratch, double *total)
{
    const scan *k = self;
    block_arrays s = scan_block(k, r, scratch);
    for (size_t i = 0; i < r.n; i++) {
        total[0] = fmax(total[0], fabs(s.along[i]));
        total[1] = fmax(total[1], opposing_slope(&s, i));
        total[2] += s.along[i] * s.along[i] / (double)total_rows(k->u->data);
    }
}

static void merge_totals(double *total, const double *part)
{
    total[0] = fmax(total[0], part[0]);
    total[1] = fmax(total[1], part[1]);
    total[2] += part[2];
}

static const double empty_totals[3] = {0.0, -INFINITY, 0.0};

/* Computes *out in one pass over the rows at w. */
static sbps_status direction_scan_run(const posterior *u, const double *w, const double *v,
                                      direction_scan *out, sbps_error *err)
{
    scan k = {.u = u};
    double total[3] = {empty_totals[0], empty_totals[1], empty_totals[2]};
    sbps_status status = padded_line_open(&k.line, u, w, v, err);
    if (status != SBPS_OK) return status;
    const row_sum what = {.self = &k,
                          .width = 3,
                          .scratch = 3 * ROW_BLOCK,
                          .add = scan_rows,
                          .begin = empty_totals,
                          .merge = merge_totals};
    status = row_sums(u->data, &what, total, err);
    *out = (direction_scan){total[0], total[1], total[2]};
    free(k.line.p);
    return status;
}

/* Sum of |x_ij v_j|, which the rounding error of x_i.v is relative to. */
static double row_magnitude(const scan *k, size_t row, double *x)
{
    double sum = 0.0;
    k->u->data->storage.kind->decode(k->u->data, row, x);
    for (size_t j = 0; j < k->u->data->d; j++) sum += fabs(x[j] * k->line.q[j]);
    return sum;
}

/* total[0] = 1 if a row of the block opposes the move. */
static void find_opposed(const void *self, row_range r, double *scratch, double *total)
{
    const scan *k = self;
    block_arrays s = scan_block(k, r, scratch);
    for (size_t i = 0; i < r.n && *total == 0.0; i++) {
        double against = opposing_slope(&s, i);
        if (against > 0.0 && against > k->rounding * row_magnitude(k, r.first + i, s.row))
            *total = 1.0;
    }
}

/* *out: a row opposes the move along v by more than `rounding` of its own terms, the sum of
 * |x_ij v_j|. Relative to the row, since next to one cell of 1e10 the slopes of all other
 * rows look negligible. */
static sbps_status direction_scan_opposed(const posterior *u, const double *w, const double *v,
                                          double rounding, bool *out, sbps_error *err)
{
    scan k = {.u = u, .rounding = rounding};
    double total = 0.0;
    sbps_status status = padded_line_open(&k.line, u, w, v, err);
    if (status != SBPS_OK) return status;
    const row_sum what = {.self = &k,
                          .width = 1,
                          .scratch = 3 * ROW_BLOCK + u->data->stride,
                          .add = find_opposed,
                          .any = true};
    status = row_sums(u->data, &what, &total, err);
    *out = total > 0.0;
    free(k.line.p);
    return status;
}

/* ---- separation ---- */

/* True if the prior of weight j is flat around its value. */
static bool is_flat(const search *s, size_t j)
{
    const prior *p = &s->u->priors[j];
    if (s->u->scale[j] != SCALE_PLAIN) return false;
    for (int i = -1; i <= 1; i++)
        if (prior_slope(p, SCALE_PLAIN, s->w[j] + i) != 0.0 ||
            prior_curvature(p, SCALE_PLAIN, s->w[j] + i) != 0.0)
            return false;
    return true;
}

/* Root mean square contribution of weight j to the predictors when it moves by v_j. */
static double contribution(const search *s, const double *v, size_t j)
{
    const rows *data = s->u->data;
    return fabs(v[j]) * hypot(data->table.mean[j], data->table.sd[j]);
}

/* The part of v that the prior of weight j responds to, in units of predictors. */
static double prior_contribution(const search *s, const double *v, size_t j)
{
    return log_prior_centred(s->u, j) ? fabs(log_prior_argument(s->u, v, j))
                                      : contribution(s, v, j);
}

static double largest_contribution(const search *s, const double *v)
{
    double largest = 0.0;
    for (size_t j = 0; j < s->u->data->d; j++) largest = fmax(largest, contribution(s, v, j));
    return largest;
}

/* *out: a row opposes the step. Weights that hardly move count as fixed: their steps are
 * what the search has not finished. */
static sbps_status find_opposition(const search *s, bool *out, sbps_error *err)
{
    size_t d = s->u->data->d;
    double limit = NEAR_ZERO * largest_contribution(s, s->step), *v = new_doubles(s->dim);
    *out = false;
    if (!v) return fail_memory(err);
    for (size_t j = 0; j < d; j++)
        v[j] = contribution(s, s->step, j) <= limit ? 0.0 : s->step[j];
    sbps_status status = direction_scan_opposed(s->u, s->w, v, NEAR_ZERO, out, err);
    free(v);
    return status;
}

/* True if every weight with more than `part` of the largest contribution to v has a flat
 * prior. */
static bool moves_only_flat(const search *s, const double *v, double part)
{
    double limit = part * largest_contribution(s, v);
    for (size_t j = 0; j < s->u->data->d; j++)
        if (prior_contribution(s, v, j) > limit && !is_flat(s, j)) return false;
    return true;
}

/* Writes "'a', 'b' and 3 more": the columns, except the intercept and column `but`, whose
 * contribution to v is above `limit`. */
static void list_columns(const search *s, const double *v, double limit, size_t but,
                         size_t size, char *text)
{
    const rows *data = s->u->data;
    size_t named = 0, more = 0, used = 0;
    text[0] = '\0';
    for (size_t j = data->intercept ? 1 : 0; j < data->d; j++) {
        if (j == but || contribution(s, v, j) <= limit) continue;
        if (named == NAMES_MAX) {
            more++;
            continue;
        }
        int wrote =
            snprintf(text + used, size - used, "%s'%s'", named ? ", " : "",
                     data->table.names ? show_brief(data->table.names[j], 24).text : "?");
        used += (size_t)wrote;
        named++;
    }
    if (more) snprintf(text + used, size - used, " and %zu more", more);
}

/* The column that separates the rows alone: the ranges of its values in the two classes do
 * not overlap. For counts the classes are zeros and positive counts, and among the latter
 * the column must be constant. data->d: none. */
static size_t lone_separator(const search *s, double limit)
{
    const rows *data = s->u->data;
    if (data->partition) return data->d; /* this rank's rows alone cannot decide it */
    for (size_t j = data->intercept ? 1 : 0; j < data->d; j++) {
        if (contribution(s, s->step, j) <= limit || data->table.sd[j] == 0.0) continue;
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (size_t i = 0; i < data->local_rows; i++) {
            double x = data->storage.kind->cell(data, i, j);
            size_t class = data->y[i] > 0.5;
            low[class] = fmin(low[class], x);
            high[class] = fmax(high[class], x);
        }
        if (s->u->model->support == SUPPORT_COUNTS && low[1] != high[1]) continue;
        if (high[0] <= low[1] || high[1] <= low[0]) return j;
    }
    return data->d;
}

/* The message for separated rows, which names the columns that separate them. */
static sbps_status explain_separation(const search *s, const direction_scan *j, sbps_error *err)
{
    double largest = j->largest;
    /* the margin of every row grows */
    bool complete = j->opposing_slope < -NEAR_ZERO * largest;
    const rows *data = s->u->data;
    char columns[NAMES_MAX * 32 + 32], separator[sizeof columns + 32];
    size_t alone = lone_separator(s, NEAR_ZERO * largest);
    list_columns(s, s->step, 0.05 * largest_contribution(s, s->step), data->d, sizeof columns,
                 columns);
    if (alone < data->d)
        snprintf(separator, sizeof separator, "column '%s' alone",
                 show_name(data->table.names[alone]).text);
    else
        snprintf(separator, sizeof separator, "a combination of columns %s", columns);
    const char *target = data->table.target ? data->table.target : "y";
    static const char *const cure =
        "so with a flat prior the posterior is improper: weights run to infinity; give a "
        "proper prior, e.g. --prior \"normal(0,2.5)\"";
    if (s->u->model->support == SUPPORT_COUNTS)
        return fail(err, SBPS_NO_MODE,
                    "%s is 0 in every row that %s sets apart: their rate runs to 0, %s",
                    show_name(target).text, separator, cure);
    return fail(err, SBPS_NO_MODE, "the classes of '%s' can be separated perfectly%s by %s, %s",
                show_name(target).text, complete ? "" : " in part of the rows", separator,
                cure);
}

static bool all_zero(size_t n, const double *y)
{
    for (size_t i = 0; i < n; i++)
        if (y[i] != 0.0) return false;
    return true;
}

/* The message for a target that is 0 in every row. */
static sbps_status explain_no_events(const search *s, sbps_error *err)
{
    const char *target = s->u->data->table.target;
    return fail(err, SBPS_NO_MODE,
                "target '%s' is 0 in every row, so with a flat prior the posterior is "
                "improper: the rate runs to 0; give a proper prior to the intercept and the "
                "weights, e.g. --prior-intercept \"normal(0,10)\" --prior \"normal(0,2.5)\"",
                show_name(target ? target : "y").text);
}

/* True if the model has a parameter that adapts to the size of the residuals. Then rows pull
 * back before they are far from their targets, and no run to infinity can be recognised. */
static bool fits_closely(const search *s)
{
    for (size_t i = 0; i < s->u->auxiliaries; i++)
        if (s->u->model->auxiliaries[i].perfect_fit != 0.0) return true;
    return false;
}

sbps_status may_diverge(const search *s, bool *out, sbps_error *err)
{
    bool opposed = false;
    *out = false;
    if (!s->u->model->facts.regression || s->u->data->storage.recipe || fits_closely(s) ||
        s->decrement <= SMALL)
        return SBPS_OK;
    if (!moves_only_flat(s, s->step, FLAT_PART)) return SBPS_OK;
    sbps_status status = find_opposition(s, &opposed, err);
    *out = !opposed;
    return status;
}

sbps_status check_separation(const search *s, bool certain, sbps_error *err)
{
    if (!s->u->model->facts.regression || s->u->data->storage.recipe || fits_closely(s) ||
        s->decrement > SMALL)
        return SBPS_OK;
    bool opposed;
    direction_scan j;
    if (!moves_only_flat(s, s->step, certain ? FLAT_PART : NEAR_ZERO)) return SBPS_OK;
    /* usually one of the first rows opposes */
    sbps_status status = find_opposition(s, &opposed, err);
    if (status != SBPS_OK || opposed) return status;
    if ((status = direction_scan_run(s->u, s->w, s->step, &j, err)) != SBPS_OK) return status;
    if (j.largest < MOVES || (!certain && j.opposing_slope > NEAR_ZERO * j.largest))
        return SBPS_OK;
    bool none = s->u->model->support == SUPPORT_COUNTS &&
                !any_rank(s->u->data, !all_zero(s->u->data->local_rows, s->u->data->y));
    if (none) return explain_no_events(s, err);
    return explain_separation(s, &j, err);
}

/* ---- columns that depend on each other ---- */

/* s->step = v with H v = 0, from the leading part of the factor: v_pivot = 1, the rest
 * solves for it. */
static void null_vector(search *s, size_t pivot)
{
    size_t d = s->dim;
    double *v = s->step;
    memset(v, 0, d * sizeof *v);
    /* The factor's row already holds L^-1 of the pivot's column: only L' is left to solve. */
    for (size_t i = 0; i < pivot; i++) v[i] = -s->factor[pivot * d + i];
    for (size_t i = pivot; i-- > 0;) {
        v[i] /= s->factor[i * d + i];
        for (size_t k = 0; k < i; k++) v[k] -= v[i] * s->factor[i * d + k];
    }
    v[pivot] = 1.0;
    for (size_t i = 0; i <= pivot; i++) v[i] /= s->root[i];
}

/* The message for dependent columns. */
static sbps_status explain_collinear(const search *s, size_t pivot, double largest,
                                     double residual, sbps_error *err)
{
    const rows *data = s->u->data;
    const char *name = data->table.names ? data->table.names[pivot] : "?";
    static const char *const cure =
        "with a flat prior the posterior is improper; drop the column "
        "or give a proper prior, e.g. --prior \"normal(0,2.5)\"";
    char others[NAMES_MAX * 32 + 32];
    if (total_rows(data) < data->d)
        return fail(err, SBPS_NO_MODE, "%zu rows cannot tell %zu weights apart: %s",
                    total_rows(data), data->d, cure);
    if (data->table.sd[pivot] == 0.0)
        return fail(err, SBPS_NO_MODE, "column '%s' is %g in every row: %s",
                    show_name(name).text, data->table.mean[pivot], cure);
    if (residual > 1e-3 * data->table.sd[pivot] * fabs(s->step[pivot]))
        return fail(err, SBPS_NO_MODE,
                    "column '%s' (mean %g, sd %g) varies too little for its size to be "
                    "distinguished from a constant: use --standardize",
                    show_name(name).text, data->table.mean[pivot], data->table.sd[pivot]);
    list_columns(s, s->step, 1e-5 * largest, pivot, sizeof others, others);
    return fail(err, SBPS_NO_MODE, "column '%s' is a linear combination of %s%s: %s",
                show_name(name).text, others[0] ? others : "the intercept",
                others[0] && data->intercept && contribution(s, s->step, 0) > 1e-5 * largest
                    ? " and the intercept"
                    : "",
                cure);
}

sbps_status check_collinear(search *s, size_t pivot, sbps_error *err)
{
    if (!s->u->model->facts.regression || pivot >= s->u->data->d) return SBPS_OK;
    null_vector(s, pivot);
    double largest = largest_contribution(s, s->step);
    if (!moves_only_flat(s, s->step, DEPENDENT)) return SBPS_OK;
    direction_scan j;
    sbps_status status = direction_scan_run(s->u, s->w, s->step, &j, err);
    if (status != SBPS_OK) return status;
    double residual = sqrt(j.mean_square);
    if (largest > 0.0 && residual > DEPENDENT * largest) return SBPS_OK;
    return explain_collinear(s, pivot, largest, residual, err);
}

/* ---- directions lost in rounding ---- */

/* v'Pv with P the curvature of the priors; where a prior has a kink or a long tail, its
 * squared slope replaces it. A centred intercept's prior is left out: the rows determine the
 * predictor in their middle. */
static double prior_curvature_along(const search *s, const double *v)
{
    double total = 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        if (log_prior_centred(s->u, j)) continue;
        const prior *p = &s->u->priors[j];
        double slope = prior_slope(p, s->u->scale[j], s->w[j]);
        double curvature = fabs(prior_curvature(p, s->u->scale[j], s->w[j]));
        total += fmax(curvature, slope * slope) * v[j] * v[j];
    }
    return total;
}

/* The nearly constant column by which v moves the predictors most; data->d: none. */
static size_t stiff_column(const search *s, const double *v)
{
    const rows *data = s->u->data;
    size_t found = data->d;
    double largest = 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        size_t c = posterior_named_column(s->u, j);
        if (c >= data->d || (c == 0 && data->intercept)) continue;
        double size = fabs(v[j] * data->table.mean[c]);
        if (fabs(data->table.mean[c]) <= HARDLY_VARIES * data->table.sd[c] || size <= largest)
            continue;
        largest = size;
        found = c;
    }
    return found;
}

/* The message for a direction that double precision cannot resolve. */
static sbps_status explain_rounded_direction(const search *s, size_t pivot, size_t stiff,
                                             sbps_error *err)
{
    const rows *data = s->u->data;
    size_t column = stiff < data->d ? stiff : pivot;
    double mean = data->table.mean[column], sd = data->table.sd[column];
    shown name = show_name(data->table.names ? data->table.names[column] : "?");
    char others[NAMES_MAX * 32 + 32];
    if (sd == 0.0 && stiff < data->d)
        return fail(
            err, SBPS_NO_MODE,
            "column '%s' is %g in every row, too far from 0 to be distinguished from the "
            "intercept in double precision: leave it out",
            name.text, mean);
    if (stiff < data->d)
        return fail(err, SBPS_NO_MODE,
                    "column '%s' is nearly constant: its standard deviation of %.2g is lost "
                    "beside its mean of %.6g; subtract the mean, use --standardize, or leave "
                    "the column out",
                    name.text, sd, mean);
    list_columns(s, s->step, 1e-5 * largest_contribution(s, s->step), pivot, sizeof others,
                 others);
    return fail(err, SBPS_NO_MODE,
                "column '%s' is a linear combination of %s, and the prior is too wide to tell "
                "them apart in double precision: drop the column or give a narrower prior, "
                "e.g. --prior \"normal(0,2.5)\"",
                name.text, others[0] ? others : "the intercept");
}

/* The curvature along v that the rows account for, relative to sum_j H_jj v_j^2: the sum of
 * (x_i.v)^2, which involves no cancellation, over what its terms squared would give. */
static sbps_status curvature_from_rows(const search *s, const double *v, double *out,
                                       sbps_error *err)
{
    double terms = 0.0;
    direction_scan j;
    sbps_status status = direction_scan_run(s->u, s->w, v, &j, err);
    for (size_t i = 0; i < s->u->data->d; i++)
        terms += contribution(s, v, i) * contribution(s, v, i);
    *out = j.mean_square / terms;
    return status;
}

sbps_status check_rounded_direction(search *s, size_t pivot, double size, sbps_error *err)
{
    const rows *data = s->u->data;
    bool regression = s->u->model->facts.regression && pivot < data->d;
    if (s->u->model->row_model || s->u->model->facts.no_rows || data->storage.recipe)
        return SBPS_OK;
    null_vector(s, pivot);
    size_t stiff = stiff_column(s, s->step);
    if (stiff == data->d && !regression) return SBPS_OK;
    double by_rows =
        stiff < data->d ? pow(data->table.sd[stiff] / data->table.mean[stiff], 2.0) : 0.0;
    sbps_status status = regression ? curvature_from_rows(s, s->step, &by_rows, err) : SBPS_OK;
    if (status != SBPS_OK) return status;
    double diagonal = 0.0;
    for (size_t j = 0; j < s->dim; j++) diagonal += pow(s->root[j] * s->step[j], 2.0);
    double accounted = prior_curvature_along(s, s->step) / diagonal + by_rows;
    return size > RIDGE_RATIO_MAX * accounted ? explain_rounded_direction(s, pivot, stiff, err)
                                              : SBPS_OK;
}

sbps_status check_target(const search *s, sbps_error *err)
{
    const rows *data = s->u->data;
    if (!s->u->model->facts.scales_with_target || !data->intercept) return SBPS_OK;
    double mean = s->u->model->parameters.prior_mean(s->u->self, 0), sd = exp(s->log_spread);
    if (!(fabs(mean) > TARGET_FAR * sd)) return SBPS_OK;
    return fail(
        err, SBPS_NO_MODE,
        "target '%s' (mean %g, sd %g) varies too little for its size: subtract its mean",
        show_name(data->table.target ? data->table.target : "y").text, mean, sd);
}

/* ---- perfect fits ---- */

/* log of the residuals' size by auxiliary i, relative to its unit; 0 where it does not
 * follow them. */
static double log_residuals(const search *s, size_t i)
{
    const model_auxiliary *aux = &s->u->model->auxiliaries[i];
    double unit = aux->of_target ? s->log_spread : 0.0;
    if (aux->perfect_fit == 0.0) return 0.0;
    return (s->w[s->u->columns + i] - unit) / aux->perfect_fit;
}

/* The message for a target without residuals; by: the auxiliary that runs away. */
static sbps_status explain_perfect_fit(const search *s, const model_auxiliary *by,
                                       sbps_error *err)
{
    const rows *data = s->u->data;
    return fail(err, SBPS_NO_MODE,
                "the columns predict '%s' perfectly, so %s runs to %s and the posterior has no "
                "mode; is the target, or a copy of it, among the columns, or are there too few "
                "rows (%zu) for %zu weights?",
                show_name(data->table.target ? data->table.target : "y").text, by->name,
                by->perfect_fit > 0.0 ? "0" : "infinity", total_rows(data), data->d);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* log of the median absolute deviation of the first targets (rows are in random order):
 * insensitive to a single outlier. INFINITY where it is not known. */
static sbps_status log_typical(const rows *data, double *out, sbps_error *err)
{
    size_t n = data->local_rows < TYPICAL_ROWS ? data->local_rows : TYPICAL_ROWS;
    *out = INFINITY;
    if (data->partition || data->storage.recipe || !data->y) return SBPS_OK;
    double *y = new_doubles(n);
    if (!y) return fail_memory(err);
    for (size_t i = 0; i < n; i++) y[i] = data->y[i] - (data->offset ? data->offset[i] : 0.0);
    qsort(y, n, sizeof *y, compare_doubles);
    double median = y[n / 2];
    for (size_t i = 0; i < n; i++) y[i] = fabs(y[i] - median);
    qsort(y, n, sizeof *y, compare_doubles);
    if (y[n / 2] > 0.0) *out = log(y[n / 2]);
    free(y);
    return SBPS_OK;
}

sbps_status check_perfect_fit(const search *s, sbps_error *err)
{
    for (size_t i = 0; i < s->u->auxiliaries; i++) {
        const model_auxiliary *aux = &s->u->model->auxiliaries[i];
        double typical = INFINITY;
        if (log_residuals(s, i) > -PERFECT_FIT) continue;
        if (aux->of_target) {
            sbps_status status = log_typical(s->u->data, &typical, err);
            if (status != SBPS_OK) return status;
        }
        if (s->w[s->u->columns + i] - typical > -PERFECT_FIT && isfinite(typical)) continue;
        return explain_perfect_fit(s, aux, err);
    }
    return SBPS_OK;
}

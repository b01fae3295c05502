/* Posteriors without a mode, told in words.
 *
 * Separation. With flat priors along v, U falls for ever along v when no row objects:
 *
 *   d log p_i/d eta * (x_i.v) >= 0 for every row i, > 0 for some                       (1)
 *
 * (complete or quasi-complete separation). Newton finds such v by itself: each of its steps then
 * raises the margins of the separated rows by 1 and leaves the others alone, while the decrement
 * falls by e only; at a mode x.step vanishes with the decrement. Of counts only zeros can be
 * separated: (1) needs x_i.v = 0 wherever y_i > 0.
 *
 * Albert, Anderson (1984), On the existence of maximum likelihood estimates in logistic
 * regression models, Biometrika 71, 1-10. */
#include "core/memory.h"
#include "core/printable.h"
#include "posterior/full/direction_scan.h"
#include "posterior/full/log_prior.h"
#include "posterior/mode/search.h"
#include "table/row_partition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL            1e-3 /* decrement below which a step should no longer move predictors */
#define MOVES            0.3  /* nats of log odds: a step that still does */
#define FLAT_PART        0.1 /* of the weight that moves most: what a prior may hold beside it */
#define NEAR_ZERO        1e-4 /* relative: an objection that is only rounding */
#define NAMES_MAX        6
#define DEPENDENT        1e-6 /* relative length of X v below which v is in the null space */
#define RESIDUAL_NOTHING 16.0 /* log of sd(y) over the residuals' that no noise explains */
#define LOST_MAX         3e4 /* ridge over the curvature of priors: with more, chains do not cross */
#define TYPICAL_ROWS     ((size_t)1001)
#define HARDLY_VARIES    1e6 /* |mean| over sd, beyond which a column is much like the intercept */
#define TARGET_FAR       1e11 /* likewise of a target, where residuals have few digits */

/* No prior holds weight j. */
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

/* How much weight j contributes to predictors when it moves by v_j. */
static double contribution(const search *s, const double *v, size_t j)
{
    const rows *data = s->u->data;
    return fabs(v[j]) * hypot(data->mean[j], data->sd[j]);
}

/* How much of v the prior of weight j sees, in predictors. */
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

/* Weights that hardly move are left where they are: what is left of the search in them is no journey. */
static sbps_status any_row_opposes(const search *s, bool *out, sbps_error *err)
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

/* Every weight that matters to v, by `part` of the one that matters most, is free of a prior. */
static bool moves_only_flat(const search *s, const double *v, double part)
{
    double limit = part * largest_contribution(s, v);
    for (size_t j = 0; j < s->u->data->d; j++)
        if (prior_contribution(s, v, j) > limit && !is_flat(s, j)) return false;
    return true;
}

/* "'a', 'b' and 3 more": columns whose share is above `limit`, the intercept left out; `but` is
 * left out too. */
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
        int wrote = snprintf(text + used, size - used, "%s'%s'", named ? ", " : "",
                             data->names ? show_brief(data->names[j], 24).text : "?");
        used += (size_t)wrote;
        named++;
    }
    if (more) snprintf(text + used, size - used, " and %zu more", more);
}

/* The column that does it alone: its values in one class do not lie among those of the other. Of
 * counts the classes are zeros and others, and among the others the column must be constant. */
static size_t lone_separator(const search *s, double limit)
{
    const rows *data = s->u->data;
    if (data->partition) return data->d; /* one rank's rows cannot tell */
    for (size_t j = data->intercept ? 1 : 0; j < data->d; j++) {
        if (contribution(s, s->step, j) <= limit || data->sd[j] == 0.0) continue;
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (size_t i = 0; i < data->n; i++) {
            double x = data->storage->cell(data, i, j);
            size_t class = data->y[i] > 0.5;
            low[class] = fmin(low[class], x);
            high[class] = fmax(high[class], x);
        }
        if (s->u->model->support == SUPPORT_COUNTS && low[1] != high[1]) continue;
        if (high[0] <= low[1] || high[1] <= low[0]) return j;
    }
    return data->d;
}

static sbps_status explain_separation(const search *s, const direction_scan *j, sbps_error *err)
{
    double largest = j->largest;
    bool whole = j->opposing_slope < -NEAR_ZERO * largest; /* every row's margin grows */
    const rows *data = s->u->data;
    char columns[NAMES_MAX * 32 + 32], who[sizeof columns + 32];
    size_t alone = lone_separator(s, NEAR_ZERO * largest);
    list_columns(s, s->step, 0.05 * largest_contribution(s, s->step), data->d, sizeof columns,
                 columns);
    if (alone < data->d)
        snprintf(who, sizeof who, "column '%s' alone", show_name(data->names[alone]).text);
    else
        snprintf(who, sizeof who, "a combination of columns %s", columns);
    const char *target = data->target ? data->target : "y";
    static const char *const cure =
        "so with a flat prior the posterior is improper: weights run to infinity; give a "
        "proper prior, e.g. --prior \"normal(0,2.5)\"";
    if (s->u->model->support == SUPPORT_COUNTS)
        return fail(err, SBPS_NO_MODE,
                    "%s is 0 in every row that %s sets apart: their rate runs to 0, %s",
                    show_name(target).text, who, cure);
    return fail(err, SBPS_NO_MODE, "the classes of '%s' can be separated perfectly%s by %s, %s",
                show_name(target).text, whole ? "" : " in part of the rows", who, cure);
}

static bool all_zero(size_t n, const double *y)
{
    for (size_t i = 0; i < n; i++)
        if (y[i] != 0.0) return false;
    return true;
}

static sbps_status explain_no_events(const search *s, sbps_error *err)
{
    const char *target = s->u->data->target;
    return fail(err, SBPS_NO_MODE,
                "target '%s' is 0 in every row, so with a flat prior the posterior is "
                "improper: the rate runs to 0; give a proper prior to the intercept and the "
                "weights, e.g. --prior-intercept \"normal(0,10)\" --prior \"normal(0,2.5)\"",
                show_name(target ? target : "y").text);
}

/* Has the model a parameter that follows the size of residuals? Then rows pull back before they are far
 * from their targets, and none can be told to run off. */
static bool fits_closely(const search *s)
{
    for (size_t i = 0; i < s->u->auxiliaries; i++)
        if (s->u->model->auxiliaries[i].perfect_fit != 0.0) return true;
    return false;
}

sbps_status may_run_off(const search *s, bool *out, sbps_error *err)
{
    bool held = false;
    *out = false;
    if (!s->u->model->facts.regression || s->u->data->recipe || fits_closely(s) ||
        s->decrement <= SMALL)
        return SBPS_OK;
    if (!moves_only_flat(s, s->step, FLAT_PART)) return SBPS_OK;
    sbps_status status = any_row_opposes(s, &held, err);
    *out = !held;
    return status;
}

sbps_status check_separation(const search *s, bool certain, sbps_error *err)
{
    if (!s->u->model->facts.regression || s->u->data->recipe || fits_closely(s) ||
        s->decrement > SMALL)
        return SBPS_OK;
    bool held;
    direction_scan j;
    if (!moves_only_flat(s, s->step, certain ? FLAT_PART : NEAR_ZERO)) return SBPS_OK;
    sbps_status status = any_row_opposes(s, &held, err); /* mostly the first rows do */
    if (status != SBPS_OK || held) return status;
    if ((status = direction_scan_run(s->u, s->w, s->step, &j, err)) != SBPS_OK) return status;
    if (j.largest < MOVES || (!certain && j.opposing_slope > NEAR_ZERO * j.largest))
        return SBPS_OK;
    bool none = s->u->model->support == SUPPORT_COUNTS &&
                !rows_any(s->u->data, !all_zero(s->u->data->n, s->u->data->y));
    if (none) return explain_no_events(s, err);
    return explain_separation(s, &j, err);
}

/* ---- columns that depend on each other ---- */

/* v with H v = 0 from the leading factor: v_pivot = 1, the rest solves for it. Into s->step. */
static void null_vector(search *s, size_t pivot)
{
    size_t d = s->dim;
    double *v = s->step;
    memset(v, 0, d * sizeof *v);
    /* The factor's row holds L^-1 of the pivot's column already: only L' is left to solve. */
    for (size_t i = 0; i < pivot; i++) v[i] = -s->factor[pivot * d + i];
    for (size_t i = pivot; i-- > 0;) {
        v[i] /= s->factor[i * d + i];
        for (size_t k = 0; k < i; k++) v[k] -= v[i] * s->factor[i * d + k];
    }
    v[pivot] = 1.0;
    for (size_t i = 0; i <= pivot; i++) v[i] /= s->root[i];
}

static sbps_status explain_collinear(const search *s, size_t pivot, double largest,
                                     double residual, sbps_error *err)
{
    const rows *data = s->u->data;
    const char *name = data->names ? data->names[pivot] : "?";
    static const char *const cure =
        "with a flat prior the posterior is improper; drop the column "
        "or give a proper prior, e.g. --prior \"normal(0,2.5)\"";
    char others[NAMES_MAX * 32 + 32];
    if (rows_all(data) < data->d)
        return fail(err, SBPS_NO_MODE, "%zu rows cannot tell %zu weights apart: %s",
                    rows_all(data), data->d, cure);
    if (data->sd[pivot] == 0.0)
        return fail(err, SBPS_NO_MODE, "column '%s' is %g in every row: %s",
                    show_name(name).text, data->mean[pivot], cure);
    if (residual > 1e-3 * data->sd[pivot] * fabs(s->step[pivot]))
        return fail(err, SBPS_NO_MODE,
                    "column '%s' (mean %g, sd %g) varies too little for its size to be told "
                    "from a constant: use --standardize",
                    show_name(name).text, data->mean[pivot], data->sd[pivot]);
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

/* v'Pv of priors P; where one has a kink or a long tail, its slope stands for its curvature. A centred intercept's
 * prior is left out: rows know the predictor in their middle. */
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

/* The column that hardly varies for its size and by which v moves predictors most; data->d: there is none. */
static size_t stiff_column(const search *s, const double *v)
{
    const rows *data = s->u->data;
    size_t found = data->d;
    double largest = 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        size_t c = posterior_named_column(s->u, j);
        if (c >= data->d || (c == 0 && data->intercept)) continue;
        double size = fabs(v[j] * data->mean[c]);
        if (fabs(data->mean[c]) <= HARDLY_VARIES * data->sd[c] || size <= largest) continue;
        largest = size;
        found = c;
    }
    return found;
}

static sbps_status explain_lost(const search *s, size_t pivot, size_t stiff, sbps_error *err)
{
    const rows *data = s->u->data;
    size_t column = stiff < data->d ? stiff : pivot;
    double mean = data->mean[column], sd = data->sd[column];
    shown name = show_name(data->names ? data->names[column] : "?");
    char others[NAMES_MAX * 32 + 32];
    if (sd == 0.0 && stiff < data->d)
        return fail(err, SBPS_NO_MODE,
                    "column '%s' is %g in every row, too far from 0 to be told from the "
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

/* The curvature along v that rows account for, as a part of sum_j H_jj v_j^2: by (x_i.v)^2, which is summed without
 * cancelling, over what its terms squared would make. */
static sbps_status held_by_rows(const search *s, const double *v, double *out, sbps_error *err)
{
    double terms = 0.0;
    direction_scan j;
    sbps_status status = direction_scan_run(s->u, s->w, v, &j, err);
    for (size_t i = 0; i < s->u->data->d; i++)
        terms += contribution(s, v, i) * contribution(s, v, i);
    *out = j.mean_square / terms;
    return status;
}

sbps_status check_lost(search *s, size_t pivot, double size, sbps_error *err)
{
    const rows *data = s->u->data;
    bool regression = s->u->model->facts.regression && pivot < data->d;
    if (s->u->model->row_model || s->u->model->facts.rowless || data->recipe) return SBPS_OK;
    null_vector(s, pivot);
    size_t stiff = stiff_column(s, s->step);
    if (stiff == data->d && !regression) return SBPS_OK;
    double by_rows = stiff < data->d ? pow(data->sd[stiff] / data->mean[stiff], 2.0) : 0.0;
    sbps_status status = regression ? held_by_rows(s, s->step, &by_rows, err) : SBPS_OK;
    if (status != SBPS_OK) return status;
    double diagonal = 0.0;
    for (size_t j = 0; j < s->dim; j++) diagonal += pow(s->root[j] * s->step[j], 2.0);
    double held = prior_curvature_along(s, s->step) / diagonal + by_rows;
    return size > LOST_MAX * held ? explain_lost(s, pivot, stiff, err) : SBPS_OK;
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
        show_name(data->target ? data->target : "y").text, mean, sd);
}

/* ---- nothing left to explain ---- */

/* log of the residuals' size by auxiliary i, over what they are in its unit; 0 where it does not follow them. */
static double log_residuals(const search *s, size_t i)
{
    const model_auxiliary *each = &s->u->model->auxiliaries[i];
    double unit = each->of_target ? s->log_spread : 0.0;
    if (each->perfect_fit == 0.0) return 0.0;
    return (s->w[s->u->columns + i] - unit) / each->perfect_fit;
}

static sbps_status explain_perfect_fit(const search *s, const model_auxiliary *by,
                                       sbps_error *err)
{
    const rows *data = s->u->data;
    return fail(err, SBPS_NO_MODE,
                "the columns predict '%s' perfectly, so %s runs to %s and the posterior has no "
                "mode; is the target, or a copy of it, among the columns, or are there too few "
                "rows (%zu) for %zu weights?",
                show_name(data->target ? data->target : "y").text, by->name,
                by->perfect_fit > 0.0 ? "0" : "infinity", rows_all(data), data->d);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* log of the median distance of targets from their median, of the first rows, which lie in random order: what one row far
 * from all others does not enlarge. INFINITY where it is not known. */
static sbps_status log_typical(const rows *data, double *out, sbps_error *err)
{
    size_t n = data->n < TYPICAL_ROWS ? data->n : TYPICAL_ROWS;
    *out = INFINITY;
    if (data->partition || data->recipe || !data->y) return SBPS_OK;
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
        const model_auxiliary *each = &s->u->model->auxiliaries[i];
        double typical = INFINITY;
        if (log_residuals(s, i) > -RESIDUAL_NOTHING) continue;
        if (each->of_target) {
            sbps_status status = log_typical(s->u->data, &typical, err);
            if (status != SBPS_OK) return status;
        }
        if (s->w[s->u->columns + i] - typical > -RESIDUAL_NOTHING && isfinite(typical))
            continue;
        return explain_perfect_fit(s, each, err);
    }
    return SBPS_OK;
}

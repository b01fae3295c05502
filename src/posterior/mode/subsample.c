/* The mode by way of subsets of the rows. Rows are in random order, so the first n are a
 * sample. The mode of a small subset starts the search in a larger one, where one evaluation
 * is enough: a Newton step, corrected on the previous subset, leads close to its mode. Two
 * passes over all rows then give a reference. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "posterior/mode/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUBSET_MIN ((size_t)400) /* rows of the first subset */

/* the same where rows are groups, each of many observations */
#define SUBSET_GROUPS        ((size_t)100)
#define SUBSET_PER_PARAMETER ((size_t)20) /* rows per parameter, at least */
/* the table has at least this many times the rows of the last subset */
#define SUBSET_LAST   ((size_t)4)
#define SUBSET_GROWTH ((size_t)8) /* largest growth from one subset to the next */
/* rows of a table below which a direct search is fast */
#define SUBSET_TABLE_MIN ((size_t)4000)
/* the table has this many times the rows of the correction subset */
#define CORRECTION_LAST ((size_t)10)
/* Largest size of the correction subset, in first subsets. */
#define CORRECTION_FIRST ((size_t)4)
/* Decrement over dim, as of draws from the posterior, at which a reference is near enough,
 * and at which the mode of a subset is, which differs from that of all rows anyway. */
#define GOAL_NEAR 0.1
#define GOAL_PART 0.3
/* decrement over dim below which an unchecked step is taken: about twice the distance
 * between subsets */
#define UNCHECKED_MAX 16.0

static const mode_request default_request = {.method = "auto"};

/* A posterior on the first n rows. */
typedef struct {
    rows data;
    row_partition partition;
    posterior u;
} subset;

/* Makes *s a view of the first n rows of u; it borrows from u. */
static void make_subset(const posterior *u, size_t n, subset *s)
{
    s->data = *u->data;
    s->u = *u;
    s->data.local_rows = n;
    s->u.data = &s->data;
    if (u->data->partition) {
        /* Every rank cuts its own part to the first n rows. */
        size_t first = u->data->partition->first_row, ours = n > first ? n - first : 0;
        s->partition = *u->data->partition;
        s->partition.total_rows = n;
        s->data.partition = &s->partition;
        s->data.local_rows = ours < u->data->local_rows ? ours : u->data->local_rows;
    }
}

/* Rows of the first subset; 0: the table is short, or the model's rows are no random sample. */
static size_t first_subset(const posterior *u)
{
    bool groups = u->model->row_model,
         irregular = u->model->facts.mode_optional && !u->model->facts.log_concave;
    size_t smallest = SUBSET_PER_PARAMETER * u->dim, n = total_rows(u->data),
           smallest_allowed = groups ? SUBSET_GROUPS : SUBSET_MIN;
    if (smallest < smallest_allowed || groups) smallest = smallest_allowed;
    return irregular || n < SUBSET_TABLE_MIN / (SUBSET_MIN / smallest_allowed) ||
                   n / SUBSET_LAST < smallest
               ? 0
               : smallest;
}

/* Rows of the subset after one of n, in equal factors up to the last; 0: it was the last. */
static size_t next_subset(const posterior *u, size_t n)
{
    size_t last = total_rows(u->data) / SUBSET_LAST, steps = 1;
    if (n >= last) return 0;
    for (size_t size = n * SUBSET_GROWTH; size < last; size *= SUBSET_GROWTH) steps++;
    return steps == 1
               ? last
               : (size_t)((double)n * pow((double)last / (double)n, 1.0 / (double)steps));
}

/* Rows that are enough to correct a step by, at a small cost. */
static size_t correction_rows(const posterior *u)
{
    size_t n = total_rows(u->data) / CORRECTION_LAST,
           limit = CORRECTION_FIRST * first_subset(u);
    return n < limit ? n : limit;
}

/* Approximate mode of the last subset, or of the first with `enough` rows; *of: its rows.
 * NULL: the table is short, or no subset has a mode. */
static mode *mode_of_subsets(const posterior *u, size_t enough, size_t *of)
{
    subset current, correction;
    mode *approximate = NULL, *next;
    double dim = (double)u->dim;
    size_t limit = correction_rows(u);
    *of = 0;
    for (size_t n = first_subset(u); n > 0; n = *of >= enough ? 0 : next_subset(u, n)) {
        *of = n;
        make_subset(u, n, &current);
        search_request request = {.how = &default_request, .goal = GOAL_PART * dim};
        if (approximate)
            request = (search_request){&default_request,    approximate->w, request.goal,
                                       UNCHECKED_MAX * dim, &correction.u,  NULL};
        search_run(&current.u, &request, &next, NULL);
        if (!next) continue;
        mode_destroy(approximate);
        approximate = next;
        make_subset(u, n < limit ? n : limit, &correction);
    }
    return approximate;
}

mode *mode_of_subset(const posterior *u, size_t one_in)
{
    size_t of, n = total_rows(u->data), d = u->dim;
    mode *approximate = mode_of_subsets(u, n / one_in, &of);
    for (size_t i = 0; approximate && i < d * d; i++)
        approximate->hessian[i] *= (double)n / (double)of;
    return approximate;
}

sbps_status mode_find(const posterior *u, const double *start, mode **out, sbps_error *err)
{
    size_t of;
    mode *approximate = start ? NULL : mode_of_subsets(u, total_rows(u->data), &of);
    sbps_status status =
        mode_find_by(u, approximate ? approximate->w : start, &default_request, out, err);
    mode_destroy(approximate);
    return status;
}

sbps_status mode_near(const posterior *u, const double *start, row_cache *cache, bool rough,
                      mode **out, sbps_error *err)
{
    subset correction;
    size_t of;
    mode *approximate = start ? NULL : mode_of_subsets(u, total_rows(u->data), &of);
    /* without a subset to start from, the direct search is short */
    bool enough = (approximate && cache) || (rough && first_subset(u) > 0);
    search_request request = {.how = &default_request,
                              .start = approximate ? approximate->w : start,
                              .goal = MODE_GOAL};
    request.cache = cache;
    if (enough) {
        make_subset(u, correction_rows(u), &correction);
        request.goal = GOAL_NEAR * (double)u->dim;
        request.subset = &correction.u;
    }
    sbps_status status = search_run(u, &request, out, err);
    mode_destroy(approximate);
    return status;
}

/* ---- correction of steps ----
 *
 * Correction of a Newton step for third-order curvature, on a subset of the rows. A step s
 * from w ends where the gradient would be 0 if U were quadratic. How much U deviates from
 * that on the way, a subset estimates well enough: with g, H of n of the N rows
 *
 *   c = -H_all^-1 (N/n) (g(w + s + c) - g(w) - H(w) (s + c))                                (1)
 *
 * is the missing part of the step. Two rounds of (1) from c = 0 give most of it, for three
 * evaluations of the subset. The correction is limited in length, and omitted where priors
 * have kinks and g jumps. */

/* relative to the step's length, in the metric of the Hessian */
#define CORRECTION_MAX    0.5
#define CORRECTION_ROUNDS 2

static bool has_kinks(const search *s)
{
    for (size_t j = 0; j < s->dim; j++)
        if (isfinite(s->kink[j])) return true;
    return false;
}

/* The right-hand side of (1) at trial, given g and H of the subset at w. */
static sbps_status find_correction(const search *s, const expansion *at_w, double *correction,
                                   sbps_error *err)
{
    size_t d = s->dim;
    double scale = (double)total_rows(s->u->data) / (double)total_rows(s->subset->data);
    sbps_status status = posterior_gradient(s->subset, s->trial, NULL, correction, err);
    for (size_t j = 0; j < d; j++) {
        double straight = at_w->gradient[j];
        for (size_t k = 0; k < d; k++)
            straight += at_w->hessian[j * d + k] * (s->trial[k] - s->w[k]);
        correction[j] = -scale * (correction[j] - straight) / s->root[j];
    }
    cholesky_solve(d, s->factor, correction);
    for (size_t j = 0; j < d; j++) correction[j] /= s->root[j];
    return status;
}

/* trial = w + s + c, with c limited to CORRECTION_MAX. */
static void set_trial(search *s, const double *step, const double *correction)
{
    size_t d = s->dim;
    double length = sqrt(quadratic_form(d, s->hessian, correction));
    double longest = CORRECTION_MAX * sqrt(quadratic_form(d, s->hessian, step));
    double factor = length > longest ? longest / length : 1.0;
    for (size_t j = 0; j < d; j++) s->trial[j] = s->w[j] + step[j] + factor * correction[j];
}

sbps_status search_correct_step(search *s, sbps_error *err)
{
    size_t d = s->dim;
    double value;
    /* buffers that are free until trial is evaluated */
    const expansion at_w = {&value, s->next_gradient, s->next_hessian};
    if (has_kinks(s)) return SBPS_OK;
    double *step = new_doubles(2 * d), *correction = step + d;
    if (!step) return fail_memory(err);
    for (size_t j = 0; j < d; j++) step[j] = s->trial[j] - s->w[j];
    sbps_status status = posterior_expand(s->subset, s->w, &at_w, NULL, err);
    for (int i = 0; i < CORRECTION_ROUNDS && status == SBPS_OK; i++) {
        status = find_correction(s, &at_w, correction, err);
        if (status == SBPS_OK) set_trial(s, step, correction);
    }
    free(step);
    return status;
}

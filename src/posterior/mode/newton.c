/* Newton's method with damping. With D^2 the Hessian's diagonal, so that columns in metres and in
 * millimetres are alike, a step solves
 *
 *   (D^-1 H D^-1 + lambda I) D s = -D^-1 g                                        (1)
 *
 * and lambda follows the ratio of the decrease got to the decrease promised (Levenberg 1944,
 * Marquardt 1963); it is 0 near a mode, where convergence is quadratic. The search ends when the
 * Newton decrement g'H^-1 g, twice the decrease still to be had in nats, is nil, or when rounding
 * in sums over all rows hides what is left. */
#include "linalg/dense_matrix.h"
#include "posterior/mode/search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_ITERATIONS 200
#define GOOD_ENOUGH    1e-6 /* where rounding or a kink stops progress */
#define MAX_DAMPING    1e12
#define BAD_START      1e-2 /* damping that the Hessian at the start should not need */
#define PACE_STEPS     10   /* over which a gain is measured */
#define RUNAWAY_STEPS  20
#define RUNAWAY_GAIN   1.0 /* nats a step */
#define MAX_AUX_STEP   3.0 /* log sigma is exponential in its effect: no leaps */

/* Twice the nats that may be left where values and slopes agree no further. */
static double good_enough(const search *s)
{
    return fmax(GOOD_ENOUGH, 2.0 * s->u->model->facts.grain);
}

/* D of (1). A diagonal of 0 happens under a kinked prior with no data: its slope is its scale. */
static void set_roots(search *s)
{
    for (size_t j = 0; j < s->dim; j++) {
        double size = fabs(s->hessian[j * s->dim + j]);
        if (isfinite(s->kink[j])) {
            double slope = prior_slope(&s->u->priors[j], s->u->scale[j], s->kink[j] + 1.0);
            size = fmax(size, slope * slope);
        }
        s->root[j] = size > 0.0 ? sqrt(size) : 1.0;
    }
}

/* Left of (1), lower triangle; weights held on a kink are taken out. `crossed` false drops the
 * terms of the auxiliaries with others: without them regressions are convex everywhere. */
static void scale_hessian(search *s, double damping, bool crossed)
{
    size_t d = s->dim, weights = s->u->columns;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            bool keep = s->side[i] != 0.0 && s->side[j] != 0.0 && (crossed || i < weights);
            s->factor[i * d + j] =
                keep ? s->hessian[i * d + j] / (s->root[i] * s->root[j]) : 0.0;
        }
        double own = s->hessian[i * d + i] / (s->root[i] * s->root[i]);
        s->factor[i * d + i] = (s->side[i] != 0.0 ? own : 1.0) + damping;
    }
}

/* Right of (1) and its solution. */
static void solve_step(search *s)
{
    double *x = s->step;
    for (size_t j = 0; j < s->dim; j++) x[j] = -s->gradient[j] / s->root[j];
    cholesky_solve(s->dim, s->factor, x);
    s->decrement = 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        x[j] /= s->root[j];
        s->decrement -= x[j] * s->gradient[j];
    }
    double leap = 0.0;
    for (size_t j = s->u->columns; j < s->dim; j++)
        leap = fmax(leap, fabs(x[j]) / MAX_AUX_STEP);
    for (size_t j = 0; j < s->dim && leap > 1.0; j++) x[j] /= leap;
}

/* Factors (1), damped as little as makes it positive definite. */
static sbps_status find_step(search *s, sbps_error *err)
{
    double min_pivot = 16.0 * DBL_EPSILON * (double)s->dim;
    if (s->damping == 0.0) {
        scale_hessian(s, 0.0, true);
        size_t pivot = cholesky_pivot(s->dim, s->factor, min_pivot);
        if (pivot < s->dim) {
            sbps_status status = check_collinear(s, pivot, err);
            if (status != SBPS_OK) return status;
            scale_hessian(s, 0.0, false);
            bool rescued =
                s->u->auxiliaries && cholesky_pivot(s->dim, s->factor, min_pivot) == s->dim;
            if (!rescued) s->damping = min_pivot;
        }
    }
    while (s->damping > 0.0 && s->damping <= MAX_DAMPING) {
        scale_hessian(s, s->damping, true);
        if (cholesky_pivot(s->dim, s->factor, 0.25 * s->damping) == s->dim) break;
        s->damping *= 10.0;
    }
    solve_step(s);
    return SBPS_OK;
}

/* Decrease promised by the quadratic model for the step from w to trial. */
static double promised(const search *s)
{
    double total = 0.0;
    for (size_t i = 0; i < s->dim; i++) {
        double row = 0.0, si = s->trial[i] - s->w[i];
        for (size_t j = 0; j < s->dim; j++)
            row += s->hessian[i * s->dim + j] * (s->trial[j] - s->w[j]);
        total -= si * (s->gradient[i] + 0.5 * row);
    }
    return total;
}

typedef enum { TRIED_BETTER, TRIED_FLAT, TRIED_WORSE, TRIED_FAILED } tried;

/* U there; with all that the next step needs where that is one pass over the rows. */
static sbps_status evaluate_trial(search *s, double *value, sbps_error *err)
{
    const expansion next = {value, s->next_gradient, s->next_hessian};
    if (!s->whole_trials) return posterior_value(s->u, s->trial, value, err);
    if (s->beside) return row_cache_expand(s->beside, s->trial, s->hessian, &next, err);
    return posterior_expand(s->u, s->trial, &next, NULL, err);
}

static void swap(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

static void seen(search *s)
{
    kinks_resolve(s);
    set_roots(s);
    s->evaluated = true;
}

static void move_to_trial(search *s, double value)
{
    memcpy(s->w, s->trial, s->dim * sizeof *s->w);
    s->value = value;
    s->evaluated = false;
    if (!s->whole_trials) return;
    swap(&s->gradient, &s->next_gradient);
    swap(&s->hessian, &s->next_hessian);
    seen(s);
}

static sbps_status take_step(search *s, sbps_error *err)
{
    for (size_t j = 0; j < s->dim; j++) s->trial[j] = s->w[j] + s->step[j];
    kinks_project(s);
    return s->part && s->damping == 0.0 ? search_correct_step(s, err) : SBPS_OK;
}

/* Tries the step and sets the next damping. QUIET: what there is to gain drowns in rounding. */
static tried try_step(search *s, sbps_status *status, sbps_error *err)
{
    double value, noise = 256.0 * DBL_EPSILON * fmax(1.0, fabs(s->value));
    *status = take_step(s, err);
    if (*status == SBPS_OK) *status = evaluate_trial(s, &value, err);
    if (*status != SBPS_OK) return TRIED_FAILED;
    double promise = promised(s), got = s->value - value;
    bool quiet = promise <= noise && got >= -noise;
    bool better = isfinite(value) && got > 0.0 && got >= 1e-4 * promise;
    double grain = s->u->model->facts.grain;
    quiet = quiet || (!better && promise <= grain && got >= -grain);
    if (!quiet && !better) {
        s->damping = fmax(10.0 * s->damping, 1e-4);
        return TRIED_WORSE;
    }
    if (quiet || got > 0.75 * promise)
        s->damping = s->damping > 1e-9 ? 0.1 * s->damping : 0.0;
    else if (got < 0.25 * promise)
        s->damping = fmax(4.0 * s->damping, 1e-3);
    move_to_trial(s, value);
    return quiet ? TRIED_FLAT : TRIED_BETTER;
}

sbps_status search_evaluate(search *s, sbps_error *err)
{
    sbps_status status;
    const expansion here = {&s->value, s->gradient, s->hessian};
    if (posterior_expands(s->u)) {
        status = posterior_expand(s->u, s->w, &here, NULL, err);
    } else {
        status = posterior_gradient(s->u, s->w, &s->value, s->gradient, err);
        if (status == SBPS_OK) status = posterior_hessian(s->u, s->w, s->hessian, err);
    }
    if (status == SBPS_OK) seen(s);
    return status;
}

/* The step at the least damping that is needed, and what it says of the distance to the mode;
 * then the step at the damping that the last ones taught. */
static search_end classify_point(search *s, bool quiet, sbps_status *status, sbps_error *err)
{
    double taught = s->damping, before = s->decrement;
    s->damping = 0.0;
    if ((*status = find_step(s, err)) != SBPS_OK) return SEARCH_FAILED;
    bool done = s->decrement <= s->goal, runs_off = false;
    if (done && (*status = may_run_off(s, &runs_off, err)) != SBPS_OK) return SEARCH_FAILED;
    done = done && !runs_off;
    bool floored = quiet && s->decrement <= good_enough(s) && s->decrement > 0.25 * before;
    if ((*status = check_separation(s, done || floored, err)) != SBPS_OK) return SEARCH_FAILED;
    if (done || floored) return SEARCH_CONVERGED;
    double decrement = s->decrement;
    if (taught > s->damping) {
        s->damping = taught;
        if ((*status = find_step(s, err)) != SBPS_OK) return SEARCH_FAILED;
    }
    s->decrement = decrement;
    return SEARCH_ON;
}

search_end search_classify(search *s, sbps_status *status, sbps_error *err)
{
    s->damping = 0.0;
    s->decrement = INFINITY;
    return classify_point(s, false, status, err);
}

/* Steps until one is better; damps on the way. */
static search_end advance(search *s, bool *quiet, sbps_status *status, sbps_error *err)
{
    double decrement = s->decrement;
    for (;;) {
        tried outcome = try_step(s, status, err);
        if (outcome == TRIED_FAILED) return SEARCH_FAILED;
        *quiet = outcome == TRIED_FLAT;
        if (outcome != TRIED_WORSE) break;
        if (s->damping > MAX_DAMPING)
            return decrement <= good_enough(s) ? SEARCH_CONVERGED : SEARCH_STUCK;
        if ((*status = find_step(s, err)) != SBPS_OK) return SEARCH_FAILED;
        s->decrement = decrement;
    }
    *status = check_perfect_fit(s, err);
    return *status == SBPS_OK ? SEARCH_ON : SEARCH_FAILED;
}

/* To where the step leads, unseen. */
static search_end hop(search *s, sbps_status *status, sbps_error *err)
{
    if ((*status = take_step(s, err)) != SBPS_OK) return SEARCH_FAILED;
    memcpy(s->w, s->trial, s->dim * sizeof *s->w);
    s->evaluated = false;
    return SEARCH_CONVERGED;
}

/* The parameter that moves most. */
static size_t farthest(const search *s)
{
    size_t largest = 0;
    for (size_t j = 1; j < s->dim; j++)
        if (fabs(s->step[j]) > fabs(s->step[largest])) largest = j;
    return largest;
}

static sbps_status fail_runaway(const search *s, size_t steps, double gain, sbps_error *err)
{
    char name[81];
    size_t j = farthest(s);
    posterior_name(s->u, j, sizeof name, name);
    return fail(
        err, SBPS_NO_MODE,
        "no mode within reach: after %zu Newton steps each still gains %.2g nats, and "
        "'%s' has run to %.3g. Where a scale goes to 0 with all that it scales, as that "
        "of random effects does, the density grows for ever: make each effect its scale "
        "times a parameter that is standard normal",
        steps, gain, name, s->w[j]);
}

/* Newton ends in a few steps where there is a mode. A model whose density grows for ever would
 * take it to where nothing is left to sample; regressions have checks of their own. */
static sbps_status check_pace(const search *s, size_t steps, double *last_value,
                              sbps_error *err)
{
    if (!s->u->model->facts.uneven || s->u->model->facts.bounded_above) return SBPS_OK;
    if (steps % PACE_STEPS != 0) return SBPS_OK;
    double gain = (*last_value - s->value) / PACE_STEPS;
    *last_value = s->value;
    return steps < RUNAWAY_STEPS || gain < RUNAWAY_GAIN ? SBPS_OK
                                                        : fail_runaway(s, steps, gain, err);
}

search_end newton_search(search *s, bool strict, sbps_status *status, sbps_error *err)
{
    search_end end = SEARCH_ON;
    bool quiet = false;
    double last_value = INFINITY;
    size_t limit = s->max_steps ? s->max_steps : MAX_ITERATIONS;
    s->damping = 0.0;
    s->decrement = INFINITY;
    for (size_t i = 0; i < limit && end == SEARCH_ON; i++, s->iterations++) {
        if (!s->evaluated && (*status = search_evaluate(s, err)) != SBPS_OK)
            return SEARCH_FAILED;
        if ((*status = check_pace(s, i, &last_value, err)) != SBPS_OK) return SEARCH_FAILED;
        if (!all_finite(s->dim, s->gradient) || !all_finite(s->dim * s->dim, s->hessian))
            return SEARCH_STUCK;
        end = classify_point(s, quiet, status, err);
        if (strict && i == 0 && end == SEARCH_ON && s->damping > BAD_START) return SEARCH_STUCK;
        if (end == SEARCH_ON && s->damping == 0.0 && s->decrement <= s->hop)
            return hop(s, status, err);
        if (end == SEARCH_ON) end = advance(s, &quiet, status, err);
    }
    return end == SEARCH_ON ? SEARCH_STUCK : end;
}

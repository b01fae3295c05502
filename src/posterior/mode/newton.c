/* Newton's method with damping. With D^2 the diagonal of the Hessian, which removes the
 * units of the columns, a step solves
 *
 *   (D^-1 H D^-1 + lambda I) D s = -D^-1 g                                        (1)
 *
 * lambda follows the ratio of the actual decrease of U to the predicted one (Levenberg 1944,
 * Marquardt 1963); near a mode it is 0 and convergence is quadratic. The search ends when
 * the Newton decrement g'H^-1 g, twice the remaining decrease of U in log units, is
 * negligible, or when rounding in the sums over all rows hides the rest. */
#include "linalg/dense_matrix.h"
#include "posterior/mode/search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_ITERATIONS 200
/* decrement that is accepted where rounding or a kink stops progress */
#define GOOD_ENOUGH 1e-6
#define MAX_DAMPING 1e12
/* damping above which the Hessian at the start is too far from positive definite */
#define BAD_START     1e-2
#define PACE_STEPS    10 /* steps over which the decrease of U is measured */
#define RUNAWAY_STEPS 20
#define RUNAWAY_GAIN  1.0 /* decrease of U per step, in log units */
#define MAX_AUX_STEP  3.0 /* log sigma acts exponentially: limits its step */

/* ---- kinks ----
 *
 * A Laplace prior's slope jumps at its location kappa, and the mode may lie exactly on that
 * kink. There
 *
 *   w_j stays at kappa   when   dU/dw_j(kappa-) <= 0 <= dU/dw_j(kappa+),      (2)
 *
 * else the one-sided slope that points downhill replaces the gradient, and a step that would
 * cross kappa ends on it. So weights that belong on a kink reach it exactly.
 *
 * Andrew, Gao (2007), Scalable training of L1-regularized log-linear models, ICML. */

/* relative offset at which the slopes on either side of a kink are taken */
#define NUDGE 1e-9

void kinks_find(search *s)
{
    for (size_t j = 0; j < s->dim; j++) {
        const prior *p = &s->u->priors[j];
        s->side[j] = 1.0;
        s->kink[j] = p->kind->kink ? p->kind->kink(p->theta) : NAN;
        /* stays NAN where there is none */
        s->kink[j] = scale_coordinate(s->u->scale[j], s->kink[j]);
    }
}

/* Applies (2) to a weight on its kink. */
static void resolve_kink(search *s, size_t j)
{
    const prior *p = &s->u->priors[j];
    coordinate_scale scale = s->u->scale[j];
    double at = s->w[j], nudge = NUDGE * fmax(1.0, fabs(at));
    double middle = s->gradient[j] + prior_slope(p, scale, at);
    double left = middle - prior_slope(p, scale, at - nudge);
    double right = middle - prior_slope(p, scale, at + nudge);
    s->side[j] = right < 0.0 ? 1.0 : left > 0.0 ? -1.0 : 0.0;
    s->gradient[j] = right < 0.0 ? right : left > 0.0 ? left : 0.0;
}

/* gradient (at w) becomes the one-sided one at kinks; s->side says where weights may move. */
static void kinks_resolve(search *s)
{
    for (size_t j = 0; j < s->dim; j++) {
        if (!isfinite(s->kink[j])) continue;
        if (s->w[j] == s->kink[j])
            resolve_kink(s, j);
        else
            s->side[j] = s->w[j] > s->kink[j] ? 1.0 : -1.0;
    }
}

/* Stops trial weights that would cross their kink on it. */
static void kinks_project(const search *s)
{
    for (size_t j = 0; j < s->dim; j++)
        if (isfinite(s->kink[j]) && (s->trial[j] - s->kink[j]) * s->side[j] <= 0.0)
            s->trial[j] = s->kink[j];
}

/* A Laplace prior of scale s alone has variance 2 s^2 and slopes +-1/s. A weight on its kink
 * gets that precision, 1/(2 s^2), which the second derivatives do not contain. */
double kink_curvature(const search *s, size_t j)
{
    const prior *p = &s->u->priors[j];
    coordinate_scale scale = s->u->scale[j];
    double at = s->w[j], nudge = NUDGE * fmax(1.0, fabs(at));
    if (!isfinite(s->kink[j]) || at != s->kink[j]) return 0.0;
    double jump = prior_slope(p, scale, at - nudge) - prior_slope(p, scale, at + nudge);
    return 0.125 * jump * jump;
}

/* The decrement accepted where values and slopes of U cannot be more consistent. */
static double good_enough(const search *s)
{
    return fmax(GOOD_ENOUGH, 2.0 * s->u->model->facts.value_error);
}

/* D of (1). Under a kinked prior without data the diagonal is 0; then the slope of the prior
 * is the scale. */
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

/* Left-hand side of (1), lower triangle, without weights held on a kink. crossed false:
 * drops the auxiliaries' off-diagonal terms; without them regressions are convex everywhere. */
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

/* Solves (1) and sets the decrement; limits the step of the auxiliaries. */
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
    double excess = 0.0;
    for (size_t j = s->u->columns; j < s->dim; j++)
        excess = fmax(excess, fabs(x[j]) / MAX_AUX_STEP);
    for (size_t j = 0; j < s->dim && excess > 1.0; j++) x[j] /= excess;
}

/* Factors (1) with the least damping that makes it positive definite, and solves it. */
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
            bool definite =
                s->u->auxiliaries && cholesky_pivot(s->dim, s->factor, min_pivot) == s->dim;
            if (!definite) s->damping = min_pivot;
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

/* Decrease of U that the quadratic model predicts for the step from w to trial. */
static double predicted_decrease(const search *s)
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

typedef enum { TRIED_BETTER, TRIED_FLAT, TRIED_WORSE, TRIED_FAILED } trial_outcome;

/* U at trial; also gradient and Hessian where one pass over the rows gives all three. */
static sbps_status evaluate_trial(search *s, double *value, sbps_error *err)
{
    const expansion next = {value, s->next_gradient, s->next_hessian};
    if (!s->whole_trials) return posterior_value(s->u, s->trial, value, err);
    if (s->cache) return row_cache_expand(s->cache, s->trial, s->hessian, &next, err);
    return posterior_expand(s->u, s->trial, &next, NULL, err);
}

static void swap(double **a, double **b)
{
    double *first = *a;
    *a = *b;
    *b = first;
}

/* Prepares s for the next step: gradient and Hessian at w have just been evaluated. */
static void finish_evaluation(search *s)
{
    kinks_resolve(s);
    set_roots(s);
    s->evaluated = true;
}

/* Accepts trial as w, with its gradient and Hessian if they are known. */
static void move_to_trial(search *s, double value)
{
    memcpy(s->w, s->trial, s->dim * sizeof *s->w);
    s->value = value;
    s->evaluated = false;
    if (!s->whole_trials) return;
    swap(&s->gradient, &s->next_gradient);
    swap(&s->hessian, &s->next_hessian);
    finish_evaluation(s);
}

/* Sets trial from the step: stopped at kinks, and corrected on a subset of the rows. */
static sbps_status take_step(search *s, sbps_error *err)
{
    for (size_t j = 0; j < s->dim; j++) s->trial[j] = s->w[j] + s->step[j];
    kinks_project(s);
    return s->subset && s->damping == 0.0 ? search_correct_step(s, err) : SBPS_OK;
}

/* Tries the step and sets the next damping. TRIED_FLAT: the possible decrease is below
 * rounding. */
static trial_outcome try_step(search *s, sbps_status *status, sbps_error *err)
{
    double value, noise = 256.0 * DBL_EPSILON * fmax(1.0, fabs(s->value));
    *status = take_step(s, err);
    if (*status == SBPS_OK) *status = evaluate_trial(s, &value, err);
    if (*status != SBPS_OK) return TRIED_FAILED;
    double predicted = predicted_decrease(s), decrease = s->value - value;
    bool flat = predicted <= noise && decrease >= -noise;
    bool better = isfinite(value) && decrease > 0.0 && decrease >= 1e-4 * predicted;
    double value_error = s->u->model->facts.value_error;
    flat = flat || (!better && predicted <= value_error && decrease >= -value_error);
    if (!flat && !better) {
        s->damping = fmax(10.0 * s->damping, 1e-4);
        return TRIED_WORSE;
    }
    if (flat || decrease > 0.75 * predicted)
        s->damping = s->damping > 1e-9 ? 0.1 * s->damping : 0.0;
    else if (decrease < 0.25 * predicted)
        s->damping = fmax(4.0 * s->damping, 1e-3);
    move_to_trial(s, value);
    return flat ? TRIED_FLAT : TRIED_BETTER;
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
    if (status == SBPS_OK) finish_evaluation(s);
    return status;
}

/* Solves (1) with the least damping and classifies w by the decrement; then solves it with
 * the damping that the last steps ended with. */
static search_end classify_point(search *s, bool flat, sbps_status *status, sbps_error *err)
{
    double learned = s->damping, before = s->decrement;
    s->damping = 0.0;
    if ((*status = find_step(s, err)) != SBPS_OK) return SEARCH_FAILED;
    bool done = s->decrement <= s->goal, runs_off = false;
    if (done && (*status = may_diverge(s, &runs_off, err)) != SBPS_OK) return SEARCH_FAILED;
    done = done && !runs_off;
    bool floored = flat && s->decrement <= good_enough(s) && s->decrement > 0.25 * before;
    if ((*status = check_separation(s, done || floored, err)) != SBPS_OK) return SEARCH_FAILED;
    if (done || floored) return SEARCH_CONVERGED;
    double decrement = s->decrement;
    if (learned > s->damping) {
        s->damping = learned;
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

/* Tries steps with growing damping until one is accepted. */
static search_end advance(search *s, bool *flat, sbps_status *status, sbps_error *err)
{
    double decrement = s->decrement;
    for (;;) {
        trial_outcome outcome = try_step(s, status, err);
        if (outcome == TRIED_FAILED) return SEARCH_FAILED;
        *flat = outcome == TRIED_FLAT;
        if (outcome != TRIED_WORSE) break;
        if (s->damping > MAX_DAMPING)
            return decrement <= good_enough(s) ? SEARCH_CONVERGED : SEARCH_STUCK;
        if ((*status = find_step(s, err)) != SBPS_OK) return SEARCH_FAILED;
        s->decrement = decrement;
    }
    *status = check_perfect_fit(s, err);
    return *status == SBPS_OK ? SEARCH_ON : SEARCH_FAILED;
}

/* Moves to where the step leads without evaluating U there. */
static search_end take_unchecked_step(search *s, sbps_status *status, sbps_error *err)
{
    if ((*status = take_step(s, err)) != SBPS_OK) return SEARCH_FAILED;
    memcpy(s->w, s->trial, s->dim * sizeof *s->w);
    s->evaluated = false;
    return SEARCH_CONVERGED;
}

/* The parameter that the step changes most. */
static size_t largest_step(const search *s)
{
    size_t largest = 0;
    for (size_t j = 1; j < s->dim; j++)
        if (fabs(s->step[j]) > fabs(s->step[largest])) largest = j;
    return largest;
}

/* SBPS_NO_MODE with the parameter that moves most. */
static sbps_status fail_runaway(const search *s, size_t steps, double gain, sbps_error *err)
{
    char name[81];
    size_t j = largest_step(s);
    posterior_name(s->u, j, sizeof name, name);
    return fail(
        err, SBPS_NO_MODE,
        "no mode within reach: after %zu Newton steps each still gains %.2g log units, and "
        "'%s' has run to %.3g. Where a scale goes to 0 with all that it scales, as that "
        "of random effects does, the density grows for ever: make each effect its scale "
        "times a parameter that is standard normal",
        steps, gain, name, s->w[j]);
}

/* Fails where U decreases without end. Newton converges in a few steps where there is a
 * mode; a model with unbounded density would run to where nothing is left to sample.
 * Regressions have checks of their own. */
static sbps_status check_pace(const search *s, size_t steps, double *last_value,
                              sbps_error *err)
{
    if (!s->u->model->facts.mode_optional || s->u->model->facts.bounded_above) return SBPS_OK;
    if (steps % PACE_STEPS != 0) return SBPS_OK;
    double gain = (*last_value - s->value) / PACE_STEPS;
    *last_value = s->value;
    return steps < RUNAWAY_STEPS || gain < RUNAWAY_GAIN ? SBPS_OK
                                                        : fail_runaway(s, steps, gain, err);
}

search_end newton_search(search *s, bool strict, sbps_status *status, sbps_error *err)
{
    search_end end = SEARCH_ON;
    bool flat = false;
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
        end = classify_point(s, flat, status, err);
        if (strict && i == 0 && end == SEARCH_ON && s->damping > BAD_START) return SEARCH_STUCK;
        if (end == SEARCH_ON && s->damping == 0.0 && s->decrement <= s->unchecked_goal)
            return take_unchecked_step(s, status, err);
        if (end == SEARCH_ON) end = advance(s, &flat, status, err);
    }
    return end == SEARCH_ON ? SEARCH_STUCK : end;
}

/* The mode: a start, a method, and the curvature made fit for use. Newton's method is the usual one,
 * with L-BFGS where it cannot begin. */
#include "posterior/mode/mode.h"
#include "core/memory.h"
#include "linalg/dense_cost.h"
#include "linalg/dense_matrix.h"
#include "posterior/full/sag.h"
#include "posterior/mode/search.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_RIDGE 1e-3
#define NEARLY_LOST     1e-12 /* pivot of a unit diagonal, which may be nothing but rounding */
#define STUCK_RIDGE     1e-9  /* curvature lost in rounding, that keeps a search from a mode */
#define NEAR_ENOUGH     0.03  /* |D^-1 g| at which L-BFGS hands over to Newton */
#define MAX_ROUNDS      10    /* of L-BFGS, each with a memory of its own */

/* Linux kills where malloc should have failed, so that is said beforehand. */
static sbps_status check_dimension(size_t d, sbps_error *err)
{
    if (setup_fits((double)d)) return SBPS_OK;
    return fail(
        err, SBPS_NO_MEM,
        "%zu parameters are too many for this machine: up to %d matrices of %zu x %zu "
        "numbers take %.1f GiB, and it allows %.1f GiB; leave columns out, or merge the rare "
        "levels of a category",
        d, SETUP_MATRICES, d, d, setup_bytes((double)d) / 0x1p30, machine_memory() / 0x1p30);
}

static sbps_status search_open(search *s, const posterior *u, sbps_error *err)
{
    size_t d = u->dim;
    *s = (search){0};
    sbps_status status = check_dimension(d, err);
    if (status != SBPS_OK) return status;
    *s =
        (search){.u = u, .dim = d, .goal = MODE_GOAL, .memory = new_doubles(8 * d + 3 * d * d)};
    s->whole_trials =
        posterior_expands(u) && (u->model->predictor || u->model->facts.log_concave);
    if (!s->memory) return fail_memory(err);
    double **const parts[] = {&s->w,    &s->trial, &s->gradient, &s->step,
                              &s->root, &s->kink,  &s->side,     &s->next_gradient};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i] = s->memory + i * d;
    s->hessian = s->memory + 8 * d;
    s->next_hessian = s->hessian + d * d;
    s->factor = s->next_hessian + d * d;
    return SBPS_OK;
}

/* The user's start where it makes sense, else our own. */
static sbps_status set_start(search *s, const double *start, sbps_error *err)
{
    double value;
    sbps_status status = search_initial_point(s, err);
    if (status != SBPS_OK) return status;
    kinks_find(s);
    if (!start) return SBPS_OK;
    if (!posterior_expands(s->u)) {
        status = posterior_value(s->u, start, &value, err);
        if (status == SBPS_OK && isfinite(value)) memcpy(s->w, start, s->dim * sizeof *start);
        return status;
    }
    memcpy(s->w, start, s->dim * sizeof *start);
    status = search_evaluate(s, err);
    if (status != SBPS_OK || isfinite(s->value)) return status;
    s->evaluated = false;
    return search_initial_point(s, err);
}

/* Where so many steps are asked for and no more, or where there may be no mode: the surface of a network may have no mode within reach, and a ReLU's has creases where Newton
 * stops. A reference need not be a mode: the best point reached will do. False when it will not. */
static bool accept_reference(search *s, sbps_status *status, sbps_error *err)
{
    if (!s->u->model->facts.uneven && !s->max_steps) return false;
    *status = search_evaluate(s, err);
    s->is_reference = true;
    return *status == SBPS_OK && isfinite(s->value) && all_finite(s->dim * s->dim, s->hessian);
}

/* Factors the Hessian plus ridge times its diagonal. The first pivot that is not safely positive; dim: all are. */
static size_t weak_pivot(search *s, double ridge)
{
    double min_pivot =
        fmax(4.0 * DBL_EPSILON * (double)s->dim, s->is_reference ? 0.25 * ridge : 0.0);
    size_t d = s->dim;
    for (size_t i = 0; i < d * d; i++)
        s->factor[i] = s->hessian[i] / (s->root[i / d] * s->root[i % d]);
    for (size_t i = 0; i < d; i++) s->factor[i * d + i] += ridge;
    return cholesky_pivot(d, s->factor, min_pivot);
}

/* The smallest pivot, of a whole factor. */
static size_t smallest_pivot(const search *s)
{
    size_t d = s->dim, smallest = 0;
    for (size_t j = 1; j < d; j++)
        if (s->factor[j * d + j] < s->factor[smallest * d + smallest]) smallest = j;
    return smallest;
}

/* Is a direction lost in rounding? weak: of the Hessian as it is, in s->factor; ridge: what would be added to it. */
static sbps_status check_rounding(search *s, size_t weak, double ridge, sbps_error *err)
{
    if (weak < s->dim) return check_lost(s, weak, ridge, err);
    size_t smallest = smallest_pivot(s);
    double root = s->factor[smallest * s->dim + smallest];
    return root * root < NEARLY_LOST ? check_lost(s, smallest, root * root, err) : SBPS_OK;
}

static sbps_status end_search(search *s, search_end end, sbps_status status, sbps_error *err)
{
    if (end == SEARCH_CONVERGED) return SBPS_OK;
    if (end == SEARCH_FAILED || accept_reference(s, &status, err) || status != SBPS_OK)
        return status;
    bool finite = all_finite(s->dim * s->dim, s->hessian);
    size_t weak = finite ? weak_pivot(s, 0.0) : s->dim;
    /* integrals are no more exact than this */
    if (finite && weak == s->dim && s->decrement <= 2.0 * s->u->model->facts.grain)
        return SBPS_OK;
    if (weak < s->dim && (status = check_lost(s, weak, STUCK_RIDGE, err)) != SBPS_OK)
        return status;
    if ((status = check_target(s, err)) != SBPS_OK) return status;
    return fail(
        err, SBPS_NO_MODE,
        "no mode found after %zu iterations: the search stopped about %.3g log units short; "
        "%s%s",
        s->iterations, 0.5 * s->decrement,
        s->u->model->row_model ? "'sbps sample' with --crossed joint needs none"
                               : "a tighter prior or --standardize may help",
        s->u->data->offset && s->u->model->support == SUPPORT_COUNTS
            ? "; the offset is added to the log of the mean: of an exposure it should be the "
              "logarithm"
            : "");
}

/* ---- methods ---- */

static sbps_status find_auto(search *s, const mode_request *how, sbps_error *err)
{
    (void)how;
    sbps_status status = SBPS_OK;
    search_end end = newton_search(s, true, &status, err);
    if (end == SEARCH_STUCK && !s->max_steps) {
        s->method = "lbfgs, newton";
        if ((status = lbfgs_search(s, NEAR_ENOUGH, err)) != SBPS_OK) return status;
        end = newton_search(s, false, &status, err);
    }
    return end_search(s, end, status, err);
}

static sbps_status find_newton(search *s, const mode_request *how, sbps_error *err)
{
    (void)how;
    sbps_status status = SBPS_OK;
    search_end end = newton_search(s, false, &status, err);
    return end_search(s, end, status, err);
}

static sbps_status refuse_kinks(const search *s, const char *method, sbps_error *err)
{
    for (size_t j = 0; j < s->dim; j++)
        if (isfinite(s->kink[j]))
            return fail(err, SBPS_BAD_ARG,
                        "--method: %s goes by slopes, and the prior %s has a kink that a mode "
                        "can sit on; newton takes it",
                        method, s->u->priors[j].kind->name);
    return SBPS_OK;
}

/* The decrement at w, and whether it will do. */
static search_end check_decrement(search *s, double tolerance, sbps_status *status,
                                  sbps_error *err)
{
    if ((*status = search_evaluate(s, err)) != SBPS_OK) return SEARCH_FAILED;
    if (!all_finite(s->dim, s->gradient) || !all_finite(s->dim * s->dim, s->hessian))
        return SEARCH_STUCK;
    search_end end = search_classify(s, status, err);
    if (end == SEARCH_FAILED) return end;
    return s->decrement <= tolerance * tolerance ? SEARCH_CONVERGED : SEARCH_ON;
}

/* The scaled gradient that goes with a decrement, by the last of either. */
static double next_goal(const search *s, double goal, double tolerance)
{
    return s->decrement > 0.0 ? goal * fmin(0.5, 0.5 * tolerance / sqrt(s->decrement)) : goal;
}

static sbps_status find_lbfgs(search *s, const mode_request *how, sbps_error *err)
{
    double goal = how->tolerance;
    sbps_status status = refuse_kinks(s, "lbfgs", err);
    if (status != SBPS_OK) return status;
    search_end end = check_decrement(s, how->tolerance, &status, err);
    for (size_t i = 0; i < MAX_ROUNDS && end == SEARCH_ON; i++) {
        if ((status = lbfgs_search(s, goal, err)) != SBPS_OK) return status;
        end = check_decrement(s, how->tolerance, &status, err);
        goal = next_goal(s, goal, how->tolerance);
    }
    return end_search(s, end, status, err);
}

static sbps_status find_sag(search *s, const mode_request *how, sbps_error *err)
{
    double goal = how->tolerance;
    if (!sag_applies(s->u))
        return fail(err, SBPS_BAD_ARG,
                    "--method: sag keeps one number a row, which model %s has not; newton and "
                    "lbfgs find its mode",
                    s->u->model->name);
    sbps_status status = refuse_kinks(s, "sag", err);
    if (status != SBPS_OK) return status;
    search_end end = SEARCH_ON;
    for (uint64_t i = 0; s->epochs < how->max_epochs && end == SEARCH_ON; i++) {
        sag_point at = {s->w, s->value, s->epochs};
        status = sag_descend(s->u, &at, goal, how->max_epochs, how->seed + i, err);
        s->value = at.value;
        s->epochs = at.epochs;
        if (status != SBPS_OK) return status;
        end = check_decrement(s, how->tolerance, &status, err);
        goal = next_goal(s, goal, how->tolerance);
    }
    if (end == SEARCH_CONVERGED || end == SEARCH_FAILED) return status;
    return fail(err, SBPS_NO_MODE,
                "sag is %.2g posterior sd from the mode after %.0f epochs, not %.2g; "
                "--standardize may help, --max-epochs lets it go on, --method newton is faster",
                sqrt(s->decrement), s->epochs, how->tolerance);
}

typedef struct {
    const char *name, *reported; /* as asked for, and as reported */
    sbps_status (*find)(search *s, const mode_request *how, sbps_error *err);
} mode_method;

static const mode_method methods[] = {
    {"auto", "newton", find_auto},
    {"newton", "newton", find_newton},
    {"lbfgs", "lbfgs", find_lbfgs},
    {"sag", "sag", find_sag},
};

static sbps_status run_search(search *s, const mode_request *how, sbps_error *err)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].name, how->method)) continue;
        s->method = methods[i].reported;
        return methods[i].find(s, how, err);
    }
    return fail(err, SBPS_BAD_ARG, "--method: there is no '%s'", how->method);
}

/* ---- the result ---- */

/* The least ridge, relative to the diagonal, that makes the Hessian positive definite. Away from a
 * mode directions without curvature are no rounding: there it is large enough to give them a scale. */
static double add_ridge(search *s, sbps_error *lost)
{
    double ridge = 0.0,
           first = s->is_reference ? REFERENCE_RIDGE : 32.0 * DBL_EPSILON * (double)s->dim;
    size_t weak = weak_pivot(s, 0.0);
    if (!s->is_reference || s->u->model->facts.log_concave)
        check_rounding(s, weak, first, lost);
    for (; weak < s->dim && ridge < 1e6; weak = weak_pivot(s, ridge))
        ridge = ridge == 0.0 ? first : 10.0 * ridge;
    for (size_t j = 0; j < s->dim; j++)
        s->hessian[j * s->dim + j] += ridge * s->root[j] * s->root[j];
    return ridge;
}

static sbps_status make_mode(search *s, mode **out, sbps_error *err)
{
    mode *m = calloc(1, sizeof *m);
    if (!m) return fail_memory(err);
    m->w = new_doubles(s->dim);
    m->hessian = new_doubles(s->dim * s->dim);
    if (!m->w || !m->hessian) {
        mode_destroy(m);
        return fail_memory(err);
    }
    m->ridge = add_ridge(s, &m->lost);
    m->value = s->value;
    m->gradient_norm = sqrt(fmax(s->decrement, 0.0));
    m->plain_norm = norm(s->dim, s->gradient);
    m->iterations = s->iterations;
    m->epochs = s->epochs;
    m->method = s->method;
    memcpy(m->w, s->w, s->dim * sizeof *m->w);
    memcpy(m->hessian, s->hessian, s->dim * s->dim * sizeof *m->hessian);
    m->bare = m->ridge == 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        double kink = kink_curvature(s, j);
        m->hessian[j * s->dim + j] += kink;
        m->bare = m->bare && kink == 0.0;
    }
    *out = m;
    return SBPS_OK;
}

sbps_status search_run(const posterior *u, const search_request *e, mode **out, sbps_error *err)
{
    *out = NULL;
    search s;
    sbps_status status = search_open(&s, u, err);
    if (status != SBPS_OK) return status;
    s.goal = e->goal;
    s.hop = e->hop;
    s.part = e->part;
    s.beside = e->beside;
    s.max_steps = e->how->max_steps;
    status = set_start(&s, e->start, err);
    if (status == SBPS_OK) status = run_search(&s, e->how, err);
    if (status == SBPS_OK) status = make_mode(&s, out, err);
    free(s.memory);
    return status;
}

sbps_status mode_find_by(const posterior *u, const double *start, const mode_request *how,
                         mode **out, sbps_error *err)
{
    return search_run(u, &(search_request){.how = how, .start = start, .goal = MODE_GOAL}, out,
                      err);
}

sbps_status mode_take(const posterior *u, const double *w, const double *precision, mode **out,
                      sbps_error *err)
{
    *out = NULL;
    search s;
    sbps_status status = search_open(&s, u, err);
    if (status != SBPS_OK) return status;
    search_end end = SEARCH_FAILED;
    status = search_initial_point(&s, err);
    kinks_find(&s);
    memcpy(s.w, w, s.dim * sizeof *w);
    s.is_reference = true;
    s.method = "given";
    if (status == SBPS_OK) end = check_decrement(&s, 0.0, &status, err);
    if (end == SEARCH_STUCK || (status == SBPS_OK && !isfinite(s.value)))
        status = fail(err, SBPS_BAD_ARG, "--start: the posterior there is no number");
    if (status == SBPS_OK) status = make_mode(&s, out, err);
    if (status == SBPS_OK && precision) {
        memcpy((*out)->hessian, precision, s.dim * s.dim * sizeof *precision);
        (*out)->bare = false;
    }
    free(s.memory);
    return status;
}

void mode_destroy(mode *m)
{
    if (!m) return;
    free(m->hessian);
    free(m->w);
    free(m);
}

/* The search for the mode: starting point, choice of method, and a Hessian made positive
 * definite. Newton's method is the default, with L-BFGS where Newton cannot start. */
#include "posterior/mode/mode.h"
#include "core/memory.h"
#include "linalg/dense_cost.h"
#include "linalg/dense_matrix.h"
#include "posterior/mode/search.h"
#include "table/generated_rows.h"
#include "table/row_sums.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_RIDGE 1e-3
/* pivot of a unit diagonal below which it may be rounding error only */
#define NEARLY_LOST 1e-12
#define STUCK_RIDGE 1e-9 /* ridge for curvature lost in rounding that stops a search */
#define NEAR_ENOUGH 0.03 /* |D^-1 g| at which L-BFGS is followed by Newton */
#define MAX_ROUNDS  10   /* rounds of L-BFGS, each with a new history */

/* ---- the default starting point ---- */

/* Target less offset of the table's first row: the shift that keeps sums of squares
 * accurate. */
static double target_origin(const rows *data)
{
    double y;
    if (data->partition) return data->partition->target_origin;
    return *rows_targets(data, rows_from(0, 1), &y) - (data->offset ? data->offset[0] : 0.0);
}

/* Sums of the weights c, of c (y - y_0) and of c (y - y_0)^2. */
static void add_moments(const void *self, row_range r, double *scratch, double *total)
{
    const rows *data = self;
    double from = target_origin(data);
    const double *target = rows_targets(data, r, scratch);
    for (size_t i = 0; i < r.n; i++) {
        size_t row = r.first + i;
        double c = data->weight ? data->weight[row] : 1.0,
               y = target[i] - (data->offset ? data->offset[row] : 0.0) - from;
        total[0] += c;
        total[1] += c * y;
        total[2] += c * y * y;
    }
}

/* Weighted mean and standard deviation of target less offset. */
static sbps_status target_moments(const rows *data, double *mean, double *sd, sbps_error *err)
{
    double sums[3] = {0};
    rows sample = *data; /* generated rows: a sample is enough */
    if (data->storage.recipe) sample = generated_sample(data, GENERATED_FEW);
    data = &sample;
    const row_sum what = {.self = data,
                          .width = 3,
                          .scratch = data->storage.recipe ? ROW_BLOCK : 0,
                          .add = add_moments,
                          .uncounted = true};
    sbps_status status = row_sums(data, &what, sums, err);
    double m = sums[0] > 0.0 ? sums[1] / sums[0] : 0.0;
    double variance = sums[0] > 0.0 ? sums[2] / sums[0] - m * m : 0.0;
    *mean = target_origin(data) + m;
    *sd = variance > 0.0 ? sqrt(variance) : 1.0;
    return status;
}

/* Zeros; where the target has a scale, the intercept starts at its mean and sigma at its
 * spread. */
sbps_status search_initial_point(search *s, sbps_error *err)
{
    const rows *data = s->u->data;
    bool scaled = s->u->model->facts.scales_with_target;
    double mean = 0.0, sd = 1.0;
    memset(s->w, 0, s->dim * sizeof *s->w);
    if (s->u->model->parameters.start) {
        s->u->model->parameters.start(s->u->self, s->w);
        return SBPS_OK;
    }
    if (scaled || s->u->auxiliaries) {
        sbps_status status = target_moments(data, &mean, &sd, err);
        if (status != SBPS_OK) return status;
    }
    s->log_spread = log(sd);
    double spread = data->intercept ? sd : hypot(mean, sd);
    for (size_t i = 0; i < s->u->auxiliaries; i++) {
        const model_auxiliary *aux = &s->u->model->auxiliaries[i];
        double unit = aux->of_target ? spread : 1.0;
        s->w[s->u->columns + i] = scale_coordinate(aux->scale, aux->start * unit);
    }
    if (scaled && data->intercept) s->w[0] = mean;
    return SBPS_OK;
}

/* Fails early with SBPS_NO_MEM: Linux would grant the memory and kill the process when it is
 * used. */
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

/* Allocates the state of a search; the caller frees s->memory. */
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

/* Sets w: the user's start if U is finite there, else the default. */
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

/* True where the best point reached serves as a reference instead of a mode: when the number
 * of steps is limited, or the model may lack a mode within reach (the surface of a network
 * may, and with ReLU it has creases where Newton stops). */
static bool accept_reference(search *s, sbps_status *status, sbps_error *err)
{
    if (!s->u->model->facts.mode_optional && !s->max_steps) return false;
    *status = search_evaluate(s, err);
    s->is_reference = true;
    return *status == SBPS_OK && isfinite(s->value) && all_finite(s->dim * s->dim, s->hessian);
}

/* Factors the scaled Hessian plus ridge I. Returns the first pivot that is not safely
 * positive, or dim. */
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

/* Fails if a direction is lost in rounding. weak: result of weak_pivot without a ridge;
 * ridge: the one that would be added. */
static sbps_status check_rounding(search *s, size_t weak, double ridge, sbps_error *err)
{
    if (weak < s->dim) return check_rounded_direction(s, weak, ridge, err);
    size_t d = s->dim, smallest = 0;
    for (size_t j = 1; j < d; j++)
        if (s->factor[j * d + j] < s->factor[smallest * d + smallest]) smallest = j;
    double root = s->factor[smallest * s->dim + smallest];
    return root * root < NEARLY_LOST ? check_rounded_direction(s, smallest, root * root, err)
                                     : SBPS_OK;
}

/* Turns the end of a search into a status: SBPS_OK at a mode or an accepted reference, else
 * SBPS_NO_MODE with the reason. */
static sbps_status end_search(search *s, search_end end, sbps_status status, sbps_error *err)
{
    if (end == SEARCH_CONVERGED) return SBPS_OK;
    if (end == SEARCH_FAILED || accept_reference(s, &status, err) || status != SBPS_OK)
        return status;
    bool finite = all_finite(s->dim * s->dim, s->hessian);
    size_t weak = finite ? weak_pivot(s, 0.0) : s->dim;
    /* integrals over random effects are not more accurate than this */
    if (finite && weak == s->dim && s->decrement <= 2.0 * s->u->model->facts.value_error)
        return SBPS_OK;
    if (weak < s->dim &&
        (status = check_rounded_direction(s, weak, STUCK_RIDGE, err)) != SBPS_OK)
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

/* Newton, with L-BFGS before it where it is stuck. */
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

/* SBPS_BAD_ARG if a prior has a kink: gradient methods do not converge there. */
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

/* Evaluates the decrement at w and classifies the point: converged within tolerance
 * posterior sds, or not. */
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

/* The goal for |D^-1 g| that should give the requested decrement, by their last ratio. */
static double next_goal(const search *s, double goal, double tolerance)
{
    return s->decrement > 0.0 ? goal * fmin(0.5, 0.5 * tolerance / sqrt(s->decrement)) : goal;
}

/* Rounds of L-BFGS until the Newton decrement is small enough. */
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

/* Runs of SAG until the Newton decrement is small enough. */
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
    const char *name, *reported; /* as requested, and as reported */
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

/* Adds the least ridge, relative to the diagonal, that makes the Hessian positive definite,
 * and returns it. Away from a mode, directions without curvature are no rounding error:
 * there the first ridge is large enough to give them a scale. */
static double add_ridge(search *s, sbps_error *unusable)
{
    double ridge = 0.0,
           first = s->is_reference ? REFERENCE_RIDGE : 32.0 * DBL_EPSILON * (double)s->dim;
    size_t weak = weak_pivot(s, 0.0);
    if (!s->is_reference || s->u->model->facts.log_concave)
        check_rounding(s, weak, first, unusable);
    for (; weak < s->dim && ridge < 1e6; weak = weak_pivot(s, ridge))
        ridge = ridge == 0.0 ? first : 10.0 * ridge;
    for (size_t j = 0; j < s->dim; j++)
        s->hessian[j * s->dim + j] += ridge * s->root[j] * s->root[j];
    return ridge;
}

/* Copies the result of a search to a new mode, with ridge and kink curvature in its Hessian. */
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
    m->ridge = add_ridge(s, &m->unusable);
    m->value = s->value;
    m->gradient_norm = sqrt(fmax(s->decrement, 0.0));
    m->plain_norm = norm(s->dim, s->gradient);
    m->iterations = s->iterations;
    m->epochs = s->epochs;
    m->method = s->method;
    memcpy(m->w, s->w, s->dim * sizeof *m->w);
    memcpy(m->hessian, s->hessian, s->dim * s->dim * sizeof *m->hessian);
    m->exact_hessian = m->ridge == 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        double kink = kink_curvature(s, j);
        m->hessian[j * s->dim + j] += kink;
        m->exact_hessian = m->exact_hessian && kink == 0.0;
    }
    *out = m;
    return SBPS_OK;
}

sbps_status search_run(const posterior *u, const search_request *request, mode **out,
                       sbps_error *err)
{
    *out = NULL;
    search s;
    sbps_status status = search_open(&s, u, err);
    if (status != SBPS_OK) return status;
    s.goal = request->goal;
    s.unchecked_goal = request->unchecked_goal;
    s.subset = request->subset;
    s.cache = request->cache;
    s.max_steps = request->how->max_steps;
    status = set_start(&s, request->start, err);
    if (status == SBPS_OK) status = run_search(&s, request->how, err);
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
        (*out)->exact_hessian = false;
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

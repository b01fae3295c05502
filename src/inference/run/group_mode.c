/* The mode of models with groups: polynomial approximations of large groups, the number of
 * quadrature points, and the mode for these.
 *
 * The effects of crossed factors are coordinates in centred units (mixed_recentre), which are
 * chosen at a point and improve as the search approaches the mode. */
#include "inference/run/group_mode.h"
#include "core/memory.h"
#include "inference/run/run.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "posterior/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECENTRE_MAX       8   /* searches for the mode */
#define RECENTRE_TOLERANCE 0.1 /* posterior sd: change at which recentring has converged */

static sbps_status refuse_start(sbps_error *err)
{
    return fail(err, SBPS_BAD_ARG,
                "--start: not available with crossed factors, whose coordinates are chosen "
                "during the search for the mode; leave the option out");
}

sbps_status groups_ready(const posterior *u, bool has_start, sbps_error *err)
{
    size_t d = u->dim;
    if (!u->model->row_model || !mixed_crossed(u->self)) return SBPS_OK;
    if (has_start) return refuse_start(err);
    double *w = new_doubles(d * (d + 2) + 1);
    if (!w) return fail_memory(err);
    const expansion out = {w + d * (d + 2), w + d, w + 2 * d};
    u->model->parameters.start(u->self, w);
    sbps_status status = posterior_expand(u, w, &out, NULL, err);
    /* with negative curvature there, the search starts from effects without data */
    if (status == SBPS_OK) status = mixed_recentre(u->self, out.hessian, w, err);
    free(w);
    return status == SBPS_NO_MODE ? SBPS_OK : status;
}

/* Alternates recentring and mode search until the mode is stable. */
static sbps_status recentre_at_mode(const posterior *u, const mode_request *how, mode **optimum,
                                    sbps_error *err)
{
    sbps_status status = SBPS_OK;
    double *from = new_doubles(u->dim), moved = INFINITY;
    if (!from) return fail_memory(err);
    for (int i = 0; i < RECENTRE_MAX && moved > RECENTRE_TOLERANCE && status == SBPS_OK; i++) {
        mode *before = *optimum;
        status = mixed_recentre(u->self, before->hessian, before->w, err);
        memcpy(from, before->w, u->dim * sizeof *from);
        if (status != SBPS_OK) break;
        status = mode_find_by(u, before->w, how, optimum, err);
        if (status != SBPS_OK) *optimum = NULL;
        mode_destroy(before);
        if (*optimum) moved = mixed_moved(u->self, (*optimum)->hessian, from, (*optimum)->w);
    }
    free(from);
    return status;
}

#define RESCUES_MAX   40           /* recentrings */
#define RESCUE_STEPS  ((size_t)10) /* Newton steps between two of them */
#define RESCUE_ENOUGH 1e-3         /* posterior sd from the mode */

/* Approaches the mode by a few Newton steps between recentrings. Needed if the data determine
 * the effects much more strongly at the mode than at the start: the path is then a narrow
 * curved valley. */
static sbps_status iterate_recentring(const posterior *u, double *w, sbps_error *err)
{
    const mode_request few = {.method = "newton", .max_steps = RESCUE_STEPS};
    sbps_status status = SBPS_OK;
    double left = INFINITY;
    u->model->parameters.start(u->self, w);
    for (int i = 0; i < RESCUES_MAX && left > RESCUE_ENOUGH && status == SBPS_OK; i++) {
        mode *here;
        status = mode_find_by(u, w, &few, &here, err);
        if (status != SBPS_OK) return status;
        status = mixed_recentre(u->self, here->hessian, here->w, err);
        left = here->gradient_norm;
        memcpy(w, here->w, u->dim * sizeof *w);
        mode_destroy(here);
    }
    return status;
}

/* Repeats a search that found no mode, with recentring on the way. */
static sbps_status retry_mode(sbps_status status, const posterior *u, const mode_request *how,
                              mode **out, sbps_error *err)
{
    if (status != SBPS_NO_MODE || !u->model->row_model || !mixed_crossed(u->self))
        return status;
    double *w = new_doubles(u->dim);
    if (!w) return fail_memory(err);
    status = iterate_recentring(u, w, err);
    if (status == SBPS_OK) status = mode_find_by(u, w, how, out, err);
    free(w);
    return status;
}

sbps_status groups_find(const posterior *u, const double *start, const mode_request *how,
                        mode **out, sbps_error *err)
{
    return retry_mode(mode_find_by(u, start, how, out, err), u, how, out, err);
}

#define PART_RATIO                                                                             \
    ((size_t)16) /* groups per group of the sample whose mode centres the polynomials */

sbps_status groups_near(const posterior *u, const double *start, bool rough, mode **out,
                        sbps_error *err)
{
    const mode_request usual = {.method = "auto"};
    rough = rough && !mixed_crossed(u->self);
    if (!mixed_can_fit_polynomials(u->self))
        return retry_mode(mode_near(u, start, NULL, rough, out, err), u, &usual, out, err);
    mode *near = start ? NULL : mode_of_subset(u, PART_RATIO);
    sbps_status status = SBPS_OK;
    if (near && cholesky(u->dim, near->hessian))
        status = mixed_fit_polynomials(u->self, u->data, near->w, near->hessian, err);
    if (status == SBPS_OK) status = mode_find_by(u, near ? near->w : start, &usual, out, err);
    mode_destroy(near);
    return status;
}

sbps_status groups_choose_nodes(const posterior *u, const mode_request *how, bool rough,
                                mode **optimum, quadrature *rule, sbps_error *err)
{
    size_t d = u->dim;
    if (!u->model->row_model) return SBPS_OK;
    if (how->method && mixed_crossed(u->self)) {
        sbps_status status = recentre_at_mode(u, how, optimum, err);
        if (status != SBPS_OK) return status;
    }
    mode *before = *optimum;
    double *factor = new_doubles(d * d);
    if (!factor) return fail_memory(err);
    memcpy(factor, before->hessian, d * d * sizeof *factor);
    sbps_status status =
        cholesky(d, factor)
            ? mixed_choose_nodes(u->self, u->data, before->w, factor, rough, rule, err)
            : fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
    free(factor);
    if (status != SBPS_OK || !how->method) return status;
    status = rough && !mixed_crossed(u->self)
                 ? mode_near(u, before->w, NULL, true, optimum, err)
                 : mode_find_by(u, before->w, how, optimum, err);
    if (status != SBPS_OK) *optimum = NULL;
    mode_destroy(before);
    return status;
}

/* ---- matrix-free search ----
 *
 * For models that sample the effects of all factors, which have too many coordinates for a
 * dense matrix. The effects are recentred, the mode is found by L-BFGS, and both are repeated
 * until the parameters are stable; then a metric is built from products with the Hessian.
 *
 * If the effects can fit the rows perfectly, the joint density is unbounded as sigma goes to 0,
 * and the search diverges. It is then repeated with standard deviations, correlations and
 * auxiliaries fixed at their initial values. The result is not a mode but a point from which
 * chains find the posterior. */

#define ROUNDS_MAX         12
#define RECENTRE_TOLERANCE 0.1 /* posterior sd: change at which the search has converged */
#define NEAR               0.3 /* posterior sd, all coordinates together: tolerance of L-BFGS */
#define LOST               100.0 /* posterior sd: gradient norm of a failed search */
#define FIT_FRACTION       0.25  /* effects per row from which a perfect fit is possible */
#define FIT_LOG            3.0   /* decrease of log residuals that indicates a perfect fit */
#define STEPS              ((size_t)60) /* Lanczos steps */
#define EFFECT_WORK        40.0         /* work per effect of its transformation and pullback */

/* A point at which products with the Hessian are taken. */
typedef struct {
    const posterior *u;
    const double *w;
} place;

/* Product of the Hessian at a point with a vector. */
static sbps_status product(const void *self, const double *v, double *hv, sbps_error *err)
{
    const place *p = self;
    return posterior_hessian_vector(p->u, p->w, v, hv, err);
}

/* Lists the coordinates that are not effects; *at is the caller's. */
static sbps_status find_core(const posterior *u, size_t **at, size_t *count, sbps_error *err)
{
    model_derived of;
    *count = 0;
    *at = calloc(u->dim + 1, sizeof **at);
    for (size_t j = 0; *at && j < u->dim; j++)
        if (!posterior_derived(u, j, &of) || !of.effect) (*at)[(*count)++] = j;
    return *at ? SBPS_OK : fail_memory(err);
}

/* Replaces *a by a metric from products with the Hessian at w. */
static sbps_status build_metric(const posterior *u, const metric_core *core, const double *w,
                                size_t steps, metric **a, sbps_error *err)
{
    const place here = {u, w};
    metric_destroy(*a);
    double rows_work = u->model->rows.cost(u->self) * (double)u->data->local_rows;
    const metric_source h = {&here, product, rows_work + EFFECT_WORK * (double)u->dim};
    return metric_from_products(u->dim, core, steps, h, a, err);
}

/* Distance of two points in the core coordinates, in their sd given all others. */
static sbps_status core_distance(const posterior *u, const metric_core *core, const metric *a,
                                 const double *from, const double *to, double *out,
                                 sbps_error *err)
{
    double *x = new_doubles(2 * u->dim), *y = x + u->dim;
    if (!x) return fail_memory(err);
    for (size_t i = 0; i < core->count; i++)
        x[core->at[i]] = to[core->at[i]] - from[core->at[i]];
    a->kind->precision(a, x, y);
    *out = sqrt(dot(u->dim, x, y));
    free(x);
    return SBPS_OK;
}

/* Recentres the effects at w and searches the mode from there; w moves to it. *distance: how
 * far the core coordinates moved. */
static sbps_status approach_mode(const posterior *u, const metric_core *core, const bool *held,
                                 double *w, metric **a, mode **optimum, double *distance,
                                 sbps_error *err)
{
    mode_destroy(*optimum);
    *optimum = NULL;
    sbps_status status = mixed_joint_recentre(u->self, u->data, w, err);
    if (status == SBPS_OK) status = build_metric(u, core, w, 0, a, err);
    if (status == SBPS_OK) status = mode_find_wide(u, w, *a, held, NEAR, optimum, err);
    if (status == SBPS_OK) status = core_distance(u, core, *a, w, (*optimum)->w, distance, err);
    if (status == SBPS_OK) memcpy(w, (*optimum)->w, u->dim * sizeof *w);
    return status;
}

/* Repeats approach_mode from the model's start until the parameters are stable. held:
 * coordinates that stay fixed, or NULL. */
static sbps_status search(const posterior *u, const metric_core *core, const bool *held,
                          metric **a, mode **optimum, sbps_error *err)
{
    double distance = INFINITY, *w = new_doubles(u->dim);
    size_t iterations = 0;
    sbps_status status = w ? SBPS_OK : fail_memory(err);
    if (w) u->model->parameters.start(u->self, w);
    mixed_joint_reset(u->self);
    for (int i = 0; i < ROUNDS_MAX && distance > RECENTRE_TOLERANCE && status == SBPS_OK; i++) {
        status = approach_mode(u, core, held, w, a, optimum, &distance, err);
        if (status == SBPS_OK) iterations = (*optimum)->iterations += iterations;
    }
    free(w);
    return status;
}

/* True if sigma, or a similar parameter, has moved far towards a perfect fit and the effects
 * are numerous enough for one. */
static bool is_perfect_fit(const posterior *u, const metric_core *core, const double *start,
                           const double *w)
{
    const model_kind *row_model = u->model->row_model;
    size_t first = u->dim - row_model->auxiliary_count;
    if ((double)(u->dim - core->count) <
        FIT_FRACTION * (double)u->data->member_rows->local_rows)
        return false;
    for (size_t a = 0; a < row_model->auxiliary_count; a++) {
        double power = row_model->auxiliaries[a].perfect_fit;
        double residuals = (w[first + a] - start[first + a]) / power; /* log of the residuals */
        if (power != 0.0 && residuals < -FIT_LOG) return true;
    }
    return false;
}

/* True if the search found no mode, or only a perfect fit. start: scratch, dim. */
static bool is_lost(const posterior *u, const metric_core *core, sbps_status status,
                    const mode *optimum, double *start)
{
    if (status != SBPS_OK) return status == SBPS_NO_MODE;
    u->model->parameters.start(u->self, start);
    return !(optimum->gradient_norm < LOST) || is_perfect_fit(u, core, start, optimum->w);
}

/* Searches with all coordinates free; if that fails, with variance parameters fixed. */
static sbps_status search_with_fallback(const posterior *u, const metric_core *core, metric **a,
                                        mode **optimum, sbps_error *err)
{
    bool *held = calloc(u->dim, sizeof *held);
    double *start = new_doubles(u->dim);
    sbps_status status =
        held && start ? search(u, core, NULL, a, optimum, err) : fail_memory(err);
    if (held && start && is_lost(u, core, status, *optimum, start)) {
        for (size_t i = 0; i < core->count; i++)
            held[core->at[i]] = u->scale[core->at[i]] != SCALE_PLAIN;
        status = search(u, core, held, a, optimum, err);
    }
    free(held);
    free(start);
    return status;
}

sbps_status wide_find(const posterior *u, bool has_start, metric **a, mode **optimum,
                      sbps_error *err)
{
    size_t *at, count;
    *a = NULL;
    *optimum = NULL;
    if (has_start) return refuse_start(err);
    sbps_status status = find_core(u, &at, &count, err);
    const metric_core core = {at, count};
    if (status == SBPS_OK) status = search_with_fallback(u, &core, a, optimum, err);
    if (status == SBPS_OK) status = build_metric(u, &core, (*optimum)->w, STEPS, a, err);
    free(at);
    if (status == SBPS_OK) return SBPS_OK;
    mode_destroy(*optimum);
    metric_destroy(*a);
    *optimum = NULL;
    *a = NULL;
    return status;
}

/* ---- sweeps ---- */

sbps_status sweep_reference(const posterior *u, const sweep *s, bool has_start, metric **a,
                            mode **out, sbps_error *err)
{
    *a = NULL;
    *out = NULL;
    if (has_start) return refuse_start(err);
    mode *m = calloc(1, sizeof *m);
    double *state = new_doubles(sweep_numbers(s));
    sbps_status status = SBPS_OK;
    if (m) m->w = new_doubles(u->dim);
    if (!m || !m->w || !state) status = fail_memory(err);
    if (status == SBPS_OK) {
        m->method = "sweep";
        u->model->parameters.start(u->self, m->w);
        sweep_start(s, NULL, m->w, state);
        status = posterior_value(u, m->w, &m->value, err);
    }
    if (status == SBPS_OK && !isfinite(m->value))
        status = fail(err, SBPS_DIVERGED,
                      "the posterior where sweeps start is not finite: check the response and "
                      "the columns for extreme values");
    if (status == SBPS_OK) status = metric_create(metric_find("none"), u->dim, NULL, a, err);
    free(state);
    if (status == SBPS_OK)
        *out = m;
    else
        mode_destroy(m);
    return status;
}

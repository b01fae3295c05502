/* Set-up of models with so many coordinates that no matrix of them is made, whose rows speak of a point that w leads
 * to: effects of all factors of a table of groups. Standards of the effects by what rows say near the mode, the mode
 * by L-BFGS, standards once more, until the sds rest; then a metric from products of the Hessian.
 *
 * Where effects may fit the rows, the density of all coordinates together is unbounded as sigma goes to 0, and the
 * search follows it there. Then it is made once more with sds, correlations and auxiliaries held where they start: that is no
 * mode, but a place from which chains find the posterior. */
#include "core/memory.h"
#include "inference/run/run.h"
#include "linalg/dense_matrix.h"

#include <math.h>
#include <string.h>

#define ROUNDS_MAX   12
#define STILL        0.1 /* posterior sds: as near as parameters come to rest */
#define NEAR         0.3 /* posterior sds, all coordinates together: near enough to the mode */
#define LOST         100.0 /* posterior sds: the gradient of a search that has found nothing */
#define FIT_FRACTION 0.25  /* of rows: so many effects may fit them */
#define FIT_LOG      3.0   /* of a residual there, below where it starts */
#define STEPS        ((size_t)60) /* of Lanczos */
#define EFFECT_WORK  40.0         /* of its way there and back */

typedef struct {
    const posterior *u;
    const double *w;
} place;

static sbps_status product(const void *self, const double *v, double *hv, sbps_error *err)
{
    const place *p = self;
    return posterior_hessian_vector(p->u, p->w, v, hv, err);
}

/* All that is no effect, to be freed. */
static sbps_status find_core(const posterior *u, size_t **at, size_t *count, sbps_error *err)
{
    model_derived of;
    *count = 0;
    *at = calloc(u->dim + 1, sizeof **at);
    for (size_t j = 0; *at && j < u->dim; j++)
        if (!posterior_derived(u, j, &of) || !of.effect) (*at)[(*count)++] = j;
    return *at ? SBPS_OK : fail_memory(err);
}

static sbps_status build_metric(const posterior *u, const metric_core *core, const double *w,
                                size_t steps, metric **a, sbps_error *err)
{
    const place here = {u, w};
    metric_destroy(*a);
    double rows_work = u->model->rows.cost(u->self) * (double)u->data->local_rows;
    const metric_source h = {&here, product, rows_work + EFFECT_WORK * (double)u->dim};
    return metric_from_products(u->dim, core, steps, h, a, err);
}

/* How far the core has moved, in its sds given all else. */
static sbps_status moved(const posterior *u, const metric_core *core, const metric *a,
                         const double *from, const double *to, double *out, sbps_error *err)
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

/* Standards where w is, and from there to the mode. */
static sbps_status come_nearer(const posterior *u, const metric_core *core, const bool *held,
                               double *w, metric **a, mode **optimum, double *way,
                               sbps_error *err)
{
    mode_destroy(*optimum);
    *optimum = NULL;
    sbps_status status = mixed_joint_recentre(u->self, u->data, w, err);
    if (status == SBPS_OK) status = build_metric(u, core, w, 0, a, err);
    if (status == SBPS_OK) status = mode_find_wide(u, w, *a, held, NEAR, optimum, err);
    if (status == SBPS_OK) status = moved(u, core, *a, w, (*optimum)->w, way, err);
    if (status == SBPS_OK) memcpy(w, (*optimum)->w, u->dim * sizeof *w);
    return status;
}

static sbps_status search(const posterior *u, const metric_core *core, const bool *held,
                          metric **a, mode **optimum, sbps_error *err)
{
    double way = INFINITY, *w = new_doubles(u->dim);
    size_t iterations = 0;
    sbps_status status = w ? SBPS_OK : fail_memory(err);
    if (w) u->model->parameters.start(u->self, w);
    mixed_joint_reset(u->self);
    for (int i = 0; i < ROUNDS_MAX && way > STILL && status == SBPS_OK; i++) {
        status = come_nearer(u, core, held, w, a, optimum, &way, err);
        if (status == SBPS_OK) iterations = (*optimum)->iterations += iterations;
    }
    free(w);
    return status;
}

/* Has sigma, or what stands for it, gone far towards a perfect fit of rows that effects may fit? */
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
        double residuals = (w[first + a] - start[first + a]) / power; /* their logarithm */
        if (power != 0.0 && residuals < -FIT_LOG) return true;
    }
    return false;
}

static bool is_lost(const posterior *u, const metric_core *core, sbps_status status,
                    const mode *optimum, double *start)
{
    if (status != SBPS_OK) return status == SBPS_NO_MODE;
    u->model->parameters.start(u->self, start);
    return !(optimum->gradient_norm < LOST) || is_perfect_fit(u, core, start, optimum->w);
}

/* With all coordinates free, or, where that leads nowhere, with the core's but the coefficients held. */
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
    if (has_start)
        return fail(err, SBPS_BAD_ARG,
                    "--start: effects of crossed factors are sampled in standards that the "
                    "search for the mode sets: there is no point to start from");
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

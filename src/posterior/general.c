/* Sums over all rows of a general model, in blocks. Where it gives no Hessian products they are
 * central differences of the gradient,
 *
 *   H v = (grad U(w + h v) - grad U(w - h v)) / 2h + O(h^2),   h = eps^(1/3) (1 + |w|) / |v|. */
#include "posterior/general.h"
#include "base/dense.h"
#include "base/memory.h"
#include "posterior/log_prior.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)512)

typedef struct {
    const posterior *u;
    const general_model *general;
    double *memory, *scratch, *factor, *values, *w; /* scratch; BLOCK; BLOCK; 2*dim */
} pass;

static sbps_status pass_open(pass *p, const posterior *u, sbps_error *err)
{
    const general_model *general = u->model->general;
    size_t scratch = general->scratch(u->self, BLOCK);
    *p = (pass){.u = u, .general = general};
    p->memory = new_doubles(scratch + 2 * BLOCK + 2 * u->dim);
    if (!p->memory) return fail_memory(err);
    p->scratch = p->memory;
    p->factor = p->memory + scratch;
    p->values = p->factor + BLOCK;
    p->w = p->values + BLOCK;
    return SBPS_OK;
}

/* The block that begins at row `first`; its row weights into factor, with the sign of U. */
static row_range block_at(pass *p, size_t first)
{
    const rows *data = p->u->data;
    size_t left = data->n - first, n = left < BLOCK ? left : BLOCK;
    for (size_t i = 0; i < n; i++)
        p->factor[i] = data->weight ? -data->weight[first + i] : -1.0;
    return (row_range){NULL, first, n};
}

static double pass_value(pass *p, const double *w)
{
    double total = -log_prior_value(p->u, w);
    for (size_t first = 0; first < p->u->data->n; first += BLOCK) {
        row_range r = block_at(p, first);
        p->general->loglik(p->u->self, r, w, p->scratch, p->values);
        for (size_t i = 0; i < r.n; i++) total += p->factor[i] * p->values[i];
    }
    return total;
}

static void pass_gradient(pass *p, const double *w, double *gradient)
{
    const posterior *u = p->u;
    memset(gradient, 0, u->dim * sizeof *gradient);
    log_prior_gradient(u, w, -1.0, gradient);
    for (size_t first = 0; first < u->data->n; first += BLOCK) {
        row_range r = block_at(p, first);
        p->general->gradient(u->self, r, w, p->factor, p->scratch, gradient);
    }
}

static void difference_product(pass *p, const double *w, const double *v, double *hv)
{
    size_t d = p->u->dim;
    double h = cbrt(DBL_EPSILON) * (1.0 + norm(d, w)) / norm(d, v), *at = p->w, *low = p->w + d;
    for (size_t j = 0; j < d; j++) at[j] = w[j] - h * v[j];
    pass_gradient(p, at, low);
    for (size_t j = 0; j < d; j++) at[j] = w[j] + h * v[j];
    pass_gradient(p, at, hv);
    for (size_t j = 0; j < d; j++) hv[j] = (hv[j] - low[j]) / (2.0 * h);
}

static void pass_product(pass *p, const double *w, const double *v, double *hv)
{
    const posterior *u = p->u;
    if (!p->general->hessian_vector) {
        difference_product(p, w, v, hv);
        return;
    }
    memset(hv, 0, u->dim * sizeof *hv);
    log_prior_product(u, w, v, -1.0, hv);
    for (size_t first = 0; first < u->data->n; first += BLOCK) {
        row_range r = block_at(p, first);
        p->general->hessian_vector(u->self, r, w, v, p->factor, p->scratch, hv);
    }
}

sbps_status general_value(const posterior *u, const double *w, double *value, sbps_error *err)
{
    pass p;
    sbps_status status = pass_open(&p, u, err);
    if (status != SBPS_OK) return status;
    *value = pass_value(&p, w);
    free(p.memory);
    return SBPS_OK;
}

sbps_status general_gradient(const posterior *u, const double *w, double *value,
                             double *gradient, sbps_error *err)
{
    pass p;
    sbps_status status = pass_open(&p, u, err);
    if (status != SBPS_OK) return status;
    if (value) *value = pass_value(&p, w);
    pass_gradient(&p, w, gradient);
    free(p.memory);
    return SBPS_OK;
}

sbps_status general_hessian_vector(const posterior *u, const double *w, const double *v,
                                   double *hv, sbps_error *err)
{
    pass p;
    sbps_status status = pass_open(&p, u, err);
    if (status != SBPS_OK) return status;
    pass_product(&p, w, v, hv);
    free(p.memory);
    return SBPS_OK;
}

sbps_status general_hessian(const posterior *u, const double *w, double *hessian,
                            sbps_error *err)
{
    pass p;
    size_t d = u->dim;
    double *unit = new_doubles(d);
    sbps_status status = unit ? pass_open(&p, u, err) : fail_memory(err);
    if (status != SBPS_OK) goto done;
    for (size_t j = 0; j < d; j++) {
        unit[j] = 1.0;
        pass_product(&p, w, unit, hessian + j * d);
        unit[j] = 0.0;
    }
    for (size_t j = 0; j < d; j++) /* differences are symmetric only to rounding */
        for (size_t i = 0; i < j; i++)
            hessian[i * d + j] = hessian[j * d + i] =
                0.5 * (hessian[i * d + j] + hessian[j * d + i]);
    free(p.memory);
done:
    free(unit);
    return status;
}

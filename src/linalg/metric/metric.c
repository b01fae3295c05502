/* The registry of metrics, what they share, and warped coordinates. */
#include "linalg/metric/metric.h"

#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "linalg/metric/metric_kinds.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const metric_kind *const metric_kinds[] = {METRIC_KINDS(KIND_LISTED) NULL};

const metric_kind *metric_find(const char *name)
{
    return kind_find(metric_kinds, name);
}

sbps_status metric_create(const metric_kind *kind, size_t d, const double *hessian,
                          metric **out, sbps_error *err)
{
    *out = NULL;
    metric *m = calloc(1, sizeof *m);
    if (!m) return fail_memory(err);
    m->kind = kind;
    m->d = d;
    m->k = kernels_best();
    sbps_status status = kind->build(m, hessian, err);
    if (status != SBPS_OK) {
        metric_destroy(m);
        return status;
    }
    *out = m;
    return SBPS_OK;
}

void metric_destroy(metric *m)
{
    if (!m) return;
    free(m->data);
    free(m);
}

/* By applying A and H to the unit vectors. */
sbps_status metric_mean_curvature(const metric *m, const double *hessian, double *out,
                                  sbps_error *err)
{
    size_t d = m->d;
    double sum = 0.0, *e = new_doubles(3 * d);
    if (!e) return fail_memory(err);
    double *u = e + d, *h = u + d;
    for (size_t j = 0; j < d; j++) {
        memset(e, 0, d * sizeof *e);
        e[j] = 1.0;
        m->kind->forward(m, e, u);
        apply_matrix(d, hessian, u, h);
        for (size_t i = 0; i < d; i++) sum += u[i] * h[i];
    }
    free(e);
    *out = sum / (double)d;
    return SBPS_OK;
}

void metric_draw_direction(const metric *m, rng *random, double *v, double *u)
{
    double square = 0.0;
    for (size_t j = 0; j < m->d; j++) {
        v[j] = rng_normal(random);
        square += v[j] * v[j];
    }
    for (size_t j = 0; j < m->d; j++) v[j] /= sqrt(square);
    m->kind->forward(m, v, u);
}

/* ---- warped coordinates ----
 *
 * A warped coordinate, which goes from one slope to another:
 *
 *   w - centre = s (start + boundary y + (reach - boundary) softplus(R y + S) / R),         (1)
 *   y = s x / unit,   s = +-1.
 *
 * Far on the boundary's side dw/dy is `boundary`, far on the other `reach`; if both are
 * equal it is a straight line. With boundary = 0 a standard normal y becomes nearly half a
 * normal of sd `reach`: R = 1.7 and S = 0.765 give its median and, within a third, its 2%
 * point. It takes every value of w, so nothing is cut off. */

#define R            1.7
#define S            0.765
#define HALVINGS_MAX 200 /* more than the bits and exponents of a double */

warped warp_at(const warp *b, double x)
{
    double y = b->sign * x / b->unit, r = R * y + S, e = exp(-fabs(r));
    double softplus = fmax(r, 0.0) + log1p(e), sigmoid = (r > 0.0 ? 1.0 : e) / (1.0 + e);
    double more = b->reach - b->boundary, slope = b->boundary + more * sigmoid;
    return (warped){
        .value = b->sign * (b->start + b->boundary * y + more * softplus / R),
        .slope = slope / b->unit,
        .log_slope_rate = b->sign * R * more * sigmoid * (1.0 - sigmoid) / slope / b->unit,
    };
}

/* Slopes lie between `boundary` and `reach`, so x is bracketed at once; then bisection. */
double warp_inverse(const warp *b, double value)
{
    double offset = value - warp_at(b, 0.0).value;
    double low = 0.0, high = offset / b->boundary * b->unit;
    for (int i = 0; i < HALVINGS_MAX; i++) {
        double middle = 0.5 * (low + high);
        bool beyond = fabs(warp_at(b, middle).value - warp_at(b, 0.0).value) > fabs(offset);
        if (middle == low || middle == high) break;
        *(beyond ? &high : &low) = middle;
    }
    return low;
}

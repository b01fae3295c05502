/* The registry of metrics, and what they share. */
#include "linalg/metric/metric.h"
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "linalg/metric/metric_kinds.h"

#include <math.h>
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

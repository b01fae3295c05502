/* A = diag(H)^(-1/2). */
#include "core/memory.h"
#include "linalg/metric/diagonal_maps.h"
#include "linalg/metric/metric_kinds.h"

#include <math.h>

static sbps_status build_diagonal(metric *m, const double *hessian, sbps_error *err)
{
    m->data = new_doubles(m->d);
    if (!m->data) return fail_memory(err);
    for (size_t j = 0; j < m->d; j++) {
        double h = hessian[j * m->d + j];
        if (!(h > 0.0) || !isfinite(h))
            return fail(err, SBPS_NO_MODE, "the curvature along parameter %zu is %g", j + 1, h);
        m->data[j] = 1.0 / sqrt(h);
    }
    return SBPS_OK;
}

const metric_kind metric_diagonal = {
    .name = "diagonal",
    .build = build_diagonal,
    .forward = diagonal_map,
    .transpose = diagonal_map,
    .precision = diagonal_precision,
};

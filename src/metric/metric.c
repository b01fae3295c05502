/* The registry of metrics, and what all of them share. */
#include "metric/metric.h"
#include "metric/kinds.h"

#include <stdlib.h>

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

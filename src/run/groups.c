/* Groups: as many nodes as their integrals need, and the mode that these have. */
#include "base/cholesky.h"
#include "base/memory.h"
#include "run/run.h"

#include <string.h>

sbps_status groups_settle(const posterior *u, const mode_request *how, mode **found,
                          quadrature *rule, sbps_error *err)
{
    size_t d = u->dim;
    mode *before = *found;
    if (!u->model->rows_of) return SBPS_OK;
    double *factor = new_doubles(d * d);
    if (!factor) return fail_memory(err);
    memcpy(factor, before->hessian, d * d * sizeof *factor);
    sbps_status status =
        cholesky(d, factor)
            ? mixed_settle(u->self, u->data, before->w, factor, rule, err)
            : fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
    free(factor);
    if (status != SBPS_OK || !how->method) return status;
    status = mode_find_by(u, before->w, how, found, err);
    if (status != SBPS_OK) *found = NULL;
    mode_destroy(before);
    return status;
}

#include "posterior/full/predictors.h"
#include "core/memory.h"

#include <string.h>

sbps_status padded_line_open(padded_line *line, const posterior *u, const double *w,
                             const double *v, sbps_error *err)
{
    const rows *data = u->data;
    size_t stride = (data->stride + 7) / 8 * 8; /* each on its own cache line */
    *line = (padded_line){.p = new_doubles((v ? 2 : 1) * stride)};
    if (!line->p) return fail_memory(err);
    memcpy(line->p, w, data->d * sizeof *w);
    line->aux = w + data->d;
    if (!v) return SBPS_OK;
    line->q = line->p + stride;
    memcpy(line->q, v, data->d * sizeof *v);
    line->daux = v + data->d;
    return SBPS_OK;
}

batch predictors_of(const posterior *u, row_range run, const padded_line *line, double *eta,
                    double *deta)
{
    const rows *data = u->data;
    double *rate = line->q ? deta : NULL;
    rows_products(data, u->k, run, line->p, line->q, eta, rate);
    for (size_t i = 0; data->offset && i < run.n; i++) eta[i] += data->offset[run.first + i];
    return (batch){.k = u->k,
                   .n = run.n,
                   .eta = eta,
                   .deta = rate,
                   .y = data->y ? data->y + run.first : NULL,
                   .aux = line->aux,
                   .daux = line->daux,
                   .pitch = run.n};
}

void predictors_weigh(const posterior *u, row_range run, double *values)
{
    const double *weight = u->data->weight;
    for (size_t i = 0; weight && i < run.n; i++) values[i] *= weight[run.first + i];
}

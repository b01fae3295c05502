/* How far draws can move the predictors of rows: what bounds of exact samplers are made from. */
#include "linalg/dense_matrix.h"
#include "posterior/full/whitened.h"

#include <math.h>
#include <string.h>

bool influence_has_reach(const posterior *u)
{
    return influence_applies(u) && u->model->predictor->third_bound && !u->auxiliaries;
}

void reach_add(const whitened *b, const row_reach *to, double *third_sum)
{
    size_t dim = b->in->u->dim;
    for (size_t i = 0; i < b->n; i++) {
        double third = whitened_weight(b, i) * b->in->u->model->predictor->third(b->eta[i]);
        to->norm[b->first + i] = nextafterf((float)sqrt(b->lever[i]), INFINITY);
        add_scaled(dim, 0.5 * third * b->lever[i], b->z + i * b->in->pitch, third_sum);
    }
}

/* From z to x: L z */
void reach_finish(const influence_meter *in, const double *sum)
{
    size_t dim = in->u->dim;
    const row_reach *to = in->to.reach;
    memcpy(to->factor, in->factor, dim * dim * sizeof *to->factor);
    for (size_t i = 0; i < dim; i++) to->third_sum[i] = dot(i + 1, in->factor + i * dim, sum);
}

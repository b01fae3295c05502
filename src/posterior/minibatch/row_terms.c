/* What both forms of model share. */
#include "posterior/minibatch/row_terms.h"

const row_terms *terms_of(const posterior *target)
{
    return target->model->predictor ? &terms_predictor : &terms_pointwise;
}

void terms_weigh(const minibatch *u, row_range r, double *values)
{
    const double *weight = u->target->data->weight;
    for (size_t i = 0; u->factor != 1.0 && i < r.n; i++) values[i] *= u->factor;
    for (size_t i = 0; weight && i < r.n; i++) values[i] *= weight[row_index(r, i)];
}

double terms_sum(minibatch *u, row_range r)
{
    double sums[2];
    terms_weigh(u, r, u->out);
    u->target->k->sum_squares(r.n, u->out, 0.0, sums);
    return sums[0];
}

void minibatch_add_squares(minibatch *u, double factor, double *squares)
{
    size_t n = u->target->data->local_rows;
    u->state->kept = u->state->turned = false;
    u->terms->prepare(u, 0.0);
    for (size_t first = 0; first < n; first += MINIBATCH_BLOCK) {
        size_t take = n - first < MINIBATCH_BLOCK ? n - first : MINIBATCH_BLOCK;
        row_range r = rows_from(first, take);
        u->terms->slopes(u, r, 0.0, 0);
        terms_weigh(u, r, u->out);
        for (size_t i = 0; i < take; i++) squares[first + i] += factor * u->out[i] * u->out[i];
    }
}

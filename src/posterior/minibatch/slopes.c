/* Slopes of models with a mean function.
 *
 *   g_i = r_i x_i.q,   r_i = weight_i (y_i - mean(eta_i) - l_e - l_ee (eta_i - eta_hat_i))  (1)
 *
 * in the notation of terms_predictor.c. The constant part is one number per row: y_i - l_e +
 * l_ee eta_hat_i. r depends on the position alone, so that after a bounce, on the same
 * batch, only x_i.q is new; and the gradient is sum r_i x_i. */
#include "posterior/minibatch/row_terms.h"

#include <string.h>

bool slopes_apply(const minibatch *u)
{
    return u->target->mean != MEAN_OTHER && !u->state->at_point;
}

/* The part of a table's array that belongs to n rows of the batch, r being the first of
 * them: in place if they are consecutive, else gathered into `buffer`. */
static inline const double *batch_array(const minibatch *u, row_range r, size_t done, size_t n,
                                        const double *array, double *buffer)
{
    if (!array) return NULL;
    if (!r.list && r.n >= n) return array + r.first;
    for (size_t filled = 0; filled < n; filled += r.n) {
        r = minibatch_rows(u, done + filled);
        if (r.n > n - filled) r.n = n - filled;
        if (r.list)
            for (size_t i = 0; i < r.n; i++) buffer[filled + i] = array[r.list[i]];
        else
            memcpy(buffer + filled, array + r.first, r.n * sizeof *buffer);
    }
    return buffer;
}

/* Targets of n rows that are generated on the fly. */
static const double *make_targets(const minibatch *u, size_t done, size_t n, double *buffer)
{
    for (size_t filled = 0; filled < n;) {
        row_range r = minibatch_rows(u, done + filled);
        if (r.n > n - filled) r.n = n - filled;
        rows_targets(u->target->data, r, buffer + filled);
        filled += r.n;
    }
    return buffer;
}

/* Products with p and q (or p alone, q NULL) of n rows of the batch from position `done`, r
 * being the first of them. */
static inline void multiply(const minibatch *u, row_range r, size_t done, size_t n,
                            const double *p, const double *q, double *eta, double *deta)
{
    const posterior *target = u->target;
    for (size_t filled = 0; filled < n;) {
        if (filled > 0) r = minibatch_rows(u, done + filled);
        if (r.n > n - filled) r.n = n - filled;
        const rows *data = minibatch_data(u, &r);
        rows_products(data, target->k, r, p, q, eta + filled, q ? deta + filled : NULL);
        filled += r.n;
    }
}

/* Where r of row i of the batch is stored: all of them fit if the batch fits in a block. */
static double *residuals(const minibatch *u, size_t i)
{
    return u->is.batch <= MINIBATCH_BLOCK ? u->out + i : u->out;
}

/* Sums over n rows of the batch from position `done`, at most a block. */
static void sum_block(minibatch *u, size_t done, size_t n, double t, double sums[2])
{
    const posterior *target = u->target;
    const rows *data = target->data;
    const control *cv = u->cv;
    row_range r = minibatch_rows(u, done);
    multiply(u, r, done, n, u->p, u->q, u->eta, u->deta);
    slope_terms s = {
        .t = t,
        .offset = batch_array(u, r, done, n, data->offset, u->buffer[0]),
        .weight = batch_array(u, r, done, n, data->weight, u->buffer[1]),
    };
    if (cv && cv->at) {
        multiply(u, r, done, n, cv->at, NULL, u->recomputed, NULL);
        recompute_base(u, n, &s);
    } else {
        s.base = cv || data->y ? batch_array(u, r, done, n, cv ? cv->base : data->y, u->y)
                               : make_targets(u, done, n, u->y);
        s.curvature = batch_array(u, r, done, n, cv ? cv->ee : NULL, u->aux);
    }
    target->k->slope_sums[target->mean](n, &s, u->eta, u->deta, residuals(u, done), sums);
}

void slopes_sum(minibatch *u, size_t begin, size_t end, double t, double sums[2])
{
    size_t n = end - begin;
    sum_block(u, begin, n < MINIBATCH_BLOCK ? n : MINIBATCH_BLOCK, t, sums);
    for (size_t done = begin + MINIBATCH_BLOCK; done < end; done += MINIBATCH_BLOCK) {
        double part[2];
        size_t left = end - done;
        sum_block(u, done, left < MINIBATCH_BLOCK ? left : MINIBATCH_BLOCK, t, part);
        sums[0] += part[0];
        sums[1] += part[1];
    }
    u->state->residuals_kept = u->is.batch <= MINIBATCH_BLOCK;
}

void slopes_sum_kept(minibatch *u, size_t begin, size_t end, double sums[2])
{
    size_t n = end - begin;
    const double *r = residuals(u, begin);
    multiply(u, minibatch_rows(u, begin), begin, n, u->q, NULL, u->deta, NULL);
    for (size_t i = 0; i < n; i++) u->aux[i] = r[i] * u->deta[i];
    u->target->k->sum_squares(n, u->aux, 0.0, sums);
}

void slopes_combine(minibatch *u, size_t begin, size_t end, double factor)
{
    double *r = residuals(u, begin);
    if (factor != 1.0) {
        for (size_t i = 0; i < end - begin; i++) u->aux[i] = factor * r[i];
        r = u->aux;
    }
    for (size_t done = begin; done < end;) {
        row_range range = minibatch_rows(u, done);
        if (range.n > end - done) range.n = end - done;
        const rows *data = minibatch_data(u, &range);
        rows_combine(data, u->target->k, range, r + (done - begin), u->total);
        done += range.n;
    }
}

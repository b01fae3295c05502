/* Rows of a batch of a predictor model. With delta = w - w_hat the polynomial subtracted
 * from a row's slope along u is
 *
 *   u.(g_i + H_i delta),   g_i, H_i gradient and Hessian of log p_i at w_hat                (1)
 *
 * (H_i only in second order). With e = x_i.delta and a the change of the auxiliaries it
 * needs a few stored numbers per row:
 *
 *   (l_e + l_ee e + l_ea.a) d eta + (l_a + l_ea e + l_aa a).d aux.                       (2) */
#include "linalg/dense_matrix.h"
#include "posterior/minibatch/row_terms.h"

#include <string.h>

static size_t no_scratch(const posterior *target, size_t n)
{
    (void)target;
    (void)n;
    return 0;
}

static void no_preparation(minibatch *u, double t)
{
    (void)u;
    (void)t;
}

/* Size of an array with the auxiliaries at time t and their offsets from the reference; one
 * more, since there may be none. */
#define AUXILIARY_CAPACITY(u) (2 * (u)->target->auxiliaries + 1)

/* Computes eta, deta and y of a range at time t into the scratch at `at`, and the
 * auxiliaries at that time into `aux`. */
static batch predict(minibatch *u, row_range r, double t, size_t at, double *aux)
{
    const rows *data = u->target->data;
    double *eta = u->eta + at, *deta = u->deta + at, *y = u->y + at;
    const kernels *k = u->target->k;
    row_range position = r;
    const rows *x = minibatch_data(u, &position);
    rows_products(x, k, position, u->p, u->state->at_point ? NULL : u->q, eta, deta);
    if (u->state->at_point) memset(deta, 0, r.n * sizeof *deta);
    if (t != 0.0) k->axpy(r.n, t, deta, eta);
    const double *targets = rows_targets(data, r, y);
    if (targets != y) memcpy(y, targets, r.n * sizeof *y);
    if (data->offset)
        for (size_t i = 0; i < r.n; i++) eta[i] += data->offset[row_index(r, i)];
    const double *p = u->p + data->stride, *q = u->q + data->stride;
    for (size_t j = 0; j < u->target->auxiliaries; j++) aux[j] = p[j] + t * q[j];
    return (batch){.k = k,
                   .n = r.n,
                   .eta = eta,
                   .deta = deta,
                   .y = y,
                   .aux = aux,
                   .daux = q,
                   .pitch = u->block};
}

/* Subtracts the part of (2) by eta alone from the slopes. */
static void subtract_slopes(const control *cv, row_range r, const batch *b, double *out)
{
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        double along = cv->d_eta[row];
        if (cv->hessian) along += cv->ee[row] * (b->eta[i] - cv->eta[row]);
        out[i] -= along * b->deta[i];
    }
}

/* A control variate's numbers by auxiliaries: `count` auxiliaries, whose numbers are `pitch`
 * apart; offset: the auxiliaries less their values at the reference. */
typedef struct {
    const control *cv;
    size_t count, pitch;
    const double *offset;
} auxiliary_terms;

static auxiliary_terms auxiliary_terms_at(const minibatch *u, const recomputed_rows *terms,
                                          double *aux)
{
    size_t count = u->target->auxiliaries;
    double *offset = aux + count;
    for (size_t j = 0; j < count; j++) offset[j] = aux[j] - u->cv->w[u->target->columns + j];
    return (auxiliary_terms){terms->cv, count, terms->pitch, offset};
}

/* l_ea e + l_aa a of (2), for auxiliary j. */
static inline double second_order(const auxiliary_terms *terms, size_t row, size_t j, double e)
{
    double sum = terms->cv->ea[j * terms->pitch + row] * e;
    for (size_t k = 0; k < terms->count; k++)
        sum += terms->cv->aa[packed_index(j, k) * terms->pitch + row] * terms->offset[k];
    return sum;
}

/* Subtracts the part of (2) by auxiliary j from the slopes. */
static inline void subtract_auxiliary(const auxiliary_terms *terms, row_range r, const batch *b,
                                      size_t j, double *out)
{
    const control *cv = terms->cv;
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        double along = cv->d_aux[j * terms->pitch + row];
        if (cv->hessian) {
            out[i] -= cv->ea[j * terms->pitch + row] * terms->offset[j] * b->deta[i];
            along += second_order(terms, row, j, b->eta[i] - cv->eta[row]);
        }
        out[i] -= along * b->daux[j];
    }
}

/* A single auxiliary is passed as a constant, so that the loop over auxiliaries unrolls. */
static void subtract_auxiliaries(const auxiliary_terms *terms, row_range r, const batch *b,
                                 double *out)
{
    const auxiliary_terms one = {terms->cv, 1, terms->pitch, terms->offset};
    if (terms->count == 1) subtract_auxiliary(&one, r, b, 0, out);
    for (size_t j = 0; terms->count > 1 && j < terms->count; j++)
        subtract_auxiliary(terms, r, b, j, out);
}

/* Subtracts the polynomial's part from d log p/d eta, by eta alone. */
static void subtract_gradients(const control *cv, row_range r, const batch *b, double *d_eta)
{
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        d_eta[i] -= cv->d_eta[row];
        if (cv->hessian) d_eta[i] -= cv->ee[row] * (b->eta[i] - cv->eta[row]);
    }
}

/* Subtracts auxiliary j's part from d log p/d eta and from d log p/d aux_j. */
static void subtract_auxiliary_gradients(const auxiliary_terms *terms, row_range r,
                                         const batch *b, size_t j, double *d_eta, double *d_aux)
{
    const control *cv = terms->cv;
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        d_aux[i] -= cv->d_aux[j * terms->pitch + row];
        if (!cv->hessian) continue;
        d_eta[i] -= cv->ea[j * terms->pitch + row] * terms->offset[j];
        d_aux[i] -= second_order(terms, row, j, b->eta[i] - cv->eta[row]);
    }
}

static void subtract_all_gradients(minibatch *u, row_range r, const batch *b, double *aux)
{
    recomputed_rows stored = recompute_rows(u, r, b->y);
    auxiliary_terms terms = auxiliary_terms_at(u, &stored, aux);
    subtract_gradients(stored.cv, stored.at, b, u->out);
    for (size_t j = 0; j < terms.count; j++)
        subtract_auxiliary_gradients(&terms, stored.at, b, j, u->out, u->aux + j * u->block);
}

/* Weighs and sums the derivatives by auxiliary j. */
static void sum_auxiliary(minibatch *u, row_range r, size_t j)
{
    double *d_aux = u->aux + j * u->block, *total = &u->total[u->target->data->stride + j];
    terms_weigh(u, r, d_aux);
    for (size_t i = 0; i < r.n; i++) *total += d_aux[i];
}

/* row_terms.gradient, by derivatives of the predictor and the auxiliaries. */
static void gradient(minibatch *u, row_range r, double t, double *loglik)
{
    const posterior *target = u->target;
    size_t count = target->auxiliaries;
    double aux[AUXILIARY_CAPACITY(u)];
    batch b = predict(u, r, t, 0, aux);
    if (loglik) {
        target->model->predictor->loglik(&b, u->out);
        *loglik += terms_sum(u, r);
    }
    target->model->predictor->gradient(&b, u->out, count ? u->aux : NULL);
    if (u->cv) subtract_all_gradients(u, r, &b, aux);
    terms_weigh(u, r, u->out);
    row_range position = r;
    const rows *x = minibatch_data(u, &position);
    rows_combine(x, target->k, position, u->out, u->total);
    for (size_t j = 0; j < count; j++) sum_auxiliary(u, r, j);
}

/* row_terms.slopes: d/dt log p_i, less (2). */
static void slopes(minibatch *u, row_range r, double t, size_t at)
{
    double aux[AUXILIARY_CAPACITY(u)];
    batch b = predict(u, r, t, at, aux);
    u->target->model->predictor->slope(&b, u->out + at);
    if (!u->cv) return;
    recomputed_rows stored = recompute_rows(u, r, b.y);
    auxiliary_terms terms = auxiliary_terms_at(u, &stored, aux);
    subtract_slopes(stored.cv, stored.at, &b, u->out + at);
    subtract_auxiliaries(&terms, stored.at, &b, u->out + at);
}

static void logliks(minibatch *u, row_range r, double t, size_t at)
{
    double aux[AUXILIARY_CAPACITY(u)];
    batch b = predict(u, r, t, at, aux);
    u->target->model->predictor->loglik(&b, u->out + at);
}

const row_terms terms_predictor = {
    .scratch = no_scratch,
    .prepare = no_preparation,
    .slopes = slopes,
    .logliks = logliks,
    .gradient = gradient,
    .by_products = true,
};

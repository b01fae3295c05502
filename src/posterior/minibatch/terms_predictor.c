/* Rows of a batch whose model is a predictor's. With delta = w - w_hat the polynomial taken out of a
 * row's slope along u is
 *
 *   u.(g_i + H_i delta),   g_i, H_i gradient and Hessian of log p_i at w_hat                      (1)
 *
 * (H_i only in the second order). With e = x_i.delta and a the change of the auxiliaries it needs a few
 * numbers a row that are kept:
 *
 *   (l_e + l_ee e + l_ea.a) d eta + (l_a + l_ea e + l_aa a).d aux.                               (2) */
#include "linalg/dense_matrix.h"
#include "posterior/minibatch/recompute_rows.h"
#include "posterior/minibatch/row_terms.h"

#include <string.h>

static size_t no_scratch(const posterior *target, size_t n)
{
    (void)target;
    (void)n;
    return 0;
}

static void no_place(minibatch *u, double t)
{
    (void)u;
    (void)t;
}

/* Where a call keeps the auxiliaries at time t, and how far they are from the reference; one too many, since
 * there may be none. */
#define AUXILIARY_CAPACITY(u) (2 * (u)->target->auxiliaries + 1)

/* eta, deta and y of a range at time t into the scratch at `at`, and the auxiliaries then into `aux`. */
static batch predict(minibatch *u, row_range r, double t, size_t at, double *aux)
{
    const rows *data = u->target->data;
    double *eta = u->eta + at, *deta = u->deta + at, *y = u->y + at;
    const kernels *k = u->target->k;
    row_range there = r;
    const rows *x = minibatch_data(u, &there);
    rows_products(x, k, there, u->p, u->state->still ? NULL : u->q, eta, deta);
    if (u->state->still) memset(deta, 0, r.n * sizeof *deta);
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

/* (2) by eta alone, taken out of the slopes. */
static void leave_slopes(const control *cv, row_range r, const batch *b, double *out)
{
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        double along = cv->d_eta[row];
        if (cv->hessian) along += cv->ee[row] * (b->eta[i] - cv->eta[row]);
        out[i] -= along * b->deta[i];
    }
}

/* What a control variate says of the auxiliaries of a row: of `count` auxiliaries, each `pitch` after the one
 * before, which are `away` from where they are at the reference. */
typedef struct {
    const control *cv;
    size_t count, pitch;
    const double *away;
} auxiliary_terms;

static auxiliary_terms terms_there(const minibatch *u, const recomputed_rows *of, double *aux)
{
    size_t count = u->target->auxiliaries;
    double *away = aux + count;
    for (size_t j = 0; j < count; j++) away[j] = aux[j] - u->cv->w[u->target->columns + j];
    return (auxiliary_terms){of->cv, count, of->pitch, away};
}

/* l_ea e + l_aa a of (2), of auxiliary j. */
static inline double second_order(const auxiliary_terms *of, size_t row, size_t j, double e)
{
    double sum = of->cv->ea[j * of->pitch + row] * e;
    for (size_t k = 0; k < of->count; k++)
        sum += of->cv->aa[packed_index(j, k) * of->pitch + row] * of->away[k];
    return sum;
}

/* (2) by auxiliary j, taken out of the slopes. */
static inline void leave_auxiliary(const auxiliary_terms *of, row_range r, const batch *b,
                                   size_t j, double *out)
{
    const control *cv = of->cv;
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        double along = cv->d_aux[j * of->pitch + row];
        if (cv->hessian) {
            out[i] -= cv->ea[j * of->pitch + row] * of->away[j] * b->deta[i];
            along += second_order(of, row, j, b->eta[i] - cv->eta[row]);
        }
        out[i] -= along * b->daux[j];
    }
}

/* A single auxiliary is told as a number, so that the loop over such is none. */
static void leave_auxiliaries(const auxiliary_terms *of, row_range r, const batch *b,
                              double *out)
{
    const auxiliary_terms one = {of->cv, 1, of->pitch, of->away};
    if (of->count == 1) leave_auxiliary(&one, r, b, 0, out);
    for (size_t j = 0; of->count > 1 && j < of->count; j++) leave_auxiliary(of, r, b, j, out);
}

/* The same of the gradients: d log p/d eta by eta alone, */
static void leave_gradients(const control *cv, row_range r, const batch *b, double *d_eta)
{
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        d_eta[i] -= cv->d_eta[row];
        if (cv->hessian) d_eta[i] -= cv->ee[row] * (b->eta[i] - cv->eta[row]);
    }
}

/* and, by auxiliary j, d log p/d eta and its own. */
static void leave_auxiliary_gradients(const auxiliary_terms *of, row_range r, const batch *b,
                                      size_t j, double *d_eta, double *d_aux)
{
    const control *cv = of->cv;
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        d_aux[i] -= cv->d_aux[j * of->pitch + row];
        if (!cv->hessian) continue;
        d_eta[i] -= cv->ea[j * of->pitch + row] * of->away[j];
        d_aux[i] -= second_order(of, row, j, b->eta[i] - cv->eta[row]);
    }
}

static void leave_all_gradients(minibatch *u, row_range r, const batch *b, double *aux)
{
    recomputed_rows known = recompute_rows(u, r, b->y);
    auxiliary_terms of = terms_there(u, &known, aux);
    leave_gradients(known.cv, known.at, b, u->out);
    for (size_t j = 0; j < of.count; j++)
        leave_auxiliary_gradients(&of, known.at, b, j, u->out, u->aux + j * u->block);
}

/* Of auxiliary j: weighed, and summed. */
static void sum_auxiliary(minibatch *u, row_range r, size_t j)
{
    double *d_aux = u->aux + j * u->block, *total = &u->total[u->target->data->stride + j];
    terms_weigh(u, r, d_aux);
    for (size_t i = 0; i < r.n; i++) *total += d_aux[i];
}

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
    if (u->cv) leave_all_gradients(u, r, &b, aux);
    terms_weigh(u, r, u->out);
    row_range there = r;
    const rows *x = minibatch_data(u, &there);
    rows_combine(x, target->k, there, u->out, u->total);
    for (size_t j = 0; j < count; j++) sum_auxiliary(u, r, j);
}

static void slopes(minibatch *u, row_range r, double t, size_t at)
{
    double aux[AUXILIARY_CAPACITY(u)];
    batch b = predict(u, r, t, at, aux);
    u->target->model->predictor->slope(&b, u->out + at);
    if (!u->cv) return;
    recomputed_rows known = recompute_rows(u, r, b.y);
    auxiliary_terms of = terms_there(u, &known, aux);
    leave_slopes(known.cv, known.at, &b, u->out + at);
    leave_auxiliaries(&of, known.at, &b, u->out + at);
}

static void logliks(minibatch *u, row_range r, double t, size_t at)
{
    double aux[AUXILIARY_CAPACITY(u)];
    batch b = predict(u, r, t, at, aux);
    u->target->model->predictor->loglik(&b, u->out + at);
}

const row_terms terms_predictor = {
    .scratch = no_scratch,
    .place = no_place,
    .slopes = slopes,
    .logliks = logliks,
    .gradient = gradient,
    .by_products = true,
};

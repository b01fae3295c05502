/* What rows say of coordinates: weights by (4) of shrink.h, then the regression. */
#include "model/shrinkage/shrink.h"

#include "core/memory.h"
#include "model/shrinkage/scales.h"
#include "model/shrinkage/shrunk_coordinates.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

shrink_shape *shrink_shape_create(const model_kind *of, size_t d, size_t blocks)
{
    shrink_shape *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (shrink_shape){.of = of,
                        .blocks = blocks,
                        .block = calloc(blocks + 1, sizeof *s->block),
                        .row_precision = new_doubles(d),
                        .place = new_doubles(d),
                        .begin = new_doubles(d + of->auxiliary_count)};
    bool whole = s->block && s->row_precision && s->place && s->begin;
    for (size_t i = 0; whole && i < blocks; i++)
        whole = (s->block[i].column = calloc(d, sizeof(size_t)));
    if (whole) return s;
    shrink_shape_destroy(s);
    return NULL;
}

void shrink_shape_destroy(shrink_shape *s)
{
    if (!s) return;
    for (size_t i = 0; s->block && i < s->blocks; i++) free(s->block[i].column);
    free(s->block);
    free(s->row_precision);
    free(s->place);
    free(s->begin);
    free(s);
}

/* ---- opening ---- */

static void close(void *self)
{
    shrunk *m = self;
    if (!m) return;
    if (m->rows_self) m->shape->of->close(m->rows_self);
    shrink_shape_destroy(m->shape);
    free(m->in);
    free(m);
}

/* Common and local scales follow the weights; auxiliaries are the last. */
static void number_coordinates(shrunk *m)
{
    m->dim = m->d;
    for (size_t k = 0; k < m->shape->blocks; k++) {
        shrink_block *b = &m->shape->block[k];
        b->first = m->dim;
        m->dim += b->count ? 2 + b->count : 0;
        for (size_t i = 0; i < b->count; i++) m->in[b->column[i]] = b;
    }
    m->sigma = SIZE_MAX;
    for (size_t a = 0; a < m->auxiliaries; a++)
        if (!strcmp(m->shape->of->auxiliaries[a].name, "sigma")) m->sigma = m->dim + a;
    m->dim += m->auxiliaries;
}

static sbps_status open(const model_kind *kind, const rows *data, const model_shape *shape,
                        void **self, sbps_error *err)
{
    (void)kind;
    const model_kind *of = shape->shrunk->of;
    shrunk *m = calloc(1, sizeof *m);
    if (!m) return fail_memory(err);
    *m = (shrunk){.data = data,
                  .k = kernels_best(),
                  .d = data->d,
                  .auxiliaries = of->auxiliary_count,
                  .in = calloc(data->d + 1, sizeof *m->in)};
    sbps_status status = m->in ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) status = of->open(of, data, shape, &m->rows_self, err);
    if (status != SBPS_OK) {
        free(m->in);
        free(m);
        return status;
    }
    m->shape = shape->shrunk;
    number_coordinates(m);
    *self = m;
    return SBPS_OK;
}

static size_t dim(const void *self)
{
    return ((const shrunk *)self)->dim;
}

/* ---- weights ---- */

/* A weight by (4), and its derivatives. */
typedef struct {
    double value, root; /* root: sqrt v, the derivative in z */
    double by_p;
} weight;

static weight weight_at(const shrunk *m, size_t j, double z, double p)
{
    double v = 1.0 / (m->shape->row_precision[j] + p), middle = v * m->shape->place[j],
           root = sqrt(v);
    return (weight){middle + root * z, root, -v * (middle + 0.5 * root * z)};
}

void shrunk_weights(const shrunk *m, const double *w, double *beta)
{
    memset(beta, 0, m->data->stride * sizeof *beta);
    for (size_t j = 0; j < m->d; j++)
        if (!m->in[j]) beta[j] = w[j];
    for (size_t k = 0; k < m->shape->blocks; k++) {
        const shrink_block *b = &m->shape->block[k];
        if (!b->count) continue;
        scale_view v = scales_at(m, b, w);
        for (size_t i = 0; i < b->count; i++) {
            size_t j = b->column[i];
            beta[j] = weight_at(m, j, w[j], scales_precision(&v, i)).value;
        }
    }
    for (size_t j = 1; m->shape->at_means && j < m->d; j++)
        beta[0] -= m->data->mean[j] * beta[j];
}

/* Their rates along u. */
static void weight_rates(const shrunk *m, const double *w, const double *u, double *rate)
{
    memset(rate, 0, m->data->stride * sizeof *rate);
    for (size_t j = 0; j < m->d; j++)
        if (!m->in[j]) rate[j] = u[j];
    for (size_t k = 0; k < m->shape->blocks; k++) {
        const shrink_block *b = &m->shape->block[k];
        if (!b->count) continue;
        scale_view v = scales_at(m, b, w);
        double common = scales_common_rate(&v, u);
        for (size_t i = 0; i < b->count; i++) {
            size_t j = b->column[i];
            double p = scales_precision(&v, i);
            weight at = weight_at(m, j, w[j], p);
            rate[j] = at.root * u[j] + at.by_p * scales_rate(&v, i, p, u, common);
        }
    }
    for (size_t j = 1; m->shape->at_means && j < m->d; j++)
        rate[0] -= m->data->mean[j] * rate[j];
}

/* out += the gradient in w of what has the gradient g in the weights, which is used up. */
static void pull(const shrunk *m, const double *w, double *g, double *out)
{
    for (size_t j = 1; m->shape->at_means && j < m->d; j++) g[j] -= m->data->mean[j] * g[0];
    for (size_t j = 0; j < m->d; j++)
        if (!m->in[j]) out[j] += g[j];
    for (size_t k = 0; k < m->shape->blocks; k++) {
        const shrink_block *b = &m->shape->block[k];
        if (!b->count) continue;
        scale_view v = scales_at(m, b, w);
        for (size_t i = 0; i < b->count; i++) {
            size_t j = b->column[i];
            double p = scales_precision(&v, i);
            weight at = weight_at(m, j, w[j], p);
            out[j] += g[j] * at.root;
            scales_pull(&v, i, p, g[j] * at.by_p, out);
        }
        scales_end(&v, out);
    }
}

/* ---- priors: (5) ---- */

static double prior_value(const void *self, const double *w)
{
    const shrunk *m = self;
    double total = 0.0;
    for (size_t k = 0; k < m->shape->blocks; k++) {
        const shrink_block *b = &m->shape->block[k];
        if (!b->count) continue;
        scale_view v = scales_at(m, b, w);
        for (size_t i = 0; i < b->count; i++) {
            size_t j = b->column[i];
            double p = scales_precision(&v, i);
            weight at = weight_at(m, j, w[j], p);
            total += 0.5 * (log(p) + w[j] * w[j] - p * at.value * at.value) + log(at.root);
        }
    }
    return total;
}

static void prior_gradient(const void *self, const double *w, double factor, double *out)
{
    const shrunk *m = self;
    for (size_t k = 0; k < m->shape->blocks; k++) {
        const shrink_block *b = &m->shape->block[k];
        if (!b->count) continue;
        scale_view v = scales_at(m, b, w);
        for (size_t i = 0; i < b->count; i++) {
            size_t j = b->column[i];
            double p = scales_precision(&v, i);
            weight at = weight_at(m, j, w[j], p);
            double square = at.value * at.value, by_p = at.value * p * at.by_p;
            out[j] += factor * (w[j] - p * at.value * at.root);
            scales_pull(&v, i, p,
                        factor * (0.5 / p - 0.5 * at.root * at.root - 0.5 * square - by_p),
                        out);
        }
        scales_end(&v, out);
    }
}

/* ---- rows ---- */

/* What a call works with. */
typedef struct {
    double *beta, *gradient; /* stride */
    double *eta, *by_eta;    /* a number a row */
    double *by_auxiliary;    /* one a row for each */
} workspace;

static size_t scratch(const void *self, size_t n)
{
    const shrunk *m = self;
    return 2 * m->data->stride + (3 + m->auxiliaries) * n;
}

static workspace carve_workspace(const shrunk *m, size_t n, double *at)
{
    size_t wide = m->data->stride;
    return (workspace){at, at + wide, at + 2 * wide, at + 2 * wide + n, at + 2 * wide + 2 * n};
}

static batch evaluate_predictor(const shrunk *m, row_range r, const double *w,
                                const workspace *at, double *y)
{
    const rows *data = m->data;
    shrunk_weights(m, w, at->beta);
    rows_products(data, m->k, r, at->beta, NULL, at->eta, NULL);
    for (size_t i = 0; data->offset && i < r.n; i++)
        at->eta[i] += data->offset[row_index(r, i)];
    for (size_t i = 0; r.list && i < r.n; i++) y[i] = data->y[row_index(r, i)];
    return (batch){.k = m->k,
                   .n = r.n,
                   .eta = at->eta,
                   .y = r.list ? y : data->y + r.first,
                   .aux = w + m->dim - m->auxiliaries,
                   .pitch = r.n};
}

static void loglik(const void *self, row_range r, const double *w, double *scratch, double *out)
{
    const shrunk *m = self;
    workspace at = carve_workspace(m, r.n, scratch);
    batch b = evaluate_predictor(m, r, w, &at, at.by_eta);
    m->shape->of->predictor->loglik(&b, out);
}

static void slope(const void *self, row_range r, const double *w, const double *u,
                  double *scratch, double *out)
{
    const shrunk *m = self;
    workspace at = carve_workspace(m, r.n, scratch);
    batch b = evaluate_predictor(m, r, w, &at, at.by_auxiliary + m->auxiliaries * r.n);
    weight_rates(m, w, u, at.gradient);
    rows_products(m->data, m->k, r, at.gradient, NULL, at.by_eta, NULL);
    b.deta = at.by_eta;
    b.daux = u + m->dim - m->auxiliaries;
    m->shape->of->predictor->slope(&b, out);
}

static void gradient(const void *self, row_range r, const double *w, const double *factor,
                     double *scratch, double *out)
{
    const shrunk *m = self;
    workspace at = carve_workspace(m, r.n, scratch);
    batch b = evaluate_predictor(m, r, w, &at, at.by_auxiliary + m->auxiliaries * r.n);
    m->shape->of->predictor->gradient(&b, at.by_eta, m->auxiliaries ? at.by_auxiliary : NULL);
    memset(at.gradient, 0, m->data->stride * sizeof *at.gradient);
    for (size_t i = 0; i < r.n; i++) at.by_eta[i] *= factor[i];
    rows_combine(m->data, m->k, r, at.by_eta, at.gradient);
    for (size_t a = 0; a < m->auxiliaries; a++)
        for (size_t i = 0; i < r.n; i++)
            out[m->dim - m->auxiliaries + a] += factor[i] * at.by_auxiliary[a * r.n + i];
    pull(m, w, at.gradient, out);
}

static double pass_cost(const void *self)
{
    return 2.0 * rows_numbers(((const shrunk *)self)->data);
}

model_kind shrink_kind(const model_kind *of)
{
    return (model_kind){
        .name = of->name,
        .summary = of->summary,
        .support = of->support,
        .any_storage = true,
        .bounded_above = of->bounded_above,
        .uneven = true,
        .open = open,
        .close = close,
        .dim = dim,
        .name_of = shrunk_name,
        .coordinate = shrunk_coordinate,
        .derived = shrunk_derived,
        .derived_name = shrunk_derived_name,
        .derive = shrunk_derive,
        .prior_value = prior_value,
        .prior_gradient = prior_gradient,
        .intercept = shrunk_intercept,
        .start = shrunk_start,
        .scratch = scratch,
        .loglik = loglik,
        .slope = slope,
        .gradient = gradient,
        .work = pass_cost,
    };
}

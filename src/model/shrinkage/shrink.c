/* The model of a regression with shrunk weights; equation numbers are those of shrink.h.
 * Weights follow from the coordinates by (4), rows from the weights by the regression's
 * predictor, and (5) is added as a dependent prior.
 *
 * Reported in place of coordinates: weights, and the intercept at x = 0; c in place of log
 * 1/c^2; R2 and a/b in place of the gamma variables. Local scales are effects, which are
 * reported only if --ranef requests them. */
#include "model/shrinkage/shrink.h"
#include "core/memory.h"
#include "model/shrinkage/scales.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
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

/* Also closes the regression and frees the shape, which open has taken over. */
static void close(void *self)
{
    shrunk *m = self;
    if (!m) return;
    if (m->rows_self) m->shape->of->close(m->rows_self);
    shrink_shape_destroy(m->shape);
    free(m->in);
    free(m);
}

/* Numbers the coordinates: weights, then the scales of each block, then auxiliaries. */
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

/* Opens the regression, and takes over the shape. */
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
    double value, root; /* root: sqrt v, its derivative by z */
    double by_p;
} weight;

/* (4), with its derivatives by z and by p. */
static weight weight_at(const shrunk *m, size_t j, double z, double p)
{
    double v = 1.0 / (m->shape->row_precision[j] + p), middle = v * m->shape->place[j],
           root = sqrt(v);
    return (weight){middle + root * z, root, -v * (middle + 0.5 * root * z)};
}

/* The weights of all columns at w, stride numbers; the intercept is that at x = 0. */
static void shrunk_weights(const shrunk *m, const double *w, double *beta)
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
        beta[0] -= m->data->table.mean[j] * beta[j];
}

/* Rates of the weights along u. */
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
        rate[0] -= m->data->table.mean[j] * rate[j];
}

/* Adds the gradient in w of a function whose gradient by the weights is g, which is
 * overwritten. */
static void pull(const shrunk *m, const double *w, double *g, double *out)
{
    for (size_t j = 1; m->shape->at_means && j < m->d; j++)
        g[j] -= m->data->table.mean[j] * g[0];
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

/* The sum of (5) over all shrunk weights. */
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

/* The gradient of (5): by z directly, and by p through (4). */
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

/* The coordinates of weights hold standard normal numbers t, from which the weights given their
 * scales are t / sqrt p; their coordinates z follow by (4). */
static bool join_prior_draw(const void *self, bool alike, double *w)
{
    const shrunk *m = self;
    (void)alike;
    for (size_t k = 0; k < m->shape->blocks; k++) {
        const shrink_block *b = &m->shape->block[k];
        if (!b->count) continue;
        scale_view v = scales_at(m, b, w);
        for (size_t i = 0; i < b->count; i++) {
            size_t j = b->column[i];
            double p = scales_precision(&v, i);
            weight at = weight_at(m, j, 0.0, p);
            w[j] = (w[j] / sqrt(p) - at.value) / at.root;
        }
    }
    return true;
}

/* ---- rows ---- */

/* The arrays of a call on n rows. */
typedef struct {
    double *beta, *gradient; /* by column */
    double *eta, *by_eta;    /* by row */
    double *by_auxiliary;    /* by row, for each auxiliary */
} workspace;

static size_t scratch(const void *self, size_t n)
{
    const shrunk *m = self;
    return 2 * m->data->stride + (3 + m->auxiliaries) * n;
}

/* Places the arrays in the scratch of a call. */
static workspace carve_workspace(const shrunk *m, size_t n, double *at)
{
    size_t wide = m->data->stride;
    return (workspace){at, at + wide, at + 2 * wide, at + 2 * wide + n, at + 2 * wide + 2 * n};
}

/* The rows as the regression's predictor sees them at w. `y` has room for the targets, if rows
 * are a list. */
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

/* The slope along u: eta moves with the weights' rates. */
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

/* The gradient by weights, sum_i factor_i (d log p/d eta) x_i, then by coordinates. */
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

/* A slope goes through the row twice. */
static double pass_cost(const void *self)
{
    return 2.0 * rows_numbers(((const shrunk *)self)->data);
}

/* ---- coordinates ---- */

/* The block of scale j; NULL: j is a weight or an auxiliary. */
static const shrink_block *find_block(const shrunk *m, size_t j)
{
    for (size_t k = 0; k < m->shape->blocks; k++) {
        const shrink_block *b = &m->shape->block[k];
        if (b->count && j >= b->first && j < b->first + 2 + b->count) return b;
    }
    return NULL;
}

static const char *column_name(const shrunk *m, size_t j)
{
    return m->data->table.names ? m->data->table.names[j] : "column";
}

/* Writes "hs_" for the first block, "hs2_" for the second; returns its length. */
static size_t block_prefix(const shrunk *m, const shrink_block *b, size_t size, char *text)
{
    const char *name = b->prior.kind == &prior_horseshoe ? "hs" : "R2D2";
    size_t index = (size_t)(b - m->shape->block) + 1;
    int used = index > 1 ? snprintf(text, size, "%s%zu_", name, index)
                         : snprintf(text, size, "%s_", name);
    return (size_t)used < size ? (size_t)used : size;
}

/* The reported name of the scale with index `at` in its block. */
static void scale_name(const shrunk *m, const shrink_block *b, size_t at, size_t size,
                       char *text)
{
    static const char *const names[2][3] = {{"global", "slab", "local"},
                                            {"R2", "ratio", "share"}};
    const char *const *name = names[b->prior.kind != &prior_horseshoe];
    size_t used = block_prefix(m, b, size, text);
    if (at < 2)
        snprintf(text + used, size - used, "%s", name[at]);
    else
        snprintf(text + used, size - used, "%s[%s]", name[2],
                 column_name(m, b->column[at - 2]));
}

/* Names of coordinates: standardised weights and inverse scales are named as such. */
static void shrunk_name(const void *self, size_t j, size_t size, char *text)
{
    const shrunk *m = self;
    const shrink_block *b = find_block(m, j);
    size_t last = m->dim - m->auxiliaries;
    if (j >= last)
        snprintf(text, size, "%s", m->shape->of->auxiliaries[j - last].name);
    else if (!b)
        snprintf(text, size, "%s%s", m->in[j] ? "standard of " : "", column_name(m, j));
    else if (b->prior.kind == &prior_horseshoe) {
        bool slab = j == b->first + 1;
        size_t used = slab ? 2 : 0;
        if (slab) snprintf(text, size, "1/");
        scale_name(m, b, j - b->first, size - used, text + used);
        if (slab) strncat(text, "^2", size - strlen(text) - 1);
    } else {
        size_t used = block_prefix(m, b, size, text);
        snprintf(text + used, size - used, "gamma%zu", j - b->first + 1);
    }
}

/* Scales and auxiliaries; the priors of scales are those of shrink_prior, whatever is stated
 * here. */
static bool shrunk_coordinate(const void *self, size_t j, model_coordinate *out)
{
    const shrunk *m = self;
    size_t last = m->dim - m->auxiliaries;
    if (j < m->d) return false;
    coordinate_scale scale = j < last ? SCALE_LOG : m->shape->of->auxiliaries[j - last].scale;
    *out = (model_coordinate){.scale = scale, .prior = "flat", .unit = 1.0};
    return true;
}

static bool shrunk_intercept(const void *self, size_t j)
{
    return ((const shrunk *)self)->data->intercept && j == 0;
}

/* See the head of this file for what is reported. */
static bool shrunk_derived(const void *self, size_t j, model_derived *out)
{
    const shrunk *m = self;
    const shrink_block *b = find_block(m, j);
    bool means = m->shape->at_means && j == 0,
         horseshoe = b && b->prior.kind == &prior_horseshoe;
    *out = (model_derived){.alike = SIZE_MAX, .watched = true};
    if (j < m->d) {
        *out = (model_derived){.alike = j, .at_means = means};
        return means || m->in[j];
    }
    if (!b) return false;
    if (horseshoe && j == b->first) out->alike = j;
    out->effect = j >= b->first + 2 || (!horseshoe && j == b->first + 1);
    return true;
}

static void shrunk_derived_name(const void *self, size_t j, size_t size, char *text)
{
    const shrunk *m = self;
    const shrink_block *b = find_block(m, j);
    if (b)
        scale_name(m, b, j - b->first, size, text);
    else
        snprintf(text, size, "%s", column_name(m, j));
}

/* Weights at w; scales by scales_value. NAN: no memory. */
static void shrunk_derive(const void *self, const double *w, size_t first, size_t count,
                          double *out)
{
    const shrunk *m = self;
    double *beta = first < m->d ? new_doubles(m->data->stride) : NULL;
    if (beta) shrunk_weights(m, w, beta);
    for (size_t i = 0; i < count; i++) {
        model_derived unused;
        size_t j = first + i;
        if (!shrunk_derived(m, j, &unused)) continue;
        if (j < m->d)
            out[i] = beta ? beta[j] : NAN;
        else
            out[i] = scales_value(find_block(m, j), w, j);
    }
    free(beta);
}

/* ---- priors ---- */

prior shrink_prior(const void *self, size_t j, const prior *of)
{
    const shrunk *m = self;
    const shrink_block *b = find_block(m, j);
    size_t last = m->dim - m->auxiliaries;
    if (b) return scales_prior(b, j);
    if (j >= last) return of[m->d + j - last];
    return m->in[j] ? (prior){prior_find("normal"), {0.0, 1.0}} : of[j];
}

prior shrink_reported_prior(const void *self, size_t j, const prior *of)
{
    const shrunk *m = self;
    return j < m->d && m->in[j] ? m->in[j]->prior : shrink_prior(self, j, of);
}

/* ---- the start of the search ---- */

/* Scales start at the centre of their priors; weights, in shrunk_start, at those of the
 * regression. */
static void start_scales(const shrink_block *b, double *w)
{
    const double *n = b->prior.theta;
    bool horseshoe = b->prior.kind == &prior_horseshoe;
    w[b->first] = log(horseshoe ? n[HORSESHOE_GLOBAL] : n[R2D2_MEAN] * n[R2D2_PRECISION]);
    w[b->first + 1] = horseshoe ? -2.0 * log(n[HORSESHOE_SLAB])
                                : log((1.0 - n[R2D2_MEAN]) * n[R2D2_PRECISION]);
    for (size_t i = 0; i < b->count; i++)
        w[b->first + 2 + i] = horseshoe ? 0.0 : log(n[R2D2_SPLIT]);
}

static void shrunk_start(const void *self, double *w)
{
    const shrunk *m = self;
    const double *begin = m->shape->begin;
    for (size_t j = 0; j < m->d; j++) w[j] = m->in[j] ? 0.0 : begin[j];
    for (size_t k = 0; k < m->shape->blocks; k++)
        if (m->shape->block[k].count) start_scales(&m->shape->block[k], w);
    for (size_t a = 0; a < m->auxiliaries; a++)
        w[m->dim - m->auxiliaries + a] = begin[m->d + a];
    for (size_t j = 1; m->shape->at_means && j < m->d; j++)
        w[0] += m->data->table.mean[j] * begin[j];
}

/* ---- the kind ---- */

model_kind shrink_kind(const model_kind *of)
{
    return (model_kind){
        .name = of->name,
        .summary = of->summary,
        .support = of->support,
        .facts.any_storage = true,
        .facts.bounded_above = of->facts.bounded_above,
        .facts.mode_optional = true,
        .open = open,
        .close = close,
        .parameters.dim = dim,
        .parameters.name = shrunk_name,
        .parameters.coordinate = shrunk_coordinate,
        .reported.describe = shrunk_derived,
        .reported.name = shrunk_derived_name,
        .reported.values = shrunk_derive,
        .parameters.joint_prior = prior_value,
        .parameters.joint_prior_gradient = prior_gradient,
        .parameters.join_prior_draw = join_prior_draw,
        .parameters.intercept = shrunk_intercept,
        .parameters.start = shrunk_start,
        .rows.scratch = scratch,
        .rows.loglik = loglik,
        .rows.slope = slope,
        .rows.gradient = gradient,
        .rows.cost = pass_cost,
    };
}

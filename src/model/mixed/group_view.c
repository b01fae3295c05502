/* A group's rows at places of its effects, in blocks that stay in cache. */
#include "model/mixed/group_view.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/group_polynomial.h"
#include "model/mixed/nested.h"

#include <math.h>
#include <string.h>

#define CELLS  ((size_t)2048) /* rows times nodes of a block */
#define PLACES ((size_t)16)   /* that are looked at together, beside nodes */

size_t group_block_rows(const mixed *m)
{
    size_t n = CELLS / m->points;
    return n > 0 ? n : 1;
}

size_t group_cell_count(const mixed *m)
{
    size_t cells = group_block_rows(m) * m->points;
    return cells > CELLS ? cells : CELLS; /* a single node has as many rows */
}

size_t group_auxiliaries(const mixed *m)
{
    return m->row_model->auxiliary_count;
}

/* ---- the view ---- */

static size_t carve_view(group_view *v, const mixed *m, double *base)
{
    size_t used = 0, q = m->shape.effects, a = group_auxiliaries(m),
           cells = group_cell_count(m);
    const group_polynomials *s = m->polynomials;
    size_t places = m->points > PLACES ? m->points : PLACES, terms = s ? s->h.terms : 0;
    double *second, *other, *inner;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&v->p.beta, m->data->stride},
                 {&v->p.d_beta, m->data->stride},
                 {&v->sum, m->data->stride},
                 {&second, sizeof(effect_spread) / sizeof(double)},
                 {&other, crossed_spreads(m) * (sizeof(effect_spread) / sizeof(double))},
                 {&inner, (m->levels - 1) * (sizeof(effect_spread) / sizeof(double))},
                 {&v->nested_scratch, nested_scratch(m)},
                 {&v->extra, nested_extra_count(m)},
                 {&v->incident, m->incident_max},
                 {&v->incident_rate, m->incident_max},
                 {&v->base, m->largest},
                 {&v->d_base, m->largest},
                 {&v->mean, m->largest},
                 {&v->z, q * m->largest},
                 {&v->along, q * m->largest},
                 {&v->place, m->points * q},
                 {&v->node_weight, m->points},
                 {&v->pull, m->points * q},
                 {&v->aux_pull, m->points * a},
                 {&v->eta, cells},
                 {&v->y, cells},
                 {&v->out, cells},
                 {&v->curvature, cells},
                 {&v->aux_out, a * cells},
                 {&v->p.r, s ? s->outer : 0},
                 {&v->p.products, s ? packed_size(s->outer) : 0},
                 {&v->terms, terms},
                 {&v->slopes, q * terms},
                 {&v->t, q * places},
                 {&v->bases, terms * places},
                 {&v->outer, s ? s->outer : 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    v->p.at = (effect_spread *)second;
    v->other_spread = (effect_spread *)other;
    v->inner_spread = (effect_spread *)inner;
    return used;
}

size_t group_scratch(const mixed *m)
{
    group_view unused;
    return carve_view(&unused, m, NULL);
}

static void set_factor_rate(group_view *v)
{
    const mixed *m = v->m;
    const double *u = v->p.along + m->data->d;
    memset(v->p.d_factor, 0, sizeof v->p.d_factor);
    for (size_t a = 0; a < m->shape.count; a++)
        for (size_t j = 0; j < m->shape.effects; j++)
            v->p.d_factor[m->shape.of[a].row][j] += u[a] * v->p.at->first[a][j];
}

void group_begin(group_view *v, const mixed *m, const double *w, const double *u,
                 bool with_second, double *scratch)
{
    size_t d = m->data->d, padding = (m->data->stride - d) * sizeof *w;
    *v = (group_view){.m = m};
    carve_view(v, m, scratch);
    v->p.w = w;
    v->p.along = u;
    v->p.aux = w + m->aux;
    v->p.d_aux = u ? u + m->aux : NULL;
    memcpy(v->p.beta, w, d * sizeof *w);
    memset(v->p.beta + d, 0, padding);
    spread_at(&m->shape, w + d, with_second, v->p.at);
    crossed_begin(m, w, with_second, v->other_spread, &v->p);
    for (size_t l = 1; l < m->levels; l++) {
        v->p.inner[l] = &v->inner_spread[l - 1];
        spread_at(&m->level[l].shape, w + m->level[l].spread, false, &v->inner_spread[l - 1]);
    }
    polynomial_begin(v);
    if (!u) return;
    memcpy(v->p.d_beta, u, d * sizeof *u);
    memset(v->p.d_beta + d, 0, padding);
    set_factor_rate(v);
}

/* ---- rows ---- */

batch group_cells(group_view *v, size_t first, size_t n, size_t points, const double *place)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    const double *y = m->data->y + v->first + first, *along = v->along + first;
    for (size_t k = 0; k < points; k++, place += q) {
        double *eta = v->eta + k * n;
        memcpy(v->y + k * n, y, n * sizeof *y);
        for (size_t i = 0; i < n; i++) eta[i] = v->base[first + i] + along[i] * place[0];
        for (size_t a = 1; a < q; a++)
            for (size_t i = 0; i < n; i++) eta[i] += along[a * v->n + i] * place[a];
    }
    return (batch){.k = m->k,
                   .n = n * points,
                   .eta = v->eta,
                   .y = v->y,
                   .aux = v->p.aux,
                   .pitch = group_cell_count(m)};
}

/* z of the group's rows, effect after effect, and L'z. */
static void see_effects(group_view *v)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects, n = v->n;
    memset(v->along, 0, q * n * sizeof *v->along);
    for (size_t b = 0; b < q; b++) {
        double *z = v->z + b * n;
        for (size_t i = 0; i < n; i++) z[i] = mixed_z(m, v->first + i, m->column[b]);
        for (size_t a = 0; a <= b; a++) {
            double factor = v->p.at->factor[b][a], *along = v->along + a * n;
            for (size_t i = 0; i < n; i++) along[i] += factor * z[i];
        }
    }
}

void group_load_rows(group_view *v, size_t g)
{
    const mixed *m = v->m;
    v->group = g;
    v->first = m->groups->start[g];
    v->n = m->groups->start[g + 1] - v->first;
    rows_products(m->data, m->k, rows_from(v->first, v->n), v->p.beta,
                  v->p.along ? v->p.d_beta : NULL, v->base, v->d_base);
    for (size_t i = 0; m->data->offset && i < v->n; i++)
        v->base[i] += m->data->offset[v->first + i];
    see_effects(v);
    crossed_add_effects(v);
}

void group_weigh(const group_view *v, size_t first, size_t n, size_t points, double *values)
{
    const double *weight = v->m->data->weight;
    if (!weight) return;
    weight += v->first + first;
    for (size_t k = 0; k < points; k++)
        for (size_t i = 0; i < n; i++) values[k * n + i] *= weight[i];
}

void group_add_sums(size_t n, size_t points, const double *values, size_t pitch, double *sums)
{
    for (size_t k = 0; k < points; k++) sums[k * pitch] += sum(n, values + k * n);
}

/* values[k] += sum_i weight_i log p_i at the places */
static void add_values(group_view *v, size_t points, const double *place, double *values)
{
    size_t block = group_cell_count(v->m) / points;
    for (size_t first = 0, n; first < v->n; first += n) {
        n = v->n - first < block ? v->n - first : block;
        batch b = group_cells(v, first, n, points, place);
        v->m->row_model->predictor->loglik(&b, v->out);
        group_weigh(v, first, n, points, v->out);
        group_add_sums(n, points, v->out, 1, values);
    }
}

void group_heights(group_view *v, size_t points, const double *place, double *heights)
{
    size_t q = v->m->shape.effects;
    for (size_t k = 0; k < points; k++)
        for (size_t a = 0; a < q; a++) heights[k] -= 0.5 * place[k * q + a] * place[k * q + a];
    if (v->by_polynomial)
        polynomial_heights(v, points, place, heights);
    else
        add_values(v, points, place, heights);
}

double normalise_log_weights(size_t n, double *x)
{
    double top = -INFINITY, sum = 0.0;
    for (size_t k = 0; k < n; k++) top = fmax(top, x[k]);
    for (size_t k = 0; k < n; k++) sum += x[k] = exp(x[k] - top);
    for (size_t k = 0; k < n; k++) x[k] /= sum;
    return top + log(sum);
}

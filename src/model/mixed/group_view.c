/* One group at one point phi: its rows at places of its effects, in blocks that stay in cache;
 * the mode of its effects by Newton's method; and adaptive Gauss-Hermite quadrature. With v^
 * the mode of the log integrand h and C C' = (-h'')^-1 there,
 *
 *   log m = log |C| + log sum_k exp(log w_k + t_k^2/2 + h(v_k)),   v_k = v^ + C t_k         (1)
 *
 * where h omits the normal density's (2 pi)^(-q/2), which the rule's weights contain. The
 * normalised terms s_k are the weights of the nodes under the effects' conditional distribution
 * given phi, and the gradient is an average over it,
 *
 *   d/d phi log m = sum_k s_k d/d phi h(v_k)   (v_k held fixed; Fisher 1925, Louis 1982).   (2)
 *
 * Liu, Pierce (1994), A note on Gauss-Hermite quadrature, Biometrika 81, 624-629. */
#include "model/mixed/group_view.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/group_polynomial.h"
#include "model/mixed/nested.h"

#include <math.h>
#include <string.h>

#define CELLS  ((size_t)2048) /* rows times nodes of a block */
#define PLACES ((size_t)16)   /* places that are evaluated together, other than nodes */

/* Rows per block when all nodes are evaluated. */
static size_t group_block_rows(const mixed *m)
{
    size_t n = CELLS / m->points;
    return n > 0 ? n : 1;
}

/* Cells of a block, at most. */
static size_t group_cell_count(const mixed *m)
{
    size_t cells = group_block_rows(m) * m->points;
    return cells > CELLS ? cells : CELLS; /* a single node has as many rows */
}

size_t group_auxiliaries(const mixed *m)
{
    return m->row_model->auxiliary_count;
}

/* ---- the view ---- */

/* Places the arrays in base; returns their size in doubles. NULL base: size only. */
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

/* The rate of L along the direction. */
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
    memset(v->p.beta + d, 0, padding); /* products read whole strides */
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

/* Sets eta and y of n rows from row `first` of the group on, at `points` places, place after
 * place. */
static batch group_cells(group_view *v, size_t first, size_t n, size_t points,
                         const double *place)
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

/* Sets z of the group's rows, effect after effect, and L'z: with it eta_i = base_i + (L'z_i).v,
 * so that L is applied once per row and not at every place. */
static void load_effect_columns(group_view *v)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects, n = v->n;
    memset(v->along, 0, q * n * sizeof *v->along);
    for (size_t b = 0; b < q; b++) {
        double *z = v->z + b * n;
        for (size_t i = 0; i < n; i++)
            z[i] = m->z ? m->z[(v->first + i) * q + b] : mixed_z(m, v->first + i, m->column[b]);
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
    v->first = m->start[g];
    v->n = m->start[g + 1] - v->first;
    rows_products(m->data, m->k, rows_from(v->first, v->n), v->p.beta,
                  v->p.along ? v->p.d_beta : NULL, v->base, v->d_base);
    for (size_t i = 0; m->data->offset && i < v->n; i++)
        v->base[i] += m->data->offset[v->first + i];
    load_effect_columns(v);
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

/* sums[k * pitch] += the sum over n rows of the values at place k. */
static void group_add_sums(size_t n, size_t points, const double *values, size_t pitch,
                           double *sums)
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
    double top = -INFINITY, sum = 0.0; /* the largest is subtracted: no exponential overflows */
    for (size_t k = 0; k < n; k++) top = fmax(top, x[k]);
    for (size_t k = 0; k < n; k++) sum += x[k] = exp(x[k] - top);
    for (size_t k = 0; k < n; k++) x[k] /= sum;
    return top + log(sum);
}

/* ---- mode ---- */

#define NEAR_ENOUGH 0.03 /* a step of at most this many sds is taken and ends the search */
#define STEPS_MAX   60
#define HALVINGS    30 /* of a step, at most */

/* The derivatives of the log integrand h by v. */
typedef struct {
    double gradient[LEVEL_EFFECTS_MAX];
    double curvature[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX]; /* of -h, q * q */
} mode_derivatives;

/* Adds n rows' derivatives. Rows with positive second derivatives add nothing to the curvature,
 * so that it stays at least that of the normal density. */
static void add_mode_derivatives(group_view *v, size_t first, size_t n, mode_derivatives *at)
{
    size_t q = v->m->shape.effects;
    for (size_t i = 0; i < n; i++)
        v->curvature[i] = v->curvature[i] < 0.0 ? -v->curvature[i] : 0.0;
    for (size_t a = 0; a < q; a++) {
        const double *along = v->along + a * v->n + first;
        at->gradient[a] += v->m->k->dot(n, v->out, along);
        for (size_t i = 0; i < n; i++) v->eta[i] = v->curvature[i] * along[i];
        for (size_t b = 0; b <= a; b++)
            at->curvature[a * q + b] += v->m->k->dot(n, v->eta, v->along + b * v->n + first);
    }
}

/* Gradient of h and curvature of -h at a place: those of the normal density, -v and I, and
 * those of the rows. */
static void evaluate_derivatives(group_view *v, const double *place, mode_derivatives *at)
{
    size_t q = v->m->shape.effects, block = group_cell_count(v->m);
    const predictor *p = v->m->row_model->predictor;
    *at = (mode_derivatives){{0.0}, {0.0}};
    for (size_t a = 0; a < q; a++) {
        at->gradient[a] = -place[a];
        at->curvature[a * q + a] = 1.0;
    }
    for (size_t first = 0, n; first < v->n; first += n) {
        n = v->n - first < block ? v->n - first : block;
        batch b = group_cells(v, first, n, 1, place);
        p->gradient(&b, v->out, NULL);
        p->curvature(&b, v->curvature, NULL, NULL);
        group_weigh(v, first, n, 1, v->out);
        group_weigh(v, first, n, 1, v->curvature);
        add_mode_derivatives(v, first, n, at);
    }
}

/* h at a place. */
static double height(group_view *v, const double *place)
{
    double h = 0.0;
    group_heights(v, 1, place, &h);
    return h;
}

/* Moves place along the step, halved until it leads uphill. After HALVINGS the place has hardly
 * moved: rounding then hides any gain. */
static void climb(group_view *v, double *place, const double *step)
{
    size_t q = v->m->shape.effects;
    double from = height(v, place), length = 1.0, next[LEVEL_EFFECTS_MAX];
    for (int i = 0; i < HALVINGS; i++, length *= 0.5) {
        for (size_t a = 0; a < q; a++) next[a] = place[a] + length * step[a];
        if (height(v, next) > from) break;
    }
    memcpy(place, next, q * sizeof *place);
}

double group_widen(size_t q, const double *factor, double (*root)[LEVEL_EFFECTS_MAX])
{
    double log_size = 0.0;
    memset(root, 0, LEVEL_EFFECTS_MAX * sizeof *root);
    for (size_t a = 0; a < q; a++) {
        double unit[LEVEL_EFFECTS_MAX] = {0.0};
        unit[a] = 1.0;
        cholesky_back(q, factor, unit);
        for (size_t b = 0; b < q; b++) root[b][a] = unit[b];
        log_size -= log(factor[a * q + a]);
    }
    return log_size;
}

/* Finds v->mode and v->root from a start; returns log |C|. */
static double find_mode(group_view *v, const double *from)
{
    size_t q = v->m->shape.effects;
    mode_derivatives at;
    memcpy(v->mode, from, q * sizeof *from);
    for (int i = 0; i < STEPS_MAX; i++) {
        double step[LEVEL_EFFECTS_MAX], size = 0.0;
        evaluate_derivatives(v, v->mode, &at);
        memcpy(step, at.gradient, sizeof step);
        if (!cholesky(q, at.curvature)) break;
        cholesky_solve(q, at.curvature, step);
        for (size_t a = 0; a < q; a++) size += step[a] * at.gradient[a];
        if (!(size > NEAR_ENOUGH * NEAR_ENOUGH)) {
            for (size_t a = 0; a < q; a++) v->mode[a] += step[a];
            break;
        }
        climb(v, v->mode, step);
    }
    return group_widen(q, at.curvature, v->root);
}

double group_locate(group_view *v, size_t g)
{
    double log_size;
    if (polynomial_locate(v, g, &log_size)) return log_size;
    group_load_rows(v, g);
    return find_mode(v, v->m->centre + g * v->m->shape.effects);
}

/* ---- quadrature ---- */

/* The nodes v_k of (1). */
static void place_nodes(group_view *v)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    for (size_t k = 0; k < m->points; k++)
        for (size_t a = 0; a < q; a++) {
            double at = v->mode[a];
            for (size_t b = a; b < q; b++) at += v->root[a][b] * m->node[k * q + b];
            v->place[k * q + a] = at;
        }
}

double group_value(group_view *v, size_t g)
{
    const mixed *m = v->m;
    if (m->levels > 1) {
        group_load_rows(v, g);
        return v->log_m = nested_value(v) + v->log_density;
    }
    double log_size = group_locate(v, g);
    place_nodes(v);
    memcpy(v->node_weight, m->log_count, m->points * sizeof *v->node_weight);
    group_heights(v, m->points, v->place, v->node_weight);
    return v->log_m =
               log_size + normalise_log_weights(m->points, v->node_weight) + v->log_density;
}

/* Adds the averages over nodes of the derivatives in v->out, for n rows from `first` on. */
static void average(group_view *v, size_t first, size_t n)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    double *mean = v->mean + first;
    memset(mean, 0, n * sizeof *mean);
    for (size_t k = 0; k < m->points; k++) {
        const double *slope = v->out + k * n;
        for (size_t i = 0; i < n; i++) mean[i] += v->node_weight[k] * slope[i];
        for (size_t a = 0; a < q; a++)
            v->pull[k * q + a] += m->k->dot(n, slope, v->z + a * v->n + first);
    }
}

/* Sets mean, pull and aux_pull: derivatives by rows at all nodes. */
static void group_pulls(group_view *v)
{
    const mixed *m = v->m;
    size_t count = group_auxiliaries(m), block = group_block_rows(m);
    memset(v->pull, 0, m->points * m->shape.effects * sizeof *v->pull);
    memset(v->aux_pull, 0, m->points * count * sizeof *v->aux_pull);
    for (size_t first = 0, n; first < v->n; first += n) {
        n = v->n - first < block ? v->n - first : block;
        batch b = group_cells(v, first, n, m->points, v->place);
        m->row_model->predictor->gradient(&b, v->out, count ? v->aux_out : NULL);
        group_weigh(v, first, n, m->points, v->out);
        average(v, first, n);
        for (size_t a = 0; a < count; a++) {
            double *aux_slope = v->aux_out + a * b.pitch;
            group_weigh(v, first, n, m->points, aux_slope);
            group_add_sums(n, m->points, aux_slope, count, v->aux_pull + a);
        }
    }
}

/* The slope by weights and auxiliaries: by rows, and by the polynomial. */
static double slope_by_rows(group_view *v)
{
    size_t count = group_auxiliaries(v->m);
    group_pulls(v);
    double slope = v->m->k->dot(v->n, v->mean, v->d_base) + v->log_density_rate;
    for (size_t k = 0; k < v->m->points; k++)
        slope += v->node_weight[k] * dot(count, v->p.d_aux, v->aux_pull + k * count);
    return slope;
}

/* As slope_by_rows, from the gradient of the polynomial by r. */
static double slope_by_polynomial(group_view *v)
{
    size_t d = v->m->data->d;
    polynomial_pulls(v);
    return dot(d, v->outer, v->p.d_beta) +
           dot(group_auxiliaries(v->m), v->outer + d, v->p.d_aux);
}

/* With nested factors: derivatives by eta, by the spreads of all levels and by auxiliaries are
 * known from nested_value. */
static double nested_slope(const group_view *v)
{
    const mixed *m = v->m;
    double slope = m->k->dot(v->n, v->mean, v->d_base) + v->log_density_rate;
    slope += dot(m->spreads, v->extra, v->p.along + m->data->d);
    return slope + dot(group_auxiliaries(m), v->extra + m->spreads, v->p.d_aux);
}

double group_slope(group_view *v)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    if (m->levels > 1) return nested_slope(v);
    double slope = v->by_polynomial ? slope_by_polynomial(v) : slope_by_rows(v);
    for (size_t k = 0; k < m->points; k++) {
        double at = 0.0;
        for (size_t a = 0; a < q; a++)
            at += v->pull[k * q + a] * dot(q, v->p.d_factor[a], v->place + k * q);
        slope += v->node_weight[k] * at;
    }
    return slope;
}

/* The gradient by weights and auxiliaries: by rows, by the polynomial, and (with spreads) with
 * nested factors. */
static void gradient_by_rows(group_view *v, double factor, double *out)
{
    const mixed *m = v->m;
    size_t count = group_auxiliaries(m);
    group_pulls(v);
    memset(v->sum, 0, m->data->stride * sizeof *v->sum);
    rows_combine(m->data, m->k, rows_from(v->first, v->n), v->mean, v->sum);
    add_scaled(m->data->d, factor, v->sum, out);
    for (size_t k = 0; k < m->points; k++)
        add_scaled(count, factor * v->node_weight[k], v->aux_pull + k * count, out + m->aux);
}

/* As gradient_by_rows, from the gradient of the polynomial by r. */
static void gradient_by_polynomial(group_view *v, double factor, double *out)
{
    const mixed *m = v->m;
    polynomial_pulls(v);
    add_scaled(m->data->d, factor, v->outer, out);
    add_scaled(group_auxiliaries(m), factor, v->outer + m->data->d, out + m->aux);
}

/* As nested_slope; includes the covariances of all levels. */
static void nested_gradient(group_view *v, double factor, double *out)
{
    const mixed *m = v->m;
    memset(v->sum, 0, m->data->stride * sizeof *v->sum);
    rows_combine(m->data, m->k, rows_from(v->first, v->n), v->mean, v->sum);
    add_scaled(m->data->d, factor, v->sum, out);
    add_scaled(m->spreads, factor, v->extra, out + m->data->d);
    add_scaled(group_auxiliaries(m), factor, v->extra + m->spreads, out + m->aux);
}

/* The gradient by the covariance's coordinates. */
static void gradient_of_spread(const group_view *v, double factor, double *out)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    for (size_t k = 0; k < m->points; k++) {
        const double *pull = v->pull + k * q, *place = v->place + k * q;
        double weight = factor * v->node_weight[k];
        for (size_t a = 0; a < m->shape.count; a++)
            out[a] += weight * pull[m->shape.of[a].row] * dot(q, v->p.at->first[a], place);
    }
}

void group_gradient(group_view *v, double factor, double *out)
{
    const mixed *m = v->m;
    if (m->levels > 1)
        nested_gradient(v, factor, out);
    else if (v->by_polynomial)
        gradient_by_polynomial(v, factor, out);
    else
        gradient_by_rows(v, factor, out);
    if (m->levels == 1) gradient_of_spread(v, factor, out + m->data->d);
    if (m->others == 0) return;
    memset(v->incident_rate, 0, m->incident_max * sizeof *v->incident_rate);
    crossed_pull(v, 0, v->n, v->mean, v->incident_rate, 1);
    crossed_gradient(v, factor, v->incident_rate, out);
}

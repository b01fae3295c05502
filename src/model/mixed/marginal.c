/* Adaptive Gauss-Hermite quadrature. With v^ the mode of the integrand's log h and C C' = (-h'')^-1 there,
 *
 *   log m = log |C| + log sum_k exp(log w_k + t_k^2/2 + h(v_k)),   v_k = v^ + C t_k                  (1)
 *
 * where h leaves out the normal's (2 pi)^(-q/2), which the rule's weights have, too. The shares s_k of the nodes are
 * those of the effects' posterior given phi, and the gradient is an average over it,
 *
 *   d/d phi log m = sum_k s_k d/d phi h(v_k)   (v_k held fixed; Fisher 1925, Louis 1982).             (2)
 *
 * Liu, Pierce (1994), A note on Gauss-Hermite quadrature, Biometrika 81, 624-629. */
#include "model/mixed/marginal.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/group_polynomial.h"
#include "model/mixed/nested.h"

#include <math.h>
#include <string.h>

static void place_nodes(group_view *v)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    for (size_t k = 0; k < m->points; k++)
        for (size_t a = 0; a < q; a++) {
            double at = v->mode[a];
            for (size_t b = a; b < q; b++) at += v->wide[a][b] * m->node[k * q + b];
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

/* Rows first.. of the block said this of the nodes. */
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

/* Of what is no effect: weights and auxiliaries, by rows or by the group's sketch. */
static double slope_by_rows(group_view *v)
{
    size_t count = group_auxiliaries(v->m);
    group_pulls(v);
    double slope = v->m->k->dot(v->n, v->mean, v->d_base) + v->log_density_rate;
    for (size_t k = 0; k < v->m->points; k++)
        slope += v->node_weight[k] * dot(count, v->p.d_aux, v->aux_pull + k * count);
    return slope;
}

static double slope_by_polynomial(group_view *v)
{
    size_t d = v->m->data->d;
    polynomial_pulls(v);
    return dot(d, v->outer, v->p.d_beta) +
           dot(group_auxiliaries(v->m), v->outer + d, v->p.d_aux);
}

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

static void gradient_by_polynomial(group_view *v, double factor, double *out)
{
    const mixed *m = v->m;
    polynomial_pulls(v);
    add_scaled(m->data->d, factor, v->outer, out);
    add_scaled(group_auxiliaries(m), factor, v->outer + m->data->d, out + m->aux);
}

static void nested_gradient(group_view *v, double factor, double *out)
{
    const mixed *m = v->m;
    memset(v->sum, 0, m->data->stride * sizeof *v->sum);
    rows_combine(m->data, m->k, rows_from(v->first, v->n), v->mean, v->sum);
    add_scaled(m->data->d, factor, v->sum, out);
    add_scaled(m->spreads, factor, v->extra, out + m->data->d);
    add_scaled(group_auxiliaries(m), factor, v->extra + m->spreads, out + m->aux);
}

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

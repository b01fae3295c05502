/* Hessian of a group's log m by quadrature: with h_k the log integrand at node k and s_k the
 * node's weight,
 *
 *   Hess log m = sum_k s_k (Hess h_k + grad h_k grad h_k') - g g',   g = sum_k s_k grad h_k (1)
 *
 * where eta_i = x_i.beta + z_i.L v_k has d eta/d theta_a = z_i.L_a v_k, and L_a, L_ab
 * (derivatives of L) are not 0 in one row only, r(a). So with c_ik = weight_i d^2 log p/d eta^2
 * the blocks of sum_k s_k Hess h_k are
 *
 *   beta, beta    sum_i (sum_k s_k c_ik) x_i x_i'
 *   beta, a       sum_i (sum_k s_k c_ik z_i,r(a) (L_a v_k)) x_i                             (2)
 *   a, b          sum_k s_k [(L_a v_k)(L_b v_k) sum_i c_ik z_i,r(a) z_i,r(b)
 *                            + (L_ab v_k) pull_k,r(a)]
 *
 * and likewise for auxiliaries. Crossed effects are weights of columns that are z_i in the rows
 * of a level and 0 elsewhere: the Hessian is first computed by those that occur in the group,
 * and then transformed to coordinates. Nodes are held fixed, although the mode moves with phi:
 * (1) accounts for that through the weights.
 *
 * For a group that is represented by its polynomial F ((1) of group_polynomial.h), let B be the
 * Hessian of F by t at a node, M that by t and r, and R = W^-1 K. Derivatives by the effects u
 * and by r are
 *
 *   h_uu = W^-1' B W^-1,   h_ur = W^-1' (B R + M),   h_rr = Q + R'B R + R'M + M'R.        (3)
 *
 * Louis (1982), Finding the observed information matrix when using the EM algorithm, J. Royal
 * Statistical Society B 44, 226-233. */
#include "model/mixed/group_expand.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/group_polynomial.h"
#include "model/mixed/nested.h"

#include <string.h>

/* rows of a block, for which nodes are evaluated one after another */
#define BLOCK ((size_t)256)

/* Sums over the rows of a group. Coordinates are beta, spread, auxiliaries and incident crossed
 * effects; the rest is scratch for a block of rows. */
typedef struct {
    size_t dim;
    double *score;     /* points * dim, and room for a stride: grad h_k */
    double *mean;      /* dim: g */
    double *hessian;   /* dim * dim, lower triangle */
    double *pull;      /* points * effects: sum_i weight_i d log p_i/d eta z_i */
    double *curvature; /* points * effects^2: sum_i c_ik z_i z_i' */
    /* points * auxiliaries * effects: sums of second derivatives by eta and auxiliary, times
     * z_i */
    double *cross;
    /* rows of a block: weights of x_i in the columns of (2), one coordinate after another, the
     * first for beta */
    double *weigh;
    double *padded, *outer; /* stride, stride * stride */
    double *eta, *y, *g, *c, *g_aux, *c_aux, *aux_aux;
    double *moves;
    double *polynomial; /* scratch of add_polynomial */
} group_sums;

/* The derivatives of one group's polynomial at all nodes. */
typedef struct {
    const group_view *v;
    group_polynomial of;
    double *by_r;     /* slopes * outer: coefficients of dF/dr */
    double *by_rt;    /* axis after axis likewise: of M */
    double *slope;    /* q * points: dF/dt */
    double *hessian;  /* q * q * points: B */
    double *weight;   /* points */
    double *response; /* q * outer: R */
    double *mean_m;   /* q * outer: M on average */
    double mean[HERMITES_MAX], mean_b[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX];
} expansion;

/* Places the arrays in base; returns their size in doubles. NULL base: size only. */
static size_t carve_expansion(const mixed *m, double *base, expansion *l)
{
    const group_polynomials *s = m->polynomials;
    size_t used = 0, q = m->shape.effects;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&l->by_r, s->slopes * s->outer}, {&l->by_rt, q * s->slopes * s->outer},
                 {&l->slope, q * m->points},       {&l->hessian, q * q * m->points},
                 {&l->weight, m->points},          {&l->response, q * s->outer},
                 {&l->mean_m, q * s->outer}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    return used;
}

/* The number of coordinates before those of crossed effects. */
static size_t core(const mixed *m)
{
    return m->data->d + m->shape.count + m->row_model->auxiliary_count;
}

/* Places the arrays in base; returns their size in doubles. NULL base: size only. */
static size_t carve_group_sums(const mixed *m, size_t dim, double *base, group_sums *r)
{
    size_t used = 0, a = m->row_model->auxiliary_count, q = m->shape.effects, d = m->data->d;
    size_t stride = m->data->stride;
    expansion unused;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&r->score, m->points * dim + stride},
                 {&r->mean, dim},
                 {&r->hessian, dim * dim},
                 {&r->pull, m->points * q},
                 {&r->curvature, m->points * q * q},
                 {&r->cross, m->points * a * q},
                 {&r->weigh, (core(m) - d + 1) * BLOCK},
                 {&r->padded, stride},
                 {&r->outer, stride * stride},
                 {&r->eta, BLOCK},
                 {&r->y, BLOCK},
                 {&r->g, BLOCK},
                 {&r->c, BLOCK},
                 {&r->g_aux, a * BLOCK},
                 {&r->c_aux, a * BLOCK},
                 {&r->aux_aux, packed_size(a) * BLOCK},
                 {&r->moves, crossed_scratch(m)},
                 {&r->polynomial, m->polynomials ? carve_expansion(m, NULL, &unused) : 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    r->dim = dim;
    return used;
}

size_t expand_scratch(const mixed *m)
{
    group_sums unused;
    return m->levels > 1 ? nested_expand_scratch(m)
                         : carve_group_sums(m, core(m) + m->incident_max, NULL, &unused);
}

/* ---- rows at one node ---- */

/* Evaluates derivatives of n rows from `first` on at node k, times the rows' weights. */
static void evaluate_node(const group_view *v, group_sums *r, size_t first, size_t n, size_t k)
{
    const mixed *m = v->m;
    size_t count = m->row_model->auxiliary_count;
    const double *place = v->place + k * m->shape.effects;
    memcpy(r->y, m->data->y + v->first + first, n * sizeof *r->y);
    memcpy(r->eta, v->base + first, n * sizeof *r->eta);
    for (size_t a = 0; a < m->shape.effects; a++)
        add_scaled(n, place[a], v->along + a * v->n + first, r->eta);
    const batch b = {
        .k = m->k, .n = n, .eta = r->eta, .y = r->y, .aux = v->p.aux, .pitch = BLOCK};
    m->row_model->predictor->gradient(&b, r->g, count ? r->g_aux : NULL);
    m->row_model->predictor->curvature(&b, r->c, count ? r->c_aux : NULL,
                                       count ? r->aux_aux : NULL);
    const double *weight = m->data->weight;
    for (size_t i = 0; weight && i < n; i++) {
        double factor = weight[v->first + first + i];
        r->g[i] *= factor;
        r->c[i] *= factor;
        for (size_t a = 0; a < count; a++) {
            r->g_aux[a * BLOCK + i] *= factor;
            r->c_aux[a * BLOCK + i] *= factor;
        }
        for (size_t a = 0; a < packed_size(count); a++) r->aux_aux[a * BLOCK + i] *= factor;
    }
}

/* Adds, for node k, the sums without columns x. */
static void add_effects(const group_view *v, group_sums *r, size_t first, size_t n, size_t k)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects, count = m->row_model->auxiliary_count,
           aux = m->data->d + m->shape.count;
    double *score = r->score + k * r->dim;
    for (size_t a = 0; a < q; a++) {
        const double *z = v->z + a * v->n + first;
        r->pull[k * q + a] += m->k->dot(n, r->g, z);
        for (size_t i = 0; i < n; i++) r->eta[i] = r->c[i] * z[i];
        for (size_t b = 0; b < q; b++)
            r->curvature[(k * q + a) * q + b] += m->k->dot(n, r->eta, v->z + b * v->n + first);
        for (size_t b = 0; b < count; b++)
            r->cross[(k * count + b) * q + a] += m->k->dot(n, r->c_aux + b * BLOCK, z);
    }
    for (size_t b = 0; b < count; b++) score[aux + b] += sum(n, r->g_aux + b * BLOCK);
    for (size_t b = 0; b < count; b++)
        for (size_t c = 0; c <= b; c++)
            r->hessian[(aux + b) * r->dim + aux + c] +=
                v->node_weight[k] * sum(n, r->aux_aux + packed_index(b, c) * BLOCK);
}

/* Adds node k to the weights of x_i in (2). */
static void add_weights(const group_view *v, group_sums *r, size_t first, size_t n, size_t k)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects, count = m->row_model->auxiliary_count;
    double weight = v->node_weight[k], *of_aux = r->weigh + (m->shape.count + 1) * BLOCK;
    for (size_t i = 0; i < n; i++) r->weigh[i] += weight * r->c[i];
    for (size_t a = 0; a < m->shape.count; a++) {
        double moved = weight * dot(q, v->p.at->first[a], v->place + k * q);
        const double *z = v->z + m->shape.of[a].row * v->n + first;
        double *weigh = r->weigh + (a + 1) * BLOCK;
        for (size_t i = 0; i < n; i++) weigh[i] += moved * r->c[i] * z[i];
    }
    for (size_t b = 0; b < count; b++)
        add_scaled(n, weight, r->c_aux + b * BLOCK, of_aux + b * BLOCK);
}

/* ---- rows at all nodes ---- */

/* Adds the sum over rows of weight x_i x_i', lower triangle. */
static void add_column_products(const mixed *m, group_sums *r, size_t first, size_t n)
{
    const rows *data = m->data;
    size_t stride = data->stride;
    if (data->storage.kind->outer &&
        data->storage.kind->outer(data, m->k, first, n, r->weigh, stride, r->outer))
        return;
    for (size_t i = 0; i < n; i++) {
        data->storage.kind->decode(data, first + i, r->padded);
        for (size_t a = 0; a < data->d; a++)
            add_scaled(a + 1, r->weigh[i] * r->padded[a], r->padded, r->outer + a * stride);
    }
}

/* Adds second derivatives by pairs of a crossed effect with another one or with a weight. */
static void add_incident_effects(const group_view *v, group_sums *r, size_t first, size_t n)
{
    const mixed *m = v->m;
    size_t d = m->data->d, from = core(m);
    incident_effect incident[OTHERS_MAX * LEVEL_EFFECTS_MAX];
    for (size_t a = d; a < from; a++)
        crossed_pull(v, first, n, r->weigh + (a - d + 1) * BLOCK,
                     r->hessian + from * r->dim + a, r->dim);
    for (size_t i = 0; i < n; i++) {
        size_t count = crossed_of_row(v, first + i, incident);
        m->data->storage.kind->decode(m->data, v->first + first + i, r->padded);
        for (size_t e = 0; e < count; e++) {
            double weight = r->weigh[i] * incident[e].z,
                   *row = r->hessian + (from + incident[e].place) * r->dim;
            add_scaled(d, weight, r->padded, row);
            for (size_t b = 0; b <= e; b++)
                row[from + incident[b].place] += weight * incident[b].z;
        }
    }
}

/* Adds n rows from `first` on to all sums. */
static void add_row_block(const group_view *v, group_sums *r, size_t first, size_t n)
{
    const mixed *m = v->m;
    size_t d = m->data->d, others = core(m) - d;
    const row_range range = rows_from(v->first + first, n);
    memset(r->weigh, 0, (others + 1) * BLOCK * sizeof *r->weigh);
    for (size_t k = 0; k < m->points; k++) {
        evaluate_node(v, r, first, n, k);
        add_effects(v, r, first, n, k);
        add_weights(v, r, first, n, k);
        rows_combine(m->data, m->k, range, r->g, r->score + k * r->dim);
        crossed_pull(v, first, n, r->g, r->score + k * r->dim + core(m), 1);
    }
    add_column_products(m, r, range.first, n);
    for (size_t a = 0; a < others; a++) {
        memset(r->padded, 0, m->data->stride * sizeof *r->padded);
        rows_combine(m->data, m->k, range, r->weigh + (a + 1) * BLOCK, r->padded);
        add_scaled(d, 1.0, r->padded, r->hessian + (d + a) * r->dim);
    }
    if (m->others > 0) add_incident_effects(v, r, first, n);
}

/* ---- a polynomial in place of rows ---- */

/* Sets the coefficients of dF/dr and of M. */
static void differentiate_outer(expansion *l)
{
    const group_polynomials *s = l->v->m->polynomials;
    const double *r = l->v->p.r;
    size_t outer = s->outer, size = s->slopes * outer;
    memcpy(l->by_r, l->of.slope, size * sizeof *l->by_r);
    for (size_t a = 0; a < s->curvatures; a++)
        for (size_t j = 0; j < outer; j++)
            for (size_t i = 0; i < outer; i++)
                l->by_r[a * outer + j] +=
                    l->of.curvature[a * packed_size(outer) + packed_index(j, i)] * r[i];
    memset(l->by_rt, 0, s->h.axes * size * sizeof *l->by_rt);
    for (size_t a = 0; a < s->slopes; a++)
        for (size_t i = 0; i < s->h.axes; i++)
            if (s->h.lower[a][i] != NO_TERM)
                add_scaled(outer, (double)s->h.power[a][i], l->by_r + a * outer,
                           l->by_rt + i * size + s->h.lower[a][i] * outer);
}

/* values[k] = sum_a c_a He_a at node k */
static void at_nodes(const expansion *l, const double *c, double *values)
{
    size_t points = l->v->m->points, terms = l->v->m->polynomials->h.terms;
    memset(values, 0, points * sizeof *values);
    for (size_t a = 0; a < terms; a++)
        if (c[a] != 0.0) add_scaled(points, c[a], l->v->bases + a * points, values);
}

/* Evaluates dF/dt and B at all nodes. */
static void differentiate_inner(expansion *l)
{
    const hermites *h = &l->v->m->polynomials->h;
    size_t q = h->axes, points = l->v->m->points;
    for (size_t i = 0; i < q; i++) {
        const double *slope = l->v->slopes + i * h->terms;
        at_nodes(l, slope, l->slope + i * points);
        for (size_t j = 0; j < q; j++) {
            double again[HERMITES_MAX];
            hermites_slope(h, j, slope, again);
            at_nodes(l, again, l->hessian + (i * q + j) * points);
        }
    }
}

/* Adds the gradients by r and u, and h_uu, at node k. */
static void add_node(const expansion *l, size_t k, group_sums *to)
{
    const mixed *m = l->v->m;
    const group_polynomials *s = m->polynomials;
    size_t q = s->h.axes, points = m->points;
    double *score = to->score + k * m->dim, *curvature = to->curvature + k * q * q;
    for (size_t j = 0; j < s->outer; j++) {
        double at = 0.0;
        for (size_t a = 0; a < s->slopes; a++)
            at += l->by_r[a * s->outer + j] * l->v->bases[a * points + k];
        for (size_t i = 0; i < q; i++)
            at += l->response[i * s->outer + j] * l->slope[i * points + k];
        score[polynomial_coordinate(m, j)] += at;
    }
    for (size_t i = 0; i < q; i++) {
        const double *inverse = l->of.inverse + i * q;
        add_scaled(q, l->slope[i * points + k], inverse, to->pull + k * q);
        for (size_t j = 0; j < q; j++)
            for (size_t a = 0; a < q; a++)
                add_scaled(q, inverse[a] * l->hessian[(i * q + j) * points + k],
                           l->of.inverse + j * q, curvature + a * q);
    }
}

/* Averages of terms, B and M over nodes with the weights l->weight. */
static void average(expansion *l)
{
    const group_polynomials *s = l->v->m->polynomials;
    size_t q = s->h.axes, points = l->v->m->points, size = s->slopes * s->outer;
    for (size_t a = 0; a < s->slopes; a++)
        l->mean[a] = dot(points, l->weight, l->v->bases + a * points);
    memset(l->mean_m, 0, q * s->outer * sizeof *l->mean_m);
    for (size_t i = 0; i < q; i++) {
        for (size_t j = 0; j < q; j++)
            l->mean_b[i][j] = dot(points, l->weight, l->hessian + (i * q + j) * points);
        for (size_t a = 0; a < s->slopes; a++)
            add_scaled(s->outer, l->mean[a], l->by_rt + i * size + a * s->outer,
                       l->mean_m + i * s->outer);
    }
}

/* Entry (j, i) of h_rr. */
static double second_by_r(const expansion *l, size_t j, size_t i)
{
    const group_polynomials *s = l->v->m->polynomials;
    size_t outer = s->outer, packed = packed_size(outer);
    const double *response = l->response;
    double sum = 0.0;
    for (size_t a = 0; a < s->curvatures; a++)
        sum += l->mean[a] * l->of.curvature[a * packed + packed_index(j, i)];
    for (size_t b = 0; b < s->h.axes; b++) {
        double turned = l->mean_m[b * outer + i];
        for (size_t c = 0; c < s->h.axes; c++)
            turned += l->mean_b[b][c] * response[c * outer + i];
        sum += response[b * outer + j] * turned +
               l->mean_m[b * outer + j] * response[b * outer + i];
    }
    return sum;
}

/* The entry of h_ur for an effect and the j-th number of r. */
static double cross_of(const expansion *l, size_t effect, size_t j)
{
    const group_polynomials *s = l->v->m->polynomials;
    size_t q = s->h.axes;
    double sum = 0.0;
    for (size_t b = 0; b < q; b++) {
        double turned = l->mean_m[b * s->outer + j];
        for (size_t c = 0; c < q; c++)
            turned += l->mean_b[b][c] * l->response[c * s->outer + j];
        sum += l->of.inverse[b * q + effect] * turned;
    }
    return sum;
}

/* Entry (a, b) of a lower triangle. */
static double *entry(const mixed *m, double *hessian, size_t a, size_t b)
{
    return a > b ? hessian + a * m->dim + b : hessian + b * m->dim + a;
}

/* Adds the average of h_rr. */
static void add_outer_hessian(expansion *l, double *hessian)
{
    const mixed *m = l->v->m;
    size_t outer = m->polynomials->outer;
    memcpy(l->weight, l->v->node_weight, m->points * sizeof *l->weight);
    average(l);
    for (size_t j = 0; j < outer; j++)
        for (size_t i = 0; i <= j; i++)
            *entry(m, hessian, polynomial_coordinate(m, j), polynomial_coordinate(m, i)) +=
                second_by_r(l, j, i);
}

/* Adds second derivatives by a coordinate of the spread, which moves one effect, and by r. */
static void add_crossed(expansion *l, double *hessian)
{
    const mixed *m = l->v->m;
    size_t q = m->shape.effects;
    for (size_t a = 0; a < m->shape.count; a++) {
        for (size_t k = 0; k < m->points; k++)
            l->weight[k] =
                l->v->node_weight[k] * dot(q, l->v->p.at->first[a], l->v->place + k * q);
        average(l);
        for (size_t j = 0; j < m->polynomials->outer; j++)
            *entry(m, hessian, m->data->d + a, polynomial_coordinate(m, j)) +=
                cross_of(l, m->shape.of[a].row, j);
    }
}

/* R = W^-1 K */
static void scale_response(expansion *l)
{
    const group_polynomials *s = l->v->m->polynomials;
    size_t q = s->h.axes;
    memset(l->response, 0, q * s->outer * sizeof *l->response);
    for (size_t i = 0; i < q; i++)
        for (size_t a = 0; a < q; a++)
            add_scaled(s->outer, l->of.inverse[i * q + a], l->of.response + a * s->outer,
                       l->response + i * s->outer);
}

/* After group_value: adds to all sums the part of a group that is represented by its
 * polynomial. */
static void add_polynomial(const group_view *v, group_sums *to)
{
    expansion l = {.v = v, .of = polynomial_of(v->m->polynomials, v->group)};
    carve_expansion(v->m, to->polynomial, &l);
    scale_response(&l);
    differentiate_outer(&l);
    differentiate_inner(&l);
    for (size_t k = 0; k < v->m->points; k++) add_node(&l, k, to);
    add_outer_hessian(&l, to->hessian);
    add_crossed(&l, to->hessian);
}

/* ---- the group ---- */

/* Adds the blocks of (2) by the spread's coordinates for node k, and the scores by these. */
static void add_spread(const group_view *v, group_sums *r, size_t k)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects, d = m->data->d, count = m->row_model->auxiliary_count,
           aux = d + m->shape.count;
    const double *place = v->place + k * q;
    double moved[SPREAD_MAX], *score = r->score + k * r->dim;
    for (size_t a = 0; a < m->shape.count; a++) {
        size_t row = m->shape.of[a].row;
        double *out = r->hessian + (d + a) * r->dim + d;
        moved[a] = dot(q, v->p.at->first[a], place);
        score[d + a] += r->pull[k * q + row] * moved[a];
        for (size_t b = 0; b <= a; b++) {
            size_t other = m->shape.of[b].row;
            out[b] += v->node_weight[k] * moved[a] * moved[b] *
                      r->curvature[(k * q + row) * q + other];
            if (other == row)
                out[b] += v->node_weight[k] * r->pull[k * q + row] *
                          dot(q, v->p.at->second[a][b], place);
        }
        for (size_t b = 0; b < count; b++)
            r->hessian[(aux + b) * r->dim + d + a] +=
                v->node_weight[k] * moved[a] * r->cross[(k * count + b) * q + row];
    }
}

/* Adds the scores' part of (1). */
static void add_scores(const group_view *v, group_sums *r)
{
    size_t dim = r->dim;
    for (size_t k = 0; k < v->m->points; k++) {
        const double *score = r->score + k * dim;
        add_scaled(dim, v->node_weight[k], score, r->mean);
        for (size_t a = 0; a < dim; a++)
            add_scaled(a + 1, v->node_weight[k] * score[a], score, r->hessian + a * dim);
    }
    for (size_t a = 0; a < dim; a++)
        add_scaled(a + 1, -r->mean[a], r->mean, r->hessian + a * dim);
}

void group_expand(group_view *v, double factor, double *scratch, double *gradient,
                  double *hessian)
{
    group_sums r;
    const mixed *m = v->m;
    size_t d = m->data->d, stride = m->data->stride;
    if (m->levels > 1) {
        nested_expand(v, factor, scratch, gradient, hessian);
        return;
    }
    size_t dim = core(m) + crossed_effects(v);
    memset(scratch, 0, carve_group_sums(m, dim, scratch, &r) * sizeof *scratch);
    if (v->by_polynomial)
        add_polynomial(v, &r);
    else
        for (size_t first = 0; first < v->n; first += BLOCK)
            add_row_block(v, &r, first, v->n - first < BLOCK ? v->n - first : BLOCK);
    for (size_t a = 0; a < d; a++)
        add_scaled(a + 1, 1.0, r.outer + a * stride, r.hessian + a * dim);
    for (size_t k = 0; k < m->points; k++) add_spread(v, &r, k);
    add_scores(v, &r);
    if (m->others > 0) {
        crossed_expand(v, factor, dim, r.mean, r.hessian, r.moves, gradient, hessian);
        return;
    }
    add_scaled(dim, factor, r.mean, gradient);
    for (size_t a = 0; a < dim; a++)
        add_scaled(a + 1, factor, r.hessian + a * dim, hessian + a * dim);
}

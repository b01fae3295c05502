/* Second derivatives of (1) of group_polynomial.h, for the sums of group_expand.c. At a node,
 * with B the Hessian of F by t, M that by t and r, and R = W^-1 K, derivatives by the effects u
 * and by r are
 *
 *   h_uu = W^-1' B W^-1,   h_ur = W^-1' (B R + M),   h_rr = Q + R'B R + R'M + M'R.        (1)
 * */
#include "linalg/dense_matrix.h"
#include "model/mixed/group_polynomial.h"

#include <string.h>

/* The derivatives of one group at all nodes. */
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

size_t polynomial_expand_scratch(const mixed *m)
{
    expansion unused;
    return m->polynomials ? carve_expansion(m, NULL, &unused) : 0;
}

/* ---- polynomials ---- */

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

/* ---- nodes ---- */

/* Adds the gradients by r and u, and h_uu, at node k. */
static void add_node(const expansion *l, size_t k, const expansion_sums *to)
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

/* ---- averages over nodes, with l->weight ---- */

/* Averages of terms, B and M over nodes. */
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

void polynomial_expand(const group_view *v, double *scratch, const expansion_sums *to)
{
    expansion l = {.v = v, .of = polynomial_of(v->m->polynomials, v->group)};
    carve_expansion(v->m, scratch, &l);
    scale_response(&l);
    differentiate_outer(&l);
    differentiate_inner(&l);
    for (size_t k = 0; k < v->m->points; k++) add_node(&l, k, to);
    add_outer_hessian(&l, to->hessian);
    add_crossed(&l, to->hessian);
}

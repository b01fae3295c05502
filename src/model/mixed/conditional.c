#include "model/mixed/conditional.h"
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T_MAX           1.0  /* as far as modes may be from where the polynomial was made */
#define NEGLIGIBLE_TERM 1e-6 /* nats of a term */
#define SDS_MIN         3.5  /* from there to the polynomial's edge */

/* ---- points ---- */

static void see_point(const group_view *v, const group_polynomials *s, size_t i,
                      const conditional_points *out)
{
    size_t q = v->m->shape.effects;
    double factor[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX],
        inverse[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    double *to = out->feature + i;
    out->near[i] = 1.0;
    for (size_t j = 0; j < s->outer; j++, to += out->pitch) {
        *to = v->p.w[polynomial_coordinate(v->m, j)] - s->reference[j];
        if (!(fabs(*to) <= s->reach[j])) out->near[i] = 0.0;
    }
    for (size_t j = 0; j < s->outer; j++)
        for (size_t l = 0; l <= j; l++, to += out->pitch)
            *to = out->feature[j * out->pitch + i] * out->feature[l * out->pitch + i] *
                  (l == j ? 0.5 : 1.0);
    for (size_t a = 0; a < q; a++)
        memcpy(factor + a * q, v->p.at->factor[a], q * sizeof *factor);
    cholesky_inverse(q, factor, inverse);
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b <= a; b++)
            out->precision[packed_index(a, b) * out->pitch + i] = inverse[a * q + b];
}

sbps_status conditional_points_open(const mixed *m, const group_polynomials *s, size_t count,
                                    const double *const *phi, conditional_points *out,
                                    sbps_error *err)
{
    size_t pitch = (count + POINT_LANES - 1) / POINT_LANES * POINT_LANES;
    size_t features = s->outer + packed_size(s->outer), q = m->shape.effects;
    *out = (conditional_points){.count = count, .pitch = pitch};
    out->feature = new_doubles(pitch * (features + packed_size(q) + 1) + features);
    double *scratch = new_doubles(group_scratch(m));
    if (!out->feature || !scratch) {
        free(scratch);
        return fail_memory(err);
    }
    out->precision = out->feature + features * pitch;
    out->near = out->precision + packed_size(q) * pitch;
    out->largest = out->near + pitch;
    for (size_t i = 0; i < pitch; i++) {
        group_view v;
        group_begin(&v, m, phi[i < count ? i : count - 1], NULL, false, scratch);
        see_point(&v, s, i, out);
        for (size_t f = 0; f < features; f++)
            out->largest[f] = fmax(out->largest[f], fabs(out->feature[f * pitch + i]));
    }
    free(scratch);
    return SBPS_OK;
}

void conditional_points_close(conditional_points *p)
{
    free(p->feature);
    *p = (conditional_points){0};
}

/* ---- terms ---- */

static size_t find(const hermites *h, size_t j, size_t k, size_t powers)
{
    size_t want[LEVEL_EFFECTS_MAX] = {0}, a = 0;
    want[j]++;
    if (powers > 1) want[k]++;
    while (memcmp(h->power[a], want, h->axes * sizeof *want)) a++;
    return a;
}

/* Does term a come before b, the first axis running fastest? */
static bool comes_before(const hermites *h, size_t a, size_t b)
{
    for (size_t i = h->axes; i-- > 0;)
        if (h->power[a][i] != h->power[b][i]) return h->power[a][i] < h->power[b][i];
    return false;
}

void term_order_set(const hermites *h, term_order *out)
{
    *out = (term_order){.at = {0}};
    for (size_t a = 0; a < h->terms; a++)
        for (size_t b = 0; b < h->terms; b++)
            if (comes_before(h, b, a)) out->at[a]++;
    for (size_t j = 0; j < h->axes; j++) {
        out->linear[j] = out->at[find(h, j, j, 1)];
        for (size_t k = 0; k < h->axes; k++) out->square[j][k] = out->at[find(h, j, k, 2)];
    }
}

static void add_lanes(const conditional *l, double a, const double *x, double *y)
{
    l->m->k->axpy(POINT_LANES, a, x, y);
}

static void multiply_add(const double *x, const double *y, double *out)
{
    for (size_t i = 0; i < POINT_LANES; i++) out[i] += x[i] * y[i];
}

/* to += sum_f by[f] feature_(from + f), those left out that are next to nothing at all points. */
static void add_features(const conditional *l, const conditional_points *p, size_t first,
                         size_t from, size_t count, const double *by, double *to)
{
    for (size_t f = 0; f < count; f++)
        if (!(fabs(by[f]) * p->largest[from + f] <= NEGLIGIBLE_TERM))
            add_lanes(l, by[f], p->feature + (from + f) * p->pitch + first, to);
}

static void gather_likelihood(const conditional *l, const conditional_points *p, size_t first)
{
    const group_polynomials *s = l->s;
    size_t packed = packed_size(s->outer);
    for (size_t a = 0; a < s->h.terms; a++) {
        double *to = conditional_term(l, l->order->at[a]);
        for (size_t i = 0; i < POINT_LANES; i++) to[i] = l->of.value[a];
        if (a < s->slopes)
            add_features(l, p, first, 0, s->outer, l->of.slope + a * s->outer, to);
        if (a < s->curvatures)
            add_features(l, p, first, s->outer, packed, l->of.curvature + a * packed, to);
    }
}

/* -(u' S^-1 u)/2, u = mean + W t, but for its constant: -t'W'S^-1 mean - t'(W'S^-1 W)t/2, and t_j^2 = He_2(t_j) + 1. */
static void gather_normal(const conditional *l, const conditional_points *p, size_t first)
{
    size_t q = l->s->h.axes;
    for (size_t a = 0; a < q; a++) {
        double *mean = l->mean + a * POINT_LANES;
        for (size_t i = 0; i < POINT_LANES; i++) mean[i] = l->of.centre[a];
        for (size_t j = 0; j < l->s->outer; j++)
            add_lanes(l, -l->of.response[a * l->s->outer + j],
                      p->feature + j * p->pitch + first, mean);
    }
    for (size_t b = 0; b < q; b++) {
        memset(l->passing, 0, POINT_LANES * sizeof *l->passing);
        for (size_t a = 0; a < q; a++)
            multiply_add(p->precision + packed_index(a, b) * p->pitch + first,
                         l->mean + a * POINT_LANES, l->passing);
        for (size_t j = 0; j < q; j++)
            add_lanes(l, -l->wide[b * q + j], l->passing,
                      conditional_term(l, l->order->linear[j]));
    }
    for (size_t j = 0; j < q; j++)
        for (size_t k = 0; k <= j; k++)
            for (size_t a = 0; a < q; a++)
                for (size_t b = 0; b < q; b++)
                    add_lanes(l,
                              (j == k ? -0.5 : -1.0) * l->wide[a * q + j] * l->wide[b * q + k],
                              p->precision + packed_index(a, b) * p->pitch + first,
                              conditional_term(l, l->order->square[j][k]));
}

void conditional_gather(const conditional *l, const conditional_points *p, size_t first)
{
    gather_likelihood(l, p, first);
    gather_normal(l, p, first);
}

/* (1) summed over the axes up to this one, terms of `degree` at most being left to them; where its terms end. */
static const double *sum_axes(const conditional *l, size_t axis, size_t degree, const double *c,
                              const double *t, double *scratch, double *out)
{
    const kernels *k = l->m->k;
    if (axis == 0) {
        k->hermite_sums(POINT_LANES, degree + 1, c, t, out);
        return c + (degree + 1) * POINT_LANES;
    }
    double *further = scratch + (HERMITES_DEGREE + 1) * POINT_LANES;
    for (size_t p = 0; p <= degree; p++)
        c = sum_axes(l, axis - 1, degree - p, c, t, further, scratch + p * POINT_LANES);
    k->hermite_sums(POINT_LANES, degree + 1, scratch, t + axis * POINT_LANES, out);
    return c;
}

void conditional_heights(const conditional *l, const double *t, double *out)
{
    sum_axes(l, l->s->h.axes - 1, l->s->h.degree, l->c, t, l->scratch, out);
}

/* ---- derivatives at t0 ---- */

/* He_a differentiated along j, and k unless that is NO_TERM, the terms being known there. */
static double differentiated(const hermites *h, size_t a, size_t j, size_t k,
                             const double *bases)
{
    double times = (double)h->power[a][j];
    size_t lower = h->lower[a][j];
    if (lower == NO_TERM || k == NO_TERM) return lower == NO_TERM ? 0.0 : times * bases[lower];
    times *= (double)h->power[lower][k];
    return h->lower[lower][k] == NO_TERM ? 0.0 : times * bases[h->lower[lower][k]];
}

static void differentiate(const conditional *l, size_t j, size_t k, const double *bases,
                          double sign, double *out)
{
    const hermites *h = &l->s->h;
    memset(out, 0, POINT_LANES * sizeof *out);
    for (size_t a = 1; a < h->terms; a++) {
        double by = differentiated(h, a, j, k, bases);
        if (by != 0.0) add_lanes(l, sign * by, conditional_term(l, l->order->at[a]), out);
    }
}

/* l->centre = the gradient at t0, l->curvature = H. */
static void differentiate_at(const conditional *l, const double *t0)
{
    size_t q = l->s->h.axes;
    double bases[HERMITES_MAX];
    hermites_at(&l->s->h, l->s->h.terms, 1, t0, bases);
    for (size_t j = 0; j < q; j++) {
        differentiate(l, j, NO_TERM, bases, 1.0, l->centre + j * POINT_LANES);
        for (size_t k = 0; k <= j; k++)
            differentiate(l, j, k, bases, -1.0, l->curvature + (j * q + k) * POINT_LANES);
    }
}

/* H = F F', in its place; l->fine: was it positive definite? */
static void factorize(const conditional *l)
{
    size_t q = l->s->h.axes;
    for (size_t j = 0; j < q; j++)
        for (size_t k = 0; k <= j; k++) {
            double *to = conditional_factor(l, j, k);
            for (size_t b = 0; b < k; b++)
                for (size_t i = 0; i < POINT_LANES; i++)
                    to[i] -= conditional_factor(l, j, b)[i] * conditional_factor(l, k, b)[i];
            if (j == k)
                for (size_t i = 0; i < POINT_LANES; i++) {
                    bool fine = to[i] > 0.0;
                    to[i] = fine ? sqrt(to[i]) : 1.0;
                    l->fine[i] = fine ? l->fine[i] : 0.0;
                }
            else
                for (size_t i = 0; i < POINT_LANES; i++)
                    to[i] /= conditional_factor(l, k, k)[i];
        }
}

/* x <- F^-1 x */
static void solve_forward(const conditional *l, double *x)
{
    for (size_t j = 0; j < l->s->h.axes; j++) {
        double *to = x + j * POINT_LANES;
        for (size_t b = 0; b < j; b++)
            for (size_t i = 0; i < POINT_LANES; i++)
                to[i] -= conditional_factor(l, j, b)[i] * x[b * POINT_LANES + i];
        for (size_t i = 0; i < POINT_LANES; i++) to[i] /= conditional_factor(l, j, j)[i];
    }
}

void conditional_solve_back(const conditional *l, double *x)
{
    for (size_t j = l->s->h.axes; j-- > 0;) {
        double *to = x + j * POINT_LANES;
        for (size_t b = j + 1; b < l->s->h.axes; b++)
            for (size_t i = 0; i < POINT_LANES; i++)
                to[i] -= conditional_factor(l, b, j)[i] * x[b * POINT_LANES + i];
        for (size_t i = 0; i < POINT_LANES; i++) to[i] /= conditional_factor(l, j, j)[i];
    }
}

/* Laws that reach beyond the edge are none of the polynomial's. The variance along axis j is |F^-1 e_j|^2. */
static void keep_within_edge(const conditional *l, size_t j)
{
    size_t q = l->s->h.axes;
    const double *centre = l->centre + j * POINT_LANES;
    memset(l->z, 0, q * POINT_LANES * sizeof *l->z);
    for (size_t i = 0; i < POINT_LANES; i++) l->z[j * POINT_LANES + i] = 1.0;
    solve_forward(l, l->z);
    memset(l->passing, 0, POINT_LANES * sizeof *l->passing);
    for (size_t k = j; k < q; k++)
        multiply_add(l->z + k * POINT_LANES, l->z + k * POINT_LANES, l->passing);
    for (size_t i = 0; i < POINT_LANES; i++) {
        bool within = fabs(centre[i]) <= T_MAX &&
                      fabs(centre[i]) + SDS_MIN * sqrt(l->passing[i]) <= l->s->edge;
        l->fine[i] = within ? l->fine[i] : 0.0;
    }
}

void conditional_step(const conditional *l, const double *t0, const double *near)
{
    memcpy(l->fine, near, POINT_LANES * sizeof *l->fine);
    differentiate_at(l, t0);
    factorize(l);
    solve_forward(l, l->centre);
    conditional_solve_back(l, l->centre);
    for (size_t j = 0; j < l->s->h.axes; j++)
        for (size_t i = 0; i < POINT_LANES; i++) l->centre[j * POINT_LANES + i] += t0[j];
    for (size_t j = 0; j < l->s->h.axes; j++) keep_within_edge(l, j);
}

size_t conditional_carve(conditional *l, const mixed *m, const group_polynomials *s,
                         double *base)
{
    size_t used = 0, q = m->shape.effects, points = 1;
    for (size_t a = 0; a < q; a++) points *= s->h.degree + 1;
    size_t sums = q * (HERMITES_DEGREE + 1) * POINT_LANES,
           scratch_size = sums > 2 * points ? sums : 2 * points;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&l->c, s->h.terms * POINT_LANES},
                 {&l->mean, q * POINT_LANES},
                 {&l->centre, q * POINT_LANES},
                 {&l->curvature, q * q * POINT_LANES},
                 {&l->fine, POINT_LANES},
                 {&l->z, q * POINT_LANES},
                 {&l->t, PROPOSALS_MAX * q * POINT_LANES},
                 {&l->height, PROPOSALS_MAX * POINT_LANES},
                 {&l->draw, q * POINT_LANES},
                 {&l->ratio, PROPOSALS_MAX * POINT_LANES},
                 {&l->uniform, POINT_LANES},
                 {&l->passing, POINT_LANES},
                 {&l->scratch, scratch_size}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    l->m = m;
    l->s = s;
    return used;
}

#include "mixed/laws.h"
#include "base/cholesky.h"
#include "base/dense.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T_MOST          1.0  /* as far as modes may be from where the polynomial was made */
#define NEXT_TO_NOTHING 1e-6 /* nats of a term */
#define SDS_LEAST       3.5  /* from there to the polynomial's edge */

/* ---- points ---- */

static void see_point(const group_view *v, const sketches *s, size_t i, const law_points *out)
{
    size_t q = v->m->shape.effects;
    double factor[EFFECTS_A_LEVEL * EFFECTS_A_LEVEL],
        inverse[EFFECTS_A_LEVEL * EFFECTS_A_LEVEL];
    double *to = out->feature + i;
    out->near[i] = 1.0;
    for (size_t j = 0; j < s->outer; j++, to += out->pitch) {
        *to = v->p.w[sketch_coordinate(v->m, j)] - s->reference[j];
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

sbps_status law_points_open(const mixed *m, const sketches *s, size_t count,
                            const double *const *phi, law_points *out, sbps_error *err)
{
    size_t pitch = (count + LAW_LANES - 1) / LAW_LANES * LAW_LANES;
    size_t features = s->outer + packed_size(s->outer), q = m->shape.effects;
    *out = (law_points){.count = count, .pitch = pitch};
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

void law_points_close(law_points *p)
{
    free(p->feature);
    *p = (law_points){0};
}

/* ---- terms ---- */

static size_t find(const hermites *h, size_t j, size_t k, size_t powers)
{
    size_t want[EFFECTS_A_LEVEL] = {0}, a = 0;
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

void law_order_set(const hermites *h, law_order *out)
{
    *out = (law_order){.at = {0}};
    for (size_t a = 0; a < h->terms; a++)
        for (size_t b = 0; b < h->terms; b++)
            if (comes_before(h, b, a)) out->at[a]++;
    for (size_t j = 0; j < h->axes; j++) {
        out->linear[j] = out->at[find(h, j, j, 1)];
        for (size_t k = 0; k < h->axes; k++) out->square[j][k] = out->at[find(h, j, k, 2)];
    }
}

static void add_lanes(const law *l, double a, const double *x, double *y)
{
    l->m->k->axpy(LAW_LANES, a, x, y);
}

static void multiply_add(const double *x, const double *y, double *out)
{
    for (size_t i = 0; i < LAW_LANES; i++) out[i] += x[i] * y[i];
}

/* to += sum_f by[f] feature_(from + f), those left out that are next to nothing at all points. */
static void add_features(const law *l, const law_points *p, size_t first, size_t from,
                         size_t count, const double *by, double *to)
{
    for (size_t f = 0; f < count; f++)
        if (!(fabs(by[f]) * p->largest[from + f] <= NEXT_TO_NOTHING))
            add_lanes(l, by[f], p->feature + (from + f) * p->pitch + first, to);
}

static void gather_likelihood(const law *l, const law_points *p, size_t first)
{
    const sketches *s = l->s;
    size_t packed = packed_size(s->outer);
    for (size_t a = 0; a < s->h.terms; a++) {
        double *to = law_term(l, l->order->at[a]);
        for (size_t i = 0; i < LAW_LANES; i++) to[i] = l->of.value[a];
        if (a < s->slopes)
            add_features(l, p, first, 0, s->outer, l->of.slope + a * s->outer, to);
        if (a < s->bends)
            add_features(l, p, first, s->outer, packed, l->of.bend + a * packed, to);
    }
}

/* -(u' S^-1 u)/2, u = mean + W t, but for its constant: -t'W'S^-1 mean - t'(W'S^-1 W)t/2, and t_j^2 = He_2(t_j) + 1. */
static void gather_normal(const law *l, const law_points *p, size_t first)
{
    size_t q = l->s->h.axes;
    for (size_t a = 0; a < q; a++) {
        double *mean = l->mean + a * LAW_LANES;
        for (size_t i = 0; i < LAW_LANES; i++) mean[i] = l->of.centre[a];
        for (size_t j = 0; j < l->s->outer; j++)
            add_lanes(l, -l->of.response[a * l->s->outer + j],
                      p->feature + j * p->pitch + first, mean);
    }
    for (size_t b = 0; b < q; b++) {
        memset(l->passing, 0, LAW_LANES * sizeof *l->passing);
        for (size_t a = 0; a < q; a++)
            multiply_add(p->precision + packed_index(a, b) * p->pitch + first,
                         l->mean + a * LAW_LANES, l->passing);
        for (size_t j = 0; j < q; j++)
            add_lanes(l, -l->wide[b * q + j], l->passing, law_term(l, l->order->linear[j]));
    }
    for (size_t j = 0; j < q; j++)
        for (size_t k = 0; k <= j; k++)
            for (size_t a = 0; a < q; a++)
                for (size_t b = 0; b < q; b++)
                    add_lanes(l,
                              (j == k ? -0.5 : -1.0) * l->wide[a * q + j] * l->wide[b * q + k],
                              p->precision + packed_index(a, b) * p->pitch + first,
                              law_term(l, l->order->square[j][k]));
}

void law_gather(const law *l, const law_points *p, size_t first)
{
    gather_likelihood(l, p, first);
    gather_normal(l, p, first);
}

/* (1) summed over the axes up to this one, terms of `degree` at most being left to them; where its terms end. */
static const double *sum_axes(const law *l, size_t axis, size_t degree, const double *c,
                              const double *t, double *room, double *out)
{
    const kernels *k = l->m->k;
    if (axis == 0) {
        k->hermite_sums(LAW_LANES, degree + 1, c, t, out);
        return c + (degree + 1) * LAW_LANES;
    }
    double *further = room + (HERMITES_DEGREE + 1) * LAW_LANES;
    for (size_t p = 0; p <= degree; p++)
        c = sum_axes(l, axis - 1, degree - p, c, t, further, room + p * LAW_LANES);
    k->hermite_sums(LAW_LANES, degree + 1, room, t + axis * LAW_LANES, out);
    return c;
}

void law_heights(const law *l, const double *t, double *out)
{
    sum_axes(l, l->s->h.axes - 1, l->s->h.degree, l->c, t, l->room, out);
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

static void differentiate(const law *l, size_t j, size_t k, const double *bases, double sign,
                          double *out)
{
    const hermites *h = &l->s->h;
    memset(out, 0, LAW_LANES * sizeof *out);
    for (size_t a = 1; a < h->terms; a++) {
        double by = differentiated(h, a, j, k, bases);
        if (by != 0.0) add_lanes(l, sign * by, law_term(l, l->order->at[a]), out);
    }
}

/* l->centre = the gradient at t0, l->curvature = H. */
static void bend_at(const law *l, const double *t0)
{
    size_t q = l->s->h.axes;
    double bases[HERMITES_MOST];
    hermites_at(&l->s->h, l->s->h.terms, 1, t0, bases);
    for (size_t j = 0; j < q; j++) {
        differentiate(l, j, NO_TERM, bases, 1.0, l->centre + j * LAW_LANES);
        for (size_t k = 0; k <= j; k++)
            differentiate(l, j, k, bases, -1.0, l->curvature + (j * q + k) * LAW_LANES);
    }
}

/* H = F F', in its place; l->fine: was it positive definite? */
static void factorize(const law *l)
{
    size_t q = l->s->h.axes;
    for (size_t j = 0; j < q; j++)
        for (size_t k = 0; k <= j; k++) {
            double *to = law_factor(l, j, k);
            for (size_t b = 0; b < k; b++)
                for (size_t i = 0; i < LAW_LANES; i++)
                    to[i] -= law_factor(l, j, b)[i] * law_factor(l, k, b)[i];
            if (j == k)
                for (size_t i = 0; i < LAW_LANES; i++) {
                    bool fine = to[i] > 0.0;
                    to[i] = fine ? sqrt(to[i]) : 1.0;
                    l->fine[i] = fine ? l->fine[i] : 0.0;
                }
            else
                for (size_t i = 0; i < LAW_LANES; i++) to[i] /= law_factor(l, k, k)[i];
        }
}

/* x <- F^-1 x */
static void solve_forward(const law *l, double *x)
{
    for (size_t j = 0; j < l->s->h.axes; j++) {
        double *to = x + j * LAW_LANES;
        for (size_t b = 0; b < j; b++)
            for (size_t i = 0; i < LAW_LANES; i++)
                to[i] -= law_factor(l, j, b)[i] * x[b * LAW_LANES + i];
        for (size_t i = 0; i < LAW_LANES; i++) to[i] /= law_factor(l, j, j)[i];
    }
}

void law_solve_back(const law *l, double *x)
{
    for (size_t j = l->s->h.axes; j-- > 0;) {
        double *to = x + j * LAW_LANES;
        for (size_t b = j + 1; b < l->s->h.axes; b++)
            for (size_t i = 0; i < LAW_LANES; i++)
                to[i] -= law_factor(l, b, j)[i] * x[b * LAW_LANES + i];
        for (size_t i = 0; i < LAW_LANES; i++) to[i] /= law_factor(l, j, j)[i];
    }
}

/* Laws that reach beyond the edge are none of the polynomial's. The variance along axis j is |F^-1 e_j|^2. */
static void keep_within_edge(const law *l, size_t j)
{
    size_t q = l->s->h.axes;
    const double *centre = l->centre + j * LAW_LANES;
    memset(l->z, 0, q * LAW_LANES * sizeof *l->z);
    for (size_t i = 0; i < LAW_LANES; i++) l->z[j * LAW_LANES + i] = 1.0;
    solve_forward(l, l->z);
    memset(l->passing, 0, LAW_LANES * sizeof *l->passing);
    for (size_t k = j; k < q; k++)
        multiply_add(l->z + k * LAW_LANES, l->z + k * LAW_LANES, l->passing);
    for (size_t i = 0; i < LAW_LANES; i++) {
        bool within = fabs(centre[i]) <= T_MOST &&
                      fabs(centre[i]) + SDS_LEAST * sqrt(l->passing[i]) <= l->s->edge;
        l->fine[i] = within ? l->fine[i] : 0.0;
    }
}

void law_step(const law *l, const double *t0, const double *near)
{
    memcpy(l->fine, near, LAW_LANES * sizeof *l->fine);
    bend_at(l, t0);
    factorize(l);
    solve_forward(l, l->centre);
    law_solve_back(l, l->centre);
    for (size_t j = 0; j < l->s->h.axes; j++)
        for (size_t i = 0; i < LAW_LANES; i++) l->centre[j * LAW_LANES + i] += t0[j];
    for (size_t j = 0; j < l->s->h.axes; j++) keep_within_edge(l, j);
}

size_t law_lay_out(law *l, const mixed *m, const sketches *s, double *base)
{
    size_t used = 0, q = m->shape.effects, points = 1;
    for (size_t a = 0; a < q; a++) points *= s->h.degree + 1;
    size_t sums = q * (HERMITES_DEGREE + 1) * LAW_LANES,
           room = sums > 2 * points ? sums : 2 * points;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&l->c, s->h.terms * LAW_LANES},
                 {&l->mean, q * LAW_LANES},
                 {&l->centre, q * LAW_LANES},
                 {&l->curvature, q * q * LAW_LANES},
                 {&l->fine, LAW_LANES},
                 {&l->z, q * LAW_LANES},
                 {&l->t, LAW_TRIES * q * LAW_LANES},
                 {&l->height, LAW_TRIES * LAW_LANES},
                 {&l->chosen, q * LAW_LANES},
                 {&l->ratio, LAW_TRIES * LAW_LANES},
                 {&l->uniform, LAW_LANES},
                 {&l->passing, LAW_LANES},
                 {&l->room, room}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    l->m = m;
    l->s = s;
    return used;
}

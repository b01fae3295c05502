#include "mixed/sketch.h"
#include "base/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_ENOUGH 0.03 /* sds: as where rows are asked */
#define STEPS_MOST  8
#define T_MOST      0.75 /* as far as a group's mode may move in t */

size_t sketch_outer(const mixed *m)
{
    return m->data->d + group_auxiliaries(m);
}

size_t sketch_coordinate(const mixed *m, size_t j)
{
    return j < m->data->d ? j : m->aux + (j - m->data->d);
}

sketch sketch_of(const sketches *s, size_t group)
{
    size_t q = s->h.axes;
    sketch k = {.fits = s->of + group * s->size};
    k.inverse = k.fits + 1;
    k.centre = k.inverse + q * q;
    k.response = k.centre + q;
    k.value = k.response + q * s->outer;
    k.slope = k.value + s->h.terms;
    k.bend = k.slope + s->slopes * s->outer;
    return k;
}

void sketches_destroy(sketches *s)
{
    if (!s) return;
    free(s->reference);
    free(s->reach);
    free(s->of);
    free(s);
}

/* ---- at one phi ---- */

void sketch_begin(group_view *v)
{
    const mixed *m = v->m;
    const sketches *s = m->by_rows ? NULL : m->sketches;
    v->p.near = s;
    if (!s) return;
    for (size_t j = 0; j < s->outer; j++)
        v->p.r[j] = v->p.w[sketch_coordinate(m, j)] - s->reference[j];
    sketch_square(v);
}

void sketch_square(group_view *v)
{
    const sketches *s = v->m->sketches;
    v->p.near = true;
    for (size_t j = 0; j < s->outer; j++) {
        if (!(fabs(v->p.r[j]) <= s->reach[j])) v->p.near = false;
        double *row = v->p.products + packed_size(j);
        for (size_t l = 0; l <= j; l++) row[l] = v->p.r[j] * v->p.r[l] * (l == j ? 0.5 : 1.0);
    }
}

/* (1) at this r: a polynomial in t alone. */
static void gather_terms(group_view *v, const sketch *k)
{
    const sketches *s = v->m->sketches;
    size_t packed = packed_size(s->outer);
    memcpy(v->terms, k->value, s->h.terms * sizeof *v->terms);
    for (size_t a = 0; a < s->slopes; a++)
        v->terms[a] += dot(s->outer, k->slope + a * s->outer, v->p.r);
    for (size_t a = 0; a < s->bends; a++)
        v->terms[a] += dot(packed, k->bend + a * packed, v->p.products);
    for (size_t i = 0; i < s->h.axes; i++)
        hermites_slope(&s->h, i, v->terms, v->slopes + i * s->h.terms);
}

/* t = turn v + shift, and v->mode is where t is 0. */
static void turn(group_view *v, const sketch *k)
{
    const sketches *s = v->m->sketches;
    size_t q = s->h.axes;
    double u[EFFECTS_A_LEVEL];
    for (size_t a = 0; a < q; a++) {
        const double *factor = v->p.at->factor[a];
        u[a] = k->centre[a] - dot(s->outer, k->response + a * s->outer, v->p.r);
        v->mode[a] = (u[a] - dot(a, factor, v->mode)) / factor[a];
    }
    for (size_t i = 0; i < q; i++) {
        const double *inverse = k->inverse + i * q;
        v->shift[i] = -dot(q, inverse, u);
        memset(v->turn[i], 0, sizeof v->turn[i]);
        for (size_t a = 0; a < q; a++)
            add_scaled(a + 1, inverse[a], v->p.at->factor[a], v->turn[i]);
    }
}

/* Coordinates t of places, axis after axis. */
static void turn_places(group_view *v, size_t points, const double *place)
{
    size_t q = v->m->shape.effects;
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < points; k++)
            v->t[i * points + k] = v->shift[i] + dot(q, v->turn[i], place + k * q);
}

/* ---- the mode ---- */

/* Second derivative of the polynomial by t_i and t_j, its terms being known at the point. */
static double bend_at(const group_view *v, size_t i, size_t j)
{
    const hermites *h = &v->m->sketches->h;
    const double *c = v->slopes + i * h->terms;
    double sum = 0.0;
    for (size_t a = 1; a < h->upto[h->degree - 1]; a++)
        if (h->lower[a][j] != NO_TERM)
            sum += (double)h->power[a][j] * c[a] * v->bases[h->lower[a][j]];
    return sum;
}

/* Gradient of the integrand's log by v, and minus its Hessian. */
static void look(group_view *v, double *gradient, double *curvature)
{
    const hermites *h = &v->m->sketches->h;
    size_t q = h->axes, below = h->upto[h->degree - 1];
    double slope[EFFECTS_A_LEVEL], bend[EFFECTS_A_LEVEL][EFFECTS_A_LEVEL];
    turn_places(v, 1, v->mode);
    hermites_at(h, below, 1, v->t, v->bases);
    for (size_t i = 0; i < q; i++) {
        slope[i] = dot(below, v->slopes + i * h->terms, v->bases);
        for (size_t j = 0; j <= i; j++) bend[i][j] = bend[j][i] = bend_at(v, i, j);
    }
    for (size_t a = 0; a < q; a++) {
        double turned[EFFECTS_A_LEVEL] = {0.0};
        gradient[a] = -v->mode[a];
        for (size_t i = 0; i < q; i++) {
            gradient[a] += v->turn[i][a] * slope[i];
            add_scaled(q, v->turn[i][a], bend[i], turned);
        }
        for (size_t b = 0; b <= a; b++) {
            double sum = a == b ? 1.0 : 0.0;
            for (size_t i = 0; i < q; i++) sum -= turned[i] * v->turn[i][b];
            curvature[a * q + b] = sum;
        }
    }
}

/* cholesky and cholesky_solve of base at once, without a call for every number: x <- a^-1 x. */
static bool solve(size_t q, double *a, double *x)
{
    for (size_t i = 0; i < q; i++) {
        for (size_t j = 0; j <= i; j++) {
            double rest = a[i * q + j] - dot(j, a + i * q, a + j * q);
            if (i == j && !(rest > 0.0)) return false;
            a[i * q + j] = i == j ? sqrt(rest) : rest / a[j * q + j];
        }
        x[i] = (x[i] - dot(i, a + i * q, x)) / a[i * q + i];
    }
    for (size_t i = q; i-- > 0;) {
        for (size_t j = i + 1; j < q; j++) x[i] -= a[j * q + i] * x[j];
        x[i] /= a[i * q + i];
    }
    return true;
}

static bool find_mode(group_view *v, double *curvature)
{
    size_t q = v->m->shape.effects;
    double size = INFINITY;
    for (int i = 0; i < STEPS_MOST && size > NEAR_ENOUGH * NEAR_ENOUGH; i++) {
        double gradient[EFFECTS_A_LEVEL], step[EFFECTS_A_LEVEL];
        look(v, gradient, curvature);
        memcpy(step, gradient, sizeof step);
        if (!solve(q, curvature, step)) return false;
        size = dot(q, step, gradient);
        for (size_t a = 0; a < q; a++) v->mode[a] += step[a];
    }
    for (size_t j = 0; j < q; j++)
        if (!(fabs(v->t[j]) <= T_MOST)) return false;
    return size <= NEAR_ENOUGH * NEAR_ENOUGH;
}

bool sketch_locate(group_view *v, size_t g, double *log_size)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    double curvature[EFFECTS_A_LEVEL * EFFECTS_A_LEVEL];
    v->sketched = false;
    if (!v->p.near) return false;
    const sketch k = sketch_of(m->sketches, g);
    if (*k.fits == 0.0) return false;
    gather_terms(v, &k);
    turn(v, &k);
    if (!find_mode(v, curvature)) return false;
    *log_size = group_widen(q, curvature, v->wide);
    v->group = g;
    return v->sketched = true;
}

/* ---- at nodes ---- */

static void leave_out_those_beyond(const group_view *v, size_t points, double *heights)
{
    const sketches *s = v->m->sketches;
    for (size_t i = 0; i < s->h.axes; i++)
        for (size_t k = 0; k < points; k++)
            if (!(fabs(v->t[i * points + k]) <= s->edge)) heights[k] = -INFINITY;
}

void sketch_heights(group_view *v, size_t points, const double *place, double *heights)
{
    const hermites *h = &v->m->sketches->h;
    turn_places(v, points, place);
    hermites_at(h, h->terms, points, v->t, v->bases);
    for (size_t a = 0; a < h->terms; a++)
        add_scaled(points, v->terms[a], v->bases + a * points, heights);
    leave_out_those_beyond(v, points, heights);
}

/* Averages of the first terms over nodes, as they count. */
static void average(const group_view *v, size_t terms, double *out)
{
    size_t points = v->m->points;
    for (size_t a = 0; a < terms; a++) out[a] = dot(points, v->share, v->bases + a * points);
}

/* By r, but for what goes by way of t. */
static void add_outer(group_view *v, const sketch *k, const double *mean)
{
    const sketches *s = v->m->sketches;
    size_t packed = packed_size(s->outer);
    for (size_t a = 0; a < s->slopes; a++)
        add_scaled(s->outer, mean[a], k->slope + a * s->outer, v->outer);
    for (size_t a = 0; a < s->bends; a++)
        for (size_t j = 0; j < s->outer; j++)
            for (size_t l = 0; l <= j; l++) {
                double bend = mean[a] * k->bend[a * packed + packed_size(j) + l];
                v->outer[j] += bend * v->p.r[l];
                if (l < j) v->outer[l] += bend * v->p.r[j];
            }
}

void sketch_pulls(group_view *v)
{
    const mixed *m = v->m;
    const sketches *s = m->sketches;
    const sketch k = sketch_of(s, v->group);
    size_t q = s->h.axes, points = m->points, below = s->h.upto[s->h.degree - 1];
    double mean[HERMITES_MOST], *slope = v->t; /* which is not needed any more */
    average(v, s->slopes, mean);
    memset(v->outer, 0, s->outer * sizeof *v->outer);
    add_outer(v, &k, mean);
    memset(v->pull, 0, points * q * sizeof *v->pull);
    for (size_t i = 0; i < q; i++) {
        memset(slope, 0, points * sizeof *slope);
        for (size_t a = 0; a < below; a++)
            add_scaled(points, v->slopes[i * s->h.terms + a], v->bases + a * points, slope);
        for (size_t n = 0; n < points; n++)
            add_scaled(q, slope[n], k.inverse + i * q, v->pull + n * q);
        for (size_t a = 0; a < q; a++)
            add_scaled(s->outer, k.inverse[i * q + a] * dot(points, v->share, slope),
                       k.response + a * s->outer, v->outer);
    }
}

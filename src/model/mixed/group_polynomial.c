/* The functions of group_view.h for a group that is represented by its polynomial, (1) of
 * group_polynomial.h: mode, heights at nodes, and gradients. */
#include "model/mixed/group_polynomial.h"
#include "linalg/dense_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_ENOUGH 0.03 /* in sds, as in group_view.c */
#define STEPS_MAX   8
#define T_MAX       0.75 /* largest |t| of a mode */

size_t polynomial_outer(const mixed *m)
{
    return m->data->d + group_auxiliaries(m);
}

size_t polynomial_coordinate(const mixed *m, size_t j)
{
    return j < m->data->d ? j : m->aux + (j - m->data->d);
}

/* Numbers of a group are stored in this order. */
group_polynomial polynomial_of(const group_polynomials *s, size_t group)
{
    size_t q = s->h.axes;
    group_polynomial k = {.fits = s->of + group * s->size};
    k.inverse = k.fits + 1;
    k.centre = k.inverse + q * q;
    k.response = k.centre + q;
    k.value = k.response + q * s->outer;
    k.slope = k.value + s->h.terms;
    k.curvature = k.slope + s->slopes * s->outer;
    return k;
}

void polynomials_destroy(group_polynomials *s)
{
    if (!s) return;
    free(s->reference);
    free(s->reach);
    free(s->of);
    free(s);
}

/* ---- at one phi ---- */

void polynomial_begin(group_view *v)
{
    const mixed *m = v->m;
    const group_polynomials *s = m->by_rows ? NULL : m->polynomials;
    v->p.near = s;
    if (!s) return;
    for (size_t j = 0; j < s->outer; j++) {
        double *row = v->p.products + packed_size(j);
        v->p.r[j] = v->p.w[polynomial_coordinate(m, j)] - s->reference[j];
        if (!(fabs(v->p.r[j]) <= s->reach[j])) v->p.near = false;
        for (size_t l = 0; l <= j; l++) row[l] = v->p.r[j] * v->p.r[l] * (l == j ? 0.5 : 1.0);
    }
}

/* Sets v->terms to the coefficients of (1) in t at this r, and v->slopes to those of its
 * derivatives. */
static void gather_terms(group_view *v, const group_polynomial *k)
{
    const group_polynomials *s = v->m->polynomials;
    size_t packed = packed_size(s->outer);
    memcpy(v->terms, k->value, s->h.terms * sizeof *v->terms);
    for (size_t a = 0; a < s->slopes; a++)
        v->terms[a] += dot(s->outer, k->slope + a * s->outer, v->p.r);
    for (size_t a = 0; a < s->curvatures; a++)
        v->terms[a] += dot(packed, k->curvature + a * packed, v->p.products);
    for (size_t i = 0; i < s->h.axes; i++)
        hermites_slope(&s->h, i, v->terms, v->slopes + i * s->h.terms);
}

/* Sets the map t = map v + shift; v->mode = where t is 0. */
static void set_map(group_view *v, const group_polynomial *k)
{
    const group_polynomials *s = v->m->polynomials;
    size_t q = s->h.axes;
    double u[LEVEL_EFFECTS_MAX];
    for (size_t a = 0; a < q; a++) {
        const double *factor = v->p.at->factor[a];
        u[a] = k->centre[a] - dot(s->outer, k->response + a * s->outer, v->p.r);
        v->mode[a] = (u[a] - dot(a, factor, v->mode)) / factor[a];
    }
    for (size_t i = 0; i < q; i++) {
        const double *inverse = k->inverse + i * q;
        v->shift[i] = -dot(q, inverse, u);
        memset(v->map[i], 0, sizeof v->map[i]);
        for (size_t a = 0; a < q; a++)
            add_scaled(a + 1, inverse[a], v->p.at->factor[a], v->map[i]);
    }
}

/* v->t = coordinates t of places, axis after axis. */
static void map_places(group_view *v, size_t points, const double *place)
{
    size_t q = v->m->shape.effects;
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < points; k++)
            v->t[i * points + k] = v->shift[i] + dot(q, v->map[i], place + k * q);
}

/* ---- the mode ---- */

/* The second derivative of the polynomial by t_i and t_j, whose terms at the point are in
 * v->bases. */
static double second_derivative(const group_view *v, size_t i, size_t j)
{
    const hermites *h = &v->m->polynomials->h;
    const double *c = v->slopes + i * h->terms;
    double sum = 0.0;
    for (size_t a = 1; a < h->upto[h->degree - 1]; a++)
        if (h->lower[a][j] != NO_TERM)
            sum += (double)h->power[a][j] * c[a] * v->bases[h->lower[a][j]];
    return sum;
}

/* The gradient of the log integrand by v at v->mode, and minus its Hessian. */
static void evaluate_derivatives(group_view *v, double *gradient, double *curvature)
{
    const hermites *h = &v->m->polynomials->h;
    size_t q = h->axes, below = h->upto[h->degree - 1];
    double slope[LEVEL_EFFECTS_MAX], second[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX];
    map_places(v, 1, v->mode);
    hermites_at(h, below, 1, v->t, v->bases);
    for (size_t i = 0; i < q; i++) {
        slope[i] = dot(below, v->slopes + i * h->terms, v->bases);
        for (size_t j = 0; j <= i; j++)
            second[i][j] = second[j][i] = second_derivative(v, i, j);
    }
    for (size_t a = 0; a < q; a++) {
        double turned[LEVEL_EFFECTS_MAX] = {0.0};
        gradient[a] = -v->mode[a];
        for (size_t i = 0; i < q; i++) {
            gradient[a] += v->map[i][a] * slope[i];
            add_scaled(q, v->map[i][a], second[i], turned);
        }
        for (size_t b = 0; b <= a; b++) {
            double sum = a == b ? 1.0 : 0.0;
            for (size_t i = 0; i < q; i++) sum -= turned[i] * v->map[i][b];
            curvature[a * q + b] = sum;
        }
    }
}

/* x <- a^-1 x, with a overwritten by its Cholesky factor; false: not positive definite. As
 * cholesky and cholesky_solve of linalg, without their calls for every number. */
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

/* Newton's method for v->mode; curvature becomes its Cholesky factor. False: it does not
 * converge within reach. */
static bool find_mode(group_view *v, double *curvature)
{
    size_t q = v->m->shape.effects;
    double size = INFINITY;
    for (int i = 0; i < STEPS_MAX && size > NEAR_ENOUGH * NEAR_ENOUGH; i++) {
        double gradient[LEVEL_EFFECTS_MAX], step[LEVEL_EFFECTS_MAX];
        evaluate_derivatives(v, gradient, curvature);
        memcpy(step, gradient, sizeof step);
        if (!solve(q, curvature, step)) return false;
        size = dot(q, step, gradient);
        for (size_t a = 0; a < q; a++) v->mode[a] += step[a];
    }
    for (size_t j = 0; j < q; j++)
        if (!(fabs(v->t[j]) <= T_MAX)) return false;
    return size <= NEAR_ENOUGH * NEAR_ENOUGH;
}

bool polynomial_locate(group_view *v, size_t g, double *log_size)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    double curvature[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    v->by_polynomial = false;
    if (!v->p.near) return false;
    const group_polynomial k = polynomial_of(m->polynomials, g);
    if (*k.fits == 0.0) return false;
    gather_terms(v, &k);
    set_map(v, &k);
    if (!find_mode(v, curvature)) return false;
    *log_size = group_widen(q, curvature, v->root);
    v->group = g;
    return v->by_polynomial = true;
}

/* ---- at nodes ---- */

void polynomial_heights(group_view *v, size_t points, const double *place, double *heights)
{
    const hermites *h = &v->m->polynomials->h;
    map_places(v, points, place);
    hermites_at(h, h->terms, points, v->t, v->bases);
    for (size_t a = 0; a < h->terms; a++)
        add_scaled(points, v->terms[a], v->bases + a * points, heights);
    /* the polynomial is not defined beyond its edge: the density there is taken as 0 */
    for (size_t i = 0; i < h->axes; i++)
        for (size_t k = 0; k < points; k++)
            if (!(fabs(v->t[i * points + k]) <= v->m->polynomials->edge))
                heights[k] = -INFINITY;
}

/* Adds the gradient by r, without its part through t. */
static void add_outer_gradient(group_view *v, const group_polynomial *k, const double *mean)
{
    const group_polynomials *s = v->m->polynomials;
    size_t packed = packed_size(s->outer);
    for (size_t a = 0; a < s->slopes; a++)
        add_scaled(s->outer, mean[a], k->slope + a * s->outer, v->outer);
    for (size_t a = 0; a < s->curvatures; a++)
        for (size_t j = 0; j < s->outer; j++)
            for (size_t l = 0; l <= j; l++) {
                double second = mean[a] * k->curvature[a * packed + packed_size(j) + l];
                v->outer[j] += second * v->p.r[l];
                if (l < j) v->outer[l] += second * v->p.r[j];
            }
}

void polynomial_pulls(group_view *v)
{
    const mixed *m = v->m;
    const group_polynomials *s = m->polynomials;
    const group_polynomial k = polynomial_of(s, v->group);
    size_t q = s->h.axes, points = m->points, below = s->h.upto[s->h.degree - 1];
    double mean[HERMITES_MAX], *slope = v->t; /* which is no longer needed */
    for (size_t a = 0; a < s->slopes; a++)
        mean[a] = dot(points, v->node_weight, v->bases + a * points);
    memset(v->outer, 0, s->outer * sizeof *v->outer);
    add_outer_gradient(v, &k, mean);
    memset(v->pull, 0, points * q * sizeof *v->pull);
    for (size_t i = 0; i < q; i++) {
        memset(slope, 0, points * sizeof *slope);
        for (size_t a = 0; a < below; a++)
            add_scaled(points, v->slopes[i * s->h.terms + a], v->bases + a * points, slope);
        for (size_t n = 0; n < points; n++)
            add_scaled(q, slope[n], k.inverse + i * q, v->pull + n * q);
        for (size_t a = 0; a < q; a++)
            add_scaled(s->outer, k.inverse[i * q + a] * dot(points, v->node_weight, slope),
                       k.response + a * s->outer, v->outer);
    }
}

/* Conditional distributions of a group's effects at many points: the coefficients of (1) of
 * conditional.h, proposals from a normal density at its mode, Metropolis steps through them,
 * and the choice of the proposals' position, width and number. */
#include "model/mixed/conditional.h"
#include "core/memory.h"
#include "core/status.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T_MAX           1.0  /* largest |t| of a mode: distance from the reference */
#define NEGLIGIBLE_TERM 1e-6 /* a term below this many log units is left out */
#define SDS_MIN         3.5  /* sds from the mode to the polynomial's edge, at least */

/* The lanes of the term with this index. */
static inline double *term_at(const conditional *l, size_t index)
{
    return l->c + index * POINT_LANES;
}

/* The lanes of entry (j, k) of F. */
static inline double *factor_at(const conditional *l, size_t j, size_t k)
{
    return l->curvature + (j * l->s->h.axes + k) * POINT_LANES;
}

/* ---- points ---- */

/* Sets the features, S^-1 and `near` of the i-th point, at which v was begun. */
static void set_point(const group_view *v, const group_polynomials *s, size_t i,
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
        set_point(&v, s, i, out);
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

/* The term t_j, or with two powers t_j t_k. */
static size_t find_term(const hermites *h, size_t j, size_t k, size_t powers)
{
    size_t power[LEVEL_EFFECTS_MAX] = {0}, a = 0;
    power[j]++;
    if (powers > 1) power[k]++;
    while (memcmp(h->power[a], power, h->axes * sizeof *power)) a++;
    return a;
}

/* Does term a come before b, where the first axis runs fastest? Powers of the last axis are
 * compared first. */
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
        out->linear[j] = out->at[find_term(h, j, j, 1)];
        for (size_t k = 0; k < h->axes; k++) out->square[j][k] = out->at[find_term(h, j, k, 2)];
    }
}

/* y += a x */
static void add_lanes(const conditional *l, double a, const double *x, double *y)
{
    l->m->k->axpy(POINT_LANES, a, x, y);
}

/* out += x y */
static void multiply_add(const double *x, const double *y, double *out)
{
    for (size_t i = 0; i < POINT_LANES; i++) out[i] += x[i] * y[i];
}

/* to += sum_f by[f] feature_(from + f); features that are negligible at all points are left
 * out. */
static void add_features(const conditional *l, const conditional_points *p, size_t first,
                         size_t from, size_t count, const double *by, double *to)
{
    for (size_t f = 0; f < count; f++)
        if (!(fabs(by[f]) * p->largest[from + f] <= NEGLIGIBLE_TERM))
            add_lanes(l, by[f], p->feature + (from + f) * p->pitch + first, to);
}

/* Sets the coefficients c of (1) to those of the polynomial at the points from `first` on. */
static void gather_likelihood(const conditional *l, const conditional_points *p, size_t first)
{
    const group_polynomials *s = l->s;
    size_t packed = packed_size(s->outer);
    for (size_t a = 0; a < s->h.terms; a++) {
        double *to = term_at(l, l->order->at[a]);
        for (size_t i = 0; i < POINT_LANES; i++) to[i] = l->of.value[a];
        if (a < s->slopes)
            add_features(l, p, first, 0, s->outer, l->of.slope + a * s->outer, to);
        if (a < s->curvatures)
            add_features(l, p, first, s->outer, packed, l->of.curvature + a * packed, to);
    }
}

/* Adds -(u' S^-1 u)/2 with u = mean + W t, without its constant: -t'W'S^-1 mean -
 * t'(W'S^-1 W)t/2, where t_j^2 = He_2(t_j) + 1. */
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
            add_lanes(l, -l->scale[b * q + j], l->passing, term_at(l, l->order->linear[j]));
    }
    for (size_t j = 0; j < q; j++)
        for (size_t k = 0; k <= j; k++)
            for (size_t a = 0; a < q; a++)
                for (size_t b = 0; b < q; b++)
                    add_lanes(
                        l, (j == k ? -0.5 : -1.0) * l->scale[a * q + j] * l->scale[b * q + k],
                        p->precision + packed_index(a, b) * p->pitch + first,
                        term_at(l, l->order->square[j][k]));
}

/* Sets c and mean at POINT_LANES points from `first` on. */
static void gather(const conditional *l, const conditional_points *p, size_t first)
{
    gather_likelihood(l, p, first);
    gather_normal(l, p, first);
}

/* Sums (1) over the axes up to `axis`, with terms of at most `degree` in them. Returns the
 * first coefficient behind those used. */
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

/* ---- derivatives at t0 ---- */

/* The derivative of He_a along j, and along k unless that is NO_TERM, from the terms `bases` at
 * the point. */
static double differentiated(const hermites *h, size_t a, size_t j, size_t k,
                             const double *bases)
{
    double times = (double)h->power[a][j];
    size_t lower = h->lower[a][j];
    if (lower == NO_TERM || k == NO_TERM) return lower == NO_TERM ? 0.0 : times * bases[lower];
    times *= (double)h->power[lower][k];
    return h->lower[lower][k] == NO_TERM ? 0.0 : times * bases[h->lower[lower][k]];
}

/* out = sign times the derivative of (1) along j, and along k unless that is NO_TERM. */
static void differentiate(const conditional *l, size_t j, size_t k, const double *bases,
                          double sign, double *out)
{
    const hermites *h = &l->s->h;
    memset(out, 0, POINT_LANES * sizeof *out);
    for (size_t a = 1; a < h->terms; a++) {
        double by = differentiated(h, a, j, k, bases);
        if (by != 0.0) add_lanes(l, sign * by, term_at(l, l->order->at[a]), out);
    }
}

/* Sets l->centre to the gradient at t0, and l->curvature to H = minus the Hessian. */
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

/* Replaces H by its Cholesky factor F; l->fine = 0 where H is not positive definite. */
static void factorize(const conditional *l)
{
    size_t q = l->s->h.axes;
    for (size_t j = 0; j < q; j++)
        for (size_t k = 0; k <= j; k++) {
            double *to = factor_at(l, j, k);
            for (size_t b = 0; b < k; b++)
                for (size_t i = 0; i < POINT_LANES; i++)
                    to[i] -= factor_at(l, j, b)[i] * factor_at(l, k, b)[i];
            if (j == k)
                for (size_t i = 0; i < POINT_LANES; i++) {
                    bool fine = to[i] > 0.0;
                    to[i] = fine ? sqrt(to[i]) : 1.0;
                    l->fine[i] = fine ? l->fine[i] : 0.0;
                }
            else
                for (size_t i = 0; i < POINT_LANES; i++) to[i] /= factor_at(l, k, k)[i];
        }
}

/* x <- F^-1 x */
static void solve_forward(const conditional *l, double *x)
{
    for (size_t j = 0; j < l->s->h.axes; j++) {
        double *to = x + j * POINT_LANES;
        for (size_t b = 0; b < j; b++)
            for (size_t i = 0; i < POINT_LANES; i++)
                to[i] -= factor_at(l, j, b)[i] * x[b * POINT_LANES + i];
        for (size_t i = 0; i < POINT_LANES; i++) to[i] /= factor_at(l, j, j)[i];
    }
}

/* x <- F'^-1 x */
static void solve_back(const conditional *l, double *x)
{
    for (size_t j = l->s->h.axes; j-- > 0;) {
        double *to = x + j * POINT_LANES;
        for (size_t b = j + 1; b < l->s->h.axes; b++)
            for (size_t i = 0; i < POINT_LANES; i++)
                to[i] -= factor_at(l, b, j)[i] * x[b * POINT_LANES + i];
        for (size_t i = 0; i < POINT_LANES; i++) to[i] /= factor_at(l, j, j)[i];
    }
}

/* l->fine = 0 where the distribution reaches beyond the polynomial's edge. The variance along
 * axis j is |F^-1 e_j|^2. */
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

/* One Newton step from t0: sets centre, near the modes, curvature to F, and fine. */
static void newton_step(const conditional *l, const double *t0, const double *near)
{
    memcpy(l->fine, near, POINT_LANES * sizeof *l->fine);
    differentiate_at(l, t0);
    factorize(l);
    solve_forward(l, l->centre);
    solve_back(l, l->centre);
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

/* ---- draws ---- */

/* Draws t = centre + skew + stretch F'^-1 z, and sets l->ratio to |z|^2/2. */
static void draw_proposal(conditional *l, size_t n, size_t try, rng *r)
{
    size_t q = l->s->h.axes;
    double *z = l->z, *t = l->t + try * q * POINT_LANES, *ratio = l->ratio + try * POINT_LANES;
    memset(ratio, 0, POINT_LANES * sizeof *ratio);
    for (size_t j = 0; j < q; j++) {
        double *one = z + j * POINT_LANES;
        rng_normals(r, n, one);
        for (size_t i = 0; i < n; i++) ratio[i] += 0.5 * one[i] * one[i];
    }
    solve_back(l, z);
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < POINT_LANES; i++)
            t[j * POINT_LANES + i] = l->centre[j * POINT_LANES + i] + l->skew[j] +
                                     l->stretch * z[j * POINT_LANES + i];
}

void conditional_propose(conditional *l, const conditional_points *p, size_t first, size_t n,
                         rng *r)
{
    size_t q = l->s->h.axes;
    gather(l, p, first);
    newton_step(l, l->t0, p->near + first);
    for (size_t try = 0; try < l->tries; try++) {
        const double *t = l->t + try * q * POINT_LANES;
        double *height = l->height + try * POINT_LANES, *ratio = l->ratio + try * POINT_LANES;
        draw_proposal(l, n, try, r);
        sum_axes(l, q - 1, l->s->h.degree, l->c, t, l->scratch, height);
        /* the polynomial is not defined beyond its edge: the density there is taken as 0 */
        for (size_t j = 0; j < q; j++)
            for (size_t i = 0; i < POINT_LANES; i++)
                if (!(fabs(t[j * POINT_LANES + i]) <= l->s->edge)) height[i] = -INFINITY;
        for (size_t i = 0; i < POINT_LANES; i++) ratio[i] += height[i];
    }
}

/* Replaces the draws t by u = mean + W t. */
static void transform_draw(conditional *l)
{
    size_t q = l->s->h.axes;
    memcpy(l->z, l->draw, q * POINT_LANES * sizeof *l->z);
    memcpy(l->draw, l->mean, q * POINT_LANES * sizeof *l->draw);
    for (size_t a = 0; a < q; a++)
        for (size_t j = 0; j < q; j++)
            l->m->k->axpy(POINT_LANES, l->scale[a * q + j], l->z + j * POINT_LANES,
                          l->draw + a * POINT_LANES);
}

void conditional_walk(conditional *l, size_t n, rng *r)
{
    size_t q = l->s->h.axes;
    double *at = l->ratio;
    memcpy(l->draw, l->t, q * POINT_LANES * sizeof *l->draw);
    for (size_t try = 1; try < l->tries; try++) {
        const double *next = l->ratio + try * POINT_LANES, *t = l->t + try * q * POINT_LANES;
        for (size_t i = 0; i < POINT_LANES; i++) l->passing[i] = next[i] - at[i];
        l->m->k->exp(POINT_LANES, l->passing, l->passing);
        rng_uniforms(r, n, l->uniform);
        for (size_t i = 0; i < n; i++) {
            if (!(l->uniform[i] < l->passing[i])) continue;
            at[i] = next[i];
            for (size_t j = 0; j < q; j++)
                l->draw[j * POINT_LANES + i] = t[j * POINT_LANES + i];
        }
    }
    transform_draw(l);
}

void conditional_effects(const conditional *l, size_t try, size_t lane, double *u)
{
    size_t q = l->s->h.axes;
    for (size_t a = 0; a < q; a++) {
        u[a] = l->mean[a * POINT_LANES + lane];
        for (size_t j = 0; j < q; j++)
            u[a] += l->scale[a * q + j] * l->t[(try * q + j) * POINT_LANES + lane];
    }
}

/* ---- tuning ---- */

#define NEAR_ENOUGH 1e-3 /* accuracy of a mode, in t */
#define STEPS_MAX   20
#define WIDER       1.07 /* sds of proposals, relative to those of (1) */
#define DEFICIT     1e-3 /* probability mass that the walk may fail to reach */

/* Inverts W^-1 by Gauss-Jordan elimination with pivoting; W is small and well scaled. False: it
 * is singular. */
static bool invert(size_t q, const double *from, double *out)
{
    double a[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    memcpy(a, from, q * q * sizeof *a);
    for (size_t i = 0; i < q * q; i++) out[i] = i % (q + 1) == 0 ? 1.0 : 0.0;
    for (size_t j = 0; j < q; j++) {
        size_t top = j;
        for (size_t i = j + 1; i < q; i++)
            if (fabs(a[i * q + j]) > fabs(a[top * q + j])) top = i;
        if (!(fabs(a[top * q + j]) > 0.0)) return false;
        for (size_t k = 0; k < q; k++) {
            double kept = a[j * q + k], other = out[j * q + k];
            a[j * q + k] = a[top * q + k];
            a[top * q + k] = kept;
            out[j * q + k] = out[top * q + k];
            out[top * q + k] = other;
        }
        double pivot = 1.0 / a[j * q + j];
        for (size_t k = 0; k < q; k++) a[j * q + k] *= pivot, out[j * q + k] *= pivot;
        for (size_t i = 0; i < q; i++) {
            double by = i == j ? 0.0 : a[i * q + j];
            add_scaled(q, -by, a + j * q, a + i * q);
            add_scaled(q, -by, out + j * q, out + i * q);
        }
    }
    return true;
}

/* Sets t0 to the mode of (1) at home; l->curvature is F there. False: there is none within
 * reach. */
static bool find_home(conditional *l, const conditional_points *home)
{
    size_t q = l->s->h.axes;
    memset(l->t0, 0, sizeof l->t0);
    gather(l, home, 0);
    for (int step = 0; step < STEPS_MAX; step++) {
        double moved = 0.0;
        newton_step(l, l->t0, home->near);
        if (l->fine[0] == 0.0) return false;
        for (size_t j = 0; j < q; j++) {
            moved = fmax(moved, fabs(l->centre[j * POINT_LANES] - l->t0[j]));
            l->t0[j] = l->centre[j * POINT_LANES];
        }
        if (moved <= NEAR_ENOUGH) return true;
    }
    return false;
}

/* |F'(t - from)|^2 */
static double distance(const conditional *l, const double *t, const double *from)
{
    size_t q = l->s->h.axes;
    double square = 0.0;
    for (size_t k = 0; k < q; k++) {
        double x = 0.0;
        for (size_t j = k; j < q; j++) x += factor_at(l, j, k)[0] * (t[j] - from[j]);
        square += x * x;
    }
    return square;
}

/* The normalised weights of the grid's points under (1) at home. */
static void find_grid_mass(const conditional *l, const polynomial_grid *grid, double *mass)
{
    const hermites *h = &l->s->h;
    for (size_t k = 0; k < grid->points; k++) {
        const double *t = grid->node + k * h->axes;
        mass[k] = log(grid->weight[k]) + 0.5 * dot(h->axes, t, t);
        for (size_t a = 0; a < h->terms; a++)
            mass[k] += term_at(l, l->order->at[a])[0] * grid->bases[a * grid->points + k];
    }
    normalise_log_weights(grid->points, mass);
}

/* The number of proposals that reach all but DEFICIT of the mass; 0: none is enough. Where (1)
 * is w times as dense as the proposals, the walk moves on with probability 1/w at least. */
static size_t tries_enough(size_t points, const double *mass, const double *log_dense)
{
    static const size_t ladder[] = {3, 4, 6, PROPOSALS_MAX};
    for (size_t i = 0; i < sizeof ladder / sizeof *ladder; i++) {
        double left = 0.0;
        for (size_t k = 0; k < points; k++)
            if (log_dense[k] > 0.0)
                left += mass[k] * pow(-expm1(-log_dense[k]), (double)ladder[i]);
        if (left <= DEFICIT) return ladder[i];
    }
    return 0;
}

/* Shifts and widens the proposals to the mean and the sds of (1) at home. */
static void match_moments(conditional *l, const polynomial_grid *grid, const double *mass)
{
    size_t q = l->s->h.axes;
    double mean[LEVEL_EFFECTS_MAX] = {0.0}, square = 0.0;
    for (size_t k = 0; k < grid->points; k++) add_scaled(q, mass[k], grid->node + k * q, mean);
    for (size_t k = 0; k < grid->points; k++)
        square += mass[k] * distance(l, grid->node + k * q, mean);
    for (size_t j = 0; j < q; j++) l->skew[j] = mean[j] - l->t0[j];
    l->stretch = WIDER * fmax(1.0, sqrt(square / (double)q));
}

/* out = log of the density (1) at home over that of the proposals, at the grid's points. */
static void compare(const conditional *l, const polynomial_grid *grid, const double *mass,
                    double *out)
{
    size_t q = l->s->h.axes;
    double centre[LEVEL_EFFECTS_MAX], log_size = -(double)q * log(l->stretch);
    for (size_t j = 0; j < q; j++) {
        centre[j] = l->t0[j] + l->skew[j];
        log_size += log(factor_at(l, j, j)[0]);
    }
    for (size_t k = 0; k < grid->points; k++) {
        const double *t = grid->node + k * q;
        double apart = distance(l, t, centre) / (l->stretch * l->stretch);
        out[k] = log(mass[k] / grid->weight[k]) - 0.5 * dot(q, t, t) - log_size + 0.5 * apart;
    }
}

bool conditional_tune(conditional *l, const polynomial_grid *grid,
                      const conditional_points *home)
{
    double *mass = l->scratch, *dense = mass + grid->points;
    if (!invert(l->s->h.axes, l->of.inverse, l->scale) || !find_home(l, home)) return false;
    find_grid_mass(l, grid, mass);
    match_moments(l, grid, mass);
    compare(l, grid, mass, dense);
    l->tries = tries_enough(grid->points, mass, dense);
    return l->tries > 0;
}

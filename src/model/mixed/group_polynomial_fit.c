/* Fits the polynomials of groups: (1) of group_polynomial.h. With l's derivatives projected on
 * a term,
 *
 *   S = l_r - K'l_u,   Q = l_rr - l_ru K - K'l_ur + K'l_uu K.                             (1)
 *
 * The rows of a group are summed block by block: first over the points of the grid, row by row,
 * and only then combined with the rows' columns. */
#include "model/mixed/group_polynomial_fit.h"
#include "core/memory.h"
#include "core/status.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "linalg/special_functions.h"
#include "table/row_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MISFIT          0.02 /* root mean square error, in log units */
#define MEMORY_FRACTION 0.5  /* memory, relative to that of the rows */
#define REACH           8.0  /* range of r, in posterior sds */
/* Of a usual run: nodes per effect, passes over all groups, and evaluations of single groups. */
#define USUAL_NODES       3.0
#define SETUP_PASSES      6.0
#define USUAL_EVALUATIONS 6e4
/* Cost of a row at a point when polynomials are fitted, and of a term of a polynomial at a
 * point. */
#define FIT_WORK  1.5
#define TERM_WORK 2.0

/* Degrees of P by effects of a level; S has 2 less, Q 4 less. */
static const size_t degrees[LEVEL_EFFECTS_MAX + 1] = {0, 8, 6, 5, 4, 4};

/* ---- sums over rows ---- */

/* rows of a block, for which points are evaluated one after another */
#define BLOCK ((size_t)256)

/* The length of r in the sums. */
static size_t polynomial_width(const mixed *m)
{
    return m->data->stride + group_auxiliaries(m);
}

size_t polynomial_carve_sums(const polynomial_grid *grid, double *base, polynomial_sums *r)
{
    const mixed *m = grid->m;
    const group_polynomials *s = grid->s;
    size_t used = 0, a = group_auxiliaries(m), q = m->shape.effects, all = polynomial_width(m);
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&r->height, grid->points},
                 {&r->place, grid->points * q},
                 {&r->slope_z, s->slopes * q},
                 {&r->slope_r, s->slopes * all},
                 {&r->zz, s->curvatures * q * q},
                 {&r->zr, s->curvatures * q * all},
                 {&r->rr, s->curvatures * all * all},
                 {&r->eta, BLOCK},
                 {&r->value, BLOCK},
                 {&r->g, BLOCK},
                 {&r->c, BLOCK},
                 {&r->g_aux, a * BLOCK},
                 {&r->c_aux, a * BLOCK},
                 {&r->aux_aux, packed_size(a) * BLOCK},
                 {&r->g_by, s->slopes * BLOCK},
                 {&r->c_by, s->curvatures * BLOCK},
                 {&r->ca_by, s->curvatures * a * BLOCK},
                 {&r->weigh, BLOCK},
                 {&r->padded, m->data->stride}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    return used;
}

/* The index in the sums of the j-th number of r. */
static size_t polynomial_column(const mixed *m, size_t j)
{
    size_t d = m->data->d;
    return j < d ? j : m->data->stride + (j - d);
}

/* ---- rows ---- */

/* Evaluates n rows from `first` on at one point of the grid. */
static void evaluate_point(const polynomial_grid *grid, const group_view *v, polynomial_sums *r,
                           size_t first, size_t n, size_t point)
{
    const mixed *m = grid->m;
    size_t q = m->shape.effects, count = group_auxiliaries(m);
    const predictor *p = m->row_model->predictor;
    memcpy(r->eta, v->base + first, n * sizeof *r->eta);
    for (size_t a = 0; a < q; a++)
        add_scaled(n, r->place[point * q + a], v->along + a * v->n + first, r->eta);
    const batch b = {.k = m->k,
                     .n = n,
                     .eta = r->eta,
                     .y = m->data->y + v->first + first,
                     .aux = v->p.aux,
                     .pitch = BLOCK};
    p->loglik(&b, r->value);
    p->gradient(&b, r->g, count ? r->g_aux : NULL);
    p->curvature(&b, r->c, count ? r->c_aux : NULL, count ? r->aux_aux : NULL);
}

static void weigh(const group_view *v, size_t first, size_t n, double *values)
{
    group_weigh(v, first, n, 1, values);
}

/* Multiplies all outputs by the rows' weights. */
static void weigh_all(const mixed *m, const group_view *v, polynomial_sums *r, size_t first,
                      size_t n)
{
    size_t count = group_auxiliaries(m);
    if (!m->data->weight) return;
    weigh(v, first, n, r->value);
    weigh(v, first, n, r->g);
    weigh(v, first, n, r->c);
    for (size_t b = 0; b < count; b++) weigh(v, first, n, r->g_aux + b * BLOCK);
    for (size_t b = 0; b < count; b++) weigh(v, first, n, r->c_aux + b * BLOCK);
    for (size_t b = 0; b < packed_size(count); b++) weigh(v, first, n, r->aux_aux + b * BLOCK);
}

/* Adds the sums for auxiliaries, which have no columns. */
static void add_auxiliaries(const polynomial_grid *grid, polynomial_sums *r, size_t n,
                            size_t point)
{
    const mixed *m = grid->m;
    size_t count = group_auxiliaries(m), all = polynomial_width(m), stride = m->data->stride;
    for (size_t b = 0; b < count; b++) {
        double slope = sum(n, r->g_aux + b * BLOCK);
        for (size_t a = 0; a < grid->s->slopes; a++)
            r->slope_r[a * all + stride + b] += grid->project[a * grid->points + point] * slope;
        for (size_t c = 0; c <= b; c++) {
            double second = sum(n, r->aux_aux + packed_index(b, c) * BLOCK);
            for (size_t a = 0; a < grid->s->curvatures; a++)
                r->rr[(a * all + stride + b) * all + stride + c] +=
                    grid->project[a * grid->points + point] * second;
        }
    }
}

/* Adds one point to the projections. */
static void add_point(const polynomial_grid *grid, polynomial_sums *r, size_t n, size_t point)
{
    const group_polynomials *s = grid->s;
    const kernels *k = grid->m->k;
    size_t count = group_auxiliaries(grid->m);
    const double *project = grid->project + point;
    r->height[point] += sum(n, r->value);
    for (size_t a = 0; a < s->slopes; a++)
        k->axpy(n, project[a * grid->points], r->g, r->g_by + a * BLOCK);
    for (size_t a = 0; a < s->curvatures; a++) {
        k->axpy(n, project[a * grid->points], r->c, r->c_by + a * BLOCK);
        for (size_t b = 0; b < count; b++)
            k->axpy(n, project[a * grid->points], r->c_aux + b * BLOCK,
                    r->ca_by + (a * count + b) * BLOCK);
    }
    add_auxiliaries(grid, r, n, point);
}

/* ---- their columns ---- */

/* out += sum_i c_i x_i x_i', lower triangle */
static void add_outer_products(const mixed *m, polynomial_sums *r, row_range range,
                               const double *c, size_t pitch, double *out)
{
    const rows *data = m->data;
    if (data->storage.kind->outer &&
        data->storage.kind->outer(data, m->k, range.first, range.n, c, pitch, out))
        return;
    for (size_t i = 0; i < range.n; i++) {
        data->storage.kind->decode(data, range.first + i, r->padded);
        for (size_t a = 0; a < data->d; a++)
            add_scaled(a + 1, c[i] * r->padded[a], r->padded, out + a * pitch);
    }
}

/* Adds second derivatives by z, x and auxiliaries, projected on one term. */
static void add_term_curvatures(const polynomial_grid *grid, const group_view *v,
                                polynomial_sums *r, size_t first, size_t n, size_t term)
{
    const mixed *m = grid->m;
    size_t q = m->shape.effects, count = group_auxiliaries(m), all = polynomial_width(m);
    const row_range range = rows_from(v->first + first, n);
    const double *c = r->c_by + term * BLOCK, *ca = r->ca_by + term * count * BLOCK;
    double *rr = r->rr + term * all * all;
    add_outer_products(m, r, range, c, all, rr);
    for (size_t b = 0; b < count; b++)
        rows_combine(m->data, m->k, range, ca + b * BLOCK, rr + (m->data->stride + b) * all);
    for (size_t a = 0; a < q; a++) {
        const double *z = v->z + a * v->n + first;
        double *zr = r->zr + (term * q + a) * all;
        for (size_t i = 0; i < n; i++) r->weigh[i] = c[i] * z[i];
        rows_combine(m->data, m->k, range, r->weigh, zr);
        for (size_t b = 0; b < count; b++)
            zr[m->data->stride + b] += m->k->dot(n, ca + b * BLOCK, z);
        for (size_t b = 0; b < q; b++)
            r->zz[(term * q + a) * q + b] += m->k->dot(n, r->weigh, v->z + b * v->n + first);
    }
}

/* Adds n rows from `first` on to all sums. */
static void project_row_block(const polynomial_grid *grid, const group_view *v,
                              polynomial_sums *r, size_t first, size_t n)
{
    const mixed *m = grid->m;
    const group_polynomials *s = grid->s;
    size_t q = m->shape.effects, count = group_auxiliaries(m), all = polynomial_width(m);
    memset(r->g_by, 0, s->slopes * BLOCK * sizeof *r->g_by);
    memset(r->c_by, 0, s->curvatures * BLOCK * sizeof *r->c_by);
    memset(r->ca_by, 0, s->curvatures * count * BLOCK * sizeof *r->ca_by);
    for (size_t point = 0; point < grid->points; point++) {
        evaluate_point(grid, v, r, first, n, point);
        weigh_all(m, v, r, first, n);
        add_point(grid, r, n, point);
    }
    for (size_t a = 0; a < s->slopes; a++) {
        const double *g = r->g_by + a * BLOCK;
        rows_combine(m->data, m->k, rows_from(v->first + first, n), g, r->slope_r + a * all);
        for (size_t b = 0; b < q; b++)
            r->slope_z[a * q + b] += m->k->dot(n, g, v->z + b * v->n + first);
    }
    for (size_t a = 0; a < s->curvatures; a++) add_term_curvatures(grid, v, r, first, n, a);
}

/* Sums over all rows of the group, around its mode. */
static void sum_rows(const polynomial_grid *grid, const group_view *v, polynomial_sums *r)
{
    size_t q = grid->m->shape.effects;
    for (size_t k = 0; k < grid->points; k++)
        for (size_t a = 0; a < q; a++)
            r->place[k * q + a] = v->mode[a] + dot(q, v->root[a], grid->node + k * q);
    for (size_t first = 0; first < v->n; first += BLOCK)
        project_row_block(grid, v, r, first, v->n - first < BLOCK ? v->n - first : BLOCK);
}

/* ---- the fit of one group ---- */

/* Sets P. False: the misfit is too large. */
static bool fit_value(const polynomial_grid *grid, const polynomial_sums *r,
                      const group_polynomial *out)
{
    size_t terms = grid->s->h.terms, points = grid->points;
    double misfit = 0.0;
    for (size_t a = 0; a < terms; a++)
        out->value[a] = dot(points, grid->project + a * points, r->height);
    for (size_t k = 0; k < points; k++) {
        double off = r->height[k];
        for (size_t a = 0; a < terms; a++) off -= out->value[a] * grid->bases[a * points + k];
        misfit += grid->weight[k] * off * off;
    }
    return misfit <= grid->misfit * grid->misfit;
}

/* Sets K, effect after effect. False: the curvature is not positive definite. */
static bool fit_response(const polynomial_grid *grid, const polynomial_sums *r,
                         double *response)
{
    const mixed *m = grid->m;
    size_t q = m->shape.effects, width = polynomial_width(m), outer = grid->s->outer;
    double factor[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    for (size_t i = 0; i < q * q; i++) factor[i] = -r->zz[i];
    if (!cholesky(q, factor)) return false;
    for (size_t j = 0; j < outer; j++) {
        double x[LEVEL_EFFECTS_MAX];
        for (size_t a = 0; a < q; a++) x[a] = -r->zr[a * width + polynomial_column(m, j)];
        cholesky_solve(q, factor, x);
        for (size_t a = 0; a < q; a++) response[a * outer + j] = x[a];
    }
    return true;
}

/* Sets S. */
static void fit_slopes(const polynomial_grid *grid, const polynomial_sums *r,
                       const group_polynomial *out)
{
    const mixed *m = grid->m;
    size_t q = m->shape.effects, outer = grid->s->outer, width = polynomial_width(m);
    for (size_t a = 0; a < grid->s->slopes; a++) {
        double *slope = out->slope + a * outer;
        for (size_t j = 0; j < outer; j++)
            slope[j] = r->slope_r[a * width + polynomial_column(m, j)];
        for (size_t b = 0; b < q; b++)
            add_scaled(outer, -r->slope_z[a * q + b], out->response + b * outer, slope);
    }
}

/* Sets Q for one term; r->zr becomes l_ur - l_uu K/2. */
static void fit_curvature(const polynomial_grid *grid, polynomial_sums *r, size_t term,
                          const group_polynomial *out)
{
    const mixed *m = grid->m;
    size_t q = m->shape.effects, outer = grid->s->outer, width = polynomial_width(m);
    double *to = out->curvature + term * packed_size(outer), *zr = r->zr + term * q * width;
    for (size_t b = 0; b < q; b++)
        for (size_t j = 0; j < outer; j++)
            for (size_t c = 0; c < q; c++)
                zr[b * width + polynomial_column(m, j)] -=
                    0.5 * r->zz[(term * q + b) * q + c] * out->response[c * outer + j];
    for (size_t j = 0; j < outer; j++)
        for (size_t l = 0; l <= j; l++) {
            size_t row = polynomial_column(m, j), column = polynomial_column(m, l);
            double second = r->rr[(term * width + row) * width + column];
            for (size_t b = 0; b < q; b++)
                second -= out->response[b * outer + j] * zr[b * width + column] +
                          out->response[b * outer + l] * zr[b * width + row];
            to[packed_size(j) + l] = second;
        }
}

/* x <- W^-1 x, where W = L C with C upper triangular. */
static void unscale(const group_view *v, double *x)
{
    size_t q = v->m->shape.effects;
    for (size_t a = 0; a < q; a++)
        x[a] = (x[a] - dot(a, v->p.at->factor[a], x)) / v->p.at->factor[a][a];
    for (size_t a = q; a-- > 0;) {
        for (size_t b = a + 1; b < q; b++) x[a] -= v->root[a][b] * x[b];
        x[a] /= v->root[a][a];
    }
}

/* Sets W^-1 and c. */
static void fit_coordinates(const polynomial_grid *grid, const group_view *v,
                            const group_polynomial *out)
{
    size_t q = grid->m->shape.effects;
    for (size_t a = 0; a < q; a++) {
        double x[LEVEL_EFFECTS_MAX] = {0.0};
        x[a] = 1.0;
        unscale(v, x);
        for (size_t b = 0; b < q; b++) out->inverse[b * q + a] = x[b];
    }
    for (size_t a = 0; a < q; a++) out->centre[a] = dot(a + 1, v->p.at->factor[a], v->mode);
}

void polynomial_fit(const polynomial_grid *grid, group_view *v, size_t g,
                    const group_polynomial *out, double *scratch)
{
    polynomial_sums r;
    const group_polynomials *s = grid->s;
    size_t q = grid->m->shape.effects;
    group_locate(v, g);
    /* the normal density at the mode, widened: the scale of t */
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) v->root[a][b] *= POLYNOMIAL_STRETCH;
    memset(scratch, 0, polynomial_carve_sums(grid, scratch, &r) * sizeof *scratch);
    sum_rows(grid, v, &r);
    *out->fits = 0.0;
    if (!fit_value(grid, &r, out) || !fit_response(grid, &r, out->response)) return;
    fit_slopes(grid, &r, out);
    for (size_t a = 0; a < s->curvatures; a++) fit_curvature(grid, &r, a, out);
    fit_coordinates(grid, v, out);
    *out->fits = all_finite(s->size, out->fits) ? 1.0 : 0.0;
}

/* Fits some groups; a row_sum's `add`. */
static void fit_groups(const void *self, row_range r, double *scratch, double *total)
{
    const polynomial_grid *grid = self;
    group_view v;
    (void)total;
    group_begin(&v, grid->m, grid->w, NULL, false, scratch);
    for (size_t i = 0; i < r.n; i++) {
        size_t g = row_index(r, i), q = grid->m->shape.effects;
        const group_polynomial out = polynomial_of(grid->s, g);
        polynomial_fit(grid, &v, g, &out, scratch + group_scratch(grid->m));
        memcpy(grid->m->centre + g * q, v.mode, q * sizeof *v.mode);
    }
}

/* ---- the grid ---- */

sbps_status polynomial_grid_open(polynomial_grid *grid, sbps_error *err)
{
    const hermites *h = &grid->s->h;
    size_t q = h->axes, nodes = h->degree + 1;
    double node[HERMITE_MAX], weight[HERMITE_MAX];
    hermite_rule(nodes, node, weight);
    grid->s->edge = node[nodes - 1];
    grid->points = 1;
    for (size_t a = 0; a < q; a++) grid->points *= nodes;
    size_t points = grid->points;
    grid->node = new_doubles(points * (2 * q + 1 + 2 * h->terms));
    if (!grid->node) return fail_memory(err);
    double *t = grid->node + points * q;
    grid->weight = t + points * q;
    grid->bases = grid->weight + points;
    grid->project = grid->bases + points * h->terms;
    for (size_t k = 0; k < points; k++) {
        size_t rest = k;
        grid->weight[k] = 1.0;
        for (size_t a = 0; a < q; a++, rest /= nodes) {
            t[a * points + k] = grid->node[k * q + a] = node[rest % nodes];
            grid->weight[k] *= weight[rest % nodes];
        }
    }
    hermites_at(h, h->terms, points, t, grid->bases);
    for (size_t a = 0; a < h->terms; a++)
        for (size_t k = 0; k < points; k++)
            grid->project[a * points + k] =
                grid->weight[k] * grid->bases[a * points + k] / hermites_square(h, a);
    return SBPS_OK;
}

/* ---- all of them ---- */

void polynomials_shape(const mixed *m, group_polynomials *s)
{
    size_t q = m->shape.effects, degree = degrees[q];
    hermites_open(&s->h, q, degree);
    s->outer = polynomial_outer(m);
    s->slopes = s->h.upto[degree - 2];
    s->curvatures = s->h.upto[degree - 4];
    s->size = 1 + q * q + q + q * s->outer + s->h.terms + s->slopes * s->outer +
              s->curvatures * packed_size(s->outer);
}

bool polynomial_is_complete(const mixed *m)
{
    return m->dim == polynomial_outer(m) + m->shape.count;
}

/* Do polynomials take less time than the rows? Counted per group, in evaluations of a row at a
 * point. */
static bool is_faster(const mixed *m, const group_polynomials *s)
{
    double groups = (double)m->groups->count, n = (double)m->data->local_rows / groups,
           q = (double)m->shape.effects, nodes = pow(USUAL_NODES, q),
           passes = SETUP_PASSES + USUAL_EVALUATIONS / groups;
    double fit = FIT_WORK * n * pow((double)(s->h.degree + 1), q);
    return fit + passes * TERM_WORK * (double)s->h.terms * nodes < passes * n * nodes;
}

/* Do polynomials take less time and memory than the rows? */
static bool is_worthwhile(const mixed *m, const group_polynomials *s)
{
    double rows_per_group = (double)m->data->local_rows / (double)m->groups->count;
    double row = (double)rows_row_bytes(m->data) +
                 (double)(m->groups->width + 1) * sizeof(double); /* z and y */
    return polynomial_is_complete(m) &&
           (double)(s->size * sizeof(double)) <= MEMORY_FRACTION * rows_per_group * row &&
           is_faster(m, s);
}

bool mixed_can_fit_polynomials(const void *self)
{
    group_polynomials s = {.outer = 0};
    polynomials_shape(self, &s);
    return is_worthwhile(self, &s);
}

/* Allocates the polynomials, and sets their reference and reach. */
static sbps_status allocate(const mixed *m, const double *w, const double *sd,
                            group_polynomials *s, sbps_error *err)
{
    s->reference = new_doubles(s->outer);
    s->reach = new_doubles(s->outer);
    s->of = unset_doubles(m->groups->count * s->size);
    if (!s->reference || !s->reach || !s->of) return fail_memory(err);
    for (size_t j = 0; j < s->outer; j++) {
        s->reference[j] = w[polynomial_coordinate(m, j)];
        s->reach[j] = REACH * sd[polynomial_coordinate(m, j)];
    }
    return SBPS_OK;
}

/* Fits all groups, by several threads. */
static sbps_status fit_all_groups(polynomial_grid *grid, const rows *groups, sbps_error *err)
{
    sbps_status status = polynomial_grid_open(grid, err);
    if (status != SBPS_OK) return status;
    polynomial_sums unused;
    const row_sum what = {.self = grid,
                          .scratch = group_scratch(grid->m) +
                                     polynomial_carve_sums(grid, NULL, &unused),
                          .add = fit_groups};
    status = row_sums(groups, &what, NULL, err);
    free(grid->node);
    return status;
}

sbps_status polynomials_fit(mixed *m, const rows *groups, const double *w, const double *sd,
                            sbps_error *err)
{
    polynomials_destroy(m->polynomials);
    m->polynomials = NULL;
    group_polynomials *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err);
    sbps_status status = SBPS_OK;
    polynomials_shape(m, s);
    bool worthwhile = is_worthwhile(m, s);
    if (worthwhile) status = allocate(m, w, sd, s, err);
    polynomial_grid grid = {.m = m, .s = s, .w = w, .misfit = MISFIT};
    if (worthwhile && status == SBPS_OK) status = fit_all_groups(&grid, groups, err);
    if (worthwhile && status == SBPS_OK)
        m->polynomials = s;
    else
        polynomials_destroy(s);
    return status;
}

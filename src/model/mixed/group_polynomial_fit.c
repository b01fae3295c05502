/* Sketches of all groups, by (1) of sketch.h. With l's derivatives projected on a term,
 *
 *   S = l_r - K'l_u,   Q = l_rr - l_ru K - K'l_ur + K'l_uu K. */
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "linalg/special_functions.h"
#include "model/mixed/group_polynomial_rows.h"
#include "table/row_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MISFIT          0.02 /* nats that a polynomial may be off: root of the mean square */
#define MEMORY_FRACTION 0.5  /* of what the rows take */
#define REACH           8.0  /* posterior sds */

/* Degrees of P by effects a level; S has two less, Q four. */
static const size_t degrees[LEVEL_EFFECTS_MAX + 1] = {0, 8, 6, 5, 4, 4};

/* ---- the group ---- */

/* P of (1), and whether it fits. */
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

/* K of (1), an effect after another. */
static bool fit_response(const polynomial_grid *grid, const polynomial_sums *r,
                         double *response)
{
    const mixed *m = grid->m;
    size_t q = m->shape.effects, wide = polynomial_width(m), outer = grid->s->outer;
    double factor[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    for (size_t i = 0; i < q * q; i++) factor[i] = -r->zz[i];
    if (!cholesky(q, factor)) return false;
    for (size_t j = 0; j < outer; j++) {
        double x[LEVEL_EFFECTS_MAX];
        for (size_t a = 0; a < q; a++) x[a] = -r->zr[a * wide + polynomial_column(m, j)];
        cholesky_solve(q, factor, x);
        for (size_t a = 0; a < q; a++) response[a * outer + j] = x[a];
    }
    return true;
}

static void fit_slopes(const polynomial_grid *grid, const polynomial_sums *r,
                       const group_polynomial *out)
{
    const mixed *m = grid->m;
    size_t q = m->shape.effects, outer = grid->s->outer, wide = polynomial_width(m);
    for (size_t a = 0; a < grid->s->slopes; a++) {
        double *slope = out->slope + a * outer;
        for (size_t j = 0; j < outer; j++)
            slope[j] = r->slope_r[a * wide + polynomial_column(m, j)];
        for (size_t b = 0; b < q; b++)
            add_scaled(outer, -r->slope_z[a * q + b], out->response + b * outer, slope);
    }
}

/* Of one term; r->zr becomes l_ur - l_uu K/2. */
static void fit_curvature(const polynomial_grid *grid, polynomial_sums *r, size_t term,
                          const group_polynomial *out)
{
    const mixed *m = grid->m;
    size_t q = m->shape.effects, outer = grid->s->outer, wide = polynomial_width(m);
    double *to = out->curvature + term * packed_size(outer), *zr = r->zr + term * q * wide;
    for (size_t b = 0; b < q; b++)
        for (size_t j = 0; j < outer; j++)
            for (size_t c = 0; c < q; c++)
                zr[b * wide + polynomial_column(m, j)] -=
                    0.5 * r->zz[(term * q + b) * q + c] * out->response[c * outer + j];
    for (size_t j = 0; j < outer; j++)
        for (size_t l = 0; l <= j; l++) {
            size_t row = polynomial_column(m, j), column = polynomial_column(m, l);
            double second = r->rr[(term * wide + row) * wide + column];
            for (size_t b = 0; b < q; b++)
                second -= out->response[b * outer + j] * zr[b * wide + column] +
                          out->response[b * outer + l] * zr[b * wide + row];
            to[packed_size(j) + l] = second;
        }
}

/* x <- W^-1 x, W = L C with C upper triangular. */
static void unscale(const group_view *v, double *x)
{
    size_t q = v->m->shape.effects;
    for (size_t a = 0; a < q; a++)
        x[a] = (x[a] - dot(a, v->p.at->factor[a], x)) / v->p.at->factor[a][a];
    for (size_t a = q; a-- > 0;) {
        for (size_t b = a + 1; b < q; b++) x[a] -= v->wide[a][b] * x[b];
        x[a] /= v->wide[a][a];
    }
}

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

/* From the normal at the mode to the law that t is standard normal under. */
static void stretch(group_view *v)
{
    size_t q = v->m->shape.effects;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) v->wide[a][b] *= POLYNOMIAL_STRETCH;
}

void polynomial_fit(const polynomial_grid *grid, group_view *v, size_t g,
                    const group_polynomial *out, double *scratch)
{
    polynomial_sums r;
    const group_polynomials *s = grid->s;
    group_locate(v, g);
    stretch(v);
    memset(scratch, 0, polynomial_carve_sums(grid, scratch, &r) * sizeof *scratch);
    polynomial_sum_rows(grid, v, &r);
    *out->fits = 0.0;
    if (!fit_value(grid, &r, out) || !fit_response(grid, &r, out->response)) return;
    fit_slopes(grid, &r, out);
    for (size_t a = 0; a < s->curvatures; a++) fit_curvature(grid, &r, a, out);
    fit_coordinates(grid, v, out);
    *out->fits = all_finite(s->size, out->fits) ? 1.0 : 0.0;
}

static void make(const polynomial_grid *grid, group_view *v, size_t g, double *scratch)
{
    const group_polynomial out = polynomial_of(grid->s, g);
    size_t q = grid->m->shape.effects;
    polynomial_fit(grid, v, g, &out, scratch);
    memcpy(grid->m->centre + g * q, v->mode, q * sizeof *v->mode);
}

static void make_block(const void *self, row_range r, double *scratch, double *total)
{
    const polynomial_grid *grid = self;
    group_view v;
    (void)total;
    group_begin(&v, grid->m, grid->w, NULL, false, scratch);
    for (size_t i = 0; i < r.n; i++)
        make(grid, &v, row_index(r, i), scratch + group_scratch(grid->m));
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

/* Are there many rows a group? */
static bool worth_it(const mixed *m, const group_polynomials *s)
{
    double rows_a_group = (double)m->data->n / (double)m->groups->count;
    double row = (double)rows_row_bytes(m->data) +
                 (double)(m->groups->width + 1) * sizeof(double); /* z and y */
    return polynomial_is_complete(m) &&
           (double)(s->size * sizeof(double)) <= MEMORY_FRACTION * rows_a_group * row;
}

bool mixed_can_fit_polynomials(const void *self)
{
    group_polynomials s = {.outer = 0};
    polynomials_shape(self, &s);
    return worth_it(self, &s);
}

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

static sbps_status fit_all_groups(polynomial_grid *grid, const rows *groups, sbps_error *err)
{
    sbps_status status = polynomial_grid_open(grid, err);
    if (status != SBPS_OK) return status;
    polynomial_sums unused;
    const row_sum what = {.self = grid,
                          .scratch = group_scratch(grid->m) +
                                     polynomial_carve_sums(grid, NULL, &unused),
                          .add = make_block};
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
    bool worthwhile = worth_it(m, s);
    if (worthwhile) status = allocate(m, w, sd, s, err);
    polynomial_grid grid = {.m = m, .s = s, .w = w, .misfit = MISFIT};
    if (worthwhile && status == SBPS_OK) status = fit_all_groups(&grid, groups, err);
    if (worthwhile && status == SBPS_OK)
        m->polynomials = s;
    else
        polynomials_destroy(s);
    return status;
}

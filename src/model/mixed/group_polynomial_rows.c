/* Rows of a group for their sketch: sums over the points of the grid come first, row by row, and only then the columns. */
#include "model/mixed/group_polynomial_rows.h"
#include "linalg/dense_matrix.h"

#include <string.h>

#define BLOCK ((size_t)256) /* rows; points of the grid come one after another */

size_t polynomial_width(const mixed *m)
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

size_t polynomial_column(const mixed *m, size_t j)
{
    size_t d = m->data->d;
    return j < d ? j : m->data->stride + (j - d);
}

/* ---- rows ---- */

static void see_point(const polynomial_grid *grid, const group_view *v, polynomial_sums *r,
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

/* Auxiliaries have no columns: theirs are sums at once. */
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
    if (data->storage->outer &&
        data->storage->outer(data, m->k, range.first, range.n, c, pitch, out))
        return;
    for (size_t i = 0; i < range.n; i++) {
        data->storage->decode(data, range.first + i, r->padded);
        for (size_t a = 0; a < data->d; a++)
            add_scaled(a + 1, c[i] * r->padded[a], r->padded, out + a * pitch);
    }
}

/* Second derivatives of one term, by z, by x and by auxiliaries. */
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
        see_point(grid, v, r, first, n, point);
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

static void place_points(const polynomial_grid *grid, const group_view *v, polynomial_sums *r)
{
    size_t q = grid->m->shape.effects;
    for (size_t k = 0; k < grid->points; k++)
        for (size_t a = 0; a < q; a++)
            r->place[k * q + a] = v->mode[a] + dot(q, v->wide[a], grid->node + k * q);
}

void polynomial_sum_rows(const polynomial_grid *grid, const group_view *v, polynomial_sums *r)
{
    place_points(grid, v, r);
    for (size_t first = 0; first < v->n; first += BLOCK)
        project_row_block(grid, v, r, first, v->n - first < BLOCK ? v->n - first : BLOCK);
}

/* Adaptive Gauss-Hermite quadrature. With v^ the mode of the integrand's log h and C C' = (-h'')^-1 there,
 *
 *   log m = log |C| + log sum_k exp(log w_k + t_k^2/2 + h(v_k)),   v_k = v^ + C t_k                  (1)
 *
 * where h leaves out the normal's (2 pi)^(-q/2), which the rule's weights have, too. The shares s_k of the nodes are
 * those of the effects' posterior given phi, and the gradient is an average over it,
 *
 *   d/d phi log m = sum_k s_k d/d phi h(v_k)   (v_k held fixed; Fisher 1925, Louis 1982).             (2)
 *
 * Liu, Pierce (1994), A note on Gauss-Hermite quadrature, Biometrika 81, 624-629. */
#include "mixed/marginal.h"
#include "base/cholesky.h"
#include "base/dense.h"

#include <math.h>
#include <string.h>

#define CELLS       ((size_t)2048) /* rows times nodes of a block */
#define NEAR_ENOUGH 0.03           /* a step of so many sds is taken, and ends the search */
#define STEPS_MOST  60
#define HALVINGS    30

static size_t block_rows(const mixed *m)
{
    size_t n = CELLS / m->points;
    return n > 0 ? n : 1;
}

static size_t cells_of(const mixed *m)
{
    size_t cells = block_rows(m) * m->points;
    return cells > CELLS ? cells : CELLS; /* a single node has as many rows */
}

static size_t auxiliaries(const mixed *m)
{
    return m->rows_of->auxiliary_count;
}

/* ---- the view ---- */

static size_t lay_out(group_view *v, const mixed *m, double *base)
{
    size_t used = 0, q = m->shape.effects, a = auxiliaries(m), cells = cells_of(m);
    double *second;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&v->p.beta, m->data->stride},
                 {&v->p.d_beta, m->data->stride},
                 {&v->sum, m->data->stride},
                 {&second, sizeof(effect_spread) / sizeof(double)},
                 {&v->base, m->largest},
                 {&v->d_base, m->largest},
                 {&v->mean, m->largest},
                 {&v->z, q * m->largest},
                 {&v->along, q * m->largest},
                 {&v->place, m->points * q},
                 {&v->share, m->points},
                 {&v->pull, m->points * q},
                 {&v->aux_pull, m->points * a},
                 {&v->eta, cells},
                 {&v->y, cells},
                 {&v->out, cells},
                 {&v->bent, cells},
                 {&v->aux_out, a * cells}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    v->p.at = (effect_spread *)second;
    return used;
}

size_t group_scratch(const mixed *m)
{
    group_view unused;
    return lay_out(&unused, m, NULL);
}

static void aim(group_view *v)
{
    const mixed *m = v->m;
    const double *u = v->p.along + m->data->d;
    memset(v->p.d_factor, 0, sizeof v->p.d_factor);
    for (size_t a = 0; a < m->shape.count; a++)
        for (size_t j = 0; j < m->shape.effects; j++)
            v->p.d_factor[m->shape.of[a].row][j] += u[a] * v->p.at->first[a][j];
}

void group_begin(group_view *v, const mixed *m, const double *w, const double *u,
                 bool with_second, double *scratch)
{
    size_t d = m->data->d, padding = (m->data->stride - d) * sizeof *w;
    *v = (group_view){.m = m};
    lay_out(v, m, scratch);
    v->p.w = w;
    v->p.along = u;
    v->p.aux = w + m->aux;
    v->p.d_aux = u ? u + m->aux : NULL;
    memcpy(v->p.beta, w, d * sizeof *w);
    memset(v->p.beta + d, 0, padding);
    spread_at(&m->shape, w + d, with_second, v->p.at);
    if (!u) return;
    memcpy(v->p.d_beta, u, d * sizeof *u);
    memset(v->p.d_beta + d, 0, padding);
    aim(v);
}

/* ---- rows ---- */

double group_effect_of(const mixed *m, size_t row, size_t effect)
{
    size_t column = m->column[effect];
    return column == GROUP_CONSTANT ? 1.0 : m->groups->z[row * m->groups->width + column];
}

/* Rows first.. of the group, n of them, at `points` places: eta and y, place after place. */
static batch cells_at(group_view *v, size_t first, size_t n, size_t points, const double *place)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    const double *y = m->data->y + v->first + first, *along = v->along + first;
    for (size_t k = 0; k < points; k++, place += q) {
        double *eta = v->eta + k * n;
        memcpy(v->y + k * n, y, n * sizeof *y);
        for (size_t i = 0; i < n; i++) eta[i] = v->base[first + i] + along[i] * place[0];
        for (size_t a = 1; a < q; a++)
            for (size_t i = 0; i < n; i++) eta[i] += along[a * v->n + i] * place[a];
    }
    return (batch){.k = m->k,
                   .n = n * points,
                   .eta = v->eta,
                   .y = v->y,
                   .aux = v->p.aux,
                   .pitch = cells_of(m)};
}

/* z of the group's rows, effect after effect, and L'z. */
static void see_effects(group_view *v)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects, n = v->n;
    memset(v->along, 0, q * n * sizeof *v->along);
    for (size_t b = 0; b < q; b++) {
        double *z = v->z + b * n;
        for (size_t i = 0; i < n; i++) z[i] = group_effect_of(m, v->first + i, b);
        for (size_t a = 0; a <= b; a++) {
            double factor = v->p.at->factor[b][a], *along = v->along + a * n;
            for (size_t i = 0; i < n; i++) along[i] += factor * z[i];
        }
    }
}

static void see_rows(group_view *v, size_t g)
{
    const mixed *m = v->m;
    v->first = m->groups->start[g];
    v->n = m->groups->start[g + 1] - v->first;
    rows_products(m->data, m->k, rows_from(v->first, v->n), v->p.beta,
                  v->p.along ? v->p.d_beta : NULL, v->base, v->d_base);
    for (size_t i = 0; m->data->offset && i < v->n; i++)
        v->base[i] += m->data->offset[v->first + i];
    see_effects(v);
}

/* What rows first.. said, times their weights, place after place. */
static void weigh(const group_view *v, size_t first, size_t n, size_t points, double *values)
{
    const double *weight = v->m->data->weight;
    if (!weight) return;
    weight += v->first + first;
    for (size_t k = 0; k < points; k++)
        for (size_t i = 0; i < n; i++) values[k * n + i] *= weight[i];
}

/* Sums of a block, one number a place. */
static void add_sums(size_t n, size_t points, const double *values, size_t pitch, double *sums)
{
    for (size_t k = 0; k < points; k++) sums[k * pitch] += sum(n, values + k * n);
}

/* values[k] += sum_i weight_i log p_i at the places */
static void add_values(group_view *v, size_t points, const double *place, double *values)
{
    size_t block = cells_of(v->m) / points;
    for (size_t first = 0, n; first < v->n; first += n) {
        n = v->n - first < block ? v->n - first : block;
        batch b = cells_at(v, first, n, points, place);
        v->m->rows_of->predictor->loglik(&b, v->out);
        weigh(v, first, n, points, v->out);
        add_sums(n, points, v->out, 1, values);
    }
}

/* ---- the mode of a group's effects ---- */

typedef struct {
    double gradient[EFFECTS_A_LEVEL];
    double curvature[EFFECTS_A_LEVEL * EFFECTS_A_LEVEL]; /* of -h; q * q */
} bowl;

/* Rows that bend the other way count for nothing in the curvature: the normal's is left. */
static void add_bowl(group_view *v, size_t first, size_t n, bowl *at)
{
    size_t q = v->m->shape.effects;
    for (size_t i = 0; i < n; i++) v->bent[i] = v->bent[i] < 0.0 ? -v->bent[i] : 0.0;
    for (size_t a = 0; a < q; a++) {
        const double *along = v->along + a * v->n + first;
        at->gradient[a] += v->m->k->dot(n, v->out, along);
        for (size_t i = 0; i < n; i++) v->eta[i] = v->bent[i] * along[i];
        for (size_t b = 0; b <= a; b++)
            at->curvature[a * q + b] += v->m->k->dot(n, v->eta, v->along + b * v->n + first);
    }
}

static void look(group_view *v, const double *place, bowl *at)
{
    size_t q = v->m->shape.effects, block = cells_of(v->m);
    const predictor *p = v->m->rows_of->predictor;
    *at = (bowl){{0.0}, {0.0}};
    for (size_t a = 0; a < q; a++) {
        at->gradient[a] = -place[a];
        at->curvature[a * q + a] = 1.0;
    }
    for (size_t first = 0, n; first < v->n; first += n) {
        n = v->n - first < block ? v->n - first : block;
        batch b = cells_at(v, first, n, 1, place);
        p->gradient(&b, v->out, NULL);
        p->curvature(&b, v->bent, NULL, NULL);
        weigh(v, first, n, 1, v->out);
        weigh(v, first, n, 1, v->bent);
        add_bowl(v, first, n, at);
    }
}

static double height(group_view *v, const double *place)
{
    size_t q = v->m->shape.effects;
    double h = 0.0;
    for (size_t a = 0; a < q; a++) h -= 0.5 * place[a] * place[a];
    add_values(v, 1, place, &h);
    return h;
}

/* Goes along the step as far as it leads uphill. */
static void climb(group_view *v, double *place, const double *step)
{
    size_t q = v->m->shape.effects;
    double from = height(v, place), length = 1.0, next[EFFECTS_A_LEVEL];
    for (int i = 0; i < HALVINGS; i++, length *= 0.5) {
        for (size_t a = 0; a < q; a++) next[a] = place[a] + length * step[a];
        if (height(v, next) > from) break;
    }
    memcpy(place, next, q * sizeof *place);
}

/* wide = C of (1), from the factor of the curvature: C = F'^-1. Returns log |C|. */
static double invert(size_t q, const double *factor, double (*wide)[EFFECTS_A_LEVEL])
{
    double log_size = 0.0;
    memset(wide, 0, EFFECTS_A_LEVEL * sizeof *wide);
    for (size_t a = 0; a < q; a++) {
        double unit[EFFECTS_A_LEVEL] = {0.0};
        unit[a] = 1.0;
        cholesky_back(q, factor, unit);
        for (size_t b = 0; b < q; b++) wide[b][a] = unit[b];
        log_size -= log(factor[a * q + a]);
    }
    return log_size;
}

/* v->mode and v->wide; log |C|. */
static double find_mode(group_view *v, const double *from)
{
    size_t q = v->m->shape.effects;
    bowl at;
    memcpy(v->mode, from, q * sizeof *from);
    for (int i = 0; i < STEPS_MOST; i++) {
        double step[EFFECTS_A_LEVEL], size = 0.0;
        look(v, v->mode, &at);
        memcpy(step, at.gradient, sizeof step);
        if (!cholesky(q, at.curvature)) break;
        cholesky_solve(q, at.curvature, step);
        for (size_t a = 0; a < q; a++) size += step[a] * at.gradient[a];
        if (!(size > NEAR_ENOUGH * NEAR_ENOUGH)) {
            for (size_t a = 0; a < q; a++) v->mode[a] += step[a];
            break;
        }
        climb(v, v->mode, step);
    }
    return invert(q, at.curvature, v->wide);
}

/* ---- the integral ---- */

static void place_nodes(group_view *v)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    for (size_t k = 0; k < m->points; k++)
        for (size_t a = 0; a < q; a++) {
            double at = v->mode[a];
            for (size_t b = a; b < q; b++) at += v->wide[a][b] * m->node[k * q + b];
            v->place[k * q + a] = at;
        }
}

/* From logarithms to shares of 1; the log of their sum. */
static double normalise(size_t n, double *x)
{
    double top = -INFINITY, sum = 0.0;
    for (size_t k = 0; k < n; k++) top = fmax(top, x[k]);
    for (size_t k = 0; k < n; k++) sum += x[k] = exp(x[k] - top);
    for (size_t k = 0; k < n; k++) x[k] /= sum;
    return top + log(sum);
}

double group_locate(group_view *v, size_t g)
{
    see_rows(v, g);
    return find_mode(v, v->m->centre + g * v->m->shape.effects);
}

void group_heights(group_view *v, size_t points, const double *place, double *heights)
{
    size_t q = v->m->shape.effects;
    for (size_t k = 0; k < points; k++)
        for (size_t a = 0; a < q; a++) heights[k] -= 0.5 * place[k * q + a] * place[k * q + a];
    add_values(v, points, place, heights);
}

double group_value(group_view *v, size_t g)
{
    const mixed *m = v->m;
    double log_size = group_locate(v, g);
    place_nodes(v);
    memcpy(v->share, m->log_count, m->points * sizeof *v->share);
    group_heights(v, m->points, v->place, v->share);
    return v->log_m = log_size + normalise(m->points, v->share);
}

/* Rows first.. of the block said this of the nodes. */
static void average(group_view *v, size_t first, size_t n)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects;
    double *mean = v->mean + first;
    memset(mean, 0, n * sizeof *mean);
    for (size_t k = 0; k < m->points; k++) {
        const double *slope = v->out + k * n;
        for (size_t i = 0; i < n; i++) mean[i] += v->share[k] * slope[i];
        for (size_t a = 0; a < q; a++)
            v->pull[k * q + a] += m->k->dot(n, slope, v->z + a * v->n + first);
    }
}

static void group_pulls(group_view *v)
{
    const mixed *m = v->m;
    size_t count = auxiliaries(m), block = block_rows(m);
    memset(v->pull, 0, m->points * m->shape.effects * sizeof *v->pull);
    memset(v->aux_pull, 0, m->points * count * sizeof *v->aux_pull);
    for (size_t first = 0, n; first < v->n; first += n) {
        n = v->n - first < block ? v->n - first : block;
        batch b = cells_at(v, first, n, m->points, v->place);
        m->rows_of->predictor->gradient(&b, v->out, count ? v->aux_out : NULL);
        weigh(v, first, n, m->points, v->out);
        average(v, first, n);
        for (size_t a = 0; a < count; a++) {
            double *said = v->aux_out + a * b.pitch;
            weigh(v, first, n, m->points, said);
            add_sums(n, m->points, said, count, v->aux_pull + a);
        }
    }
}

static double row_times(size_t q, const double *row, const double *place)
{
    double sum = 0.0;
    for (size_t a = 0; a < q; a++) sum += row[a] * place[a];
    return sum;
}

double group_slope(group_view *v)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects, count = auxiliaries(m);
    group_pulls(v);
    double slope = m->k->dot(v->n, v->mean, v->d_base);
    for (size_t k = 0; k < m->points; k++) {
        double at = 0.0;
        for (size_t a = 0; a < q; a++)
            at += v->pull[k * q + a] * row_times(q, v->p.d_factor[a], v->place + k * q);
        for (size_t a = 0; a < count; a++) at += v->p.d_aux[a] * v->aux_pull[k * count + a];
        slope += v->share[k] * at;
    }
    return slope;
}

void group_gradient(group_view *v, double factor, double *out)
{
    const mixed *m = v->m;
    size_t q = m->shape.effects, count = auxiliaries(m), d = m->data->d;
    group_pulls(v);
    memset(v->sum, 0, m->data->stride * sizeof *v->sum);
    rows_combine(m->data, m->k, rows_from(v->first, v->n), v->mean, v->sum);
    for (size_t j = 0; j < d; j++) out[j] += factor * v->sum[j];
    for (size_t k = 0; k < m->points; k++) {
        const double *pull = v->pull + k * q, *place = v->place + k * q;
        double share = factor * v->share[k];
        for (size_t a = 0; a < m->shape.count; a++)
            out[d + a] +=
                share * pull[m->shape.of[a].row] * row_times(q, v->p.at->first[a], place);
        for (size_t a = 0; a < count; a++)
            out[m->aux + a] += share * v->aux_pull[k * count + a];
    }
}

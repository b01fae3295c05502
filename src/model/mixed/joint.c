/* Joint models, (1) and (2) of joint.h: the transformation, groups as rows, and P and b from
 * the curvature of the rows. The rows of a block of groups are contiguous, and evaluated SOME
 * at a time. */
#include "model/mixed/joint.h"
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "model/mixed/crossed_effects.h"
#include "table/row_sums.h"

#include <stdlib.h>
#include <string.h>

#define SOME ((size_t)512) /* rows at a time */
/* Costs in multiplications of about 0.45 ns, measured on twelve small tables: */
#define CALL_COST   6000.0 /* of a gradient of no rows */
#define LEVEL_ALONE 40.0   /* of a level of one effect, */
#define LEVEL_COST  200.0  /* and of several, for a pair of them */
#define ROW_COST    8.0    /* of a row, */
#define COLUMN_COST 0.4    /* of each of its columns, */
#define FAMILY_COST 6.0    /* of its likelihood, times the family's cost, */
#define AUX_COST    8.0    /* and of each auxiliary of the family, times that cost */

sbps_status joint_open(mixed *m, sbps_error *err)
{
    for (size_t f = 0; f < m->others; f++) {
        other_factor *o = &m->other[f];
        size_t levels = m->groups->factor[o->factor].levels, q = o->shape.effects;
        o->precision = new_doubles(levels * q * q);
        o->pull = new_doubles(levels * q);
        if (!o->precision || !o->pull) return fail_memory(err);
    }
    return blocks_open(m, err);
}

static size_t levels_of(const mixed *m, const other_factor *o)
{
    return m->groups->factor[o->factor].levels;
}

/* p_a of (2) */
static double strength_power(const mixed *m, size_t a)
{
    double fit = m->row_model->auxiliaries[a].perfect_fit;
    return fit != 0.0 ? -2.0 / fit : 0.0;
}

/* sum_a p_a w_a of (2) */
static double log_strength(const mixed *m, const double *w)
{
    double sum = 0.0;
    for (size_t a = 0; a < m->row_model->auxiliary_count; a++)
        sum += strength_power(m, a) * w[m->aux + a];
    return sum;
}

double joint_transform(const void *self, const double *w, double *at)
{
    const mixed *m = self;
    double strength = exp(log_strength(m, w) - m->strength_at);
    memcpy(at, w, m->dim * sizeof *at);
    double value = blocks_transform(m, strength, w, at);
    for (size_t f = 0; f < m->others; f++)
        if (!blocks_have(m, f))
            value +=
                levels_transform(&m->other[f], levels_of(m, &m->other[f]), strength, w, at);
    return value;
}

/* Computes the effects of levels first .. last of a factor; if the factor is in blocks, marks
 * the blocks in `selected` instead. */
static void transform_levels(const mixed *m, size_t f, double strength, const double *w,
                             size_t first, size_t last, bool *selected, double *at)
{
    const other_factor *o = &m->other[f];
    size_t q = o->shape.effects;
    effect_spread spread;
    level_point p;
    if (!blocks_have(m, f)) spread_at(&o->shape, w + o->spread, false, &spread);
    for (size_t l = first; l <= last; l++) {
        size_t j = o->first + l * q;
        if (blocks_have(m, f)) {
            selected[m->blocks->place[f][l].block] = true;
            continue;
        }
        level_at_strength(o, &spread, l, strength, w + j, false, &p);
        memcpy(at + j, p.effect, q * sizeof *at);
    }
}

bool joint_effects(const mixed *m, const double *w, size_t first, size_t count, double *at)
{
    double strength = exp(log_strength(m, w) - m->strength_at);
    bool *selected = calloc(m->blocks->count + 1, sizeof *selected);
    if (!selected) return false;
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        size_t q = o->shape.effects, begin = o->first, end = begin + levels_of(m, o) * q;
        if (first > begin) begin = first;
        if (first + count < end) end = first + count;
        if (begin < end)
            transform_levels(m, f, strength, w, (begin - o->first) / q,
                             (end - 1 - o->first) / q, selected, at);
    }
    blocks_transform_some(m, strength, w, selected, at);
    free(selected);
    return true;
}

void joint_pullback(const void *self, const double *w, double *at, double *gradient)
{
    const mixed *m = self;
    double strength = exp(log_strength(m, w) - m->strength_at);
    double by_strength = blocks_pullback(m, strength, w, at, gradient);
    for (size_t f = 0; f < m->others; f++)
        if (!blocks_have(m, f))
            by_strength += levels_pullback(&m->other[f], levels_of(m, &m->other[f]), strength,
                                           w, gradient);
    for (size_t a = 0; a < m->row_model->auxiliary_count; a++)
        gradient[m->aux + a] += strength_power(m, a) * by_strength;
}

size_t joint_transform_scratch(const void *self)
{
    return blocks_scratch(self);
}

double joint_cost(const void *self)
{
    const mixed *m = self;
    double row_cost = larger(m->row_model->predictor->cost, 1.0);
    double family = FAMILY_COST + AUX_COST * (double)m->row_model->auxiliary_count;
    double row = ROW_COST + COLUMN_COST * rows_numbers(m->data) + family * row_cost;
    double total = CALL_COST + (double)m->data->local_rows * row;
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        double q = (double)o->shape.effects, each = q > 1.0 ? LEVEL_COST * q * q : LEVEL_ALONE;
        if (!blocks_have(m, f)) total += (double)levels_of(m, o) * each;
    }
    return (total + blocks_cost(m)) / (double)m->groups->count;
}

/* ---- rows ---- */

typedef struct {
    const mixed *m;
    const double *at;         /* x of joint.h */
    double *beta, *sum, *row; /* padded for products with rows */
    double *eta, *out, *row_factor, *aux_out;
    size_t first, n; /* rows */
} joint_view;

/* Places the arrays in base; returns their size in doubles. NULL base: size only. */
static size_t carve_joint_view(joint_view *v, const mixed *m, double *base)
{
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&v->beta, m->data->stride},
                 {&v->sum, m->data->stride},
                 {&v->row, m->data->stride},
                 {&v->eta, SOME},
                 {&v->out, SOME},
                 {&v->row_factor, SOME},
                 {&v->aux_out, m->row_model->auxiliary_count * SOME}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    return used;
}

size_t joint_scratch(const void *self, size_t n)
{
    joint_view unused;
    (void)n;
    return carve_joint_view(&unused, self, NULL);
}

/* Begins a view at x = at. */
static void begin_view(joint_view *v, const mixed *m, const double *at, double *scratch)
{
    size_t d = m->data->d;
    *v = (joint_view){.m = m, .at = at};
    carve_joint_view(v, m, scratch);
    memcpy(v->beta, at, d * sizeof *at);
    memset(v->beta + d, 0, (m->data->stride - d) * sizeof *at);
    memset(v->sum, 0, m->data->stride * sizeof *at);
}

/* eta += z u for effect a of a factor. */
static void add_effects(const joint_view *v, const other_factor *o, size_t a)
{
    const uint32_t *of = v->m->groups->factor[o->factor].of + v->first;
    const double *u = v->at + o->first + a;
    size_t q = o->shape.effects, width = v->m->groups->width;
    if (o->column[a].of == GROUP_CONSTANT) {
        for (size_t i = 0; i < v->n; i++) v->eta[i] += u[of[i] * q];
        return;
    }
    const double *z = v->m->groups->z + v->first * width + o->column[a].of;
    double mean = o->column[a].mean;
    for (size_t i = 0; i < v->n; i++) v->eta[i] += (z[i * width] - mean) * u[of[i] * q];
}

/* to[effect] += sum of z times v->out over the rows at hand, for effect a of a factor. */
static void pull_effects(const joint_view *v, const other_factor *o, size_t a, double *to)
{
    const uint32_t *of = v->m->groups->factor[o->factor].of + v->first;
    size_t q = o->shape.effects, width = v->m->groups->width;
    to += o->first + a;
    if (o->column[a].of == GROUP_CONSTANT) {
        for (size_t i = 0; i < v->n; i++) to[of[i] * q] += v->out[i];
        return;
    }
    const double *z = v->m->groups->z + v->first * width + o->column[a].of;
    double mean = o->column[a].mean;
    for (size_t i = 0; i < v->n; i++) to[of[i] * q] += (z[i * width] - mean) * v->out[i];
}

/* Loads n rows from `first` on: their predictors. */
static batch load_rows(joint_view *v, size_t first, size_t n)
{
    const mixed *m = v->m;
    v->first = first;
    v->n = n;
    rows_products(m->data, m->k, rows_from(first, n), v->beta, NULL, v->eta, NULL);
    for (size_t i = 0; m->data->offset && i < n; i++) v->eta[i] += m->data->offset[first + i];
    for (size_t f = 0; f < m->others; f++)
        for (size_t a = 0; a < m->other[f].shape.effects; a++) add_effects(v, &m->other[f], a);
    return (batch){.k = m->k,
                   .n = n,
                   .eta = v->eta,
                   .y = m->data->y + first,
                   .aux = v->at + m->aux,
                   .pitch = SOME};
}

static void weigh(const joint_view *v, double *values)
{
    const double *weight = v->m->data->weight;
    for (size_t i = 0; weight && i < v->n; i++) values[i] *= weight[v->first + i];
}

/* A walk through the rows of consecutive groups. */
typedef struct {
    size_t next, end, group; /* next, end: rows; group: that of row `next` */
} rows_walk;

static rows_walk walk_from(const mixed *m, size_t group, size_t groups)
{
    const size_t *start = m->groups->start;
    return (rows_walk){start[group], start[group + groups], group};
}

/* Loads the next rows. False: there are no more. */
static bool walk_on(joint_view *v, rows_walk *w, batch *out)
{
    size_t left = w->end - w->next, n = left < SOME ? left : SOME;
    if (n == 0) return false;
    *out = load_rows(v, w->next, n);
    w->next += n;
    return true;
}

/* The group of the i-th row at hand; called for rows in ascending order. */
static size_t walk_group(const joint_view *v, rows_walk *w, size_t i)
{
    while (v->m->groups->start[w->group + 1] <= v->first + i) w->group++;
    return w->group;
}

/* Adds the log-likelihoods of `groups` groups from `group` on to out, by group. */
static void add_logliks(joint_view *v, size_t group, size_t groups, double *out)
{
    batch b;
    rows_walk w = walk_from(v->m, group, groups);
    while (walk_on(v, &w, &b)) {
        v->m->row_model->predictor->loglik(&b, v->out);
        weigh(v, v->out);
        for (size_t i = 0; i < b.n; i++) out[walk_group(v, &w, i) - group] += v->out[i];
    }
}

void joint_loglik(const void *self, row_range r, const double *at, double *scratch, double *out)
{
    joint_view v;
    begin_view(&v, self, at, scratch);
    memset(out, 0, r.n * sizeof *out);
    if (!r.list) add_logliks(&v, r.first, r.n, out);
    for (size_t i = 0; r.list && i < r.n; i++) add_logliks(&v, r.list[i], 1, out + i);
}

/* Adds the gradients of `groups` groups from `group` on, times each group's factor; those by
 * weights to v->sum. */
static void add_gradients(joint_view *v, size_t group, size_t groups, const double *factor,
                          double *out)
{
    const mixed *m = v->m;
    batch b;
    rows_walk w = walk_from(m, group, groups);
    size_t count = m->row_model->auxiliary_count;
    while (walk_on(v, &w, &b)) {
        m->row_model->predictor->gradient(&b, v->out, count ? v->aux_out : NULL);
        for (size_t i = 0; i < b.n; i++)
            v->row_factor[i] = factor[walk_group(v, &w, i) - group];
        weigh(v, v->row_factor);
        for (size_t i = 0; i < b.n; i++) v->out[i] *= v->row_factor[i];
        rows_combine(m->data, m->k, rows_from(v->first, v->n), v->out, v->sum);
        for (size_t a = 0; a < count; a++)
            out[m->aux + a] += m->k->dot(b.n, v->row_factor, v->aux_out + a * b.pitch);
        for (size_t f = 0; f < m->others; f++)
            for (size_t a = 0; a < m->other[f].shape.effects; a++)
                pull_effects(v, &m->other[f], a, out);
    }
}

void joint_gradient(const void *self, row_range r, const double *at, const double *factor,
                    double *scratch, double *out)
{
    joint_view v;
    const mixed *m = self;
    begin_view(&v, m, at, scratch);
    if (!r.list) add_gradients(&v, r.first, r.n, factor, out);
    for (size_t i = 0; r.list && i < r.n; i++) add_gradients(&v, r.list[i], 1, factor + i, out);
    add_scaled(m->data->d, 1.0, v.sum, out);
}

/* ---- P and b ---- */

typedef struct {
    const mixed *m;
    const double *at;
    const size_t *place; /* by factor: index of its matrices in the sums */
    size_t blocks;       /* index of the sums of blocks */
} precision_question;

/* to[level] += z z' times minus the second derivative of log p, for the rows at hand. */
static void add_level_precisions(const joint_view *v, const other_factor *o, double *to)
{
    const uint32_t *of = v->m->groups->factor[o->factor].of + v->first;
    size_t q = o->shape.effects;
    for (size_t i = 0; i < v->n; i++) {
        double z[LEVEL_EFFECTS_MAX], *own = to + of[i] * q * q;
        for (size_t a = 0; a < q; a++) z[a] = mixed_z(v->m, v->first + i, o->column[a]);
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++) own[a * q + b] += v->out[i] * z[a] * z[b];
    }
}

/* Adds the rows at hand to the sums of blocks. */
static void add_columns(const joint_view *v, double *to)
{
    const mixed *m = v->m;
    const double one = 1.0;
    for (size_t i = 0; m->blocks->count > 0 && i < v->n; i++) {
        if (v->out[i] == 0.0) continue;
        memset(v->row, 0, m->data->stride * sizeof *v->row);
        rows_combine(m->data, m->k, rows_from(v->first + i, 1), &one, v->row);
        blocks_add(m, v->first + i, v->out[i], v->row, to);
    }
}

/* Adds the precisions of some groups' rows; a row_sum's `add`. Rows with positive second
 * derivatives add nothing. */
static void add_precisions(const void *self, row_range r, double *scratch, double *total)
{
    const precision_question *query = self;
    const mixed *m = query->m;
    joint_view v;
    batch b;
    begin_view(&v, m, query->at, scratch);
    rows_walk w = walk_from(m, r.first, r.n);
    while (walk_on(&v, &w, &b)) {
        m->row_model->predictor->curvature(&b, v.out, NULL, NULL);
        weigh(&v, v.out);
        for (size_t i = 0; i < b.n; i++) v.out[i] = v.out[i] < 0.0 ? -v.out[i] : 0.0;
        for (size_t f = 0; f < m->others; f++)
            if (!blocks_have(m, f))
                add_level_precisions(&v, &m->other[f], total + query->place[f]);
        add_columns(&v, total + query->blocks);
    }
}

/* Sets P and b of all levels of a factor, and eta in w to 0. */
static void set_factor(const mixed *m, other_factor *o, const double *precisions,
                       const double *at, double *w)
{
    effect_spread spread;
    size_t q = o->shape.effects, levels = levels_of(m, o);
    spread_at(&o->shape, w + o->spread, false, &spread);
    for (size_t l = 0; l < levels; l++)
        level_set(o, &spread, l, precisions + l * q * q, at + o->first + l * q);
    memset(w + o->first, 0, levels * q * sizeof *w);
}

void mixed_joint_reset(void *self)
{
    mixed *m = self;
    blocks_reset(m);
    for (size_t f = 0; f < m->others; f++) {
        other_factor *o = &m->other[f];
        size_t q = o->shape.effects, levels = levels_of(m, o);
        memset(o->precision, 0, levels * q * q * sizeof *o->precision);
        memset(o->pull, 0, levels * q * sizeof *o->pull);
    }
}

void mixed_joint_plain(void *self)
{
    mixed_joint_reset(self);
    blocks_drop(self);
}

sbps_status mixed_joint_recentre(void *self, const rows *groups, double *w, sbps_error *err)
{
    mixed *m = self;
    size_t place[OTHERS_MAX], width = 0;
    for (size_t f = 0; f < m->others; f++) {
        size_t q = m->other[f].shape.effects;
        place[f] = width;
        if (!blocks_have(m, f)) width += levels_of(m, &m->other[f]) * q * q;
    }
    size_t blocks = width, point_size = m->dim + joint_transform_scratch(m);
    width += blocks_width(m);
    double *at = new_doubles(point_size + width), *precisions = at + point_size;
    if (!at) return fail_memory(err);
    joint_transform(m, w, at);
    const precision_question query = {m, at, place, blocks};
    const row_sum what = {
        .self = &query, .width = width, .scratch = joint_scratch(m, 0), .add = add_precisions};
    sbps_status status = row_sums(groups, &what, precisions, err);
    for (size_t f = 0; f < m->others && status == SBPS_OK; f++)
        if (!blocks_have(m, f)) set_factor(m, &m->other[f], precisions + place[f], at, w);
    if (status == SBPS_OK) blocks_set(m, precisions + blocks, at, w);
    if (status == SBPS_OK) m->strength_at = log_strength(m, w);
    free(at);
    return status;
}

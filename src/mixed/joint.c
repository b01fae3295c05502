/* See joint.h. Rows of a block of groups lie one behind another, and are looked at some at a time. */
#include "mixed/joint.h"
#include "base/dense.h"
#include "base/memory.h"
#include "base/real.h"
#include "data/row_sums.h"
#include "mixed/crossed.h"

#include <stdlib.h>
#include <string.h>

#define SOME        ((size_t)512) /* rows at a time */
#define LEVEL_ALONE 20.0          /* numbers multiplied for a level of one effect, */
#define LEVEL_WORK  60.0          /* and of several, for a pair of them */
#define ROW_WORK    30.0          /* beside its columns: of effects and of what it says */

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
    double fit = m->rows_of->auxiliaries[a].perfect_fit;
    return fit != 0.0 ? -2.0 / fit : 0.0;
}

static double log_strength(const mixed *m, const double *w)
{
    double sum = 0.0;
    for (size_t a = 0; a < m->rows_of->auxiliary_count; a++)
        sum += strength_power(m, a) * w[m->aux + a];
    return sum;
}

double joint_lead(const void *self, const double *w, double *at)
{
    const mixed *m = self;
    double strength = exp(log_strength(m, w) - m->strength_at);
    memcpy(at, w, m->dim * sizeof *at);
    double said = blocks_lead(m, strength, w, at);
    for (size_t f = 0; f < m->others; f++)
        if (!blocks_have(m, f))
            said += levels_lead(&m->other[f], levels_of(m, &m->other[f]), strength, w, at);
    return said;
}

/* Effects of levels first .. last of a factor; `wanted` receives their blocks. */
static void lead_some(const mixed *m, size_t f, double strength, const double *w, size_t first,
                      size_t last, bool *wanted, double *at)
{
    const other_factor *o = &m->other[f];
    size_t q = o->shape.effects;
    effect_spread spread;
    level_point p;
    if (!blocks_have(m, f)) spread_at(&o->shape, w + o->spread, false, &spread);
    for (size_t l = first; l <= last; l++) {
        size_t j = o->first + l * q;
        if (blocks_have(m, f)) {
            wanted[m->blocks->place[f][l].block] = true;
            continue;
        }
        level_at_strength(o, &spread, l, strength, w + j, false, &p);
        memcpy(at + j, p.effect, q * sizeof *at);
    }
}

bool joint_effects(const mixed *m, const double *w, size_t first, size_t count, double *at)
{
    double strength = exp(log_strength(m, w) - m->strength_at);
    bool *wanted = calloc(m->blocks->count + 1, sizeof *wanted);
    if (!wanted) return false;
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        size_t q = o->shape.effects, begin = o->first, end = begin + levels_of(m, o) * q;
        if (first > begin) begin = first;
        if (first + count < end) end = first + count;
        if (begin < end)
            lead_some(m, f, strength, w, (begin - o->first) / q, (end - 1 - o->first) / q,
                      wanted, at);
    }
    blocks_lead_some(m, strength, w, wanted, at);
    free(wanted);
    return true;
}

void joint_back(const void *self, const double *w, double *at, double *gradient)
{
    const mixed *m = self;
    double strength = exp(log_strength(m, w) - m->strength_at);
    double by_strength = blocks_back(m, strength, w, at, gradient);
    for (size_t f = 0; f < m->others; f++)
        if (!blocks_have(m, f))
            by_strength +=
                levels_back(&m->other[f], levels_of(m, &m->other[f]), strength, w, gradient);
    for (size_t a = 0; a < m->rows_of->auxiliary_count; a++)
        gradient[m->aux + a] += strength_power(m, a) * by_strength;
}

size_t joint_room(const void *self)
{
    return blocks_room(self);
}

double joint_work(const void *self)
{
    const mixed *m = self;
    double price = larger(m->rows_of->predictor->price, 1.0);
    double total = (double)m->data->n * (ROW_WORK * price + rows_numbers(m->data));
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        double q = (double)o->shape.effects, each = q > 1.0 ? LEVEL_WORK * q * q : LEVEL_ALONE;
        if (!blocks_have(m, f)) total += (double)levels_of(m, o) * each;
    }
    return (total + blocks_work(m)) / (double)m->groups->count;
}

/* ---- rows ---- */

typedef struct {
    const mixed *m;
    const double *at;         /* x of joint.h */
    double *beta, *sum, *row; /* padded for the rows' products */
    double *eta, *out, *share, *aux_out;
    size_t first, n; /* rows */
} joint_view;

static size_t lay_out(joint_view *v, const mixed *m, double *base)
{
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&v->beta, m->data->stride},
                 {&v->sum, m->data->stride},
                 {&v->row, m->data->stride},
                 {&v->eta, SOME},
                 {&v->out, SOME},
                 {&v->share, SOME},
                 {&v->aux_out, m->rows_of->auxiliary_count * SOME}};
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
    return lay_out(&unused, self, NULL);
}

static void begin(joint_view *v, const mixed *m, const double *at, double *room)
{
    size_t d = m->data->d;
    *v = (joint_view){.m = m, .at = at};
    lay_out(v, m, room);
    memcpy(v->beta, at, d * sizeof *at);
    memset(v->beta + d, 0, (m->data->stride - d) * sizeof *at);
    memset(v->sum, 0, m->data->stride * sizeof *at);
}

/* eta += z u of one effect of a factor. */
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

/* The predictors of n rows from `first` on. */
static batch see(joint_view *v, size_t first, size_t n)
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

/* Goes through the rows of groups that lie one behind another. */
typedef struct {
    size_t next, end, group; /* rows; the group of the next one */
} rows_walk;

static rows_walk walk_from(const mixed *m, size_t group, size_t groups)
{
    const size_t *start = m->groups->start;
    return (rows_walk){start[group], start[group + groups], group};
}

static bool walk_on(joint_view *v, rows_walk *w, batch *out)
{
    size_t left = w->end - w->next, n = left < SOME ? left : SOME;
    if (n == 0) return false;
    *out = see(v, w->next, n);
    w->next += n;
    return true;
}

/* The group of the i-th row at hand, rows being asked for in their order. */
static size_t walk_group(const joint_view *v, rows_walk *w, size_t i)
{
    while (v->m->groups->start[w->group + 1] <= v->first + i) w->group++;
    return w->group;
}

static void add_logliks(joint_view *v, size_t group, size_t groups, double *out)
{
    batch b;
    rows_walk w = walk_from(v->m, group, groups);
    while (walk_on(v, &w, &b)) {
        v->m->rows_of->predictor->loglik(&b, v->out);
        weigh(v, v->out);
        for (size_t i = 0; i < b.n; i++) out[walk_group(v, &w, i) - group] += v->out[i];
    }
}

void joint_loglik(const void *self, row_range r, const double *at, double *room, double *out)
{
    joint_view v;
    begin(&v, self, at, room);
    memset(out, 0, r.n * sizeof *out);
    if (!r.list) add_logliks(&v, r.first, r.n, out);
    for (size_t i = 0; r.list && i < r.n; i++) add_logliks(&v, r.list[i], 1, out + i);
}

static void add_gradients(joint_view *v, size_t group, size_t groups, const double *factor,
                          double *out)
{
    const mixed *m = v->m;
    batch b;
    rows_walk w = walk_from(m, group, groups);
    size_t count = m->rows_of->auxiliary_count;
    while (walk_on(v, &w, &b)) {
        m->rows_of->predictor->gradient(&b, v->out, count ? v->aux_out : NULL);
        for (size_t i = 0; i < b.n; i++) v->share[i] = factor[walk_group(v, &w, i) - group];
        weigh(v, v->share);
        for (size_t i = 0; i < b.n; i++) v->out[i] *= v->share[i];
        rows_combine(m->data, m->k, rows_from(v->first, v->n), v->out, v->sum);
        for (size_t a = 0; a < count; a++)
            out[m->aux + a] += m->k->dot(b.n, v->share, v->aux_out + a * b.pitch);
        for (size_t f = 0; f < m->others; f++)
            for (size_t a = 0; a < m->other[f].shape.effects; a++)
                pull_effects(v, &m->other[f], a, out);
    }
}

void joint_gradient(const void *self, row_range r, const double *at, const double *factor,
                    double *room, double *out)
{
    joint_view v;
    const mixed *m = self;
    begin(&v, m, at, room);
    if (!r.list) add_gradients(&v, r.first, r.n, factor, out);
    for (size_t i = 0; r.list && i < r.n; i++) add_gradients(&v, r.list[i], 1, factor + i, out);
    add_scaled(m->data->d, 1.0, v.sum, out);
}

/* ---- what data say of levels ---- */

typedef struct {
    const mixed *m;
    const double *at;
    const size_t *place; /* of each factor's matrices in the sum, */
    size_t blocks;       /* and of the blocks' */
} precision_question;

/* to[level] += z z' bent, for the rows at hand */
static void add_outer(const joint_view *v, const other_factor *o, double *to)
{
    const uint32_t *of = v->m->groups->factor[o->factor].of + v->first;
    size_t q = o->shape.effects;
    for (size_t i = 0; i < v->n; i++) {
        double z[EFFECTS_A_LEVEL], *own = to + of[i] * q * q;
        for (size_t a = 0; a < q; a++) z[a] = mixed_z(v->m, v->first + i, o->column[a]);
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++) own[a * q + b] += v->out[i] * z[a] * z[b];
    }
}

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

/* Rows that bend the other way count for nothing. */
static void add_precisions(const void *self, row_range r, double *scratch, double *total)
{
    const precision_question *ask = self;
    const mixed *m = ask->m;
    joint_view v;
    batch b;
    begin(&v, m, ask->at, scratch);
    rows_walk w = walk_from(m, r.first, r.n);
    while (walk_on(&v, &w, &b)) {
        m->rows_of->predictor->curvature(&b, v.out, NULL, NULL);
        weigh(&v, v.out);
        for (size_t i = 0; i < b.n; i++) v.out[i] = v.out[i] < 0.0 ? -v.out[i] : 0.0;
        for (size_t f = 0; f < m->others; f++)
            if (!blocks_have(m, f)) add_outer(&v, &m->other[f], total + ask->place[f]);
        add_columns(&v, total + ask->blocks);
    }
}

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

sbps_status mixed_joint_anchor(void *self, const rows *groups, double *w, sbps_error *err)
{
    mixed *m = self;
    size_t place[OTHERS_MOST], width = 0;
    for (size_t f = 0; f < m->others; f++) {
        size_t q = m->other[f].shape.effects;
        place[f] = width;
        if (!blocks_have(m, f)) width += levels_of(m, &m->other[f]) * q * q;
    }
    size_t blocks = width, room = m->dim + joint_room(m);
    width += blocks_width(m);
    double *at = new_doubles(room + width), *precisions = at + room;
    if (!at) return fail_memory(err);
    joint_lead(m, w, at);
    const precision_question ask = {m, at, place, blocks};
    const row_sum what = {
        .self = &ask, .width = width, .scratch = joint_scratch(m, 0), .add = add_precisions};
    sbps_status status = row_sums(groups, &what, precisions, err);
    for (size_t f = 0; f < m->others && status == SBPS_OK; f++)
        if (!blocks_have(m, f)) set_factor(m, &m->other[f], precisions + place[f], at, w);
    if (status == SBPS_OK) blocks_set(m, precisions + blocks, at, w);
    if (status == SBPS_OK) m->strength_at = log_strength(m, w);
    free(at);
    return status;
}

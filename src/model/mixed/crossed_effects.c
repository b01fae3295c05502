/* The effects of other factors, as a group meets them. */
#include "model/mixed/crossed_effects.h"
#include "linalg/dense_matrix.h"

#include <string.h>

#define STEP 1e-4 /* of differences of first derivatives */

incident_levels crossed_incidence(const group_view *v, size_t factor, size_t place)
{
    const other_factor *o = &v->m->other[factor];
    size_t first = o->incident_start[v->group];
    return (incident_levels){.of = o,
                             .at = v->p.other[factor],
                             .level = o->incident + first,
                             .slot = o->slot + v->first,
                             .rows = o->incident_fraction + first,
                             .count = o->incident_start[v->group + 1] - first,
                             .place = place};
}

static const double *standard(const group_view *v, const incident_levels *l, size_t i)
{
    return v->p.w + l->of->first + l->level[i] * l->of->shape.effects;
}

size_t crossed_effects(const group_view *v)
{
    size_t place = 0;
    for (size_t f = 0; f < v->m->others; f++)
        place += crossed_incidence(v, f, 0).count * v->m->other[f].shape.effects;
    return place;
}

/* ---- what rows see ---- */

static void add_level(group_view *v, const incident_levels *l, size_t i)
{
    level_point at;
    size_t q = l->of->shape.effects, moves = level_moves(l->of);
    double *effect = v->incident + l->place + i * q,
           *rate = v->incident_rate + l->place + i * q;
    level_at(l->of, l->at, l->level[i], standard(v, l, i), v->p.along, &at);
    memcpy(effect, at.effect, q * sizeof *effect);
    v->log_density += l->rows[i] * at.value;
    if (!v->p.along) return;
    memset(rate, 0, q * sizeof *rate);
    for (size_t k = 0; k < moves; k++) {
        double along = v->p.along[level_coordinate(l->of, l->level[i], k)];
        add_scaled(q, along, at.first[k], rate);
        v->log_density_rate += l->rows[i] * along * at.value_first[k];
    }
}

static void add_to_rows(const group_view *v, const incident_levels *l, const double *effects,
                        double *to)
{
    size_t q = l->of->shape.effects;
    for (size_t i = 0; i < v->n; i++)
        for (size_t a = 0; a < q; a++)
            to[i] += mixed_z(v->m, v->first + i, l->of->column[a]) *
                     effects[l->place + l->slot[i] * q + a];
}

void crossed_add_effects(group_view *v)
{
    size_t place = 0;
    v->log_density = v->log_density_rate = 0.0;
    for (size_t f = 0; f < v->m->others; f++) {
        incident_levels l = crossed_incidence(v, f, place);
        for (size_t i = 0; i < l.count; i++) add_level(v, &l, i);
        add_to_rows(v, &l, v->incident, v->base);
        if (v->p.along) add_to_rows(v, &l, v->incident_rate, v->d_base);
        place += l.count * l.of->shape.effects;
    }
}

void crossed_pull(const group_view *v, size_t first, size_t n, const double *weight,
                  double *out, size_t pitch)
{
    size_t place = 0;
    for (size_t f = 0; f < v->m->others; f++) {
        incident_levels l = crossed_incidence(v, f, place);
        size_t q = l.of->shape.effects;
        for (size_t i = first; i < first + n; i++)
            for (size_t a = 0; a < q; a++)
                out[(place + l.slot[i] * q + a) * pitch] +=
                    weight[i - first] * mixed_z(v->m, v->first + i, l.of->column[a]);
        place += l.count * q;
    }
}

size_t crossed_of_row(const group_view *v, size_t i, incident_effect *out)
{
    size_t count = 0, place = 0;
    for (size_t f = 0; f < v->m->others; f++) {
        incident_levels l = crossed_incidence(v, f, place);
        size_t q = l.of->shape.effects;
        for (size_t a = 0; a < q; a++)
            out[count++] = (incident_effect){place + l.slot[i] * q + a,
                                             mixed_z(v->m, v->first + i, l.of->column[a])};
        place += l.count * q;
    }
    return count;
}

/* ---- from effects to coordinates ---- */

void crossed_gradient(group_view *v, double factor, const double *by_effect, double *out)
{
    size_t place = 0;
    for (size_t f = 0; f < v->m->others; f++) {
        incident_levels l = crossed_incidence(v, f, place);
        size_t q = l.of->shape.effects, moves = level_moves(l.of);
        for (size_t i = 0; i < l.count; i++) {
            level_point at;
            level_at(l.of, l.at, l.level[i], standard(v, &l, i), true, &at);
            for (size_t k = 0; k < moves; k++)
                out[level_coordinate(l.of, l.level[i], k)] +=
                    factor * (dot(q, at.first[k], by_effect + place + i * q) +
                              l.rows[i] * at.value_first[k]);
        }
        place += l.count * q;
    }
}

/* ---- second derivatives ---- */

/* How one effect that the group meets moves with phi; a level's effects have coordinates in common. */
typedef struct {
    const other_factor *of;
    size_t level;
    double by[LEVEL_MOVES];
} effect_moves;

static void list_moves(const group_view *v, effect_moves *out)
{
    for (size_t f = 0, place = 0; f < v->m->others; f++) {
        incident_levels l = crossed_incidence(v, f, place);
        size_t q = l.of->shape.effects, moves = level_moves(l.of);
        for (size_t i = 0; i < l.count; i++) {
            level_point at;
            level_at(l.of, l.at, l.level[i], standard(v, &l, i), true, &at);
            for (size_t a = 0; a < q; a++, place++) {
                out[place] = (effect_moves){.of = l.of, .level = l.level[i]};
                for (size_t k = 0; k < moves; k++) out[place].by[k] = at.first[k][a];
            }
        }
    }
}

/* hessian[row of each move][column] or, where that is above the diagonal, the other way round */
static void add_move(size_t dim, const effect_moves *e, double value, size_t column, bool whole,
                     double *hessian)
{
    for (size_t k = 0; k < level_moves(e->of); k++) {
        size_t row = level_coordinate(e->of, e->level, k);
        if (row >= column)
            hessian[row * dim + column] += value * e->by[k];
        else if (!whole)
            hessian[column * dim + row] += value * e->by[k];
    }
}

static size_t core_coordinate(const mixed *m, size_t j)
{
    size_t before = m->data->d + m->spreads;
    return j < before ? j : m->aux + (j - before);
}

/* D'H D: pairs of effects are met in both orders, each filling the lower triangle. */
static void add_curvature(const mixed *m, double factor, size_t dim, size_t effects,
                          const effect_moves *moves, const double *hessian, double *out)
{
    size_t core = dim - effects;
    for (size_t a = 0; a < core; a++)
        for (size_t b = 0; b <= a; b++) /* auxiliaries come last in both: the order stays */
            out[core_coordinate(m, a) * m->dim + core_coordinate(m, b)] +=
                factor * hessian[a * dim + b];
    for (size_t e = 0; e < effects; e++) {
        const double *row = hessian + (core + e) * dim;
        for (size_t b = 0; b < core; b++)
            add_move(m->dim, &moves[e], factor * row[b], core_coordinate(m, b), false, out);
        for (size_t other = 0; other < effects; other++) {
            double value = factor * (other <= e ? row[core + other]
                                                : hessian[(core + other) * dim + core + e]);
            const effect_moves *to = &moves[other];
            for (size_t k = 0; value != 0.0 && k < level_moves(to->of); k++)
                add_move(m->dim, &moves[e], value * to->by[k],
                         level_coordinate(to->of, to->level, k), true, out);
        }
    }
}

/* The place moved by a step in the k-th coordinate of a level. */
static void level_at_step(const group_view *v, const incident_levels *l, size_t i, size_t k,
                          double step, level_point *out)
{
    size_t q = l->of->shape.effects, count = l->of->shape.count;
    double eta[LEVEL_EFFECTS_MAX];
    memcpy(eta, standard(v, l, i), q * sizeof *eta);
    const effect_spread *at = l->at;
    if (k < count)
        at += 1 + 2 * k + (step > 0.0);
    else
        eta[k - count] += step;
    level_at(l->of, at, l->level[i], eta, true, out);
}

/* sum_a gradient_a d^2 u_a + what the level says itself */
static void add_second_derivatives(const group_view *v, const incident_levels *l, size_t i,
                                   double factor, const double *gradient, double *out)
{
    size_t q = l->of->shape.effects, moves = level_moves(l->of), dim = v->m->dim;
    for (size_t k = 0; k < moves; k++) {
        level_point low, high;
        level_at_step(v, l, i, k, -STEP, &low);
        level_at_step(v, l, i, k, STEP, &high);
        size_t row = level_coordinate(l->of, l->level[i], k);
        for (size_t j = 0; j <= k; j++) {
            double second = l->rows[i] * (high.value_first[j] - low.value_first[j]);
            for (size_t a = 0; a < q; a++)
                second += gradient[a] * (high.first[j][a] - low.first[j][a]);
            out[row * dim + level_coordinate(l->of, l->level[i], j)] +=
                factor * second / (2.0 * STEP);
        }
    }
}

void crossed_expand(group_view *v, double factor, size_t dim, const double *gradient,
                    const double *hessian, double *scratch, double *out, double *out_hessian)
{
    const mixed *m = v->m;
    size_t effects = crossed_effects(v), core = dim - effects;
    effect_moves *moves = (effect_moves *)scratch;
    list_moves(v, moves);
    for (size_t j = 0; j < core; j++) out[core_coordinate(m, j)] += factor * gradient[j];
    crossed_gradient(v, factor, gradient + core, out);
    add_curvature(m, factor, dim, effects, moves, hessian, out_hessian);
    for (size_t f = 0, place = core; f < m->others; f++) {
        incident_levels l = crossed_incidence(v, f, place - core);
        for (size_t i = 0; i < l.count; i++, place += l.of->shape.effects)
            add_second_derivatives(v, &l, i, factor, gradient + place, out_hessian);
    }
}

size_t crossed_scratch(const mixed *m)
{
    return m->incident_max * (sizeof(effect_moves) / sizeof(double));
}

void crossed_begin(const mixed *m, const double *w, bool with_second, effect_spread *spreads,
                   group_point *p)
{
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        double x[SPREAD_MAX];
        p->other[f] = spreads;
        memcpy(x, w + o->spread, o->shape.count * sizeof *x);
        spread_at(&o->shape, x, false, spreads++);
        for (size_t k = 0; k < o->shape.count; k++, spreads += 2) {
            if (!with_second) continue;
            double here = x[k];
            x[k] = here - STEP;
            spread_at(&o->shape, x, false, spreads);
            x[k] = here + STEP;
            spread_at(&o->shape, x, false, spreads + 1);
            x[k] = here;
        }
    }
}

size_t crossed_spreads(const mixed *m)
{
    size_t count = 0;
    for (size_t f = 0; f < m->others; f++) count += 1 + 2 * m->other[f].shape.count;
    return count;
}

/* Effects of crossed factors in the rows of a group: evaluation, derivatives, the levels that
 * occur in each group, and recentring by the Hessian. */
#include "model/mixed/crossed_effects.h"
#include "core/memory.h"
#include "core/status.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Step in coordinates, for central differences of first derivatives: these are exact, so that a
 * second derivative has a relative error of the order of STEP^2. */
#define STEP 1e-4

/* The levels of a factor in the group that v has loaded. */
static incident_levels crossed_incidence(const group_view *v, size_t factor, size_t place)
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

/* The eta of the i-th level. */
static const double *standardised_effects(const group_view *v, const incident_levels *l,
                                          size_t i)
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

/* ---- effects in rows ---- */

/* Evaluates the i-th level, and its rate if v has a direction. */
static void add_level(group_view *v, const incident_levels *l, size_t i)
{
    level_point at;
    size_t q = l->of->shape.effects, moves = level_moves(l->of);
    double *effect = v->incident + l->place + i * q,
           *rate = v->incident_rate + l->place + i * q;
    level_at(l->of, l->at, l->level[i], standardised_effects(v, l, i), v->p.along, &at);
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

/* to[row] += z.effects of the row's level. */
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
            level_at(l.of, l.at, l.level[i], standardised_effects(v, &l, i), true, &at);
            for (size_t k = 0; k < moves; k++)
                out[level_coordinate(l.of, l.level[i], k)] +=
                    factor * (dot(q, at.first[k], by_effect + place + i * q) +
                              l.rows[i] * at.value_first[k]);
        }
        place += l.count * q;
    }
}

/* ---- second derivatives ---- */

/* Derivatives of one incident effect by its coordinates, which a level's effects have in
 * common. */
typedef struct {
    const other_factor *of;
    size_t level;
    double by[LEVEL_MOVES];
} effect_moves;

/* The derivatives of all incident effects, in the order of their places. */
static void list_moves(const group_view *v, effect_moves *out)
{
    for (size_t f = 0, place = 0; f < v->m->others; f++) {
        incident_levels l = crossed_incidence(v, f, place);
        size_t q = l.of->shape.effects, moves = level_moves(l.of);
        for (size_t i = 0; i < l.count; i++) {
            level_point at;
            level_at(l.of, l.at, l.level[i], standardised_effects(v, &l, i), true, &at);
            for (size_t a = 0; a < q; a++, place++) {
                out[place] = (effect_moves){.of = l.of, .level = l.level[i]};
                for (size_t k = 0; k < moves; k++) out[place].by[k] = at.first[k][a];
            }
        }
    }
}

/* hessian[row of each move][column] += value times the move. Above the diagonal: added to the
 * transposed entry, or left out if `whole`, when the caller adds that as well. */
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

/* The coordinate of the j-th of (beta, spread, auxiliaries). */
static size_t core_coordinate(const mixed *m, size_t j)
{
    size_t before = m->data->d + m->spreads;
    return j < before ? j : m->aux + (j - before);
}

/* Adds factor times D'H D, D the derivatives of incident effects. Pairs of effects come in both
 * orders, and each order fills the lower triangle. */
static void add_curvature(const mixed *m, double factor, size_t dim, size_t effects,
                          const effect_moves *moves, const double *hessian, double *out)
{
    size_t core = dim - effects;
    for (size_t a = 0; a < core; a++)
        for (size_t b = 0; b <= a; b++) /* auxiliaries are the last in both: the order stays */
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

/* The level's effects with its k-th coordinate moved by +-STEP. */
static void level_at_step(const group_view *v, const incident_levels *l, size_t i, size_t k,
                          double step, level_point *out)
{
    size_t q = l->of->shape.effects, count = l->of->shape.count;
    double eta[LEVEL_EFFECTS_MAX];
    memcpy(eta, standardised_effects(v, l, i), q * sizeof *eta);
    const effect_spread *at = l->at;
    if (k < count)
        at += 1 + 2 * k + (step > 0.0);
    else
        eta[k - count] += step;
    level_at(l->of, at, l->level[i], eta, true, out);
}

/* Adds sum_a gradient_a d^2 u_a, and the second derivatives of the level's own value. */
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

/* ---- incidence ---- */

/* Working arrays: at[level] is the index of a level in the group's list, if seen[level] is the
 * group + 1. */
typedef struct {
    size_t *seen; /* by level */
    uint32_t *at;
    double *rows; /* by level: rows in all groups */
} level_tally;

/* Lists the levels in the rows of group g. */
static void list_group_levels(const mixed *m, other_factor *o, const level_tally *t, size_t g,
                              size_t *used)
{
    const uint32_t *of = m->groups->factor[o->factor].of;
    size_t first = o->incident_start[g] = *used;
    for (size_t i = m->groups->start[g]; i < m->groups->start[g + 1]; i++) {
        size_t level = of[i];
        if (t->seen[level] != g + 1) {
            t->seen[level] = g + 1;
            t->at[level] = (uint32_t)(*used - first);
            o->incident[*used] = (uint32_t)level;
            o->incident_fraction[(*used)++] = 0.0;
        }
        o->slot[i] = t->at[level];
        o->incident_fraction[first + o->slot[i]] += 1.0 / t->rows[level];
    }
}

/* Lists the incident levels of a factor for all groups. False: no memory. Lists have room for
 * the most there can be, a level for every row, and are cut to their length in the end. */
static bool list_incidence(const mixed *m, other_factor *o, const level_tally *t)
{
    const group_factor *factor = &m->groups->factor[o->factor];
    size_t n = m->data->local_rows, count = m->groups->count, used = 0;
    o->incident_start = calloc(count + 1, sizeof *o->incident_start);
    o->incident = malloc((n + 1) * sizeof *o->incident);
    o->slot = malloc((n + 1) * sizeof *o->slot);
    o->incident_fraction = malloc((n + 1) * sizeof *o->incident_fraction);
    if (!o->incident_start || !o->incident || !o->slot || !o->incident_fraction) return false;
    for (size_t i = 0; i < n; i++) t->rows[factor->of[i]] += 1.0;
    for (size_t g = 0; g < count; g++) list_group_levels(m, o, t, g, &used);
    o->incident_start[count] = used;
    uint32_t *incident = realloc(o->incident, (used + 1) * sizeof *incident);
    if (incident) o->incident = incident;
    double *fraction = realloc(o->incident_fraction, (used + 1) * sizeof *fraction);
    if (fraction) o->incident_fraction = fraction;
    return incident && fraction;
}

/* Allocates P and b of a factor, both 0, and lists its levels. */
static sbps_status open_factor(const mixed *m, other_factor *o, sbps_error *err)
{
    size_t levels = m->groups->factor[o->factor].levels, q = o->shape.effects;
    const level_tally t = {calloc(levels, sizeof *t.seen), calloc(levels, sizeof *t.at),
                           new_doubles(levels)};
    o->precision = new_doubles(levels * q * q);
    o->pull = new_doubles(levels * q);
    bool fine = t.seen && t.at && t.rows && o->precision && o->pull && list_incidence(m, o, &t);
    free(t.seen);
    free(t.at);
    free(t.rows);
    return fine ? SBPS_OK : fail_memory(err);
}

/* The largest number of incident effects of a group. */
static void find_incident_max(mixed *m)
{
    for (size_t g = 0; g < m->groups->count; g++) {
        size_t count = 0;
        for (size_t f = 0; f < m->others; f++) {
            const other_factor *o = &m->other[f];
            count += (o->incident_start[g + 1] - o->incident_start[g]) * o->shape.effects;
        }
        if (count > m->incident_max) m->incident_max = count;
    }
}

sbps_status crossed_open(mixed *m, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t f = 0; f < m->others && status == SBPS_OK; f++)
        status = open_factor(m, &m->other[f], err);
    if (status == SBPS_OK) find_incident_max(m);
    return status;
}

void crossed_close(mixed *m)
{
    for (size_t f = 0; f < m->others; f++) {
        other_factor *o = &m->other[f];
        free(o->precision);
        free(o->pull);
        free(o->incident_start);
        free(o->incident);
        free(o->slot);
        free(o->incident_fraction);
    }
}

/* ---- recentring ---- */

/* P and b by the Hessian at a point: let C be the covariance of a level's eta given the
 * covariances of effects. Then z has precision A C^-1 A' there; I of it is the effects' own
 * distribution, and the rest is L'P L. */

bool mixed_crossed(const void *self)
{
    return ((const mixed *)self)->others > 0;
}

double mixed_moved(const void *self, const double *hessian, const double *from,
                   const double *to)
{
    const mixed *m = self;
    double largest = 0.0;
    for (size_t f = 0; f < m->others; f++) {
        size_t first = m->other[f].spread;
        for (size_t j = first; j < first + m->other[f].shape.count; j++)
            largest =
                fmax(largest, fabs(to[j] - from[j]) * sqrt(fabs(hessian[j * m->dim + j])));
    }
    return largest;
}

/* Is coordinate j an sd or correlation of a crossed factor? */
static bool is_spread(const mixed *m, size_t j)
{
    const other_factor *last = &m->other[m->others - 1];
    return j >= m->other[0].spread && j < last->spread + last->shape.count;
}

/* *out = the covariance of all coordinates except the spreads of crossed factors, given those;
 * to be freed. Coordinates before the spreads keep their index; those behind have it reduced by
 * the number of spreads. */
static sbps_status covariance_given_spreads(const mixed *m, const double *hessian, double **out,
                                            sbps_error *err)
{
    size_t d = 0;
    double *part = *out = new_doubles(2 * m->dim * m->dim);
    for (size_t i = 0; part && i < m->dim; i++) {
        if (is_spread(m, i)) continue;
        for (size_t j = 0; j < m->dim; j++)
            if (!is_spread(m, j)) part[d++] = hessian[i * m->dim + j];
    }
    if (!part) return fail_memory(err);
    d = (size_t)lround(sqrt((double)d));
    double *inverse = part + d * d;
    bool fine = cholesky(d, part);
    if (fine) cholesky_inverse(d, part, inverse);
    memmove(part, inverse, d * d * sizeof *part);
    if (fine) return SBPS_OK;
    free(part);
    *out = NULL;
    return fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
}

#define CONFOUNDED_RATIO 4.0 /* ratio of variances */

/* If rows determine the differences between levels well but not the sum of all levels, as
 * beside an intercept, a level's own covariance is large although the data have much
 * information about it, and its sd would move what the data determine. Then its covariance
 * given all other levels replaces `block`. */
static void replace_confounded_block(const mixed *m, const double *hessian, size_t first,
                                     size_t q, double *block)
{
    double own[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX],
        inverse[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    bool confounded = false;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++)
            own[a * q + b] = hessian[(first + a) * m->dim + first + b];
    if (!cholesky(q, own)) return;
    cholesky_inverse(q, own, inverse);
    for (size_t a = 0; a < q; a++)
        confounded |= block[a * q + a] > CONFOUNDED_RATIO * inverse[a * q + a];
    if (confounded) memcpy(block, inverse, q * q * sizeof *block);
}

/* Sets P and b of all levels of a factor. */
static void recentre_factor(const mixed *m, other_factor *o, const double *hessian,
                            const double *covariance, double *w)
{
    effect_spread at;
    size_t q = o->shape.effects, levels = m->groups->factor[o->factor].levels, gone = 0;
    for (size_t f = 0; f < m->others; f++) gone += m->other[f].shape.count;
    size_t d = m->dim - gone;
    spread_at(&o->shape, w + o->spread, false, &at);
    for (size_t level = 0; level < levels; level++) {
        double block[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
        size_t first = o->first + level * q;
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++)
                block[a * q + b] = covariance[(first - gone + a) * d + first - gone + b];
        replace_confounded_block(m, hessian, first, q, block);
        level_recentre(o, &at, level, block, w + first);
    }
}

sbps_status mixed_recentre(void *self, const double *hessian, double *w, sbps_error *err)
{
    mixed *m = self;
    double *covariance;
    sbps_status status = covariance_given_spreads(m, hessian, &covariance, err);
    if (status != SBPS_OK) return status;
    for (size_t f = 0; f < m->others; f++)
        recentre_factor(m, &m->other[f], hessian, covariance, w);
    free(covariance);
    return SBPS_OK;
}

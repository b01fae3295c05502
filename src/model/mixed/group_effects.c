/* The effects of groups: which there are, and one draw from p(v | y, phi) by the group's rows, which is independence
 * Metropolis from Student's t. Proposals come all at once, the
 * first is where the chain begins, and with every other the chain's law comes nearer to the posterior's.
 *
 * A group of many rows is nearly normal: mode and curvature there do for the t. One of few may be skewed as far as the
 * normal of its effects is wide, so that the t has the mean and the covariance that the nodes of its integral say, and
 * there are more proposals. */
#include "model/mixed/group_effects.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/centring.h"
#include "model/mixed/group_polynomial.h"
#include "model/mixed/marginal.h"
#include "model/mixed/mixed_coordinates.h"
#include "model/mixed/nested.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRIES      ((size_t)10)
#define TRIES_MANY ((size_t)3) /* of groups of many rows */
#define MANY       ((size_t)200)
#define FREEDOM    8 /* of the t: heavier tails than those of any group */

/* ---- which ---- */

/* One part of a group: a level of a factor that is nested in the group's, or the group. */
typedef struct {
    size_t level, first; /* of the nest; row of the table */
    size_t place;        /* of its first effect */
} part;

/* Walks through parts in the order of draws to the one that has effect `wanted`, if there is such; effects on the way
 * are counted in to->place. */
static bool walk_parts(const mixed *m, size_t level, size_t first, size_t end, size_t target,
                       part *to)
{
    size_t q = m->level[level].shape.effects;
    to->level = level;
    to->first = first;
    if (target < to->place + q) return true;
    to->place += q;
    for (size_t next; level + 1 < m->levels && level + 1 < LEVELS_MAX && first < end;
         first = next) {
        next = nested_run_end(m, level + 1, first, end);
        if (walk_parts(m, level + 1, first, next, target, to)) return true;
    }
    return false;
}

size_t mixed_effects(const void *self, size_t g)
{
    const mixed *m = self;
    part end = {0};
    walk_parts(m, 0, m->groups->start[g], m->groups->start[g + 1], SIZE_MAX, &end);
    return end.place;
}

/* Of the parts in rows first..end, from *out on, which moves behind them. */
static void parts_at_zero(const mixed *m, size_t level, size_t first, size_t end, size_t count,
                          double **out)
{
    const nested_level *l = &m->level[level];
    effects_at_zero(&l->shape, l->column, count, *out);
    *out += l->shape.effects * count;
    for (size_t next; level + 1 < m->levels && level + 1 < LEVELS_MAX && first < end;
         first = next) {
        next = nested_run_end(m, level + 1, first, end);
        parts_at_zero(m, level + 1, first, next, count, out);
    }
}

void group_effects_at_zero(const mixed *m, size_t g, size_t count, double *out)
{
    parts_at_zero(m, 0, m->groups->start[g], m->groups->start[g + 1], count, &out);
}

size_t mixed_effects_max(const void *self)
{
    const mixed *m = self;
    size_t largest = 0;
    if (m->levels == 1) return m->shape.effects;
    for (size_t g = 0; g < m->groups->count; g++) {
        size_t count = mixed_effects(self, g);
        if (count > largest) largest = count;
    }
    return largest;
}

void mixed_effect_name(const void *self, size_t g, size_t a, size_t size, char *text)
{
    const mixed *m = self;
    part at = {0};
    walk_parts(m, 0, m->groups->start[g], m->groups->start[g + 1], a, &at);
    const nested_level *l = &m->level[at.level];
    snprintf(text, size, "r_");
    mixed_level_name(m, &l->shape, m->groups->factor[l->factor].of[at.first], a - at.place,
                     size - 2, text + 2);
}

/* ---- draws ---- */

static double chi_square(rng *r, int freedom)
{
    double sum = 0.0;
    for (int i = 0; i < freedom; i += 2) sum += 2.0 * rng_exponential(r);
    return sum;
}

double draw_t(rng *r, size_t q, double *t)
{
    double square = 0.0, stretch = sqrt(FREEDOM / chi_square(r, FREEDOM));
    for (size_t a = 0; a < q; a++) {
        t[a] = stretch * rng_normal(r);
        square += t[a] * t[a];
    }
    return 0.5 * (FREEDOM + (double)q) * log1p(square / FREEDOM);
}

/* A proposal, and minus the log of its density. */
static double propose_effects(const group_view *v, rng *r, double *place)
{
    size_t q = v->m->shape.effects;
    double t[LEVEL_EFFECTS_MAX], ratio = draw_t(r, q, t);
    for (size_t a = 0; a < q; a++) {
        place[a] = v->mode[a];
        for (size_t b = 0; b < q; b++) place[a] += v->wide[a][b] * t[b];
    }
    return ratio;
}

bool node_moments(size_t q, size_t points, const double *weight, const double *place,
                  double *mean, double *factor)
{
    memset(mean, 0, q * sizeof *mean);
    memset(factor, 0, q * q * sizeof *factor);
    for (size_t k = 0; k < points; k++) add_scaled(q, weight[k], place + k * q, mean);
    for (size_t k = 0; k < points; k++)
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b <= a; b++)
                factor[a * q + b] +=
                    weight[k] * (place[k * q + a] - mean[a]) * (place[k * q + b] - mean[b]);
    return cholesky(q, factor);
}

/* v->mode and v->wide become mean and factor of the covariance, by the nodes' shares. */
static void match_moments(group_view *v)
{
    size_t q = v->m->shape.effects;
    double mean[LEVEL_EFFECTS_MAX], spread[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    if (!node_moments(q, v->m->points, v->node_weight, v->place, mean, spread))
        return; /* rounding: the mode will do */
    memcpy(v->mode, mean, q * sizeof *mean);
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) v->wide[a][b] = b <= a ? spread[a * q + b] : 0.0;
}

/* Index of the proposal that the chain ends at. */
static size_t walk(rng *r, size_t tries, const double *log_ratio)
{
    size_t at = 0;
    for (size_t i = 1; i < tries; i++)
        if (log(rng_uniform(r)) < log_ratio[i] - log_ratio[at]) at = i;
    return at;
}

/* L v of the proposal that the chain ends at. */
static void draw_from_proposals(group_view *v, rng *r, size_t tries, const double *place,
                                double *log_ratio, double *out)
{
    size_t q = v->m->shape.effects;
    group_heights(v, tries, place, log_ratio);
    const double *end = place + walk(r, tries, log_ratio) * q;
    for (size_t a = 0; a < q; a++) out[a] = dot(a + 1, v->p.at->factor[a], end);
}

void effects_by_rows(group_view *v, size_t g, rng *r, double *out)
{
    double place[TRIES * LEVEL_EFFECTS_MAX], log_ratio[TRIES];
    if (v->m->levels > 1) {
        group_load_rows(v, g);
        nested_draw(v, r, out);
        return;
    }
    const size_t *start = v->m->groups->start + g;
    bool many = start[1] - start[0] >= MANY;
    size_t tries = many ? TRIES_MANY : TRIES;
    if (many)
        group_locate(v, g);
    else
        group_value(v, g);
    if (!many) match_moments(v);
    for (size_t i = 0; i < tries; i++)
        log_ratio[i] = propose_effects(v, r, place + i * v->m->shape.effects);
    draw_from_proposals(v, r, tries, place, log_ratio, out);
}

void mixed_by_level(const void *self, size_t *groups)
{
    const mixed *m = self;
    const group_factor *f = &m->groups->factor[m->groups->by];
    /* levels have at most one group each: counted into place */
    size_t count = m->groups->count, next = 0;
    for (size_t level = 0; level < f->levels; level++) groups[level] = SIZE_MAX;
    for (size_t g = 0; g < count; g++) groups[f->of[m->groups->start[g]]] = g;
    for (size_t level = 0; level < f->levels; level++)
        if (groups[level] != SIZE_MAX) groups[next++] = groups[level];
}

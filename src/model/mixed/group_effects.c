/* Effects of groups: their number and names; a draw from p(v | y, phi) by the group's rows; and
 * draws at many points phi, by the group's polynomial where that agrees with its rows.
 *
 * A draw by rows is independence Metropolis with proposals from a multivariate t. Proposals are
 * drawn all at once, the first one is where the chain begins, and with every other the chain's
 * distribution comes nearer to p(v | y, phi). For a group of many rows, which is nearly normal,
 * the t has mode and curvature of the density. A group of few rows may be skewed by as much as
 * the sd of its effects; its t has mean and covariance by the quadrature nodes, and there are
 * more proposals. */
#include "model/mixed/group_effects.h"
#include "core/memory.h"
#include "core/status.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/centring.h"
#include "model/mixed/conditional.h"
#include "model/mixed/group_polynomial.h"
#include "model/mixed/group_view.h"
#include "model/mixed/mixed_coordinates.h"
#include "model/mixed/nested.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES      ((size_t)10)  /* proposals of a draw */
#define TRIES_MANY ((size_t)3)   /* for groups of many rows */
#define MANY       ((size_t)200) /* rows */
/* degrees of freedom of the t, whose tails must be heavier than those of any group */
#define FREEDOM 8

/* ---- number and names ---- */

/* A part of a group: the group itself, or a level of a nested factor. */
typedef struct {
    size_t level, first; /* level: 0 for the group; first: row of the table */
    size_t place;        /* index of its first effect */
} effect_part;

/* Walks through the parts of rows first..end in the order of draws, to the one with effect
 * `target`. False: there is no such effect, and to->place is the number of effects. */
static bool walk_parts(const mixed *m, size_t level, size_t first, size_t end, size_t target,
                       effect_part *to)
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
    effect_part end = {0};
    walk_parts(m, 0, m->groups->start[g], m->groups->start[g + 1], SIZE_MAX, &end);
    return end.place;
}

/* Replaces effects by those at z = 0, for the parts in rows first..end; *out moves behind
 * them. */
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
    effect_part at = {0};
    walk_parts(m, 0, m->groups->start[g], m->groups->start[g + 1], a, &at);
    const nested_level *l = &m->level[at.level];
    snprintf(text, size, "r_");
    mixed_level_name(m, &l->shape, m->groups->factor[l->factor].of[at.first], a - at.place,
                     size - 2, text + 2);
}

/* ---- draws ---- */

double draw_t(rng *r, size_t q, double *t)
{
    double square = 0.0, chi_square = 0.0;
    for (int i = 0; i < FREEDOM; i += 2) chi_square += 2.0 * rng_exponential(r);
    double stretch = sqrt(FREEDOM / chi_square);
    for (size_t a = 0; a < q; a++) {
        t[a] = stretch * rng_normal(r);
        square += t[a] * t[a];
    }
    return 0.5 * (FREEDOM + (double)q) * log1p(square / FREEDOM);
}

/* Draws a proposal; returns minus the log of its density. */
static double propose_effects(const group_view *v, rng *r, double *place)
{
    size_t q = v->m->shape.effects;
    double t[LEVEL_EFFECTS_MAX], ratio = draw_t(r, q, t);
    for (size_t a = 0; a < q; a++) {
        place[a] = v->mode[a];
        for (size_t b = 0; b < q; b++) place[a] += v->root[a][b] * t[b];
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

/* Sets v->mode and v->root to mean and factor of the covariance, by the nodes' weights. */
static void match_moments(group_view *v)
{
    size_t q = v->m->shape.effects;
    double mean[LEVEL_EFFECTS_MAX], spread[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    if (!node_moments(q, v->m->points, v->node_weight, v->place, mean, spread))
        return; /* singular by rounding: mode and curvature are used */
    memcpy(v->mode, mean, q * sizeof *mean);
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) v->root[a][b] = b <= a ? spread[a * q + b] : 0.0;
}

/* out = L v for the proposal that the chain ends at. */
static void draw_from_proposals(group_view *v, rng *r, size_t tries, const double *place,
                                double *log_ratio, double *out)
{
    size_t q = v->m->shape.effects, at = 0;
    group_heights(v, tries, place, log_ratio);
    for (size_t i = 1; i < tries; i++)
        if (log(rng_uniform(r)) < log_ratio[i] - log_ratio[at]) at = i;
    for (size_t a = 0; a < q; a++) out[a] = dot(a + 1, v->p.at->factor[a], place + at * q);
}

/* Draws the effects of group g by its rows; v was begun. */
static void effects_by_rows(group_view *v, size_t g, rng *r, double *out)
{
    double place[TRIES * LEVEL_EFFECTS_MAX], log_ratio[TRIES];
    if (v->m->levels > 1) {
        group_load_rows(v, g);
        nested_draw(v, r, out);
        return;
    }
    const size_t *start = v->m->start + g;
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

/* ---- draws at many points ---- */

/* Polynomials are those of the model, or fitted here group by group. They are compared with
 * rows at draws of the effects, at the points phi that are farthest out. */

#define CHECKS     ((size_t)8)  /* points where polynomials and rows are compared */
#define ERROR_MAX  0.03         /* of a polynomial, in log units */
#define MISFIT_MAX 0.1          /* of a fit, before it is compared */
#define WORTH      ((size_t)64) /* draws from which on a polynomial can pay for its fit */
#define REACH      8.0          /* range of r, in sds of the points */
/* Costs: a number of a polynomial costs 1/800 of a row, and an evaluation of the rows as much
 * as 6000 numbers. */
#define NUMBERS_PER_ROW        ((size_t)800)
#define NUMBERS_PER_EVALUATION ((size_t)6000)

/* What all groups have in common. Constant while groups are drawn, so that threads share it. */
struct effects_sampler {
    const mixed *m;
    size_t count, effects_max; /* points; effects of a group */
    const double *const *phi;
    group_polynomials *s;   /* NULL: effects are drawn by rows */
    bool own;               /* s is `made`, which has no groups: they are fitted one by one */
    group_polynomials made; /* see own */
    double *moments;        /* means of phi, and behind them sds */
    polynomial_grid grid;
    term_order order;
    conditional_points points, home, checks;
    const double *check_phi[CHECKS];
};

/* ---- preparation ---- */

/* Means and sds of the points, by coordinate. */
static void find_moments(effects_sampler *p)
{
    size_t d = p->m->dim;
    double *mean = p->moments, *sd = mean + d, weight = 1.0 / (double)p->count;
    for (size_t i = 0; i < p->count; i++) add_scaled(d, weight, p->phi[i], mean);
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < d; j++) sd[j] += weight * pow(p->phi[i][j] - mean[j], 2.0);
    for (size_t j = 0; j < d; j++) sd[j] = sqrt(sd[j]);
}

/* The squared distance of a point from the mean, in sds. Coordinates that do not vary are left
 * out. */
static double distance_from_mean(const effects_sampler *p, size_t i)
{
    size_t d = p->m->dim;
    const double *mean = p->moments, *sd = mean + d;
    double far = 0.0;
    for (size_t j = 0; j < d; j++)
        if (sd[j] > 0.0) far += pow((p->phi[i][j] - mean[j]) / sd[j], 2.0);
    return far;
}

/* The CHECKS points farthest out, by decreasing distance. */
static void find_checks(effects_sampler *p)
{
    double far[CHECKS] = {0.0};
    for (size_t i = 0; i < CHECKS; i++) p->check_phi[i] = p->phi[0];
    for (size_t i = 0; i < p->count; i++) {
        double own = distance_from_mean(p, i);
        size_t place = CHECKS;
        while (place > 0 && far[place - 1] < own) place--;
        if (place == CHECKS) continue;
        memmove(far + place + 1, far + place, (CHECKS - 1 - place) * sizeof *far);
        memmove(p->check_phi + place + 1, p->check_phi + place,
                (CHECKS - 1 - place) * sizeof *p->check_phi);
        far[place] = own;
        p->check_phi[place] = p->phi[i];
    }
}

/* Prepares polynomials around the mean of the points. */
static sbps_status open_own(effects_sampler *p, sbps_error *err)
{
    group_polynomials *s = &p->made;
    polynomials_shape(p->m, s);
    s->reference = new_doubles(2 * s->outer);
    if (!s->reference) return fail_memory(err);
    s->reach = s->reference + s->outer;
    for (size_t j = 0; j < s->outer; j++) {
        size_t at = polynomial_coordinate(p->m, j);
        s->reference[j] = p->moments[at];
        s->reach[j] = REACH * p->moments[p->m->dim + at];
    }
    p->own = true;
    p->s = s;
    return SBPS_OK;
}

/* Prepares the numbers of all points, of their mean, and of those for comparison. */
static sbps_status open_points(effects_sampler *p, sbps_error *err)
{
    const double *home[] = {p->moments};
    p->grid = (polynomial_grid){.m = p->m, .s = p->s, .w = p->moments, .misfit = MISFIT_MAX};
    term_order_set(&p->s->h, &p->order);
    find_checks(p);
    sbps_status status = polynomial_grid_open(&p->grid, err);
    if (status == SBPS_OK)
        status = conditional_points_open(p->m, p->s, p->count, p->phi, &p->points, err);
    if (status == SBPS_OK) status = conditional_points_open(p->m, p->s, 1, home, &p->home, err);
    if (status == SBPS_OK)
        status = conditional_points_open(p->m, p->s, CHECKS, p->check_phi, &p->checks, err);
    return status;
}

sbps_status effects_sampler_open(const void *self, size_t count, const double *const *phi,
                                 effects_sampler **out, sbps_error *err)
{
    const mixed *m = self;
    effects_sampler *p = *out = calloc(1, sizeof *p);
    if (!p) return fail_memory(err);
    *p = (effects_sampler){.m = m,
                           .count = count,
                           .effects_max = mixed_effects_max(m),
                           .phi = phi,
                           .s = m->polynomials};
    p->moments = new_doubles(2 * m->dim);
    sbps_status status = p->moments ? SBPS_OK : fail_memory(err);
    /* only groups without nested and crossed factors have polynomials */
    bool worth =
        count >= WORTH && m->levels == 1 && m->others == 0 && polynomial_is_complete(m);
    if (!worth) p->s = NULL;
    if (status == SBPS_OK && worth) find_moments(p);
    if (status == SBPS_OK && worth && !p->s) status = open_own(p, err);
    if (status == SBPS_OK && worth) status = open_points(p, err);
    if (status == SBPS_OK) return status;
    effects_sampler_close(p);
    *out = NULL;
    return status;
}

void effects_sampler_close(effects_sampler *p)
{
    if (!p) return;
    conditional_points_close(&p->points);
    conditional_points_close(&p->home);
    conditional_points_close(&p->checks);
    free(p->grid.node);
    free(p->made.reference);
    free(p->moments);
    free(p);
}

/* ---- a group ---- */

/* Scratch of one call. */
typedef struct {
    double *view, *drawn, *of, *sums;
    conditional l;
} draw_buffers;

/* Places the scratch of a call in base; returns its size in doubles. NULL base: size only. */
static size_t carve_draw_buffers(const effects_sampler *p, double *base, draw_buffers *out)
{
    size_t view = (group_scratch(p->m) + 7) / 8 * 8, drawn = (p->effects_max + 7) / 8 * 8;
    out->view = base;
    out->drawn = base ? base + view : NULL;
    if (!p->s) return view + drawn;
    polynomial_sums unused;
    size_t of = p->own ? (p->s->size + 7) / 8 * 8 : 0,
           sums = p->own ? polynomial_carve_sums(&p->grid, NULL, &unused) : 0;
    out->of = base ? out->drawn + drawn : NULL;
    out->sums = base ? out->of + of : NULL;
    return view + drawn + of + sums +
           conditional_carve(&out->l, p->m, p->s, base ? out->sums + sums : NULL);
}

size_t effects_scratch(const effects_sampler *p)
{
    draw_buffers unused;
    return carve_draw_buffers(p, NULL, &unused);
}

/* Sets buffers->l.of to the group's polynomial. False: there is none, or it does not pay. */
static bool find_polynomial(const effects_sampler *p, size_t g, draw_buffers *buffers)
{
    group_view v;
    conditional *l = &buffers->l;
    group_polynomials one = *p->s;
    l->order = &p->order;
    if (p->own) {
        one.of = buffers->of;
        l->of = polynomial_of(&one, 0);
        size_t group_rows = p->m->start[g + 1] - p->m->start[g];
        if (one.size > NUMBERS_PER_EVALUATION + NUMBERS_PER_ROW * group_rows) return false;
        group_begin(&v, p->m, p->moments, NULL, false, buffers->view);
        polynomial_fit(&p->grid, &v, g, &l->of, buffers->sums);
    } else
        l->of = polynomial_of(p->s, g);
    return *l->of.fits != 0.0;
}

/* v = L^-1 u, by forward substitution. */
static void standardize(const group_view *v, const double *u, double *place)
{
    for (size_t a = 0; a < v->m->shape.effects; a++) {
        const double *factor = v->p.at->factor[a];
        place[a] = (u[a] - dot(a, factor, place)) / factor[a];
    }
}

/* Adds the squared differences between polynomial and rows at the proposals of one point, apart
 * from a constant; returns their degrees of freedom. */
static size_t compare_at(const effects_sampler *p, size_t g, size_t point,
                         const draw_buffers *buffers, double *squares)
{
    const conditional *l = &buffers->l;
    size_t q = p->m->shape.effects, n = 0;
    double place[PROPOSALS_MAX * LEVEL_EFFECTS_MAX], off[PROPOSALS_MAX] = {0.0},
                                                     poly[PROPOSALS_MAX];
    group_view v;
    if (l->fine[point] == 0.0) return 0;
    group_begin(&v, p->m, p->check_phi[point], NULL, false, buffers->view);
    for (size_t k = 0; k < l->tries; k++) {
        double u[LEVEL_EFFECTS_MAX];
        poly[n] = l->height[k * POINT_LANES + point];
        if (!isfinite(poly[n])) continue;
        conditional_effects(l, k, point, u);
        standardize(&v, u, place + n++ * q);
    }
    if (n == 0) return 0;
    group_load_rows(&v, g);
    group_heights(&v, n, place, off);
    add_scaled(n, -1.0, poly, off);
    double mean = sum(n, off) / (double)n;
    for (size_t k = 0; k < n; k++) *squares += (off[k] - mean) * (off[k] - mean);
    return n - 1;
}

/* The root mean square difference between polynomial and rows; INFINITY: no point could be
 * compared. */
static double compare(const effects_sampler *p, size_t g, draw_buffers *buffers, rng *r)
{
    double squares = 0.0;
    size_t of = 0;
    conditional_propose(&buffers->l, &p->checks, 0, CHECKS, r);
    for (size_t i = 0; i < CHECKS; i++) of += compare_at(p, g, i, buffers, &squares);
    return of > 0 ? sqrt(squares / (double)of) : INFINITY;
}

/* Draws the effects at point i by rows. */
static void draw_by_rows(const effects_sampler *p, size_t g, size_t i,
                         const draw_buffers *buffers, rng *r, double *out)
{
    group_view v;
    size_t q = mixed_effects(p->m, g);
    group_begin(&v, p->m, p->phi[i], NULL, false, buffers->view);
    effects_by_rows(&v, g, r, buffers->drawn);
    for (size_t a = 0; a < q; a++) out[a * p->count + i] = buffers->drawn[a];
}

/* Draws the effects at points first.., by rows where the polynomial does not hold. */
static void draw_lanes(const effects_sampler *p, size_t g, size_t first, draw_buffers *buffers,
                       rng *r, double *out)
{
    conditional *l = &buffers->l;
    size_t left = p->count - first, n = left < POINT_LANES ? left : POINT_LANES;
    conditional_propose(l, &p->points, first, n, r);
    conditional_walk(l, n, r);
    for (size_t a = 0; a < p->m->shape.effects; a++)
        memcpy(out + a * p->count + first, l->draw + a * POINT_LANES, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        if (l->fine[i] == 0.0) draw_by_rows(p, g, first + i, buffers, r, out);
}

/* Draws the effects that are sampled, before they are moved to z = 0. */
static effects_accuracy draw_centred(const effects_sampler *p, size_t g, uint64_t seed,
                                     double *scratch, double *out)
{
    rng r = rng_stream(seed, g, RNG_EFFECTS);
    draw_buffers buffers;
    effects_accuracy accuracy = {.error = NAN};
    carve_draw_buffers(p, scratch, &buffers);
    if (p->s && find_polynomial(p, g, &buffers) &&
        conditional_tune(&buffers.l, &p->grid, &p->home))
        accuracy.error = compare(p, g, &buffers, &r);
    if (accuracy.error <= ERROR_MAX) {
        for (size_t i = 0; i < p->count; i += POINT_LANES)
            draw_lanes(p, g, i, &buffers, &r, out);
        return accuracy;
    }
    for (size_t i = 0; i < p->count; i++) draw_by_rows(p, g, i, &buffers, &r, out);
    return (effects_accuracy){.error = NAN};
}

effects_accuracy effects_draw(const effects_sampler *p, size_t g, uint64_t seed,
                              double *scratch, double *out)
{
    effects_accuracy accuracy = draw_centred(p, g, seed, scratch, out);
    parts_at_zero(p->m, 0, p->m->groups->start[g], p->m->groups->start[g + 1], p->count, &out);
    return accuracy;
}

/* Draws of effects, one at each of many points phi. A group is drawn by its polynomial (laws.h), which the model has or
 * which is made for the occasion, where that agrees with its rows at draws of its effects at the points that lie farthest
 * out; by its rows otherwise. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/conditional.h"
#include "model/mixed/group_effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHECKS     ((size_t)8)  /* points that rows are asked at */
#define ERROR_MAX  0.03         /* nats */
#define MISFIT_MAX 0.1          /* of a polynomial before it is checked */
#define WORTH      ((size_t)64) /* draws: the polynomial costs some by rows */
#define REACH      8.0          /* sds of the points */
/* A number of a polynomial costs 1/800 of a row, and a look at rows as much as 6000 of them. */
#define NUMBERS_PER_ROW        ((size_t)800)
#define NUMBERS_PER_EVALUATION ((size_t)6000)

struct effects_sampler {
    const mixed *m;
    size_t count, effects_max; /* points; effects of a group */
    const double *const *phi;
    group_polynomials *s;   /* NULL: rows are asked */
    bool own;               /* s has no groups: they are made one by one */
    group_polynomials made; /* if so */
    double *moments;        /* means of phi, and sds */
    polynomial_grid grid;
    term_order order;
    conditional_points points, home, checks;
    const double *check_phi[CHECKS];
};

/* ---- the plan ---- */

static void find_moments(effects_sampler *p)
{
    size_t d = p->m->dim;
    double *mean = p->moments, *sd = mean + d, weight = 1.0 / (double)p->count;
    for (size_t i = 0; i < p->count; i++) add_scaled(d, weight, p->phi[i], mean);
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < d; j++) sd[j] += weight * pow(p->phi[i][j] - mean[j], 2.0);
    for (size_t j = 0; j < d; j++) sd[j] = sqrt(sd[j]);
}

static double how_far(const effects_sampler *p, size_t i)
{
    size_t d = p->m->dim;
    const double *mean = p->moments, *sd = mean + d;
    double far = 0.0;
    for (size_t j = 0; j < d; j++)
        if (sd[j] > 0.0) far += pow((p->phi[i][j] - mean[j]) / sd[j], 2.0);
    return far;
}

/* The points farthest out, in decreasing order. */
static void find_checks(effects_sampler *p)
{
    double far[CHECKS] = {0.0};
    for (size_t i = 0; i < CHECKS; i++) p->check_phi[i] = p->phi[0];
    for (size_t i = 0; i < p->count; i++) {
        double own = how_far(p, i);
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

/* Polynomials of its own, around the mean. */
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

/* A worker's room. */
typedef struct {
    double *view, *drawn, *of, *sums;
    conditional l;
} draw_buffers;

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

static size_t rows_of_group(const effects_sampler *p, size_t g)
{
    return p->m->groups->start[g + 1] - p->m->groups->start[g];
}

/* The group's polynomial, in room->l.of. */
static bool find_polynomial(const effects_sampler *p, size_t g, draw_buffers *buffers)
{
    group_view v;
    conditional *l = &buffers->l;
    group_polynomials one = *p->s;
    l->order = &p->order;
    if (p->own) {
        one.of = buffers->of;
        l->of = polynomial_of(&one, 0);
        if (one.size > NUMBERS_PER_EVALUATION + NUMBERS_PER_ROW * rows_of_group(p, g))
            return false;
        group_begin(&v, p->m, p->moments, NULL, false, buffers->view);
        polynomial_fit(&p->grid, &v, g, &l->of, buffers->sums);
    } else
        l->of = polynomial_of(p->s, g);
    return *l->of.fits != 0.0;
}

/* v = L^-1 u */
static void standardize(const group_view *v, const double *u, double *place)
{
    for (size_t a = 0; a < v->m->shape.effects; a++) {
        const double *factor = v->p.at->factor[a];
        place[a] = (u[a] - dot(a, factor, place)) / factor[a];
    }
}

/* Adds squares of what polynomial and rows are apart at the proposals of one point, beside a constant, and returns how many
 * there are beside it. */
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

static double compare(const effects_sampler *p, size_t g, draw_buffers *buffers, rng *r)
{
    double squares = 0.0;
    size_t of = 0;
    conditional_propose(&buffers->l, &p->checks, 0, CHECKS, r);
    for (size_t i = 0; i < CHECKS; i++) of += compare_at(p, g, i, buffers, &squares);
    return of > 0 ? sqrt(squares / (double)of) : INFINITY;
}

static void draw_by_rows(const effects_sampler *p, size_t g, size_t i,
                         const draw_buffers *buffers, rng *r, double *out)
{
    group_view v;
    size_t q = mixed_effects(p->m, g);
    group_begin(&v, p->m, p->phi[i], NULL, false, buffers->view);
    effects_by_rows(&v, g, r, buffers->drawn);
    for (size_t a = 0; a < q; a++) out[a * p->count + i] = buffers->drawn[a];
}

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
    group_effects_at_zero(p->m, g, p->count, out);
    return accuracy;
}

/* Draws of effects, one at each of many points phi. A group is drawn by its polynomial (laws.h), which the model has or
 * which is made for the occasion, where that agrees with its rows at draws of its effects at the points that lie farthest
 * out; by its rows otherwise. */
#include "base/dense.h"
#include "base/memory.h"
#include "mixed/effects.h"
#include "mixed/laws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHECKS      ((size_t)8)  /* points that rows are asked at */
#define ERROR_MOST  0.03         /* nats */
#define MISFIT_MOST 0.1          /* of a polynomial before it is checked */
#define WORTH       ((size_t)64) /* draws: the polynomial costs some by rows */
#define REACH       8.0          /* sds of the points */
/* A number of a polynomial costs 1/800 of a row, and a look at rows as much as 6000 of them. */
#define NUMBERS_A_ROW  ((size_t)800)
#define NUMBERS_A_LOOK ((size_t)6000)

struct effects_plan {
    const mixed *m;
    size_t count, most; /* points; effects of a group */
    const double *const *phi;
    sketches *s;     /* NULL: rows are asked */
    bool own;        /* s has no groups: they are made one by one */
    sketches made;   /* if so */
    double *moments; /* means of phi, and sds */
    sketch_grid grid;
    law_order order;
    law_points points, home, checks;
    const double *check_phi[CHECKS];
};

/* ---- the plan ---- */

static void find_moments(effects_plan *p)
{
    size_t d = p->m->dim;
    double *mean = p->moments, *sd = mean + d, share = 1.0 / (double)p->count;
    for (size_t i = 0; i < p->count; i++) add_scaled(d, share, p->phi[i], mean);
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < d; j++) sd[j] += share * pow(p->phi[i][j] - mean[j], 2.0);
    for (size_t j = 0; j < d; j++) sd[j] = sqrt(sd[j]);
}

static double how_far(const effects_plan *p, size_t i)
{
    size_t d = p->m->dim;
    const double *mean = p->moments, *sd = mean + d;
    double far = 0.0;
    for (size_t j = 0; j < d; j++)
        if (sd[j] > 0.0) far += pow((p->phi[i][j] - mean[j]) / sd[j], 2.0);
    return far;
}

/* The points farthest out, in decreasing order. */
static void find_checks(effects_plan *p)
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
static sbps_status open_own(effects_plan *p, sbps_error *err)
{
    sketches *s = &p->made;
    sketch_shape(p->m, s);
    s->reference = new_doubles(2 * s->outer);
    if (!s->reference) return fail_memory(err);
    s->reach = s->reference + s->outer;
    for (size_t j = 0; j < s->outer; j++) {
        size_t at = sketch_coordinate(p->m, j);
        s->reference[j] = p->moments[at];
        s->reach[j] = REACH * p->moments[p->m->dim + at];
    }
    p->own = true;
    p->s = s;
    return SBPS_OK;
}

static sbps_status open_points(effects_plan *p, sbps_error *err)
{
    const double *home[] = {p->moments};
    p->grid = (sketch_grid){.m = p->m, .s = p->s, .w = p->moments, .misfit = MISFIT_MOST};
    law_order_set(&p->s->h, &p->order);
    find_checks(p);
    sbps_status status = sketch_grid_open(&p->grid, err);
    if (status == SBPS_OK)
        status = law_points_open(p->m, p->s, p->count, p->phi, &p->points, err);
    if (status == SBPS_OK) status = law_points_open(p->m, p->s, 1, home, &p->home, err);
    if (status == SBPS_OK)
        status = law_points_open(p->m, p->s, CHECKS, p->check_phi, &p->checks, err);
    return status;
}

sbps_status effects_plan_open(const void *self, size_t count, const double *const *phi,
                              effects_plan **out, sbps_error *err)
{
    const mixed *m = self;
    effects_plan *p = *out = calloc(1, sizeof *p);
    if (!p) return fail_memory(err);
    *p = (effects_plan){
        .m = m, .count = count, .most = mixed_effects_most(m), .phi = phi, .s = m->sketches};
    p->moments = new_doubles(2 * m->dim);
    sbps_status status = p->moments ? SBPS_OK : fail_memory(err);
    bool worth = count >= WORTH && m->levels == 1 && m->others == 0 && sketch_plain(m);
    if (!worth) p->s = NULL;
    if (status == SBPS_OK && worth) find_moments(p);
    if (status == SBPS_OK && worth && !p->s) status = open_own(p, err);
    if (status == SBPS_OK && worth) status = open_points(p, err);
    if (status == SBPS_OK) return status;
    effects_plan_close(p);
    *out = NULL;
    return status;
}

void effects_plan_close(effects_plan *p)
{
    if (!p) return;
    law_points_close(&p->points);
    law_points_close(&p->home);
    law_points_close(&p->checks);
    free(p->grid.node);
    free(p->made.reference);
    free(p->moments);
    free(p);
}

/* ---- a group ---- */

/* A worker's room. */
typedef struct {
    double *view, *drawn, *of, *sums;
    law l;
} plan_room;

static size_t lay_out(const effects_plan *p, double *base, plan_room *out)
{
    size_t view = (group_scratch(p->m) + 7) / 8 * 8, drawn = (p->most + 7) / 8 * 8;
    out->view = base;
    out->drawn = base ? base + view : NULL;
    if (!p->s) return view + drawn;
    sketch_sums unused;
    size_t of = p->own ? (p->s->size + 7) / 8 * 8 : 0,
           sums = p->own ? sketch_lay_out(&p->grid, NULL, &unused) : 0;
    out->of = base ? out->drawn + drawn : NULL;
    out->sums = base ? out->of + of : NULL;
    return view + drawn + of + sums +
           law_lay_out(&out->l, p->m, p->s, base ? out->sums + sums : NULL);
}

size_t effects_scratch(const effects_plan *p)
{
    plan_room unused;
    return lay_out(p, NULL, &unused);
}

static size_t rows_of_group(const effects_plan *p, size_t g)
{
    return p->m->groups->start[g + 1] - p->m->groups->start[g];
}

/* The group's polynomial, in room->l.of. */
static bool find_polynomial(const effects_plan *p, size_t g, plan_room *room)
{
    group_view v;
    law *l = &room->l;
    sketches one = *p->s;
    l->order = &p->order;
    if (p->own) {
        one.of = room->of;
        l->of = sketch_of(&one, 0);
        if (one.size > NUMBERS_A_LOOK + NUMBERS_A_ROW * rows_of_group(p, g)) return false;
        group_begin(&v, p->m, p->moments, NULL, false, room->view);
        sketch_make(&p->grid, &v, g, &l->of, room->sums);
    } else
        l->of = sketch_of(p->s, g);
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
static size_t compare_at(const effects_plan *p, size_t g, size_t point, const plan_room *room,
                         double *squares)
{
    const law *l = &room->l;
    size_t q = p->m->shape.effects, n = 0;
    double place[LAW_TRIES * EFFECTS_A_LEVEL], off[LAW_TRIES] = {0.0}, poly[LAW_TRIES];
    group_view v;
    if (l->fine[point] == 0.0) return 0;
    group_begin(&v, p->m, p->check_phi[point], NULL, false, room->view);
    for (size_t k = 0; k < l->tries; k++) {
        double u[EFFECTS_A_LEVEL];
        poly[n] = l->height[k * LAW_LANES + point];
        if (!isfinite(poly[n])) continue;
        law_effects(l, k, point, u);
        standardize(&v, u, place + n++ * q);
    }
    if (n == 0) return 0;
    group_see(&v, g);
    group_heights(&v, n, place, off);
    add_scaled(n, -1.0, poly, off);
    double mean = sum(n, off) / (double)n;
    for (size_t k = 0; k < n; k++) *squares += (off[k] - mean) * (off[k] - mean);
    return n - 1;
}

static double compare(const effects_plan *p, size_t g, plan_room *room, rng *r)
{
    double squares = 0.0;
    size_t of = 0;
    law_propose(&room->l, &p->checks, 0, CHECKS, r);
    for (size_t i = 0; i < CHECKS; i++) of += compare_at(p, g, i, room, &squares);
    return of > 0 ? sqrt(squares / (double)of) : INFINITY;
}

static void draw_by_rows(const effects_plan *p, size_t g, size_t i, const plan_room *room,
                         rng *r, double *out)
{
    group_view v;
    size_t q = mixed_effects(p->m, g);
    group_begin(&v, p->m, p->phi[i], NULL, false, room->view);
    effects_by_rows(&v, g, r, room->drawn);
    for (size_t a = 0; a < q; a++) out[a * p->count + i] = room->drawn[a];
}

static void draw_lanes(const effects_plan *p, size_t g, size_t first, plan_room *room, rng *r,
                       double *out)
{
    law *l = &room->l;
    size_t left = p->count - first, n = left < LAW_LANES ? left : LAW_LANES;
    law_propose(l, &p->points, first, n, r);
    law_walk(l, n, r);
    for (size_t a = 0; a < p->m->shape.effects; a++)
        memcpy(out + a * p->count + first, l->chosen + a * LAW_LANES, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        if (l->fine[i] == 0.0) draw_by_rows(p, g, first + i, room, r, out);
}

static effects_told draw_centred(const effects_plan *p, size_t g, uint64_t seed,
                                 double *scratch, double *out)
{
    rng r = rng_stream(seed, g, RNG_EFFECTS);
    plan_room room;
    effects_told told = {.error = NAN};
    lay_out(p, scratch, &room);
    if (p->s && find_polynomial(p, g, &room) && law_settle(&room.l, &p->grid, &p->home))
        told.error = compare(p, g, &room, &r);
    if (told.error <= ERROR_MOST) {
        for (size_t i = 0; i < p->count; i += LAW_LANES) draw_lanes(p, g, i, &room, &r, out);
        return told;
    }
    for (size_t i = 0; i < p->count; i++) draw_by_rows(p, g, i, &room, &r, out);
    return (effects_told){.error = NAN};
}

effects_told effects_draw(const effects_plan *p, size_t g, uint64_t seed, double *scratch,
                          double *out)
{
    effects_told told = draw_centred(p, g, seed, scratch, out);
    group_effects_at_zero(p->m, g, p->count, out);
    return told;
}

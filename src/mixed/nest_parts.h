/* The parts of a nest at work. For nest*.c.
 *
 * Integrals of a level are made many at a time: Newton's steps of all of them together, then their nodes, each of which
 * asks for all integrals of the level below, so that rows are asked in long batches at last. */
#ifndef MIXED_NEST_PARTS_H
#define MIXED_NEST_PARTS_H

#include "mixed/nest.h"

#define Q          EFFECTS_A_LEVEL
#define DRAW_TRIES ((size_t)10) /* places at once, at least */

/* What is asked of integrals beside their logarithm and d log m/d eta. */
typedef struct {
    bool bend;  /* second derivatives by effects above: (1) of expand.c */
    bool extra; /* derivatives by spreads and auxiliaries */
    bool keep;  /* this is where searches shall begin hereafter */
} wish;

/* Rows of the group that have one level in common; or these at one place of its effects. */
typedef struct {
    size_t first, n;
    size_t cell; /* where what is said of its rows begins */
    size_t
        of; /* a part: the place of the level above that it is seen from; a place: its part */
} part;

typedef struct {
    size_t count, cells;
    size_t count_most, cells_most;
    part *part;
    double *height; /* count: log m, or its summands */
    double *mean;   /* cells: its derivative by eta_i */
    double *extra;  /* count * nest_extra */
    double *bend;   /* count * all^2, lower triangle */
    double *u;      /* count * all: effects above, and of a place its own */
} list;

/* A place of a part's effects: h there, its gradient, the factor of -h'', q * q, and where Newton goes from it. */
typedef struct {
    double v[Q], height, gradient[Q], root[Q * Q], step[Q], length;
    size_t steps;
} stand;

typedef struct {
    list parts, places;
    double *eta;   /* cells of parts: without the effects of this level and deeper ones */
    double *place; /* v of places */
    stand *stand;  /* of the parts at hand */
    size_t *which; /* of them are looked at */
    size_t before; /* effects of the levels above */
    /* by the first row of each part: where its mode was last in this group, the effects above it then, and how the mode
     * moves with those */
    double *memory;
    size_t each; /* doubles of a memory */
} level_room;

typedef struct {
    group_view *v;
    const mixed *m;
    size_t all; /* effects of all levels */
    bool plain; /* z is 1 everywhere */
    level_room level[LEVELS_MOST];
    const effect_spread *at[LEVELS_MOST];
    double *z;                              /* rows of the group, `all` each */
    double *eta, *y, *out, *bent, *aux_out; /* cells of rows asked together */
    size_t cells;
    size_t looks,
        looks_most; /* at places on the way to modes: beyond that many there is no going on */
} nest;

void nest_begin(nest *x, group_view *v);
static inline bool nest_innermost(const nest *x, size_t l)
{
    return l + 1 == LEVELS_MOST || l + 1 >= x->m->levels;
}

/* nest_say.c: an empty list; one more in it. */
void list_clear(list *of);
bool list_full(const list *of, size_t n);
part *list_add(list *of, size_t first, size_t n, size_t from);
/* All that places of a level say. */
void nest_say(nest *x, size_t l, wish w);
/* sum_i mean_i z_i of a place, by effects of levels 0 to l. */
void nest_pull(const nest *x, size_t l, size_t place, double *pull);

/* The only part of a level stays at v; then one of its parts is the only one of the level below. */
void nest_stay(nest *x, size_t l, const double *v);
void nest_descend(nest *x, size_t l, size_t first, size_t n);

/* nest_mode.c: the modes of parts from.. and the curvatures there. */
void nest_locate(nest *x, size_t l, size_t from, size_t count, bool keep);
/* Where the search for a mode begins. */
void nest_centre(const nest *x, size_t l, size_t first, double *v);
/* Goes to the next stand where that is uphill, or is to go half as far; true: the next step is small, and taken. */
bool nest_move(nest *x, size_t q, stand *s, const stand *next);
/* nest_leaf.c: both for parts of the innermost level, as many as nest_integrate takes at once, where x->plain. */
void leaves_integrate(nest *x, size_t l, size_t from, size_t count, wish w);
/* nest_integrate.c: all that parts of a level say. */
void nest_integrate(nest *x, size_t l, wish w);
/* The same by way of places, which stay in the level's room, and shares as their heights. */
void nest_integrate_places(nest *x, size_t l, wish w);

#endif

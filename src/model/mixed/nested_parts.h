/* The parts of a nest at work. For nest*.c.
 *
 * Integrals of a level are made many at a time: Newton's steps of all of them together, then their nodes, each of which
 * asks for all integrals of the level below, so that rows are asked in long batches at last. */
#ifndef MODEL_NESTED_PARTS_H
#define MODEL_NESTED_PARTS_H

#include "model/mixed/nested.h"

#define Q          LEVEL_EFFECTS_MAX
#define DRAW_TRIES ((size_t)10) /* places at once, at least */

/* What is asked of integrals beside their logarithm and d log m/d eta. */
typedef struct {
    bool hessian; /* second derivatives by effects above: (1) of expand.c */
    bool extra;   /* derivatives by spreads and auxiliaries */
    bool keep;    /* this is where searches shall begin hereafter */
} derivatives_wanted;

/* Rows of the group that have one level in common; or these at one place of its effects. */
typedef struct {
    size_t first, n;
    size_t cell; /* where what is said of its rows begins */
    size_t
        of; /* a part: the place of the level above that it is seen from; a place: its part */
} part;

typedef struct {
    size_t count, cells;
    size_t count_max, cells_max;
    part *part;
    double *height;  /* count: log m, or its summands */
    double *mean;    /* cells: its derivative by eta_i */
    double *extra;   /* count * nested_extra_count */
    double *hessian; /* count * all^2, lower triangle */
    double *u;       /* count * all: effects above, and of a place its own */
} list;

/* A place of a part's effects: h there, its gradient, the factor of -h'', q * q, and where Newton goes from it. */
typedef struct {
    double v[Q], height, gradient[Q], root[Q * Q], step[Q], length;
    size_t steps;
} newton_state;

typedef struct {
    list parts, places;
    double *eta;         /* cells of parts: without the effects of this level and deeper ones */
    double *place;       /* v of places */
    newton_state *state; /* of the parts at hand */
    size_t *which;       /* of them are looked at */
    size_t before;       /* effects of the levels above */
    /* by the first row of each part: where its mode was last in this group, the effects above it then, and how the mode
     * moves with those */
    double *memory;
    size_t each; /* doubles of a memory */
} level_scratch;

typedef struct {
    group_view *v;
    const mixed *m;
    size_t all; /* effects of all levels */
    bool plain; /* z is 1 everywhere */
    level_scratch level[LEVELS_MAX];
    const effect_spread *at[LEVELS_MAX];
    double *z;                                   /* rows of the group, `all` each */
    double *eta, *y, *out, *curvature, *aux_out; /* cells of rows asked together */
    size_t cells;
    size_t evaluations,
        evaluations_max; /* at places on the way to modes: beyond that many there is no going on */
} nested_integral;

void nested_begin(nested_integral *x, group_view *v);
static inline bool nested_is_innermost(const nested_integral *x, size_t l)
{
    return l + 1 == LEVELS_MAX || l + 1 >= x->m->levels;
}

/* nested_loglik.c: an empty list; one more in it. */
void list_clear(list *of);
bool list_full(const list *of, size_t n);
part *list_add(list *of, size_t first, size_t n, size_t from);
/* All that places of a level say. */
void nested_loglik(nested_integral *x, size_t l, derivatives_wanted w);
/* sum_i mean_i z_i of a place, by effects of levels 0 to l. */
void nested_pull(const nested_integral *x, size_t l, size_t place, double *pull);

/* The only part of a level stays at v; then one of its parts is the only one of the level below. */
void nested_fix_effects(nested_integral *x, size_t l, const double *v);
void nested_descend(nested_integral *x, size_t l, size_t first, size_t n);

/* nest_mode.c: the modes of parts from.. and the curvatures there. */
void nested_find_modes(nested_integral *x, size_t l, size_t from, size_t count, bool keep);
/* Where the search for a mode begins. */
void nested_search_start(const nested_integral *x, size_t l, size_t first, double *v);
/* Goes to the next stand where that is uphill, or is to go half as far; true: the next step is small, and taken. */
bool nested_accept_step(nested_integral *x, size_t q, newton_state *s,
                        const newton_state *next);
/* nest_leaf.c: both for parts of the innermost level, as many as nested_integrate takes at once, where x->plain. */
void innermost_integrate(nested_integral *x, size_t l, size_t from, size_t count,
                         derivatives_wanted w);
/* nested_integrate.c: all that parts of a level say. */
void nested_integrate(nested_integral *x, size_t l, derivatives_wanted w);
/* The same by way of places, which stay in the level's room, and shares as their heights. */
void nested_integrate_places(nested_integral *x, size_t l, derivatives_wanted w);

#endif

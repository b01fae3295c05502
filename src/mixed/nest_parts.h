/* The parts of a nest at work. For nest*.c. */
#ifndef MIXED_NEST_PARTS_H
#define MIXED_NEST_PARTS_H

#include "mixed/nest.h"

#define Q          EFFECTS_A_LEVEL
#define DRAW_TRIES ((size_t)10) /* places at once, at least */

/* What parts say at one place of a level's effects. Second derivatives are those by effects of this level and of all
 * above it: (1) of expand.c. */
typedef struct {
    double *height; /* points: sum of log m */
    double *mean;   /* points * rows: d log m/d eta_i */
    double *extra;  /* points * nest_extra */
    double *bend;   /* points * all^2, lower triangle */
} sayings;

/* Room of one level: one integral at a time is made there. */
typedef struct {
    double *eta;   /* rows: without the effects of this level and deeper ones */
    double *place; /* points * effects */
    sayings said;
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
    level_room level[LEVELS_MOST];
    const effect_spread *at[LEVELS_MOST];
    double *eta, *y, *out, *bent, *aux_out; /* rows times points, at last */
    bool bending;                           /* second derivatives are asked for */
    double u[LEVELS_MOST * Q];              /* effects of the levels above that at hand */
} nest;

/* A place of a level's effects: h there, its gradient, and the factor of -h'', q * q. */
typedef struct {
    double v[Q], height, gradient[Q], root[Q * Q];
} stand;

void nest_begin(nest *x, group_view *v);
static inline bool nest_innermost(const nest *x, size_t l)
{
    return l + 1 == LEVELS_MOST || l + 1 >= x->m->levels;
}
/* Rows first.. of the group with effects L v on top of what the level has. */
void nest_raise(nest *x, size_t l, size_t first, size_t n, const double *v, double *eta);
/* All that parts of a level say at `points` places. */
void nest_say(nest *x, size_t l, size_t first, size_t n, size_t points, const double *place,
              const sayings *to);
/* sum_i mean_i z_i, by effects of levels 0 to l; room for all of them. */
void nest_pull(const nest *x, size_t l, size_t first, size_t n, const double *mean,
               double *pull);
/* nest_mode.c: the mode of a part's effects, and the curvature there. */
void nest_locate(nest *x, size_t l, size_t first, size_t n, stand *s);
/* Adds to what parts of the level above say, but for the mean, which is set. */
void nest_integrate(nest *x, size_t l, size_t first, size_t n, const sayings *to);

#endif

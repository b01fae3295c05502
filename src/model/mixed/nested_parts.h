/* The working state of nested integrals. For the files nested*.c.
 *
 * The integrals of a level are computed many at a time: first the Newton steps of all of them
 * together, then their nodes. Each node needs all integrals of the level below, so that rows
 * are evaluated in long batches in the end. A "part" is a set of rows of the group with one
 * level in common; a "place" is a part at one point v of its effects. */
#ifndef MODEL_NESTED_PARTS_H
#define MODEL_NESTED_PARTS_H

#include "model/mixed/nested.h"

#define Q          LEVEL_EFFECTS_MAX /* for arrays of a level's effects */
#define DRAW_TRIES ((size_t)10)      /* proposals of a draw */

/* What is computed of integrals besides their logarithm and d log m/d eta. */
typedef struct {
    bool hessian; /* second derivatives by the effects above, as (1) of group_expand.c */
    bool extra;   /* derivatives by spreads and auxiliaries */
    bool keep;    /* store the modes, where later searches begin */
} derivatives_wanted;

/* A part or a place: n rows of the group from `first` on. */
typedef struct {
    size_t first, n;
    size_t cell; /* index of its rows in arrays of cells */
    size_t of;   /* of a part: the place of the level above; of a place: its part */
} nested_part;

/* Parts or places with results. */
typedef struct {
    size_t count, cells;         /* in use */
    size_t count_max, cells_max; /* room */
    nested_part *part;
    double *height;  /* count: log m, or the log of its summands */
    double *mean;    /* cells: its derivative by eta_i */
    double *extra;   /* count * nested_extra_count */
    double *hessian; /* count * all^2, lower triangle */
    double *u;       /* count * all: effects of the levels above, and of a place its own */
} part_list;

/* The state of Newton's method for the mode of a part's effects: v, the log integrand h there,
 * its gradient, the Cholesky factor of -h'' (q * q), and the next step with the length to
 * try. */
typedef struct {
    double v[Q], height, gradient[Q], root[Q * Q], step[Q], length;
    size_t steps; /* accepted so far */
} newton_state;

/* One level. */
typedef struct {
    part_list parts, places;
    double *eta;   /* cells of parts: predictors without effects of this level and below */
    double *place; /* v of each place */
    newton_state *state; /* of the parts in the block at hand */
    size_t *which;       /* of them, those whose search goes on */
    size_t before;       /* effects of the levels above */
    /* At the first row of each part: its last mode in this group (NAN: none yet), the effects
     * above at that time, and the derivative of the mode by them; `each` doubles. */
    double *memory;
    size_t each;
} level_scratch;

/* The nested integral of one group. */
typedef struct {
    group_view *v;
    const mixed *m;
    size_t all; /* effects of all levels */
    bool plain; /* intercepts only: z is 1 everywhere */
    level_scratch level[LEVELS_MAX];
    const effect_spread *at[LEVELS_MAX];         /* covariances */
    double *z;                                   /* rows of the group, `all` numbers each */
    double *eta, *y, *out, *curvature, *aux_out; /* a batch of rows: `cells` numbers each */
    size_t cells;
    /* Places evaluated in searches for modes; beyond the maximum searches stop where they
     * are. */
    size_t evaluations, evaluations_max;
} nested_integral;

/* Is level l the innermost? */
static inline bool nested_is_innermost(const nested_integral *x, size_t l)
{
    return l + 1 == LEVELS_MAX || l + 1 >= x->m->levels;
}

/* ---- nested_integrate.c ---- */

/* Empties a list. */
void parts_clear(part_list *of);
/* Adds n rows from `first` on, whose `of` is `from`, and returns the new part. The list must
 * have room. */
nested_part *parts_add(part_list *of, size_t first, size_t n, size_t from);
/* Evaluates all places of level l: the log-likelihood given v, and its derivatives. */
void nested_loglik(nested_integral *x, size_t l, derivatives_wanted w);
/* pull = sum_i mean_i z_i over the rows of a place, for the effects of levels 0 to l. */
void nested_pull(const nested_integral *x, size_t l, size_t place, double *pull);
/* Fixes the effects of the only part of level l at v, its only place. */
void nested_fix_effects(nested_integral *x, size_t l, const double *v);
/* Makes n rows from `first` on, one of the parts of the only place of level l, the only part of
 * level l + 1. */
void nested_descend(nested_integral *x, size_t l, size_t first, size_t n);
/* Computes the integrals of all parts of level l. */
void nested_integrate(nested_integral *x, size_t l, derivatives_wanted w);
/* As nested_integrate, always by places, which stay in the level with their normalised weights
 * as heights. */
void nested_integrate_places(nested_integral *x, size_t l, derivatives_wanted w);

/* Finds the modes of `count` parts from `from` on: level->state has v and the curvature there.
 * keep: stores them for later searches. */
void nested_find_modes(nested_integral *x, size_t l, size_t from, size_t count, bool keep);
/* v = where the search for the mode of the part with first row `first` begins. */
void nested_search_start(const nested_integral *x, size_t l, size_t first, double *v);
/* Accepts the state `next` if it is uphill of s, and else halves the step. True: the search has
 * ended, and its last, small step is taken. */
bool nested_accept_step(nested_integral *x, size_t q, newton_state *s,
                        const newton_state *next);

/* ---- nested_innermost.c ---- */

/* As nested_integrate for `count` parts of the innermost level, where x->plain; no more parts
 * than nested_integrate takes at a time. */
void innermost_integrate(nested_integral *x, size_t l, size_t from, size_t count,
                         derivatives_wanted w);

#endif

/* Effects of factors that rows are not sorted by. Their levels cut across groups
 * (or contain many groups), so that no integral of one group is over them: they are
 * coordinates, standardised. Near the mode let the data's information about a level's effects
 * u, given all else, be that of a normal density with precision P and mean P^-1 b. Then
 *
 *   u = L z,   z = M^-1 L'b + A'^-1 eta,   M = I + L'P L = A A'                         (1)
 *
 * makes eta nearly standard normal and independent of the covariance L L'. Without information
 * (P = 0) u is L eta; with much of it u is P^-1 b, and eta its error. The posterior is the same
 * for any P and b,
 *
 *   log p(eta | L) = -|z|^2/2 - log |A|,                                                (2)
 *
 * of which -|eta|^2/2 is the prior of the coordinates. The rest is added by the groups in which
 * the level occurs, in proportion to its rows there. For the files of this folder. */
#ifndef MODEL_CROSSED_EFFECTS_H
#define MODEL_CROSSED_EFFECTS_H

#include "model/mixed/group_view.h"

/* ---- one level: crossed_level.c ---- */

/* Coordinates that one level's effects depend on: those of the covariance, then its own eta. */
#define LEVEL_MOVES (SPREAD_MAX + LEVEL_EFFECTS_MAX)

/* A level's effects at one point, and `value`, (2) plus |eta|^2/2. first and value_first are
 * their derivatives by each coordinate, by_strength those by the log of the strength. */
typedef struct {
    double effect[LEVEL_EFFECTS_MAX], value;
    double first[LEVEL_MOVES][LEVEL_EFFECTS_MAX], value_first[LEVEL_MOVES];
    double by_strength[LEVEL_EFFECTS_MAX], value_by_strength; /* of level_at_strength */
} level_point;

/* Evaluates a level with covariance `at`; derivatives only if with_first. */
void level_at(const other_factor *o, const effect_spread *at, size_t level, const double *eta,
              bool with_first, level_point *out);
/* As level_at with P and b multiplied by `strength`. */
void level_at_strength(const other_factor *o, const effect_spread *at, size_t level,
                       double strength, const double *eta, bool with_first, level_point *out);
/* Changes P and b so that eta = 0 gives the effects that eta gives now, and so that a
 * covariance of eta that is `covariance` now becomes about I. Sets eta to 0. */
void level_recentre(other_factor *o, const effect_spread *at, size_t level,
                    const double *covariance, double *eta);
/* The number of coordinates that a level's effects depend on. */
size_t level_moves(const other_factor *o);
/* The k-th coordinate that the effects of a level depend on, as an index of w. */
size_t level_coordinate(const other_factor *o, size_t level, size_t k);

/* ---- the levels that occur in a group ---- */

/* Levels of one factor that occur in a group. Arrays are the model's. */
typedef struct {
    const other_factor *of;
    const effect_spread *at;
    const uint32_t *level; /* count */
    const uint32_t *slot;  /* by row of the group: index of its level in `level` */
    const double *rows;    /* count: fraction of the level's rows that are in the group */
    size_t count;
    size_t place; /* index of their first effect in arrays of all incident effects */
} incident_levels;

/* Evaluates the incident effects, adds them to v->base, and sets v->log_density to the sum of
 * the levels' values; if v has a direction, also the rates of both. */
void crossed_add_effects(group_view *v);
/* out[effect * pitch] += sum of weight_i z_i over the n rows from `first` on. */
void crossed_pull(const group_view *v, size_t first, size_t n, const double *weight,
                  double *out, size_t pitch);

/* An effect in a row: its index among the group's incident effects, and z. */
typedef struct {
    size_t place;
    double z;
} incident_effect;

/* Lists those of the group's row i by ascending place; returns their number. */
size_t crossed_of_row(const group_view *v, size_t i, incident_effect *out);
/* Adds `factor` times the gradient by coordinates, from that by incident effects. */
void crossed_gradient(group_view *v, double factor, const double *by_effect, double *out);
/* Adds `factor` times gradient and Hessian by coordinates, from those by (beta, spread,
 * auxiliaries, incident effects): dim numbers, and the lower triangle of dim * dim. scratch:
 * crossed_scratch doubles. */
void crossed_expand(group_view *v, double factor, size_t dim, const double *gradient,
                    const double *hessian, double *scratch, double *out, double *out_hessian);
/* Doubles of scratch that crossed_expand needs. */
size_t crossed_scratch(const mixed *m);
/* The number of incident effects of the group that v has loaded. */
size_t crossed_effects(const group_view *v);
/* Sets p->other to the covariances of all factors at w, stored in `spreads` with room for
 * crossed_spreads; with_second: also those a step to both sides, for second derivatives. */
void crossed_begin(const mixed *m, const double *w, bool with_second, effect_spread *spreads,
                   group_point *p);
/* Room that crossed_begin needs, in covariances. */
size_t crossed_spreads(const mixed *m);

/* Finds the incident levels of all groups; coordinates of the factors are set already. */
sbps_status crossed_open(mixed *m, sbps_error *err);
/* Frees what crossed_open allocated; the arrays may be NULL. */
void crossed_close(mixed *m);

#endif

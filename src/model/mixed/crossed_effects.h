/* Effects of the factors that rows do not lie by. Their levels cut across groups (or hold many), so that no integral of
 * one group is over them: they are coordinates, standardised ones. With P and b what data say of a level's effects u
 * given all else near the mode, as a normal of precision P and mean P^-1 b,
 *
 *   u = L z,   z = M^-1 L'b + A'^-1 eta,   M = I + L'P L = A A'                                        (1)
 *
 * makes eta nearly a standard normal that is independent of the covariance L L': where data say little (P = 0) u is
 * L eta, where they say much u is what they say and eta the error of it. For any P and b the law is the same,
 *
 *   log p(eta | L) = -|z|^2/2 - log |A|                                                                (2)
 *
 * of which -|eta|^2/2 is the coordinate's prior and the rest is said by the groups that meet the level, by rows. For the
 * files of this folder. */
#ifndef MODEL_CROSSED_EFFECTS_H
#define MODEL_CROSSED_EFFECTS_H

#include "model/mixed/group_view.h"

/* Coordinates that move one level's effects: those of the covariance, then its own. */
#define LEVEL_MOVES (SPREAD_MAX + LEVEL_EFFECTS_MAX)

/* A level's effects at one place, and the rest of (2). */
typedef struct {
    double effect[LEVEL_EFFECTS_MAX], value;
    double first[LEVEL_MOVES][LEVEL_EFFECTS_MAX], value_first[LEVEL_MOVES];
    double by_strength[LEVEL_EFFECTS_MAX], value_by_strength; /* of level_at_strength */
} level_point;

/* Without derivatives unless with_first. */
void level_at(const other_factor *o, const effect_spread *at, size_t level, const double *eta,
              bool with_first, level_point *out);
/* The same with P and b times `strength`, and derivatives by its logarithm. */
void level_at_strength(const other_factor *o, const effect_spread *at, size_t level,
                       double strength, const double *eta, bool with_first, level_point *out);
/* Sets P and b so that eta = 0 is where eta is now, and has about the covariance I, which is `covariance` now. */
void level_recentre(other_factor *o, const effect_spread *at, size_t level,
                    const double *covariance, double *eta);
/* How many coordinates move a level, and the k-th of them. */
size_t level_moves(const other_factor *o);
size_t level_coordinate(const other_factor *o, size_t level, size_t k);

/* Which levels group g meets: `count` of them, and which its rows belong to. */
typedef struct {
    const other_factor *of;
    const effect_spread *at;
    const uint32_t *level; /* count */
    const uint32_t *slot;  /* by rows of the group */
    const double *rows;    /* count: how many of the group's are the level's, of all of them */
    size_t count;
    size_t place; /* first of their effects in arrays of all that the group meets */
} incident_levels;

incident_levels crossed_incidence(const group_view *v, size_t factor, size_t place);
/* Adds effects to base, and their rates to d_base; what levels say to v->said and v->log_density_rate. */
void crossed_add_effects(group_view *v);
/* out[effect * pitch] += sum over its rows, of the n from `first` on, of weight_i z_i */
void crossed_pull(const group_view *v, size_t first, size_t n, const double *weight,
                  double *out, size_t pitch);
/* One effect that a row has part in: where it stands among those that the group meets, and z there. */
typedef struct {
    size_t place;
    double z;
} incident_effect;

/* Those of the group's row i, places ascending; how many. */
size_t crossed_of_row(const group_view *v, size_t i, incident_effect *out);
/* Gradient by coordinates from that by effects, times factor. */
void crossed_gradient(group_view *v, double factor, const double *by_effect, double *out);
/* The same of gradient and Hessian: `hessian` by (beta, spread, auxiliaries, effects), dim * dim, lower triangle; room:
 * crossed_scratch doubles. */
void crossed_expand(group_view *v, double factor, size_t dim, const double *gradient,
                    const double *hessian, double *scratch, double *out, double *out_hessian);
size_t crossed_scratch(const mixed *m);
size_t crossed_effects(const group_view *v); /* that the group meets */
/* The spreads of all other factors at w, and steps to both sides of it; room for crossed_spreads of them. */
void crossed_begin(const mixed *m, const double *w, bool with_second, effect_spread *spreads,
                   group_point *p);
size_t crossed_spreads(const mixed *m);

/* meet.c: which levels groups meet. Coordinates of the factors are set already. */
sbps_status crossed_open(mixed *m, sbps_error *err);
void crossed_close(mixed *m);

#endif

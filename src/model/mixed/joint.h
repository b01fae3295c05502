/* Group effects without integrals: the effects of all factors are coordinates, standardised as
 * in crossed_effects.h, and the rows of a group are evaluated as in a model without groups.
 * With many levels of several crossed factors this is cheaper than integrals over one factor: a
 * row is evaluated once, not at every node, and no matrix over all coordinates is formed.
 *
 * Rows are evaluated at the transformed point x = T(w), which has effects u in place of eta:
 *
 *   eta_i = x_i.beta + offset_i + sum over factors of z_i.u[level of row i].              (1)
 *
 * The curvature of the rows' log-likelihood is proportional to a power of sigma, or of the
 * auxiliary in its role (1/residuals^2). So P and b of crossed_effects.h are those of the point
 * where they were set, times a strength
 *
 *   k = exp(sum_a p_a (w_a - w_a there)),   p_a = -2 for log sigma, 1 for a log shape.    (2)
 *
 * For the files of this folder. */
#ifndef MODEL_JOINT_H
#define MODEL_JOINT_H

#include "core/status.h"
#include "model/mixed/mixed.h"

/* Completes a model whose shapes and coordinates are set. */
sbps_status joint_open(mixed *m, sbps_error *err);

/* Members of model_kind: the transformation, and calls with groups as rows. */
double joint_transform(const void *self, const double *w, double *at);
void joint_pullback(const void *self, const double *w, double *at, double *gradient);
size_t joint_transform_scratch(const void *self);
size_t joint_scratch(const void *self, size_t n);
void joint_loglik(const void *self, row_range r, const double *at, double *scratch,
                  double *out);
void joint_gradient(const void *self, row_range r, const double *at, const double *factor,
                    double *scratch, double *out);
double joint_cost(const void *self);

/* Sets `at` to the effects in place of coordinates first .. first + count - 1, and perhaps of
 * others. False: no memory. */
bool joint_effects(const mixed *m, const double *w, size_t first, size_t count, double *at);

/* ---- joint_levels.c: effects that are standardised level by level ---- */

/* Sets `at` to the effects of all levels of a factor; returns the sum of (2) of
 * crossed_effects.h plus |eta|^2/2. */
double levels_transform(const other_factor *o, size_t levels, double strength, const double *w,
                        double *at);
/* Replaces the gradient of U by effects by that by eta, and adds to that by the covariance's
 * coordinates; returns the derivative by log strength. */
double levels_pullback(const other_factor *o, size_t levels, double strength, const double *w,
                       double *gradient);
/* Sets P of a level to `precision`, and b so that eta = 0 gives the effects u. */
void level_set(other_factor *o, const effect_spread *at, size_t level, const double *precision,
               const double *u);

/* ---- joint_blocks.c: effects that are standardised together ---- */

/* `at` has joint_transform_scratch numbers behind x. Chooses the blocks; blocks_close also
 * frees after a failure. */
sbps_status blocks_open(mixed *m, sbps_error *err);
void blocks_reset(mixed *m); /* to the state after blocks_open */
void blocks_close(mixed *m);
void blocks_drop(mixed *m); /* no effect is in a block any more */
/* Is m->other[f] in a block? */
bool blocks_have(const mixed *m, size_t f);
/* Cost of a gradient, in multiplications. */
double blocks_cost(const mixed *m);
size_t blocks_scratch(const mixed *m);
/* As levels_transform and levels_pullback, for all blocks; and for the selected ones. */
double blocks_transform(const mixed *m, double strength, const double *w, double *at);
void blocks_transform_some(const mixed *m, double strength, const double *w,
                           const bool *selected, double *at);
double blocks_pullback(const mixed *m, double strength, const double *w, double *at,
                       double *gradient);
/* The sums over rows that blocks_set needs: their number, and the part of a row with columns x
 * and this curvature. */
size_t blocks_width(const mixed *m);
void blocks_add(const mixed *m, size_t row, double curvature, const double *x, double *total);
/* Sets K, C and b_0 from these sums, so that eta = 0 gives the effects at x = at, and sets
 * eta in w to 0. */
void blocks_set(mixed *m, const double *sums, const double *at, double *w);

#endif

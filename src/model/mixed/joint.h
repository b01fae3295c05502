/* Groups without integrals: the effects of all factors are coordinates, standardised as crossed.h has it, and rows are
 * what they are elsewhere. With many levels of several crossed factors that is cheaper than integrals over one of them:
 * a row is looked at once, not at every node, and no matrix of coordinates is ever made.
 *
 * w leads to x, in which effects stand in the place of their eta; rows speak of x,
 *
 *   eta_i = x_i.beta + offset_i + sum over factors of z_i.u[level of row i].                           (1)
 *
 * The curvature of the rows' log likelihood is proportional to a power of sigma, or of the auxiliary that stands for it: it
 * goes as 1/residuals^2. So P and b of crossed.h are those of the point where they were set times a strength,
 *
 *   k = exp(sum_a p_a (w_a - w_a there)),   p_a = -2 for log sigma, 1 for the log of a shape.          (2)
 *
 * For the files of this folder. */
#ifndef MODEL_JOINT_H
#define MODEL_JOINT_H

#include "model/mixed/mixed.h"

/* Shapes and coordinates are set already. */
sbps_status joint_open(mixed *m, sbps_error *err);
double joint_transform(const void *self, const double *w, double *at);
void joint_pullback(const void *self, const double *w, double *at, double *gradient);
size_t joint_transform_scratch(const void *self);
/* Effects in place of coordinates first .. first + count - 1, and perhaps of others, into `at`; false: no memory. */
bool joint_effects(const mixed *m, const double *w, size_t first, size_t count, double *at);
size_t joint_scratch(const void *self, size_t n);
void joint_loglik(const void *self, row_range r, const double *at, double *scratch,
                  double *out);
void joint_gradient(const void *self, row_range r, const double *at, const double *factor,
                    double *scratch, double *out);
double joint_cost(const void *self);

/* joint_levels.c: levels of a factor. Sums over them of (2) of crossed.h; effects into `at`. */
double levels_transform(const other_factor *o, size_t levels, double strength, const double *w,
                        double *at);
/* gradient of U by effects becomes that by eta, and that by the covariance grows; returns that by log strength. */
double levels_pullback(const other_factor *o, size_t levels, double strength, const double *w,
                       double *gradient);
/* P and b of a level from what its rows say, so that eta = 0 stands for the effects u. */
void level_set(other_factor *o, const effect_spread *at, size_t level, const double *precision,
               const double *u);

/* joint_blocks.c: the same for effects that are standardised together. `at` has joint_transform_scratch numbers behind x. */
sbps_status blocks_open(mixed *m, sbps_error *err);
void blocks_reset(mixed *m); /* as they were opened */
void blocks_close(mixed *m);
bool blocks_have(const mixed *m, size_t f); /* m->other[f] */
double blocks_cost(const mixed *m);         /* numbers multiplied for a gradient */
size_t blocks_scratch(const mixed *m);
double blocks_transform(const mixed *m, double strength, const double *w, double *at);
/* The effects of some blocks alone. */
void blocks_transform_some(const mixed *m, double strength, const double *w,
                           const bool *selected, double *at);
double blocks_pullback(const mixed *m, double strength, const double *w, double *at,
                       double *gradient);
/* Sums over rows that blocks_set takes; blocks_add adds a row with columns x. */
size_t blocks_width(const mixed *m);
void blocks_add(const mixed *m, size_t row, double curvature, const double *x, double *total);
void blocks_set(mixed *m, const double *sums, const double *at, double *w);

#endif

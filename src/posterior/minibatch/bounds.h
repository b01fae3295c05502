/* Exact bounds on what rows and priors can say, and single rows on demand: what samplers need
 * that thin under a bound in place of a band. Only for predictor models that state how steep and
 * how curved a row's log-likelihood can be. */
#ifndef POSTERIOR_BOUNDS_H
#define POSTERIOR_BOUNDS_H

#include "core/rng.h"
#include "core/status.h"
#include "posterior/minibatch/potential.h"

/* x~ = A'x, with A the map from the coordinates in which a sampler moves. */
typedef struct {
    const void *self;
    void (*transpose)(const void *self, const double *x, double *out);
} row_map;

/* SBPS_BAD_ARG with a sentence where a model or a prior has no bounds. */
sbps_status bounds_check(const potential_facts *facts, const char *sampler, sbps_error *err);
/* The same for the priors alone. */
sbps_status bounds_check_priors(const potential_facts *facts, const char *sampler,
                                sbps_error *err);

/* ---- over all rows; x~ is `scratch` (dim), a decoded row comes after it (dim + KERNEL_LANES) ---- */

/* b_i = weight_i L |x~_i|, L the bound of |d log p/d eta|: no row's slope along a unit velocity
 * is larger. Returns the largest; `each` gets all of them unless NULL. */
double bounds_norms(const potential *u, row_map map, double *scratch, double *each);

typedef struct {
    double *largest; /* max_i weight_i (L + |r_i|) |x~_ij|, r_i the row's d log p/d eta at the
                        control variate's reference, 0 without one */
    double *total;   /* sum_i weight_i L |x~_ij| */
    double *lever;   /* max_i weight_i K |x~_ij| |x~_i|, K the bound of |d^2 log p/d eta^2| */
} column_bounds;     /* dim entries each */

void bounds_columns(const potential *u, row_map map, double *scratch, column_bounds out);
/* H_ = K sum_i weight_i x~_i x~_i', dim*dim: the likelihood's Hessian is never larger. */
void bounds_hessian(const potential *u, row_map map, double *scratch, double *out);

/* out = the likelihood's part of Hess U along `a`, exactly, where the rows are quadratic; dim. */
void bounds_curvature(potential *u, const double *at, const double *a, double *out);

/* ---- the prior along the line aimed at ---- */

/* d/dt -log prior <= slope + rate t + rest: quadratic priors exactly, the others by their bound. */
typedef struct {
    double slope, rate, rest;
} prior_line;

prior_line bounds_prior_line(const potential *u);
/* -grad log prior = slope + rate t for quadratic priors, less a control variate's exact gradient;
 * dim entries each, 0 for coordinates with other priors. */
void bounds_exact_gradient(const potential *u, double *slope, double *rate);
/* The same for the other priors, at time t. False, and nothing written, when there are none. */
bool bounds_curved_gradient(const potential *u, double t, double *out);
/* Bound of |sum_j a_j d/dw_j log prior_j| over those. */
double bounds_curved_slope(const potential *u, const double *a);

/* ---- one row ---- */

/* Makes row i the batch, for potentials of one row a batch: the next is `observe_again`'s. */
void bounds_select_row(potential *u, size_t row);
/* -N weight_i d log p_i along `a` (dim) at time t of the line, less the control variate's part. */
double bounds_row_partial(potential *u, size_t row, double t, const double *a);

/* ---- pairs of points, by their rows beyond the second order: row_bounds.c ---- */

/* SBPS_BAD_ARG with a sentence where a model's third derivative has no bound. */
sbps_status bounds_check_third(const potential_facts *facts, const char *sampler,
                               sbps_error *err);
/* U at w, up to a constant, with the priors as they are and the rows by their Taylor polynomial of the
 * second order at the control variate's reference. Without one there are no rows in it. */
double bounds_taylor(potential *u, const double *w);

/* dim: the posterior's mean in z = A^-1 (w - reference), as far as third derivatives there say it; NULL: not
 * known. */
const double *bounds_mean(const potential *u);
/* How far, squared, third derivatives move it from the mode; 0 where that is not known. */
double bounds_skew(const potential *u);

/* w = reference + A z twice, A the map that the bounds were made with. */
typedef struct {
    const double *from, *to;       /* w */
    double from_square, to_square; /* z.z */
    double product;                /* z.z' */
} point_pair;

/* With R = U - bounds_taylor and s a random number of rows, see row_bounds.c: r(s) such that points that are
 * proposed by turns keep exp(-R) when the step is taken with probability min(1, r). */
typedef struct {
    double log_ratio;
    uint64_t rows; /* looked at */
    uint64_t over; /* of them beyond their bound, which cannot be */
} pair_ratio;

pair_ratio bounds_compare(potential *u, const point_pair *pair, rng *random);

#endif

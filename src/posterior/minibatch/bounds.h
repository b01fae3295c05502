/* Exact bounds on slopes and curvatures of rows and priors, and evaluation of single rows:
 * for samplers that thin under such a bound instead of the upper confidence band. Only for
 * predictor models that state how steep and how curved a row's log-likelihood can be. */
#ifndef POSTERIOR_BOUNDS_H
#define POSTERIOR_BOUNDS_H

#include "core/rng.h"
#include "core/status.h"
#include "posterior/minibatch/potential.h"

/* A linear map x~ = A'x, with A the map from the coordinates in which a sampler moves to w. */
typedef struct {
    const void *self;
    void (*transpose)(const void *self, const double *x, double *out);
} row_map;

/* SBPS_BAD_ARG with a message that names `sampler` where a model or prior has no bounds. */
sbps_status bounds_check(const potential_facts *facts, const char *sampler, sbps_error *err);
/* The same for the priors alone. */
sbps_status bounds_check_priors(const potential_facts *facts, const char *sampler,
                                sbps_error *err);

/* ---- over all rows ----
 *
 * scratch holds x~ (dim) and then a decoded row (dim + KERNEL_LANES). */

/* b_i = weight_i L |x~_i| with L the bound of |d log p/d eta|: no row's slope along a unit
 * velocity is larger. Returns the largest b_i; `each` receives all of them unless it is
 * NULL. */
double bounds_norms(const potential *of, row_map map, double *scratch, double *each);

typedef struct {
    /* max_i weight_i (L + |r_i|) |x~_ij|, with r_i the row's d log p/d eta at the reference
     * of the control variate, 0 without one */
    double *largest;
    double *total; /* sum_i weight_i L |x~_ij| */
    /* max_i weight_i K |x~_ij| |x~_i|, with K the bound of |d^2 log p/d eta^2| */
    double *leverage;
} column_bounds; /* dim entries each */

/* Fills the three arrays of `out`. */
void bounds_columns(const potential *of, row_map map, double *scratch, column_bounds out);
/* out (dim*dim) = K sum_i weight_i x~_i x~_i': the Hessian of -log p never exceeds it. */
void bounds_hessian(const potential *of, row_map map, double *scratch, double *out);

/* out (dim) = Hess(-log p) a, exactly, for models whose rows are quadratic. */
void bounds_curvature(potential *of, const double *at, const double *a, double *out);

/* ---- the prior along the current line ---- */

/* d/dt -log prior <= slope + rate t + rest: exact for quadratic priors, bounds for the
 * others. */
typedef struct {
    double slope, rate, rest;
} prior_line;

/* That bound on the current line. */
prior_line bounds_prior_line(const potential *of);
/* -grad log prior = slope + rate t for quadratic priors, less a control variate's exact
 * gradient; dim entries each, 0 for coordinates with other priors. */
void bounds_exact_gradient(const potential *of, double *slope, double *rate);
/* out (dim) = -grad log prior of the other priors at time t. Returns false, and writes
 * nothing, if there are none. */
bool bounds_curved_gradient(const potential *of, double t, double *out);
/* Bound of |sum_j a_j d/dw_j log prior_j| over those other priors. */
double bounds_curved_slope(const potential *of, const double *a);

/* ---- one row ---- */

/* Makes row i the batch of a potential with one row per batch; the next call is
 * potential_observe_again. */
void bounds_select_row(potential *of, size_t row);
/* -N weight_i d log p_i along `a` (dim) at time t of the line, less the control variate's
 * part. */
double bounds_row_partial(potential *of, size_t row, double t, const double *a);

/* ---- pairs of points, by the rows' terms beyond second order: row_bounds.c ---- */

/* SBPS_BAD_ARG with a message that names `sampler` where the model's third derivative has no
 * bound. */
sbps_status bounds_check_third(const potential_facts *facts, const char *sampler,
                               sbps_error *err);
/* U at w up to a constant: exact priors, and the rows' Taylor polynomial of second order at
 * the control variate's reference. Without a control variate the rows are omitted. */
double bounds_taylor(potential *of, const double *w);

/* dim: the posterior mean in z = A^-1 (w - reference), to first order in the third
 * derivatives; NULL: not known. */
const double *bounds_mean(const potential *of);
/* Squared distance by which third derivatives move that mean from the mode; 0: not known. */
double bounds_skew(const potential *of);

/* Two points w = reference + A z, with A the map that the bounds were made with. */
typedef struct {
    const double *from, *to;       /* w */
    double from_square, to_square; /* z.z */
    double product;                /* z.z' */
} point_pair;

/* With R = U - bounds_taylor and s a random set of rows (see row_bounds.c): a ratio r(s)
 * such that points which are proposed alternately keep exp(-R) invariant when the step is
 * taken with probability min(1, r). */
typedef struct {
    double log_ratio;
    uint64_t rows; /* rows evaluated */
    uint64_t over; /* of them beyond their bound, which cannot happen if bounds are right */
} pair_ratio;

/* Draws s and computes r(s) for the pair. */
pair_ratio bounds_compare(potential *of, const point_pair *pair, rng *random);

#endif

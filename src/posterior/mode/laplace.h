/* The normal approximation at the mode, and the distribution of the log-likelihood that it
 * implies. */
#ifndef POSTERIOR_LAPLACE_H
#define POSTERIOR_LAPLACE_H

#include "core/rng.h"
#include "posterior/full/posterior.h"
#include "posterior/mode/mode.h"

/* Inverts the Hessian at the mode into covariance (dim*dim) and its square-rooted diagonal
 * sd (dim). */
sbps_status laplace_spread(size_t dim, const mode *m, double *covariance, double *sd,
                           sbps_error *err);

/* Draws w = centre + L'^-1 z, with H = L L' (factor) and z standard normal. */
void laplace_draw(size_t dim, const double *centre, const double *factor, rng *random,
                  double *w);

/* Distance of a mean of `ess` effective draws from a point, in posterior sds: sqrt(x'Hx /
 * dim) with x the difference, less what chance alone would give, E x'Hx = dim / ess. */
double laplace_distance(size_t dim, const double *hessian, const double *x, double ess);

/* Distribution of minus the log-likelihood averaged over the rows when w is drawn from the
 * approximation: (nll + X)/rows, X gamma distributed with shape dim/2. */
typedef struct {
    double nll; /* at the mode, sum over all rows */
    double rows, dim;
} nll_distribution;

/* Sets *out from the log-likelihood at the mode. */
sbps_status laplace_nll(const posterior *u, const mode *m, nll_distribution *out,
                        sbps_error *err);
/* Mean, standard deviation and quantiles (0 < probability < 1) of that distribution. */
double nll_mean(const nll_distribution *dist);
double nll_sd(const nll_distribution *dist);
double nll_quantile(const nll_distribution *dist, double probability);

#endif

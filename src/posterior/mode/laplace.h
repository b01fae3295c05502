/* The normal approximation at the mode, and what it says of the likelihood. */
#ifndef POSTERIOR_LAPLACE_H
#define POSTERIOR_LAPLACE_H

#include "core/rng.h"
#include "posterior/mode/mode.h"

/* covariance (dim*dim) and sd (dim) of the inverse Hessian at the mode. */
sbps_status laplace_spread(size_t dim, const mode *m, double *covariance, double *sd,
                           sbps_error *err);

/* A draw of it: w_hat + L^-T z, with H = L L' and z standard normal. */
void laplace_draw(size_t dim, const double *centre, const double *factor, rng *random,
                  double *w);

/* Of a mean that lies x from a point, ESS draws' worth of it: sqrt(x'Hx / dim) in posterior sds, less
 * what chance alone would show, E x'Hx = dim / ESS. */
double laplace_distance(size_t dim, const double *hessian, const double *x, double ess);

/* Minus the log-likelihood of a row, averaged over the rows, when w is drawn from the approximation:
 * (nll + X)/N, X gamma distributed with shape d/2. */
typedef struct {
    double nll; /* at the mode, all rows together */
    double rows, dim;
} nll_distribution;

sbps_status laplace_nll(const posterior *u, const mode *m, nll_distribution *out,
                        sbps_error *err);
double nll_mean(const nll_distribution *dist);
double nll_sd(const nll_distribution *dist);
double nll_quantile(const nll_distribution *dist, double probability); /* 0 < probability < 1 */

#endif

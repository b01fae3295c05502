/* The prior of a posterior as a function of w. The prior of a coordinate is of what it sees: of w_j
 * itself, or, for an intercept that is centred, of the linear predictor at the means of the columns. What a model adds
 * to them (prior_value) is in value and gradient; its Hessian is left to differences of that. */
#ifndef POSTERIOR_LOG_PRIOR_H
#define POSTERIOR_LOG_PRIOR_H

#include "posterior/full/posterior.h"

double log_prior_value(const posterior *u, const double *w);
/* out += factor times the gradient, the Hessian (dim*dim), its diagonal, the Hessian times v.
 */
void log_prior_gradient(const posterior *u, const double *w, double factor, double *out);
void log_prior_hessian(const posterior *u, const double *w, double factor, double *out);
void log_prior_diagonal(const posterior *u, const double *w, double factor, double *out);
void log_prior_product(const posterior *u, const double *w, const double *v, double factor,
                       double *out);

/* How much of the variance of w_j the priors alone hold, factor being the Cholesky factor of the Hessian H of
 * U at w, P the priors' part of it and x = H^-1 e_j:
 *
 *   d log var_j / d log(width of every prior)^2 = x'Px / x_j
 *
 * is 1 where rows say nothing of j, as of an empty column or of one of two that are the same, and near
 * 0 where they say all. x and y are scratch, dim numbers each. */
double log_prior_fraction(const posterior *u, const double *w, const double *factor, size_t j,
                          double *x, double *y);

/* Is j an intercept that is centred? */
static inline bool log_prior_centred(const posterior *u, size_t j)
{
    return u->centred && j % u->data->d == 0 && j / u->data->d < u->centred;
}
/* What prior j sees of a point or, being linear, of a direction. */
double log_prior_argument(const posterior *u, const double *w, size_t j);
/* out += slope d(seen_j)/dw for a centred intercept j. */
void log_prior_spread(const posterior *u, size_t j, double slope, double *out);

#endif

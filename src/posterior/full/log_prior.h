/* The log prior of a posterior as a function of w.
 *
 * The prior of coordinate j is evaluated at an argument s_j(w): w_j itself or, for a centred
 * intercept, the linear predictor at the column means. A term that the model adds
 * (model->parameters.joint_prior) is part of value and gradient; its Hessian is left to
 * differences of the gradient. */
#ifndef POSTERIOR_LOG_PRIOR_H
#define POSTERIOR_LOG_PRIOR_H

#include <stddef.h>

struct posterior;

/* log prior(w) */
double log_prior_value(const struct posterior *u, const double *w);
/* out (dim) += factor * grad log prior(w) */
void log_prior_gradient(const struct posterior *u, const double *w, double factor, double *out);
/* out (dim*dim) += factor * Hess log prior(w) */
void log_prior_hessian(const struct posterior *u, const double *w, double factor, double *out);
/* out (dim) += factor * diagonal of Hess log prior(w) */
void log_prior_diagonal(const struct posterior *u, const double *w, double factor, double *out);
/* out (dim) += factor * Hess log prior(w) v */
void log_prior_product(const struct posterior *u, const double *w, const double *v,
                       double factor, double *out);

/* The part of the variance of w_j that the priors alone determine. With factor the Cholesky
 * factor of the Hessian H of U at w, P the priors' part of H and x = H^-1 e_j, the result is
 *
 *   d log var_j / d log(width of every prior)^2 = x'Px / x_j
 *
 * It is 1 where the rows carry no information on w_j (an empty column, or one of two equal
 * columns) and near 0 where they determine it. x and y are scratch of dim numbers each. */
double log_prior_fraction(const struct posterior *u, const double *w, const double *factor,
                          size_t j, double *x, double *y);

/* s_j(w), the argument of prior j; being linear in w it also applies to directions. */
double log_prior_argument(const struct posterior *u, const double *w, size_t j);
/* out += slope * ds_j/dw for a centred intercept j. */
void log_prior_spread(const struct posterior *u, size_t j, double slope, double *out);

#endif

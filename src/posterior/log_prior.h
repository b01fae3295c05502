/* The prior of a posterior as a function of w. The prior of a coordinate is of what it sees: of w_j
 * itself, or, for an intercept that is centred, of the linear predictor at the means of the columns. */
#ifndef POSTERIOR_LOG_PRIOR_H
#define POSTERIOR_LOG_PRIOR_H

#include "posterior/posterior.h"

double log_prior_value(const posterior *u, const double *w);
/* out += factor times the gradient, the Hessian (dim*dim), its diagonal, the Hessian times v.
 */
void log_prior_gradient(const posterior *u, const double *w, double factor, double *out);
void log_prior_hessian(const posterior *u, const double *w, double factor, double *out);
void log_prior_diagonal(const posterior *u, const double *w, double factor, double *out);
void log_prior_product(const posterior *u, const double *w, const double *v, double factor,
                       double *out);

/* Is j an intercept that is centred? */
static inline bool log_prior_leans(const posterior *u, size_t j)
{
    return u->centred && j % u->data->d == 0 && j / u->data->d < u->centred;
}
/* What prior j sees of a point or, being linear, of a direction. */
double log_prior_seen(const posterior *u, const double *w, size_t j);
/* out += slope d(seen_j)/dw for a centred intercept j. */
void log_prior_spread(const posterior *u, size_t j, double slope, double *out);

#endif

/* Full-data calls of posteriors whose model is a general one; posterior.c hands them over. */
#ifndef POSTERIOR_GENERAL_H
#define POSTERIOR_GENERAL_H

#include "posterior/posterior.h"

sbps_status general_value(const posterior *u, const double *w, double *value, sbps_error *err);
sbps_status general_gradient(const posterior *u, const double *w, double *value,
                             double *gradient, sbps_error *err);
sbps_status general_hessian(const posterior *u, const double *w, double *hessian,
                            sbps_error *err);
sbps_status general_hessian_vector(const posterior *u, const double *w, const double *v,
                                   double *hv, sbps_error *err);

#endif

/* What log odds say of y, wherever that is 0, 1 or a share of trials: the derivatives are the same. */
#ifndef MODEL_LOGISTIC_H
#define MODEL_LOGISTIC_H

#include "model/likelihood/model.h"

void logistic_slope(const batch *b, double *out);
void logistic_gradient(const batch *b, double *d_eta, double *d_aux);
void logistic_curvature(const batch *b, double *ee, double *ea, double *aa);
double logistic_third(double eta);
double logistic_third_bound(double eta, double reach);
double logistic_simulate(rng *r, double eta, const double *aux);
double logistic_expected(double eta, const double *aux);

#endif

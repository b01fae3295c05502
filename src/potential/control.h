/* Gradient control variate: what is known exactly at a reference point is taken out of the
 * mini-batch noise. Immutable, shared by all chains. */
#ifndef POTENTIAL_CONTROL_H
#define POTENTIAL_CONTROL_H

#include "potential/posterior.h"

typedef struct control {
    double *w;        /* dim: the reference */
    double *gradient; /* dim: sum over all rows of weight_i grad log p_i there */
    /* predictor models: d log p/d eta and d log p/d aux of every row there (the second may be NULL) */
    double *d_eta, *d_aux;
} control;

sbps_status control_create(const posterior *target, const double *w, control **out,
                           sbps_error *err);
void control_destroy(control *c);

#endif

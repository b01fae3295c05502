/* The mode of a posterior by stochastic average gradients, for models that leave one number a row. */
#ifndef POSTERIOR_SAG_H
#define POSTERIOR_SAG_H

#include "posterior/full/posterior.h"

typedef struct {
    double *w;     /* dim: where it begins, then where it ends */
    double value;  /* U there */
    double epochs; /* passes through the rows so far; 0: from a start, else it goes on */
} sag_point;

bool sag_applies(const posterior *u);
/* Until |D^-1 g| <= goal, D the square roots of the Hessian's diagonal as it finds it, or until `most`
 * epochs. Never leaves w worse. */
sbps_status sag_descend(const posterior *u, sag_point *at, double goal, double max_epochs,
                        uint64_t seed, sbps_error *err);

#endif

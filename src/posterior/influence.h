/* How much noise each row makes: the root mean square of its slope, less what a control variate takes
 * out of it, over points and directions of the posterior. Every row is looked at: one in a million may
 * rule the answer, and a sample would not meet it. */
#ifndef POSTERIOR_INFLUENCE_H
#define POSTERIOR_INFLUENCE_H

#include "posterior/posterior.h"

/* Control variates: none, of the first and of the second order. */
#define INFLUENCE_ORDERS ((size_t)3)
/* Parameters up to which a row's leverage is affordable: d^2/2 multiplications. */
#define INFLUENCE_DIM ((size_t)256)

typedef struct {
    const double *reference; /* dim: of the control variates */
    const double *centre;    /* dim: of the points, which are N(centre, H^-1) */
    const double *factor;    /* dim*dim: H = L L' */
} influence_place;

/* Is the model one whose rows see w through their predictor, and small enough? */
bool influence_applies(const posterior *u);

/* A row whose removal would move a parameter. */
typedef struct {
    size_t row, parameter;
    double shift; /* of the mode, in posterior sd, to the first order */
} row_effect;

/* Those with the largest effects, largest first, none below `least`. */
typedef struct {
    double least;
    size_t count, most;
    row_effect *list; /* room for `most` */
} row_effects;

/* In units of sqrt(u'Hu), along directions uniform in the metric of H. n numbers for each order; NULL:
 * not wanted. effects: NULL, or to be filled where the reference is the mode. */
sbps_status influence_measure(const posterior *u, const influence_place *at,
                              float *const out[INFLUENCE_ORDERS], row_effects *effects,
                              sbps_error *err);

#endif

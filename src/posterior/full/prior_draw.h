/* Independent draws from the prior of a posterior, the rows being left out. */
#ifndef POSTERIOR_PRIOR_DRAW_H
#define POSTERIOR_PRIOR_DRAW_H

#include "posterior/full/posterior.h"

/* SBPS_BAD_ARG with the name of the first parameter whose prior is not a distribution, or from
 * which no draw has an allowed value. */
sbps_status prior_draw_check(const posterior *u, sbps_error *err);
/* Sets w (dim) to a draw; all NAN if none was found, which prior_draw_check makes unlikely. */
void prior_draw_all(const posterior *u, rng *r, double *w);

#endif

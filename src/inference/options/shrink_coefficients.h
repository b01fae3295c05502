/* Coefficients that are shrunk by scales of their own. */
#ifndef INFERENCE_SHRINK_COEFFICIENTS_H
#define INFERENCE_SHRINK_COEFFICIENTS_H

#include "inference/options/options.h"
#include "posterior/full/posterior.h"

/* Does --prior ask for such? */
bool shrinkage_requested(const sbps_options *o);
/* Where it does, a posterior of weights and their scales takes the place of *target, whose priors are chosen. */
sbps_status shrinkage_apply(const sbps_options *o, posterior **target, sbps_error *err);

#endif

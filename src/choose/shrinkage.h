/* Coefficients that are shrunk by scales of their own. */
#ifndef CHOOSE_SHRINKAGE_H
#define CHOOSE_SHRINKAGE_H

#include "choose/options.h"
#include "posterior/posterior.h"

/* Does --prior ask for such? */
bool shrinkage_asked(const sbps_options *o);
/* Where it does, a posterior of weights and their scales takes the place of *target, whose priors are chosen. */
sbps_status shrinkage_apply(const sbps_options *o, posterior **target, sbps_error *err);

#endif

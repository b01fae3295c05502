/* Which prior each coordinate gets. */
#ifndef CHOOSE_PRIORS_H
#define CHOOSE_PRIORS_H

#include "choose/options.h"
#include "posterior/posterior.h"

/* Fills every prior of the target. */
sbps_status priors_choose(const sbps_options *options, posterior *target, sbps_error *err);

#endif

/* Which prior each coordinate gets. */
#ifndef INFERENCE_COORDINATE_PRIORS_H
#define INFERENCE_COORDINATE_PRIORS_H

#include "inference/options/options.h"
#include "posterior/full/posterior.h"

/* Fills every prior of the target. */
sbps_status priors_choose(const sbps_options *options, posterior *target, sbps_error *err);

#endif

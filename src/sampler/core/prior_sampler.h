/* Independent draws from the prior, for --prior-only. Not in the list of samplers: it does not
 * sample from the posterior. */
#ifndef SAMPLER_PRIOR_H
#define SAMPLER_PRIOR_H

#include "sampler/core/sampler.h"

extern const sampler_kind sampler_prior;

#endif

/* The samplers that exist; only sampler.c lists them. */
#ifndef SAMPLER_KINDS_H
#define SAMPLER_KINDS_H

#include "sampler/sampler.h"

extern const sampler_kind sampler_sbps;

#endif

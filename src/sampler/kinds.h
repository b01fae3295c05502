/* The samplers that exist; only sampler.c lists them. */
#ifndef SAMPLER_KINDS_H
#define SAMPLER_KINDS_H

#include "sampler/sampler.h"

extern const sampler_kind sampler_sbps;
extern const sampler_kind sampler_sgld, sampler_psgld, sampler_sghmc, sampler_msgnht;
extern const sampler_kind sampler_mh;

#endif

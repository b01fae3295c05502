/* The samplers that exist; only sampler.c lists them. */
#ifndef SAMPLER_KINDS_H
#define SAMPLER_KINDS_H

#include "sampler/sampler.h"

extern const sampler_kind sampler_sbps, sampler_psbps;
extern const sampler_kind sampler_bps, sampler_noisy_bps;
extern const sampler_kind sampler_lipsbps, sampler_local_bps;
extern const sampler_kind sampler_zigzag, sampler_zigzag_ss, sampler_zigzag_cv;
extern const sampler_kind sampler_sgld, sampler_psgld, sampler_sghmc, sampler_msgnht;
extern const sampler_kind sampler_mh;
extern const sampler_kind sampler_hmc, sampler_boomerang;

#endif

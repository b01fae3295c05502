/* The registry of samplers: one line per kind. Kinds that are settings of another share its
 * file. */
#ifndef SAMPLER_SAMPLER_KINDS_H
#define SAMPLER_SAMPLER_KINDS_H

#include "core/kind_tables.h"
#include "sampler/core/sampler.h"

#define SAMPLER_KINDS(X)                                                                       \
    X(sampler, sbps) /* continuous time */                                                     \
    X(sampler, psbps)                                                                          \
    X(sampler, boomerang)                                                                      \
    X(sampler, bps) /* on the full data */                                                     \
    X(sampler, noisy_bps)                                                                      \
    X(sampler, lipsbps) /* exact under bounds */                                               \
    X(sampler, local_bps)                                                                      \
    X(sampler, zigzag)                                                                         \
    X(sampler, zigzag_ss)                                                                      \
    X(sampler, zigzag_cv)                                                                      \
    X(sampler, sgld) /* discrete, biased */                                                    \
    X(sampler, psgld)                                                                          \
    X(sampler, sghmc)                                                                          \
    X(sampler, msgnht)                                                                         \
    X(sampler, mh) /* discrete, exact */                                                       \
    X(sampler, hmc)                                                                            \
    X(sampler, nuts)                                                                           \
    X(sampler, sweep) /* mixed models only */                                                  \
    X(sampler, surrogate)                                                                      \
    X(sampler, importance)

SAMPLER_KINDS(KIND_DECLARED)

#endif

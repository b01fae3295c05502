/* The kinds of prior, one file each; the registry in prior.c lists them. */
#ifndef PRIOR_KINDS_H
#define PRIOR_KINDS_H

#include "prior/prior.h"

extern const prior_kind prior_normal, prior_student_t, prior_cauchy, prior_laplace,
    prior_exponential, prior_flat;

#endif

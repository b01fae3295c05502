/* The list of priors of single parameters, which prior_kinds.c defines. */
#ifndef MODEL_PRIOR_KINDS_H
#define MODEL_PRIOR_KINDS_H

#include "core/kind_tables.h"
#include "model/prior/prior.h"

/* X(prior, NAME) for every `const prior_kind prior_NAME`, in the order of `sbps list`. */
#define PRIOR_KINDS(X)                                                                         \
    X(prior, normal)                                                                           \
    X(prior, student_t)                                                                        \
    X(prior, cauchy)                                                                           \
    X(prior, laplace)                                                                          \
    X(prior, exponential)                                                                      \
    X(prior, gamma)                                                                            \
    X(prior, lkj)                                                                              \
    X(prior, flat)

PRIOR_KINDS(KIND_DECLARED)

#endif

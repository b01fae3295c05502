/* The kinds of prior: a line and a file each. */
#ifndef MODEL_PRIOR_KINDS_H
#define MODEL_PRIOR_KINDS_H

#include "core/kind_tables.h"
#include "model/prior/prior.h"

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

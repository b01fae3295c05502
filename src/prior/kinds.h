/* The kinds of prior: a line and a file each. */
#ifndef PRIOR_KINDS_H
#define PRIOR_KINDS_H

#include "base/kinds.h"
#include "prior/prior.h"

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

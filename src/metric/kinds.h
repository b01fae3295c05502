/* The kinds of metric: a line and a file each. */
#ifndef METRIC_KINDS_H
#define METRIC_KINDS_H

#include "base/kinds.h"
#include "metric/metric.h"

#define METRIC_KINDS(X)                                                                        \
    X(metric, none)                                                                            \
    X(metric, diagonal)                                                                        \
    X(metric, adaptive)                                                                        \
    X(metric, dense)                                                                           \
    X(metric, lowrank)

METRIC_KINDS(KIND_DECLARED)

#endif

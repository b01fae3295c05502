/* The registry of metrics: one line per kind. */
#ifndef LINALG_METRIC_KINDS_H
#define LINALG_METRIC_KINDS_H

#include "core/kind_tables.h"
#include "linalg/metric/metric.h"

#define METRIC_KINDS(X)                                                                        \
    X(metric, none)                                                                            \
    X(metric, diagonal)                                                                        \
    X(metric, adaptive)                                                                        \
    X(metric, dense)                                                                           \
    X(metric, lowrank)

METRIC_KINDS(KIND_DECLARED)

#endif

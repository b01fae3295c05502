/* The metrics that exist; only metric.c lists them. */
#ifndef METRIC_KINDS_H
#define METRIC_KINDS_H

#include "metric/metric.h"

extern const metric_kind metric_none, metric_diagonal, metric_adaptive, metric_dense,
    metric_lowrank;

#endif

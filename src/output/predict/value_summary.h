/* Mean, standard deviation and quantiles of numbers. */
#ifndef OUTPUT_VALUE_SUMMARY_H
#define OUTPUT_VALUE_SUMMARY_H

#include "linalg/kernels.h"

typedef struct {
    double mean, sd, low, median, high;
} value_summary;

/* Summarises n numbers; may reorder them. `low` and `high` are the ends of the central interval
 * of probability `interval`, 0 < interval < 1. */
value_summary summarise_values(const kernels *k, size_t n, double *value, double interval);

#endif

/* Mean, standard deviation and quantiles of numbers. */
#ifndef OUTPUT_VALUE_SUMMARY_H
#define OUTPUT_VALUE_SUMMARY_H

#include "linalg/kernels.h"

typedef struct {
    double mean, sd, q5, q50, q95;
} value_summary;

/* Summarises n numbers; may reorder them. */
value_summary summarise_values(const kernels *k, size_t n, double *value);

#endif

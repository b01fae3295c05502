/* What draws say, as they are: mean, standard deviation, quantiles. */
#ifndef OUTPUT_VALUE_SUMMARY_H
#define OUTPUT_VALUE_SUMMARY_H

#include "linalg/kernels.h"

typedef struct {
    double mean, sd, q5, q50, q95;
} value_summary;

/* Reorders them. */
value_summary summarise_values(const kernels *k, size_t n, double *value);

#endif

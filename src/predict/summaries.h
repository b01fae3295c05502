/* What draws say, as they are: mean, standard deviation, quantiles. */
#ifndef PREDICT_SUMMARIES_H
#define PREDICT_SUMMARIES_H

#include "base/kernels.h"

typedef struct {
    double mean, sd, q5, q50, q95;
} value_summary;

/* Reorders them. */
value_summary summarise_values(const kernels *k, size_t n, double *value);

#endif

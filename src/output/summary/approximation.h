/* The mode and the normal approximation there as text, CSV and JSON. */
#ifndef OUTPUT_APPROXIMATION_H
#define OUTPUT_APPROXIMATION_H

#include "core/status.h"

typedef struct {
    double mean, sd, q5, q50, q95;
} nll_figures;

typedef struct {
    const char *model, *target; /* target NULL: none */
    double rows;                /* 1 for a density without a table */
    size_t dim;
    const char *const *names;
    const double *values; /* dim: the mode */
    sbps_mode_info info;
    const double *sd, *covariance; /* dim, dim*dim; NULL: the mode alone */
    nll_figures nll;
} approximation;

sbps_status report_approximation(const approximation *a, sbps_format format, char **out,
                                 sbps_error *err);

#endif

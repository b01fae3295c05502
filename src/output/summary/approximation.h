/* Reports of the mode and of the normal approximation there. */
#ifndef OUTPUT_APPROXIMATION_H
#define OUTPUT_APPROXIMATION_H

#include "core/status.h"

/* The distribution of the negative log-likelihood per row. */
typedef struct {
    double mean, sd, q5, q50, q95;
} nll_figures;

/* What a report shows; everything is borrowed. */
typedef struct {
    const char *model, *target; /* target NULL: none */
    double rows;                /* 1 for a density without a table */
    size_t dim;
    const char *const *names;
    const double *values; /* dim: the mode */
    sbps_mode_info info;
    const double *sd,
        *covariance; /* dim, dim*dim; both NULL: the mode alone, and nll is unused */
    nll_figures nll;
} approximation;

/* The report in a format. *out is malloced (free). */
sbps_status report_approximation(const approximation *a, sbps_format format, char **out,
                                 sbps_error *err);

#endif

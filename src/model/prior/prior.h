/* Priors: exact, never subsampled. One file per kind; a prior is a kind and its numbers. */
#ifndef MODEL_PRIOR_H
#define MODEL_PRIOR_H

#include "core/coordinate_scale.h"
#include "core/status.h"

#define PRIOR_MAX_NUMBERS 5
#define PRIOR_REST        1e-15 /* of 1 - x^2, at least: nearer to 1 no x is told from it */

typedef struct prior_kind {
    const char *name;
    const char *summary; /* one sentence */
    size_t numbers;      /* how many in the parentheses */
    const char *const *number_names;
    const int *
        powers; /* of the unit of x that each number has: 1 a mean, -1 a rate, 0 degrees of freedom */
    const double *
        usual; /* of priors of many coefficients, see shrinkage.h, which have no functions: what numbers left out are;
                            NULL: all must be there */
    bool positive;    /* support x > 0: only for parameters that are positive, such as sigma */
    bool correlation; /* support -1 < x < 1: only for correlations, which take no other */
    bool quadratic;   /* log density is quadratic in x: its slope is linear in x */
    bool log_concave; /* log density is concave in x */
    /* True when the numbers make a density (scales > 0, all finite). */
    bool (*valid)(const double *theta);
    /* log density up to a constant that depends on theta only, and its derivatives in x */
    double (*logpdf)(const double *theta, double x);
    double (*slope)(const double *theta, double x);
    double (*curvature)(const double *theta, double x);
    /* Optional, both or none: mean and standard deviation; NAN where there is none. NULL: no density,
     * or none for any numbers. */
    double (*mean)(const double *theta);
    double (*sd)(const double *theta);
    /* Optional: where the slope jumps (laplace: its location). NULL: nowhere. */
    double (*kink)(const double *theta);
    /* Optional: bound of |slope| over all x. NULL: there is none. */
    double (*slope_bound)(const double *theta);
} prior_kind;

extern const prior_kind *const prior_kinds[]; /* NULL at the end */

const prior_kind *prior_find(const char *name); /* NULL when unknown */

typedef struct {
    const prior_kind *kind;
    double theta[PRIOR_MAX_NUMBERS];
} prior;

/* "normal(0,10)", "flat": unknown names get a suggestion. */
sbps_status prior_parse(const char *text, prior *out, sbps_error *err);
/* The same text back, shortest that reads the same. */
void prior_format(const prior *p, size_t size, char *text);
/* The prior of x where p is that of x / unit. */
prior prior_in_units(const prior *p, double unit);

/* log density of the coordinate, the prior being stated on what is reported: the Jacobian of the scale is
 * included. And its derivatives. */
double prior_logpdf(const prior *p, coordinate_scale scale, double w);
double prior_slope(const prior *p, coordinate_scale scale, double w);
double prior_curvature(const prior *p, coordinate_scale scale, double w);

#endif

/* Priors of single parameters. A prior is a kind and its numbers, written "normal(0,10)".
 * Priors are always evaluated exactly, never on a subsample. */
#ifndef MODEL_PRIOR_H
#define MODEL_PRIOR_H

#include "core/coordinate_scale.h"
#include "core/rng.h"
#include "core/status.h"

#define PRIOR_MAX_NUMBERS 5 /* numbers of any kind */
/* Lower limit of 1 - x^2 for a correlation x, so that its logarithm and inverse stay finite. */
#define PRIOR_REST 1e-15

/* A family of distributions. theta has `numbers` numbers. The kinds for many coefficients
 * together (prior_shrinkage.h) have no functions besides `valid`. */
typedef struct prior_kind {
    /* ---- required ---- */

    const char *name;
    const char *summary;             /* one sentence */
    size_t numbers;                  /* how many are in the parentheses */
    const char *const *number_names; /* of each, for messages */
    /* The power of the unit of x that each number has: 1 a mean or scale, -1 a rate, 0 degrees
     * of freedom. */
    const int *powers;
    /* Only kinds for many coefficients: the values of numbers left out. NULL: all are
     * needed. */
    const double *usual;
    bool positive;    /* support x > 0: only for positive parameters such as sigma */
    bool correlation; /* support -1 < x < 1: only for correlations, which take no other kind */
    bool quadratic;   /* the log density is quadratic in x */
    bool log_concave; /* the log density is concave in x */
    /* Do the numbers define a distribution (scales > 0, all finite)? */
    bool (*valid)(const double *theta);
    /* The log density, up to a constant that depends on theta only, and its first and second
     * derivative in x. */
    double (*logpdf)(const double *theta, double x);
    double (*slope)(const double *theta, double x);
    double (*curvature)(const double *theta, double x);

    /* ---- optional ---- */

    /* Both or none: mean and standard deviation; NAN where they do not exist for these numbers.
     * NULL: they never exist. */
    double (*mean)(const double *theta);
    double (*sd)(const double *theta);
    /* The point where the slope jumps (laplace: its location). NULL: the slope is
     * continuous. */
    double (*kink)(const double *theta);
    /* A bound of |slope| over all x. NULL: there is none. */
    double (*slope_bound)(const double *theta);
    /* A random variate. NULL: not a distribution (flat), or one of many coefficients. */
    double (*draw)(const double *theta, rng *r);
} prior_kind;

extern const prior_kind *const prior_kinds[]; /* NULL at the end */

/* The kind of this name; NULL: unknown. */
const prior_kind *prior_find(const char *name);

/* A prior: a kind and its numbers, in the order of number_names. */
typedef struct {
    const prior_kind *kind;
    double theta[PRIOR_MAX_NUMBERS];
} prior;

/* Reads "normal(0,10)" or "flat". The message for an unknown name suggests the nearest one. */
sbps_status prior_parse(const char *text, prior *out, sbps_error *err);
/* Writes the shortest text from which prior_parse reads the same prior. */
void prior_format(const prior *p, size_t size, char *text);
/* The prior of x, where p is the prior of x / unit. */
prior prior_in_units(const prior *p, double unit);

/* The log density of coordinate w, where p is the prior of the parameter x(w) on this scale.
 * The log Jacobian, log |dx/dw|, is included. */
double prior_logpdf(const prior *p, coordinate_scale scale, double w);
/* Its first derivative in w. */
double prior_slope(const prior *p, coordinate_scale scale, double w);
/* Its second derivative in w; may be positive where the prior has heavy tails. */
double prior_curvature(const prior *p, coordinate_scale scale, double w);

/* Is p the distribution of a parameter on this scale? Flat is one of a probability and of a
 * correlation only. */
bool prior_can_draw(const prior *p, coordinate_scale scale);
/* Draws the parameter from p, restricted to the values that the scale allows, and sets *w to
 * its coordinate. False: of PRIOR_TRIES variates none was allowed. */
#define PRIOR_TRIES 100000
bool prior_draw(const prior *p, coordinate_scale scale, rng *r, double *w);

#endif

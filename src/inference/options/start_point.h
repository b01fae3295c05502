/* A starting point from a file (--start): reference point of a run, with a covariance also its
 * metric. */
#ifndef INFERENCE_START_POINT_H
#define INFERENCE_START_POINT_H

#include "posterior/full/posterior.h"

/* The point of a file; all 0: no file. */
typedef struct {
    double *w;         /* dim, coordinates of the posterior (log sigma, not sigma) */
    double *precision; /* dim * dim: inverse of the file's covariance; NULL: none */
    uint64_t hash;     /* of the file's text */
} start_point;

/* Reads a CSV with columns `name`, then `value` or `mean`, then optionally `cov:NAME` for every
 * parameter; other columns are ignored. One line per parameter, in any order. Free the result
 * with start_release, also after a failure. */
sbps_status start_read(const char *path, const posterior *u, const char *const *names,
                       start_point *out, sbps_error *err);
/* Frees its arrays. */
void start_release(start_point *s);

/* Name of coordinate j, such as "log(sigma)" for the parameter sigma; owned by the caller,
 * NULL: no memory. */
char *coordinate_name(const posterior *u, const char *name, size_t j);

#endif

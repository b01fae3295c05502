/* A point from a file: start and reference of a run, with a covariance also its metric. */
#ifndef INFERENCE_START_POINT_H
#define INFERENCE_START_POINT_H

#include "posterior/full/posterior.h"

typedef struct {
    double *w;         /* dim, in the coordinates of the posterior: log sigma */
    double *precision; /* dim*dim: the covariance inverted; NULL: the file has none */
    uint64_t hash;     /* of the file's text */
} start_point;

/* CSV with a header: `name`, then `value` or `mean`, then perhaps `cov:NAME` of every parameter; other
 * columns are passed over. Lines in any order, one for every name. Give back with start_release,
 * also after a failure. */
sbps_status start_read(const char *path, const posterior *u, const char *const *names,
                       start_point *out, sbps_error *err);
void start_release(start_point *s);

/* Name of the coordinate: "log(sigma)" for the parameter sigma. To be freed; NULL: no memory. */
char *coordinate_name(const posterior *u, const char *name, size_t j);

#endif

/* The mode of the posterior and the normal approximation there (Laplace), for sbps_map and
 * sbps_laplace. */
#ifndef INFERENCE_APPROXIMATE_H
#define INFERENCE_APPROXIMATE_H

#include "inference/options/options.h"
#include "posterior/mode/laplace.h"

/* The mode of sbps.h. */
struct sbps_mode {
    sbps_options *options; /* own copy */
    char *target;
    posterior *u; /* NULL after the search: it borrows the caller's table */
    size_t dim;
    char **names, **coordinates; /* dim: sigma; log(sigma) */
    double *values;              /* of the parameters as reported; the coordinates are m->w */
    mode *m;
    nll_distribution nll;
};

/* The normal approximation of sbps.h. */
struct sbps_laplace {
    const sbps_mode *of;     /* borrowed */
    double *covariance, *sd; /* of the coordinates: dim * dim, dim */
};

/* Searches for the mode with the options of map and laplace. SBPS_NO_MODE: there is none, with
 * the reason. *out is the caller's. */
sbps_status approximate_find(const sbps_table *table, const sbps_options *options,
                             sbps_mode **out, sbps_error *err);
/* NULL is fine. */
void approximate_destroy(sbps_mode *map);
/* Computes covariance and standard deviations at the mode. Borrows `map`, which must outlive
 * it. */
sbps_status approximate_normal(const sbps_mode *map, sbps_laplace **out, sbps_error *err);
/* NULL is fine; leaves the mode. */
void approximate_normal_destroy(sbps_laplace *laplace);

#endif

/* Strata: rows sorted by how much noise they make, so that batches hold enough of the loud ones.
 * Immutable, shared by all chains. */
#ifndef POTENTIAL_STRATA_H
#define POTENTIAL_STRATA_H

#include "base/status.h"

#include <stddef.h>

#define STRATA_MAX   ((size_t)6)
#define STRATA_LEAST ((size_t)2) /* rows of each in a batch: their spread is wanted */

typedef struct strata {
    size_t count;
    size_t *order;             /* all rows, stratum by stratum, increasing within each */
    size_t first[STRATA_MAX];  /* in order */
    size_t size[STRATA_MAX];   /* rows */
    double spread[STRATA_MAX]; /* root mean square influence */
} strata;

/* influence: n numbers, root mean squares of what each row adds to the noise. */
sbps_status strata_create(size_t n, const double *influence, strata **out, sbps_error *err);
void strata_destroy(strata *s);
/* Rows of each stratum in a batch of about n, by Neyman; returns how many there are in all. A stratum
 * of which all rows are taken makes no noise. */
size_t strata_allot(const strata *s, size_t n, size_t rows[STRATA_MAX]);
/* sum N_s^2 spread_s^2 / n_s (1 - n_s/N_s) for such a batch. */
double strata_variance(const strata *s, size_t n);

#endif

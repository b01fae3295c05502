/* Strata: rows sorted by how much noise they make, so that batches hold enough of the loud ones.
 * Immutable, shared by all chains. */
#ifndef POSTERIOR_STRATA_H
#define POSTERIOR_STRATA_H

#include "table/rows.h"

#define STRATA_MAX       ((size_t)8)
#define STRATUM_ROWS_MIN ((size_t)2) /* rows of each in a batch: their spread is wanted */

typedef struct strata {
    size_t count;
    size_t *order;             /* all rows, stratum by stratum, increasing within each */
    size_t first[STRATA_MAX];  /* in order */
    size_t size[STRATA_MAX];   /* rows */
    double from[STRATA_MAX];   /* influence of its quietest row, at least; 0 for the first */
    double spread[STRATA_MAX]; /* root mean square influence */
} strata;

/* Rows counted by their influence, the root mean square of what each adds to the noise: cells are half
 * an octave wide. */
#define STRATA_CELLS ((size_t)512)
typedef struct {
    size_t rows[STRATA_CELLS];
    double sum, squares[STRATA_CELLS];
} strata_tally;

/* The same as sums, STRATA_COUNTS of them: rows are added, and at last they are a tally. */
#define STRATA_COUNTS (2 * STRATA_CELLS + 1)
void strata_add(size_t n, const float *influence, double *counts);
void strata_from_counts(const double *counts, strata_tally *out);
/* influence: of every row. */
sbps_status strata_count(const rows *data, const float *influence, strata_tally *out,
                         sbps_error *err);
/* sum of influence^2 over all rows */
double strata_squares(const strata_tally *tally);
/* At most `count` strata with the least noise a batch; `order` is left NULL. */
void strata_divide(const strata_tally *tally, size_t count, strata *out);
/* The same strata with the rows sorted into them. */
sbps_status strata_create(const strata *borders, size_t n, const float *influence, strata **out,
                          sbps_error *err);
/* How loud its rows are by another measure: spread of each. */
void strata_listen(strata *s, const float *influence);
void strata_destroy(strata *s);
/* Rows of each stratum in a batch of about n, by Neyman; returns how many there are in all. A stratum
 * of which all rows are taken makes no noise. */
size_t strata_allot(const strata *s, size_t n, size_t taken[STRATA_MAX]);
/* sum N_s^2 spread_s^2 / n_s (1 - n_s/N_s) for such a batch. */
double strata_variance(const strata *s, size_t n);

/* Sum of the influences of those rows that, when a batch of n meets one, move its slope by more than
 * `width`: a stratum's rows count N_s/n_s times. parts NULL: rows are all alike. */
double strata_beyond(const strata_tally *tally, const strata *parts, size_t n, double width);

#endif

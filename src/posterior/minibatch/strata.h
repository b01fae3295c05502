/* Strata: rows sorted by how much noise they add, so that batches contain enough of the
 * noisy ones. Immutable, shared by all chains. */
#ifndef POSTERIOR_STRATA_H
#define POSTERIOR_STRATA_H

#include "table/rows.h"

#define STRATA_MAX ((size_t)8)
/* least rows of a stratum in a batch: their spread is estimated */
#define STRATUM_ROWS_MIN ((size_t)2)

typedef struct strata {
    size_t count;
    size_t *order;             /* all rows, stratum by stratum, increasing within each */
    size_t first[STRATA_MAX];  /* position in order */
    size_t size[STRATA_MAX];   /* rows */
    double from[STRATA_MAX];   /* lower limit of influence; 0 for the first */
    double spread[STRATA_MAX]; /* root mean square influence of its rows */
} strata;

/* A histogram of rows by influence, the root mean square of what each adds to the noise.
 * Cells are half an octave wide. */
#define STRATA_CELLS ((size_t)512)
typedef struct {
    size_t rows[STRATA_CELLS];
    double sum, squares[STRATA_CELLS];
} strata_tally;

/* The same as STRATA_COUNTS sums of doubles, which can be added over blocks of rows. */
#define STRATA_COUNTS (2 * STRATA_CELLS + 1)
/* Adds n rows to counts. */
void strata_add(size_t n, const float *influence, double *counts);
/* Converts the sums to a tally. */
void strata_from_counts(const double *counts, strata_tally *out);
/* The tally of all rows; influence: n numbers. */
sbps_status strata_count(const rows *data, const float *influence, strata_tally *out,
                         sbps_error *err);
/* Sum of influence^2 over all rows. */
double strata_squares(const strata_tally *tally);
/* Divides the rows into at most `count` strata with the least noise per batch; `order` stays
 * NULL. */
void strata_divide(const strata_tally *tally, size_t count, strata *out);
/* Creates the same strata with the rows sorted into them. The caller destroys *out, NULL on
 * failure. */
sbps_status strata_create(const strata *borders, size_t n, const float *influence, strata **out,
                          sbps_error *err);
/* Sets the spread of each stratum by another measure of influence. */
void strata_measure(strata *s, const float *influence);
/* Frees s; NULL is fine. */
void strata_destroy(strata *s);
/* Rows of each stratum in a batch of about n by Neyman's allocation; returns their total. A
 * stratum of which all rows are taken adds no noise. */
size_t strata_allot(const strata *s, size_t n, size_t taken[STRATA_MAX]);
/* sum N_s^2 spread_s^2 / n_s (1 - n_s/N_s) for such a batch. */
double strata_variance(const strata *s, size_t n);

/* Sum of the influences of the rows that change the slope of a batch of n by more than
 * `width` when they are in it: a row of a stratum counts N_s/n_s times. parts NULL: rows are
 * drawn uniformly. */
double strata_beyond(const strata_tally *tally, const strata *parts, size_t n, double width);

#endif

/* Generated rows: each is a function of a seed and its number, computed whenever it is read.
 * They take no memory, so that a table may have up to 2^53 of them. */
#ifndef TABLE_GENERATED_ROWS_H
#define TABLE_GENERATED_ROWS_H

#include "table/rows.h"

#define GENERATED_COLUMNS_MAX ((size_t)1000)    /* columns */
#define GENERATED_ROWS        ((size_t)1 << 53) /* rows, all of which a double counts exactly */
#define GENERATED_FEW         ((size_t)1 << 16) /* rows of a sample that represents the table */

/* Draws the targets of n rows from their predictors eta and two random words each. */
typedef void target_generator(const kernels *k, size_t n, const double *eta,
                              const uint32_t *pairs, double *y);

typedef struct row_recipe {
    const kernels *k;
    uint64_t seed;
    size_t features; /* columns that are drawn; an intercept comes before them */
    target_generator *draw;
    double truth[]; /* stride: coefficients that the targets were drawn with */
} row_recipe;

typedef struct {
    size_t n, features;
    uint64_t seed;
    bool intercept;
    double reach; /* coefficients are uniform on [-reach, reach] */
    target_generator *draw;
    const char *model; /* name of the target's distribution: a part of the hash */
} generated_spec;

/* Creates a generated table. Fails for more rows or columns than the limits above. */
sbps_status generated_create(const generated_spec *spec, rows **out, sbps_error *err);
/* Computes the targets of a range into `buffer`, r.n doubles; returns it. */
const double *generated_targets(const rows *data, row_range r, double *buffer);
/* Returns the first n rows of the whole table, on every rank: a sample of it. The result
 * borrows from `data` and is not destroyed. */
rows generated_sample(const rows *data, size_t n);
/* Reduces a table that every rank has created to this rank's rows. Fails for too few rows. */
sbps_status generated_distribute(rows *r, struct ranks *among, sbps_error *err);

#endif

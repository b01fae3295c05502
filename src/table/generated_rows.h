/* Rows that lie nowhere: each is a function of a seed and its number, and is made when somebody looks at it. So a table may
 * have as many as anybody can count. */
#ifndef TABLE_GENERATED_ROWS_H
#define TABLE_GENERATED_ROWS_H

#include "table/rows.h"

#define GENERATED_COLUMNS_MAX ((size_t)1000)    /* columns */
#define GENERATED_ROWS        ((size_t)1 << 53) /* rows, which doubles count */
#define GENERATED_FEW         ((size_t)1 << 16) /* rows that speak for all: they are alike */

/* Targets of n rows: their predictors, and two random words each. */
typedef void target_generator(const kernels *k, size_t n, const double *eta,
                              const uint32_t *pairs, double *y);

typedef struct row_recipe {
    const kernels *k;
    uint64_t seed;
    size_t features; /* columns that are made; an intercept's comes before them */
    target_generator *draw;
    double truth[]; /* stride: weights that made the targets */
} row_recipe;

typedef struct {
    size_t n, features;
    uint64_t seed;
    bool intercept;
    double reach; /* weights are uniform between -reach and reach */
    target_generator *draw;
    const char *model; /* that the law is of: a part of what the table is known by */
} generated_spec;

sbps_status generated_create(const generated_spec *spec, rows **out, sbps_error *err);
const double *generated_targets(const rows *data, row_range r, double *buffer);
/* The first rows of the whole table, on whatever rank: a sample of it. */
rows generated_sample(const rows *data, size_t n);
/* A rank's share. */
sbps_status generated_distribute(rows *r, struct ranks *among, sbps_error *err);

#endif

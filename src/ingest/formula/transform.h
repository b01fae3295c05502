/* Functions of a column that depend on all its rows: one number becomes several, or a level. */
#ifndef INGEST_TRANSFORM_H
#define INGEST_TRANSFORM_H

#include "core/kind_tables.h"
#include "ingest/formula/call_arguments.h"

typedef struct {
    const char *name;
    bool levels; /* it makes levels, else numbers */
    /* Reads the arguments behind the first, which is given[0]. */
    sbps_status (*open)(const call *c, const node **given, void **self);
    /* Optional: all values that the column has, in the order of the rows; they may be reordered. NULL: every
     * row stands for itself. */
    sbps_status (*fit)(const call *c, void *self, double *value, size_t n);
    /* With fit: what it learned of the rows, as numbers, to `out` unless NULL; returns how many. */
    size_t (*learned)(const void *self, double *out);
    /* With fit: takes such numbers, in the place of rows. */
    sbps_status (*recall)(const call *c, void *self, const double *learned, size_t n);
    /* Numbers that one becomes, or levels; after fit. */
    size_t (*width)(const void *self);
    /* Of numbers, else NULL. */
    void (*numbers)(const void *self, double x, double *out);
    /* Optional: whether there will be a level for x; NULL: for any. */
    bool (*takes)(const void *self, double x);
    /* Of levels, else NULL: the level of x, SIZE_MAX for none, and what it is called. */
    size_t (*level)(const void *self, double x);
    const char *(*level_name)(const void *self, size_t level, pool *p);
} transform_kind;

#define TRANSFORM_KINDS(X)                                                                     \
    X(transform, poly)                                                                         \
    X(transform, scale)                                                                        \
    X(transform, bs)                                                                           \
    X(transform, ns)                                                                           \
    X(transform, factor)                                                                       \
    X(transform, cut)

TRANSFORM_KINDS(KIND_DECLARED)

/* Of what is TRUE or FALSE; no call names it. */
extern const transform_kind transform_logical;

/* NULL: a name of none. */
const transform_kind *transform_find(const char *name);
/* A sentence about the call. */
sbps_status fail_call(const call *c, const char *sentence);
/* What a recall says of numbers that are not as many as there should be. */
sbps_status fail_recall(const call *c);

int by_number(const void *a, const void *b); /* for qsort */

#endif

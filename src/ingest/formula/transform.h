/* Transforms: functions in a formula that depend on all rows of their argument, as poly(x,
 * 2), or that turn numbers into levels, as cut(x, 4). Also the matching of the arguments of
 * calls. */
#ifndef INGEST_TRANSFORM_H
#define INGEST_TRANSFORM_H

#include "core/kind_tables.h"
#include "ingest/formula/tree.h"

/* ---- arguments of a call ---- */

/* A call in a formula. */
typedef struct {
    const char *text; /* of the formula, for messages */
    const node *of;
    pool *pool;
    sbps_error *err;
} call;

#define ARGUMENTS_MAX 6

/* Finds the arguments of a call, by name and then by place, as R does: given[k] is the one for
 * formal[k], or NULL. `formal` ends with NULL; the first argument is required. */
sbps_status call_match(const call *c, const char *const *formal, const node **given);
/* Returns the argument x of a call: by that name, or the first without a name; NULL: none. */
const node *first_argument(const node *n);
/* Read an argument: a whole number in [min, max], TRUE or FALSE. *out is left alone where
 * `given` is NULL. */
sbps_status call_count(const call *c, const node *given, size_t min, size_t max, size_t *out);
sbps_status call_flag(const call *c, const node *given, bool *out);
/* Read a number or c(...) of numbers, in the pool: as listed, or in increasing order. *out is
 * left alone where `given` is NULL. */
sbps_status call_list(const call *c, const node *given, double **out, size_t *count);
sbps_status call_numbers(const call *c, const node *given, double **out, size_t *count);
/* Fails with a message about the call. */
sbps_status fail_call(const call *c, const char *message);

/* ---- kinds ---- */

typedef struct {
    const char *name;
    bool levels; /* values are levels; false: numbers */
    /* Reads the arguments; given[0] receives the first, *self the state, in the pool. */
    sbps_status (*open)(const call *c, const node **given, void **self);
    /* Optional: receives the argument's value in all rows, in the order of the rows, and may
     * reorder them. NULL: the transform of a row depends on that row alone. */
    sbps_status (*fit)(const call *c, void *self, double *value, size_t n);
    /* With fit: writes what was computed from the rows to `out` unless NULL; returns how many
     * numbers. */
    size_t (*learned)(const void *self, double *out);
    /* With fit: takes these numbers instead of rows. */
    sbps_status (*recall)(const call *c, void *self, const double *learned, size_t n);
    /* Returns how many numbers one value becomes, or how many levels there are; after fit. */
    size_t (*width)(const void *self);
    /* Transforms to numbers: writes the `width` numbers of x. NULL for levels. */
    void (*numbers)(const void *self, double x, double *out);
    /* Optional: returns whether x will have a level, before fit. NULL: every x has one. */
    bool (*takes)(const void *self, double x);
    /* Transforms to levels: returns the level of x, or SIZE_MAX. NULL for numbers. */
    size_t (*level)(const void *self, double x);
    /* Transforms to levels: returns the name of a level, in the pool. NULL for numbers. */
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

/* Conditions such as x > 3, which have the levels FALSE and TRUE; not a call. */
extern const transform_kind transform_logical;

/* Returns the transform with this name; NULL: none. */
const transform_kind *transform_find(const char *name);
/* Fails because a saved design has the wrong number of learned numbers for the call. */
sbps_status fail_recall(const call *c);

/* Compares two doubles, for qsort and bsearch. */
int by_number(const void *a, const void *b);

#endif

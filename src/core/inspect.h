/* Inspection of a block of state that was read from a file, before it is used.
 *
 * The code that owns a part of the block states in one function, X_inspect, what each member
 * may hold: counts and indices below their limit, flags and kinds that exist, numbers in their
 * range, and, for what set-up computes, the same value. The first violation is kept as a
 * sentence. A test checks that no word of a chain's memory is left out. */
#ifndef CORE_INSPECT_H
#define CORE_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest size of a position or a velocity: beyond it fourth powers overflow. */
#define INSPECT_FARTHEST 1e75

typedef struct {
    const unsigned char *base;  /* the block */
    const unsigned char *fresh; /* a copy of it as set-up made it */
    size_t size;
    unsigned char *seen; /* one byte per word of the block, 1 once inspected; NULL: not kept */
    char wrong[160];     /* the first violation; empty: none so far */
} inspection;

/* Checks of one member each; `what` names it in the sentence. Once a violation is recorded they
 * only mark words as inspected. */

/* A count or an index, at most `max`. */
void inspect_count(inspection *x, const char *what, const uint64_t *value, uint64_t max);
/* A bool: false or true. */
void inspect_flag(inspection *x, const char *what, const bool *value);
/* An enum whose values are 0 to `max`. */
void inspect_kind(inspection *x, const char *what, const void *value, unsigned max);
/* n numbers, each in low..high; NaN is not. */
void inspect_reals(inspection *x, const char *what, const double *values, size_t n, double low,
                   double high);
/* n finite numbers. */
void inspect_finite(inspection *x, const char *what, const double *values, size_t n);
/* n numbers that set-up computes: the file's may differ by rounding, as on another
 * processor. */
void inspect_made(inspection *x, const char *what, const double *values, size_t n);
/* Bytes that set-up computes: they must be equal. */
void inspect_same(inspection *x, const char *what, const void *bytes, size_t size);
/* Bytes that may hold anything: no result depends on them, or they are written before they are
 * read. */
void inspect_any(inspection *x, const void *bytes, size_t size);
/* A condition on several members. */
void inspect_that(inspection *x, const char *what, bool holds);
/* Checks that every word of a struct was inspected; does nothing if words are not kept. */
void inspect_whole(inspection *x, const char *what, const void *bytes, size_t size);

#define INSPECT_COUNT(x, value, max)      inspect_count(x, #value, &(value), max)
#define INSPECT_FLAG(x, value)            inspect_flag(x, #value, &(value))
#define INSPECT_KIND(x, value, max)       inspect_kind(x, #value, &(value), max)
#define INSPECT_REAL(x, value, low, high) inspect_reals(x, #value, &(value), 1, low, high)
#define INSPECT_ANY(x, value)             inspect_any(x, &(value), sizeof(value))
#define INSPECT_WHOLE(x, value)           inspect_whole(x, #value, &(value), sizeof(value))

#endif

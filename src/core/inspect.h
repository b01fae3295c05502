/* Inspection of a block of state that was read from a file, before anything believes it.
 *
 * Who owns a part of the block says in one function, X_inspect, what each of its members may hold:
 * counts and indices below their limit, kinds and flags that exist, numbers in their range, and what
 * set-up makes anew as it made it. The first that does not hold is kept as a sentence. A test sees to
 * it that no word of a chain's memory is left out. */
#ifndef CORE_INSPECT_H
#define CORE_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Positions, velocities and what is like them: beyond it fourth powers overflow. */
#define INSPECT_FARTHEST 1e75

typedef struct {
    const unsigned char *base;  /* of the block */
    const unsigned char *fresh; /* a copy of it as set-up made it */
    size_t size;
    unsigned char
        *seen;       /* a byte for each word of the block that was spoken of; NULL: not kept */
    char wrong[160]; /* the first thing that cannot be; empty: none */
} inspection;

/* `what` names the member in the sentence. All of them do nothing once something is wrong. */
void inspect_count(inspection *x, const char *what, const uint64_t *value, uint64_t max);
void inspect_flag(inspection *x, const char *what, const bool *value);
/* An enum, counted from 0. */
void inspect_kind(inspection *x, const char *what, const void *value, unsigned max);
/* Each of n numbers lies in low..high: NaN does not. */
void inspect_reals(inspection *x, const char *what, const double *values, size_t n, double low,
                   double high);
void inspect_finite(inspection *x, const char *what, const double *values, size_t n);
/* n numbers that set-up makes: those of the file may differ by rounding, as another processor's do. */
void inspect_made(inspection *x, const char *what, const double *values, size_t n);
/* Bytes that set-up makes. */
void inspect_same(inspection *x, const char *what, const void *bytes, size_t size);
/* Nothing depends on it, or it is written before it is read. */
void inspect_any(inspection *x, const void *bytes, size_t size);
/* A condition that joins several members. */
void inspect_that(inspection *x, const char *what, bool holds);
/* Every word of a struct was spoken of; where words are not kept it asks nothing. */
void inspect_whole(inspection *x, const char *what, const void *bytes, size_t size);

#define INSPECT_COUNT(x, value, most)     inspect_count(x, #value, &(value), most)
#define INSPECT_FLAG(x, value)            inspect_flag(x, #value, &(value))
#define INSPECT_KIND(x, value, most)      inspect_kind(x, #value, &(value), most)
#define INSPECT_REAL(x, value, low, high) inspect_reals(x, #value, &(value), 1, low, high)
#define INSPECT_ANY(x, value)             inspect_any(x, &(value), sizeof(value))
#define INSPECT_WHOLE(x, value)           inspect_whole(x, #value, &(value), sizeof(value))

#endif

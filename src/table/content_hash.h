/* What a table holds, as one number that does not depend on the order of its rows or on how they are stored:
 *
 *   sum over rows i of mix(h_i) mod 2^64,    h_i = sum over cells of hash(cell)                              (1)
 *
 * so that a run can be compared with rows which come one by one, from a text or from memory. */
#ifndef TABLE_CONTENT_HASH_H
#define TABLE_CONTENT_HASH_H

#include "table/rows.h"

typedef enum {
    CONTENT_UNKNOWN,
    CONTENT_EXACT, /* every bit of every number counts */
    CONTENT_ROUNDED /* numbers are rounded to floats first: stored as floats, or made by functions whose last bits
                       differ between machines */
} content_kind;

typedef struct {
    content_kind kind;
    uint64_t sum;
} table_content;

/* Of a table whose columns a formula makes (NULL: none). */
content_kind content_kind_of(const rows *r, const char *formula);

/* A row, cell by cell; begins as {.kind = ...}. */
typedef struct {
    content_kind kind;
    uint64_t h;
} row_content;

/* `place` of a number: its column; others from CONTENT_BESIDE on. A 0 counts for nothing. */
#define CONTENT_BESIDE ((uint64_t)1 << 33)
void content_number(row_content *c, uint64_t place, double x);
void content_numbers(row_content *c, size_t n, const double *x);
/* Of rows of weight 0 the target does not count. */
void content_beside(row_content *c, double y, double weight, double offset);
/* The level of group term t, and the `count` numbers that vary with it. */
void content_group(row_content *c, size_t t, const char *level, size_t count, const double *z);
/* What the row adds to the sum. */
uint64_t content_row(const row_content *c);

/* Of a whole table; ranks add what each has. Leaves a table that is made on the fly unknown. */
sbps_status content_table(const rows *r, content_kind kind, unsigned threads,
                          table_content *out, sbps_error *err);

/* As a run's file has it, "exact:0123456789abcdef"; at most 32 bytes. "" where it is unknown. */
void content_print(const table_content *c, char *text);
/* NULL or anything else: unknown. */
table_content content_read(const char *text);

#endif

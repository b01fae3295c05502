/* Groups: the levels of a factor that rows belong to, and what varies from level to level.
 *
 *   eta_i = x_i.beta + offset_i + sum over terms of z_i.u[level of row i],   u ~ N(0, S)
 *
 * Rows are dealt out by the levels of one factor: those of a group lie one behind another, and groups in a random
 * order. */
#ifndef TABLE_ROW_GROUPS_H
#define TABLE_ROW_GROUPS_H

#include "table/rows.h"

typedef struct {
    char *name; /* "herd", "g:h" */
    size_t levels;
    char **level; /* their names, "a" or "a:b" */
    uint32_t *of; /* n: the level of every row */
} group_factor;

/* What stands before the bar in (1 + x | g). */
typedef struct {
    size_t factor;
    size_t count;    /* effects that a level has */
    char **names;    /* count: "Intercept", "x" */
    size_t *column;  /* count: of z; GROUP_CONSTANT: 1 in every row */
    bool correlated; /* false: (x || g) */
} group_term;

#define GROUP_CONSTANT   SIZE_MAX
#define GROUP_NESTED_MAX ((size_t)3)
#define GROUP_EFFECTS    ((size_t)5) /* of a level, over all terms of a factor */

typedef struct row_groups {
    group_factor *factor;
    size_t factors;
    group_term *term; /* several may be of one factor: those are independent of each other */
    size_t terms;
    double *z;    /* n * width */
    size_t width; /* columns that are no constant, over all terms, each once */
    size_t by;    /* the factor by whose levels rows lie together, */
    size_t nested_factor
        [GROUP_NESTED_MAX]; /* and those nested in it, each in the one before: rows of theirs lie together within */
    size_t nested;
    size_t count;  /* groups: its levels that have rows */
    size_t *start; /* count + 1: group g is the rows start[g] to start[g + 1] - 1 */
} row_groups;

void row_groups_destroy(row_groups *g); /* NULL is fine */

#endif

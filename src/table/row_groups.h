/* Groups of rows: the levels of the factors that rows belong to, and the columns whose effects
 * vary from level to level.
 *
 *   eta_i = x_i.beta + offset_i + sum over terms of z_i.u[level of row i],   u ~ N(0, S)
 *
 * Rows are stored by the levels of one factor, `by`: the rows of a group are consecutive, and
 * groups come in a random order. */
#ifndef TABLE_ROW_GROUPS_H
#define TABLE_ROW_GROUPS_H

#include "table/rows.h"

typedef struct {
    char *name; /* "herd"; of several columns "g:h" */
    size_t levels;
    char **level; /* levels: their names, "a" or "a:b" */
    uint32_t *of; /* n: the level of every row */
} group_factor;

/* One term (1 + x | g) of a formula. */
typedef struct {
    size_t factor;
    size_t count;    /* effects of each level */
    char **names;    /* count: "Intercept", "x" */
    size_t *column;  /* count: column of z; GROUP_CONSTANT: 1 in every row */
    bool correlated; /* false: (1 + x || g), effects are independent */
} group_term;

#define GROUP_CONSTANT SIZE_MAX
#define GROUP_NESTED_MAX                                                                       \
    ((size_t)3)                   /* factors nested in `by` that are integrated out with it */
#define GROUP_EFFECTS ((size_t)5) /* effects of a level, over all terms of its factor */

typedef struct row_groups {
    group_factor *factor;
    size_t factors;
    group_term *term; /* terms of the same factor are independent of each other */
    size_t terms;
    double *z;    /* n * width: the varying columns, row after row */
    size_t width; /* columns that are not constant, over all terms, each once */
    size_t by;    /* factor by whose levels rows are stored */
    /* factors nested in `by`, each in the one before: their rows are consecutive, too */
    size_t nested_factor[GROUP_NESTED_MAX];
    size_t nested;
    size_t count;  /* groups: levels of `by` that have rows */
    size_t *start; /* count + 1: group g is the rows start[g] to start[g + 1] - 1 */
} row_groups;

/* Frees the groups; NULL is fine. */
void row_groups_destroy(row_groups *g);

/* ---- as bytes of a converted table (docs/files.md) ---- */

/* Writes the groups of n rows and the formula that made them to `to`, or only counts where it
 * is NULL. Returns the number of bytes, a multiple of 8. */
size_t groups_write(const row_groups *g, size_t n, const char *formula, unsigned char *to);
/* Returns a copy of the groups in `bytes`, the caller's; NULL where they are damaged or memory
 * is short. *formula points into `bytes`. */
row_groups *groups_read(const unsigned char *bytes, size_t size, size_t n,
                        const char **formula);

#endif

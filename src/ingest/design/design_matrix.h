/* From rows as they were read to the design matrix. */
#ifndef INGEST_DESIGN_MATRIX_H
#define INGEST_DESIGN_MATRIX_H

#include "ingest/schema/chunks.h"
#include "ingest/schema/column_schema.h"

/* Where a feature goes: one column, or one for each level but the first. */
typedef struct {
    size_t column;
    size_t *rank; /* of each level code, 0 for the first; NULL: a number */
} placing;

/* Levels of a category that a formula has, in their order. */
typedef struct {
    char **name;
    size_t count;
    size_t *rank; /* of each level code */
} coded_levels;

/* A table being made. */
typedef struct {
    const column_schema *schema; /* borrowed, as is spec */
    const rows_spec *spec;
    placing *place; /* one a feature */
    double *label;  /* y of each code of the target; NULL: the target is read as a number */
    coded_levels *coded;   /* one a column of the formula, if there is one */
    const row_values *all; /* for its functions of all rows; borrowed */
    rows *r;
    size_t held; /* of a share: rows that are there, with those that complete its last piece */
    bool signs;  /* labels were -1 and +1 */
    unsigned threads;
} design;

/* Names and places of the columns, once every row has been seen: d, stride, names and target of
 * g->r. `all` are the rows, for a formula. Close it also after a failure. */
sbps_status design_open(const column_schema *p, const rows_spec *spec, const row_values *all,
                        design *g, sbps_error *err);
/* place.c: one more column, and where it comes from; NULL as in column_origin. */
sbps_status add_column(rows *r, const char *name, const char *column, const char *own,
                       const char *reference, sbps_error *err);
/* Entries that a row of the table may have. */
size_t design_max_entries(const design *g);
/* place.c: names, places and origins of all columns; d and stride. */
sbps_status design_place(design *g, sbps_error *err);
/* labels.c: the number of each label of the target, where it holds text. */
sbps_status labels_place(design *g, sbps_error *err);
/* The same where it holds numbers that stand for labels, all rows being there. */
sbps_status labels_number(const design *g, sbps_error *err);
/* found.c: what columns turned out to be, as notes of the table. */
sbps_status design_note_types(const design *g, sbps_error *err);
/* How many rows were dropped, and for which columns. */
sbps_status rows_note_dropped(rows *r, const column_schema *p, sbps_error *err);
/* Whether a category that nobody named is none: nearly every row has a level of its own. */
bool is_identifier(const column_use *use);
/* The level chosen as reference comes first of the `used` levels in `order`. */
sbps_status put_reference_first(const column_schema *p, size_t column, size_t *order,
                                size_t used, sbps_error *err);
/* Arrays for g->r->n rows, x unless the rows are sparse; fails where memory does not hold them beside the `held`
 * bytes that are there already. */
sbps_status design_allocate(design *g, double held, sbps_error *err);
/* One row as read to row `to` of the table, whose arrays the caller has made. `s` is room for a formula. */
void design_put(const design *g, const formula_scratch *s, const double *row, size_t to);
/* What is not part of x: y, weight and offset of one row. */
void put_beside(const design *g, const double *row, size_t to);
/* Checks, standardises, takes the moments and the hash. */
sbps_status design_finish(design *g, sbps_error *err);
/* Floats instead of doubles, in place; made at the end, of what --standardize leaves, which has no
 * large means. Takes moments and hash anew. */
sbps_status design_to_floats(design *g, sbps_error *err);
/* Destroys the rows as well, unless g->r was set to NULL. */
void design_close(design *g);

/* Entries of the table: what is not 0 in the columns that a row as read becomes, the intercept left
 * out. Room for design_max_entries. Returns how many. */
size_t design_entries(const design *g, const formula_scratch *s, const double *row,
                      uint32_t *column, double *value);

/* Shuffles, expands categories, checks and standardises. */
sbps_status design_create(const column_schema *p, const rows_spec *spec, const chunks *read,
                          rows **out, sbps_error *err);

#endif

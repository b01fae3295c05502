/* The design matrix: from rows as they were read to a table of numbers. */
#ifndef INGEST_DESIGN_MATRIX_H
#define INGEST_DESIGN_MATRIX_H

#include "ingest/schema/chunks.h"
#include "ingest/schema/column_schema.h"
#include "table/rows.h"

/* Columns of a feature: one, or one for each level but the first. */
typedef struct {
    size_t column; /* the first */
    size_t *rank;  /* of each level code, 0 for the reference; NULL: the feature is a number */
} feature_place;

/* Levels of a column of the formula, in their order. */
typedef struct {
    char **name;
    size_t count;
    size_t *rank; /* of each level code */
} coded_levels;

/* A table under construction. */
typedef struct design {
    const column_schema *schema; /* borrowed, as is spec */
    const rows_spec *spec;
    feature_place *place;  /* of each feature; without a formula */
    double *label;         /* y of each code of the target; NULL: the target is a number */
    coded_levels *coded;   /* of each column of the formula; NULL: there is no formula */
    const row_values *all; /* values in all rows, for the formula's transforms; borrowed */
    rows *r;
    size_t held; /* rows in memory: a rank's own, and those that complete its last piece */
    bool signs;  /* labels were -1 and +1 */
    unsigned threads;
} design;

/* Begins a table once every row has been read: sets d, stride, names, origins and target of
 * g->r. `all` is for a formula, else NULL. Close it also after a failure. */
sbps_status design_open(const column_schema *p, const rows_spec *spec, const row_values *all,
                        design *g, sbps_error *err);
/* Allocates y, means, sds, weights and offsets for g->r->local_rows rows, and x unless the rows
 * are sparse. Fails where memory cannot hold them besides the `held` bytes already in use. */
sbps_status design_allocate(design *g, double held, sbps_error *err);
/* Writes a row as read to row `to` of the table. `s` is scratch for a formula. */
void design_put(const design *g, const formula_scratch *s, const double *row, size_t to);
/* Writes only y, weight and offset of a row. */
void put_targets(const design *g, const double *row, size_t to);
/* Writes the entries that a row will have in the table, without the intercept's, to column and
 * value (room for design_max_entries); returns how many. */
size_t design_entries(const design *g, const formula_scratch *s, const double *row,
                      uint32_t *column, double *value);
/* Returns the largest number of entries of a row. */
size_t design_max_entries(const design *g);
/* Once all rows are written: checks them, standardises, computes moments and hashes, and saves
 * the design as text. */
sbps_status design_finish(design *g, sbps_error *err);
/* Converts x to floats in place, after design_finish: standardised columns have no large means.
 * Computes moments and hashes anew. */
sbps_status design_to_floats(design *g, sbps_error *err);
/* Frees what the construction needed, and the rows unless g->r was set to NULL. */
void design_close(design *g);

/* Makes the table of rows in memory: shuffles them, expands categories, checks and
 * standardises. */
sbps_status design_create(const column_schema *p, const rows_spec *spec, const chunks *read,
                          rows **out, sbps_error *err);

/* ---- matrix_columns.c ---- */

/* Sets names, places and origins of all columns; d and stride. */
sbps_status design_place(design *g, sbps_error *err);
/* Appends a column, with the parts of its column_origin (copied; NULL as there). */
sbps_status add_column(rows *r, const char *name, const char *column, const char *own,
                       const char *reference, sbps_error *err);

/* ---- labels.c ---- */

/* Numbers the labels of a target that holds text. */
sbps_status labels_place(design *g, sbps_error *err);
/* Replaces the values of a target whose numbers are labels; all rows are there. */
sbps_status labels_number(const design *g, sbps_error *err);

/* ---- type_notes.c ---- */

/* Notes which types columns were found to have, and what follows from it. */
sbps_status design_note_types(const design *g, sbps_error *err);
/* Notes how many rows were dropped, and for which columns. */
sbps_status rows_note_dropped(rows *r, const column_schema *p, sbps_error *err);
/* Returns whether a column of text, not named as a category, has a level of its own in nearly
 * every row: it is left out. */
bool is_identifier(const column_use *use);
/* Moves the level chosen by --reference to the front of the `used` levels in `order`. */
sbps_status put_reference_first(const column_schema *p, size_t column, size_t *order,
                                size_t used, sbps_error *err);

/* ---- the design of a formula: its levels, columns and rows ---- */

/* Sets names and origins of all columns: ranks levels and fits the formula. */
sbps_status formula_design_place(design *g, sbps_error *err);
/* Frees the levels. */
void formula_design_clear(design *g);
/* Writes the entries of a row as read, without the intercept's; returns how many. */
size_t formula_design_entries(const design *g, const formula_scratch *s, const double *row,
                              uint32_t *column, double *value);
/* Writes a row as read to row `to` of x. */
void formula_design_put(const design *g, const formula_scratch *s, const double *row,
                        size_t to);

/* Rows in memory, from which values are computed. */
typedef struct {
    const formula *of;
    const chunks *read;
} chunk_values;

/* Returns the values in all rows of chunks, for formula_fit; borrows `from`. */
row_values values_of_chunks(chunk_values *from);

#endif

/* The design of a formula: its levels, columns and rows. */
#ifndef INGEST_FORMULA_DESIGN_H
#define INGEST_FORMULA_DESIGN_H

#include "ingest/design/design_matrix.h"

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

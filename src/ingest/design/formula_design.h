/* The design that a formula asks for. */
#ifndef INGEST_FORMULA_DESIGN_H
#define INGEST_FORMULA_DESIGN_H

#include "ingest/design/design_matrix.h"

/* Names and origins of all columns: levels are ranked, and bases that depend on all rows made. */
sbps_status formula_design_place(design *g, sbps_error *err);
void formula_design_clear(design *g);
/* Entries of a row as read, the intercept left out; returns how many. */
size_t formula_design_entries(const design *g, const formula_scratch *s, const double *row,
                              uint32_t *column, double *value);
/* A row as read to row `to` of x. */
void formula_design_put(const design *g, const formula_scratch *s, const double *row,
                        size_t to);

/* Values of all rows that lie in chunks. */
typedef struct {
    const formula *of;
    const chunks *read;
} chunk_values;

row_values values_of_chunks(chunk_values *from);

#endif

/* What functions of all rows are functions of, kept while the rows go elsewhere. */
#ifndef INGEST_KEPT_VALUES_H
#define INGEST_KEPT_VALUES_H

#include "ingest/formula/formula.h"

typedef struct {
    const formula *of; /* borrowed; NULL: nothing is kept */
    double **value;    /* one a variable that waits for all rows, else NULL */
    size_t rows, capacity;
} kept_values;

/* Close it also after a failure. */
sbps_status kept_values_open(const formula *f, kept_values *k, sbps_error *err);
/* The next row; false: no memory. */
bool kept_values_add(kept_values *k, const double *row);
row_values kept_values_all(kept_values *k);
void kept_values_close(kept_values *k);

#endif

/* Rows of one width, kept in chunks while their number is not known. */
#ifndef DATA_CHUNKS_H
#define DATA_CHUNKS_H

#include "base/status.h"

typedef struct {
    size_t width;     /* doubles a row, at least 1 */
    size_t per_chunk; /* rows */
    size_t rows;
    double **chunk;
    size_t count, capacity; /* of chunks */
} chunks;

void chunks_init(chunks *c, size_t width);
/* Where the next row goes; it counts once c->rows is raised. NULL: no memory. */
double *chunks_next(chunks *c);
double *chunks_row(const chunks *c, size_t row);
/* Frees the chunks whose rows all come before `row`. */
void chunks_forget(chunks *c, size_t row);
void chunks_clear(chunks *c);

/* Fails with a sentence when `bytes`, needed for a table of this size while it is read, are more
 * than 80% of the machine's memory. `source` is the file it comes from. */
sbps_status memory_holds(const char *source, double rows, double columns, double bytes,
                         sbps_error *err);

#endif

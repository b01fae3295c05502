/* Rows of one width, kept in chunks while their number is not known. */
#ifndef READ_CHUNKS_H
#define READ_CHUNKS_H

#include "base/status.h"

typedef struct {
    size_t width;     /* doubles a row, at least 1 */
    size_t per_chunk; /* rows, unless packed */
    size_t rows;
    double **chunk;
    size_t count, capacity; /* of chunks */
    /* packed: a row is the number of its entries that are not 0, their slots, their values */
    bool packed;
    double *line;       /* the row being read or looked at */
    double **at;        /* where each row lies */
    double *next;       /* where the next one will, while there is room */
    size_t *first;      /* row of each chunk */
    size_t room;        /* doubles left in the last chunk */
    size_t at_capacity; /* of at */
    double held;        /* bytes */
} chunks;

void chunks_init(chunks *c, size_t width, bool packed);
/* Where the next row goes; it counts once it is kept. NULL: no memory. */
double *chunks_next(chunks *c);
/* The row written last stays. False: no memory. */
bool chunks_keep(chunks *c);
/* Valid until the next call when rows are packed. */
const double *chunks_row(chunks *c, size_t row);
/* Frees the chunks whose rows all come before `row`. */
void chunks_forget(chunks *c, size_t row);
void chunks_clear(chunks *c);
/* What the rows take, in bytes. */
double chunks_bytes(const chunks *c);

/* Fails with a sentence when `bytes`, needed for a table of this size while it is read, are more
 * than 80% of the machine's memory. `source` is the file it comes from. */
sbps_status memory_holds(const char *source, double rows, double columns, double bytes,
                         sbps_error *err);

#endif

/* Rows of one width, kept while their number is not known: runs of rows that lie in large blocks. */
#ifndef INGEST_CHUNKS_H
#define INGEST_CHUNKS_H

#include "core/status.h"

/* Rows that follow each other. */
typedef struct {
    double *first;
    size_t rows;
    size_t before; /* rows of the runs before it */
} row_run;

typedef struct {
    size_t width; /* doubles a row, at least 1 */
    size_t rows;
    row_run *run;
    size_t runs, run_capacity;
    double **block;
    size_t blocks, block_capacity;
    size_t block_size; /* doubles of the last one; 0: none was made yet */
    double *at;        /* where the next row goes, in the last block */
    size_t space;      /* doubles left there */
    bool run_open;     /* the next row belongs to the last run */
    double held;       /* bytes of the blocks */
    /* packed: a row is the number of its entries that are not 0, their slots, their values */
    bool packed;
    double *line; /* the row being read */
} chunks;

/* A packed entry takes a slot and a value, so that packing pays up to two thirds of the cells; it also
 * costs time. */
#define PACK_BELOW 0.5

/* Doubles of a packed row with so many entries. */
size_t packed_size(size_t entries);
/* A packed row as `width` doubles. */
void row_unpack(const double *from, size_t width, double *line);

void chunks_init(chunks *c, size_t width, bool packed);
/* Where the next row goes; it counts once it is kept. NULL: no memory. */
double *chunks_next(chunks *c);
/* The row written last stays. False: no memory. */
bool chunks_keep(chunks *c);
/* Moves all rows behind those of `to`, which has their blocks from now on; `from` may go on. False: no
 * memory, and both are as they were. */
bool chunks_move(chunks *from, chunks *to);
/* Takes all rows away, for as many more. */
void chunks_reset(chunks *c);
void chunks_clear(chunks *c);
/* What the rows take, in bytes. */
double chunks_bytes(const chunks *c);

/* A row of a run and the way to the next one: *at is moved on. A packed row is laid out in `line`. */
double *run_next(const chunks *c, double **at, double *line);
/* Doubles that `line` needs; 0: none. */
size_t run_line(const chunks *c);

/* Fails with a sentence when `bytes`, needed for a table of this size while it is read, are more
 * than 80% of the machine's memory. `source` is the file it comes from. */
sbps_status memory_holds(const char *source, double rows, double columns, double bytes,
                         sbps_error *err);

#endif

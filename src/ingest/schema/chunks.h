/* Growing storage for rows of one width while their number is unknown: runs of rows in large
 * blocks. */
#ifndef INGEST_CHUNKS_H
#define INGEST_CHUNKS_H

#include "core/status.h"

/* Consecutive rows in one block. */
typedef struct {
    double *first; /* its first row */
    size_t rows;
    size_t before; /* rows in the runs before this one */
} row_run;

/* Rows and the blocks that hold them; owns the blocks. */
typedef struct {
    size_t width; /* doubles per row, at least 1 */
    size_t rows;
    row_run *run;
    size_t runs, run_capacity;
    double **block;
    size_t blocks, block_capacity;
    size_t block_size; /* doubles in the last block; 0: no block yet */
    double *at;        /* position of the next row in the last block */
    size_t space;      /* doubles left there */
    bool run_open;     /* the next row extends the last run */
    double held;       /* bytes of all blocks */
    /* Packed rows: the number of nonzero entries, their slots, their values. */
    bool packed;
    double *line; /* packed: the unpacked row being read */
} chunks;

/* Packing pays up to a fill of 2/3, as an entry takes a slot and a value. It also costs time,
 * so tables are packed below this fill only. */
#define PACK_BELOW 0.5

/* Returns the doubles of a packed row with `entries` nonzero entries. */
size_t packed_size(size_t entries);
/* Expands the packed row `from` into `width` doubles at `line`. */
void row_unpack(const double *from, size_t width, double *line);

/* Makes *c empty; nothing is allocated before the first row. */
void chunks_init(chunks *c, size_t width, bool packed);
/* Returns space for the next row, which chunks_keep adds; NULL: no memory. */
double *chunks_next(chunks *c);
/* Adds the row written to the last chunks_next. Returns false without memory. */
bool chunks_keep(chunks *c);
/* Moves all rows of `from`, with their blocks, behind those of `to`. `from` is empty afterwards
 * and can be reused. Returns false without memory; neither has then changed. */
bool chunks_move(chunks *from, chunks *to);
/* Removes all rows and keeps one block for reuse. */
void chunks_reset(chunks *c);
/* Frees everything; *c is then as after chunks_init. */
void chunks_clear(chunks *c);
/* Returns the bytes allocated for rows and runs. */
double chunks_bytes(const chunks *c);

/* Returns the row at *at of a run and moves *at to the next. A packed row is expanded into
 * `line`. */
double *run_next(const chunks *c, double **at, double *line);
/* Returns the doubles that `line` of run_next needs; 0 when rows are not packed. */
size_t run_line(const chunks *c);

/* Fails when reading a table of this size needs more `bytes` than MEMORY_REQUEST_FRACTION of
 * the machine's memory. `source` is the file named in the message. */
sbps_status memory_holds(const char *source, double rows, double columns, double bytes,
                         sbps_error *err);

#endif

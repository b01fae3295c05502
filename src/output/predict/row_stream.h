/* The rows of new data, evaluated by all threads in blocks of BLOCK_ROWS. The data are a text
 * file, rows in memory or a converted table; a text is read by the saved schema of the run.
 * Blocks of a batch are evaluated in any order, and finished in the order of the file. */
#ifndef OUTPUT_ROW_STREAM_H
#define OUTPUT_ROW_STREAM_H

#include "core/text.h"
#include "ingest/design/saved_schema.h"
#include "output/predict/row_reservoir.h"
#include "store/result.h"
#include "table/content_hash.h"

struct predictor_draws;
struct row_block;
struct rows;

/* Is a set of rows, in any order, that of the run? */
typedef enum {
    ROWS_UNKNOWN, /* the run's file does not contain what is needed to decide */
    ROWS_OWN,
    ROWS_OTHER
} rows_identity;

/* Returns what a row, as a model sees it, adds to the content hash of its table. */
uint64_t identity_row(const saved_schema *b, content_kind kind, const encoded_row *seen);
/* Returns "the table of this run" or the like: a static string. */
const char *identity_text(rows_identity identity);
/* Appends , "same_table": true, false, or null if unknown. */
void identity_json(text *t, rows_identity identity);

/* What to read, and what to do with each block. */
typedef struct row_stream {
    const struct predictor_draws *f;
    const char *data; /* the path; - is standard input. With a frame: its name in messages */
    const sbps_frame *frame; /* rows in memory instead of a file; NULL: none */
    new_row_request request; /* columns that are needed besides those of the design */
    unsigned threads;        /* 0: the number of processors */
    size_t batch_bytes;      /* memory that `block` keeps per row; limits the size of a batch */
    void *self;
    /* Evaluates a block, on thread number `worker`; `slot` is its number within the batch. */
    sbps_status (*block)(void *self, unsigned worker, size_t slot, struct row_block *b,
                         sbps_error *err);
    /* Called after each batch with its number of blocks, on one thread; NULL: nothing to do. */
    sbps_status (*finish_blocks)(void *self, size_t blocks, sbps_error *err);
    /* Evaluates all rows of a converted table at once, instead of `block`; NULL: block by
     * block. */
    sbps_status (*table)(void *self, const struct rows *r, sbps_error *err);
    /* A second pass over a random sample of the rows, by `second_pass`, after all rows were
     * read. Up to `keep` rows are kept in memory: all are used if there are no more, else
     * `sample` of them. keep 0: no second pass. */
    size_t keep, sample;
    uint64_t keep_seed;
    bool by_weight; /* a row of weight w counts as w rows: see stream_count.counted */
    const struct row_stream *second_pass;
    /* Another random sample of the same rows, by its own keep, keep_seed, sample, by_weight and
     * second_pass; its other members are not used. NULL: none. */
    const struct row_stream *second_sample;
} row_stream;

/* What was read. */
typedef struct {
    size_t rows;
    size_t counted;         /* with by_weight: rows, each as often as it counts */
    size_t lacking;         /* rows without a cell that is needed */
    size_t not_finite;      /* rows in which a computed value is not finite */
    char column[64];        /* the column of the first row of either kind */
    rows_identity identity; /* if the target is requested */
} stream_count;

#define SLOTS_MAX ((size_t)1024) /* blocks of a batch */

/* Returns the number of threads that the stream uses. */
unsigned stream_threads(const row_stream *s);
/* Reads all rows, and makes the second passes. */
sbps_status stream_rows(const row_stream *s, stream_count *out, sbps_error *err);
/* True if the data are a converted table. */
bool stream_is_table(const row_stream *s);
/* A converted table has its rows in random order. Finds where in the original text the rows at
 * `count` places were (place NULL: all rows), not counting rows that were left out. *out is
 * allocated; it is NULL for a text, and for a table with groups, whose rows are ordered by
 * group. */
sbps_status stream_origins(const row_stream *s, size_t count, const size_t *place, size_t **out,
                           sbps_error *err);

#endif

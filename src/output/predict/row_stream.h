/* The rows of a text, read by what a run knows of its design, or of a converted table, shared out among all processors in
 * blocks: what is done with them is asked for block by block, and told in the order of the file. */
#ifndef OUTPUT_ROW_STREAM_H
#define OUTPUT_ROW_STREAM_H

#include "output/predict/predictor_draws.h"
#include "output/predict/row_identity.h"
#include "output/predict/row_keeping.h"

typedef struct row_stream {
    const predictor_draws *f;
    const char *data; /* its path; - is standard input */
    const sbps_frame *
        frame; /* rows in memory in the place of the file, `data` is what they are called; NULL: none */
    new_row_request wants;
    unsigned threads; /* 0: as many as there are processors */
    size_t
        batch_bytes; /* that `block` keeps of a row until it is told; sets how many are at hand at once */
    void *self;
    /* By any thread, `worker` saying which; `slot` is the block's among those at hand. */
    sbps_status (*block)(void *self, unsigned worker, size_t slot, row_block *b,
                         sbps_error *err);
    /* Optional: so many blocks are done. */
    sbps_status (*finish_blocks)(void *self, size_t blocks, sbps_error *err);
    /* Optional: all rows of a converted table at once, in the place of `block`. */
    sbps_status (*table)(void *self, const rows *r, sbps_error *err);
    /* Optional: so many rows at most are kept, a random sample, and looked at again when all were seen. Of more rows than that
     * `sample` are. */
    size_t keep, sample;
    uint64_t keep_seed;
    bool
        by_weight; /* a row of weight w is kept as w rows alike; stream_count has how many there were */
    const struct row_stream *again;
    /* Optional: another sample of the rows of this reading, by its own `keep`, `sample` and `again`; the rest of it is not
     * asked. */
    const struct row_stream *beside;
} row_stream;

/* What was read. */
typedef struct {
    size_t rows;
    size_t counted;    /* by_weight: rows, each as often as it counts */
    size_t lacking;    /* of them, rows with a missing cell that is needed */
    size_t not_finite; /* and where something calculated is not finite */
    size_t first_lacking, first_not_finite; /* counted from 1 */
    char column[64];                        /* of the first of either */
    rows_identity identity;                 /* where the target is wanted */
} stream_count;

/* Rows of a converted table lie in a random order. Where in the text were those at `count` places (NULL: at all), rows that
 * were left out not counted? NULL in *out: the data are a text, or have groups, whose rows lie together. */
sbps_status stream_origins(const row_stream *s, size_t count, const size_t *place, size_t **out,
                           sbps_error *err);

/* Are its data a converted table? */
bool stream_is_table(const row_stream *s);

#define SLOTS_MAX ((size_t)1024)
unsigned stream_threads(const row_stream *s);
sbps_status stream_rows(const row_stream *s, stream_count *out, sbps_error *err);

#endif

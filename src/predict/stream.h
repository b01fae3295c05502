/* The rows of a file, read by what a run knows of its design, and shared out among all processors in blocks: what is done
 * with them is asked for block by block, and told in the order of the file. */
#ifndef PREDICT_STREAM_H
#define PREDICT_STREAM_H

#include "predict/forecast.h"

typedef struct {
    const forecast *f;
    const char *data; /* its path; - is standard input */
    blueprint_wants wants;
    unsigned threads; /* 0: as many as there are processors */
    size_t
        batch_bytes; /* that `block` keeps of a row until it is told; sets how many are at hand at once */
    void *self;
    /* Optional: is row `index` of the file wanted? NULL: all are. */
    bool (*wanted)(const void *self, size_t index);
    /* By any thread, `worker` saying which; `slot` is the block's among those at hand. */
    sbps_status (*block)(void *self, unsigned worker, size_t slot, row_block *b,
                         sbps_error *err);
    /* Optional: so many blocks are done. */
    sbps_status (*told)(void *self, size_t blocks, sbps_error *err);
} row_stream;

/* What was read. */
typedef struct {
    size_t rows;
    size_t lacking;    /* of them, rows with a missing cell that is needed */
    size_t not_finite; /* and where something calculated is not finite */
    size_t first_lacking, first_not_finite; /* counted from 1 */
    char column[64];                        /* of the first of either */
} stream_count;

#define SLOTS_MOST ((size_t)1024)
unsigned stream_threads(const row_stream *s);
sbps_status stream_rows(const row_stream *s, stream_count *out, sbps_error *err);

#endif

/* Rows gather until there are enough for all threads; then they are done in blocks, and told. */
#include "predict/stream.h"

#include "base/threads.h"
#include "base/workers.h"
#include "read/parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES  ((size_t)64 << 20)
#define BLOCKS_LEAST ((size_t)4) /* a thread */

typedef struct {
    const row_stream *s;
    row_source source;
    unsigned threads;
    size_t enough; /* rows of a batch */
    chunks rows;
    double **at;       /* of the batch: rows that are wanted, */
    size_t *index;     /* their places in the file, */
    size_t listed;     /* and how many they are */
    row_block *block;  /* one a thread */
    seen_row *seen;    /* likewise */
    sbps_error *wrong; /* of each block at hand */
    size_t *lacks, *odd;
    char (*column)[64]; /* likewise: what its first such row lacks */
    stream_count *count;
} streaming;

unsigned stream_threads(const row_stream *s)
{
    return s->threads ? s->threads : (unsigned)processors();
}

/* ---- a block ---- */

static sbps_status refuse_row(const streaming *w, size_t row, const seen_row *s,
                              sbps_error *err)
{
    return fail(err, SBPS_BAD_DATA,
                "%s: row %zu: column '%s': '%s' is none of the levels that "
                "the run had",
                w->s->data, row + 1, show_name(s->column).text, s->value.text);
}

static void note_row(const streaming *w, size_t slot, row_state state, const seen_row *s)
{
    size_t *count = state == ROW_LACKS ? &w->lacks[slot] : &w->odd[slot];
    if (w->lacks[slot] + w->odd[slot] == 0)
        snprintf(w->column[slot], sizeof *w->column, "%s", show_name(s->column).text);
    ++*count;
}

static sbps_status see_row(const streaming *w, unsigned worker, size_t slot, size_t i,
                           sbps_error *err)
{
    row_block *b = &w->block[worker];
    seen_row *seen = &w->seen[worker];
    sbps_error own = {0};
    row_state state;
    double *row = w->at[slot * BLOCK_ROWS + i];
    if (!blueprint_row(w->s->f->b, &w->source, row, w->s->wants, seen, &state))
        return fail_memory(err);
    if (state == ROW_UNKNOWN_LEVEL) return refuse_row(w, b->index[i], seen, err);
    if (state != ROW_WHOLE) note_row(w, slot, state, seen);
    sbps_status status = block_put(w->s->f, b, i, seen, state, &own);
    if (status == SBPS_OK) return SBPS_OK;
    return fail(err, status, "%s: row %zu: %.400s", w->s->data, b->index[i] + 1, own.text);
}

static void do_block(void *self, unsigned worker, size_t slot)
{
    streaming *w = self;
    row_block *b = &w->block[worker];
    size_t left = w->listed - slot * BLOCK_ROWS;
    sbps_status status = SBPS_OK;
    b->n = left < BLOCK_ROWS ? left : BLOCK_ROWS;
    b->index = w->index + slot * BLOCK_ROWS;
    w->lacks[slot] = w->odd[slot] = 0;
    for (size_t i = 0; status == SBPS_OK && i < b->n; i++)
        status = see_row(w, worker, slot, i, &w->wrong[slot]);
    if (status == SBPS_OK) block_products(w->s->f, b);
    if (status == SBPS_OK) status = w->s->block(w->s->self, worker, slot, b, &w->wrong[slot]);
    w->wrong[slot].status = status;
}

/* ---- batches ---- */

static sbps_status list_rows(streaming *w, sbps_error *err)
{
    const row_stream *s = w->s;
    size_t place = w->count->rows;
    double **at = realloc(w->at, (w->rows.rows + 1) * sizeof *at);
    if (at) w->at = at;
    size_t *index = realloc(w->index, (w->rows.rows + 1) * sizeof *index);
    if (index) w->index = index;
    if (!at || !index) return fail_memory(err);
    w->listed = 0;
    for (size_t k = 0; k < w->rows.runs; k++)
        for (size_t i = 0; i < w->rows.run[k].rows; i++, place++) {
            if (s->wanted && !s->wanted(s->self, place)) continue;
            at[w->listed] = w->rows.run[k].first + i * w->rows.width;
            index[w->listed++] = place;
        }
    return SBPS_OK;
}

static void count_slot(streaming *w, size_t slot)
{
    stream_count *c = w->count;
    if (w->lacks[slot] + w->odd[slot] > 0 && c->lacking + c->not_finite == 0)
        snprintf(c->column, sizeof c->column, "%s", w->column[slot]);
    c->lacking += w->lacks[slot];
    c->not_finite += w->odd[slot];
}

static sbps_status do_some(streaming *w, size_t blocks, sbps_error *err)
{
    sbps_status status = workers_run(w->threads, blocks, do_block, w, err);
    for (size_t k = 0; status == SBPS_OK && k < blocks; k++) {
        status = w->wrong[k].status;
        if (status != SBPS_OK && err) *err = w->wrong[k];
        count_slot(w, k);
    }
    if (status == SBPS_OK && w->s->told) status = w->s->told(w->s->self, blocks, err);
    return status;
}

static sbps_status do_batch(streaming *w, sbps_error *err)
{
    if (w->rows.rows == 0) return SBPS_OK;
    sbps_status status = list_rows(w, err);
    size_t all = w->listed, step = SLOTS_MOST * BLOCK_ROWS;
    double **at = w->at;
    size_t *index = w->index;
    for (size_t done = 0; status == SBPS_OK && done < all; done += w->listed) {
        w->listed = all - done < step ? all - done : step;
        w->at = at + done;
        w->index = index + done;
        status = do_some(w, (w->listed + BLOCK_ROWS - 1) / BLOCK_ROWS, err);
    }
    w->at = at;
    w->index = index;
    w->count->rows += w->rows.rows;
    chunks_reset(&w->rows);
    return status;
}

static sbps_status take(void *self, chunks *read, sbps_error *err)
{
    streaming *w = self;
    if (!chunks_move(read, &w->rows)) return fail_memory(err);
    read->room = 0; /* the block goes with its rows */
    return w->rows.rows >= w->enough ? do_batch(w, err) : SBPS_OK;
}

/* ---- opening ---- */

static sbps_status open_streaming(streaming *w, column_types *found, sbps_error *err)
{
    const row_stream *s = w->s;
    size_t each = (s->batch_bytes + 8 * (s->f->b->columns + 1)), least;
    w->threads = stream_threads(s);
    least = BLOCKS_LEAST * w->threads * BLOCK_ROWS;
    w->enough = BATCH_BYTES / each;
    if (w->enough > SLOTS_MOST * BLOCK_ROWS) w->enough = SLOTS_MOST * BLOCK_ROWS;
    if (w->enough < least) w->enough = least;
    w->block = calloc(w->threads, sizeof *w->block);
    w->seen = calloc(w->threads, sizeof *w->seen);
    w->wrong = calloc(SLOTS_MOST, sizeof *w->wrong);
    w->lacks = calloc(SLOTS_MOST, sizeof *w->lacks);
    w->odd = calloc(SLOTS_MOST, sizeof *w->odd);
    w->column = calloc(SLOTS_MOST, sizeof *w->column);
    if (!w->block || !w->seen || !w->wrong || !w->lacks || !w->odd || !w->column)
        return fail_memory(err);
    sbps_status status = SBPS_OK;
    for (unsigned k = 0; status == SBPS_OK && k < w->threads; k++) {
        status = block_open(s->f, &w->block[k], err);
        if (status == SBPS_OK) status = seen_open(s->f->b, &w->seen[k], err);
    }
    if (status == SBPS_OK)
        status = blueprint_open(s->f->b, s->data, s->wants, found, &w->source, err);
    if (status == SBPS_OK) chunks_init(&w->rows, w->source.plan->width, false);
    return status;
}

static void close_streaming(streaming *w)
{
    for (unsigned k = 0; k < w->threads; k++) {
        if (w->block) block_close(&w->block[k]);
        if (w->seen) seen_close(&w->seen[k]);
    }
    free(w->block);
    free(w->seen);
    free(w->wrong);
    free(w->lacks);
    free(w->odd);
    free(w->column);
    free(w->at);
    free(w->index);
    chunks_clear(&w->rows);
    source_close(&w->source);
}

sbps_status stream_rows(const row_stream *s, stream_count *out, sbps_error *err)
{
    *out = (stream_count){0};
    streaming w = {.s = s, .count = out};
    column_types found = {0};
    const rows_spec spec = {.threads = s->threads};
    const row_taker taker = {take, &w, false};
    sbps_status status = open_streaming(&w, &found, err);
    if (status == SBPS_OK) status = parts_read(&w.source, &spec, &taker, err);
    if (status == SBPS_OK) status = do_batch(&w, err);
    if (status == SBPS_OK && out->rows == 0)
        status = fail(err, SBPS_BAD_DATA, "%s: the table has no rows", s->data);
    close_streaming(&w);
    column_types_clear(&found);
    return status;
}

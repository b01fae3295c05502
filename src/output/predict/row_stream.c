/* Rows gather until there are enough for all threads; then they are done in blocks, and told. */
#include "output/predict/row_stream.h"

#include "core/threads.h"
#include "core/workers.h"
#include "ingest/text/parts.h"
#include "ingest/text/text_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES ((size_t)64 << 20)
#define BLOCKS_MIN  ((size_t)4) /* a thread */

typedef struct {
    const row_stream *s;
    row_source source;
    saved_schema_frame *frame;   /* NULL: it is a file */
    rows *table;                 /* NULL: it is a text, or a frame */
    const column_schema *schema; /* of these */
    unsigned threads;
    size_t enough; /* rows of a batch */
    chunks rows;
    row_keeping kept, beside; /* of the stream, and of the one beside it */
    bool again;               /* rows that were kept are looked at */
    double **at;              /* of the batch: rows as read, */
    size_t *index;            /* their places in the file, */
    size_t *copy;             /* which of rows alike each is, */
    size_t listed;            /* and how many they are */
    row_block *block;         /* one a thread */
    seen_row *seen;           /* likewise */
    sbps_error *wrong;        /* of each block at hand */
    size_t *lacks, *odd;
    char (*column)[64];     /* likewise: what its first such row lacks */
    table_content *content; /* likewise: of the rows that it has seen */
    stream_count *count;
} streaming;

unsigned stream_threads(const row_stream *s)
{
    return s->threads ? s->threads : (unsigned)processors();
}

/* As other sentences about the same text call it. */
static const char *name_of(const row_stream *s)
{
    return s->frame ? s->data : text_input_name(&(text_input){.path = s->data});
}

/* ---- a block ---- */

static sbps_status refuse_row(const streaming *w, size_t row, const seen_row *s,
                              sbps_error *err)
{
    return fail(err, SBPS_BAD_DATA,
                "%s: row %zu: column '%s': '%s' is none of the levels that "
                "the run had",
                name_of(w->s), row + 1, show_name(s->column).text, s->value.text);
}

static void note_row(const streaming *w, size_t slot, row_state state, const seen_row *s)
{
    size_t *count = state == ROW_LACKS ? &w->lacks[slot] : &w->odd[slot];
    if (w->lacks[slot] + w->odd[slot] == 0)
        snprintf(w->column[slot], sizeof *w->column, "%s", show_name(s->column).text);
    ++*count;
}

static bool read_row(streaming *w, size_t index, double *row, seen_row *seen, row_state *state)
{
    *state = ROW_WHOLE;
    if (w->table) return saved_schema_table_row(w->s->f->b, w->table, index, seen);
    return saved_schema_encode_row(w->s->f->b, w->schema, row, w->s->wants, seen, state);
}

/* To those who keep a sample. */
static bool offer_to(const row_stream *s, row_keeping *to, size_t index, const double *row,
                     double weight)
{
    return s->by_weight ? keeping_offer_weighted(to, index, row, weight)
                        : keeping_offer(to, index, row);
}

static bool offer(streaming *w, size_t index, const double *row, double weight)
{
    const row_stream *s = w->s;
    if (s->keep > 0 && !offer_to(s, &w->kept, index, row, weight)) return false;
    return !s->beside || offer_to(s->beside, &w->beside, index, row, weight);
}

/* How many rows one stands for; the trials of a count are not part of it. */
static double weight_of(const streaming *w, double weight, double trials)
{
    if (!saved_schema_has_trials(w->s->f->b)) return weight;
    return trials > 0.0 ? weight / trials : 0.0;
}

static sbps_status see_row(streaming *w, unsigned worker, size_t slot, size_t i,
                           sbps_error *err)
{
    row_block *b = &w->block[worker];
    seen_row *seen = &w->seen[worker];
    sbps_error own = {0};
    row_state state;
    double *row = w->table && !w->again ? NULL : w->at[slot * BLOCK_ROWS + i];
    if (!read_row(w, b->index[i], row, seen, &state)) return fail_memory(err);
    if (state == ROW_UNKNOWN_LEVEL) return refuse_row(w, b->index[i], seen, err);
    if (state != ROW_WHOLE) note_row(w, slot, state, seen);
    if (state == ROW_WHOLE && !w->again && !w->table && w->s->wants.target)
        w->content[worker].sum += identity_row(w->s->f->b, w->content[worker].kind, seen);
    if (state == ROW_WHOLE &&
        !offer(w, b->index[i], row, weight_of(w, seen->weight, seen->trials)))
        return fail_memory(err);
    sbps_status status = block_put(w->s->f, b, i, seen, state, &own);
    if (status == SBPS_OK) return SBPS_OK;
    return fail(err, status, "%s: row %zu: %.400s", name_of(w->s), b->index[i] + 1, own.text);
}

static void process_block(void *self, unsigned worker, size_t slot)
{
    streaming *w = self;
    row_block *b = &w->block[worker];
    size_t left = w->listed - slot * BLOCK_ROWS;
    sbps_status status = SBPS_OK;
    b->n = left < BLOCK_ROWS ? left : BLOCK_ROWS;
    b->index = w->index + slot * BLOCK_ROWS;
    b->copy = w->again ? w->copy + slot * BLOCK_ROWS : NULL;
    b->raw = w->table ? NULL : w->at + slot * BLOCK_ROWS;
    w->lacks[slot] = w->odd[slot] = 0;
    for (size_t i = 0; status == SBPS_OK && i < b->n; i++)
        status = see_row(w, worker, slot, i, &w->wrong[slot]);
    if (status == SBPS_OK) block_products(w->s->f, b);
    if (status == SBPS_OK) status = w->s->block(w->s->self, worker, slot, b, &w->wrong[slot]);
    w->wrong[slot].status = status;
}

/* ---- batches ---- */

static bool grow_row_lists(streaming *w, size_t count)
{
    double **at = realloc(w->at, (count + 1) * sizeof *at);
    if (at) w->at = at;
    size_t *index = realloc(w->index, (count + 1) * sizeof *index);
    if (index) w->index = index;
    size_t *copy = realloc(w->copy, (count + 1) * sizeof *copy);
    if (copy) w->copy = copy;
    return at && index && copy;
}

static sbps_status list_rows(streaming *w, sbps_error *err)
{
    size_t place = w->count->rows;
    if (!grow_row_lists(w, w->rows.rows)) return fail_memory(err);
    w->listed = 0;
    for (size_t k = 0; k < w->rows.runs; k++)
        for (size_t i = 0; i < w->rows.run[k].rows; i++, place++) {
            w->at[w->listed] = w->rows.run[k].first + i * w->rows.width;
            w->index[w->listed++] = place;
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
    sbps_status status = workers_run(w->threads, blocks, process_block, w, err);
    for (size_t k = 0; status == SBPS_OK && k < blocks; k++) {
        status = w->wrong[k].status;
        if (status != SBPS_OK && err) *err = w->wrong[k];
        count_slot(w, k);
    }
    if (status == SBPS_OK && w->s->finish_blocks)
        status = w->s->finish_blocks(w->s->self, blocks, err);
    return status;
}

/* All that are listed. */
static sbps_status do_listed(streaming *w, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    size_t all = w->listed, step = SLOTS_MAX * BLOCK_ROWS;
    double **at = w->at;
    size_t *index = w->index, *copy = w->copy;
    for (size_t done = 0; status == SBPS_OK && done < all; done += w->listed) {
        w->listed = all - done < step ? all - done : step;
        w->at = at + done;
        w->index = index + done;
        w->copy = copy + done;
        status = do_some(w, (w->listed + BLOCK_ROWS - 1) / BLOCK_ROWS, err);
    }
    w->at = at;
    w->index = index;
    w->copy = copy;
    return status;
}

static sbps_status do_batch(streaming *w, sbps_error *err)
{
    if (w->rows.rows == 0) return SBPS_OK;
    sbps_status status = list_rows(w, err);
    if (status == SBPS_OK) status = do_listed(w, err);
    w->count->rows += w->rows.rows;
    chunks_reset(&w->rows);
    return status;
}

static sbps_status take(void *self, chunks *read, sbps_error *err)
{
    streaming *w = self;
    if (!chunks_move(read, &w->rows)) return fail_memory(err);
    read->space = 0; /* the block goes with its rows */
    return w->rows.rows >= w->enough ? do_batch(w, err) : SBPS_OK;
}

/* ---- converted tables ---- */

static sbps_status offer_all(streaming *w, sbps_error *err)
{
    const double *weight = saved_schema_has_trials(w->s->f->b) ? NULL : w->table->weight;
    for (size_t i = 0; w->s->keep > 0 && i < w->table->n; i++)
        if (!offer(w, i, NULL, weight ? weight[i] : 1.0)) return fail_memory(err);
    return SBPS_OK;
}

static sbps_status do_table(streaming *w, sbps_error *err)
{
    size_t n = w->table->n;
    sbps_status status = SBPS_OK;
    if (w->s->table) {
        status = w->s->table(w->s->self, w->table, err);
        w->count->rows = n;
        return status == SBPS_OK ? offer_all(w, err) : status;
    }
    if (!grow_row_lists(w, w->enough)) return fail_memory(err);
    while (status == SBPS_OK && w->count->rows < n) {
        size_t first = w->count->rows;
        w->listed = n - first < w->enough ? n - first : w->enough;
        for (size_t i = 0; i < w->listed; i++) w->index[i] = first + i;
        rows_sweep(w->table, first, w->listed);
        status = do_listed(w, err);
        w->count->rows += w->listed;
    }
    return status;
}

/* ---- opening ---- */

static sbps_status open_blocks(streaming *w, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    w->block = calloc(w->threads, sizeof *w->block);
    if (!w->block) return fail_memory(err);
    for (unsigned k = 0; status == SBPS_OK && k < w->threads; k++)
        status = block_open(w->s->f, &w->block[k], err);
    return status;
}

static void close_blocks(streaming *w)
{
    for (unsigned k = 0; w->block && k < w->threads; k++) block_close(&w->block[k]);
    free(w->block);
    w->block = NULL;
}

static sbps_status open_buffers(streaming *w, sbps_error *err)
{
    const row_stream *s = w->s;
    size_t each = (s->batch_bytes + 8 * (s->f->b->columns + 1)), minimum;
    w->threads = stream_threads(s);
    minimum = BLOCKS_MIN * w->threads * BLOCK_ROWS;
    w->enough = BATCH_BYTES / each;
    if (w->enough > SLOTS_MAX * BLOCK_ROWS) w->enough = SLOTS_MAX * BLOCK_ROWS;
    if (w->enough < minimum) w->enough = minimum;
    w->seen = calloc(w->threads, sizeof *w->seen);
    w->wrong = calloc(SLOTS_MAX, sizeof *w->wrong);
    w->lacks = calloc(SLOTS_MAX, sizeof *w->lacks);
    w->odd = calloc(SLOTS_MAX, sizeof *w->odd);
    w->column = calloc(SLOTS_MAX, sizeof *w->column);
    w->content = calloc(w->threads, sizeof *w->content);
    if (!w->content) return fail_memory(err);
    for (unsigned k = 0; k < w->threads; k++)
        w->content[k].kind = content_read(s->f->r->info.rows_content).kind;
    if (!w->seen || !w->wrong || !w->lacks || !w->odd || !w->column) return fail_memory(err);
    sbps_status status = open_blocks(w, err);
    for (unsigned k = 0; status == SBPS_OK && k < w->threads; k++)
        status = seen_open(s->f->b, &w->seen[k], err);
    return status;
}

/* A text, or a frame. */
static sbps_status open_schema(streaming *w, column_types *types, sbps_error *err)
{
    const row_stream *s = w->s;
    const row_taker taker = {take, w, false};
    sbps_status status;
    if (s->frame) {
        status = saved_schema_frame_open(s->f->b, s->data, s->frame, s->wants, s->threads,
                                         &taker, &w->frame, err);
        if (status == SBPS_OK) w->schema = saved_schema_frame_columns(w->frame);
    } else {
        status = saved_schema_open(s->f->b, s->data, s->wants, types, &w->source, err);
        w->schema = w->source.schema;
    }
    if (status == SBPS_OK) chunks_init(&w->rows, w->schema->width, false);
    return status;
}

static sbps_status open_streaming(streaming *w, column_types *types, sbps_error *err)
{
    const row_stream *s = w->s;
    sbps_status status = open_buffers(w, err);
    if (status != SBPS_OK) return status;
    status = stream_is_table(s) ? saved_schema_map_table(s->f->b, s->data, &w->table, err)
                                : open_schema(w, types, err);
    size_t width = w->schema ? w->schema->width : 0;
    if (status == SBPS_OK && s->keep > 0)
        status = keeping_open(&w->kept, s->keep, width, s->keep_seed, err);
    if (status == SBPS_OK && s->beside)
        status = keeping_open(&w->beside, s->beside->keep, width, s->beside->keep_seed, err);
    return status;
}

static void close_streaming(streaming *w)
{
    close_blocks(w);
    for (unsigned k = 0; w->seen && k < w->threads; k++) seen_close(&w->seen[k]);
    free(w->seen);
    free(w->wrong);
    free(w->lacks);
    free(w->odd);
    free(w->column);
    free(w->content);
    free(w->at);
    free(w->index);
    free(w->copy);
    keeping_clear(&w->kept);
    keeping_clear(&w->beside);
    chunks_clear(&w->rows);
    if (!w->table && !w->frame) source_close(&w->source);
    saved_schema_frame_close(w->frame);
    rows_destroy(w->table);
}

/* ---- all of it ---- */

static sbps_status do_text(streaming *w, sbps_error *err)
{
    const rows_spec spec = {.threads = w->s->threads};
    const row_taker taker = {take, w, false};
    sbps_status status = w->frame ? saved_schema_frame_read(w->frame, err)
                                  : parts_read(&w->source, &spec, &taker, err);
    return status == SBPS_OK ? do_batch(w, err) : status;
}

/* Rows that were kept, by what is said of them in the second place. */
static sbps_status process_kept_rows(streaming *w, const row_stream *s, row_keeping *kept,
                                     stream_count *total, sbps_error *err)
{
    stream_count count = {0};
    size_t whole = atomic_load(&kept->offered);
    if (s->by_weight) total->counted = whole;
    keeping_select(kept, whole > s->keep ? s->sample : whole);
    close_blocks(w);
    w->s = s->again;
    w->count = &count;
    w->again = true;
    sbps_status status =
        grow_row_lists(w, kept->count) ? open_blocks(w, err) : fail_memory(err);
    w->listed = status == SBPS_OK ? kept->count : 0;
    for (size_t i = 0; i < w->listed; i++) {
        w->at[i] = kept->item[i].row;
        w->index[i] = kept->item[i].index;
        w->copy[i] = kept->item[i].copy;
    }
    return status == SBPS_OK ? do_listed(w, err) : status;
}

static sbps_status identify(streaming *w, size_t whole, sbps_error *err)
{
    table_content read = {w->content->kind, 0};
    if (!w->s->wants.target) return SBPS_OK;
    for (unsigned k = 0; k < w->threads; k++) read.sum += w->content[k].sum;
    return identity_find(w->s->f->r, w->table, w->threads, &read, (double)whole,
                         &w->count->identity, err);
}

static sbps_status fail_empty(const row_stream *s, sbps_error *err)
{
    bool read = s->frame && s->frame->stream;
    return fail(err, SBPS_BAD_DATA, "%s: the %s has no rows%s", name_of(s),
                read ? "stream" : "table", read ? ", or was read before" : "");
}

sbps_status stream_rows(const row_stream *s, stream_count *out, sbps_error *err)
{
    *out = (stream_count){0};
    streaming w = {.s = s, .count = out};
    column_types types = {0};
    sbps_status status = open_streaming(&w, &types, err);
    if (status == SBPS_OK) status = w.table ? do_table(&w, err) : do_text(&w, err);
    if (status == SBPS_OK && out->rows == 0) status = fail_empty(s, err);
    if (status == SBPS_OK)
        status = identify(&w, out->rows - out->lacking - out->not_finite, err);
    if (status == SBPS_OK && s->keep > 0) status = process_kept_rows(&w, s, &w.kept, out, err);
    if (status == SBPS_OK && s->beside)
        status = process_kept_rows(&w, s->beside, &w.beside, out, err);
    close_streaming(&w);
    column_types_clear(&types);
    return status;
}

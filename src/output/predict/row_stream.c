/* Rows are collected until there are enough for all threads. Such a batch is evaluated in
 * blocks, and then finished in the order of the file. */
#include "output/predict/row_stream.h"

#include "core/threads.h"
#include "ingest/text/parts.h"
#include "ingest/text/source.h"
#include "ingest/text/text_file.h"
#include "output/predict/predictor_draws.h"
#include "table/content_hash.h"
#include "table/mapped_table.h"
#include "table/row_origin.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES ((size_t)64 << 20) /* memory of a batch */
#define BLOCKS_MIN  ((size_t)4)        /* blocks of a batch per thread */

typedef struct {
    const row_stream *s;
    row_source source;
    saved_schema_frame *frame;   /* NULL: it is a file */
    rows *table;                 /* NULL: it is a text, or a frame */
    const column_schema *schema; /* columns of a text or a frame */
    unsigned threads;
    size_t batch_rows; /* rows of a batch */
    chunks rows;       /* rows read and not yet evaluated */
    row_reservoir sample, second_sample;
    bool second_pass; /* the rows that were kept are evaluated */
    /* rows of the batch */
    double **at;   /* [row]: its cells as read */
    size_t *index; /* [row]: its place in the file */
    size_t *copy;  /* [row]: which copy it is of a row that counts several times */
    size_t listed; /* their number */
    /* memory of threads */
    row_block *block;       /* [thread] */
    encoded_row *seen;      /* [thread] */
    table_content *content; /* [thread]: of the rows that it has read */
    /* blocks of the batch */
    sbps_error *error;   /* [block] */
    size_t *lacks, *odd; /* [block]: rows with missing cells, and with values not finite */
    char (*column)[64];  /* [block]: the column of the first such row */
    stream_count *count;
} streaming;

unsigned stream_threads(const row_stream *s)
{
    return s->threads ? s->threads : (unsigned)processors();
}

/* The name of the data in messages. */
static const char *data_name(const row_stream *s)
{
    return s->frame ? s->data : text_input_name(&(text_input){.path = s->data});
}

/* ---- identity of rows ---- */

uint64_t identity_row(const saved_schema *b, content_kind kind, const encoded_row *seen)
{
    row_content c = {.kind = kind};
    const double *z = seen->z;
    content_numbers(&c, b->names, seen->x);
    for (size_t t = 0; t < seen->terms; t++) {
        size_t count = saved_schema_effects(b, t);
        content_group(&c, t, seen->level[t].data, count, z);
        z += count;
    }
    content_targets(&c, seen->y, seen->weight, seen->offset);
    return content_row(&c);
}

/* True if the converted table has the hash that the run recorded. */
static bool has_hash(const rows *table, const char *hash)
{
    char own[17];
    snprintf(own, sizeof own, "%016" PRIx64, table->table.hash);
    return strcmp(own, hash) == 0;
}

/* Compares the rows with those of the run: a converted table (NULL: none) by its hash, else
 * rows by their content, whose sum is in `read`, if the run's file has it, and otherwise by the
 * number of `complete` rows. */
static sbps_status identity_find(const result *r, const rows *table, unsigned threads,
                                 const table_content *read, double complete, rows_identity *out,
                                 sbps_error *err)
{
    const char *hash = table && r->info.table_hash ? r->info.table_hash : "";
    table_content run = content_read(r->info.rows_content), own = *read;
    sbps_status status = SBPS_OK;
    *out = ROWS_UNKNOWN;
    if (*hash && has_hash(table, hash)) {
        *out = ROWS_OWN;
        return SBPS_OK;
    }
    if (table) status = content_table(table, run.kind, threads, &own, err);
    if (run.kind != CONTENT_UNKNOWN)
        *out = own.sum == run.sum ? ROWS_OWN : ROWS_OTHER;
    else if (*hash || fabs(complete - r->info.rows) > 0.5 + 1e-9 * complete)
        *out = ROWS_OTHER;
    return status;
}

const char *identity_text(rows_identity identity)
{
    static const char *const sentences[] = {[ROWS_UNKNOWN] =
                                                "unknown if this is the table of this run",
                                            [ROWS_OWN] = "the table of this run",
                                            [ROWS_OTHER] = "not the table of this run"};
    return sentences[identity];
}

void identity_json(text *t, rows_identity identity)
{
    static const char *const values[] = {
        [ROWS_UNKNOWN] = "null", [ROWS_OWN] = "true", [ROWS_OTHER] = "false"};
    text_add(t, ", \"same_table\": %s", values[identity]);
}

/* ---- a block ---- */

/* Encodes a row of the text or the table for the model; false: no memory. */
static bool read_row(streaming *w, size_t index, double *row, encoded_row *seen,
                     row_state *state)
{
    *state = ROW_WHOLE;
    if (w->table) return saved_schema_table_row(w->s->f->b, w->table, index, seen);
    return saved_schema_encode_row(w->s->f->b, w->schema, row, w->s->request, seen, state);
}

/* Offers a row to the reservoir of a stream. */
static bool offer_to(const row_stream *s, row_reservoir *to, size_t index, const double *row,
                     double weight)
{
    return s->by_weight ? reservoir_offer_weighted(to, index, row, weight)
                        : reservoir_offer(to, index, row);
}

/* Offers a row to the samples that are to be kept. */
static bool offer(streaming *w, size_t index, const double *row, double weight)
{
    const row_stream *s = w->s;
    if (s->keep > 0 && !offer_to(s, &w->sample, index, row, weight)) return false;
    return !s->second_sample ||
           offer_to(s->second_sample, &w->second_sample, index, row, weight);
}

/* The number of rows a row stands for: its weight without its trials. */
static double row_count_of(const streaming *w, double weight, double trials)
{
    if (!saved_schema_has_trials(w->s->f->b)) return weight;
    return trials > 0.0 ? weight / trials : 0.0;
}

/* Reads row i of a block, and puts it into the block. */
static sbps_status put_row(streaming *w, unsigned worker, size_t slot, size_t i,
                           sbps_error *err)
{
    row_block *b = &w->block[worker];
    encoded_row *seen = &w->seen[worker];
    sbps_error own = {0};
    row_state state;
    double *row = w->table && !w->second_pass ? NULL : w->at[slot * BLOCK_ROWS + i];
    if (!read_row(w, b->index[i], row, seen, &state)) return fail_memory(err);
    if (state == ROW_UNKNOWN_LEVEL)
        return fail(err, SBPS_BAD_DATA,
                    "%s: row %zu: column '%s': '%s' is none of the levels that the run had",
                    data_name(w->s), b->index[i] + 1, show_name(seen->column).text,
                    seen->value.text);
    if (state != ROW_WHOLE) {
        size_t *count = state == ROW_LACKS ? &w->lacks[slot] : &w->odd[slot];
        if (w->lacks[slot] + w->odd[slot] == 0)
            snprintf(w->column[slot], sizeof *w->column, "%s", show_name(seen->column).text);
        ++*count;
    }
    if (state == ROW_WHOLE && !w->second_pass && !w->table && w->s->request.target)
        w->content[worker].sum += identity_row(w->s->f->b, w->content[worker].kind, seen);
    if (state == ROW_WHOLE &&
        !offer(w, b->index[i], row, row_count_of(w, seen->weight, seen->trials)))
        return fail_memory(err);
    sbps_status status = block_put(w->s->f, b, i, seen, state, &own);
    if (status == SBPS_OK) return SBPS_OK;
    return fail(err, status, "%s: row %zu: %.400s", data_name(w->s), b->index[i] + 1, own.text);
}

/* Reads and evaluates one block: the task of a worker. */
static void process_block(void *self, unsigned worker, size_t slot)
{
    streaming *w = self;
    row_block *b = &w->block[worker];
    size_t left = w->listed - slot * BLOCK_ROWS;
    sbps_status status = SBPS_OK;
    b->n = left < BLOCK_ROWS ? left : BLOCK_ROWS;
    b->index = w->index + slot * BLOCK_ROWS;
    b->copy = w->second_pass ? w->copy + slot * BLOCK_ROWS : NULL;
    b->raw = w->table ? NULL : w->at + slot * BLOCK_ROWS;
    w->lacks[slot] = w->odd[slot] = 0;
    for (size_t i = 0; status == SBPS_OK && i < b->n; i++)
        status = put_row(w, worker, slot, i, &w->error[slot]);
    if (status == SBPS_OK) block_products(w->s->f, b);
    if (status == SBPS_OK) status = w->s->block(w->s->self, worker, slot, b, &w->error[slot]);
    w->error[slot].status = status;
}

/* ---- batches ---- */

/* Makes room for `count` rows in the lists of a batch; false: no memory. */
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

/* Lists the rows of a batch with their places. */
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

/* Evaluates and finishes `blocks` blocks. */
static sbps_status process_blocks(streaming *w, size_t blocks, sbps_error *err)
{
    sbps_status status = workers_run(w->threads, blocks, process_block, w, err);
    for (size_t k = 0; status == SBPS_OK && k < blocks; k++) {
        status = w->error[k].status;
        if (status != SBPS_OK && err) *err = w->error[k];
        stream_count *c = w->count;
        if (w->lacks[k] + w->odd[k] > 0 && c->lacking + c->not_finite == 0)
            snprintf(c->column, sizeof c->column, "%s", w->column[k]);
        c->lacking += w->lacks[k];
        c->not_finite += w->odd[k];
    }
    if (status == SBPS_OK && w->s->finish_blocks)
        status = w->s->finish_blocks(w->s->self, blocks, err);
    return status;
}

/* Evaluates all listed rows. */
static sbps_status process_listed(streaming *w, sbps_error *err)
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
        status = process_blocks(w, (w->listed + BLOCK_ROWS - 1) / BLOCK_ROWS, err);
    }
    w->at = at;
    w->index = index;
    w->copy = copy;
    return status;
}

/* Evaluates the rows collected so far. */
static sbps_status process_batch(streaming *w, sbps_error *err)
{
    if (w->rows.rows == 0) return SBPS_OK;
    sbps_status status = list_rows(w, err);
    if (status == SBPS_OK) status = process_listed(w, err);
    w->count->rows += w->rows.rows;
    chunks_reset(&w->rows);
    return status;
}

/* Receives rows as they are read. */
static sbps_status take_chunks(void *self, chunks *read, sbps_error *err)
{
    streaming *w = self;
    if (!chunks_move(read, &w->rows)) return fail_memory(err);
    read->space = 0; /* its memory belongs to the moved rows now */
    return w->rows.rows >= w->batch_rows ? process_batch(w, err) : SBPS_OK;
}

/* ---- converted tables ---- */

/* Offers every row of a converted table to the samples. */
static sbps_status offer_all(streaming *w, sbps_error *err)
{
    const double *weight = saved_schema_has_trials(w->s->f->b) ? NULL : w->table->weight;
    for (size_t i = 0; w->s->keep > 0 && i < w->table->local_rows; i++)
        if (!offer(w, i, NULL, weight ? weight[i] : 1.0)) return fail_memory(err);
    return SBPS_OK;
}

/* Evaluates the rows of a converted table. */
static sbps_status process_table(streaming *w, sbps_error *err)
{
    size_t n = w->table->local_rows;
    sbps_status status = SBPS_OK;
    if (w->s->table) {
        status = w->s->table(w->s->self, w->table, err);
        w->count->rows = n;
        return status == SBPS_OK ? offer_all(w, err) : status;
    }
    if (!grow_row_lists(w, w->batch_rows)) return fail_memory(err);
    while (status == SBPS_OK && w->count->rows < n) {
        size_t first = w->count->rows;
        w->listed = n - first < w->batch_rows ? n - first : w->batch_rows;
        for (size_t i = 0; i < w->listed; i++) w->index[i] = first + i;
        rows_sweep(w->table, first, w->listed);
        status = process_listed(w, err);
        w->count->rows += w->listed;
    }
    return status;
}

/* ---- opening ---- */

/* Opens one block per thread. */
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

/* Chooses the size of a batch and allocates the memory of threads and blocks. */
static sbps_status open_buffers(streaming *w, sbps_error *err)
{
    const row_stream *s = w->s;
    size_t each = (s->batch_bytes + 8 * (s->f->b->columns + 1)), minimum;
    w->threads = stream_threads(s);
    minimum = BLOCKS_MIN * w->threads * BLOCK_ROWS;
    w->batch_rows = BATCH_BYTES / each;
    if (w->batch_rows > SLOTS_MAX * BLOCK_ROWS) w->batch_rows = SLOTS_MAX * BLOCK_ROWS;
    if (w->batch_rows < minimum) w->batch_rows = minimum;
    w->seen = calloc(w->threads, sizeof *w->seen);
    w->error = calloc(SLOTS_MAX, sizeof *w->error);
    w->lacks = calloc(SLOTS_MAX, sizeof *w->lacks);
    w->odd = calloc(SLOTS_MAX, sizeof *w->odd);
    w->column = calloc(SLOTS_MAX, sizeof *w->column);
    w->content = calloc(w->threads, sizeof *w->content);
    if (!w->content) return fail_memory(err);
    for (unsigned k = 0; k < w->threads; k++)
        w->content[k].kind = content_read(s->f->r->info.rows_content).kind;
    if (!w->seen || !w->error || !w->lacks || !w->odd || !w->column) return fail_memory(err);
    sbps_status status = open_blocks(w, err);
    for (unsigned k = 0; status == SBPS_OK && k < w->threads; k++)
        status = encoded_row_open(s->f->b, &w->seen[k], err);
    return status;
}

/* Opens a text or a frame. */
static sbps_status open_schema(streaming *w, column_types *types, sbps_error *err)
{
    const row_stream *s = w->s;
    const row_taker taker = {take_chunks, w, false};
    sbps_status status;
    if (s->frame) {
        status = saved_schema_frame_open(s->f->b, s->data, s->frame, s->request, s->threads,
                                         &taker, &w->frame, err);
        if (status == SBPS_OK) w->schema = saved_schema_frame_columns(w->frame);
    } else {
        status = saved_schema_open(s->f->b, s->data, s->request, types, &w->source, err);
        w->schema = w->source.schema;
    }
    if (status == SBPS_OK) chunks_init(&w->rows, w->schema->width, false);
    return status;
}

/* Opens buffers, data and reservoirs. Call close_streaming in every case. */
static sbps_status open_streaming(streaming *w, column_types *types, sbps_error *err)
{
    const row_stream *s = w->s;
    sbps_status status = open_buffers(w, err);
    if (status != SBPS_OK) return status;
    status = stream_is_table(s) ? saved_schema_map_table(s->f->b, s->data, &w->table, err)
                                : open_schema(w, types, err);
    size_t width = w->schema ? w->schema->width : 0;
    if (status == SBPS_OK && s->keep > 0)
        status = reservoir_open(&w->sample, s->keep, width, s->keep_seed, err);
    if (status == SBPS_OK && s->second_sample)
        status = reservoir_open(&w->second_sample, s->second_sample->keep, width,
                                s->second_sample->keep_seed, err);
    return status;
}

static void close_streaming(streaming *w)
{
    close_blocks(w);
    for (unsigned k = 0; w->seen && k < w->threads; k++) encoded_row_close(&w->seen[k]);
    free(w->seen);
    free(w->error);
    free(w->lacks);
    free(w->odd);
    free(w->column);
    free(w->content);
    free(w->at);
    free(w->index);
    free(w->copy);
    reservoir_clear(&w->sample);
    reservoir_clear(&w->second_sample);
    chunks_clear(&w->rows);
    if (!w->table && !w->frame) source_close(&w->source);
    saved_schema_frame_close(w->frame);
    rows_destroy(w->table);
}

/* ---- all rows ---- */

/* Reads and evaluates the rows of a text or a frame. */
static sbps_status process_text(streaming *w, sbps_error *err)
{
    const rows_spec spec = {.threads = w->s->threads};
    const row_taker taker = {take_chunks, w, false};
    sbps_status status = w->frame ? saved_schema_frame_read(w->frame, err)
                                  : parts_read(&w->source, &spec, &taker, err);
    return status == SBPS_OK ? process_batch(w, err) : status;
}

/* Makes the second pass of `s` over the rows that were kept. */
static sbps_status process_kept_rows(streaming *w, const row_stream *s, row_reservoir *kept,
                                     stream_count *total, sbps_error *err)
{
    stream_count count = {0};
    size_t offered = atomic_load(&kept->offered);
    if (s->by_weight) total->counted = offered;
    reservoir_select(kept, offered > s->keep ? s->sample : offered);
    close_blocks(w);
    w->s = s->second_pass;
    w->count = &count;
    w->second_pass = true;
    sbps_status status =
        grow_row_lists(w, kept->count) ? open_blocks(w, err) : fail_memory(err);
    w->listed = status == SBPS_OK ? kept->count : 0;
    for (size_t i = 0; i < w->listed; i++) {
        w->at[i] = kept->item[i].row;
        w->index[i] = kept->item[i].index;
        w->copy[i] = kept->item[i].copy;
    }
    if (status == SBPS_OK) status = process_listed(w, err);
    w->count = total;
    return status;
}

/* Finds out if the rows read, of which `complete` have all cells, are those of the run. */
static sbps_status identify(streaming *w, size_t complete, sbps_error *err)
{
    table_content read = {w->content->kind, 0};
    if (!w->s->request.target) return SBPS_OK;
    for (unsigned k = 0; k < w->threads; k++) read.sum += w->content[k].sum;
    return identity_find(w->s->f->r, w->table, w->threads, &read, (double)complete,
                         &w->count->identity, err);
}

/* Fails for data without rows. */
static sbps_status fail_empty(const row_stream *s, sbps_error *err)
{
    bool once = s->frame && s->frame->stream;
    return fail(err, SBPS_BAD_DATA, "%s: the %s has no rows%s", data_name(s),
                once ? "stream" : "table", once ? ", or was read before" : "");
}

sbps_status stream_rows(const row_stream *s, stream_count *out, sbps_error *err)
{
    *out = (stream_count){0};
    streaming w = {.s = s, .count = out};
    column_types types = {0};
    sbps_status status = open_streaming(&w, &types, err);
    if (status == SBPS_OK) status = w.table ? process_table(&w, err) : process_text(&w, err);
    if (status == SBPS_OK && out->rows == 0) status = fail_empty(s, err);
    if (status == SBPS_OK)
        status = identify(&w, out->rows - out->lacking - out->not_finite, err);
    if (status == SBPS_OK && s->keep > 0)
        status = process_kept_rows(&w, s, &w.sample, out, err);
    if (status == SBPS_OK && s->second_sample)
        status = process_kept_rows(&w, s->second_sample, &w.second_sample, out, err);
    close_streaming(&w);
    column_types_clear(&types);
    return status;
}

/* ---- rows of converted tables ---- */

bool stream_is_table(const row_stream *s)
{
    return !s->frame && strcmp(s->data, "-") != 0 && table_recognise(s->data);
}

/* Maps places in the table to places in the text. */
static sbps_status find_origins(const rows *r, size_t count, const size_t *place, size_t **out,
                                sbps_error *err)
{
    if (!place) count = r->local_rows;
    size_t *origin = malloc((count + 1) * sizeof *origin);
    if (!origin) return fail_memory(err);
    for (size_t i = 0; i < count; i++) origin[i] = place ? place[i] : i;
    sbps_status status = rows_origins(r, count, origin, err);
    if (status == SBPS_OK)
        *out = origin;
    else
        free(origin);
    return status;
}

sbps_status stream_origins(const row_stream *s, size_t count, const size_t *place, size_t **out,
                           sbps_error *err)
{
    rows *r;
    *out = NULL;
    if (!stream_is_table(s)) return SBPS_OK;
    sbps_status status = saved_schema_map_table(s->f->b, s->data, &r, err);
    if (status == SBPS_OK && !r->groups) status = find_origins(r, count, place, out, err);
    rows_destroy(r);
    return status;
}

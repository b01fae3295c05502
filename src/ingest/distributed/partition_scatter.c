/* A round is some of the text of every rank: its rows are read, packed for the ranks they go to, exchanged, and put to
 * their places. What a round takes is small beside a rank's share. A row travels as its ticket and the cells read. */
#include "ingest/distributed/partition_scatter.h"

#include "core/workers.h"
#include "ingest/text/part.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS    ((size_t)128) /* that a stretch is read in, unless they would be too small */
#define ROUND_MAX ((size_t)32 << 20) /* bytes of text */
#define RECORD    ((size_t)1)        /* words of a record before its row */

typedef struct {
    partition_cursor *cursor;
    row_scatter *scatter;
    unsigned threads;
    scatter_sink sink;
    void *self;
    size_t width;        /* doubles of a row as read */
    size_t left;         /* rows that were counted here and are still to come */
    bool changed;        /* there are others */
    chunks rows;         /* of the round */
    row_key *key;        /* of each of them */
    size_t key_capacity; /* room */
    uint64_t *out, *in;
    size_t out_capacity, in_capacity;
    size_t *words, *got, *at, *one; /* a number a rank */
    size_t records;                 /* that came in */
} scattering;

/* ---- out ---- */

static sbps_status take(void *self, chunks *read, sbps_error *err)
{
    scattering *d = self;
    return chunks_move(read, &d->rows) ? SBPS_OK : fail_memory(err);
}

static bool ensure_capacity(void *array, size_t *capacity, size_t needed, size_t each)
{
    void *old;
    if (needed <= *capacity) return true;
    memcpy(&old, array, sizeof old);
    free(old);
    old = malloc(needed * each);
    memcpy(array, &old, sizeof old);
    *capacity = old ? needed : 0;
    return old != NULL;
}

/* Which ranks get each row, and how much goes to each. */
static bool draw_row_keys(scattering *d)
{
    size_t size = d->scatter->among->size;
    if (d->rows.rows > d->left) d->changed = true;
    if (!ensure_capacity(&d->key, &d->key_capacity, d->rows.rows, sizeof *d->key)) return false;
    memset(d->words, 0, size * sizeof *d->words);
    for (size_t i = 0; i < d->rows.rows && !d->changed; i++) {
        d->key[i] = row_scatter_next(d->scatter);
        for (size_t r = d->key[i].from; r < d->key[i].to; r++) d->words[r] += RECORD + d->width;
    }
    d->left -= d->changed ? 0 : d->rows.rows;
    return true;
}

static void pack_row(scattering *d, const row_key *goes, const double *row)
{
    for (size_t r = goes->from; r < goes->to; r++) {
        uint64_t *to = d->out + d->at[r];
        to[0] = goes->key;
        memcpy(to + RECORD, row, d->width * sizeof *row);
        d->at[r] += RECORD + d->width;
    }
}

static bool pack(scattering *d)
{
    size_t all = 0;
    for (size_t r = 0; r < d->scatter->among->size; r++) {
        d->at[r] = all;
        all += d->words[r];
    }
    if (!ensure_capacity(&d->out, &d->out_capacity, all, sizeof *d->out)) return false;
    for (size_t k = 0; k < d->rows.runs && !d->changed; k++) {
        const row_run *run = &d->rows.run[k];
        for (size_t i = 0; i < run->rows; i++)
            pack_row(d, &d->key[run->before + i], run->first + i * d->width);
    }
    return true;
}

/* ---- in ---- */

static void put_some(void *self, unsigned worker, size_t index)
{
    scattering *d = self;
    size_t from = d->records * index / d->threads, to = d->records * (index + 1) / d->threads;
    for (size_t i = from; i < to; i++) {
        const uint64_t *record = d->in + i * (RECORD + d->width);
        size_t place;
        if (row_scatter_place(d->scatter, record[0], &place))
            d->sink(d->self, worker, (const double *)(const void *)(record + RECORD), place);
    }
}

static sbps_status trade(scattering *d, sbps_error *err)
{
    ranks *among = d->scatter->among;
    size_t all = 0;
    ranks_trade(among, d->words, d->one, d->got, d->one);
    for (size_t r = 0; r < among->size; r++) all += d->got[r];
    if (!ensure_capacity(&d->in, &d->in_capacity, all, sizeof *d->in)) return fail_memory(err);
    ranks_trade(among, d->out, d->words, d->in, d->got);
    d->records = all / (RECORD + d->width);
    return workers_run(d->threads, d->threads, put_some, d, err);
}

/* ---- rounds ---- */

static sbps_status fail_changed(const scattering *d, sbps_error *err)
{
    return fail(err, SBPS_BAD_FILE, "%s: has changed while it was read",
                d->cursor->schema->path);
}

/* Text up to the position `stop`. */
static sbps_status go_round(scattering *d, size_t stop, sbps_error *err)
{
    const row_taker taker = {take, d, false};
    sbps_status status = partition_cursor_read(d->cursor, stop, &taker, err);
    if (status == SBPS_OK && !draw_row_keys(d)) status = fail_memory(err);
    if (status == SBPS_OK && (d->changed || d->cursor->broken)) status = fail_changed(d, err);
    if (status == SBPS_OK && !pack(d)) status = fail_memory(err);
    chunks_clear(&d->rows);
    return status == SBPS_OK ? trade(d, err) : status;
}

/* So much text at a time, and how often: as many times on every rank. */
static size_t plan_rounds(const scattering *d, size_t *bytes)
{
    const text_partition *cut = d->cursor->cut;
    size_t own = cut->to - cut->from, min_bytes = d->threads * PART_BYTES;
    size_t part_bytes = d->cursor->spec->part_bytes;
    *bytes = own / ROUNDS < ROUND_MAX ? own / ROUNDS : ROUND_MAX;
    if (*bytes < min_bytes) *bytes = min_bytes;
    if (part_bytes > 0) *bytes = part_bytes * d->threads;
    return (size_t)ranks_max(d->scatter->among, (double)((own + *bytes - 1) / *bytes));
}

static sbps_status go_all_rounds(scattering *d, sbps_error *err)
{
    const text_partition *cut = d->cursor->cut;
    size_t bytes, rounds = plan_rounds(d, &bytes), stop = cut->from;
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < rounds; k++) {
        stop = cut->to - stop > bytes ? stop + bytes : cut->to;
        status = go_round(d, stop, err);
    }
    return status == SBPS_OK && d->left > 0 ? fail_changed(d, err) : status;
}

static sbps_status open_scattering(scattering *d, sbps_error *err)
{
    size_t size = d->scatter->among->size;
    chunks_init(&d->rows, d->width, false);
    d->words = calloc(4 * size, sizeof *d->words);
    if (!d->words) return fail_memory(err);
    d->got = d->words + size;
    d->at = d->got + size;
    d->one = d->at + size;
    for (size_t r = 0; r < size; r++) d->one[r] = 1;
    return SBPS_OK;
}

sbps_status partition_scatter_rows(partition_cursor *cursor, row_scatter *scatter,
                                   unsigned threads, scatter_sink sink, void *self,
                                   sbps_error *err)
{
    scattering d = {.cursor = cursor,
                    .scatter = scatter,
                    .threads = threads,
                    .sink = sink,
                    .self = self,
                    .width = cursor->schema->width,
                    .left = scatter->count};
    sbps_status status = open_scattering(&d, err);
    row_scatter_rewind(scatter);
    if (status == SBPS_OK) status = go_all_rounds(&d, err);
    chunks_clear(&d.rows);
    free(d.key);
    free(d.out);
    free(d.in);
    free(d.words);
    return status;
}

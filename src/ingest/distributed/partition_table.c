/* The second pass of a distributed read. The columns and the destination of every row are
 * known: each rank reads its stretch again and sends each row to the rank that keeps it.
 *
 * This is done in rounds, so that buffers are small compared with a rank's part of the table.
 * In a round each rank reads some text, packs its rows by destination, exchanges them (all to
 * all), and writes the rows received to their places. A row is sent as its key
 * (table/row_partition.h) and its cells as read.
 *
 * Sparse rows need an additional pass that counts their entries. */
#include "ingest/distributed/distributed_read.h"

#include "core/threads.h"
#include "ingest/design/shuffle_stream.h"
#include "ingest/design/storage.h"
#include "ingest/text/parts.h"
#include "table/content_hash.h"
#include "table/row_partition.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS    ((size_t)128)      /* per stretch, unless they would be too small */
#define ROUND_MAX ((size_t)32 << 20) /* bytes of text per round */
#define RECORD    ((size_t)1)        /* words of a record before its row: the key */

/* Receives a row of this rank's table; `to` is its place. Called in any order by several
 * threads. */
typedef void (*scatter_sink)(void *self, unsigned worker, const double *row, size_t to);

typedef struct {
    partition_cursor *cursor;
    row_scatter *scatter;
    unsigned threads;
    scatter_sink sink;
    void *self;
    size_t width; /* doubles of a row as read */
    size_t left;  /* rows of the survey that have not been read again yet */
    bool changed; /* there are more rows than in the survey: the file changed */
    chunks rows;  /* of the round */
    row_key *key; /* of each row of the round */
    size_t key_capacity;
    uint64_t *out, *in; /* records sent and received */
    size_t out_capacity, in_capacity;
    size_t *words, *got; /* per rank: words to send, words to receive */
    size_t *at, *one;    /* per rank: position in out; 1 */
    size_t records;      /* received */
} scattering;

/* ---- sending ---- */

/* A row_taker: keeps the rows of the round. */
static sbps_status collect_rows(void *self, chunks *read, sbps_error *err)
{
    scattering *d = self;
    return chunks_move(read, &d->rows) ? SBPS_OK : fail_memory(err);
}

/* Makes room for `needed` elements of `each` bytes in the array whose address is `array`; the
 * contents are lost. Returns false without memory. */
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

/* Draws the destination of each row and counts the words for each rank. Returns false without
 * memory. */
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

/* Appends a row to the records of its ranks. */
static void pack_row(scattering *d, const row_key *key, const double *row)
{
    for (size_t r = key->from; r < key->to; r++) {
        uint64_t *to = d->out + d->at[r];
        to[0] = key->key;
        memcpy(to + RECORD, row, d->width * sizeof *row);
        d->at[r] += RECORD + d->width;
    }
}

/* Packs all rows of the round by rank. Returns false without memory. */
static bool pack_round(scattering *d)
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

/* ---- receiving ---- */

/* A task of workers_run: passes a share of the received records to the sink. */
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

/* Exchanges the records of all ranks and passes those received to the sink. */
static sbps_status exchange(scattering *d, sbps_error *err)
{
    ranks *among = d->scatter->among;
    size_t all = 0;
    ranks_all_to_all(among, d->words, d->one, d->got, d->one);
    for (size_t r = 0; r < among->size; r++) all += d->got[r];
    if (!ensure_capacity(&d->in, &d->in_capacity, all, sizeof *d->in)) return fail_memory(err);
    ranks_all_to_all(among, d->out, d->words, d->in, d->got);
    d->records = all / (RECORD + d->width);
    return workers_run(d->threads, d->threads, put_some, d, err);
}

/* ---- rounds ---- */

static sbps_status fail_changed(const scattering *d, sbps_error *err)
{
    return fail(err, SBPS_BAD_FILE, "%s: the file changed while it was read",
                d->cursor->schema->path);
}

/* One round, of the text up to the position `stop`. */
static sbps_status run_round(scattering *d, size_t stop, sbps_error *err)
{
    const row_taker taker = {collect_rows, d, false};
    sbps_status status = partition_cursor_read(d->cursor, stop, &taker, err);
    if (status == SBPS_OK && !draw_row_keys(d)) status = fail_memory(err);
    if (status == SBPS_OK && (d->changed || d->cursor->broken)) status = fail_changed(d, err);
    if (status == SBPS_OK && !pack_round(d)) status = fail_memory(err);
    chunks_clear(&d->rows);
    return status == SBPS_OK ? exchange(d, err) : status;
}

/* Returns the number of rounds, the same on all ranks, and sets *bytes to the text of a
 * round. */
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

/* Fails also if there are fewer rows than in the survey. */
static sbps_status run_rounds(scattering *d, sbps_error *err)
{
    const text_partition *cut = d->cursor->cut;
    size_t bytes, rounds = plan_rounds(d, &bytes), stop = cut->from;
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < rounds; k++) {
        stop = cut->to - stop > bytes ? stop + bytes : cut->to;
        status = run_round(d, stop, err);
    }
    return status == SBPS_OK && d->left > 0 ? fail_changed(d, err) : status;
}

/* Allocates the counts per rank. */
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

/* Sends all rows of the stretch, from `cursor` on, to their ranks, and passes the rows of this
 * rank's table to the sink (collective). Fails if the text is not what it was in the survey. */
static sbps_status scatter_text_rows(partition_cursor *cursor, row_scatter *scatter,
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
    if (status == SBPS_OK) status = run_rounds(&d, err);
    chunks_clear(&d.rows);
    free(d.key);
    free(d.out);
    free(d.in);
    free(d.words);
    return status;
}

/* ---- the table ---- */

/* The table being built. */
typedef struct {
    const distributed_read *of;
    design g;
} table_builder;

partition_cursor partition_cursor_start(const distributed_read *s, column_schema *by)
{
    return (partition_cursor){.files = s->files,
                              .spec = s->spec,
                              .types = s->types,
                              .first = &s->first,
                              .cut = &s->cut,
                              .schema = by,
                              .breaks = s->breaks};
}

/* ---- sinks ---- */

/* The design that rows are written to, with scratch memory for each thread. */
typedef struct {
    const design *g;
    entries *each;            /* of each thread */
    formula_scratch *scratch; /* of each thread */
    unsigned threads;
} row_sink;

/* A scatter_sink: writes the row to the design. */
static void put_row(void *self, unsigned worker, const double *row, size_t to)
{
    const row_sink *p = self;
    if (!p->g->r->storage.start) {
        design_put(p->g, &p->scratch[worker], row, to);
        return;
    }
    put_targets(p->g, row, to);
    sparse_put(p->g, row, to, &p->each[worker]);
}

/* Counts the nonzero entries of a row, and adds them to the worker's total. */
static size_t count_row(const row_sink *p, unsigned worker, const double *row)
{
    entries *e = &p->each[worker];
    size_t n = design_entries(p->g, e->scratch, row, e->column, e->value);
    for (size_t k = 0; k < n; k++) e->ones = e->ones && e->value[k] == 1.0;
    e->total += n;
    return n;
}

/* A scatter_sink: counts the entries of a sparse row. */
static void count_at(void *self, unsigned worker, const double *row, size_t to)
{
    const row_sink *p = self;
    p->g->r->storage.start[to + 1] = count_row(p, worker, row);
}

/* A row_taker: counts the entries of this rank's stretch. */
static sbps_status count_stretch_entries(void *self, chunks *read, sbps_error *err)
{
    (void)err;
    for (size_t k = 0; k < read->runs; k++)
        for (size_t i = 0; i < read->run[k].rows; i++)
            count_row(self, 0, read->run[k].first + i * read->width);
    return SBPS_OK;
}

/* Allocates scratch memory for each thread. Close the sink also after a failure. */
static sbps_status open_sink(design *g, row_sink *p, sbps_error *err)
{
    *p = (row_sink){.g = g, .threads = g->threads};
    p->each = calloc(p->threads, sizeof *p->each);
    p->scratch = calloc(p->threads, sizeof *p->scratch);
    sbps_status status = p->each && p->scratch ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) status = entries_open(g, p->threads, p->each, err);
    for (unsigned w = 0; status == SBPS_OK && w < p->threads; w++) {
        p->each[w].scratch = &p->scratch[w];
        if (g->schema->formula) status = scratch_open(g->schema->formula, &p->scratch[w], err);
    }
    return status;
}

/* ---- storage ---- */

/* Counts the nonzero entries of all ranks. Those of a formula are known only after its rows are
 * evaluated, in an additional pass. */
static sbps_status count_entries(table_builder *s, row_sink *p, column_schema *codes,
                                 double *all, sbps_error *err)
{
    const row_taker taker = {count_stretch_entries, p, false};
    partition_cursor c = partition_cursor_start(s->of, codes);
    const rows *r = s->g.r;
    c.progress_base = HALF_WAY;
    if (!s->g.schema->formula) {
        *all = (double)(s->of->verdict.numbers + category_entries(&s->g));
        return SBPS_OK;
    }
    sbps_status status = partition_cursor_read(&c, SIZE_MAX, &taker, err);
    partition_cursor_close(&c);
    if (status == SBPS_OK) *all = sum_over_ranks(r, (double)p->each->total);
    p->each->total = 0;
    p->each->ones = true;
    return status;
}

/* Chooses the storage as a single process would, from the share of entries that are not 0. */
static sbps_status choose_storage(table_builder *s, row_sink *p, column_schema *codes,
                                  const storage_kind **out, sbps_error *err)
{
    const rows *r = s->g.r;
    double all = NAN, whole = (double)s->of->verdict.kept;
    sbps_status status = storage_check(s->of->spec, err);
    bool open = storage_of(s->of->spec, r->stride, 0.0) == &storage_sparse;
    if (status == SBPS_OK && storage_depends(s->of->spec) && open)
        status = count_entries(s, p, codes, &all, err);
    *out = storage_of(s->of->spec, r->stride, all / whole);
    return status;
}

/* Sends the rows of this rank's stretch, from its beginning, to their ranks. */
static sbps_status scatter_stretch(table_builder *s, column_schema *codes, row_scatter *scatter,
                                   scatter_sink sink, row_sink *p, sbps_error *err)
{
    partition_cursor c = partition_cursor_start(s->of, codes);
    c.progress_base = HALF_WAY;
    c.more = sink == put_row ? HALF_WAY : 0.0;
    sbps_status status = scatter_text_rows(&c, scatter, p->threads, sink, p, err);
    partition_cursor_close(&c);
    return status;
}

/* Allocates sparse rows, after a pass that counts the entries of each row. */
static sbps_status make_sparse(table_builder *s, column_schema *codes, row_scatter *scatter,
                               row_sink *p, sbps_error *err)
{
    rows *r = s->g.r;
    r->storage.start = calloc(r->local_rows + 1, sizeof *r->storage.start);
    sbps_status status = r->storage.start ? scatter_stretch(s, codes, scatter, count_at, p, err)
                                          : fail_memory(err);
    if (status != SBPS_OK) return status;
    for (unsigned w = 1; w < p->threads; w++) {
        p->each->total += p->each[w].total;
        p->each->ones = p->each->ones && p->each[w].ones;
    }
    p->each->ones = !any_rank(r, !p->each->ones);
    return sparse_create(r, p->each, err);
}

/* Allocates this rank's part of the table and fills it. It also holds the rows that complete
 * the last hash block beginning in the part (HASH_ROWS). */
static sbps_status fill_partition(table_builder *s, column_schema *codes,
                                  const storage_kind *storage, row_sink *p, sbps_error *err)
{
    rows *r = s->g.r;
    row_scatter scatter;
    bool sparse = storage == &storage_sparse;
    const scatter_rule rule = {s->of->spec->seed, s->of->spec->in_order, s->of->verdict.kept,
                               sparse ? 1 : HASH_ROWS};
    sbps_status status = row_scatter_open(s->of->among, &rule, s->of->verdict.before,
                                          s->of->report.kept, &scatter, err);
    if (status == SBPS_OK) {
        size_t own = r->local_rows;
        s->g.held = row_scatter_rows(&scatter);
        if (sparse) status = make_sparse(s, codes, &scatter, p, err);
        r->local_rows = s->g.held;
        if (status == SBPS_OK) status = design_allocate(&s->g, 0.0, err);
        r->local_rows = own;
        if (status == SBPS_OK) status = scatter_stretch(s, codes, &scatter, put_row, p, err);
    }
    row_scatter_close(&scatter);
    return status;
}

/* Makes *out a copy of the schema with the same levels and codes but its own row counts, which
 * are discarded. Returns false without memory. */
static bool fork_codes(const column_schema *p, column_schema *out)
{
    bool whole = schema_fork(p, out);
    for (size_t i = 0; whole && i < p->columns->count; i++) {
        const levels *l = p->use[i].levels;
        size_t *code = malloc(((l ? l->count : 0) + 1) * sizeof *code);
        whole = code && (!l || levels_merge(out->use[i].levels, l, code));
        free(code);
    }
    return whole;
}

/* Fills the part with a copy of the schema, so that reading again does not count levels
 * twice. */
static sbps_status fill_by_codes(table_builder *s, const storage_kind **storage,
                                 sbps_error *err)
{
    column_schema codes = {0};
    row_sink p = {0};
    sbps_status status =
        fork_codes(s->of->first.schema, &codes) ? open_sink(&s->g, &p, err) : fail_memory(err);
    if (status == SBPS_OK) status = choose_storage(s, &p, &codes, storage, err);
    if (status == SBPS_OK) status = fill_partition(s, &codes, *storage, &p, err);
    if (p.each) entries_clear(p.each, p.threads);
    for (unsigned w = 0; p.scratch && w < p.threads; w++) scratch_close(&p.scratch[w]);
    free(p.each);
    free(p.scratch);
    if (codes.columns) schema_close_fork(&codes);
    return status;
}

/* Sets the rows that this rank keeps. */
static sbps_status create_partition(table_builder *s, sbps_error *err)
{
    rows *r = s->g.r;
    sbps_status status =
        partition_create(s->of->verdict.kept, s->of->among, &r->partition, err);
    if (status != SBPS_OK) return status;
    r->local_rows =
        partition_begin(r->partition->total_rows, s->of->among->size, s->of->among->rank + 1) -
        r->partition->first_row;
    r->table.seed = s->of->spec->seed;
    r->table.in_order = s->of->spec->in_order;
    return SBPS_OK;
}

sbps_status partition_build_table(const distributed_read *of, rows **out, sbps_error *err)
{
    table_builder m = {.of = of}, *s = &m;
    const storage_kind *storage = NULL;
    sbps_status status = design_open(of->first.schema, of->spec, NULL, &s->g, err);
    if (status == SBPS_OK) status = create_partition(s, err);
    if (status == SBPS_OK) status = fill_by_codes(s, &storage, err);
    if (status == SBPS_OK) status = design_finish(&s->g, err);
    if (status == SBPS_OK && storage == &storage_float) status = design_to_floats(&s->g, err);
    if (status == SBPS_OK) {
        partition_set_origin(s->g.r);
        s->g.r->table.dropped = of->verdict.dropped;
        *out = s->g.r;
        s->g.r = NULL;
    }
    design_close(&s->g);
    return status;
}

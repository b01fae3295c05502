/* Threads read a plain file in parts of equal size. A record belongs to the part in which it
 * begins.
 *
 * The first record of a part is assumed to begin after the first line break, which is wrong if
 * that break is inside quotes. So parts are accepted in the order of the file, and only if the
 * record before ended exactly where the part begins. Any other part, and any part with an
 * error, is read again by the source itself from its current position, so that error messages
 * have the right line.
 *
 * The source, its schema and the order of parts are protected by one lock. */
#include "ingest/text/parts.h"

#include "core/printable.h"
#include "core/threads.h"
#include "ingest/text/file_list.h"
#include "ingest/text/source.h"
#include "table/mapped_table.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- one part ---- */

#define PART_REACH 4 /* a record of a part must end within this many parts */

size_t part_count(const part_layout *how)
{
    return (how->size - how->first + how->bytes - 1) / how->bytes;
}

size_t part_begin(const part_layout *how, size_t index)
{
    return how->first + index * how->bytes;
}

size_t part_stop(const part_layout *how, size_t index)
{
    size_t begin = part_begin(how, index);
    return how->size - begin < how->bytes ? how->size : begin + how->bytes;
}

bool part_open(const row_source *s, bool packed, text_part *p)
{
    *p = (text_part){0};
    chunks_init(&p->rows, s->schema->width, packed);
    return schema_fork(s->schema, &p->schema) && text_view_open(s->source, &p->view);
}

void part_close(text_part *p)
{
    chunks_clear(&p->rows);
    if (p->schema.columns) schema_close_fork(&p->schema);
    text_view_close(&p->view);
}

bool part_find_line(text_file *t, size_t begin, size_t stop)
{
    /* From the byte before, so that a line that begins exactly at `begin` is found. */
    text_file_seek(t, begin - 1, 1);
    for (;;) {
        char *found = memchr(t->at, '\n', (size_t)(t->limit - t->at));
        t->at = found ? found + 1 : t->limit;
        if (found || text_file_offset(t) >= stop) return text_file_offset(t) < stop;
        if (text_file_more(t, NULL) != SBPS_OK || t->finished) return false;
    }
}

/* Reads the records up to p->stop; returns false at an error, without a message. */
static bool read_records(text_part *p, const format_kind *kind, void *reader)
{
    row_fate fate = ROW_KEPT;
    while (fate != ROW_END && text_file_offset(&p->view) < p->stop) {
        double *row = chunks_next(&p->rows);
        if (!row || kind->next(reader, &p->schema, row, &fate, NULL) != SBPS_OK) return false;
        if (fate == ROW_KEPT && !chunks_keep(&p->rows)) return false;
        p->kept += fate == ROW_KEPT;
        p->dropped += fate == ROW_DROPPED;
    }
    p->end = text_file_offset(&p->view);
    p->lines = p->view.line - 1;
    return true;
}

void part_read(const row_source *s, const part_layout *how, size_t index, text_part *p)
{
    const format_kind *kind = s->kind;
    size_t begin = part_begin(how, index);
    p->stop = part_stop(how, index);
    p->view.reach = p->stop + PART_REACH * how->bytes;
    p->kept = p->dropped = 0;
    p->whole = false;
    schema_reset(&p->schema);
    if (index == 0)
        text_file_seek(&p->view, begin, 1);
    else if (!part_find_line(&p->view, begin, p->stop))
        return;
    p->begin = text_file_offset(&p->view);
    void *reader = kind->fork(s->self, &p->view);
    if (!reader) return; /* no memory: the source reads the part */
    p->whole = read_records(p, kind, reader);
    kind->join(reader);
}

/* ---- all parts ---- */

#define SLOTS       4 /* parts per thread: some wait for an earlier part that is delayed */
#define SERIAL_ROWS ((size_t)128 * 1024) /* doubles passed on at a time */

typedef struct {
    row_source *s;
    const rows_spec *spec;
    const row_taker *to;
    part_layout cut;
    text_part *parts; /* part k is parts[k % slots] */
    size_t slots;
    chunks rows; /* read by the source itself */
    /* protected by the lock, as are the source and its schema */
    size_t taken; /* parts accepted so far */
    sbps_status status;
    sbps_error *err;
    pthread_mutex_t lock;
    pthread_cond_t slot_free;
} parts_reader;

unsigned reading_threads(const rows_spec *spec)
{
    return spec->threads ? spec->threads : (unsigned)processors();
}

/* ---- reading by the source itself ---- */

/* Returns whether the source is before the byte `stop`. Packed files are read to their end:
 * SIZE_MAX. */
static bool is_before(const text_file *t, size_t stop)
{
    return stop == SIZE_MAX || text_file_offset(t) < stop;
}

/* Reads rows up to the byte `stop`, at most SERIAL_ROWS; returns whether there is more to
 * read. */
static bool read_some(parts_reader *g, size_t stop)
{
    row_source *s = g->s;
    row_fate fate = ROW_KEPT;
    while (g->status == SBPS_OK && fate != ROW_END && is_before(s->source, stop)) {
        double *row = chunks_next(&g->rows);
        g->status = row ? source_next(s, row, &fate, g->err) : fail_memory(g->err);
        if (g->status == SBPS_OK && fate == ROW_KEPT && !chunks_keep(&g->rows))
            g->status = fail_memory(g->err);
        if (g->status == SBPS_OK && g->rows.rows * s->schema->width >= SERIAL_ROWS) break;
    }
    if (g->status == SBPS_OK && g->rows.rows > 0)
        g->status = g->to->take(g->to->self, &g->rows, g->err);
    chunks_reset(&g->rows);
    return g->status == SBPS_OK && fate != ROW_END && is_before(s->source, stop);
}

/* Returns the fraction of the file read so far; NAN: unknown. */
static double fraction_read(const parts_reader *g)
{
    struct stat about;
    size_t done = g->s->source->position;
    if (fstat(g->s->source->file, &about) != 0 || about.st_size <= 0) return NAN;
    return (double)done / (double)about.st_size;
}

/* Calls spec->watch; fails if it requests a stop. */
static sbps_status report_progress(parts_reader *g, double fraction)
{
    const rows_spec *spec = g->spec;
    if (!spec->watch || spec->watch(spec->watcher, "reading", g->s->kept, fraction))
        return SBPS_OK;
    return fail(g->err, SBPS_INTERRUPTED, "%s: not read: stopped on request",
                g->s->schema->path);
}

/* ---- reading in parts ---- */

/* Passes the rows of a part to the taker and moves the source after it. */
static void take_part(parts_reader *g, text_part *p)
{
    row_source *s = g->s;
    bool joined = schema_merge(s->schema, &p->schema, &p->rows);
    g->status = joined ? g->to->take(g->to->self, &p->rows, g->err) : fail_memory(g->err);
    s->kept += p->kept;
    s->dropped += p->dropped;
    text_file_seek(s->source, p->end, s->source->line + p->lines);
}

/* Takes the part if it begins where the source is; else the source reads it. */
static void accept_part(parts_reader *g, text_part *p)
{
    size_t at = text_file_offset(g->s->source);
    if (g->status != SBPS_OK || at >= p->stop) return;
    if (p->whole && p->begin == at)
        take_part(g, p);
    else
        while (read_some(g, p->stop)) continue;
}

/* Marks the part as ready and accepts all parts that can be accepted. `first`: the caller's
 * thread, which may report progress. */
static void finish_part(parts_reader *g, text_part *p, bool first)
{
    pthread_mutex_lock(&g->lock);
    p->ready = true;
    for (text_part *next; (next = &g->parts[g->taken % g->slots])->ready; g->taken++) {
        next->ready = false;
        accept_part(g, next);
        chunks_reset(&next->rows);
    }
    size_t done = text_file_offset(g->s->source);
    if (first && g->status == SBPS_OK)
        g->status = report_progress(g, (double)done / (double)g->cut.size);
    pthread_cond_broadcast(&g->slot_free);
    pthread_mutex_unlock(&g->lock);
}

/* A task of workers_run: reads part `index`. */
static void do_part(void *self, unsigned worker, size_t index)
{
    parts_reader *g = self;
    text_part *p = &g->parts[index % g->slots];
    /* Wait until the part has a free slot. */
    pthread_mutex_lock(&g->lock);
    while (index >= g->taken + g->slots) pthread_cond_wait(&g->slot_free, &g->lock);
    bool running = g->status == SBPS_OK;
    pthread_mutex_unlock(&g->lock);
    p->whole = false;
    if (running) part_read(g->s, &g->cut, index, p);
    finish_part(g, p, worker == 0);
}

/* Reads `count` parts by this many threads. */
static sbps_status run_parts(parts_reader *g, unsigned threads, size_t count)
{
    g->parts = calloc(g->slots, sizeof *g->parts);
    bool ready = g->parts != NULL;
    for (size_t k = 0; ready && k < g->slots; k++)
        ready = part_open(g->s, g->to->packed, &g->parts[k]);
    sbps_status status = ready ? SBPS_OK : fail_memory(g->err);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->slot_free, NULL);
    if (status == SBPS_OK) status = workers_run(threads, count, do_part, g, g->err);
    pthread_cond_destroy(&g->slot_free);
    pthread_mutex_destroy(&g->lock);
    for (size_t k = 0; g->parts && k < g->slots; k++) part_close(&g->parts[k]);
    free(g->parts);
    return status;
}

/* Returns the size of a file that can be divided; 0: it cannot. Not with categories in packed
 * rows: their codes could not be changed after packing, as code 0 is not stored. */
static size_t divisible_bytes(const parts_reader *g)
{
    struct stat about;
    const row_source *s = g->s;
    bool recoded = g->to->packed && s->schema->categories > 0;
    if (!text_file_divides(s->source) || recoded || fstat(s->source->file, &about)) return 0;
    return (size_t)about.st_size;
}

sbps_status parts_read(row_source *s, const rows_spec *spec, const row_taker *to,
                       sbps_error *err)
{
    return parts_read_to(s, spec, SIZE_MAX, to, err);
}

sbps_status parts_read_to(row_source *s, const rows_spec *spec, size_t stop,
                          const row_taker *to, sbps_error *err)
{
    parts_reader g = {.s = s,
                      .spec = spec,
                      .to = to,
                      .cut = {.first = text_file_offset(s->source),
                              .bytes = spec->part_bytes ? spec->part_bytes : PART_BYTES},
                      .err = err};
    chunks_init(&g.rows, s->schema->width, to->packed);
    g.cut.size = divisible_bytes(&g);
    if (g.cut.size > stop) g.cut.size = stop;
    if (g.cut.size > g.cut.first) {
        size_t count = part_count(&g.cut), threads = reading_threads(g.spec);
        if (threads > count) threads = count;
        g.slots = threads > 1 ? SLOTS * threads : 1;
        sbps_status status = run_parts(&g, (unsigned)threads, count);
        g.status = status == SBPS_OK ? g.status : status;
    }
    /* The rest of the file, or all of it if it cannot be divided. */
    if (g.status == SBPS_OK && stop == SIZE_MAX)
        while (read_some(&g, SIZE_MAX)) g.status = report_progress(&g, fraction_read(&g));
    chunks_clear(&g.rows);
    return g.status;
}

/* ---- several files ----
 *
 * Several files with the same column names are one table: rows of a file follow those of the
 * file before. Each file is opened with a schema of its own to check its columns, and read with
 * the schema of the first. */

/* Fails if the names of the columns differ; their number is the same, as types fit
 * (column_types_fit). */
static sbps_status check_same_names(const row_source *first, const row_source *s,
                                    sbps_error *err)
{
    const columns *a = &first->names, *b = &s->names;
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(a->name[i], b->name[i]) != 0)
            return fail(err, SBPS_BAD_FILE, "%s:1: column %zu is '%s', but in %s it is '%s'",
                        s->source->path, i + 1, show_name(b->name[i]).text, first->source->path,
                        show_name(a->name[i]).text);
    return SBPS_OK;
}

sbps_status table_file_open(const text_input *from, const rows_spec *spec, column_types *types,
                            const row_source *first, row_source *s, sbps_error *err)
{
    *s = (row_source){0};
    if (table_recognise(from->path))
        return fail(err, SBPS_BAD_FILE, "%s: a converted table cannot be one of several files",
                    from->path);
    sbps_status status = source_open(from, spec, types, s, err);
    if (status == SBPS_OK && !s->names.types)
        status = fail(err, SBPS_BAD_FILE, "%s: when several files are read, all must be CSV",
                      from->path);
    if (status == SBPS_OK && first) status = check_same_names(first, s, err);
    s->of_several = true;
    return status;
}

/* Infers types from the first rows of every file. */
static sbps_status sniff_files(const file_list *files, const rows_spec *spec,
                               column_types *types, sbps_error *err)
{
    row_source first, s;
    sbps_status status = table_file_open(&files->input[0], spec, types, NULL, &first, err);
    for (size_t k = 1; status == SBPS_OK && k < files->count; k++) {
        status = table_file_open(&files->input[k], spec, types, &first, &s, err);
        source_close(&s);
    }
    source_close(&first);
    return status;
}

sbps_status table_files_open(const file_list *files, const rows_spec *spec, column_types *types,
                             row_source *first, sbps_error *err)
{
    *first = (row_source){0};
    if (files->count == 1) return source_open(&files->input[0], spec, types, first, err);
    sbps_status status = sniff_files(files, spec, types, err);
    return status == SBPS_OK ? table_file_open(&files->input[0], spec, types, NULL, first, err)
                             : status;
}

/* Reads the rows of one file with the schema of the first, whose path is that of this file
 * meanwhile. */
static sbps_status add_file(const text_input *from, const rows_spec *spec, column_types *types,
                            row_source *first, const row_taker *to, sbps_error *err)
{
    row_source s;
    sbps_status status = table_file_open(from, spec, types, first, &s, err);
    column_schema *own = s.schema;
    if (status == SBPS_OK) {
        s.schema = first->schema;
        s.schema->path = s.source->path;
        status = parts_read(&s, spec, to, err);
        s.schema->path = first->source->path;
        first->kept += s.kept;
        first->dropped += s.dropped;
    }
    s.schema = own;
    status = source_retype(&s, status, err);
    source_close(&s);
    return status;
}

sbps_status table_files_read(const file_list *files, const rows_spec *spec, column_types *types,
                             row_source *first, const row_taker *to, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    if (files->count == 1) return parts_read(first, spec, to, err);
    for (size_t k = 0; status == SBPS_OK && k < files->count; k++)
        status = add_file(&files->input[k], spec, types, first, to, err);
    if (status != SBPS_OK) return status;
    return check_row_count(first->source->path, first->kept, first->dropped, err);
}

/* A plain file is cut into parts of the same number of bytes. A record belongs to the part that it begins
 * in. Where the first one of a part begins is a guess: behind its first line break, which may stand in
 * quotes. So parts are taken in the order of the file, and only where the last record of all before ended
 * just where the guess was. Any other part, and one in which something was wrong, is read once more by the
 * source itself, from where it stands: it alone says what is wrong, with the right line. */
#include "ingest/text/parts.h"

#include "core/threads.h"
#include "core/workers.h"
#include "ingest/text/part.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SLOTS       4 /* a thread: parts that wait for one before them, whose thread does not run */
#define SERIAL_ROWS ((size_t)128 * 1024) /* doubles that are handed on at once */

typedef struct {
    row_source *s;
    const rows_spec *spec;
    const row_taker *to;
    part_layout cut;
    part *parts; /* part k is in k % slots */
    size_t slots;
    chunks rows; /* of the source itself */
    /* under the lock, as are the source and its plan */
    size_t taken;
    sbps_status status;
    sbps_error *err;
    pthread_mutex_t lock;
    pthread_cond_t slot_free;
} parts_reader;

unsigned reading_threads(const rows_spec *spec)
{
    return spec->threads ? spec->threads : (unsigned)processors();
}

/* ---- by the source itself ---- */

static void hand_on(parts_reader *g)
{
    if (g->status == SBPS_OK && g->rows.rows > 0)
        g->status = g->to->take(g->to->self, &g->rows, g->err);
    chunks_reset(&g->rows);
}

/* A packed file has no bytes to count: it is read to its end. */
static bool is_before(const text_file *t, size_t stop)
{
    return stop == SIZE_MAX || text_file_offset(t) < stop;
}

/* The rows up to the byte `stop`; false where it ended or failed. */
static bool read_on(parts_reader *g, size_t stop)
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
    hand_on(g);
    return g->status == SBPS_OK && fate != ROW_END && is_before(s->source, stop);
}

static double fraction_read(const parts_reader *g)
{
    struct stat about;
    size_t done = g->s->source->position;
    if (fstat(g->s->source->file, &about) != 0 || about.st_size <= 0) return NAN;
    return (double)done / (double)about.st_size;
}

static sbps_status report_progress(parts_reader *g, double fraction)
{
    const rows_spec *spec = g->spec;
    if (!spec->watch || spec->watch(spec->watcher, "reading", g->s->kept, fraction))
        return SBPS_OK;
    return fail(g->err, SBPS_NO_FILE, "%s: not read: stopped on request", g->s->schema->path);
}

static void read_alone(parts_reader *g)
{
    while (read_on(g, SIZE_MAX)) g->status = report_progress(g, fraction_read(g));
}

/* ---- parts ---- */

static void take_part(parts_reader *g, part *p)
{
    row_source *s = g->s;
    bool joined = schema_merge(s->schema, &p->schema, &p->rows);
    g->status = joined ? g->to->take(g->to->self, &p->rows, g->err) : fail_memory(g->err);
    s->kept += p->kept;
    s->dropped += p->dropped;
    text_file_seek(s->source, p->end, s->source->line + p->lines);
}

static void accept_part(parts_reader *g, part *p)
{
    size_t at = text_file_offset(g->s->source);
    if (g->status != SBPS_OK || at >= p->stop) return;
    if (p->whole && p->begin == at)
        take_part(g, p);
    else
        while (read_on(g, p->stop)) continue;
}

static void hand_in(parts_reader *g, part *p, bool first)
{
    pthread_mutex_lock(&g->lock);
    p->ready = true;
    for (part *next; (next = &g->parts[g->taken % g->slots])->ready; g->taken++) {
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

/* Whether it is still worth while. */
static bool wait_for_slot(parts_reader *g, size_t index)
{
    pthread_mutex_lock(&g->lock);
    while (index >= g->taken + g->slots) pthread_cond_wait(&g->slot_free, &g->lock);
    bool running = g->status == SBPS_OK;
    pthread_mutex_unlock(&g->lock);
    return running;
}

static void do_part(void *self, unsigned worker, size_t index)
{
    parts_reader *g = self;
    part *p = &g->parts[index % g->slots];
    bool running = wait_for_slot(g, index);
    p->whole = false;
    if (running) part_read(g->s, &g->cut, index, p);
    hand_in(g, p, worker == 0);
}

static sbps_status open_parts(parts_reader *g)
{
    g->parts = calloc(g->slots, sizeof *g->parts);
    bool ready = g->parts != NULL;
    for (size_t k = 0; ready && k < g->slots; k++)
        ready = part_open(g->s, g->to->packed, &g->parts[k]);
    return ready ? SBPS_OK : fail_memory(g->err);
}

static void close_parts(parts_reader *g)
{
    for (size_t k = 0; g->parts && k < g->slots; k++) part_close(&g->parts[k]);
    free(g->parts);
}

static sbps_status run_parts(parts_reader *g, unsigned threads, size_t count)
{
    sbps_status status = open_parts(g);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->slot_free, NULL);
    if (status == SBPS_OK) status = workers_run(threads, count, do_part, g, g->err);
    pthread_cond_destroy(&g->slot_free);
    pthread_mutex_destroy(&g->lock);
    close_parts(g);
    return status;
}

static sbps_status read_parts(parts_reader *g)
{
    size_t count = part_count(&g->cut), threads = reading_threads(g->spec);
    if (threads > count) threads = count;
    g->slots = threads > 1 ? SLOTS * threads : 1;
    sbps_status status = run_parts(g, (unsigned)threads, count);
    return status == SBPS_OK ? g->status : status;
}

/* Bytes of a file that can be shared out; 0: it cannot be. Codes of packed rows cannot be changed, because 0
 * takes no room there. */
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
    if (g.cut.size > g.cut.first) g.status = read_parts(&g);
    if (g.status == SBPS_OK && stop == SIZE_MAX) read_alone(&g); /* what is left, to the end */
    chunks_clear(&g.rows);
    return g.status;
}

/* A plain file is cut into parts of the same number of bytes. A record belongs to the part that it begins
 * in. Where the first one of a part begins is a guess: behind its first line break, which may stand in
 * quotes. So parts are taken in the order of the file, and only where the last record of all before ended
 * just where the guess was. Any other part, and one in which something was wrong, is read once more by the
 * source itself, from where it stands: it alone says what is wrong, with the right line. */
#include "read/parts.h"

#include "base/threads.h"
#include "base/workers.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PART_BYTES                                                                             \
    ((size_t)4 * 256 * 1024 - 8192) /* four buffers of text hold it and a last record */
#define PART_REACH  4               /* parts, in which a record must end that was guessed */
#define SLOTS       4 /* a thread: parts that wait for one before them, whose thread does not run */
#define SERIAL_ROWS ((size_t)128 * 1024) /* doubles that are handed on at once */

typedef struct {
    text_file view;
    plan plan;
    chunks rows;
    size_t begin, end,
        stop; /* first byte, byte behind the last record, and that of the range */
    size_t lines, kept, dropped;
    bool ready, whole;
} part;

typedef struct {
    row_source *s;
    const rows_spec *spec;
    const row_taker *to;
    size_t first, size, part_bytes; /* bytes of the file: of the first row, of all, of a part */
    part *parts;                    /* part k is in k % slots */
    size_t slots;
    chunks rows; /* of the source itself */
    /* under the lock, as are the source and its plan */
    size_t taken;
    sbps_status status;
    sbps_error *err;
    pthread_mutex_t lock;
    pthread_cond_t room;
} gathering;

unsigned reading_threads(const rows_spec *spec)
{
    return spec->threads ? spec->threads : (unsigned)processors();
}

/* ---- by the source itself ---- */

static void hand_on(gathering *g)
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
static bool read_on(gathering *g, size_t stop)
{
    row_source *s = g->s;
    row_fate fate = ROW_KEPT;
    while (g->status == SBPS_OK && fate != ROW_END && is_before(s->source, stop)) {
        double *row = chunks_next(&g->rows);
        g->status = row ? source_next(s, row, &fate, g->err) : fail_memory(g->err);
        if (g->status == SBPS_OK && fate == ROW_KEPT && !chunks_keep(&g->rows))
            g->status = fail_memory(g->err);
        if (g->status == SBPS_OK && g->rows.rows * s->plan->width >= SERIAL_ROWS) break;
    }
    hand_on(g);
    return g->status == SBPS_OK && fate != ROW_END && is_before(s->source, stop);
}

static double share_read(const gathering *g)
{
    struct stat about;
    size_t done = g->s->source->position;
    if (fstat(g->s->source->file, &about) != 0 || about.st_size <= 0) return NAN;
    return (double)done / (double)about.st_size;
}

static sbps_status tell(gathering *g, double share)
{
    const rows_spec *spec = g->spec;
    if (!spec->watch || spec->watch(spec->watcher, "reading", g->s->kept, share))
        return SBPS_OK;
    return fail(g->err, SBPS_NO_FILE, "%s: not read: stopped on request", g->s->plan->path);
}

static void read_alone(gathering *g)
{
    while (read_on(g, SIZE_MAX)) g->status = tell(g, share_read(g));
}

/* ---- parts ---- */

/* To the first line that begins in the range; false: none does. */
static bool find_line(part *p, size_t begin)
{
    text_file *t = &p->view;
    text_file_seek(t, begin - 1, 1);
    for (;;) {
        char *stop = memchr(t->at, '\n', (size_t)(t->limit - t->at));
        t->at = stop ? stop + 1 : t->limit;
        p->begin = text_file_offset(t);
        if (stop || p->begin >= p->stop) return p->begin < p->stop;
        if (text_file_more(t, NULL) != SBPS_OK || t->finished) return false;
    }
}

static bool read_records(part *p, const format_kind *kind, void *reader)
{
    row_fate fate = ROW_KEPT;
    while (fate != ROW_END && text_file_offset(&p->view) < p->stop) {
        double *row = chunks_next(&p->rows);
        if (!row || kind->next(reader, &p->plan, row, &fate, NULL) != SBPS_OK) return false;
        if (fate == ROW_KEPT && !chunks_keep(&p->rows)) return false;
        p->kept += fate == ROW_KEPT;
        p->dropped += fate == ROW_DROPPED;
    }
    p->end = text_file_offset(&p->view);
    p->lines = p->view.line - 1;
    return true;
}

static void read_part(const gathering *g, part *p, size_t index)
{
    const format_kind *kind = g->s->kind;
    size_t begin = g->first + index * g->part_bytes;
    p->stop = g->size - begin < g->part_bytes ? g->size : begin + g->part_bytes;
    p->view.reach = p->stop + PART_REACH * g->part_bytes;
    p->kept = p->dropped = 0;
    plan_reset(&p->plan);
    p->begin = begin;
    if (index == 0)
        text_file_seek(&p->view, begin, 1);
    else if (!find_line(p, begin))
        return;
    void *reader = kind->fork(g->s->self, &p->view);
    if (!reader) return; /* the source itself will say so */
    p->whole = read_records(p, kind, reader);
    kind->join(reader);
}

static void take_part(gathering *g, part *p)
{
    row_source *s = g->s;
    bool joined = plan_join(s->plan, &p->plan, &p->rows);
    g->status = joined ? g->to->take(g->to->self, &p->rows, g->err) : fail_memory(g->err);
    s->kept += p->kept;
    s->dropped += p->dropped;
    text_file_seek(s->source, p->end, s->source->line + p->lines);
}

static void settle(gathering *g, part *p)
{
    size_t at = text_file_offset(g->s->source);
    if (g->status != SBPS_OK || at >= p->stop) return;
    if (p->whole && p->begin == at)
        take_part(g, p);
    else
        while (read_on(g, p->stop)) continue;
}

static void hand_in(gathering *g, part *p, bool first)
{
    pthread_mutex_lock(&g->lock);
    p->ready = true;
    for (part *next; (next = &g->parts[g->taken % g->slots])->ready; g->taken++) {
        next->ready = false;
        settle(g, next);
        chunks_reset(&next->rows);
    }
    size_t done = text_file_offset(g->s->source);
    if (first && g->status == SBPS_OK) g->status = tell(g, (double)done / (double)g->size);
    pthread_cond_broadcast(&g->room);
    pthread_mutex_unlock(&g->lock);
}

/* Whether it is still worth while. */
static bool wait_for_slot(gathering *g, size_t index)
{
    pthread_mutex_lock(&g->lock);
    while (index >= g->taken + g->slots) pthread_cond_wait(&g->room, &g->lock);
    bool wanted = g->status == SBPS_OK;
    pthread_mutex_unlock(&g->lock);
    return wanted;
}

static void do_part(void *self, unsigned worker, size_t index)
{
    gathering *g = self;
    part *p = &g->parts[index % g->slots];
    bool wanted = wait_for_slot(g, index);
    p->whole = false;
    if (wanted) read_part(g, p, index);
    hand_in(g, p, worker == 0);
}

static sbps_status open_parts(gathering *g)
{
    g->parts = calloc(g->slots, sizeof *g->parts);
    bool ready = g->parts != NULL;
    for (size_t k = 0; ready && k < g->slots; k++) {
        part *p = &g->parts[k];
        chunks_init(&p->rows, g->s->plan->width, g->to->packed);
        ready = plan_fork(g->s->plan, &p->plan) && text_view_open(g->s->source, &p->view);
    }
    return ready ? SBPS_OK : fail_memory(g->err);
}

static void close_parts(gathering *g)
{
    for (size_t k = 0; g->parts && k < g->slots; k++) {
        part *p = &g->parts[k];
        chunks_clear(&p->rows);
        if (p->plan.columns) plan_close_fork(&p->plan);
        text_view_close(&p->view);
    }
    free(g->parts);
}

static sbps_status share_out(gathering *g, unsigned threads, size_t count)
{
    sbps_status status = open_parts(g);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->room, NULL);
    if (status == SBPS_OK) status = workers_run(threads, count, do_part, g, g->err);
    pthread_cond_destroy(&g->room);
    pthread_mutex_destroy(&g->lock);
    close_parts(g);
    return status;
}

static sbps_status read_parts(gathering *g)
{
    size_t bytes = g->size - g->first, count = (bytes + g->part_bytes - 1) / g->part_bytes;
    size_t threads = reading_threads(g->spec);
    if (threads > count) threads = count;
    g->slots = threads > 1 ? SLOTS * threads : 1;
    sbps_status status = share_out(g, (unsigned)threads, count);
    return status == SBPS_OK ? g->status : status;
}

/* Bytes of a file that can be shared out; 0: it cannot be. Codes of packed rows cannot be changed, because 0
 * takes no room there. */
static size_t bytes_to_share(const gathering *g)
{
    struct stat about;
    const row_source *s = g->s;
    bool recoded = g->to->packed && s->plan->categories > 0;
    if (!text_file_divides(s->source) || recoded || fstat(s->source->file, &about)) return 0;
    return (size_t)about.st_size;
}

sbps_status parts_read(row_source *s, const rows_spec *spec, const row_taker *to,
                       sbps_error *err)
{
    gathering g = {.s = s,
                   .spec = spec,
                   .to = to,
                   .first = text_file_offset(s->source),
                   .part_bytes = spec->part_bytes ? spec->part_bytes : PART_BYTES,
                   .err = err};
    chunks_init(&g.rows, s->plan->width, to->packed);
    g.size = bytes_to_share(&g);
    if (g.size > g.first) g.status = read_parts(&g);
    if (g.status == SBPS_OK) read_alone(&g); /* what is left, to the end */
    chunks_clear(&g.rows);
    return g.status;
}

/* Reading a text straight into the shuffled table. The place of a row depends on the number of
 * rows; rows kept until that is known are in memory twice. Where every record is one line, line
 * breaks give the number: a first pass counts those of each part of the text, a second reads
 * the parts, each knowing the number of its first row.
 *
 * That records are lines is checked on the way: every part must have as many records as lines,
 * and its last must end where the next part's first was assumed to begin. Otherwise everything
 * is discarded and the file is read like others. */
#include "ingest/design/direct_text.h"

#include "core/threads.h"
#include "ingest/design/storage.h"
#include "ingest/text/parts.h"
#include "table/row_origin.h"
#include "table/rows.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECT_MIN     ((size_t)8 << 20) /* bytes, below which two passes are slower */
#define COUNT_FRACTION 0.1 /* of the progress reported; more for a file not in memory */
#define TAIL_BYTES     4096
#define AHEAD          ((size_t)8) /* rows ahead whose places are prefetched */

typedef struct {
    size_t before, rows; /* rows of all parts before it; its own, by line breaks */
    size_t begin, end;   /* of its records, bytes, as they were read */
} part_extent;

typedef struct {
    const row_source *s;
    const rows_spec *spec;
    part_layout cut;
    part_extent *of; /* of each part */
    size_t parts;
    unsigned threads;
    char *buffer;             /* SCAN_BYTES per thread */
    text_part *each;          /* per thread */
    formula_scratch *scratch; /* per thread */
    design g;
    size_t *to;
    double max_entries;    /* entries beyond which the table is dense */
    atomic_size_t entries; /* counted at least up to max_entries */
    atomic_size_t kept;
    atomic_bool abandoned;
    sbps_status status; /* set by the caller's thread */
    sbps_error *err;
} direct;

/* Reports that part `index` is done: progress goes from `from` to `to` over the parts. Only
 * worker 0, the caller, reports; the watcher may stop the reading. */
static void report_part(direct *d, unsigned worker, size_t index, double from, double to)
{
    const rows_spec *spec = d->spec;
    double fraction = (double)part_stop(&d->cut, index) / (double)d->cut.size;
    if (worker > 0 || !spec->watch || d->status != SBPS_OK) return;
    if (spec->watch(spec->watcher, "reading", atomic_load(&d->kept),
                    from + (to - from) * fraction))
        return;
    d->status =
        fail(d->err, SBPS_INTERRUPTED, "%s: reading stopped on request", d->s->schema->path);
    atomic_store(&d->abandoned, true);
}

/* ---- counting ---- */

/* Counts in lanes of bytes, which cannot overflow within 255 rounds. */
static size_t breaks_in(const char *text, size_t size)
{
    enum { LANES = 32, ROUNDS = 255 };
    size_t count = 0;
    while (size >= LANES) {
        unsigned char lane[LANES] = {0};
        size_t rounds = size / LANES < ROUNDS ? size / LANES : ROUNDS;
        for (size_t k = 0; k < rounds; k++, text += LANES)
            for (size_t l = 0; l < LANES; l++) lane[l] += text[l] == '\n';
        for (size_t l = 0; l < LANES; l++) count += lane[l];
        size -= rounds * LANES;
    }
    for (size_t i = 0; i < size; i++) count += text[i] == '\n';
    return count;
}

bool count_breaks(int file, size_t from, size_t to, char *buffer, size_t *count)
{
    while (from < to) {
        size_t want = to - from < SCAN_BYTES ? to - from : SCAN_BYTES;
        ssize_t got = pread(file, buffer, want, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        *count += breaks_in(buffer, (size_t)got);
        from += (size_t)got;
    }
    return true;
}

/* Counts the records of a part: one begins after each line break, and at the first byte of the
 * file. */
static void count_part(void *self, unsigned worker, size_t index)
{
    direct *d = self;
    part_extent *own = &d->of[index];
    size_t begin = part_begin(&d->cut, index), stop = part_stop(&d->cut, index);
    own->rows = index == 0;
    if (atomic_load(&d->abandoned)) return;
    if (!count_breaks(d->s->source->file, index ? begin - 1 : begin, stop - 1,
                      d->buffer + worker * SCAN_BYTES, &own->rows))
        atomic_store(&d->abandoned, true);
    report_part(d, worker, index, 0.0, COUNT_FRACTION);
}

/* Sums the rows before each part; returns the number of all. */
static size_t add_up(const direct *d)
{
    size_t before = 0;
    for (size_t k = 0; k < d->parts; k++) {
        d->of[k].before = before;
        before += d->of[k].rows;
    }
    return before;
}

/* ---- reading ---- */

/* Counts entries, until there are so many that the table cannot be sparse. */
static void count_entries(direct *d, const text_part *p)
{
    size_t from = d->s->schema->first, features = d->s->schema->features, count = 0;
    if ((double)atomic_load(&d->entries) > d->max_entries) return;
    for (size_t k = 0; k < p->rows.runs; k++)
        for (size_t i = 0; i < p->rows.run[k].rows; i++) {
            const double *row = p->rows.run[k].first + i * p->rows.width + from;
            for (size_t f = 0; f < features; f++) count += row[f] != 0.0;
        }
    atomic_fetch_add(&d->entries, count);
}

/* Writes rows to their places, which are prefetched because they are not in cache. */
static void put_rows(const direct *d, unsigned worker, const text_part *p, const size_t *to)
{
    const rows *r = d->g.r;
    for (size_t k = 0; k < p->rows.runs; k++) {
        const row_run *run = &p->rows.run[k];
        for (size_t i = 0; i < run->rows; i++, to++) {
            if (i + AHEAD < run->rows)
                for (size_t j = 0; j < r->stride; j += 8)
                    __builtin_prefetch(r->storage.x + to[AHEAD] * r->stride + j, 1);
            design_put(&d->g, &d->scratch[worker], run->first + i * p->rows.width, *to);
        }
    }
}

static void read_part(void *self, unsigned worker, size_t index)
{
    direct *d = self;
    part_extent *own = &d->of[index];
    text_part *p = &d->each[worker];
    if (own->rows == 0 || atomic_load(&d->abandoned)) return;
    chunks_reset(&p->rows);
    part_read(d->s, &d->cut, index, p);
    if (!p->whole || p->kept != own->rows || p->dropped > 0) {
        atomic_store(&d->abandoned, true);
        return;
    }
    own->begin = p->begin;
    own->end = p->end;
    count_entries(d, p);
    put_rows(d, worker, p, d->to + own->before);
    atomic_fetch_add(&d->kept, own->rows);
    report_part(d, worker, index, COUNT_FRACTION, 1.0);
}

/* Returns whether each part began where the one before it ended, and the last ended with the
 * file. */
static bool fits_together(const direct *d)
{
    size_t at = d->cut.first;
    for (size_t k = 0; k < d->parts; k++) {
        if (d->of[k].rows == 0) continue;
        if (d->of[k].begin != at) return false;
        at = d->of[k].end;
    }
    return at == d->cut.size;
}

/* ---- table ---- */

static bool open_scratch(direct *d, unsigned worker)
{
    const formula *f = d->s->schema->formula;
    return !f || scratch_open(f, &d->scratch[worker], NULL) == SBPS_OK;
}

static sbps_status open_threads(direct *d)
{
    d->of = calloc(d->parts, sizeof *d->of);
    d->buffer = malloc(d->threads * SCAN_BYTES);
    d->each = calloc(d->threads, sizeof *d->each);
    d->scratch = calloc(d->threads, sizeof *d->scratch);
    bool ready = d->of && d->buffer && d->each && d->scratch;
    for (unsigned w = 0; ready && w < d->threads; w++)
        ready = part_open(d->s, false, &d->each[w]) && open_scratch(d, w);
    return ready ? SBPS_OK : fail_memory(d->err);
}

static void close_threads(direct *d)
{
    for (unsigned w = 0; d->each && w < d->threads; w++) part_close(&d->each[w]);
    for (unsigned w = 0; d->scratch && w < d->threads; w++) scratch_close(&d->scratch[w]);
    free(d->scratch);
    free(d->each);
    free(d->buffer);
    free(d->of);
    free(d->to);
}

/* Finds the places of n rows and allocates the table. */
static sbps_status allocate_table(direct *d, size_t n)
{
    rows *r = d->g.r;
    r->local_rows = n;
    r->table.seed = d->spec->seed;
    bool counted = storage_depends(d->spec) && !d->s->schema->formula;
    d->max_entries = counted ? storage_max_entries(r) : -1.0;
    r->table.in_order = d->spec->in_order;
    d->to = r->table.in_order ? same_places(n) : shuffled_places(d->spec->seed, n, d->threads);
    return d->to ? design_allocate(&d->g, (double)n * sizeof *d->to, d->err)
                 : fail_memory(d->err);
}

static sbps_status finish(direct *d)
{
    sbps_status status = design_finish(&d->g, d->err);
    bool single = storage_of(d->spec, d->g.r->stride, NAN) == &storage_float;
    return status == SBPS_OK && single ? design_to_floats(&d->g, d->err) : status;
}

static bool is_sparse(const direct *d)
{
    return storage_depends(d->spec) && (double)atomic_load(&d->entries) <= d->max_entries;
}

static sbps_status read_all(direct *d, bool *done)
{
    sbps_status status = workers_run(d->threads, d->parts, count_part, d, d->err);
    size_t n = add_up(d);
    if (status != SBPS_OK || d->status != SBPS_OK || atomic_load(&d->abandoned) || n < 2)
        return status == SBPS_OK ? d->status : status;
    if ((status = allocate_table(d, n)) != SBPS_OK) return status;
    status = workers_run(d->threads, d->parts, read_part, d, d->err);
    if (status != SBPS_OK || d->status != SBPS_OK)
        return status == SBPS_OK ? d->status : status;
    *done = !atomic_load(&d->abandoned) && fits_together(d) && !is_sparse(d);
    return *done ? finish(d) : SBPS_OK;
}

/* Returns whether the file may be read this way. */
static bool is_plain(const row_source *s, const rows_spec *spec, size_t size)
{
    const column_schema *p = s->schema;
    bool large = size >= DIRECT_MIN || spec->part_bytes > 0;
    bool sparse = storage_of(spec, 0, INFINITY) == &storage_sparse;
    return large && !sparse && !formula_needs_all_rows(p->formula) && p->categories == 0 &&
           s->names.filled >= PACK_BELOW && storage_check(spec, NULL) == SBPS_OK;
}

/* Returns the end of the rows, without blank lines at the end, which are no records. */
static size_t end_of_rows(int file, size_t size)
{
    char tail[TAIL_BYTES];
    size_t want = size < TAIL_BYTES ? size : TAIL_BYTES, begin = size - want, n = want;
    if (pread(file, tail, want, (off_t)begin) != (ssize_t)want) return size;
    while (n > 0 && memchr(" \t\r\n", tail[n - 1], 4)) n--;
    const char *newline = n > 0 ? memchr(tail + n, '\n', want - n) : NULL;
    return newline ? begin + (size_t)(newline - tail) + 1 : size;
}

size_t bytes_of_rows(const row_source *s)
{
    struct stat about;
    if (!text_file_divides(s->source) || fstat(s->source->file, &about) != 0) return 0;
    return end_of_rows(s->source->file, (size_t)about.st_size);
}

sbps_status direct_read(const row_source *s, const rows_spec *spec, rows **out, bool *done,
                        sbps_error *err)
{
    direct d = {.s = s, .spec = spec, .threads = reading_threads(spec), .err = err};
    d.cut = (part_layout){.first = text_file_offset(s->source),
                          .size = bytes_of_rows(s),
                          .bytes = spec->part_bytes ? spec->part_bytes : PART_BYTES};
    *done = false;
    if (d.cut.size <= d.cut.first || !is_plain(s, spec, d.cut.size)) return SBPS_OK;
    d.parts = part_count(&d.cut);
    if (d.threads > d.parts) d.threads = (unsigned)d.parts;
    sbps_status status = design_open(s->schema, spec, NULL, &d.g, err);
    if (status == SBPS_OK) status = open_threads(&d);
    if (status == SBPS_OK) status = read_all(&d, done);
    if (status == SBPS_OK && *done) {
        *out = d.g.r;
        d.g.r = NULL;
    }
    close_threads(&d);
    design_close(&d.g);
    return status;
}

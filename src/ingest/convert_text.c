/* Writes tables to disk.
 *
 *   text -> rows as read -> shuffle (on disk) -> design matrix in the mapped file -> header
 *
 * There are two passes over the rows, because the levels of categories, and with them the
 * columns, are known only after the last row. The design is built by the same code as in
 * memory, in arrays that are mapped from the file. The space on disk is allocated first,
 * because a write to a mapped page cannot report a full disk. x is the last mapped section, so
 * that it can shrink (floats). Entries of sparse rows are counted while they are read, those of
 * categories from the schema, so that their space is known, too.
 *
 * The rows of a group must be consecutive, in whatever order they are in the text. So a table
 * with groups is built in memory as for a run, and then copied to the file. */
#include "ingest/convert_text.h"

#include "core/memory.h"
#include "core/text.h"
#include "ingest/design/design_matrix.h"
#include "ingest/design/shuffle_stream.h"
#include "ingest/design/storage.h"
#include "ingest/ingest.h"
#include "ingest/text/parts.h"
#include "table/mapped_table.h"
#include "table/row_groups.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WATCH_ROWS ((size_t)16384) /* rows between two progress reports */

static sbps_status fail_written(const table_job *job, int error, sbps_error *err)
{
    return fail(err, SBPS_NO_FILE, "%s: cannot be written: %s", job->to,
                strerrordesc_np(error));
}

/* Returns whether the user requested this storage. */
static bool storage_is(const rows_spec *spec, const char *storage)
{
    return spec->storage && !strcmp(spec->storage, storage);
}

/* Reports progress; returns false if the user requested a stop. */
static bool watch(const table_job *job, const char *stage, size_t rows_done, double fraction)
{
    return !job->watch || job->watch(job->self, stage, rows_done, fraction);
}

static sbps_status fail_stopped(const table_job *job, sbps_error *err)
{
    return fail(err, SBPS_INTERRUPTED, "%s: not written: stopped on request", job->to);
}

/* ---- reading ---- */

/* The first pass: rows go to the shuffle until the text ends or the user requests a stop. */
typedef struct {
    const table_job *job;
    shuffle_stream *to;
    bool stopped; /* the callback requested it */
} reading;

/* The rows_spec callback of the first pass; remembers a requested stop. */
static bool watch_reading(void *self, const char *stage, size_t rows_done, double fraction)
{
    reading *r = self;
    r->stopped = !watch(r->job, stage, rows_done, fraction);
    return !r->stopped;
}

/* A row_taker: adds rows to the shuffle. */
static sbps_status shuffle_rows(void *self, chunks *read, sbps_error *err)
{
    reading *r = self;
    return shuffle_stream_add(r->to, read, err);
}

/* Reads all rows into the shuffle. */
static sbps_status read_into_shuffle(const table_job *job, const file_list *files,
                                     const rows_spec *spec, column_types *types, row_source *s,
                                     shuffle_stream *to, sbps_error *err)
{
    reading r = {.job = job, .to = to};
    rows_spec watched = *spec;
    const row_taker taker = {shuffle_rows, &r, to->packed};
    watched.watch = watch_reading;
    watched.watcher = &r;
    if (!watch_reading(&r, "reading", 0, 0.0)) return fail_stopped(job, err);
    sbps_status status = table_files_read(files, &watched, types, s, &taker, err);
    return r.stopped ? fail_stopped(job, err) : status;
}

/* ---- text section ---- */

/* Returns a comma list of the features, which the caller frees; NULL: no memory. */
static char *feature_list(const column_schema *p)
{
    text list = {0};
    for (size_t f = 0; f < p->features; f++)
        text_add(&list, "%s%s", f ? "," : "", p->columns->name[p->feature[f]]);
    return text_take(&list);
}

/* Returns the name of a column, "" for none (SIZE_MAX). */
static const char *column_name(const column_schema *p, size_t column)
{
    return column == SIZE_MAX ? "" : p->columns->name[column];
}

/* Returns all strings of the text section (table/mapped_table.h), which the caller frees; NULL:
 * no memory. */
static char *make_text(const design *g, size_t *size)
{
    const column_schema *p = g->schema;
    text all = {0};
    char *features = table_list(g->spec->features), *used = feature_list(p),
         *categories = table_list(g->spec->categorical);
    const char *const strings[TEXTS] = {
        [TEXT_TARGET] = g->r->table.target,
        [TEXT_FEATURES] = features,
        [TEXT_COLUMNS] = used,
        [TEXT_CATEGORICAL] = categories,
        [TEXT_WEIGHTS] = column_name(p, p->weight),
        [TEXT_OFFSET] = column_name(p, p->offset),
    };
    all.failed = !features || !used || !categories;
    for (size_t i = 0; !all.failed && i < TEXTS + g->r->d; i++) {
        const char *string = i < TEXTS ? strings[i] : g->r->table.names[i - TEXTS];
        text_bytes(&all, string, strlen(string) + 1);
    }
    /* Notes and labels. */
    const char *notes = g->r->table.notes ? g->r->table.notes : "";
    text_bytes(&all, notes, strlen(notes) + 1);
    for (size_t k = 0; k < g->r->table.label_count; k++)
        text_bytes(&all, g->r->table.labels[k], strlen(g->r->table.labels[k]) + 1);
    *size = all.length;
    free(features);
    free(used);
    free(categories);
    return text_take(&all);
}

/* ---- layout ---- */

/* Returns a header with all sections before the rows. */
static table_header begin_header(const design *g, size_t n, size_t text_size)
{
    const rows *r = g->r;
    uint64_t row_bytes = n * sizeof(double), column_bytes = r->d * sizeof(double);
    table_header h = {.version = TABLE_VERSION_DESIGN,
                      .bytes = TABLE_PAGE,
                      .rows = n,
                      .columns = r->d,
                      .stride = r->stride,
                      .seed = g->spec->seed};
    memcpy(h.magic, TABLE_MAGIC, sizeof h.magic);
    if (r->intercept) h.flags |= TABLE_INTERCEPT;
    if (g->spec->standardize) h.flags |= TABLE_STANDARDIZED;
    h.section[SECTION_Y] = table_add_section(&h, row_bytes);
    h.section[SECTION_WEIGHT] =
        table_add_section(&h, g->schema->weight_slot == SIZE_MAX ? 0 : row_bytes);
    h.section[SECTION_OFFSET] =
        table_add_section(&h, g->schema->offset_slot == SIZE_MAX ? 0 : row_bytes);
    h.section[SECTION_MEAN] = table_add_section(&h, column_bytes);
    h.section[SECTION_SD] = table_add_section(&h, column_bytes);
    h.section[SECTION_TEXT] = table_add_section(&h, text_size);
    return h;
}

/* Chooses the storage and adds the sections of the rows; floats are first written as
 * doubles. */
static void add_row_sections(table_header *h, design *g, const shuffle_stream *w)
{
    bool by_formula = g->schema->formula; /* its entries cannot be counted in advance */
    size_t count = by_formula ? 0 : shuffle_stream_entries(w, g);
    double each = by_formula ? INFINITY : (double)count / (double)h->rows;
    g->r->storage.kind = storage_of(g->spec, g->r->stride, each);
    if (g->r->storage.kind == &storage_sparse) {
        /* Sections of sparse rows, which replace x. */
        h->entries[ENTRIES_START] = table_add_section(h, (h->rows + 1) * sizeof(uint64_t));
        h->entries[ENTRIES_COLUMN] = table_add_section(h, count * sizeof(uint32_t));
        h->entries[ENTRIES_VALUE] = table_add_section(h, w->ones ? 0 : count * sizeof(double));
    } else {
        g->r->storage.kind = &storage_double;
        h->section[SECTION_X] = table_add_section(h, h->rows * h->stride * sizeof(double));
    }
}

/* Allocates the file, maps it, and makes its sections the arrays of the design. */
static sbps_status map_design(const table_job *job, const table_header *h, design *g,
                              sbps_error *err)
{
    rows *r = g->r;
    int error;
    /* Not ftruncate: a sparse file would fail later, with SIGBUS at a full disk. */
    do error = posix_fallocate(job->file, 0, (off_t)h->bytes);
    while (error == EINTR);
    if (error) return fail_written(job, error, err);
    r->storage.mapped = calloc(1, sizeof *r->storage.mapped);
    if (!r->storage.mapped) return fail_memory(err);
    r->storage.mapped->file = -1;
    void *base = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job->file, 0);
    if (base == MAP_FAILED) return fail_written(job, errno, err);
    r->storage.mapped->base = base;
    r->storage.mapped->size = h->bytes;
    madvise(base, h->bytes, MADV_SEQUENTIAL);
    r->local_rows = h->rows;
    if (r->storage.kind == &storage_sparse)
        table_show_entries(h, base, r);
    else
        r->storage.x = table_at(h, base, SECTION_X);
    r->y = table_at(h, base, SECTION_Y);
    r->weight = table_at(h, base, SECTION_WEIGHT);
    r->offset = table_at(h, base, SECTION_OFFSET);
    r->table.mean = new_doubles(r->d);
    r->table.sd = new_doubles(r->d);
    return r->table.mean && r->table.sd ? SBPS_OK : fail_memory(err);
}

/* ---- rows ---- */

/* The second pass: rows come out of the shuffle in their final order. */
typedef struct {
    const table_job *job;
    const design *g;
    const shuffle_stream *through;
    entries *each; /* scratch for a sparse row */
    formula_scratch scratch;
    size_t next; /* number of the next row */
} filling;

/* Writes the next shuffled row; returns false if the user requested a stop. */
static bool put_next(void *self, const double *record)
{
    filling *f = self;
    const design *g = f->g;
    if (f->next % WATCH_ROWS == 0 &&
        !watch(f->job, "shuffling", f->next, (double)f->next / (double)g->r->local_rows))
        return false;
    const double *row = shuffle_stream_row(f->through, record);
    if (g->r->storage.start) {
        put_targets(g, row, f->next);
        g->r->storage.start[f->next + 1] =
            g->r->storage.start[f->next] + sparse_put(g, row, f->next, f->each);
    } else
        design_put(g, &f->scratch, row, f->next);
    f->next++;
    return true;
}

/* Writes all rows, checks the design and changes it to floats if requested. */
static sbps_status write_shuffled_rows(const table_job *job, design *g, const shuffle_stream *w,
                                       sbps_error *err)
{
    bool all = true;
    entries each = {0};
    filling f = {.job = job, .g = g, .through = w, .each = &each};
    sbps_status status = entries_open(g, 1, &each, err);
    if (status == SBPS_OK && g->schema->formula)
        status = scratch_open(g->schema->formula, &f.scratch, err);
    if (status == SBPS_OK) status = shuffle_drain(w->order, put_next, &f, &all, err);
    entries_clear(&each, 1);
    scratch_close(&f.scratch);
    if (status == SBPS_OK && (!all || !watch(job, "checking", f.next, NAN)))
        status = fail_stopped(job, err);
    if (status == SBPS_OK) status = design_finish(g, err);
    if (status == SBPS_OK && storage_is(g->spec, "float")) status = design_to_floats(g, err);
    return status;
}

/* Writes means, standard deviations, text and, last, the header. Dense x, the last mapped
 * section, may have become shorter. */
static void put_rest(table_header *h, const rows *r, const char *strings)
{
    unsigned char *base = r->storage.mapped->base;
    if (!r->storage.start) {
        h->bytes = h->section[SECTION_X].at;
        h->section[SECTION_X] = table_add_section(h, (uint64_t)r->storage.kind->bytes(r));
    }
    if (r->d > 0) {
        memcpy(base + h->section[SECTION_MEAN].at, r->table.mean, r->d * sizeof *r->table.mean);
        memcpy(base + h->section[SECTION_SD].at, r->table.sd, r->d * sizeof *r->table.sd);
    }
    memcpy(base + h->section[SECTION_TEXT].at, strings, h->section[SECTION_TEXT].size);
    h->design = table_add_section(h, strlen(r->table.design) + 1);
    h->design_crc = table_design_crc(r->table.design);
    snprintf(h->storage, sizeof h->storage, "%s", r->storage.kind->name);
    h->hash = r->table.hash;
    h->tail_crc = table_tail_crc(h, base);
    h->crc = table_crc(h);
    memcpy(base, h, sizeof *h);
}

/* The second pass: from shuffled rows to the file. */
static sbps_status write_from_shuffle(const table_job *job, const row_source *s,
                                      const rows_spec *spec, shuffle_stream *w, sbps_error *err)
{
    design g;
    table_header h = {0};
    size_t text_size = 0;
    char *strings = NULL;
    const row_values all = shuffle_stream_values(w);
    sbps_status status = design_open(s->schema, spec, &all, &g, err);
    if (status == SBPS_OK) {
        g.r->local_rows = s->kept;
        g.r->table.dropped = s->dropped;
        status = rows_note_dropped(g.r, s->schema, err);
    }
    if (status == SBPS_OK && !(strings = make_text(&g, &text_size))) status = fail_memory(err);
    if (status == SBPS_OK) {
        h = begin_header(&g, s->kept, text_size);
        add_row_sections(&h, &g, w);
        status = map_design(job, &h, &g, err);
        if (status == SBPS_OK) status = write_shuffled_rows(job, &g, w, err);
        if (status == SBPS_OK) put_rest(&h, g.r, strings);
        if (status == SBPS_OK) {
            size_t size = h.design.size;
            bool written =
                ftruncate(job->file, (off_t)h.bytes) == 0 &&
                pwrite(job->file, g.r->table.design, size, (off_t)h.design.at) == (ssize_t)size;
            status = written ? SBPS_OK : fail_written(job, errno, err);
        }
    }
    free(strings);
    design_close(&g);
    return status;
}

/* ---- tables with groups ---- */

static const char *or_empty(const char *value)
{
    return value ? value : "";
}

/* Returns all strings of the text section (table/mapped_table.h), which the caller frees; NULL:
 * no memory. */
static char *make_grouped_text(const rows *r, const rows_spec *spec, size_t *size)
{
    text all = {0};
    char *categories = table_list(spec->categorical);
    const char *const strings[TEXTS] = {[TEXT_TARGET] = r->table.target,
                                        [TEXT_FEATURES] = "",
                                        [TEXT_COLUMNS] = "",
                                        [TEXT_CATEGORICAL] = categories,
                                        [TEXT_WEIGHTS] = or_empty(spec->weights),
                                        [TEXT_OFFSET] = or_empty(spec->offset)};
    all.failed = !categories;
    for (size_t i = 0; !all.failed && i < TEXTS; i++)
        text_bytes(&all, strings[i], strlen(strings[i]) + 1);
    for (size_t j = 0; j < r->d; j++)
        text_bytes(&all, r->table.names[j], strlen(r->table.names[j]) + 1);
    text_bytes(&all, or_empty(r->table.notes), strlen(or_empty(r->table.notes)) + 1);
    for (size_t k = 0; k < r->table.label_count; k++)
        text_bytes(&all, r->table.labels[k], strlen(r->table.labels[k]) + 1);
    *size = all.length;
    free(categories);
    return text_take(&all);
}

/* Returns the header of a table in memory, with all sections. */
static table_header make_grouped_header(const rows *r, const rows_spec *spec, size_t text_size)
{
    uint64_t row_bytes = r->local_rows * sizeof(double), column_bytes = r->d * sizeof(double);
    table_header h = {.version = TABLE_VERSION_DESIGN,
                      .bytes = TABLE_PAGE,
                      .rows = r->local_rows,
                      .columns = r->d,
                      .stride = r->stride,
                      .hash = r->table.hash,
                      .seed = r->table.seed};
    memcpy(h.magic, TABLE_MAGIC, sizeof h.magic);
    if (r->intercept) h.flags |= TABLE_INTERCEPT;
    if (spec->standardize) h.flags |= TABLE_STANDARDIZED;
    strncpy(h.storage, r->storage.kind->name, sizeof h.storage - 1);
    h.section[SECTION_Y] = table_add_section(&h, row_bytes);
    h.section[SECTION_WEIGHT] = table_add_section(&h, r->weight ? row_bytes : 0);
    h.section[SECTION_OFFSET] = table_add_section(&h, r->offset ? row_bytes : 0);
    h.section[SECTION_MEAN] = table_add_section(&h, column_bytes);
    h.section[SECTION_SD] = table_add_section(&h, column_bytes);
    h.section[SECTION_TEXT] = table_add_section(&h, text_size);
    h.groups =
        table_add_section(&h, groups_write(r->groups, r->local_rows, spec->formula, NULL));
    h.section[SECTION_X] = table_add_section(&h, (uint64_t)r->storage.kind->bytes(r));
    h.design = table_add_section(&h, strlen(r->table.design) + 1);
    h.design_crc = table_design_crc(r->table.design);
    return h;
}

/* Copies all sections to the mapped file and finishes the header. */
static void copy_sections(table_header *h, const rows *r, const rows_spec *spec,
                          const char *strings, unsigned char *base)
{
    const void *from[SECTIONS] = {
        [SECTION_X] = r->storage.x ? (const void *)r->storage.x : r->storage.x_float,
        [SECTION_Y] = r->y,
        [SECTION_WEIGHT] = r->weight,
        [SECTION_OFFSET] = r->offset,
        [SECTION_MEAN] = r->table.mean,
        [SECTION_SD] = r->table.sd,
        [SECTION_TEXT] = strings,
    };
    for (size_t k = 0; k < SECTIONS; k++)
        if (h->section[k].size > 0)
            memcpy(base + h->section[k].at, from[k], h->section[k].size);
    groups_write(r->groups, r->local_rows, spec->formula, base + h->groups.at);
    memcpy(base + h->design.at, r->table.design, h->design.size);
    h->tail_crc = table_tail_crc(h, base);
    h->crc = table_crc(h);
    memcpy(base, h, sizeof *h);
}

/* Writes a table in memory to the file. */
static sbps_status write_rows(const table_job *job, const rows *r, const rows_spec *spec,
                              sbps_error *err)
{
    size_t text_size;
    int error;
    char *strings = make_grouped_text(r, spec, &text_size);
    if (!strings) return fail_memory(err);
    table_header h = make_grouped_header(r, spec, text_size);
    do error = posix_fallocate(job->file, 0, (off_t)h.bytes);
    while (error == EINTR);
    void *base = error ? MAP_FAILED
                       : mmap(NULL, h.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job->file, 0);
    sbps_status status = SBPS_OK;
    if (base == MAP_FAILED)
        status = fail_written(job, error ? error : errno, err);
    else {
        copy_sections(&h, r, spec, strings, base);
        munmap(base, h.bytes);
    }
    free(strings);
    return status;
}

/* Reads the files into memory and writes a table with groups. */
static sbps_status grouped_write(const table_job *job, const file_list *files,
                                 const rows_spec *spec, sbps_error *err)
{
    rows *r;
    rows_spec dense = *spec;
    bool single = spec->storage && !strcmp(spec->storage, "float");
    dense.storage = single ? "float" : "double";
    dense.watch = job->watch;
    dense.watcher = job->self;
    sbps_status status = rows_from_files(files, &dense, &r, err);
    if (status == SBPS_OK) status = write_rows(job, r, spec, err);
    rows_destroy(r);
    return status;
}

/* ---- all ---- */

/* Converts with the types of columns known so far; sets types->changed if a cell contradicts
 * them. */
static sbps_status write_once(const table_job *job, const file_list *files,
                              const rows_spec *spec, column_types *types, sbps_error *err)
{
    row_source s;
    shuffle_stream w = {0};
    sbps_status status = table_files_open(files, spec, types, &s, err);
    if (status == SBPS_OK && s.schema->formula && s.schema->formula->groups > 0) {
        source_close(&s);
        return grouped_write(job, files, spec, err);
    }
    if (status == SBPS_OK)
        status = shuffle_stream_open(&s, spec, job->temp_near, job->memory, &w, err);
    if (status == SBPS_OK) status = read_into_shuffle(job, files, spec, types, &s, &w, err);
    if (status == SBPS_OK) status = write_from_shuffle(job, &s, spec, &w, err);
    shuffle_stream_close(&w);
    status = source_retype(&s, status, err);
    source_close(&s);
    return status;
}

sbps_status table_write(const table_job *job, const rows_spec *spec, sbps_error *err)
{
    column_types types = {0};
    file_list files;
    rows_spec watched = *spec;
    watched.watch = job->watch;
    watched.watcher = job->self;
    sbps_status status = storage_check(spec, err);
    if (status == SBPS_OK && spec->formula && storage_is(spec, "sparse"))
        status =
            fail(err, SBPS_BAD_ARG,
                 "convert: --storage sparse cannot be combined with --formula; use double or "
                 "float");
    if (status != SBPS_OK) return status;
    status = file_list_create(job->from, &watched, &files, err);
    if (status == SBPS_OK) do
            status = write_once(job, &files, spec, &types, err);
        while (column_types_again(&types));
    column_types_clear(&types);
    file_list_clear(&files);
    return status;
}

/* Reads files into a shuffled design matrix:
 *
 *   roles of columns (column_schema.h) -> rows, checked, in chunks -> table
 *
 * A converted table is mapped instead. Ranks read stretches of a large text
 * (distributed_read.h). A single file of plain numbers is read directly into the table
 * (direct_text.h). A file is read again whenever a cell contradicts the type of its column. */
#include "ingest/ingest.h"

#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "ingest/design/direct_text.h"
#include "ingest/design/storage.h"
#include "ingest/distributed/distributed_read.h"
#include "ingest/text/converted.h"
#include "ingest/text/file_list.h"
#include "ingest/text/parts.h"
#include "table/mapped_table.h"

#include <math.h>

/* All rows read so far. */
typedef struct {
    const column_schema *schema;
    chunks *all;
} collector;

/* Appends rows to the collector. All rows exist twice at the end of reading, so it fails early
 * if twice the rows so far do not fit: the number of rows is not known in advance, and Linux
 * kills a process where malloc should have failed. */
static sbps_status collect_chunk(void *self, chunks *read, sbps_error *err)
{
    collector *k = self;
    chunks *all = k->all;
    if (!chunks_move(read, all)) return fail_memory(err);
    return memory_holds(k->schema->path, (double)all->rows, (double)all->width,
                        2 * chunks_bytes(all), err);
}

/* Stores the path and the number of dropped rows in the table; `p`, or NULL, adds which columns
 * they lacked. Destroys the table on failure. */
static sbps_status set_source(rows **r, const char *source, size_t dropped,
                              const column_schema *p, sbps_error *err)
{
    (*r)->table.dropped = dropped;
    (*r)->table.source = copy_text(source);
    sbps_status status = source && !(*r)->table.source ? fail_memory(err) : SBPS_OK;
    if (status == SBPS_OK && p) status = rows_note_dropped(*r, p, err);
    if (status == SBPS_OK) return SBPS_OK;
    rows_destroy(*r);
    *r = NULL;
    return status;
}

/* Reads once, with the types of columns known so far; sets types->changed if a cell contradicts
 * them. */
static sbps_status read_text(const file_list *files, const rows_spec *spec, column_types *types,
                             rows **out, sbps_error *err)
{
    row_source s;
    chunks read = {0};
    bool direct = false;
    const char *path = files->path[0];
    sbps_status status = table_files_open(files, spec, types, &s, err);
    if (status != SBPS_OK) goto done;
    if ((status = storage_fits(s.schema, spec, err)) != SBPS_OK) goto done;
    if (files->count == 1) status = direct_read(&s, spec, out, &direct, err);
    if (status != SBPS_OK) goto done;
    if (direct) {
        status = set_source(out, path, 0, NULL, err);
        goto done;
    }
    chunks_init(&read, s.schema->width, s.names.filled < PACK_BELOW);
    collector all = {s.schema, &read};
    const row_taker taker = {collect_chunk, &all, read.packed};
    if ((status = table_files_read(files, spec, types, &s, &taker, err)) != SBPS_OK) goto done;
    status = design_create(s.schema, spec, &read, out, err);
    if (status == SBPS_OK) status = set_source(out, path, s.dropped, s.schema, err);
done:
    chunks_clear(&read);
    status = source_retype(&s, status, err);
    source_close(&s);
    return status;
}

/* Relays progress so that it never decreases when a file is read again. */
typedef struct {
    const rows_spec *spec;
    size_t rows_done;
    double fraction;
} watch_relay;

/* The callback of a relay: reports the largest values so far; NAN (unknown) is passed on. */
static bool report_furthest(void *self, const char *stage, size_t rows_done, double fraction)
{
    watch_relay *t = self;
    if (rows_done > t->rows_done) t->rows_done = rows_done;
    if (fraction > t->fraction) t->fraction = fraction;
    return t->spec->watch(t->spec->watcher, stage, t->rows_done,
                          isnan(fraction) ? fraction : t->fraction);
}

/* Reads this rank's part of the table, if there are several ranks and the text can be
 * divided. */
static sbps_status read_distributed(const file_list *files, const rows_spec *spec, rows **out,
                                    bool *done, sbps_error *err)
{
    if (!spec->among || spec->among->size == 1) return SBPS_OK;
    sbps_status status = rows_read_distributed(files, spec, out, done, err);
    if (status != SBPS_OK || !*done) return status;
    return set_source(out, files->path[0], (*out)->table.dropped, NULL, err);
}

sbps_status rows_from_files(const file_list *files, const rows_spec *spec, rows **out,
                            sbps_error *err)
{
    column_types types = {0};
    bool done = false;
    *out = NULL;
    watch_relay t = {.spec = spec};
    rows_spec watched = *spec;
    watched.watch = spec->watch ? report_furthest : NULL;
    watched.watcher = &t;
    sbps_status status = read_distributed(files, &watched, out, &done, err);
    if (status != SBPS_OK || done) return status;
    do status = read_text(files, &watched, &types, out, err);
    while (column_types_again(&types));
    column_types_clear(&types);
    return status;
}

sbps_status rows_read(const char *path, const rows_spec *spec, rows **out, sbps_error *err)
{
    file_list files;
    *out = NULL;
    sbps_status status = file_list_create(path, spec, &files, err);
    if (status == SBPS_OK) status = same_files_check(&files, spec->among, err);
    if (status == SBPS_OK && files.count == 1 && table_recognise(files.path[0])) {
        status = converted_read(files.path[0], spec, out, err);
        if (status == SBPS_OK) status = set_source(out, files.path[0], SIZE_MAX, NULL, err);
    } else if (status == SBPS_OK)
        status = rows_from_files(&files, spec, out, err);
    file_list_clear(&files);
    return status;
}

/* A file becomes a shuffled design matrix: columns are planned, rows are checked one by one and kept
 * in chunks, chunks become the table. A converted table is mapped instead. */
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "ingest/design/direct_text.h"
#include "ingest/design/storage.h"
#include "ingest/distributed/distributed_read.h"
#include "ingest/ingest.h"
#include "ingest/text/converted.h"
#include "ingest/text/same_files.h"
#include "ingest/text/table_files.h"
#include "table/mapped_table.h"

#include <math.h>

static sbps_status sign(rows *r, const char *source, size_t dropped, const column_schema *p,
                        sbps_error *err)
{
    r->dropped = dropped;
    r->source = copy_text(source);
    if (source && !r->source) return fail_memory(err);
    return p ? rows_note_dropped(r, p, err) : SBPS_OK;
}

typedef struct {
    const column_schema *schema;
    chunks *all;
} keeper;

/* What is read so far will be there twice before the end. A file's rows cannot be counted beforehand, and
 * Linux kills where malloc should have failed. */
static sbps_status collect_chunk(void *self, chunks *read, sbps_error *err)
{
    keeper *k = self;
    chunks *all = k->all;
    if (!chunks_move(read, all)) return fail_memory(err);
    return memory_holds(k->schema->path, (double)all->rows, (double)all->width,
                        2 * chunks_bytes(all), err);
}

/* Signed, or destroyed; the plan by which it was read, or NULL. */
static sbps_status sign_or_destroy(rows **r, const char *source, size_t dropped,
                                   const column_schema *p, sbps_error *err)
{
    sbps_status status = sign(*r, source, dropped, p, err);
    if (status == SBPS_OK) return SBPS_OK;
    rows_destroy(*r);
    *r = NULL;
    return status;
}

static sbps_status read_map(const char *path, const rows_spec *spec, rows **out,
                            sbps_error *err)
{
    sbps_status status = converted_read(path, spec, out, err);
    return status == SBPS_OK ? sign_or_destroy(out, path, SIZE_MAX, NULL, err) : status;
}

/* Once, with the types of columns `found` so far; more may be found. */
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
        status = sign_or_destroy(out, path, 0, NULL, err);
        goto done;
    }
    chunks_init(&read, s.schema->width, s.names.filled < PACK_BELOW);
    keeper all = {s.schema, &read};
    const row_taker taker = {collect_chunk, &all, read.packed};
    if ((status = table_files_read(files, spec, types, &s, &taker, err)) != SBPS_OK) goto done;
    status = design_create(s.schema, spec, &read, out, err);
    if (status == SBPS_OK) status = sign_or_destroy(out, path, s.dropped, s.schema, err);
done:
    chunks_clear(&read);
    status = source_retype(&s, status, err);
    source_close(&s);
    return status;
}

/* A file that must be read once more is so behind the scene: nobody is told less than before. */
typedef struct {
    const rows_spec *spec;
    size_t rows_done;
    double fraction;
} watch_relay;

static bool report_furthest(void *self, const char *stage, size_t rows_done, double fraction)
{
    watch_relay *t = self;
    if (rows_done > t->rows_done) t->rows_done = rows_done;
    if (fraction > t->fraction) t->fraction = fraction;
    return t->spec->watch(t->spec->watcher, stage, t->rows_done,
                          isnan(fraction) ? fraction : t->fraction);
}

/* By each rank its share, where that can be. */
static sbps_status read_distributed(const file_list *files, const rows_spec *spec, rows **out,
                                    bool *done, sbps_error *err)
{
    if (!spec->among || spec->among->size == 1) return SBPS_OK;
    sbps_status status = rows_read_distributed(files, spec, out, done, err);
    if (status != SBPS_OK || !*done) return status;
    return sign_or_destroy(out, files->path[0], (*out)->dropped, NULL, err);
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
    if (status == SBPS_OK && files.count == 1 && table_recognise(files.path[0]))
        status = read_map(files.path[0], spec, out, err);
    else if (status == SBPS_OK)
        status = rows_from_files(&files, spec, out, err);
    file_list_clear(&files);
    return status;
}

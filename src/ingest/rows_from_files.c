/* Reads files into a shuffled design matrix:
 *
 *   roles of columns (column_schema.h) -> rows, checked, in chunks -> table
 *
 * A converted table is mapped instead. Ranks read stretches of a large text
 * (distributed_read.h). A single file of plain numbers is read directly into the table
 * (direct_text.h). A file is read again whenever a cell contradicts the type of its column. */
#include "core/memory.h"
#include "core/printable.h"
#include "core/ranks/ranks.h"
#include "ingest/design/direct_text.h"
#include "ingest/design/storage.h"
#include "ingest/distributed/distributed_read.h"
#include "ingest/ingest.h"
#include "ingest/schema/chunks.h"
#include "ingest/schema/column_index.h"
#include "ingest/text/file_list.h"
#include "ingest/text/parts.h"
#include "table/mapped_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- converted tables ----
 *
 * Opens a converted table. The options of the conversion stay in force: options of this run
 * must be absent or equal to them. */

#define KEPT_BYTES 32 /* memory that control variates need per row */

char *table_list(const char *list)
{
    size_t capacity = (list ? strlen(list) : 0) + 2;
    char *out = calloc(1, capacity), *name = malloc(capacity), *to = out;
    while (out && name && list && next_in_list(&list, name)) {
        if (to > out) *to++ = ',';
        to = stpcpy(to, name);
    }
    if (!name) {
        free(out);
        out = NULL;
    }
    free(name);
    return out;
}

/* Reports an option that differs from `was`, its value at the conversion; "": it was not
 * given. */
static sbps_status refuse_option(const char *path, const char *option, const char *was,
                                 sbps_error *err)
{
    if (!*was)
        return fail(
            err, SBPS_BAD_ARG,
            "%s: the table was converted without --%s; omit the option here, or convert "
            "again with it",
            path, option);
    return fail(err, SBPS_BAD_ARG,
                "%s: --%s: the table was converted with '%s'; convert again to change it", path,
                option, show_name(was).text);
}

/* Checks an option that lists columns against its value at the conversion, `was` or `also`. */
static sbps_status check_list(const char *path, const char *option, const char *requested,
                              const char *was, const char *also, sbps_error *err)
{
    if (!nonblank_text(requested)) return SBPS_OK;
    char *list = table_list(requested);
    if (!list) return fail_memory(err);
    bool same = !strcmp(list, was) || (also && !strcmp(list, also));
    free(list);
    return same ? SBPS_OK : refuse_option(path, option, *was ? was : also ? also : "", err);
}

/* Checks options that are not lists. */
static sbps_status check_switches(const char *path, const rows *r, const table_making *how,
                                  const rows_spec *spec, sbps_error *err)
{
    if (spec->standardize && !how->standardized)
        return refuse_option(path, "standardize", "", err);
    const char *storage = nonblank_text(spec->storage), *was = r->storage.kind->name;
    if (storage && strcmp(storage, "auto") && strcmp(storage, was))
        return refuse_option(path, "storage", was, err);
    if (spec->needs_doubles && r->storage.kind != &storage_double)
        return fail(err, SBPS_BAD_ARG,
                    "%s: the model needs rows of doubles, but the table was converted with "
                    "--storage %s; convert again with --storage double",
                    path, was);
    if (!spec->intercept && r->intercept) return refuse_option(path, "no-intercept", "", err);
    return SBPS_OK;
}

/* Refuses options that the file does not record. */
static sbps_status check_column_options(const char *path, const rows_spec *spec,
                                        sbps_error *err)
{
    const char *option = nonblank_text(spec->exclude)       ? "exclude"
                         : nonblank_text(spec->reference)   ? "reference"
                         : nonblank_text(spec->success)     ? "success"
                         : nonblank_text(spec->label_order) ? "levels"
                                                            : NULL;
    if (!option) return SBPS_OK;
    return fail(
        err, SBPS_BAD_ARG,
        "%s: --%s: the columns and labels of a converted table are fixed; omit the option "
        "here, or convert again with it",
        path, option);
}

/* Checks all options of `spec`. */
static sbps_status check_spec(const char *path, const rows *r, const table_making *how,
                              const rows_spec *spec, sbps_error *err)
{
    const char *target = how->texts[TEXT_TARGET];
    if (spec->no_target || spec->no_columns)
        return fail(err, SBPS_BAD_ARG,
                    "%s: this model cannot use a converted table, which has a target and "
                    "features; use the text file",
                    path);
    if (nonblank_text(spec->trials))
        return fail(
            err, SBPS_BAD_ARG,
            "%s: --trials: a converted table has none; use the text file, or omit the option",
            path);
    bool same =
        how->formula && nonblank_text(spec->formula) && !strcmp(how->formula, spec->formula);
    if (nonblank_text(spec->formula) && !same)
        return fail(
            err, SBPS_BAD_ARG,
            "%s: --formula: the columns of a converted table are fixed; omit the option "
            "here, or convert again with it",
            path);
    /* `also`: without --features, the features that were used may be listed as well. */
    const struct {
        const char *option, *requested, *was, *also;
    } lists[] = {
        {"target", spec->target, target, NULL},
        {"features", spec->features, how->texts[TEXT_FEATURES], how->texts[TEXT_COLUMNS]},
        {"categorical", spec->categorical, how->texts[TEXT_CATEGORICAL], NULL},
        {"weights", spec->weights, how->texts[TEXT_WEIGHTS], NULL},
        {"offset", spec->offset, how->texts[TEXT_OFFSET], NULL},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        sbps_status status = check_list(path, lists[i].option, lists[i].requested, lists[i].was,
                                        lists[i].also, err);
        if (status != SBPS_OK) return status;
    }
    if (spec->in_order)
        return fail(err, SBPS_BAD_ARG,
                    "%s: --no-shuffle: the rows of a converted table are already shuffled",
                    path);
    sbps_status status = check_column_options(path, spec, err);
    return status == SBPS_OK ? check_switches(path, r, how, spec, err) : status;
}

sbps_status converted_read(const char *path, const rows_spec *spec, rows **out, sbps_error *err)
{
    table_making how;
    sbps_status status = table_map(path, out, &how, err);
    if (status != SBPS_OK) return status;
    /* Rows stay in the file; memory is needed only for what is kept of each row. */
    const rows *r = *out;
    double partitions = spec->partitions ? (double)spec->partitions : 1.0;
    status = check_spec(path, r, &how, spec, err);
    if (status == SBPS_OK)
        status = memory_holds(path, (double)r->local_rows, (double)r->d,
                              KEPT_BYTES * (double)r->local_rows / partitions, err);
    if (status == SBPS_OK) return SBPS_OK;
    rows_destroy(*out);
    *out = NULL;
    return status;
}

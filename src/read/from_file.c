/* A file becomes a shuffled design matrix: columns are planned, rows are checked one by one and kept
 * in chunks, chunks become the table. A converted table is mapped instead. */
#include "base/memory.h"
#include "base/printable.h"
#include "data/table.h"
#include "read/converted.h"
#include "read/direct.h"
#include "read/file_list.h"
#include "read/parts.h"
#include "read/storage.h"

#include <math.h>
#include <string.h>

static sbps_status sign(rows *r, const char *source, size_t dropped, const plan *p,
                        sbps_error *err)
{
    r->dropped = dropped;
    r->source = copy_text(source);
    if (source && !r->source) return fail_memory(err);
    return p ? rows_tell_dropped(r, p, err) : SBPS_OK;
}

typedef struct {
    const plan *plan;
    chunks *all;
} keeper;

/* What is read so far will be there twice before the end. A file's rows cannot be counted beforehand, and
 * Linux kills where malloc should have failed. */
static sbps_status keep(void *self, chunks *read, sbps_error *err)
{
    keeper *k = self;
    chunks *all = k->all;
    if (!chunks_move(read, all)) return fail_memory(err);
    return memory_holds(k->plan->path, (double)all->rows, (double)all->width,
                        2 * chunks_bytes(all), err);
}

/* Signed, or destroyed; the plan by which it was read, or NULL. */
static sbps_status sign_or_destroy(rows **r, const char *source, size_t dropped, const plan *p,
                                   sbps_error *err)
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
static sbps_status read_text(const char *path, const rows_spec *spec, column_types *found,
                             rows **out, sbps_error *err)
{
    row_source s;
    chunks read = {0};
    bool direct;
    sbps_status status = source_open(path, spec, found, &s, err);
    if (status != SBPS_OK) goto done;
    if ((status = storage_fits(s.plan, spec, err)) != SBPS_OK) goto done;
    if ((status = direct_read(&s, spec, out, &direct, err)) != SBPS_OK) goto done;
    if (direct) {
        status = sign_or_destroy(out, path, 0, NULL, err);
        goto done;
    }
    chunks_init(&read, s.plan->width, s.names.filled < PACK_BELOW);
    keeper all = {s.plan, &read};
    const row_taker taker = {keep, &all, read.packed};
    if ((status = parts_read(&s, spec, &taker, err)) != SBPS_OK) goto done;
    status = design_create(s.plan, spec, &read, out, err);
    if (status == SBPS_OK) status = sign_or_destroy(out, path, s.dropped, s.plan, err);
done:
    chunks_clear(&read);
    status = source_retype(&s, status, err);
    source_close(&s);
    return status;
}

/* ---- several files ---- */

static sbps_status check_same_names(const columns *first, const char *path, const columns *c,
                                    const char *other, sbps_error *err)
{
    for (size_t i = 0; i < c->count; i++) /* as many: their types fit */
        if (strcmp(first->name[i], c->name[i]) != 0)
            return fail(err, SBPS_BAD_FILE, "%s:1: column %zu is '%s', where %s has '%s'",
                        other, i + 1, show_name(c->name[i]).text, path,
                        show_name(first->name[i]).text);
    return SBPS_OK;
}

static sbps_status open_next(const char *path, const rows_spec *spec, column_types *found,
                             const row_source *first, row_source *s, sbps_error *err)
{
    *s = (row_source){0};
    if (table_recognise(path))
        return fail(err, SBPS_BAD_FILE, "%s: a converted table cannot be one of several files",
                    path);
    sbps_status status = source_open(path, spec, found, s, err);
    if (status == SBPS_OK && !s->names.types)
        status = fail(err, SBPS_BAD_FILE, "%s: several files must be CSV", path);
    if (status == SBPS_OK && first)
        status = check_same_names(&first->names, first->source->path, &s->names, path, err);
    s->of_several = true;
    return status;
}

/* All that the first rows of each tell of types, before the first is read. */
static sbps_status look_at_files(const file_list *files, const rows_spec *spec,
                                 column_types *found, sbps_error *err)
{
    row_source first, s;
    sbps_status status = open_next(files->path[0], spec, found, NULL, &first, err);
    for (size_t k = 1; status == SBPS_OK && k < files->count; k++) {
        status = open_next(files->path[k], spec, found, &first, &s, err);
        source_close(&s);
    }
    source_close(&first);
    return status;
}

/* The rows of one file behind those of all before it. */
static sbps_status add_file(const char *path, const rows_spec *spec, column_types *found,
                            row_source *first, chunks *all, sbps_error *err)
{
    row_source s;
    chunks read = {0};
    sbps_status status = open_next(path, spec, found, first, &s, err);
    if (status == SBPS_OK) {
        chunks_init(&read, s.plan->width, false);
        keeper own = {s.plan, &read};
        const row_taker taker = {keep, &own, false};
        status = parts_read(&s, spec, &taker, err);
    }
    if (status == SBPS_OK &&
        !(plan_join(first->plan, s.plan, &read) && chunks_move(&read, all)))
        status = fail_memory(err);
    first->kept += s.kept;
    first->dropped += s.dropped;
    chunks_clear(&read);
    status = source_retype(&s, status, err);
    source_close(&s);
    return status;
}

/* Each with a plan of its own, whose levels become those of a plan for all. */
static sbps_status read_several(const file_list *files, const rows_spec *spec,
                                column_types *found, rows **out, sbps_error *err)
{
    row_source first = {0};
    chunks all = {0};
    sbps_status status = look_at_files(files, spec, found, err);
    if (status != SBPS_OK) return status;
    status = open_next(files->path[0], spec, found, NULL, &first, err);
    if (status == SBPS_OK) status = storage_fits(first.plan, spec, err);
    if (status == SBPS_OK) chunks_init(&all, first.plan->width, false);
    for (size_t k = 0; status == SBPS_OK && k < files->count; k++)
        status = add_file(files->path[k], spec, found, &first, &all, err);
    const char *path = files->path[0];
    if (status == SBPS_OK) status = check_row_count(path, first.kept, first.dropped, err);
    if (status == SBPS_OK) status = design_create(first.plan, spec, &all, out, err);
    if (status == SBPS_OK) status = sign_or_destroy(out, path, first.dropped, first.plan, err);
    chunks_clear(&all);
    source_close(&first);
    return status;
}

/* A file that must be read once more is so behind the scene: nobody is told less than before. */
typedef struct {
    const rows_spec *spec;
    size_t rows_done;
    double share;
} telling;

static bool tell(void *self, const char *stage, size_t rows_done, double share)
{
    telling *t = self;
    if (rows_done > t->rows_done) t->rows_done = rows_done;
    if (share > t->share) t->share = share;
    return t->spec->watch(t->spec->watcher, stage, t->rows_done,
                          isnan(share) ? share : t->share);
}

static sbps_status read_files(const file_list *files, const rows_spec *spec, rows **out,
                              sbps_error *err)
{
    column_types found = {0};
    sbps_status status;
    telling t = {.spec = spec};
    rows_spec told = *spec;
    told.watch = spec->watch ? tell : NULL;
    told.watcher = &t;
    do
        status = files->count > 1 ? read_several(files, &told, &found, out, err)
                                  : read_text(files->path[0], &told, &found, out, err);
    while (column_types_again(&found));
    column_types_clear(&found);
    return status;
}

sbps_status rows_read(const char *path, const rows_spec *spec, rows **out, sbps_error *err)
{
    file_list files;
    *out = NULL;
    sbps_status status = file_list_create(path, &files, err);
    if (status == SBPS_OK && files.count == 1 && table_recognise(files.path[0]))
        status = read_map(files.path[0], spec, out, err);
    else if (status == SBPS_OK)
        status = read_files(&files, spec, out, err);
    file_list_clear(&files);
    return status;
}

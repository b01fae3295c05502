/* Where a rank's first record begins is a guess, unless a file does: behind the first line break. Whether it was right is
 * known when the rank before says where its last record ended. */
#include "ingest/distributed/partition_cursor.h"

#include "ingest/text/part.h"

static size_t position_of(const partition_cursor *c)
{
    size_t byte = text_file_offset(c->now.source), start = c->cut->start[c->file];
    return c->cut->base[c->file] + (byte > start ? byte - start : 0);
}

/* To the first record that begins in the stretch; false: none does in this file. */
static bool find_first(partition_cursor *c)
{
    const text_partition *cut = c->cut;
    text_file *t = c->now.source;
    if (cut->from <= cut->base[c->file]) return true;
    size_t from = text_partition_byte(cut, c->file, cut->from);
    bool found = part_find_line(t, from, text_partition_byte(cut, c->file, cut->to));
    t->line = 1 + c->breaks + (text_file_offset(t) > from);
    return found;
}

static sbps_status open_file(partition_cursor *c, bool *there, sbps_error *err)
{
    sbps_status status =
        table_file_open(&c->files->input[c->file], c->spec, c->types, c->first, &c->now, err);
    c->open = true;
    *there = status == SBPS_OK && find_first(c);
    if (!*there) return status;
    if (!c->begun) c->begin = c->at = position_of(c);
    c->begun = true;
    return SBPS_OK;
}

/* How far this file is becomes how far this look is, and that how far everything is. */
static bool report_position(void *self, const char *stage, size_t rows_done, double fraction)
{
    const partition_cursor *c = self;
    const text_partition *cut = c->cut;
    double position = (double)position_of(c), all = (double)(cut->to - cut->from);
    (void)fraction;
    return c->spec->watch(c->spec->watcher, stage, c->kept + rows_done,
                          c->progress_base + c->more * (position - (double)cut->from) / all);
}

/* The plan of all files speaks of this one meanwhile. */
static sbps_status read_file(partition_cursor *c, size_t stop, const row_taker *to,
                             sbps_error *err)
{
    column_schema *own = c->now.schema;
    rows_spec watched = *c->spec;
    watched.watch = c->spec->watch ? report_position : NULL;
    watched.watcher = c;
    const char *path = c->schema->path;
    c->now.schema = c->schema;
    c->schema->path = c->now.source->path;
    sbps_status status = parts_read_to(&c->now, &watched, stop, to, err);
    c->schema->path = path;
    c->now.schema = own;
    c->at = position_of(c);
    return status;
}

static void close_file(partition_cursor *c)
{
    c->kept += c->now.kept;
    c->dropped += c->now.dropped;
    source_close(&c->now);
    c->now = (row_source){0};
    c->open = false;
}

/* Until the stop, or the end of what this rank has of the file. */
static sbps_status read_on(partition_cursor *c, size_t stop, const row_taker *to,
                           sbps_error *err)
{
    const text_partition *cut = c->cut;
    size_t k = c->file, end = text_partition_byte(cut, k, cut->to);
    bool there = true, last;
    sbps_status status = c->open ? SBPS_OK : open_file(c, &there, err);
    if (status == SBPS_OK && there)
        status = read_file(c, text_partition_byte(cut, k, stop), to, err);
    if (status != SBPS_OK && c->learns && c->now.source)
        status = source_retype(&c->now, status, err);
    if (status != SBPS_OK) return status;
    last = !there || text_file_offset(c->now.source) >= end;
    if (last && there && end == cut->size[k])
        c->broken = c->broken || text_file_offset(c->now.source) != end;
    if (last) close_file(c);
    if (last) c->file++;
    return SBPS_OK;
}

sbps_status partition_cursor_read(partition_cursor *c, size_t stop, const row_taker *to,
                                  sbps_error *err)
{
    const text_partition *cut = c->cut;
    sbps_status status = SBPS_OK;
    if (stop > cut->to) stop = cut->to;
    if (!c->open && c->file == 0) c->file = text_partition_file(cut, cut->from);
    while (status == SBPS_OK && c->file < cut->files && cut->base[c->file] < stop) {
        size_t file = c->file, at = c->at;
        if (c->open && at >= stop) break;
        status = read_on(c, stop, to, err);
        c->broken = c->broken || (c->open && c->file == file && c->at == at);
        if (c->broken) break;
    }
    return status;
}

void partition_cursor_close(partition_cursor *c)
{
    if (c->open) close_file(c);
}

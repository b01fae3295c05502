/* Where a rank's first record begins is a guess, unless a file does: behind the first line break. Whether it was right is
 * known when the rank before says where its last record ended. */
#include "read/share_cursor.h"

#include "read/part.h"

static size_t position_of(const share_cursor *c)
{
    size_t byte = text_file_offset(c->now.source), start = c->cut->start[c->file];
    return c->cut->base[c->file] + (byte > start ? byte - start : 0);
}

/* To the first record that begins in the stretch; false: none does in this file. */
static bool find_first(share_cursor *c)
{
    const share_cut *cut = c->cut;
    text_file *t = c->now.source;
    if (cut->from <= cut->base[c->file]) return true;
    size_t from = share_cut_byte(cut, c->file, cut->from);
    bool found = part_find_line(t, from, share_cut_byte(cut, c->file, cut->to));
    t->line = 1 + c->breaks + (text_file_offset(t) > from);
    return found;
}

static sbps_status open_file(share_cursor *c, bool *there, sbps_error *err)
{
    sbps_status status =
        table_file_open(&c->files->input[c->file], c->spec, c->found, c->first, &c->now, err);
    c->open = true;
    *there = status == SBPS_OK && find_first(c);
    if (!*there) return status;
    if (!c->begun) c->begin = c->at = position_of(c);
    c->begun = true;
    return SBPS_OK;
}

/* How far this file is becomes how far this look is, and that how far everything is. */
static bool tell(void *self, const char *stage, size_t rows_done, double share)
{
    const share_cursor *c = self;
    const share_cut *cut = c->cut;
    double position = (double)position_of(c), all = (double)(cut->to - cut->from);
    (void)share;
    return c->spec->watch(c->spec->watcher, stage, c->kept + rows_done,
                          c->told + c->more * (position - (double)cut->from) / all);
}

/* The plan of all files speaks of this one meanwhile. */
static sbps_status read_file(share_cursor *c, size_t stop, const row_taker *to, sbps_error *err)
{
    plan *own = c->now.plan;
    rows_spec watched = *c->spec;
    watched.watch = c->spec->watch ? tell : NULL;
    watched.watcher = c;
    const char *path = c->plan->path;
    c->now.plan = c->plan;
    c->plan->path = c->now.source->path;
    sbps_status status = parts_read_to(&c->now, &watched, stop, to, err);
    c->plan->path = path;
    c->now.plan = own;
    c->at = position_of(c);
    return status;
}

static void close_file(share_cursor *c)
{
    c->kept += c->now.kept;
    c->dropped += c->now.dropped;
    source_close(&c->now);
    c->now = (row_source){0};
    c->open = false;
}

/* Until the stop, or the end of what this rank has of the file. */
static sbps_status read_on(share_cursor *c, size_t stop, const row_taker *to, sbps_error *err)
{
    const share_cut *cut = c->cut;
    size_t k = c->file, end = share_cut_byte(cut, k, cut->to);
    bool there = true, last;
    sbps_status status = c->open ? SBPS_OK : open_file(c, &there, err);
    if (status == SBPS_OK && there)
        status = read_file(c, share_cut_byte(cut, k, stop), to, err);
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

sbps_status share_cursor_read(share_cursor *c, size_t stop, const row_taker *to,
                              sbps_error *err)
{
    const share_cut *cut = c->cut;
    sbps_status status = SBPS_OK;
    if (stop > cut->to) stop = cut->to;
    if (!c->open && c->file == 0) c->file = share_cut_file(cut, cut->from);
    while (status == SBPS_OK && c->file < cut->files && cut->base[c->file] < stop) {
        size_t file = c->file, at = c->at;
        if (c->open && at >= stop) break;
        status = read_on(c, stop, to, err);
        c->broken = c->broken || (c->open && c->file == file && c->at == at);
        if (c->broken) break;
    }
    return status;
}

void share_cursor_close(share_cursor *c)
{
    if (c->open) close_file(c);
}

/* Divides the text of a table among ranks.
 *
 * Stretch boundaries are arbitrary bytes. The first record of a stretch is assumed to begin
 * after its first line break, unless a file begins there. The assumption is verified
 * afterwards: the last record of the rank before must end at that byte. */
#include "ingest/distributed/text_partition.h"

#include "core/text.h"
#include "ingest/design/direct_text.h"
#include "ingest/text/parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- measuring and dividing ---- */

/* Measures file k; sets *divides to false if it cannot be divided. */
static sbps_status measure_file(const file_list *files, size_t k, const rows_spec *spec,
                                column_types *types, const row_source *first, text_partition *c,
                                bool *divides, sbps_error *err)
{
    row_source s;
    sbps_status status = table_file_open(&files->input[k], spec, types, first, &s, err);
    if (status == SBPS_OK) {
        size_t size = bytes_of_rows(&s);
        c->start[k] = text_file_offset(s.source);
        c->size[k] = size > c->start[k] ? size : c->start[k];
        *divides = *divides && size > 0;
    }
    source_close(&s);
    return status;
}

/* Sends the measures of rank 0 to all ranks and computes the stretch of this rank. */
static void broadcast_measures(text_partition *c, ranks *among, bool divides)
{
    size_t bytes = c->files * sizeof *c->start, whole;
    unsigned char cut = divides;
    ranks_broadcast(among, 0, &cut, sizeof cut);
    ranks_broadcast(among, 0, c->start, bytes);
    ranks_broadcast(among, 0, c->size, bytes);
    for (size_t k = 0; cut && k < c->files; k++)
        c->base[k + 1] = c->base[k] + c->size[k] - c->start[k];
    whole = c->base[c->files];
    /* whole * rank / size without overflow */
    c->from =
        whole / among->size * among->rank + whole % among->size * among->rank / among->size;
    c->to = whole / among->size * (among->rank + 1) +
            whole % among->size * (among->rank + 1) / among->size;
}

sbps_status text_partition_open(const file_list *files, const rows_spec *spec,
                                column_types *types, const row_source *first, text_partition *c,
                                sbps_error *err)
{
    sbps_status status = SBPS_OK;
    bool divides = false;
    *c = (text_partition){.files = files->count,
                          .start = calloc(files->count, sizeof *c->start),
                          .size = calloc(files->count, sizeof *c->size),
                          .base = calloc(files->count + 1, sizeof *c->base)};
    if (!c->start || !c->size || !c->base) return fail_memory(err);
    if (spec->among->rank == 0) {
        divides = true;
        for (size_t k = 0; status == SBPS_OK && divides && k < files->count; k++)
            status = measure_file(files, k, spec, types, first, c, &divides, err);
    }
    if (status == SBPS_OK) broadcast_measures(c, spec->among, divides);
    return status;
}

void text_partition_close(text_partition *c)
{
    free(c->start);
    free(c->size);
    free(c->base);
    *c = (text_partition){0};
}

size_t text_partition_bytes(const text_partition *c)
{
    return c->base[c->files];
}

size_t text_partition_file(const text_partition *c, size_t position)
{
    size_t low = 0, high = c->files;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->base[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t text_partition_byte(const text_partition *c, size_t k, size_t position)
{
    if (position >= c->base[k + 1]) return c->size[k];
    return c->start[k] + (position > c->base[k] ? position - c->base[k] : 0);
}

/* ---- lines ---- */

/* Counts the line breaks of file k in this rank's stretch; the header belongs to the first row
 * of the file. */
static sbps_status count_own_breaks(const text_partition *c, const file_list *files, size_t k,
                                    size_t *count, sbps_error *err)
{
    size_t from = c->from <= c->base[k] ? 0 : text_partition_byte(c, k, c->from);
    if (c->to <= c->base[k]) return SBPS_OK;
    int file = text_input_open(&files->input[k]);
    char *buffer = malloc(SCAN_BYTES);
    bool done = file >= 0 && buffer &&
                count_breaks(file, from, text_partition_byte(c, k, c->to), buffer, count);
    free(buffer);
    if (file >= 0) close(file);
    return done ? SBPS_OK : fail(err, SBPS_NO_FILE, "%s: cannot be read", files->path[k]);
}

sbps_status text_partition_breaks(const text_partition *c, const file_list *files, ranks *among,
                                  size_t *breaks, sbps_error *err)
{
    size_t own = text_partition_file(c, c->from), next = text_partition_file(c, c->to),
           count = 0;
    uint64_t *all = calloc(2 * among->size, sizeof *all);
    sbps_status status = all ? count_own_breaks(c, files, next, &count, err) : fail_memory(err);
    if (status == SBPS_OK) {
        const uint64_t mine[2] = {next, count};
        ranks_gather(among, mine, all, sizeof mine);
    }
    *breaks = 0;
    for (size_t r = 0; status == SBPS_OK && r < among->rank; r++)
        if (all[2 * r] == own) *breaks += all[2 * r + 1];
    free(all);
    return status;
}

/* ---- reading a stretch ---- */

/* Returns the position of the cursor in the open file. */
static size_t position_of(const partition_cursor *c)
{
    size_t byte = text_file_offset(c->now.source), start = c->cut->start[c->file];
    return c->cut->base[c->file] + (byte > start ? byte - start : 0);
}

/* Moves to the first record of the open file that begins in the stretch; returns whether there
 * is one. */
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

/* Opens the current file at its first record of the stretch; *there is whether it has one. */
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

/* Reports progress: the position in the stretch, as a fraction of all passes. */
static bool report_position(void *self, const char *stage, size_t rows_done, double fraction)
{
    const partition_cursor *c = self;
    const text_partition *cut = c->cut;
    double position = (double)position_of(c), all = (double)(cut->to - cut->from);
    (void)fraction;
    return c->spec->watch(c->spec->watcher, stage, c->kept + rows_done,
                          c->progress_base + c->more * (position - (double)cut->from) / all);
}

/* Reads the open file up to the byte `stop` with the cursor's schema, whose path is that of
 * this file meanwhile. */
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

/* Adds the counts of the open file to those of the cursor and closes it. */
static void close_file(partition_cursor *c)
{
    c->kept += c->now.kept;
    c->dropped += c->now.dropped;
    source_close(&c->now);
    c->now = (row_source){0};
    c->open = false;
}

/* Reads the current file up to the position `stop` or the end of the stretch, and closes it
 * there. */
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

/* ---- reports of ranks ----
 *
 * Combines the reports, types, errors and levels of ranks. Messages are small: a few numbers
 * per rank, types of columns, levels. */

/* ---- reports ---- */

/* Checks that stretches fit together up to the first error, and adds up the counts. */
static void combine_reports(const partition_report *all, size_t size, size_t rank, size_t bytes,
                            partition_verdict *out)
{
    uint64_t at = 0;
    *out = (partition_verdict){.fits = true, .trouble = size};
    for (size_t r = 0; out->trouble == size && r < size; r++) {
        const partition_report *of = &all[r];
        if (r == rank) out->before = out->kept;
        /* A rank without records, as when a record spans its stretch, fits anywhere. */
        if (of->begin < of->end || of->trouble) out->fits = out->fits && of->begin == at;
        out->fits = out->fits && !of->broken;
        if (of->begin < of->end) at = of->end;
        if (of->trouble) out->trouble = r;
        out->kept += of->kept;
        out->dropped += of->dropped;
        out->numbers += of->numbers;
    }
    if (out->trouble == size) out->fits = out->fits && at == bytes;
}

sbps_status partition_compare(ranks *among, const partition_report *own, size_t bytes,
                              partition_verdict *out, sbps_error *err)
{
    partition_report *all = calloc(among->size, sizeof *all);
    if (!all) return fail_memory(err);
    ranks_gather(among, own, all, sizeof *own);
    combine_reports(all, among->size, among->rank, bytes, out);
    free(all);
    return SBPS_OK;
}

/* ---- errors ---- */

sbps_status partition_broadcast(ranks *among, size_t from, column_types *types,
                                sbps_status status, sbps_error *err)
{
    struct {
        sbps_error err;
        bool changed;
    } message = {.changed = types->changed};
    if (err) message.err = *err;
    message.err.status = status;
    ranks_broadcast(among, from, &message, sizeof message);
    ranks_broadcast(among, from, types->of, types->count * sizeof *types->of);
    ranks_broadcast(among, from, types->line, types->count * sizeof *types->line);
    types->changed = message.changed;
    if (err) *err = message.err;
    return message.err.status;
}

/* ---- levels ---- */

static void add_number(text *to, size_t number)
{
    const uint64_t word = number;
    text_bytes(to, (const char *)&word, sizeof word);
}

/* Packs the counts of missing cells of every column, and the length, row count and bytes of
 * every level. The caller frees the result; NULL: no memory. */
static char *pack_schema(const column_schema *p, size_t *size)
{
    text to = {0};
    for (size_t i = 0; i < p->columns->count; i++) {
        const levels *l = p->use[i].levels;
        add_number(&to, p->use[i].missing);
        add_number(&to, l ? l->count : 0);
        for (size_t k = 0; l && k < l->count; k++) {
            add_number(&to, l->item[k].length);
            add_number(&to, l->item[k].rows);
            text_bytes(&to, l->item[k].text, l->item[k].length);
        }
    }
    *size = to.length;
    return text_take(&to);
}

static size_t take_number(const char **at)
{
    uint64_t word;
    memcpy(&word, *at, sizeof word);
    *at += sizeof word;
    return word;
}

/* Adds `count` packed levels at *at, which moves behind them; returns false without memory. */
static bool take_levels(levels *l, size_t count, const char **at)
{
    for (size_t k = 0; k < count; k++) {
        size_t code, length = take_number(at), row_count = take_number(at);
        if (!levels_code(l, *at, *at + length, &code)) return false;
        l->item[code].rows += row_count;
        *at += length;
    }
    return true;
}

/* Adds a packed schema to `p`; returns false without memory. */
static bool unpack_schema(const column_schema *p, const char *at)
{
    bool whole = true;
    for (size_t i = 0; whole && i < p->columns->count; i++) {
        p->use[i].missing += take_number(&at);
        size_t count = take_number(&at);
        whole = take_levels(p->use[i].levels, count, &at);
    }
    return whole;
}

/* Adds the schemas of all ranks to `p`, in the order of ranks, which is that of the text. */
static bool merge_rank_schemas(ranks *among, const column_schema *p, const char *own,
                               size_t own_size)
{
    bool whole = true;
    for (size_t r = 0; r < among->size; r++) {
        size_t size = own_size;
        ranks_broadcast(among, r, &size, sizeof size);
        char *bytes = malloc(size + 1);
        if (!bytes) return false;
        if (r == among->rank) memcpy(bytes, own, size);
        ranks_broadcast(among, r, bytes, size);
        whole = whole && unpack_schema(p, bytes);
        free(bytes);
    }
    return whole;
}

sbps_status partition_merge_schemas(ranks *among, column_schema *p, sbps_error *err)
{
    size_t size;
    if (p->categories == 0 && !p->drop_missing) return SBPS_OK; /* on all ranks alike */
    char *own = pack_schema(p, &size);
    if (!own) return fail_memory(err);
    for (size_t i = 0; i < p->columns->count; i++) {
        p->use[i].missing = 0;
        if (p->use[i].levels) levels_reset(p->use[i].levels);
    }
    bool whole = merge_rank_schemas(among, p, own, size);
    free(own);
    return whole ? SBPS_OK : fail_memory(err);
}

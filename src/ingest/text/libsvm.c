/* libsvm text: a row a line, `label index:value index:value ...`, indices from 1 and increasing,
 * what is not written is 0, # starts a comment. Columns: label, f1, f2, ... An index that no row
 * writes is no column: its coefficient could not be known.
 *
 * The file is read twice, first for its columns and entries. */
#include "core/printable.h"
#include "ingest/text/format.h"

#include "ingest/schema/chunks.h"
#include "ingest/schema/number.h"
#include "ingest/text/index_set.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    text_file *source;
    size_t rows, entries; /* data lines; what they write */
    index_set seen;       /* indices written somewhere; f<i> is the column of its rank */
    const char *at, *end; /* what is left of the current line */
    size_t index;         /* the last one read on it */
    size_t line;
} libsvm;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p)) p++;
    return p;
}

static const char *skip_token(const char *p, const char *end)
{
    while (p < end && !is_blank(*p)) p++;
    return p;
}

/* Moves to the next line that holds data; *found is false at the end of the file. */
static sbps_status next_line(libsvm *s, bool *found, sbps_error *err)
{
    text_file *t = s->source;
    for (*found = false; !*found;) {
        char *stop = memchr(t->at, '\n', (size_t)(t->limit - t->at));
        if (!stop && !t->finished) {
            sbps_status status = text_file_more(t, err);
            if (status != SBPS_OK) return status;
            continue;
        }
        if (!stop && t->at == t->limit) return SBPS_OK;
        s->end = stop ? stop : t->limit;
        const char *comment = memchr(t->at, '#', (size_t)(s->end - t->at));
        if (comment) s->end = comment;
        s->at = skip_blanks(t->at, s->end);
        s->line = t->line++;
        s->index = 0;
        *found = s->at < s->end;
        t->at = stop ? stop + 1 : t->limit;
    }
    return SBPS_OK;
}

static sbps_status fail_pair(const libsvm *s, const char *begin, const char *end,
                             sbps_error *err)
{
    const char *path = s->source->path;
    if (end - begin >= 4 && memcmp(begin, "qid:", 4) == 0)
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: qid belongs to ranking, which no model here does; remove it", path,
                    s->line);
    return fail(err, SBPS_BAD_FILE, "%s:%zu: '%s' is not index:value", path, s->line,
                show(begin, end).text);
}

static sbps_status check_index(const libsvm *s, size_t index, sbps_error *err)
{
    const char *path = s->source->path;
    if (index == 0)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: index 0: indices begin at 1", path, s->line);
    if (index > INDEX_MAX)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: an index above %zu", path, s->line, INDEX_MAX);
    if (index <= s->index)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: index %zu after %zu: indices must increase",
                    path, s->line, index, s->index);
    return SBPS_OK;
}

/* The next index:value of the line; *begin is NULL at its end. */
static sbps_status next_pair(libsvm *s, const char **begin, const char **end, sbps_error *err)
{
    const char *p = skip_blanks(s->at, s->end), *stop = skip_token(p, s->end), *first = p;
    size_t index = 0;
    *begin = NULL;
    s->at = stop;
    if (p == stop) return SBPS_OK;
    for (; p < stop && '0' <= *p && *p <= '9'; p++)
        if (index < SIZE_MAX / 16) index = 10 * index + (size_t)(*p - '0');
    if (p == first || p == stop || *p != ':' || p + 1 == stop)
        return fail_pair(s, first, stop, err);
    sbps_status status = check_index(s, index, err);
    s->index = index;
    *begin = p + 1;
    *end = stop;
    return status;
}

/* Every entry once as read and once as stored, at best; a column's name and use besides. Whether
 * rows made dense fit as well is seen when that has been decided. */
static sbps_status check_memory(const libsvm *s, sbps_error *err)
{
    const double n = (double)s->rows, d = (double)s->seen.count + 1;
    const double entry_bytes = 16, row_bytes = 24, column_bytes = 128;
    return memory_holds(s->source->path, n, d,
                        entry_bytes * (double)s->entries + row_bytes * n + column_bytes * d,
                        err);
}

static double filled(const libsvm *s)
{
    double cells = (double)s->rows * (double)s->seen.count;
    return cells > 0 ? (double)s->entries / cells : 1.0;
}

/* The first reading: which indices are there, and how many rows. */
static sbps_status survey(libsvm *s, sbps_error *err)
{
    bool found;
    for (;;) {
        sbps_status status = next_line(s, &found, err);
        if (status != SBPS_OK || !found) return status;
        s->rows++;
        s->at = skip_token(s->at, s->end);
        for (;;) {
            const char *begin, *end;
            if ((status = next_pair(s, &begin, &end, err)) != SBPS_OK) return status;
            if (!begin) break;
            s->entries++;
            if (!index_set_add(&s->seen, s->index)) return fail_memory(err);
        }
    }
}

static sbps_status name_columns(libsvm *s, columns *out, sbps_error *err)
{
    sbps_status status = columns_create(s->seen.count + 1, out, err);
    if (status != SBPS_OK) return status;
    out->rows = s->rows;
    out->filled = filled(s);
    out->target = out->name[0] = strdup("label");
    if (!out->target || !index_set_seal(&s->seen)) return fail_memory(err);
    size_t index = 0;
    for (size_t column = 1; column < out->count; column++) {
        index = index_set_from(&s->seen, index + 1);
        if (asprintf(&out->name[column], "f%zu", index) < 0) {
            out->name[column] = NULL;
            return fail_memory(err);
        }
    }
    return SBPS_OK;
}

static void libsvm_close(void *self)
{
    libsvm *s = self;
    if (!s) return;
    index_set_clear(&s->seen);
    free(s);
}

static sbps_status libsvm_open(text_file *source, const rows_spec *spec, columns *out,
                               void **self, sbps_error *err)
{
    (void)spec;
    *self = NULL;
    libsvm *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err);
    s->source = source;
    sbps_status status = survey(s, err);
    if (status == SBPS_OK) status = check_memory(s, err);
    if (status == SBPS_OK) status = name_columns(s, out, err);
    if (status == SBPS_OK) status = text_file_rewind(source, err);
    if (status == SBPS_OK)
        *self = s;
    else
        libsvm_close(s);
    return status;
}

/* What a row holds where nothing is written: 0, or the level "0". */
static sbps_status fill_zeros(const column_schema *p, double *row, sbps_error *err)
{
    static const char zero[] = "0";
    for (size_t i = 0; i < p->width; i++) row[i] = 0.0;
    for (size_t f = 0; p->categories > 0 && f < p->features; f++) {
        bool missing;
        if (p->use[p->feature[f]].kind != USE_CATEGORY) continue;
        sbps_status status =
            schema_read_cell(p, p->feature[f], zero, zero + 1, 0, row, &missing, err);
        if (status != SBPS_OK) return status;
    }
    return SBPS_OK;
}

static sbps_status libsvm_next(void *self, const column_schema *p, double *row, row_fate *fate,
                               sbps_error *err)
{
    libsvm *s = self;
    bool found, missing = false;
    sbps_status status = next_line(s, &found, err);
    *fate = ROW_END;
    if (status != SBPS_OK || !found) return status;
    if ((status = fill_zeros(p, row, err)) != SBPS_OK) return status;
    const char *begin = s->at, *end = skip_token(s->at, s->end);
    s->at = end;
    for (size_t column = 0; begin;) {
        status = schema_read_cell(p, column, begin, end, s->line, row, &missing, err);
        if (status == SBPS_OK) status = next_pair(s, &begin, &end, err);
        if (status != SBPS_OK) return status;
        if (begin && (column = index_set_rank(&s->seen, s->index)) == 0)
            return fail(err, SBPS_BAD_FILE, "%s:%zu: the file changed while it was read",
                        s->source->path, s->line);
    }
    *fate = missing ? ROW_DROPPED : ROW_KEPT;
    if (missing) schema_drop_row(p, row);
    return missing ? SBPS_OK : schema_keep_row(p, row, s->line, err);
}

/* The set of indices is the other's. */
static void *libsvm_fork(const void *self, text_file *view)
{
    const libsvm *s = self;
    libsvm *fork = calloc(1, sizeof *fork);
    if (!fork) return NULL;
    *fork = (libsvm){.source = view, .seen = s->seen};
    return fork;
}

/* A number, then index:value or qid:value words. */
typedef enum { LINE_EMPTY, LINE_LABEL_ONLY, LINE_PAIRS, LINE_OTHER } line_kind;

static bool looks_like_pair(const char *begin, const char *end)
{
    const char *p = begin;
    while (p < end && '0' <= *p && *p <= '9') p++;
    if (p > begin && p < end && *p == ':') return true;
    return end - begin >= 4 && memcmp(begin, "qid:", 4) == 0;
}

static line_kind classify_line(const char *p, const char *end)
{
    const char *comment = memchr(p, '#', (size_t)(end - p));
    if (comment) end = comment;
    p = skip_blanks(p, end);
    if (p == end) return LINE_EMPTY;
    const char *token_end = skip_token(p, end), *next = skip_blanks(token_end, end);
    bool sign = *p == '-' || *p == '+';
    for (p += sign; p < token_end; p++)
        if (!strchr("0123456789.eE+-", *p)) return LINE_OTHER;
    if (next == end) return LINE_LABEL_ONLY;
    return looks_like_pair(next, skip_token(next, end)) ? LINE_PAIRS : LINE_OTHER;
}

/* The first line with more than a label decides; a column of bare numbers is CSV. */
static bool libsvm_recognise(const char *begin, const char *end)
{
    while (begin < end) {
        const char *stop = memchr(begin, '\n', (size_t)(end - begin));
        if (!stop) stop = end;
        line_kind kind = classify_line(begin, stop);
        if (kind == LINE_PAIRS) return true;
        if (kind == LINE_OTHER) return false;
        begin = stop < end ? stop + 1 : end;
    }
    return false;
}

const format_kind format_libsvm = {
    .name = "libsvm",
    .recognise = libsvm_recognise,
    .open = libsvm_open,
    .next = libsvm_next,
    .close = libsvm_close,
    .fork = libsvm_fork,
    .join = free,
};

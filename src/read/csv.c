/* CSV (RFC 4180): quotes, doubled quotes, newlines in quotes, CRLF or LF, a last line with or without
 * its newline. Blanks around a cell do not count. Cells may be separated by tabs, semicolons or
 * runs of blanks as well, see header.c. Lines are counted as an editor counts them; a row is named by
 * the line it begins on.
 *
 * A record is tried on what the buffer holds; when it runs over the end the buffer reads on and
 * the record is tried again, so nothing is changed before it is complete. A cell that is a plain
 * number followed by its separator takes the short way: one pass over its bytes. */
#include "read/format.h"

#include "base/kernels.h"
#include "read/encoding.h"
#include "read/header.h"
#include "read/number_short.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MOST (16 << 20) /* bytes in which the separator is looked for */

typedef struct {
    text_file *source;
    size_t columns;
    char separator;    /* ' ': any run of blanks */
    size_t blank_line; /* the first of the blank lines just passed; 0: none */
    const kernels *k;
    char *plain; /* a quoted cell without its doubled quotes */
    size_t plain_size;
} csv;

typedef struct {
    const char *begin, *end; /* without blanks and quotes */
    const char *next;        /* behind the separator */
    size_t newlines;         /* inside quotes */
    bool doubled;            /* holds doubled quotes */
    bool last;               /* of its record */
} cell;

typedef enum { CELL_READY, CELL_CUT, CELL_OPEN_QUOTE, CELL_AFTER_QUOTE } cell_state;

static bool is_blank(const csv *c, char byte)
{
    return byte == ' ' || byte == '\r' || (byte == '\t' && c->separator != '\t');
}

/* Does a cell end here? */
static bool is_end(const csv *c, char byte)
{
    return byte == c->separator || byte == '\n' || (c->separator == ' ' && is_blank(c, byte));
}

/* At the separator `p`, or the end of all text. */
static cell_state end_cell(const csv *c, const char *p, cell *out)
{
    const text_file *t = c->source;
    while (c->separator == ' ' && is_blank(c, *p)) p++;
    if (p == t->limit && !t->finished) return CELL_CUT;
    if (c->separator == ' ' && p != t->limit && *p != '\n') {
        out->next = p;
        return CELL_READY;
    }
    out->last = p == t->limit || *p == '\n';
    out->next = p == t->limit ? p : p + 1;
    return CELL_READY;
}

/* `p` is behind the opening quote. */
static cell_state scan_quoted(const csv *c, const char *p, cell *out)
{
    const text_file *t = c->source;
    out->begin = p;
    for (;; p++) {
        const char *quote = memchr(p, '"', (size_t)(t->limit - p));
        if (!quote) return t->finished ? CELL_OPEN_QUOTE : CELL_CUT;
        for (; p < quote; p++) out->newlines += *p == '\n';
        if (quote[1] != '"') break;
        out->doubled = true;
        p = quote + 1;
    }
    out->end = p++;
    while (c->separator != ' ' && is_blank(c, *p)) p++;
    if (!is_end(c, *p) && p != t->limit) return CELL_AFTER_QUOTE;
    return end_cell(c, p, out);
}

static cell_state scan_cell(const csv *c, const char *p, cell *out)
{
    const text_file *t = c->source;
    *out = (cell){0};
    while (is_blank(c, *p)) p++;
    if (*p == '"') return scan_quoted(c, p + 1, out);
    out->begin = p;
    while (!is_end(c, *p) && p < t->limit) p++;
    out->end = p;
    while (out->end > out->begin && is_blank(c, out->end[-1])) out->end--;
    return end_cell(c, p, out);
}

static sbps_status fail_quote(const csv *c, cell_state state, size_t line, sbps_error *err)
{
    return fail(err, SBPS_BAD_FILE, "%s:%zu: %s", c->source->path, line,
                state == CELL_OPEN_QUOTE ? "a quote is opened and never closed"
                                         : "text follows a closing quote; want a separator");
}

/* The cell's text with doubled quotes made single, NUL-terminated, in the scratch buffer. */
static sbps_status undouble(csv *c, cell *from, sbps_error *err)
{
    size_t need = (size_t)(from->end - from->begin) + 1;
    if (need > c->plain_size) {
        char *grown = realloc(c->plain, 2 * need);
        if (!grown) return fail_memory(err);
        c->plain = grown;
        c->plain_size = 2 * need;
    }
    char *q = c->plain;
    for (const char *p = from->begin; p < from->end; p++) {
        *q++ = *p;
        if (*p == '"') p++;
    }
    *q = '\0';
    from->begin = c->plain;
    from->end = q;
    return SBPS_OK;
}

/* How many cells the record at `p` has. */
static cell_state count_cells(const csv *c, const char *p, size_t *count)
{
    cell at = {0};
    for (*count = 0; !at.last; p = at.next) {
        cell_state state = scan_cell(c, p, &at);
        if (state != CELL_READY) return state;
        ++*count;
    }
    return CELL_READY;
}

static sbps_status fail_count(const csv *c, bool *cut, sbps_error *err)
{
    size_t count;
    cell_state state = count_cells(c, c->source->at, &count);
    *cut = state == CELL_CUT;
    if (*cut) return SBPS_OK;
    if (state != CELL_READY) return fail_quote(c, state, c->source->line, err);
    return fail(err, SBPS_BAD_FILE, "%s:%zu: want %zu column%s, found %zu", c->source->path,
                c->source->line, c->columns, c->columns == 1 ? "" : "s", count);
}

/* Where a finite number at `text` ends; NULL: none is there. */
static inline const char *read_number(const char *text, locale_t c_locale, double *out)
{
    const char *stop = number_short(text, out);
    if (stop && (*stop | 32) != 'e') return stop;
    stop = number_read(text, c_locale, out);
    return stop && isfinite(*out) ? stop : NULL;
}

/* Short plain numbers from column *i on, several at once. */
static const char *read_numbers(const csv *c, const plan *p, const char *at, size_t *i,
                                double *row)
{
    size_t count = p->numbers[*i];
    char last = *i + count == c->columns ? '\n' : c->separator;
    *i += c->k->read_cells(&at, c->source->limit, &(cell_marks){c->separator, last}, count,
                           p->slot + *i, row);
    return at;
}

/* One record of c->columns cells at source->at; *cut when the buffer ends before it does. */
static sbps_status try_record(csv *c, const plan *p, double *row, bool *missing, bool *cut,
                              sbps_error *err)
{
    text_file *t = c->source;
    const char *at = t->at;
    const char separator = c->separator;
    size_t newlines = 0;
    *cut = *missing = false;
    for (size_t i = 0; i < c->columns; i++) {
        if (c->k->read_cells && p->numbers[i] > 1) at = read_numbers(c, p, at, &i, row);
        if (i == c->columns) break;
        const column_use *use = &p->use[i];
        bool last = i + 1 == c->columns;
        const char *stop;
        if (use->kind == USE_NUMBER &&
            (stop = read_number(at, p->c_locale, &row[use->slot])) != NULL &&
            *stop == (last ? '\n' : separator)) {
            at = stop + 1;
            continue;
        }
        cell found;
        cell_state state = scan_cell(c, at, &found);
        if ((*cut = state == CELL_CUT)) return SBPS_OK;
        if (state != CELL_READY) return fail_quote(c, state, t->line + newlines, err);
        if (found.last != last) return fail_count(c, cut, err);
        sbps_status status = SBPS_OK;
        size_t line = t->line + newlines;
        newlines += found.newlines;
        at = found.next;
        if (use->kind == USE_CATEGORY && found.doubled) status = undouble(c, &found, err);
        if (status == SBPS_OK)
            status = plan_cell(p, i, found.begin, found.end, line, row, missing, err);
        if (status != SBPS_OK) return status;
    }
    t->line += newlines + 1;
    t->at += at - t->at;
    return SBPS_OK;
}

/* Passes blank lines; only the end of the file may follow them. */
static sbps_status pass_blank_lines(csv *c, sbps_error *err)
{
    text_file *t = c->source;
    for (;;) {
        char *p = t->at;
        while (*p == ' ' || *p == '\t' || *p == '\r') p++;
        if (p == t->limit && !t->finished) {
            sbps_status status = text_file_more(t, err);
            if (status != SBPS_OK) return status;
            continue;
        }
        if (p != t->limit && *p != '\n') return SBPS_OK;
        if (p == t->limit) return t->at = p, SBPS_OK;
        if (!c->blank_line) c->blank_line = t->line;
        t->at = p + 1;
        t->line++;
    }
}

static sbps_status csv_next(void *self, const plan *p, double *row, row_fate *fate,
                            sbps_error *err)
{
    csv *c = self;
    text_file *t = c->source;
    bool missing, cut;
    size_t line;
    sbps_status status = pass_blank_lines(c, err);
    if (status != SBPS_OK) return status;
    *fate = ROW_END;
    if (t->at == t->limit && t->finished) return SBPS_OK;
    if (c->blank_line)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: a blank line before the last row", t->path,
                    c->blank_line);
    line = t->line;
    for (;;) {
        status = try_record(c, p, row, &missing, &cut, err);
        if (status != SBPS_OK || !cut) break;
        if ((status = text_file_more(t, err)) != SBPS_OK) break;
    }
    if (status != SBPS_OK) return status;
    *fate = missing ? ROW_DROPPED : ROW_KEPT;
    if (missing) plan_drop(p, row);
    return missing ? SBPS_OK : plan_keep(p, row, line, err);
}

/* Counts the header's cells, reading on until it is whole. */
static sbps_status measure_header(csv *c, sbps_error *err)
{
    text_file *t = c->source;
    for (;;) {
        cell_state state = count_cells(c, t->at, &c->columns);
        if (state == CELL_READY) return SBPS_OK;
        if (state != CELL_CUT) return fail_quote(c, state, t->line, err);
        sbps_status status = text_file_more(t, err);
        if (status != SBPS_OK) return status;
    }
}

/* The cells of the header become names. */
static sbps_status read_names(csv *c, columns *out, sbps_error *err)
{
    text_file *t = c->source;
    const char *p = t->at;
    bool foreign = false;
    for (size_t i = 0; i < c->columns; i++) {
        cell found;
        scan_cell(c, p, &found);
        p = found.next;
        t->line += found.newlines;
        sbps_status status = found.doubled ? undouble(c, &found, err) : SBPS_OK;
        if (status != SBPS_OK) return status;
        size_t length = (size_t)(found.end - found.begin);
        foreign = foreign || !is_utf8(found.begin, length);
        if (!(out->name[i] = utf8_copy(found.begin, length))) return fail_memory(err);
    }
    t->line++;
    t->at += p - t->at;
    return foreign ? columns_note(out, err, "the names are not UTF-8 and taken for Latin-1")
                   : SBPS_OK;
}

/* Looks at the first two lines, as far as memory sees them. */
static sbps_status choose_separator(csv *c, sbps_error *err)
{
    text_file *t = c->source;
    for (size_t lines = 0; !t->finished && t->limit - t->at < LINES_MOST; lines = 0) {
        for (const char *p = t->at; p < t->limit && lines < 2; p++) lines += *p == '\n';
        if (lines == 2) break;
        sbps_status status = text_file_more(t, err);
        if (status != SBPS_OK) return status;
    }
    c->separator = header_separator(t->at, t->limit);
    return SBPS_OK;
}

static sbps_status note_separator(const csv *c, columns *out, sbps_error *err)
{
    if (c->separator == ',') return SBPS_OK;
    return columns_note(out, err, "cells are separated by %s",
                        c->separator == ';'    ? "semicolons"
                        : c->separator == '\t' ? "tabs"
                                               : "blanks");
}

static sbps_status read_header(csv *c, bool named, columns *out, sbps_error *err)
{
    sbps_status status = choose_separator(c, err);
    if (status == SBPS_OK) status = measure_header(c, err);
    if (status == SBPS_OK) status = columns_create(c->columns, out, err);
    if (status == SBPS_OK) status = note_separator(c, out, err);
    out->comma = c->separator != ',';
    if (status == SBPS_OK && !named) return header_number(out, err);
    if (status == SBPS_OK) status = read_names(c, out, err);
    return status == SBPS_OK ? header_distinguish(out, err) : status;
}

/* Types of the cells of the record at `*at`, which moves behind it with `*line`. */
static cell_state sniff_record(const csv *c, const columns *known, locale_t c_locale,
                               const char **at, size_t *line)
{
    column_types *types = known->types;
    cell found = {0};
    const char *p = *at;
    size_t i = 0, newlines = 0;
    for (; !found.last; p = found.next, i++) {
        cell_state state = scan_cell(c, p, &found);
        if (state != CELL_READY) return state;
        if (i == c->columns) return CELL_AFTER_QUOTE;
        if (types->of[i] != TYPE_TEXT && !is_missing(known->missing, found.begin, found.end))
            column_types_join(types, i,
                              cell_type(found.begin, found.end, known->comma, c_locale),
                              *line + newlines);
        newlines += found.newlines;
    }
    *at = p;
    *line += newlines + 1;
    return i == c->columns ? CELL_READY : CELL_AFTER_QUOTE;
}

/* What is wrong with a record is said when it is read. */
static sbps_status csv_sniff(void *self, const columns *known, size_t bytes, sbps_error *err)
{
    csv *c = self;
    text_file *t = c->source;
    size_t from = 0, line = t->line;
    sbps_status status = SBPS_OK;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return fail_memory(err);
    while (status == SBPS_OK && from < bytes && !(t->at + from == t->limit && t->finished)) {
        const char *at = t->at + from;
        cell_state state = sniff_record(c, known, c_locale, &at, &line);
        if (state == CELL_CUT)
            status = text_file_more(t, err);
        else if (state != CELL_READY)
            break;
        else
            from = (size_t)(at - t->at);
        if (bytes < SIZE_MAX) continue;
        t->at += from;
        from = 0;
    }
    freelocale(c_locale);
    return status;
}

static void csv_close(void *self)
{
    csv *c = self;
    if (!c) return;
    free(c->plain);
    free(c);
}

static sbps_status csv_open(text_file *source, const rows_spec *spec, columns *out, void **self,
                            sbps_error *err)
{
    *self = NULL;
    if (source->at == source->limit && source->finished)
        return fail(err, SBPS_BAD_FILE, "%s:1: the file is empty", source->path);
    csv *c = calloc(1, sizeof *c);
    if (!c) return fail_memory(err);
    c->source = source;
    c->k = kernels_best();
    sbps_status status = read_header(c, !spec->no_header, out, err);
    if (status == SBPS_OK)
        *self = c;
    else
        csv_close(c);
    return status;
}

static void *csv_fork(const void *self, text_file *view)
{
    const csv *c = self;
    csv *fork = calloc(1, sizeof *fork);
    if (!fork) return NULL;
    *fork = (csv){.source = view, .columns = c->columns, .separator = c->separator, .k = c->k};
    return fork;
}

static bool csv_recognise(const char *begin, const char *end)
{
    (void)begin;
    (void)end;
    return true;
}

const format_kind format_csv = {
    .name = "csv",
    .recognise = csv_recognise,
    .open = csv_open,
    .next = csv_next,
    .close = csv_close,
    .sniff = csv_sniff,
    .fork = csv_fork,
    .join = csv_close,
};

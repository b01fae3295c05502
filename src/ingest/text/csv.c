/* CSV (RFC 4180): quotes, doubled quotes, newlines in quotes, CRLF or LF, a last line with or
 * without its newline. Blanks around a cell are ignored. Cells may also be separated by tabs,
 * semicolons, bars or runs of blanks (header_separator). Lines are counted as in an editor;
 * messages name the line on which a row begins.
 *
 * A record is parsed in the buffer. If it extends beyond the end (CELL_CUT), the buffer reads
 * on and the record is parsed again; the position of the source changes only after a complete
 * record. A cell that is a plain number followed by its separator is parsed in one pass over
 * its bytes (number_short). */
#include "ingest/text/source.h"

#include "core/printable.h"
#include "ingest/schema/column_index.h"
#include "ingest/schema/number.h"
#include "linalg/kernels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    text_file *source;
    size_t columns;
    char separator;    /* ' ': any run of blanks */
    size_t blank_line; /* line of the first of the blank lines just skipped; 0: none */
    const kernels *k;  /* for several numbers at once */
    char *plain;       /* scratch for undouble */
    size_t plain_size;
} csv;

typedef struct {
    const char *begin, *end; /* without blanks and quotes */
    const char *next;        /* after the separator */
    size_t newlines;         /* inside quotes */
    bool doubled;            /* contains doubled quotes */
    bool last;               /* of its record */
} cell;

typedef enum {
    CELL_READY,
    CELL_CUT,        /* extends beyond the buffer */
    CELL_OPEN_QUOTE, /* a quote is never closed */
    CELL_AFTER_QUOTE /* text follows a closing quote */
} cell_state;

/* ---- cells ---- */

/* Returns whether the byte is a blank around cells; CR is one, so that CRLF ends a line. */
static bool is_blank(const csv *c, char byte)
{
    return byte == ' ' || byte == '\r' || (byte == '\t' && c->separator != '\t');
}

/* Returns whether a cell ends at this byte. */
static bool is_end(const csv *c, char byte)
{
    return byte == c->separator || byte == '\n' || (c->separator == ' ' && is_blank(c, byte));
}

/* Ends the cell at `p`, a separator or the end of the text: finds the next cell. */
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

/* Scans a quoted cell; `p` is after the opening quote. */
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

/* Scans the cell at `p`. */
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
                state == CELL_OPEN_QUOTE
                    ? "a quote is opened and never closed"
                    : "text follows a closing quote; expected a separator");
}

/* Copies the text of a cell to c->plain with doubled quotes made single, NUL-terminated, and
 * makes the cell refer to the copy. */
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

/* Counts the cells of the record at `p`. */
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

/* ---- header ---- */

#define SEPARATOR_SCAN_MAX (16 << 20) /* bytes in which the separator is searched */
#define NAME_CHECK_ROWS    3          /* rows checked for row names */

/* Counts the header's cells, reading on until it is complete. */
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

/* Returns whether the first cell of row `number` can be a row name: the number itself, or
 * text. */
static bool is_row_name(const cell *first, size_t number)
{
    char *end;
    bool counted = strtoul(first->begin, &end, 10) == number && end == first->end;
    bool begins_number = first->begin < first->end && strchr("+-.0123456789", *first->begin);
    return counted || (first->begin < first->end && !begins_number);
}

/* Returns whether the first rows have one cell more than the header, and it is a row name, as
 * written by R's write.table. Rows that end with a separator have one more cell, too, but it is
 * empty. */
static bool has_row_names(const csv *c)
{
    cell first, at = {0};
    size_t count, number = 1;
    const char *p = c->source->at;
    while (!at.last) {
        if (scan_cell(c, p, &at) != CELL_READY) return false;
        p = at.next;
    }
    for (; number <= NAME_CHECK_ROWS && p < c->source->limit; number++) {
        if (count_cells(c, p, &count) != CELL_READY) break;
        if (count != c->columns + 1) return false;
        scan_cell(c, p, &first);
        for (at.last = false; !at.last; p = at.next) scan_cell(c, p, &at);
        if (!is_row_name(&first, number) || at.begin == at.end) return false;
    }
    return number > 1;
}

/* Reads the names of the columns `from` on; from = 1: the header has no cell for the first
 * column, which gets an empty name. */
static sbps_status read_names(csv *c, size_t from, columns *out, sbps_error *err)
{
    text_file *t = c->source;
    const char *p = t->at;
    bool latin1 = false;
    if (from > 0 && !(out->name[0] = strdup(""))) return fail_memory(err);
    for (size_t i = from; i < c->columns; i++) {
        cell found;
        scan_cell(c, p, &found);
        p = found.next;
        t->line += found.newlines;
        sbps_status status = found.doubled ? undouble(c, &found, err) : SBPS_OK;
        if (status != SBPS_OK) return status;
        size_t length = (size_t)(found.end - found.begin);
        latin1 = latin1 || !is_utf8(found.begin, length);
        if (!(out->name[i] = utf8_copy(found.begin, length))) return fail_memory(err);
    }
    t->line++;
    t->at += p - t->at;
    return latin1 ? columns_note(out, err,
                                 "column names are not UTF-8 and were read as Latin-1; use "
                                 "--encoding latin1 for the whole file")
                  : SBPS_OK;
}

/* Finds the separator from the first two lines, or the first SEPARATOR_SCAN_MAX bytes. */
static sbps_status choose_separator(csv *c, sbps_error *err)
{
    text_file *t = c->source;
    for (size_t lines = 0; !t->finished && t->limit - t->at < SEPARATOR_SCAN_MAX; lines = 0) {
        for (const char *p = t->at; p < t->limit && lines < 2; p++) lines += *p == '\n';
        if (lines == 2) break;
        sbps_status status = text_file_more(t, err);
        if (status != SBPS_OK) return status;
    }
    c->separator = header_separator(t->at, t->limit);
    return SBPS_OK;
}

/* Adds a note for any separator but the comma. */
static sbps_status note_separator(const csv *c, columns *out, sbps_error *err)
{
    if (c->separator == ',') return SBPS_OK;
    return columns_note(out, err, "cells are separated by %s",
                        c->separator == ';'    ? "semicolons"
                        : c->separator == '\t' ? "tabs"
                        : c->separator == '|'  ? "bars"
                                               : "blanks");
}

/* Finds the separator and the columns; `named`: the first line has their names. */
static sbps_status csv_header(csv *c, bool named, columns *out, sbps_error *err)
{
    sbps_status status = choose_separator(c, err);
    if (status == SBPS_OK) status = measure_header(c, err);
    bool more = status == SBPS_OK && named && has_row_names(c);
    c->columns += more;
    if (status == SBPS_OK) status = columns_create(c->columns, out, err);
    if (status == SBPS_OK) status = note_separator(c, out, err);
    out->comma = c->separator != ',';
    if (status == SBPS_OK && !named) return header_number(out, err);
    if (status == SBPS_OK) status = read_names(c, more, out, err);
    if (status == SBPS_OK) status = header_row_names(out, err);
    return status == SBPS_OK ? header_distinguish(out, err) : status;
}

/* ---- types ---- */

/* Joins the types of the cells of the record at *at, and moves *at and *line after it. */
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

/* Stops without an error at a malformed record, which is reported when it is read. */
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

/* ---- rows ---- */

/* Reports a record with a wrong number of cells; *cut if it must be read on first to count
 * them. */
static sbps_status fail_count(const csv *c, bool *cut, sbps_error *err)
{
    size_t count;
    cell_state state = count_cells(c, c->source->at, &count);
    *cut = state == CELL_CUT;
    if (*cut) return SBPS_OK;
    if (state != CELL_READY) return fail_quote(c, state, c->source->line, err);
    return fail(err, SBPS_BAD_FILE, "%s:%zu: expected %zu column%s, found %zu", c->source->path,
                c->source->line, c->columns, c->columns == 1 ? "" : "s", count);
}

/* Reads a finite number at `text`; returns its end, or NULL if there is none. */
static inline const char *read_finite(const char *text, locale_t c_locale, double *out)
{
    const char *stop = number_short(text, out);
    if (stop && (*stop | 32) != 'e') return stop;
    stop = number_read(text, c_locale, out);
    return stop && isfinite(*out) ? stop : NULL;
}

/* Reads short plain numbers from column *i on, several at once; returns the position after them
 * and moves *i. */
static const char *read_numbers(const csv *c, const column_schema *p, const char *at, size_t *i,
                                double *row)
{
    size_t count = p->numbers[*i];
    char last = *i + count == c->columns ? '\n' : c->separator;
    *i += c->k->read_cells(&at, c->source->limit, &(cell_delimiters){c->separator, last}, count,
                           p->slot + *i, row);
    return at;
}

/* Reads one record of c->columns cells at source->at; *cut if the buffer ends before it
 * does. */
static sbps_status try_record(csv *c, const column_schema *p, double *row, bool *missing,
                              bool *cut, sbps_error *err)
{
    text_file *t = c->source;
    const char *at = t->at;
    const char separator = c->separator;
    size_t newlines = 0;
    *cut = *missing = false;
    for (size_t i = 0; i < c->columns; i++) {
        /* Several number cells at once, as far as they are short and plain. */
        if (c->k->read_cells && p->numbers[i] > 1) at = read_numbers(c, p, at, &i, row);
        if (i == c->columns) break;
        /* A number directly followed by its separator. */
        const column_use *use = &p->use[i];
        bool last = i + 1 == c->columns;
        const char *stop;
        if (use->kind == USE_NUMBER &&
            (stop = read_finite(at, p->c_locale, &row[use->slot])) != NULL &&
            *stop == (last ? '\n' : separator)) {
            at = stop + 1;
            continue;
        }
        /* Any other cell. */
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
            status = schema_read_cell(p, i, found.begin, found.end, line, row, missing, err);
        if (status != SBPS_OK) return status;
    }
    t->line += newlines + 1;
    t->at += at - t->at;
    return SBPS_OK;
}

/* Skips blank lines and sets c->blank_line; only the end of the file may follow them. */
static sbps_status skip_blank_lines(csv *c, sbps_error *err)
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

/* Reads the next record; reads more text until the record is complete. */
static sbps_status csv_next(void *self, const column_schema *p, double *row, row_fate *fate,
                            sbps_error *err)
{
    csv *c = self;
    text_file *t = c->source;
    bool missing, cut;
    size_t line;
    sbps_status status = skip_blank_lines(c, err);
    if (status != SBPS_OK) return status;
    *fate = ROW_END;
    if (t->at == t->limit && t->finished) return SBPS_OK;
    if (c->blank_line)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: blank line before the last row; remove it",
                    t->path, c->blank_line);
    line = t->line;
    for (;;) {
        status = try_record(c, p, row, &missing, &cut, err);
        if (status != SBPS_OK || !cut) break;
        if ((status = text_file_more(t, err)) != SBPS_OK) break;
    }
    if (status != SBPS_OK) return status;
    *fate = missing && !p->keeps_missing ? ROW_DROPPED : ROW_KEPT;
    if (missing && p->keeps_missing) return SBPS_OK;
    if (missing) schema_drop_row(p, row);
    return missing ? SBPS_OK : schema_keep_row(p, row, line, err);
}

static void csv_close(void *self)
{
    csv *c = self;
    if (!c) return;
    free(c->plain);
    free(c);
}

/* Reads the header. */
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
    sbps_status status = csv_header(c, !spec->no_header, out, err);
    if (status == SBPS_OK)
        *self = c;
    else
        csv_close(c);
    return status;
}

/* A fork reads other text with the same separator and columns. */
static void *csv_fork(const void *self, text_file *view)
{
    const csv *c = self;
    csv *fork = calloc(1, sizeof *fork);
    if (!fork) return NULL;
    *fork = (csv){.source = view, .columns = c->columns, .separator = c->separator, .k = c->k};
    return fork;
}

/* Accepts every text: CSV is the last format tried. */
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

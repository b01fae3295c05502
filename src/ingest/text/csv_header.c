/* What comes before the rows of CSV, and what their first cells tell: separator, names, types. */
#include "ingest/text/csv.h"

#include "core/encoding.h"
#include "ingest/text/header.h"
#include <stdlib.h>
#include <string.h>

#define SEPARATOR_SCAN_MAX (16 << 20) /* bytes in which the separator is looked for */
#define NAME_CHECK_ROWS    3          /* whether they have names */

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

/* Whether the first cell of row `number` may be its name: 1, 2, 3, ... or text. */
static bool is_row_name(const cell *first, size_t number)
{
    char *end;
    bool counted = strtoul(first->begin, &end, 10) == number && end == first->end;
    bool begins_number = first->begin < first->end && strchr("+-.0123456789", *first->begin);
    return counted || (first->begin < first->end && !begins_number);
}

/* Whether the first rows have one cell more than the header, and that one names the row, as R's write.table
 * does. Rows that end with a separator have one more, too, and it is empty. */
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

/* The cells of the header become names; of the first of columns where the header begins with the second
 * there is none. */
static sbps_status read_names(csv *c, size_t from, columns *out, sbps_error *err)
{
    text_file *t = c->source;
    const char *p = t->at;
    bool foreign = false;
    if (from > 0 && !(out->name[0] = strdup(""))) return fail_memory(err);
    for (size_t i = from; i < c->columns; i++) {
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
    return foreign ? columns_note(out, err,
                                  "the names are not UTF-8 and taken for Latin-1; --encoding "
                                  "latin1 says so of all text")
                   : SBPS_OK;
}

/* Looks at the first two lines, as far as memory sees them. */
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

static sbps_status note_separator(const csv *c, columns *out, sbps_error *err)
{
    if (c->separator == ',') return SBPS_OK;
    return columns_note(out, err, "cells are separated by %s",
                        c->separator == ';'    ? "semicolons"
                        : c->separator == '\t' ? "tabs"
                        : c->separator == '|'  ? "bars"
                                               : "blanks");
}

sbps_status csv_header(csv *c, bool named, columns *out, sbps_error *err)
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
sbps_status csv_sniff(void *self, const columns *known, size_t bytes, sbps_error *err)
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

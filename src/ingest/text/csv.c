/* CSV (RFC 4180): quotes, doubled quotes, newlines in quotes, CRLF or LF, a last line with or without
 * its newline. Blanks around a cell do not count. Cells may be separated by tabs, semicolons or
 * runs of blanks as well, see csv_header.c. Lines are counted as an editor counts them; a row is named by
 * the line it begins on.
 *
 * A record is tried on what the buffer holds; when it runs over the end the buffer reads on and
 * the record is tried again, so nothing is changed before it is complete. A cell that is a plain
 * number followed by its separator takes the short way: one pass over its bytes. */
#include "ingest/text/csv.h"

#include "ingest/schema/number_short.h"
#include "linalg/kernels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static const char *read_numbers(const csv *c, const column_schema *p, const char *at, size_t *i,
                                double *row)
{
    size_t count = p->numbers[*i];
    char last = *i + count == c->columns ? '\n' : c->separator;
    *i += c->k->read_cells(&at, c->source->limit, &(cell_delimiters){c->separator, last}, count,
                           p->slot + *i, row);
    return at;
}

/* One record of c->columns cells at source->at; *cut when the buffer ends before it does. */
static sbps_status try_record(csv *c, const column_schema *p, double *row, bool *missing,
                              bool *cut, sbps_error *err)
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
            status = schema_read_cell(p, i, found.begin, found.end, line, row, missing, err);
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

static sbps_status csv_next(void *self, const column_schema *p, double *row, row_fate *fate,
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

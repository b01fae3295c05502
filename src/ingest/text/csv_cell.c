/* Cells of CSV. */
#include "ingest/text/csv.h"

#include <stdlib.h>
#include <string.h>

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

cell_state scan_cell(const csv *c, const char *p, cell *out)
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

sbps_status fail_quote(const csv *c, cell_state state, size_t line, sbps_error *err)
{
    return fail(err, SBPS_BAD_FILE, "%s:%zu: %s", c->source->path, line,
                state == CELL_OPEN_QUOTE ? "a quote is opened and never closed"
                                         : "text follows a closing quote; want a separator");
}

sbps_status undouble(csv *c, cell *from, sbps_error *err)
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

cell_state count_cells(const csv *c, const char *p, size_t *count)
{
    cell at = {0};
    for (*count = 0; !at.last; p = at.next) {
        cell_state state = scan_cell(c, p, &at);
        if (state != CELL_READY) return state;
        ++*count;
    }
    return CELL_READY;
}

/* The header of a delimited file.
 *
 * The separator is the first of comma, tab, semicolon, bar and runs of blanks that occurs in
 * the first line, and equally often in the second line, text in quotes excluded. If there is
 * none, one that occurs once more in the second line, where rows have names and the header has
 * no cell for them. If there is none, the comma, so that messages are about commas. */
#include "ingest/text/header.h"

#include "core/printable.h"
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PANDAS_INDEX "Unnamed: 0" /* pandas' name of an index without a name */
#define RENAMED_MAX  5            /* renamed columns that get a note each */

static bool is_gap(char c)
{
    return c == ' ' || c == '\t';
}

/* Counts the separator in the line at `p`, outside quotes; *next is the line after. */
static size_t count_in_line(const char *p, const char *end, char separator, const char **next)
{
    size_t count = 0;
    bool quoted = false, cell = false; /* a cell has begun */
    for (; p < end && (quoted || *p != '\n'); p++) {
        bool gap = separator == ' ' ? is_gap(*p) : *p == separator;
        if (separator != ' ')
            count += !quoted && gap;
        else if (!gap && *p != '\r' && cell && !quoted && is_gap(p[-1]))
            count++;
        cell = cell || !gap;
        if (*p == '"') quoted = !quoted;
    }
    *next = p < end ? p + 1 : end;
    return count;
}

/* Returns the first separator that occurs `more` times more in the second line than in the
 * first; 0: none. */
static char find_separator(const char *begin, const char *end, size_t more)
{
    static const char candidates[] = ",\t;| ";
    size_t others = 0;
    for (const char *c = candidates; *c; c++) {
        const char *second, *third;
        size_t count = count_in_line(begin, end, *c, &second);
        if (*c == ' ' && others) break; /* blanks occur in names, too */
        others += *c == '\t' ? 0 : count;
        if (count > 0 && second < end && count_in_line(second, end, *c, &third) == count + more)
            return *c;
    }
    return '\0';
}

char header_separator(const char *begin, const char *end)
{
    char same = find_separator(begin, end, 0);
    char found = same ? same : find_separator(begin, end, 1);
    return found ? found : ',';
}

sbps_status header_number(columns *c, sbps_error *err)
{
    for (size_t i = 0; i < c->count; i++) {
        if (asprintf(&c->name[i], "x%zu", i + 1) >= 0) continue;
        c->name[i] = NULL;
        return fail_memory(err);
    }
    return SBPS_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Frees nothing; an argument of tdestroy. */
static void keep_name(void *name)
{
    (void)name; /* the tree borrows the names */
}

/* Returns the first of name_2, name_3, ... that is free; the caller frees it. NULL: no
 * memory. */
static char *new_name(const char *name, void *const *taken)
{
    for (size_t k = 2;; k++) {
        char *other;
        if (asprintf(&other, "%s_%zu", name, k) < 0) return NULL;
        if (!tfind(other, taken, by_text)) return other;
        free(other);
    }
}

/* Renames column i. `before` columns were renamed already; the first RENAMED_MAX get a note
 * each. */
static sbps_status rename_column(columns *c, size_t i, size_t before, void *const *taken,
                                 sbps_error *err)
{
    sbps_status status = SBPS_OK;
    char *other = new_name(c->name[i], taken);
    if (!other) return fail_memory(err);
    if (before < RENAMED_MAX)
        status = columns_note(c, err, "column %zu repeats the name '%s' and was renamed '%s'",
                              i + 1, show_name(c->name[i]).text, show_name(other).text);
    free(c->name[i]);
    c->name[i] = other;
    return status;
}

/* Sets first[i] for the first column of every name, which keeps it, and puts all names into the
 * tree, so that no renamed column gets the name of another. */
static bool mark_first(const columns *c, void **taken, char *first)
{
    for (size_t i = 0; i < c->count; i++) {
        if (!c->name[i] || !*c->name[i]) continue;
        char **at = tsearch(c->name[i], taken, by_text);
        if (!at) return false;
        first[i] = *at == c->name[i];
    }
    return true;
}

/* Renames the columns that are not the first of their name. */
static sbps_status rename_others(columns *c, void **taken, const char *first, sbps_error *err)
{
    size_t renamed = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (!c->name[i] || !*c->name[i] || first[i]) continue;
        sbps_status status = rename_column(c, i, renamed++, taken, err);
        if (status != SBPS_OK) return status;
        if (!tsearch(c->name[i], taken, by_text)) return fail_memory(err);
    }
    if (renamed <= RENAMED_MAX) return SBPS_OK;
    return columns_note(c, err, "%zu more columns were renamed in the same way",
                        renamed - RENAMED_MAX);
}

sbps_status header_distinguish(columns *c, sbps_error *err)
{
    void *taken = NULL;
    char *first = calloc(c->count + 1, 1);
    bool ready = first && mark_first(c, &taken, first);
    sbps_status status = ready ? rename_others(c, &taken, first, err) : fail_memory(err);
    tdestroy(taken, keep_name);
    free(first);
    return status;
}

sbps_status header_row_names(columns *c, sbps_error *err)
{
    const char *first = c->count > 1 ? c->name[0] : NULL;
    c->row_names = first && (!*first || !strcmp(first, PANDAS_INDEX));
    if (!c->row_names) return SBPS_OK;
    return columns_note(c, err,
                        "the first column has no name; it is taken for row names and left out");
}

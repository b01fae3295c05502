/* Columns by name, through a sorted index: finding k of n names costs O((n + k) log n). */
#include "ingest/schema/column_index.h"

#include "core/printable.h"
#include "core/text.h"

#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sbps_status columns_create(size_t count, columns *out, sbps_error *err)
{
    *out = (columns){.name = calloc(count + 1, sizeof *out->name), .count = count, .filled = 1};
    return out->name ? SBPS_OK : fail_memory(err);
}

void columns_clear(columns *c)
{
    for (size_t i = 0; c->name && i < c->count; i++) free(c->name[i]);
    free(c->name);
    free(c->notes);
    *c = (columns){0};
}

sbps_status columns_note(columns *c, sbps_error *err, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    sbps_status status = notes_add(&c->notes, format, values, err);
    va_end(values);
    return status;
}

/* Orders by name, then by column, so that duplicates are reported in file order. */
static int by_name(const void *a, const void *b)
{
    const named_column *p = a, *q = b;
    int sign = strcmp(p->name, q->name);
    if (sign != 0) return sign;
    return p->column < q->column ? -1 : 1;
}

/* Orders by name only, for bsearch. */
static int by_name_alone(const void *a, const void *b)
{
    return strcmp(((const named_column *)a)->name, ((const named_column *)b)->name);
}

sbps_status column_index_create(const char *path, const columns *c, column_index *out,
                                sbps_error *err)
{
    *out = (column_index){.entry = malloc((c->count + 1) * sizeof *out->entry)};
    if (!out->entry) return fail_memory(err);
    for (size_t i = 0; i < c->count; i++)
        if (c->name[i] && c->name[i][0])
            out->entry[out->count++] = (named_column){c->name[i], i};
    qsort(out->entry, out->count, sizeof *out->entry, by_name);
    for (size_t i = 1; i < out->count; i++) {
        const named_column *a = &out->entry[i - 1], *b = &out->entry[i];
        if (strcmp(a->name, b->name) != 0) continue;
        sbps_status status =
            fail(err, SBPS_BAD_FILE, "%s:1: columns %zu and %zu are both named '%s'", path,
                 a->column + 1, b->column + 1, show_name(a->name).text);
        free(out->entry);
        *out = (column_index){0};
        return status;
    }
    return SBPS_OK;
}

/* Reports an unknown name together with the nearest known one. */
static sbps_status fail_unknown(const column_index *x, const char *path, const char *option,
                                const char *name, sbps_error *err)
{
    const char **names = malloc((x->count + 1) * sizeof *names);
    if (!names) return fail_memory(err);
    for (size_t i = 0; i < x->count; i++) names[i] = x->entry[i].name;
    name_hint hint = did_you_mean(";", name, names, x->count);
    free(names);
    return fail(err, SBPS_BAD_ARG, "%s: --%s: no column is named '%s'%s", path, option,
                show_name(name).text, hint.text);
}

/* Returns the entry of this name, or NULL. */
static const named_column *find_name(const column_index *x, const char *name)
{
    const named_column key = {name, 0};
    return bsearch(&key, x->entry, x->count, sizeof *x->entry, by_name_alone);
}

sbps_status column_index_find(const column_index *x, const char *path, const char *option,
                              const char *name, size_t *column, sbps_error *err)
{
    char *clean = utf8_copy(name, strlen(name)); /* names of columns are UTF-8, too */
    if (!clean) return fail_memory(err);
    const named_column *found = find_name(x, clean);
    sbps_status status = found ? SBPS_OK : fail_unknown(x, path, option, clean, err);
    if (found) *column = found->column;
    free(clean);
    return status;
}

/* ---- lists ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_blanks(const char *p)
{
    while (is_blank(*p)) p++;
    return p;
}

/* Copies the quoted name at `p`; a doubled quote stands for one. Returns its end, or NULL if
 * the text is not one quoted name followed by a comma or the end. */
static const char *take_quoted(const char *p, char *name)
{
    for (p++; *p; p++) {
        if (*p == '"' && *++p != '"') {
            *name = '\0';
            p = skip_blanks(p);
            return *p == ',' || !*p ? p : NULL;
        }
        *name++ = *p;
    }
    return NULL;
}

/* Copies the text up to the next comma without a backslash before it, trimmed; returns its
 * end. */
static const char *take_plain(const char *p, char *name)
{
    char *begin = name;
    for (; *p && *p != ','; p++) {
        if (p[0] == '\\' && p[1] == ',') p++;
        *name++ = *p;
    }
    while (name > begin && is_blank(name[-1])) name--;
    *name = '\0';
    return p;
}

bool next_in_list(const char **list, char *name)
{
    if (!*list) return false;
    const char *p = skip_blanks(*list), *end = *p == '"' ? take_quoted(p, name) : NULL;
    if (!end) end = take_plain(p, name);
    *list = *end ? end + 1 : NULL;
    return true;
}

const char *nonblank_text(const char *option)
{
    if (!option) return NULL;
    for (const char *p = option; *p; p++)
        if (!is_blank(*p)) return option;
    return NULL;
}

/* ---- the header of a delimited file ----
 *
 * The separator is the first of comma, tab, semicolon, bar and runs of blanks that occurs in
 * the first line, and equally often in the second line, text in quotes excluded. If there is
 * none, one that occurs once more in the second line, where rows have names and the header has
 * no cell for them. If there is none, the comma, so that messages are about commas. */

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

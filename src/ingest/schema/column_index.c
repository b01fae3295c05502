/* Columns by name, through a sorted index: finding k of n names costs O((n + k) log n). */
#include "ingest/schema/column_index.h"

#include "core/printable.h"
#include "core/text.h"
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

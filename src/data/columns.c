/* Columns by name: a sorted index, so that wide tables stay cheap. */
#include "data/columns.h"

#include "data/text.h"
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
    *c = (columns){0};
}

static int by_name(const void *a, const void *b)
{
    const named_column *p = a, *q = b;
    int sign = strcmp(p->name, q->name);
    if (sign != 0) return sign;
    return p->column < q->column ? -1 : 1;
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

static int compare_span(const char *begin, size_t length, const char *name)
{
    int sign = strncmp(begin, name, length);
    return sign != 0 ? sign : (name[length] ? -1 : 0);
}

static sbps_status fail_unknown(const column_index *x, const char *path, const char *option,
                                const char *begin, const char *end, sbps_error *err)
{
    shown word = show(begin, end);
    const char **names = malloc((x->count + 1) * sizeof *names);
    if (!names) return fail_memory(err);
    for (size_t i = 0; i < x->count; i++) names[i] = x->entry[i].name;
    const char *near = nearest_name(word.text, names, x->count);
    free(names);
    if (near)
        return fail(err, SBPS_BAD_ARG, "%s: --%s: no column is named '%s'; did you mean '%s'?",
                    path, option, word.text, show_name(near).text);
    return fail(err, SBPS_BAD_ARG, "%s: --%s: no column is named '%s'", path, option,
                word.text);
}

sbps_status column_index_find(const column_index *x, const char *path, const char *option,
                              const char *begin, const char *end, size_t *column,
                              sbps_error *err)
{
    size_t low = 0, high = x->count, length = (size_t)(end - begin);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int sign = compare_span(begin, length, x->entry[middle].name);
        if (sign == 0) return *column = x->entry[middle].column, SBPS_OK;
        if (sign < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return fail_unknown(x, path, option, begin, end, err);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool next_in_list(const char **list, const char **begin, const char **end)
{
    if (!*list) return false;
    const char *p = *list, *q = strchrnul(p, ',');
    *list = *q ? q + 1 : NULL;
    while (p < q && is_blank(*p)) p++;
    while (p < q && is_blank(q[-1])) q--;
    *begin = p;
    *end = q;
    return true;
}

const char *given_text(const char *option)
{
    if (!option) return NULL;
    for (const char *p = option; *p; p++)
        if (!is_blank(*p)) return option;
    return NULL;
}

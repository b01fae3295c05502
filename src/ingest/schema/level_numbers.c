#include "ingest/schema/level_numbers.h"

#include "core/decimal_form.h"
#include "ingest/formula/number_format.h"
#include "ingest/schema/number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one form for each number ---- */

/* NULL in *out: no number. False: no memory. */
static bool make_form(const char *from, char **out)
{
    size_t length = strlen(from);
    char *form = *out = malloc(length + DECIMAL_FORM_EXTRA);
    if (!form || decimal_form(from, length, length + DECIMAL_FORM_EXTRA, form)) return form;
    free(form);
    *out = NULL;
    return true;
}

bool same_decimal(const char *a, const char *b)
{
    char *one = NULL, *other = NULL;
    bool same =
        make_form(a, &one) && one && make_form(b, &other) && other && strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

/* ---- levels ---- */

typedef struct {
    char *form;
    size_t code;
} written;

static int by_form(const void *a, const void *b)
{
    const written *p = a, *q = b;
    int order = strcmp(p->form, q->form);
    return order ? order : (p->code > q->code) - (p->code < q->code);
}

/* Forms of all levels that have rows; *count is 0 where one of them is no number. False: no memory. */
static bool list_forms(const levels *l, written *list, size_t *count)
{
    bool numbers = true, whole = true;
    *count = 0;
    for (size_t code = 0; numbers && whole && code < l->count; code++) {
        if (l->item[code].rows == 0) continue;
        written *w = &list[*count];
        w->code = code;
        whole = make_form(l->item[code].text, &w->form);
        numbers = w->form != NULL;
        if (numbers) ++*count;
    }
    for (size_t k = 0; !numbers && k < *count; k++) free(list[k].form);
    if (!numbers) *count = 0;
    return whole;
}

/* R's, where its 15 digits are the number; else the shortest of their texts. NULL: no memory. */
static char *name_number(const levels *l, const written *all, size_t count, locale_t c_locale)
{
    const char *best = l->item[all->code].text;
    double value;
    if (number_read(best, c_locale, &value)) {
        number_shown name = number_as_written(value, 15);
        if (same_decimal(name.text, best)) return strdup(name.text);
    }
    for (size_t k = 1; k < count; k++) {
        const char *own = l->item[all[k].code].text;
        size_t length = strlen(own), best_length = strlen(best);
        if (length < best_length || (length == best_length && strcmp(own, best) < 0))
            best = own;
    }
    return strdup(best);
}

static bool merge_spellings(levels *l, const written *all, size_t count, locale_t c_locale)
{
    char *name = name_number(l, all, count, c_locale);
    level *to = &l->item[all->code];
    if (!name) return false;
    for (size_t k = 1; k < count; k++) {
        level *from = &l->item[all[k].code];
        to->rows += from->rows;
        from->rows = 0;
        from->joined = all->code + 1;
    }
    free(to->text);
    to->text = name;
    to->length = strlen(name);
    return true;
}

sbps_status levels_join_numbers(levels *l, locale_t c_locale, sbps_error *err)
{
    written *list = calloc(l->count + 1, sizeof *list);
    size_t count = 0;
    bool whole = list && list_forms(l, list, &count);
    if (whole && count > 0) qsort(list, count, sizeof *list, by_form);
    for (size_t k = 0, n; whole && k < count; k += n) {
        for (n = 1; k + n < count && strcmp(list[k].form, list[k + n].form) == 0;) n++;
        if (n > 1) whole = merge_spellings(l, list + k, n, c_locale);
    }
    for (size_t k = 0; list && k < count; k++) free(list[k].form);
    free(list);
    return whole ? SBPS_OK : fail_memory(err);
}

void levels_rank_joined(const levels *l, size_t *rank)
{
    for (size_t code = 0; code < l->count; code++)
        if (l->item[code].joined) rank[code] = rank[l->item[code].joined - 1];
}

size_t level_names(const char *text, locale_t c_locale, char name[LEVEL_NAMES][LEVEL_NAME])
{
    double value;
    size_t count = 0;
    const char *end = number_read(text, c_locale, &value);
    if (!end || *end || !isfinite(value) || !same_decimal(text, text)) return 0;
    number_shown shown15 = number_as_written(value, 15);
    bool whole = value == floor(value) && fabs(value) < 1e18;
    bool same = same_decimal(shown15.text, text);
    if (same) snprintf(name[count++], LEVEL_NAME, "%s", shown15.text);
    if (whole) {
        snprintf(name[count], LEVEL_NAME, "%.0f", value);
        count += same_decimal(name[count], text);
    }
    if (whole && !same) snprintf(name[count++], LEVEL_NAME, "%s", shown15.text);
    return count;
}

/* Levels of a category: a hash table with open addressing (FNV-1a, linear probing, at most half
 * full).
 *
 * Numbers are compared by their canonical decimal form (decimal_form), which is exact
 * for any number of digits, while two different texts such as 1e16 and 10000000000000001 may be
 * the same double. */
#include "ingest/schema/levels.h"

#include "core/decimal.h"
#include "core/text.h"
#include "ingest/schema/number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

levels *levels_create(void)
{
    return calloc(1, sizeof(levels));
}

void levels_reset(levels *l)
{
    for (size_t i = 0; i < l->count; i++) free(l->item[i].text);
    for (size_t i = 0; i < l->slots; i++) l->slot[i] = 0;
    l->count = 0;
}

void levels_destroy(levels *l)
{
    if (!l) return;
    for (size_t i = 0; i < l->count; i++) free(l->item[i].text);
    free(l->item);
    free(l->slot);
    free(l);
}

/* FNV-1a; the high half is folded in because slots are chosen by the low bits. */
static uint64_t text_hash(const char *begin, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)begin[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

/* Returns the slot that holds the text, or the free one where it belongs. */
static size_t *find_slot(const levels *l, const char *begin, size_t length)
{
    size_t mask = l->slots - 1;
    for (size_t i = text_hash(begin, length) & mask;; i = (i + 1) & mask) {
        if (l->slot[i] == 0) return &l->slot[i];
        const level *at = &l->item[l->slot[i] - 1];
        if (at->length == length && memcmp(at->text, begin, length) == 0) return &l->slot[i];
    }
}

/* Doubles the hash table and inserts all levels again. */
static bool grow_slots(levels *l)
{
    size_t slots = l->slots ? 2 * l->slots : 64;
    size_t *fresh = calloc(slots, sizeof *fresh);
    if (!fresh) return false;
    free(l->slot);
    l->slot = fresh;
    l->slots = slots;
    for (size_t code = 0; code < l->count; code++)
        *find_slot(l, l->item[code].text, l->item[code].length) = code + 1;
    return true;
}

/* Appends a level, not yet in the hash table. */
static bool add_level(levels *l, const char *begin, size_t length)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 16;
        level *item = realloc(l->item, capacity * sizeof *item);
        if (!item) return false;
        l->item = item;
        l->capacity = capacity;
    }
    char *copy = strndup(begin, length);
    if (!copy) return false;
    l->item[l->count++] = (level){.text = copy, .length = length};
    return true;
}

/* Returns whether two texts are spellings of one level: of a number, or of true or false. */
static bool same_level(const char *a, const char *b)
{
    for (int value = 0; value < 2; value++)
        if (is_truth(a, value) && is_truth(b, value)) return true;
    return same_decimal(a, b);
}

bool levels_code(levels *l, const char *begin, const char *end, size_t *code)
{
    size_t length = (size_t)(end - begin);
    if (2 * l->count >= l->slots && !grow_slots(l)) return false;
    size_t *slot = find_slot(l, begin, length);
    if (*slot == 0) {
        if (!add_level(l, begin, length)) return false;
        *slot = l->count;
        /* A new spelling of a known level is joined with it. */
        for (size_t k = 0; k < l->known && !l->item[l->count - 1].joined; k++)
            if (same_level(l->item[k].text, l->item[l->count - 1].text))
                l->item[l->count - 1].joined = k + 1;
    }
    *code = *slot - 1;
    if (l->item[*code].joined) *code = l->item[*code].joined - 1;
    return true;
}

bool levels_merge(levels *l, const levels *from, size_t *code)
{
    for (size_t k = 0; k < from->count; k++) {
        const level *item = &from->item[k];
        if (!levels_code(l, item->text, item->text + item->length, &code[k])) return false;
        l->item[code[k]].rows += item->rows;
    }
    return true;
}

/* ---- order ---- */

static bool is_digit(char c)
{
    return '0' <= c && c <= '9';
}

/* Compares the runs of digits at *a and *b by value and moves both to their ends. */
static int compare_runs(const char **a, const char **b)
{
    while (**a == '0') ++*a;
    while (**b == '0') ++*b;
    const char *p = *a, *q = *b;
    while (is_digit(**a)) ++*a;
    while (is_digit(**b)) ++*b;
    size_t m = (size_t)(*a - p), n = (size_t)(*b - q);
    if (m != n) return m < n ? -1 : 1;
    return memcmp(p, q, m);
}

/* Natural order; texts equal in it (a1, a01) are ordered by their bytes. */
static int compare_texts(const char *a, const char *b)
{
    const char *p = a, *q = b;
    while (*p && *q) {
        int sign = is_digit(*p) && is_digit(*q) ? compare_runs(&p, &q)
                                                : (unsigned char)*p++ - (unsigned char)*q++;
        if (sign != 0) return sign;
    }
    return *p || *q ? (*p ? 1 : -1) : strcmp(a, b);
}

typedef struct {
    const char *text;
    double value; /* valid if all levels are numbers */
    size_t code;
} sortable;

/* Orders by value, equal values by their texts. */
static int by_value(const void *a, const void *b)
{
    const sortable *p = a, *q = b;
    if (p->value != q->value) return p->value < q->value ? -1 : 1;
    return compare_texts(p->text, q->text);
}

static int by_natural_order(const void *a, const void *b)
{
    return compare_texts(((const sortable *)a)->text, ((const sortable *)b)->text);
}

sbps_status levels_order(const levels *l, size_t *order, size_t *used, sbps_error *err)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    sortable *list = malloc((l->count + 1) * sizeof *list);
    bool numeric = true, ready = c_locale && list;
    *used = 0;
    for (size_t code = 0; ready && code < l->count; code++) {
        if (l->item[code].rows == 0) continue;
        sortable *s = &list[(*used)++];
        *s = (sortable){.text = l->item[code].text, .code = code};
        numeric = number_read(l->item[code].text, c_locale, &s->value) ==
                      l->item[code].text + l->item[code].length &&
                  numeric;
    }
    if (*used > 0 && !l->listed)
        qsort(list, *used, sizeof *list, numeric ? by_value : by_natural_order);
    for (size_t i = 0; i < *used; i++) order[i] = list[i].code;
    free(list);
    if (c_locale) freelocale(c_locale);
    return ready ? SBPS_OK : fail_memory(err);
}

/* ---- levels that are numbers ---- */

/* Sets *out to the canonical form of a number, which the caller frees, or to NULL if the text
 * is not a number. Returns false without memory. */
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

/* The canonical form of a level. */
typedef struct {
    char *form; /* owned */
    size_t code;
} number_form;

/* Orders by form, then by code, so that the first level of a number is the one that stays. */
static int by_form(const void *a, const void *b)
{
    const number_form *p = a, *q = b;
    int order = strcmp(p->form, q->form);
    return order ? order : (p->code > q->code) - (p->code < q->code);
}

/* Lists the forms of all levels that have rows; *count is 0 if one of them is not a number.
 * Returns false without memory. */
static bool list_forms(const levels *l, number_form *list, size_t *count)
{
    bool numbers = true, whole = true;
    *count = 0;
    for (size_t code = 0; numbers && whole && code < l->count; code++) {
        if (l->item[code].rows == 0) continue;
        number_form *w = &list[*count];
        w->code = code;
        whole = make_form(l->item[code].text, &w->form);
        numbers = w->form != NULL;
        if (numbers) ++*count;
    }
    for (size_t k = 0; !numbers && k < *count; k++) free(list[k].form);
    if (!numbers) *count = 0;
    return whole;
}

/* Returns the name of a number that has several spellings: R's, if its 15 digits are the
 * number; else the shortest spelling. The caller frees it; NULL: no memory. */
static char *name_number(const levels *l, const number_form *all, size_t count,
                         locale_t c_locale)
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

/* Joins `count` levels that are one number into the first of them. */
static bool merge_spellings(levels *l, const number_form *all, size_t count, locale_t c_locale)
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
    number_form *list = calloc(l->count + 1, sizeof *list);
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

size_t level_names(const char *spelling, locale_t c_locale, char name[LEVEL_NAMES][LEVEL_NAME])
{
    double value;
    size_t count = 0;
    const char *end = number_read(spelling, c_locale, &value);
    if (!end || *end || !isfinite(value) || !same_decimal(spelling, spelling)) return 0;
    number_shown shown15 = number_as_written(value, 15);
    bool whole = value == floor(value) && fabs(value) < 1e18;
    bool same = same_decimal(shown15.text, spelling);
    if (same) snprintf(name[count++], LEVEL_NAME, "%s", shown15.text);
    if (whole) {
        snprintf(name[count], LEVEL_NAME, "%.0f", value);
        count += same_decimal(name[count], spelling);
    }
    if (whole && !same) snprintf(name[count++], LEVEL_NAME, "%s", shown15.text);
    return count;
}

/* Levels: an open-addressing dictionary (FNV-1a, linear probing, at most half full). */
#include "ingest/schema/levels.h"

#include "ingest/schema/level_numbers.h"
#include "ingest/schema/number.h"
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

static uint64_t text_hash(const char *begin, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)begin[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t *find_slot(const levels *l, const char *begin, size_t length)
{
    size_t mask = l->slots - 1;
    for (size_t i = text_hash(begin, length) & mask;; i = (i + 1) & mask) {
        if (l->slot[i] == 0) return &l->slot[i];
        const level *at = &l->item[l->slot[i] - 1];
        if (at->length == length && memcmp(at->text, begin, length) == 0) return &l->slot[i];
    }
}

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

bool levels_code(levels *l, const char *begin, const char *end, size_t *code)
{
    size_t length = (size_t)(end - begin);
    if (2 * l->count >= l->slots && !grow_slots(l)) return false;
    size_t *slot = find_slot(l, begin, length);
    if (*slot == 0) {
        if (!add_level(l, begin, length)) return false;
        *slot = l->count;
        for (size_t k = 0; k < l->numbers && !l->item[l->count - 1].joined; k++)
            if (same_decimal(l->item[k].text, l->item[l->count - 1].text))
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

static bool is_digit(char c)
{
    return '0' <= c && c <= '9';
}

/* Compares the runs of digits at *a and *b by value and moves behind them. */
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

/* Natural order; texts it cannot tell apart (a1, a01) go by their bytes. */
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
    double value;
    size_t code;
} sortable;

static int by_value(const void *a, const void *b)
{
    const sortable *p = a, *q = b;
    if (p->value != q->value) return p->value < q->value ? -1 : 1;
    return compare_texts(p->text, q->text);
}

static int by_text(const void *a, const void *b)
{
    return compare_texts(((const sortable *)a)->text, ((const sortable *)b)->text);
}

static bool as_number(const level *l, locale_t c_locale, double *value)
{
    return number_read(l->text, c_locale, value) == l->text + l->length;
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
        numeric = as_number(&l->item[code], c_locale, &s->value) && numeric;
    }
    if (*used > 0 && !l->listed) qsort(list, *used, sizeof *list, numeric ? by_value : by_text);
    for (size_t i = 0; i < *used; i++) order[i] = list[i].code;
    free(list);
    if (c_locale) freelocale(c_locale);
    return ready ? SBPS_OK : fail_memory(err);
}

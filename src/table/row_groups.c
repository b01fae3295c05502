/* Groups of rows: freeing them, and their bytes in a converted table. These are 64-bit words,
 * arrays, then strings, each padded to a multiple of 8 bytes. Everything read is checked: every
 * count before it is used, every level, column and first row of a group. */
#include "table/row_groups.h"

#include "core/memory.h"
#include <stdlib.h>
#include <string.h>

void row_groups_destroy(row_groups *g)
{
    if (!g) return;
    for (size_t f = 0; g->factor && f < g->factors; f++) {
        free(g->factor[f].name);
        free_texts(g->factor[f].level, g->factor[f].levels);
        free(g->factor[f].of);
    }
    for (size_t t = 0; g->term && t < g->terms; t++) {
        free_texts(g->term[t].names, g->term[t].count);
        free(g->term[t].column);
    }
    free(g->factor);
    free(g->term);
    free(g->z);
    free(g->start);
    free(g);
}

/* ---- writing ---- */

typedef struct {
    unsigned char *to; /* NULL: bytes are only counted */
    size_t used;
} byte_writer;

static void put_block(byte_writer *w, const void *bytes, size_t size)
{
    size_t padded = (size + 7) / 8 * 8;
    if (w->to && size > 0) memcpy(w->to + w->used, bytes, size);
    if (w->to) memset(w->to + w->used + size, 0, padded - size);
    w->used += padded;
}

static void put_word(byte_writer *w, uint64_t word)
{
    put_block(w, &word, sizeof word);
}

static void put_text(byte_writer *w, const char *text)
{
    put_block(w, text, strlen(text) + 1);
}

static void put_term(byte_writer *w, const group_term *t)
{
    put_word(w, t->factor);
    put_word(w, t->correlated);
    put_word(w, t->count);
    for (size_t j = 0; j < t->count; j++) put_word(w, t->column[j]);
    for (size_t j = 0; j < t->count; j++) put_text(w, t->names[j]);
}

size_t groups_write(const row_groups *g, size_t n, const char *formula, unsigned char *to)
{
    byte_writer w = {.to = to};
    put_text(&w, formula);
    put_word(&w, g->factors);
    put_word(&w, g->terms);
    put_word(&w, g->width);
    put_word(&w, g->by);
    put_word(&w, g->nested);
    for (size_t k = 0; k < g->nested; k++) put_word(&w, g->nested_factor[k]);
    put_word(&w, g->count);
    for (size_t k = 0; k <= g->count; k++) put_word(&w, g->start[k]);
    for (size_t f = 0; f < g->factors; f++) {
        put_text(&w, g->factor[f].name);
        put_word(&w, g->factor[f].levels);
        put_block(&w, g->factor[f].of, n * sizeof *g->factor[f].of);
        for (size_t k = 0; k < g->factor[f].levels; k++) put_text(&w, g->factor[f].level[k]);
    }
    for (size_t t = 0; t < g->terms; t++) put_term(&w, &g->term[t]);
    put_block(&w, g->z, n * g->width * sizeof *g->z);
    return w.used;
}

/* ---- reading ---- */

typedef struct {
    const unsigned char *at;
    size_t left;
} byte_reader;

/* Returns a copy of `count` items of `size` bytes; NULL: there are fewer, or no memory. */
static void *take_block(byte_reader *r, size_t count, size_t size)
{
    if (count > r->left / size) return NULL;
    size_t padded = (count * size + 7) / 8 * 8;
    void *out = padded <= r->left ? aligned_block(padded + 8) : NULL;
    if (!out) return NULL;
    memcpy(out, r->at, padded);
    r->at += padded;
    r->left -= padded;
    return out;
}

/* Reads one word; false: there is none, or it exceeds `limit`. */
static bool take_word(byte_reader *r, size_t limit, size_t *out)
{
    uint64_t word;
    if (r->left < sizeof word) return false;
    memcpy(&word, r->at, sizeof word);
    r->at += sizeof word;
    r->left -= sizeof word;
    *out = word;
    return word <= limit;
}

/* Returns the next string in place; NULL: it does not end. */
static const char *find_text(byte_reader *r)
{
    const char *text = (const char *)r->at;
    size_t length = strnlen(text, r->left), padded = (length + 8) / 8 * 8;
    if (length == r->left || padded > r->left) return NULL;
    r->at += padded;
    r->left -= padded;
    return text;
}

static bool take_text(byte_reader *r, char **out)
{
    const char *text = find_text(r);
    return text && (*out = copy_text(text));
}

static bool take_factor(byte_reader *r, size_t n, group_factor *f)
{
    size_t count;
    bool sound = take_text(r, &f->name) && take_word(r, r->left / 8, &count) &&
                 (f->of = take_block(r, n, sizeof *f->of)) &&
                 (f->level = calloc(count + 1, sizeof *f->level));
    if (!sound) return false;
    f->levels = count;
    for (size_t k = 0; k < count; k++)
        if (!take_text(r, &f->level[k])) return false;
    for (size_t i = 0; i < n; i++)
        if (f->of[i] >= count) return false;
    return true;
}

static bool take_term(byte_reader *r, const row_groups *g, group_term *t)
{
    size_t correlated, count;
    bool sound = take_word(r, g->factors - 1, &t->factor) && take_word(r, 1, &correlated) &&
                 take_word(r, r->left / 8, &count) &&
                 (t->column = calloc(count + 1, sizeof *t->column)) &&
                 (t->names = calloc(count + 1, sizeof *t->names));
    if (!sound || count == 0) return false;
    t->correlated = correlated;
    t->count = count;
    for (size_t j = 0; j < count; j++)
        if (!take_word(r, SIZE_MAX, &t->column[j]) ||
            (t->column[j] >= g->width && t->column[j] != GROUP_CONSTANT))
            return false;
    for (size_t j = 0; j < count; j++)
        if (!take_text(r, &t->names[j])) return false;
    return true;
}

static bool take_nested(byte_reader *r, size_t factors, row_groups *g)
{
    if (!take_word(r, GROUP_NESTED_MAX, &g->nested)) return false;
    for (size_t k = 0; k < g->nested; k++)
        if (!take_word(r, factors - 1, &g->nested_factor[k])) return false;
    return true;
}

static bool take_starts(byte_reader *r, size_t n, row_groups *g)
{
    g->start = take_block(r, g->count + 1, sizeof *g->start);
    if (!g->start || g->start[0] != 0 || g->start[g->count] != n) return false;
    for (size_t k = 0; k < g->count; k++)
        if (g->start[k] >= g->start[k + 1]) return false;
    return true;
}

static bool has_term(const row_groups *g, size_t factor)
{
    size_t t = 0;
    while (t < g->terms && g->term[t].factor != factor) t++;
    return t < g->terms;
}

/* Returns whether the rows of every level are consecutive, and within one level of `within`. */
static bool levels_are_contiguous(const group_factor *f, const group_factor *within, size_t n)
{
    bool *seen = calloc(f->levels + 1, sizeof *seen), contiguous = seen;
    for (size_t i = 0; contiguous && i < n; i++) {
        bool new = i == 0 || f->of[i] != f->of[i - 1];
        if (new)
            contiguous = !seen[f->of[i]];
        else
            contiguous = within->of[i] == within->of[i - 1];
        seen[f->of[i]] = true;
    }
    free(seen);
    return contiguous;
}

/* Returns whether groups are the runs of rows of one level of `by`, and the same for nested
 * factors. */
static bool groups_are_contiguous(const row_groups *g, size_t n)
{
    const group_factor *within = &g->factor[g->by];
    if (!has_term(g, g->by) || g->count != within->levels ||
        !levels_are_contiguous(within, within, n))
        return false;
    for (size_t k = 0; k < g->count; k++)
        if (g->start[k] > 0 && within->of[g->start[k]] == within->of[g->start[k] - 1])
            return false;
    for (size_t k = 0; k < g->nested; k++) {
        const group_factor *inner = &g->factor[g->nested_factor[k]];
        if (!has_term(g, g->nested_factor[k]) || !levels_are_contiguous(inner, within, n))
            return false;
        within = inner;
    }
    return true;
}

static bool take_groups(byte_reader *r, size_t n, row_groups *g, const char **formula)
{
    size_t limit = r->left / 8, factors, terms;
    if (!(*formula = find_text(r)) || !take_word(r, limit, &factors) ||
        !take_word(r, limit, &terms) || !take_word(r, limit, &g->width) || factors == 0 ||
        terms == 0 || !take_word(r, factors - 1, &g->by) || !take_nested(r, factors, g) ||
        !take_word(r, limit, &g->count) || !take_starts(r, n, g))
        return false;
    g->factor = calloc(factors, sizeof *g->factor);
    g->term = calloc(terms, sizeof *g->term);
    if (!g->factor || !g->term) return false;
    while (g->factors < factors)
        if (!take_factor(r, n, &g->factor[g->factors++])) return false;
    while (g->terms < terms)
        if (!take_term(r, g, &g->term[g->terms++])) return false;
    if (g->width > SIZE_MAX / (8 * n) ||
        (g->width > 0 && !(g->z = take_block(r, n * g->width, 8))))
        return false;
    return r->left == 0 && groups_are_contiguous(g, n);
}

row_groups *groups_read(const unsigned char *bytes, size_t size, size_t n, const char **formula)
{
    byte_reader r = {bytes, size};
    row_groups *g = calloc(1, sizeof *g);
    if (g && take_groups(&r, n, g, formula)) return g;
    row_groups_destroy(g);
    return NULL;
}

/* A factor is a column, or several whose combinations are its levels. A row's key is the number of its
 * combination, the first column counting most; the keys that occur, in order, are the levels. */
#include "ingest/design/group_levels.h"

#include "core/memory.h"
#include "core/printable.h"
#include "core/text.h"
#include "ingest/formula/number_format.h"
#include <stdlib.h>
#include <string.h>

#define TABLE_MIN ((uint64_t)1 << 20) /* combinations that a table of all is made for anyway */

/* A column of a factor: its levels, by their ranks. */
typedef struct {
    const formula_column *of;
    double *value; /* of a column of numbers: the distinct ones, increasing; else NULL */
    size_t levels;
} key_part;

typedef struct {
    const design *g;
    const chunks *read;
    key_part *part;
    size_t parts;
    uint64_t *key;  /* of every row */
    uint64_t *used; /* keys that occur, increasing */
    size_t count;
} keying;

/* ---- columns of numbers ---- */

static sbps_status all_values(const keying *k, size_t slot, double *value, sbps_error *err)
{
    const chunks *c = k->read;
    double *line = run_line(c) ? new_doubles(run_line(c)) : NULL;
    if (run_line(c) && !line) return fail_memory(err);
    for (size_t r = 0; r < c->runs; r++) {
        double *at = c->run[r].first;
        for (size_t i = 0; i < c->run[r].rows; i++) *value++ = run_next(c, &at, line)[slot];
    }
    free(line);
    return SBPS_OK;
}

static sbps_status find_values(const keying *k, key_part *p, sbps_error *err)
{
    size_t n = k->read->rows, count = 0;
    double *value = p->value = unset_doubles(n);
    sbps_status status = value ? all_values(k, p->of->slot, value, err) : fail_memory(err);
    if (status != SBPS_OK) return status;
    qsort(value, n, sizeof *value, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || value[i] != value[count - 1]) value[count++] = value[i];
    p->levels = count;
    return SBPS_OK;
}

static size_t rank_of(const key_part *p, const double *row)
{
    double x = row[p->of->slot];
    if (!p->value) return p->of->rank[(size_t)x];
    const double *found = bsearch(&x, p->value, p->levels, sizeof x, by_number);
    return (size_t)(found - p->value);
}

static char *rank_name(const key_part *p, size_t rank)
{
    if (!p->value) return copy_text(p->of->level[rank]);
    return copy_text(number_as_level(p->value[rank]).text);
}

/* ---- keys ---- */

static sbps_status open_parts(keying *k, const formula_group *from, sbps_error *err)
{
    const formula *f = k->g->schema->formula;
    uint64_t all = 1;
    sbps_status status = SBPS_OK;
    for (size_t i = 0; status == SBPS_OK && i < k->parts; i++) {
        key_part *p = &k->part[i];
        *p = (key_part){.of = &f->column[from->column[i]]};
        p->levels = p->of->levels;
        if (!p->of->category) status = find_values(k, p, err);
        if (status == SBPS_OK && p->levels > 0 && all > UINT64_MAX / p->levels)
            return fail(err, SBPS_BAD_DATA, "%s: (|%s): too many combinations of levels",
                        k->g->schema->path, show_name(from->name).text);
        all *= p->levels;
    }
    return status;
}

static sbps_status make_keys(keying *k, sbps_error *err)
{
    const chunks *c = k->read;
    uint64_t *key = k->key = malloc(c->rows * sizeof *key);
    double *line = run_line(c) ? new_doubles(run_line(c)) : NULL;
    if (!key || (run_line(c) && !line)) {
        free(line);
        return fail_memory(err);
    }
    for (size_t r = 0; r < c->runs; r++) {
        double *at = c->run[r].first;
        for (size_t i = 0; i < c->run[r].rows; i++) {
            const double *row = run_next(c, &at, line);
            *key = 0;
            for (size_t j = 0; j < k->parts; j++)
                *key = *key * k->part[j].levels + rank_of(&k->part[j], row);
            key++;
        }
    }
    free(line);
    return SBPS_OK;
}

static uint64_t combinations(const keying *k)
{
    uint64_t all = 1;
    for (size_t j = 0; j < k->parts; j++) all *= k->part[j].levels;
    return all;
}

/* ---- the level of a key ---- */

/* By a table of all combinations, where it is no larger than the rows. */
static sbps_status code_by_table(keying *k, uint64_t all, uint32_t *of, sbps_error *err)
{
    size_t n = k->read->rows;
    uint32_t *code = calloc(all + 1, sizeof *code);
    k->used = malloc((n < all ? n : all) * sizeof *k->used);
    if (!code || !k->used) {
        free(code);
        return fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) code[k->key[i]] = 1;
    for (uint64_t key = 0; key < all; key++) {
        if (!code[key]) continue;
        code[key] = (uint32_t)k->count;
        k->used[k->count++] = key;
    }
    for (size_t i = 0; i < n; i++) of[i] = code[k->key[i]];
    free(code);
    return SBPS_OK;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static sbps_status code_by_order(keying *k, uint32_t *of, sbps_error *err)
{
    size_t n = k->read->rows;
    uint64_t *used = k->used = malloc(n * sizeof *used);
    if (!used) return fail_memory(err);
    memcpy(used, k->key, n * sizeof *used);
    qsort(used, n, sizeof *used, by_key);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || used[i] != used[k->count - 1]) used[k->count++] = used[i];
    for (size_t i = 0; i < n; i++) {
        const uint64_t *found = bsearch(&k->key[i], used, k->count, sizeof *used, by_key);
        of[i] = (uint32_t)(found - used);
    }
    return SBPS_OK;
}

/* "a", or "a:b". */
static char *level_name(const keying *k, uint64_t key)
{
    text t = {0};
    uint64_t below = combinations(k);
    for (size_t j = 0; j < k->parts; j++) {
        below /= k->part[j].levels;
        char *name = rank_name(&k->part[j], (size_t)(key / below));
        key %= below;
        t.failed |= !name;
        text_add(&t, "%s%s", j ? ":" : "", name ? name : "");
        free(name);
    }
    return text_take(&t);
}

static sbps_status name_levels(const keying *k, group_factor *to, sbps_error *err)
{
    to->level = calloc(k->count + 1, sizeof *to->level);
    if (!to->level) return fail_memory(err);
    for (; to->levels < k->count; to->levels++)
        if (!(to->level[to->levels] = level_name(k, k->used[to->levels])))
            return fail_memory(err);
    return SBPS_OK;
}

static sbps_status code_rows(keying *k, group_factor *to, sbps_error *err)
{
    size_t n = k->read->rows;
    uint64_t all = combinations(k);
    bool table = all <= TABLE_MIN || all <= n;
    to->of = malloc(n * sizeof *to->of);
    if (!to->of) return fail_memory(err);
    if (n > UINT32_MAX && all > UINT32_MAX)
        return fail(err, SBPS_BAD_DATA, "%s: groups: more than 2^32 levels",
                    k->g->schema->path);
    return table ? code_by_table(k, all, to->of, err) : code_by_order(k, to->of, err);
}

sbps_status group_levels(const design *g, const formula_group *from, const chunks *read,
                         group_factor *to, sbps_error *err)
{
    keying k = {.g = g, .read = read, .parts = from->columns};
    k.part = calloc(k.parts + 1, sizeof *k.part);
    *to = (group_factor){.name = copy_text(from->name)};
    sbps_status status = k.part && to->name ? open_parts(&k, from, err) : fail_memory(err);
    if (status == SBPS_OK) status = make_keys(&k, err);
    if (status == SBPS_OK) status = code_rows(&k, to, err);
    if (status == SBPS_OK) status = name_levels(&k, to, err);
    for (size_t j = 0; k.part && j < k.parts; j++) free(k.part[j].value);
    free(k.part);
    free(k.key);
    free(k.used);
    return status;
}

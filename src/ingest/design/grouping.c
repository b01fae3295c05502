/* Groups of a table. Rows are stored by the levels of a factor, and within them by those of
 * factors nested in it, so that what is integrated out together is a run of rows. */
#include "ingest/design/grouping.h"

#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "core/text.h"
#include "table/row_origin.h"
#include <stdlib.h>
#include <string.h>

/* ---- nesting of factors ---- */

/* A factor is nested in another if each of its levels is within one level of the other. Rows
 * are stored by the outermost factor of a chain of nested ones, and the effects of the whole
 * chain are integrated out. Effects of other factors are coordinates of the sampler. An
 * outermost factor with few levels is left out of the chain: its effects cost less as
 * coordinates, and the next factor has more groups from which to draw mini-batches. Of all
 * chains the one with the most levels is chosen. */
#define FEW_LEVELS  ((size_t)30)
#define FACTORS_MAX ((size_t)32)
#define NONE        SIZE_MAX

typedef struct {
    const row_groups *r;
    uint32_t *const *code;
    size_t n;
    uint32_t *parent; /* scratch: one per level of any factor */
} nesting;

/* Returns whether every level of `inner` is within one level of `outer`. */
static bool is_within(const nesting *t, size_t inner, size_t outer)
{
    const uint32_t *in = t->code[inner], *out = t->code[outer];
    if (t->r->factor[inner].levels < t->r->factor[outer].levels) return false;
    memset(t->parent, 0xff, t->r->factor[inner].levels * sizeof *t->parent);
    for (size_t i = 0; i < t->n; i++) {
        uint32_t *parent = &t->parent[in[i]];
        if (*parent == UINT32_MAX)
            *parent = out[i];
        else if (*parent != out[i])
            return false;
    }
    return true;
}

/* The best chain that ends with each factor: its number of levels, and the factor before. */
typedef struct {
    size_t levels[FACTORS_MAX], before[FACTORS_MAX];
} chains;

/* Finds the best chain that ends with factor f, whose possible outer factors are order[0], ...,
 * order[known - 1]. */
static void extend(const nesting *t, size_t f, const size_t *order, size_t known, chains *c)
{
    size_t own = t->r->factor[f].levels;
    c->levels[f] = own;
    c->before[f] = NONE;
    for (size_t k = 0; k < known; k++) {
        size_t outer = order[k];
        bool worth = t->r->factor[outer].levels > FEW_LEVELS;
        if (worth && c->levels[outer] + own > c->levels[f] && is_within(t, f, outer)) {
            c->levels[f] = c->levels[outer] + own;
            c->before[f] = outer;
        }
    }
}

/* Sorts factors by levels, fewest first. */
static void sort_factors(const row_groups *r, size_t *order)
{
    for (size_t f = 0; f < r->factors; f++) {
        size_t at = f;
        for (; at > 0 && r->factor[order[at - 1]].levels > r->factor[f].levels; at--)
            order[at] = order[at - 1];
        order[at] = f;
    }
}

/* Stores the chain that ends with `last`. */
static void take_chain(row_groups *r, const chains *c, size_t last)
{
    size_t length = 0, chain[FACTORS_MAX];
    for (size_t f = last; f != NONE; f = c->before[f]) chain[length++] = f;
    if (length > GROUP_NESTED_MAX + 1)
        length = GROUP_NESTED_MAX + 1; /* only the innermost are integrated out */
    r->by = chain[length - 1];
    r->nested = length - 1;
    for (size_t k = 0; k + 1 < length; k++) r->nested_factor[k] = chain[length - 2 - k];
}

/* Chooses r->by and the factors nested in it; code[factor][row] is the level of each of n
 * rows. */
static sbps_status nesting_find(row_groups *r, uint32_t *const *code, size_t n, sbps_error *err)
{
    size_t order[FACTORS_MAX] = {0}, max_levels = 0, last;
    chains c;
    if (r->factors > FACTORS_MAX)
        return fail(err, SBPS_BAD_ARG, "%zu grouping factors; at most %zu are supported",
                    r->factors, FACTORS_MAX);
    for (size_t f = 0; f < r->factors; f++)
        if (r->factor[f].levels > max_levels) max_levels = r->factor[f].levels;
    const nesting t = {r, code, n, malloc(max_levels * sizeof *t.parent)};
    if (!t.parent) return fail_memory(err);
    sort_factors(r, order);
    last = order[0];
    for (size_t k = 0; k < r->factors; k++) {
        extend(&t, order[k], order, k, &c);
        if (c.levels[order[k]] >= c.levels[last]) last = order[k];
    }
    take_chain(r, &c, last);
    free(t.parent);
    return SBPS_OK;
}

/* ==== levels of a factor ==== */

/* A factor is a column, or several whose combinations are its levels. A row's key is the number
 * of its combination, the first column counting most. The keys that occur, in increasing order,
 * are the levels. */
#define TABLE_MIN                                                                              \
    ((uint64_t)1 << 20) /* combinations up to which a table of all is used in any case */

/* A column of a factor, with its levels by rank. */
typedef struct {
    const formula_column *of;
    double *value; /* column of numbers: the distinct values, increasing; else NULL */
    size_t levels;
} key_part;

typedef struct {
    const design *g;
    const chunks *read;
    key_part *part;
    size_t parts;
    uint64_t *key;  /* key of every row */
    uint64_t *used; /* distinct keys, increasing */
    size_t count;
} group_keys;

/* ---- columns of numbers ---- */

/* Copies the values of a slot in all rows. */
static sbps_status all_values(const group_keys *k, size_t slot, double *value, sbps_error *err)
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

/* Finds the distinct values of a column of numbers. */
static sbps_status find_values(const group_keys *k, key_part *p, sbps_error *err)
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

/* Returns the rank of a row's value in a column. */
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

/* Finds the columns of a factor; fails where keys would exceed 64 bits. */
static sbps_status open_parts(group_keys *k, const formula_group *from, sbps_error *err)
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
            return fail(err, SBPS_BAD_DATA, "%s: (1 | %s): too many combinations of levels",
                        k->g->schema->path, show_name(from->name).text);
        all *= p->levels;
    }
    return status;
}

static sbps_status make_keys(group_keys *k, sbps_error *err)
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

/* Returns the number of possible keys. */
static uint64_t combinations(const group_keys *k)
{
    uint64_t all = 1;
    for (size_t j = 0; j < k->parts; j++) all *= k->part[j].levels;
    return all;
}

/* ---- levels of keys ---- */

/* Finds the level of every row by a table of all combinations, if that is no larger than the
 * rows. */
static sbps_status code_by_table(group_keys *k, uint64_t all, uint32_t *of, sbps_error *err)
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

/* Finds the level of every row by sorting the keys. */
static sbps_status code_by_order(group_keys *k, uint32_t *of, sbps_error *err)
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

/* Returns the name of a level, "a" or "a:b"; NULL: no memory. */
static char *level_name(const group_keys *k, uint64_t key)
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

static sbps_status name_levels(const group_keys *k, group_factor *to, sbps_error *err)
{
    to->level = calloc(k->count + 1, sizeof *to->level);
    if (!to->level) return fail_memory(err);
    for (; to->levels < k->count; to->levels++)
        if (!(to->level[to->levels] = level_name(k, k->used[to->levels])))
            return fail_memory(err);
    return SBPS_OK;
}

static sbps_status code_rows(group_keys *k, group_factor *to, sbps_error *err)
{
    size_t n = k->read->rows;
    uint64_t all = combinations(k);
    bool table = all <= TABLE_MIN || all <= n;
    to->of = malloc(n * sizeof *to->of);
    if (!to->of) return fail_memory(err);
    if (n > UINT32_MAX && all > UINT32_MAX)
        return fail(err, SBPS_BAD_DATA, "%s: a factor has more than 2^32 levels",
                    k->g->schema->path);
    return table ? code_by_table(k, all, to->of, err) : code_by_order(k, to->of, err);
}

/* Sets name and levels of a factor, those that rows have in order, and the level of every row
 * as read. */
static sbps_status group_levels(const design *g, const formula_group *from, const chunks *read,
                                group_factor *to, sbps_error *err)
{
    group_keys k = {.g = g, .read = read, .parts = from->columns};
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

/* ---- groups of a table ---- */

static size_t formula_groups(const design *g)
{
    return g->schema->formula ? g->schema->formula->groups : 0;
}

/* ---- factors ---- */

static size_t find_factor(const row_groups *r, const char *name)
{
    size_t k = 0;
    while (k < r->factors && strcmp(r->factor[k].name, name) != 0) k++;
    return k;
}

static sbps_status add_factor(const design *g, const formula_group *from, const chunks *read,
                              sbps_error *err)
{
    row_groups *r = g->r->groups;
    group_factor *to = &r->factor[r->factors++];
    sbps_status status = group_levels(g, from, read, to, err);
    if (status == SBPS_OK && to->levels < 2)
        status = fail(err, SBPS_BAD_DATA, "%s: (1 | %s): there is only one group",
                      g->schema->path, show_name(from->name).text);
    return status;
}

/* ---- terms ---- */

/* Names of the columns of z so far. */
typedef struct {
    const char **name;
    size_t count;
} z_names;

/* Returns the column of z with this name, a new one at the first mention. */
static size_t z_column(z_names *z, const char *name)
{
    size_t k = 0;
    while (k < z->count && strcmp(z->name[k], name) != 0) k++;
    if (k == z->count) z->name[z->count++] = name;
    return k;
}

static sbps_status add_group_term(const design *g, const formula_group *from, z_names *z,
                                  size_t **column, sbps_error *err)
{
    row_groups *r = g->r->groups;
    const formula_design *d = &from->design;
    group_term *to = &r->term[r->terms++];
    *to = (group_term){.factor = find_factor(r, from->name), .correlated = from->correlated};
    to->names = calloc(d->columns + 1, sizeof *to->names);
    to->column = calloc(d->columns + 1, sizeof *to->column);
    *column = calloc(d->columns + 1, sizeof **column);
    if (!to->names || !to->column || !*column) return fail_memory(err);
    if (d->columns == 0)
        return fail_at(g->schema->formula->text, from->left->at, err,
                       "no effect varies with '%s': use (1 | %s) for an intercept",
                       show_name(from->name).text, show_name(from->name).text);
    for (size_t j = 0; j < d->columns; j++) {
        bool constant = d->intercept && j == 0;
        to->names[to->count] = copy_text(constant ? "Intercept" : d->names[j]);
        if (!to->names[to->count++]) return fail_memory(err);
        to->column[j] = (*column)[j] = constant ? GROUP_CONSTANT : z_column(z, d->names[j]);
    }
    return SBPS_OK;
}

/* Fails where a column called Intercept would have the name of the intercept's effect. */
static sbps_status check_effects(const design *g, sbps_error *err)
{
    const row_groups *r = g->r->groups;
    for (size_t t = 0; t < r->terms; t++) {
        const group_term *to = &r->term[t];
        for (size_t a = 0; a < to->count; a++)
            for (size_t s = 0; s < r->terms; s++) {
                const group_term *other = &r->term[s];
                if (other->factor != to->factor || to->column[a] == GROUP_CONSTANT ||
                    other->column[0] != GROUP_CONSTANT || strcmp(to->names[a], "Intercept"))
                    continue;
                return fail(err, SBPS_BAD_DATA,
                            "%s: two effects of '%s' would be named 'Intercept'; rename the "
                            "column",
                            g->schema->path, show_name(g->schema->formula->group[t].name).text);
            }
    }
    return SBPS_OK;
}

static sbps_status add_terms(design *g, grouping *w, sbps_error *err)
{
    const formula *f = g->schema->formula;
    size_t max_columns = 0;
    for (size_t k = 0; k < f->groups; k++) max_columns += f->group[k].design.columns;
    z_names z = {.name = calloc(max_columns + 1, sizeof *z.name)};
    sbps_status status = z.name ? SBPS_OK : fail_memory(err);
    for (size_t k = 0; status == SBPS_OK && k < f->groups; k++)
        status = add_group_term(g, &f->group[k], &z, &w->column[k], err);
    g->r->groups->width = z.count;
    free(z.name);
    return status == SBPS_OK ? check_effects(g, err) : status;
}

static sbps_status allocate(design *g, grouping *w, sbps_error *err)
{
    row_groups *r = g->r->groups = calloc(1, sizeof *r);
    size_t count = formula_groups(g);
    w->code = calloc(count, sizeof *w->code);
    w->column = calloc(count, sizeof *w->column);
    if (!r || !w->code || !w->column) return fail_memory(err);
    r->factor = calloc(count, sizeof *r->factor);
    r->term = calloc(count, sizeof *r->term);
    return r->factor && r->term ? SBPS_OK : fail_memory(err);
}

/* Moves the levels of rows as read into w->code and allocates those in the table's order. */
static sbps_status take_codes(design *g, size_t n, grouping *w, sbps_error *err)
{
    row_groups *r = g->r->groups;
    for (size_t k = 0; k < r->factors; k++) {
        w->code[k] = r->factor[k].of;
        r->factor[k].of = malloc(n * sizeof *r->factor[k].of);
        if (!r->factor[k].of) return fail_memory(err);
    }
    r->z = r->width ? new_doubles(n * r->width) : NULL;
    return r->z || r->width == 0 ? nesting_find(r, w->code, n, err) : fail_memory(err);
}

sbps_status grouping_open(design *g, const chunks *read, grouping *w, sbps_error *err)
{
    const formula *f = g->schema->formula;
    *w = (grouping){0};
    if (formula_groups(g) == 0) return SBPS_OK;
    sbps_status status = allocate(g, w, err);
    for (size_t k = 0; status == SBPS_OK && k < f->groups; k++)
        if (find_factor(g->r->groups, f->group[k].name) == g->r->groups->factors)
            status = add_factor(g, &f->group[k], read, err);
    if (status == SBPS_OK) status = add_terms(g, w, err);
    return status == SBPS_OK ? take_codes(g, read->rows, w, err) : status;
}

void grouping_close(const design *g, grouping *w)
{
    for (size_t k = 0; k < formula_groups(g); k++) {
        if (w->code) free(w->code[k]);
        if (w->column) free(w->column[k]);
    }
    free(w->code);
    free(w->column);
}

/* ---- places ---- */

/* Shuffles groups. start[k]: rows of the groups before the k-th; at[level]: its place among the
 * groups. */
static sbps_status order_groups(design *g, const uint32_t *code, size_t **at, sbps_error *err)
{
    row_groups *r = g->r->groups;
    size_t n = g->r->local_rows, count = r->factor[r->by].levels;
    *at = shuffled_places(g->spec->seed, count, g->threads);
    r->start = calloc(count + 1, sizeof *r->start);
    if (!*at || !r->start) return fail_memory(err);
    for (size_t i = 0; i < n; i++) r->start[(*at)[code[i]] + 1]++;
    for (size_t k = 0; k < count; k++) r->start[k + 1] += r->start[k];
    r->count = count;
    return SBPS_OK;
}

/* Sorts rows by level, stable. `at` is the order of the levels; NULL: as they are. */
static sbps_status sort_rows(size_t n, size_t count, const uint32_t *code, const size_t *at,
                             size_t *order, sbps_error *err)
{
    size_t *next = calloc(count + 1, sizeof *next), *sorted = malloc(n * sizeof *sorted);
    for (size_t i = 0; next && sorted && i < n; i++) next[(at ? at[code[i]] : code[i]) + 1]++;
    for (size_t k = 0; next && sorted && k < count; k++) next[k + 1] += next[k];
    for (size_t p = 0; next && sorted && p < n; p++) {
        size_t which = code[order[p]];
        sorted[next[at ? at[which] : which]++] = order[p];
    }
    bool ready = next && sorted;
    if (ready) memcpy(order, sorted, n * sizeof *order);
    free(next);
    free(sorted);
    return ready ? SBPS_OK : fail_memory(err);
}

sbps_status grouping_places(design *g, const grouping *w, size_t *to, sbps_error *err)
{
    const row_groups *r = g->r->groups;
    size_t n = g->r->local_rows, *at = NULL;
    if (!w->code) return SBPS_OK;
    const uint32_t *code = w->code[r->by];
    size_t *row_at = malloc(n * sizeof *row_at);
    sbps_status status = row_at ? order_groups(g, code, &at, err) : fail_memory(err);
    for (size_t i = 0; status == SBPS_OK && i < n; i++) row_at[to[i]] = i;
    for (size_t k = r->nested; k-- > 0 && status == SBPS_OK;)
        status = sort_rows(n, r->factor[r->nested_factor[k]].levels,
                           w->code[r->nested_factor[k]], NULL, row_at, err);
    if (status == SBPS_OK) status = sort_rows(n, r->count, code, at, row_at, err);
    for (size_t p = 0; status == SBPS_OK && p < n; p++) to[row_at[p]] = p;
    free(at);
    free(row_at);
    return status;
}

void grouping_put(const design *g, const grouping *w, const formula_scratch *s, size_t from,
                  size_t to)
{
    const formula *f = g->schema->formula;
    const row_groups *r = g->r->groups;
    if (!w->code) return;
    for (size_t k = 0; k < r->factors; k++) r->factor[k].of[to] = w->code[k][from];
    for (size_t k = 0; r->width > 0 && k < f->groups; k++) {
        size_t count = design_row(f, &f->group[k].design, s, s->column, s->value);
        for (size_t j = 0; j < count; j++)
            r->z[to * r->width + w->column[k][s->column[j]]] = s->value[j];
    }
}

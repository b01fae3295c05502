/* Rows lie by the levels of a factor, and within them by those nested in it: what is collapsed is then a run of rows. */
#include "ingest/design/grouping.h"

#include "core/memory.h"
#include "core/printable.h"
#include "ingest/design/group_levels.h"
#include "ingest/design/nesting.h"
#include "table/row_origin.h"
#include <stdlib.h>
#include <string.h>

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
        status = fail(err, SBPS_BAD_DATA, "%s: (|%s): there is a single group", g->schema->path,
                      show_name(from->name).text);
    return status;
}

/* ---- terms ---- */

/* The columns of all terms that are in z so far, by name. */
typedef struct {
    const char **name;
    size_t count;
} z_names;

static size_t z_column(z_names *z, const char *name)
{
    size_t k = 0;
    while (k < z->count && strcmp(z->name[k], name) != 0) k++;
    if (k == z->count) z->name[z->count++] = name;
    return k;
}

static sbps_status fail_empty(const design *g, const formula_group *from, sbps_error *err)
{
    return fail_at(g->schema->formula->text, from->left->at, err,
                   "nothing varies with '%s': (1 | %s) is an intercept",
                   show_name(from->name).text, show_name(from->name).text);
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
    if (d->columns == 0) return fail_empty(g, from, err);
    for (size_t j = 0; j < d->columns; j++) {
        bool constant = d->intercept && j == 0;
        to->names[to->count] = copy_text(constant ? "Intercept" : d->names[j]);
        if (!to->names[to->count++]) return fail_memory(err);
        to->column[j] = (*column)[j] = constant ? GROUP_CONSTANT : z_column(z, d->names[j]);
    }
    return SBPS_OK;
}

/* A column called Intercept would have the name of the intercept's effect. */
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

/* The codes as read become the grouping's; the groups get room for them in their order. */
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

/* start[k]: rows of the groups before the k-th; at[level]: which of them it is. */
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

/* Rows by levels, those of a level in the order that they have; at: NULL, or the order of levels. */
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
    bool fine = next && sorted;
    if (fine) memcpy(order, sorted, n * sizeof *order);
    free(next);
    free(sorted);
    return fine ? SBPS_OK : fail_memory(err);
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

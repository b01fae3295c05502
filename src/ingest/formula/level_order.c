/* Levels that a formula names: those it compares with, the one that comes first, all of them in an order. */
#include "ingest/formula/formula.h"

#include "core/printable.h"
#include <stdint.h>
#include <string.h>

static size_t rank_of(const formula_column *c, const char *level)
{
    size_t k = 0;
    while (k < c->levels && strcmp(c->level[k], level) != 0) k++;
    return k;
}

static sbps_status find_rank(const formula *f, const node *level, size_t column, size_t *rank,
                             sbps_error *err)
{
    const formula_column *c = &f->column[column];
    *rank = rank_of(c, level->name);
    if (*rank < c->levels) return SBPS_OK;
    return fail_at(f->text, level->at, err, "column '%s' %s", show_name(c->name).text,
                   c->levels ? "has no such level"
                             : "names nearly every row: --categorical makes it a category");
}

/* The reference is first, those before it one later. */
static sbps_status set_reference_level(formula *f, variable *v, sbps_error *err)
{
    const formula_column *c = &f->column[v->column];
    size_t first;
    sbps_status status = find_rank(f, v->reference, v->column, &first, err);
    v->width = c->levels;
    for (size_t k = 0; status == SBPS_OK && k < c->levels; k++) {
        v->place[k] = k > first ? k : k == first ? 0 : k + 1;
        v->level[v->place[k]] = c->level[k];
    }
    return status;
}

/* The levels that are listed; one that no row has keeps its place, as in R. */
static sbps_status list_levels(formula *f, variable *v, const node *first, sbps_error *err)
{
    const formula_column *c = &f->column[v->column];
    v->width = 0;
    for (const node *a = first; a; a = a->next) {
        if (a->kind != NODE_TEXT)
            return fail_at(f->text, a->at, err, "a level in quotes should stand here");
        size_t rank = rank_of(c, a->name);
        for (size_t k = 0; k < v->width; k++)
            if (strcmp(v->level[k], a->name) == 0)
                return fail_at(f->text, a->at, err, "a level is there twice");
        if (rank < c->levels) v->place[rank] = v->width;
        v->level[v->width++] = a->name;
    }
    for (size_t k = 0; k < c->levels; k++)
        if (v->place[k] == SIZE_MAX)
            return fail_at(f->text, v->order->at, err,
                           "rows of column '%s' have the level '%s', which is not listed",
                           show_name(c->name).text, show_name(c->level[k]).text);
    return SBPS_OK;
}

/* A column that names every row has no levels, and stays without. */
static sbps_status order_levels(formula *f, variable *v, sbps_error *err)
{
    const formula_column *c = &f->column[v->column];
    if (c->levels == 0 && v->order) return SBPS_OK;
    const node *list = v->order ? v->order->first : NULL; /* of c(...) */
    size_t listed = 0;
    for (const node *a = list; a; a = a->next) listed++;
    v->place = pool_array(&f->pool, c->levels + 1, sizeof *v->place);
    v->level = pool_array(&f->pool, c->levels + listed + 1, sizeof *v->level);
    if (!v->place || !v->level) return fail_memory(err);
    for (size_t k = 0; k < c->levels; k++) v->place[k] = SIZE_MAX;
    return v->reference ? set_reference_level(f, v, err) : list_levels(f, v, list, err);
}

sbps_status formula_order(formula *f, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (level_test *t = f->test; status == SBPS_OK && t; t = t->next)
        status = find_rank(f, t->level, t->column, &t->target, err);
    for (size_t k = 0; status == SBPS_OK && k < f->variables; k++) {
        variable *v = &f->variable[k];
        if (v->reference || v->order) status = order_levels(f, v, err);
    }
    return status;
}

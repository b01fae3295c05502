/* Fitting a formula once all rows are read: transforms are fitted, levels ordered and columns
 * made. Then the evaluation of variables in a row. */
#include "core/memory.h"
#include "core/printable.h"
#include "ingest/formula/formula.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- order of levels ---- */

/* Returns the rank of a level; c->levels: there is none. */
static size_t rank_of(const formula_column *c, const char *level)
{
    size_t k = 0;
    while (k < c->levels && strcmp(c->level[k], level) != 0) k++;
    return k;
}

/* Finds the rank of a level that the formula names. */
static sbps_status find_rank(const formula *f, const node *level, size_t column, size_t *rank,
                             sbps_error *err)
{
    const formula_column *c = &f->column[column];
    *rank = rank_of(c, level->name);
    if (*rank < c->levels) return SBPS_OK;
    return fail_at(
        f->text, level->at, err, "column '%s' %s", show_name(c->name).text,
        c->levels
            ? "has no such level"
            : "has a value of its own in nearly every row: --categorical makes it a category");
}

/* relevel(): the reference moves to the front. */
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

/* factor(a, levels = c(...)): levels in the order listed. One that no row has keeps its place,
 * as in R. */
static sbps_status list_levels(formula *f, variable *v, const node *first, sbps_error *err)
{
    const formula_column *c = &f->column[v->column];
    v->width = 0;
    for (const node *a = first; a; a = a->next) {
        if (a->kind != NODE_TEXT)
            return fail_at(f->text, a->at, err, "expected a level in quotes");
        size_t rank = rank_of(c, a->name);
        for (size_t k = 0; k < v->width; k++)
            if (strcmp(v->level[k], a->name) == 0)
                return fail_at(f->text, a->at, err, "a level appears twice");
        if (rank < c->levels) v->place[rank] = v->width;
        v->level[v->width++] = a->name;
    }
    for (size_t k = 0; k < c->levels; k++)
        if (v->place[k] == SIZE_MAX)
            return fail_at(f->text, v->order->at, err,
                           "column '%s' has the level '%s', which is not listed",
                           show_name(c->name).text, show_name(c->level[k]).text);
    return SBPS_OK;
}

/* Fills v->place and v->level. A column with a value of its own in nearly every row has no
 * levels, and none are ordered. */
static sbps_status order_levels(formula *f, variable *v, sbps_error *err)
{
    const formula_column *c = &f->column[v->column];
    if (c->levels == 0 && v->order) return SBPS_OK;
    const node *list = v->order ? v->order->first : NULL; /* the arguments of c(...) */
    size_t listed = 0;
    for (const node *a = list; a; a = a->next) listed++;
    v->place = pool_array(&f->pool, c->levels + 1, sizeof *v->place);
    v->level = pool_array(&f->pool, c->levels + listed + 1, sizeof *v->level);
    if (!v->place || !v->level) return fail_memory(err);
    for (size_t k = 0; k < c->levels; k++) v->place[k] = SIZE_MAX;
    return v->reference ? set_reference_level(f, v, err) : list_levels(f, v, list, err);
}

/* Finds the ranks of all levels that the formula names. */
static sbps_status formula_order(formula *f, sbps_error *err)
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

/* ---- fit ---- */

bool variable_needs_all_rows(const variable *v)
{
    return v->kind && v->kind->fit;
}

bool formula_needs_all_rows(const formula *f)
{
    for (size_t k = 0; f && k < f->variables; k++)
        if (variable_needs_all_rows(&f->variable[k])) return true;
    return f && f->groups > 0;
}

/* Sets the width of every variable, and its place in formula_scratch. */
static void set_widths(formula *f)
{
    f->numbers = 0;
    for (size_t k = 0; k < f->variables; k++) {
        variable *v = &f->variable[k];
        if (v->column != SIZE_MAX && !v->place)
            v->width = f->column[v->column].levels;
        else if (v->kind)
            v->width = v->kind->width(v->self);
        v->at = f->numbers;
        if (!v->levels) f->numbers += v->width;
    }
}

/* Makes the columns of all designs, after the transforms are fitted. */
static sbps_status complete(formula *f, sbps_error *err)
{
    sbps_status status = formula_order(f, err);
    if (status != SBPS_OK) return status;
    set_widths(f);
    status = design_columns(f, &f->fixed, NULL, err);
    for (size_t k = 0; status == SBPS_OK && k < f->groups; k++)
        status = design_columns(f, &f->group[k].design, &f->group[k], err);
    return status;
}

sbps_status formula_fit(formula *f, const row_values *from, sbps_error *err)
{
    double *value = NULL;
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < f->variables; k++) {
        if (!variable_needs_all_rows(&f->variable[k])) continue;
        if (!value && !(value = unset_doubles(from->rows))) status = fail_memory(err);
        if (status == SBPS_OK) {
            variable *v = &f->variable[k];
            const call c = {f->text, v->of, &f->pool, err};
            status = from->all(from->self, &v->value, value, err);
            if (status == SBPS_OK) status = v->kind->fit(&c, v->self, value, from->rows);
        }
    }
    free(value);
    return status == SBPS_OK ? complete(f, err) : status;
}

size_t formula_learned(const formula *f, size_t index, double *out)
{
    const variable *v = &f->variable[index];
    return variable_needs_all_rows(v) ? v->kind->learned(v->self, out) : 0;
}

sbps_status formula_recall(formula *f, const learned_numbers *learned, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < f->variables; k++) {
        const variable *v = &f->variable[k];
        const call c = {f->text, v->of, &f->pool, err};
        if (variable_needs_all_rows(v))
            status = v->kind->recall(&c, v->self, learned[k].number, learned[k].count);
        else if (learned[k].count > 0)
            status = fail_recall(&c);
    }
    return status == SBPS_OK ? complete(f, err) : status;
}

sbps_status scratch_open(const formula *f, formula_scratch *s, sbps_error *err)
{
    *s = (formula_scratch){.number = calloc(f->numbers + 1, sizeof *s->number),
                           .level = calloc(f->variables + 1, sizeof *s->level),
                           .column = calloc(f->entries_max + 1, sizeof *s->column),
                           .value = calloc(f->entries_max + 1, sizeof *s->value)};
    return s->number && s->level && s->column && s->value ? SBPS_OK : fail_memory(err);
}

void scratch_close(formula_scratch *s)
{
    free(s->number);
    free(s->level);
    free(s->column);
    free(s->value);
}

void formula_values(const formula *f, const double *row, const formula_scratch *s)
{
    for (size_t k = 0; k < f->variables; k++) {
        const variable *v = &f->variable[k];
        double *to = s->number + v->at;
        if (v->plain != SIZE_MAX)
            *to = row[v->plain];
        else if (v->column != SIZE_MAX) {
            const formula_column *c = &f->column[v->column];
            size_t rank = c->rank[(size_t)row[c->slot]];
            s->level[k] = v->place ? v->place[rank] : rank;
        } else {
            double x = program_run(&v->value, row, f->slot);
            if (v->levels)
                s->level[k] = v->kind->level(v->self, x);
            else if (v->kind)
                v->kind->numbers(v->self, x, to);
            else
                *to = x;
        }
    }
}

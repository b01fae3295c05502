/* Columns of a right-hand side, coded and named as R's model.matrix() does.
 *
 * A variable with levels l_0 < l_1 < ... has a column for each level but the first where the term without it
 * is in the span of what comes before: where that term is empty, or part of one of the terms before; else one
 * for every level. Without an intercept the first such variable has all its levels. */
#include "ingest/formula/formula.h"

#include "core/text.h"
#include "ingest/formula/design_width.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- coding ---- */

/* Whether a set of variables is a term before term t. */
static bool is_before(const formula_design *d, const uint32_t *set, size_t count, size_t t)
{
    size_t at = byte_map_find(&d->by_variables, set, count * sizeof *set);
    return at != NOT_THERE && at < t;
}

/* Puts `extra` in its place in an increasing list of `count`. */
static void insert(uint32_t *list, size_t count, uint32_t extra)
{
    size_t k = count;
    for (; k > 0 && list[k - 1] > extra; k--) list[k] = list[k - 1];
    list[k] = extra;
}

/* Whether the term without one of its variables is in a term before it. Terms stand by degree, so that such a
 * term is those variables alone, or those and one other. */
static bool is_marginal(const formula_design *d, size_t t, size_t left_out)
{
    const term *own = &d->terms.term[t];
    uint32_t rest[TERM_VARIABLES_MAX];
    size_t count = 0;
    if (own->count == 1) return true;
    for (size_t k = 0; k < own->count; k++)
        if (k != left_out) rest[count++] = own->variable[k];
    if (is_before(d, rest, count, t)) return true;
    for (uint32_t v = 0; v < d->terms.variables; v++) {
        uint32_t with[TERM_VARIABLES_MAX];
        memcpy(with, rest, count * sizeof *rest);
        insert(with, count, v);
        if (is_before(d, with, count + 1, t)) return true;
    }
    return false;
}

static sbps_status code_term(formula *f, formula_design *d, size_t t, bool *first_full,
                             sbps_error *err)
{
    const term *from = &d->terms.term[t];
    size_t *variables = pool_array(&f->pool, from->count, sizeof *variables);
    bool *full = pool_array(&f->pool, from->count, sizeof *full);
    if (!variables || !full) return fail_memory(err);
    for (size_t k = 0; k < from->count; k++) {
        variables[k] = d->variable[from->variable[k]];
        if (!f->variable[variables[k]].levels) continue;
        full[k] = !is_marginal(d, t, k) || *first_full;
        *first_full = false;
    }
    d->term[t] = (design_term){.variable = variables, .full = full, .count = from->count};
    return SBPS_OK;
}

/* ---- names ---- */

static const char *level_name(formula *f, const variable *v, size_t level)
{
    if (v->place) return v->level[level];
    if (v->column != SIZE_MAX) return f->column[v->column].level[level];
    return v->kind->level_name(v->self, level, &f->pool);
}

static void write_part(formula *f, const design_term *t, size_t k, size_t which, text *to)
{
    const variable *v = &f->variable[t->variable[k]];
    text_add(to, "%s%s", k ? ":" : "", v->name);
    if (v->levels) {
        const char *level = level_name(f, v, which + !t->full[k]);
        to->failed |= !level;
        if (level) text_bytes(to, level, strlen(level));
    } else if (v->width > 1)
        text_add(to, "%zu", which + 1);
}

static sbps_status name_column(formula *f, const design_term *t, size_t column,
                               const char **out, sbps_error *err)
{
    text name = {0};
    for (size_t k = 0, rest = column; k < t->count; k++) {
        size_t own = width_in_term(f, t, k);
        write_part(f, t, k, rest % own, &name);
        rest /= own;
    }
    char *made = text_take(&name);
    *out = made ? pool_text(&f->pool, made, strlen(made)) : NULL;
    free(made);
    return *out ? SBPS_OK : fail_memory(err);
}

static sbps_status code_terms(formula *f, formula_design *d, sbps_error *err)
{
    bool first_full = !d->intercept;
    sbps_status status = SBPS_OK;
    d->term = pool_array(&f->pool, d->terms.terms + 1, sizeof *d->term);
    if (!d->term) return fail_memory(err);
    d->by_variables = (byte_map){0};
    for (size_t t = 0; t < d->terms.terms; t++) {
        const term *own = &d->terms.term[t];
        size_t bytes = own->count * sizeof *own->variable;
        if (own->count > TERM_VARIABLES_MAX)
            return fail_at(f->text, d->terms.variable[own->variable[0]].of->at, err,
                           "a term multiplies more than %zu variables", TERM_VARIABLES_MAX);
        if (!byte_map_add(&d->by_variables, &f->pool, own->variable, bytes, t))
            return fail_memory(err);
    }
    for (size_t t = 0; status == SBPS_OK && t < d->terms.terms; t++)
        status = code_term(f, d, t, &first_full, err);
    return status;
}

sbps_status design_columns(formula *f, formula_design *d, const formula_group *g,
                           sbps_error *err)
{
    sbps_status status = code_terms(f, d, err);
    if (status == SBPS_OK) status = design_widths(f, d, g, err);
    if (status != SBPS_OK) return status;
    d->names = pool_array(&f->pool, d->columns + 1, sizeof *d->names);
    if (!d->names) return fail_memory(err);
    if (d->intercept) d->names[0] = "(Intercept)";
    for (size_t t = 0; status == SBPS_OK && t < d->terms.terms; t++)
        for (size_t c = 0; status == SBPS_OK && c < d->term[t].width; c++)
            status = name_column(f, &d->term[t], c, &d->names[d->term[t].first + c], err);
    if (d->entries_max > f->entries_max) f->entries_max = d->entries_max;
    return status;
}

/* ---- rows ---- */

typedef struct {
    const double *number[TERM_VARIABLES_MAX];
    size_t width[TERM_VARIABLES_MAX], stride[TERM_VARIABLES_MAX], at[TERM_VARIABLES_MAX];
    size_t count;
} odometer;

/* The column that the row's levels point at, and the variables of numbers; false: a level has no column. */
static bool open_term(const formula *f, const design_term *t, const formula_scratch *s,
                      size_t *column, odometer *o)
{
    size_t stride = 1;
    *column = t->first;
    o->count = 0;
    for (size_t k = 0; k < t->count; k++) {
        const variable *v = &f->variable[t->variable[k]];
        size_t own = width_in_term(f, t, k);
        if (v->levels) {
            size_t level = s->level[t->variable[k]];
            if (level < !t->full[k] || own == 0) return false;
            *column += stride * (level - !t->full[k]);
        } else {
            o->number[o->count] = s->number + v->at;
            o->width[o->count] = own;
            o->stride[o->count] = stride;
            o->at[o->count++] = 0;
        }
        stride *= own;
    }
    return true;
}

/* The next product; false: it was the last. */
static bool next_product(odometer *o)
{
    for (size_t k = 0; k < o->count; k++) {
        if (++o->at[k] < o->width[k]) return true;
        o->at[k] = 0;
    }
    return false;
}

static size_t term_row(const formula *f, const design_term *t, const formula_scratch *s,
                       uint32_t *column, double *value)
{
    odometer o;
    size_t base, n = 0;
    if (!open_term(f, t, s, &base, &o)) return 0;
    do {
        double product = 1.0;
        size_t at = base;
        for (size_t k = 0; k < o.count; k++) {
            product *= o.number[k][o.at[k]];
            at += o.stride[k] * o.at[k];
        }
        column[n] = (uint32_t)at;
        value[n] = product;
        n += product != 0.0;
    } while (next_product(&o));
    return n;
}

size_t design_row(const formula *f, const formula_design *d, const formula_scratch *s,
                  uint32_t *column, double *value)
{
    size_t n = 0;
    for (size_t t = 0; t < d->terms.terms; t++)
        n += term_row(f, &d->term[t], s, column + n, value + n);
    return n;
}

/* Columns of a right-hand side, coded and named as R's model.matrix() does.
 *
 * A variable with levels l_0 < l_1 < ... has a column for each level but the first where the
 * term without it is in the span of the terms before: where that term is empty, or part of one
 * of the terms before. Otherwise it has a column for every level. Without an intercept the
 * first such variable has all its levels. */
#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "core/text.h"
#include "ingest/formula/formula.h"
#include "linalg/dense_cost.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERM_VARIABLES_MAX ((size_t)32) /* variables of a term */

/* ---- widths ---- */

#define COLUMNS_MAX         ((size_t)1 << 20)
#define NAMED_VARIABLES_MAX 4 /* variables of a term that a message names */

/* Returns the columns of variable k of a coded term. */
static size_t width_in_term(const formula *f, const design_term *t, size_t k)
{
    const variable *v = &f->variable[t->variable[k]];
    return v->levels && !t->full[k] && v->width > 0 ? v->width - 1 : v->width;
}

/* Returns the columns of a term. A double, because a product of many factors can exceed
 * size_t. */
static double count_columns(const formula *f, const design_term *t)
{
    double width = 1.0;
    for (size_t k = 0; k < t->count; k++) width *= (double)width_in_term(f, t, k);
    return width;
}

/* Returns the term with the most columns, and the columns of all terms in *columns; NULL: no
 * terms. */
static const design_term *widest_term(const formula *f, const formula_design *d,
                                      double *columns)
{
    const design_term *widest = NULL;
    double largest = 0.0;
    *columns = d->intercept;
    for (size_t t = 0; t < d->terms.terms; t++) {
        double own = count_columns(f, &d->term[t]);
        *columns += own;
        if (widest && own <= largest) continue;
        widest = &d->term[t];
        largest = own;
    }
    return widest;
}

typedef struct {
    char text[32];
} count_shown;

static count_shown show_count(double count)
{
    count_shown s;
    decimal_print(s.text, sizeof s.text, count < 1e15 ? "%.0f" : "%.3g", count);
    return s;
}

/* "a:b", or "a:b:c:d:..." */
static void add_name(text *to, const formula *f, const design_term *t)
{
    for (size_t k = 0; k < t->count && k < NAMED_VARIABLES_MAX; k++) {
        if (k > 0) text_add(to, ":");
        text_add(to, "%s", show_name(f->variable[t->variable[k]].name).text);
    }
    if (t->count > NAMED_VARIABLES_MAX) text_add(to, ":...");
}

/* Adds what the user can do: make the levels groups, where the term has only categories. */
static void add_remedy(text *to, const formula *f, const design_term *t)
{
    bool levels = t->count <= NAMED_VARIABLES_MAX;
    for (size_t k = 0; k < t->count; k++) {
        const variable *v = &f->variable[t->variable[k]];
        levels = levels && v->levels && v->column != SIZE_MAX;
    }
    text_add(to, "; ");
    if (levels) {
        text_add(to, "(1 | ");
        add_name(to, f, t);
        text_add(to, ") makes its levels groups with fewer parameters; or merge levels");
    } else
        text_add(to, "leave terms out, or use a lower power");
}

static sbps_status fail_columns(const formula *f, const design_term *t, text *why,
                                sbps_error *err)
{
    char *made = text_take(why);
    size_t at = t->count > 0 ? f->variable[t->variable[0]].of->at : 0;
    sbps_status status = made ? fail_at(f->text, at, err, "%s", made) : fail_memory(err);
    free(made);
    return status;
}

/* Adds "'a:b' has 998001 columns, all terms together 1000000". */
static void add_counts(text *to, const formula *f, const design_term *t, double columns,
                       const char *what)
{
    double own = count_columns(f, t);
    text_add(to, "'");
    add_name(to, f, t);
    text_add(to, "' has %s %s, ", show_count(own).text, what);
    text_add(to, "all terms together %s", show_count(columns).text);
}

static sbps_status check_group(const formula *f, const formula_group *g, const design_term *t,
                               double columns, sbps_error *err)
{
    text why = {0};
    if (f->limits.effects == 0 || columns <= (double)f->limits.effects) return SBPS_OK;
    text_add(&why, "(... | %s): ", show_name(g->name).text);
    add_counts(&why, f, t, columns, "effects per level");
    text_add(&why, "; at most %zu effects per level are supported", f->limits.effects);
    return fail_columns(f, t, &why, err);
}

static sbps_status check_fixed(const formula *f, const design_term *t, double columns,
                               sbps_error *err)
{
    text why = {0};
    char need[64];
    bool fits = !f->limits.dense || setup_fits(columns);
    if (fits && columns <= (double)COLUMNS_MAX) return SBPS_OK;
    add_counts(&why, f, t, columns, "columns");
    if (fits)
        text_add(&why, "; a table has at most %zu", COLUMNS_MAX);
    else {
        decimal_print(need, sizeof need, "%.3g GiB, and this machine has %.3g GiB",
                      setup_bytes(columns) / 0x1p30, machine_memory() / 0x1p30);
        text_add(&why, ": set-up would need matrices of %s", need);
    }
    add_remedy(&why, f, t);
    return fail_columns(f, t, &why, err);
}

/* Returns how many columns of a term can differ from 0 in one row: one level of each
 * category. */
static size_t count_numbers(const formula *f, const design_term *t)
{
    size_t numbers = 1;
    for (size_t k = 0; k < t->count; k++)
        if (!f->variable[t->variable[k]].levels) numbers *= width_in_term(f, t, k);
    return numbers;
}

/* Sets the places of the coded terms and the number of columns; fails where the limits of the
 * formula, or of any table, are exceeded. */
static sbps_status design_widths(const formula *f, formula_design *d, const formula_group *g,
                                 sbps_error *err)
{
    double columns;
    const design_term *widest = widest_term(f, d, &columns);
    sbps_status status = SBPS_OK;
    if (widest)
        status =
            g ? check_group(f, g, widest, columns, err) : check_fixed(f, widest, columns, err);
    if (status != SBPS_OK) return status;
    d->columns = d->intercept;
    d->entries_max = 0;
    for (size_t t = 0; t < d->terms.terms; t++) {
        design_term *own = &d->term[t];
        own->first = d->columns;
        own->width = (size_t)count_columns(f, own);
        d->columns += own->width;
        if (own->width > 0) d->entries_max += count_numbers(f, own);
    }
    return SBPS_OK;
}

/* ---- coding ---- */

/* Returns whether a set of variables is a term before term t. */
static bool is_before(const formula_design *d, const uint32_t *set, size_t count, size_t t)
{
    size_t at = byte_map_find(&d->by_variables, set, count * sizeof *set);
    return at != NOT_THERE && at < t;
}

/* Inserts `extra` into an increasing list of `count`. */
static void insert_sorted(uint32_t *list, size_t count, uint32_t extra)
{
    size_t k = count;
    for (; k > 0 && list[k - 1] > extra; k--) list[k] = list[k - 1];
    list[k] = extra;
}

/* Returns whether the term without one of its variables is in a term before it. Terms are
 * sorted by degree, so that such a term has exactly those variables, or those and one other. */
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
        insert_sorted(with, count, v);
        if (is_before(d, with, count + 1, t)) return true;
    }
    return false;
}

/* Decides for each variable of term t whether it has columns for all levels. */
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

/* A level of a category as R names it: TRUE and FALSE however a file spells them. */
static const char *category_level(const formula_column *c, size_t level)
{
    bool logical =
        c->levels == 2 && is_truth(c->level[0], false) && is_truth(c->level[1], true);
    if (logical) return level ? "TRUE" : "FALSE";
    return c->level[level];
}

static const char *level_name(formula *f, const variable *v, size_t level)
{
    if (v->place) return v->level[level];
    if (v->column != SIZE_MAX) return category_level(&f->column[v->column], level);
    return v->kind->level_name(v->self, level, &f->pool);
}

/* Adds a variable's part of a column name: "a", "alevel" or "poly(x, 2)1". */
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

/* Names column `column` of a term. */
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

/* Codes all terms, in their order. */
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

/* Finds the first column of the term for the row's levels, and the variables with numbers;
 * false: a level has no column, so that the term is 0. */
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

/* Advances to the next product of the variables' numbers; false: there is none. */
static bool next_product(odometer *o)
{
    for (size_t k = 0; k < o->count; k++) {
        if (++o->at[k] < o->width[k]) return true;
        o->at[k] = 0;
    }
    return false;
}

/* Writes the entries of a term; returns how many. */
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

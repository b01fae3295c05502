/* Resolution: once it is known which columns are categories, what every variable is and how it
 * is computed. */
#include "ingest/formula/formula.h"

#include "core/printable.h"
#include <math.h>
#include <string.h>

size_t formula_column_of(const formula *f, const node *n)
{
    if (!n || n->kind != NODE_NAME) return SIZE_MAX;
    return byte_map_find(&f->by_source, n->name, strlen(n->name));
}

/* name_finder.find: the column of a name, which must hold numbers. */
static sbps_status find_number(void *self, const node *name, size_t *column, sbps_error *err)
{
    const formula *f = self;
    *column = formula_column_of(f, name);
    if (*column == SIZE_MAX)
        return fail_at(f->text, name->at, err, "no column is named '%s'",
                       show_name(name->name).text);
    if (!f->column[*column].category) return SBPS_OK;
    return fail_at(f->text, name->at, err,
                   "column '%s' is a category and cannot be used in arithmetic",
                   show_name(name->name).text);
}

static sbps_status compile_number(formula *f, const node *n, program *out, sbps_error *err)
{
    const name_finder names = {.find = find_number, .self = f, .text = f->text};
    return program_compile(n, &names, &f->pool, out, err);
}

/* Returns whether a node names a category; *column is the column, or SIZE_MAX. */
static bool is_category(const formula *f, const node *n, size_t *column)
{
    *column = formula_column_of(f, n);
    return *column != SIZE_MAX && f->column[*column].category;
}

/* name_finder.find_level: a new test, whose rank is set by formula_fit. */
static sbps_status find_level(void *self, const node *name, const node *level,
                              const level_test **out, sbps_error *err)
{
    formula *f = self;
    size_t column;
    if (!is_category(f, name, &column))
        return fail_at(f->text, level->at, err, "column '%s' holds numbers, not texts",
                       show_name(name->name).text);
    level_test *t = pool_take(&f->pool, sizeof *t);
    if (!t) return fail_memory(err);
    *t = (level_test){
        .level = level, .column = column, .rank = &f->column[column].rank, .next = f->test};
    *out = f->test = t;
    return SBPS_OK;
}

/* Compiles an expression that is a variable. Its tests run once levels are known. */
static sbps_status compile_term(formula *f, variable *v, sbps_error *err)
{
    const name_finder names = {find_number, find_level, f, f->text};
    if (is_logical(v->of)) {
        v->kind = &transform_logical;
        v->levels = true;
    }
    return program_compile(v->of, &names, &f->pool, &v->value, err);
}

/* factor(category, levels = c("one", "other")) */
static sbps_status resolve_factor(const call *c, variable *v)
{
    static const char *const formal[] = {"x", "levels", NULL};
    const node *given[2] = {0};
    sbps_status status = call_match(c, formal, given);
    v->kind = NULL;
    v->order = given[1];
    if (status == SBPS_OK && v->order && !is_call(v->order, "c"))
        return fail_call(c, "levels are listed in quotes: levels = c(\"one\", \"other\")");
    return status;
}

static sbps_status resolve_transform(formula *f, variable *v, sbps_error *err)
{
    const node *given[ARGUMENTS_MAX] = {0};
    const call c = {f->text, v->of, &f->pool, err};
    v->levels = v->kind->levels;
    if (v->kind == &transform_factor && v->of->first &&
        is_category(f, first_argument(v->of), &v->column))
        return resolve_factor(&c, v);
    v->column = SIZE_MAX;
    sbps_status status = v->kind->open(&c, given, &v->self);
    if (status != SBPS_OK) return status;
    return compile_number(f, given[0], &v->value, err);
}

/* relevel(category, ref = "level") */
static sbps_status resolve_relevel(formula *f, variable *v, sbps_error *err)
{
    static const char *const formal[] = {"x", "ref", NULL};
    const node *given[2] = {0};
    const call c = {f->text, v->of, &f->pool, err};
    sbps_status status = call_match(&c, formal, given);
    if (status != SBPS_OK) return status;
    if (!is_category(f, given[0], &v->column))
        return fail_call(&c,
                         "its first argument must be a category: relevel(a, ref = \"level\")");
    if (!given[1] || given[1]->kind != NODE_TEXT)
        return fail_call(&c, "it needs a level in quotes: relevel(a, ref = \"level\")");
    v->levels = true;
    v->reference = given[1];
    return SBPS_OK;
}

static sbps_status resolve_variable(formula *f, variable *v, sbps_error *err)
{
    v->plain = v->column = SIZE_MAX;
    v->levels = v->of->kind == NODE_NAME && is_category(f, v->of, &v->column);
    if (v->levels) return SBPS_OK;
    if (is_call(v->of, "relevel")) return resolve_relevel(f, v, err);
    v->column = SIZE_MAX;
    v->width = 1;
    v->kind = v->of->kind == NODE_CALL ? transform_find(v->of->name) : NULL;
    if (v->kind) return resolve_transform(f, v, err);
    sbps_status status = compile_term(f, v, err);
    size_t column = program_column(&v->value);
    if (status == SBPS_OK && column != SIZE_MAX) v->plain = f->column[column].slot;
    return status;
}

/* Compiles response, trials or weights. A column by itself is left to the reader. */
static sbps_status compile_outside_design(formula *f, const node *n, program *out,
                                          sbps_error *err)
{
    size_t column;
    if (!n || is_category(f, n, &column)) return SBPS_OK;
    return compile_number(f, n, out, err);
}

static sbps_status compile_offsets(formula *f, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    f->offset = pool_array(&f->pool, f->offsets + 1, sizeof *f->offset);
    if (!f->offset) return fail_memory(err);
    for (size_t k = 0; status == SBPS_OK && k < f->offsets; k++)
        status = compile_number(f, f->offset_node[k]->first, &f->offset[k], err);
    return status;
}

sbps_status formula_resolve(formula *f, sbps_error *err)
{
    f->slot = pool_array(&f->pool, f->columns + 1, sizeof *f->slot);
    if (!f->slot) return fail_memory(err);
    for (size_t k = 0; k < f->columns; k++) f->slot[k] = f->column[k].slot;
    sbps_status status = compile_outside_design(f, f->response, &f->y, err);
    if (status == SBPS_OK)
        status = compile_outside_design(f, f->failures ? f->failures : f->trials, &f->n, err);
    if (status == SBPS_OK) status = compile_outside_design(f, f->weights, &f->w, err);
    if (status == SBPS_OK) status = compile_offsets(f, err);
    for (size_t k = 0; status == SBPS_OK && k < f->variables; k++)
        status = resolve_variable(f, &f->variable[k], err);
    return status;
}

/* ---- checks of rows as they are read ---- */

/* Returns whether an expression is finite; a column by itself was checked by the reader. */
static bool is_fine(const formula *f, const program *g, const double *row, double *value)
{
    if (g->steps == 0 || program_column(g) != SIZE_MAX) return true;
    return isfinite(*value = program_run(g, row, f->slot));
}

/* Returns whether a variable's transform has a level for the row. */
static bool has_transform_level(const formula *f, const variable *v, const double *row,
                                double *value)
{
    if (!v->kind || !v->kind->takes) return true;
    *value = program_run(&v->value, row, f->slot);
    return v->kind->takes(v->self, *value);
}

bool formula_check(const formula *f, const double *row, formula_fault *fault)
{
    const struct {
        const program *of;
        const char *name;
    } outside[] = {{&f->y, f->response_name}, {&f->n, "trials"}, {&f->w, "weights"}};
    *fault = (formula_fault){0};
    for (size_t k = 0; k < 3; k++) {
        fault->term = outside[k].name;
        if (!is_fine(f, outside[k].of, row, &fault->value)) return false;
    }
    for (size_t k = 0; k < f->offsets; k++) {
        fault->term = "offset";
        if (!is_fine(f, &f->offset[k], row, &fault->value)) return false;
    }
    for (size_t k = 0; k < f->variables; k++) {
        const variable *v = &f->variable[k];
        fault->term = v->name;
        if (!is_fine(f, &v->value, row, &fault->value)) return false;
        if (!has_transform_level(f, v, row, &fault->value)) return false;
    }
    return true;
}

double formula_number(const formula *f, const program *g, const double *row)
{
    return program_run(g, row, f->slot);
}

double formula_offset(const formula *f, const double *row)
{
    double sum = 0.0;
    for (size_t k = 0; k < f->offsets; k++) sum += program_run(&f->offset[k], row, f->slot);
    return sum;
}

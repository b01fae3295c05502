/* Binding: the names of a formula become columns of a file, and its right-hand sides terms. */
#include "core/printable.h"
#include "ingest/formula/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    formula *f;
    char *const *name;
    size_t count;
    byte_map index; /* of the file's columns by name */
    sbps_error *err;
} binding;

/* Fails for a name that is no column, with a suggestion. */
static sbps_status fail_unknown(const binding *b, const node *n)
{
    const char **names = malloc((b->count + 1) * sizeof *names);
    size_t known = 0;
    if (!names) return fail_memory(b->err);
    for (size_t i = 0; i < b->count; i++)
        if (b->name[i] && b->name[i][0]) names[known++] = b->name[i];
    name_hint hint = did_you_mean(",", n->name, names, known);
    free(names);
    return fail_at(b->f->text, n->at, b->err, "no column is named '%s'%.100s",
                   show_name(n->name).text, hint.text);
}

/* Makes room for one more item in an array of the pool; false: no memory. */
static bool grow_array(pool *p, void *array, size_t count, size_t *capacity, size_t size)
{
    void **at = array;
    if (count < *capacity) return true;
    size_t wide = *capacity ? 2 * *capacity : 16;
    void *made = pool_array(p, wide, size);
    if (!made) return false;
    if (count > 0) memcpy(made, *at, count * size);
    *at = made;
    *capacity = wide;
    return true;
}

/* Finds the formula's column of this name, or adds it at the first mention. */
static sbps_status need_column(binding *b, const node *n, formula_column **out)
{
    formula *f = b->f;
    size_t length = strlen(n->name), known = byte_map_find(&f->by_source, n->name, length);
    if (known == NOT_THERE) {
        size_t source = byte_map_find(&b->index, n->name, length);
        if (source == NOT_THERE) return fail_unknown(b, n);
        known = f->columns;
        if (!grow_array(&f->pool, &f->column, known, &f->column_capacity, sizeof *f->column) ||
            !byte_map_add(&f->by_source, &f->pool, n->name, length, known))
            return fail_memory(b->err);
        f->column[f->columns++] = (formula_column){.name = n->name, .source = source};
    }
    *out = &f->column[known];
    return SBPS_OK;
}

/* A column that is a variable by itself. */
static sbps_status need_bare(binding *b, const node *n)
{
    formula_column *c = NULL;
    sbps_status status = need_column(b, n, &c);
    if (status == SBPS_OK) c->bare = c->plain = true;
    return status;
}

/* Columns used as numbers in an expression; one that is compared with texts is a category. */
static sbps_status need_numbers(binding *b, const node *n)
{
    formula_column *c = NULL;
    const node *compared = compared_with_text(n);
    sbps_status status = SBPS_OK;
    if (compared) return need_bare(b, compared);
    if (is_operator(n, OP_IN)) return need_numbers(b, n->first);
    if (n->kind == NODE_NAME) {
        status = need_column(b, n, &c);
        if (status == SBPS_OK && !c->number) c->number = n;
        return status;
    }
    for (const node *a = n->first; status == SBPS_OK && a; a = a->next)
        status = need_numbers(b, a);
    return status;
}

/* Columns of a variable. A name by itself may be a category, and so may the argument of
 * factor(). Only the first argument of a transform names columns. */
static sbps_status need_variable(binding *b, const node *n)
{
    if (n->kind == NODE_NAME) return need_bare(b, n);
    if (n->kind != NODE_CALL) return need_numbers(b, n);
    const transform_kind *kind = transform_find(n->name);
    bool category = kind == &transform_factor || is_call(n, "relevel");
    if (!kind && !category) return need_numbers(b, n);
    const node *argument = first_argument(n);
    if (!argument) return SBPS_OK; /* formula_resolve fails for it */
    if (category && argument->kind == NODE_NAME) {
        /* The argument of factor(). */
        formula_column *c = NULL;
        sbps_status status = need_column(b, argument, &c);
        if (status == SBPS_OK) c->bare = c->factor = true;
        return status;
    }
    return need_numbers(b, argument);
}

static sbps_status need_response(binding *b, const node *n)
{
    if (!n) return SBPS_OK;
    return n->kind == NODE_NAME ? need_bare(b, n) : need_numbers(b, n);
}

static sbps_status need_group(binding *b, formula_group *g)
{
    formula_column *c = NULL;
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < g->columns; k++) {
        status = need_column(b, g->named[k], &c);
        if (status != SBPS_OK) break;
        c->group = true;
        g->column[k] = (size_t)(c - b->f->column);
    }
    return status;
}

/* ---- right-hand sides ---- */

/* Finds the index of a variable, or adds it at the first mention. */
static sbps_status add_variable(binding *b, const named_node *v, size_t *index)
{
    formula *f = b->f;
    size_t length = strlen(v->name);
    *index = byte_map_find(&f->by_name, v->name, length);
    if (*index != NOT_THERE || is_call(v->of, "offset")) return SBPS_OK;
    if (strcmp(v->name, f->response_name) == 0)
        return fail_at(f->text, v->of->at, b->err,
                       "the response also appears on the right of ~");
    *index = f->variables;
    if (!grow_array(&f->pool, &f->variable, f->variables, &f->variable_capacity,
                    sizeof *f->variable) ||
        !byte_map_add(&f->by_name, &f->pool, v->name, length, *index))
        return fail_memory(b->err);
    f->variable[f->variables++] = (variable){.of = v->of, .name = v->name};
    return need_variable(b, v->of);
}

/* Expands a right-hand side into terms and adds their variables. */
static sbps_status expand_side(binding *b, const terms_source *from, const node *right,
                               formula_design *d)
{
    formula *f = b->f;
    sbps_status status = terms_expand(from, right, &f->pool, &d->terms, b->err);
    if (status != SBPS_OK) return status;
    d->intercept = d->terms.intercept;
    d->variable = pool_array(&f->pool, d->terms.variables + 1, sizeof *d->variable);
    if (!d->variable) return fail_memory(b->err);
    for (size_t v = 0; status == SBPS_OK && v < d->terms.variables; v++)
        status = add_variable(b, &d->terms.variable[v], &d->variable[v]);
    return status;
}

static sbps_status need_offsets(binding *b)
{
    formula *f = b->f;
    f->offset_node = f->fixed.terms.offset;
    f->offsets = f->fixed.terms.offsets;
    for (size_t k = 0; k < f->offsets; k++) {
        const node *n = f->offset_node[k];
        if (!n->first || n->first->next)
            return fail_at(f->text, n->at, b->err, "offset() takes one argument");
        sbps_status status = need_numbers(b, n->first);
        if (status != SBPS_OK) return status;
    }
    return SBPS_OK;
}

/* Finds the columns that . stands for: all named ones that the formula has not used so far. */
static sbps_status spread_dot(const binding *b, const bool *excluded, terms_source *s)
{
    formula *f = b->f;
    const char **dot = pool_array(&f->pool, b->count + 1, sizeof *dot);
    if (!dot) return fail_memory(b->err);
    s->dot = dot;
    for (size_t i = 0; i < b->count; i++) {
        const char *name = b->name[i];
        bool named = name && name[0] && !(excluded && excluded[i]);
        if (named && byte_map_find(&f->by_source, name, strlen(name)) == NOT_THERE)
            dot[s->dots++] = name;
    }
    return SBPS_OK;
}

static sbps_status index_columns(binding *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const char *name = b->name[i];
        if (name && name[0] && !byte_map_add(&b->index, &b->f->pool, name, strlen(name), i))
            return fail_memory(b->err);
    }
    return SBPS_OK;
}

sbps_status formula_bind(formula *f, char *const *name, const bool *excluded, size_t count,
                         sbps_error *err)
{
    binding b = {.f = f, .name = name, .count = count, .err = err};
    terms_source from = {.text = f->text};
    sbps_status status = index_columns(&b);
    const node *const outside[] = {f->response, f->failures, f->trials, f->weights};
    for (size_t k = 0; status == SBPS_OK && k < 4; k++) status = need_response(&b, outside[k]);
    for (size_t k = 0; status == SBPS_OK && k < f->groups; k++)
        status = need_group(&b, &f->group[k]);
    if (status == SBPS_OK) status = spread_dot(&b, excluded, &from);
    if (status == SBPS_OK) status = expand_side(&b, &from, f->right, &f->fixed);
    if (status == SBPS_OK) status = need_offsets(&b);
    for (size_t k = 0; status == SBPS_OK && k < f->groups; k++)
        status = expand_side(&b, &from, f->group[k].left, &f->group[k].design);
    return status;
}

/* ---- resolution ----
 *
 * Resolution: once it is known which columns are categories, what every variable is and how it
 * is computed. */

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

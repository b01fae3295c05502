/* Binding: the names of a formula become columns of a file, and its right-hand sides terms. */
#include "ingest/formula/formula.h"

#include "core/printable.h"
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

/* A column that is the argument of factor(). */
static sbps_status need_levels(binding *b, const node *n)
{
    formula_column *c = NULL;
    sbps_status status = need_column(b, n, &c);
    if (status == SBPS_OK) c->bare = c->factor = true;
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
    if (category && argument->kind == NODE_NAME) return need_levels(b, argument);
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

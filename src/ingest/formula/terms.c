/* The algebra of R's terms.formula():
 *
 *   a + b     both                        a : b     every union of one of a with one of b
 *   a * b     a + b + a:b                 a ^ k     a:a:...:a, k times
 *   a %in% b  a's, each with all of b     a / b     a + b %in% a
 *   a - b     a's that are not b's        1, 0      the intercept, and its absence
 *
 * Repeated terms are left out, and so are terms with an offset(). The others are sorted by
 * degree. */
#include "ingest/formula/terms.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_MAX ((size_t)1 << 26) /* variables of all unions that are computed */

/* Terms in the order in which they were added; none twice, none empty. */
typedef struct {
    term *item;
    size_t count, capacity;
    byte_map seen;
} term_list;

typedef struct {
    const terms_source *from;
    pool *pool;
    term_model *model;
    byte_map names;           /* of the variables */
    size_t variable_capacity; /* of model->variable */
    uint32_t *merged;         /* scratch for a union */
    size_t work;
    bool positive; /* false to the right of an odd number of minus signs */
    sbps_status status;
    sbps_error *err;
} expansion;

static void no_memory(expansion *e)
{
    if (e->status == SBPS_OK) e->status = fail_memory(e->err);
}

static void fail_node(expansion *e, const node *n, const char *message)
{
    if (e->status == SBPS_OK) e->status = fail_at(e->from->text, n->at, e->err, "%s", message);
}

/* Counts work and limits it: powers of powers would take too long. */
static void count_work(expansion *e, size_t variables, const node *n)
{
    e->work += variables;
    if (e->work > WORK_MAX && e->status == SBPS_OK)
        e->status = fail_at(e->from->text, n->at, e->err,
                            "the terms of the formula take too long to expand; a lower power "
                            "or fewer * makes fewer");
}

/* ---- variables ---- */

static bool is_dot(const node *n)
{
    return n->kind == NODE_NAME && strcmp(n->name, ".") == 0;
}

static void add_variable(expansion *e, const node *n, const char *name)
{
    term_model *m = e->model;
    if (!name) no_memory(e);
    if (e->status != SBPS_OK || byte_map_find(&e->names, name, strlen(name)) != NOT_THERE)
        return;
    if (m->variables == e->variable_capacity) {
        size_t capacity = e->variable_capacity ? 2 * e->variable_capacity : 16;
        named_node *wide = pool_array(e->pool, capacity, sizeof *wide);
        if (!wide) {
            no_memory(e);
            return;
        }
        if (m->variables > 0) memcpy(wide, m->variable, m->variables * sizeof *wide);
        m->variable = wide;
        e->variable_capacity = capacity;
    }
    if (!byte_map_add(&e->names, e->pool, name, strlen(name), m->variables)) no_memory(e);
    m->variable[m->variables++] = (named_node){n, name};
}

/* Adds the columns that . stands for as variables. */
static void add_dotted(expansion *e, const node *dot)
{
    for (size_t k = 0; e->status == SBPS_OK && k < e->from->dots; k++) {
        node *n = pool_take(e->pool, sizeof *n);
        if (!n) {
            no_memory(e);
            return;
        }
        *n = (node){.kind = NODE_NAME,
                    .at = dot->at,
                    .name = e->from->dot[k],
                    .quoted = true,
                    .height = 1};
        add_variable(e, n, name_as_written(n->name, e->pool));
    }
}

/* Adds the variables of an expression, in their order. */
static void find_variables(expansion *e, const node *n)
{
    if (e->status != SBPS_OK) return;
    if (is_condition(n)) {
        add_variable(e, n, tree_text(n, e->pool));
        return;
    }
    switch (n->kind) {
    case NODE_NUMBER:
        break;
    case NODE_TEXT:
        fail_node(e, n,
                  "a text is not a term: write names of columns without quotes, or in "
                  "`backticks`");
        break;
    case NODE_NAME:
    case NODE_CALL:
        if (is_dot(n))
            add_dotted(e, n);
        else
            add_variable(e, n, tree_text(n, e->pool));
        break;
    default:
        for (const node *a = n->first; a; a = a->next) find_variables(e, a);
    }
}

/* ---- lists ---- */

/* Appends a term unless the list has it. */
static void append_term(expansion *e, term_list *l, const uint32_t *variable, size_t count,
                        const node *at)
{
    size_t bytes = count * sizeof *variable;
    if (e->status != SBPS_OK || count == 0) return;
    if (byte_map_find(&l->seen, variable, bytes) != NOT_THERE) return;
    if (l->count == TERMS_MAX)
        e->status = fail_at(e->from->text, at->at, e->err,
                            "the formula has more than %zu terms; a lower power or fewer * "
                            "makes fewer",
                            TERMS_MAX);
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 4 * l->capacity : 8;
        term *wide = pool_array(e->pool, capacity, sizeof *wide);
        if (!wide) {
            no_memory(e);
            return;
        }
        if (l->count > 0) memcpy(wide, l->item, l->count * sizeof *wide);
        l->item = wide;
        l->capacity = capacity;
    }
    uint32_t *kept = pool_take(e->pool, bytes);
    if (!kept ||
        !byte_map_add(&l->seen, e->pool, memcpy(kept, variable, bytes), bytes, l->count))
        no_memory(e);
    if (e->status == SBPS_OK) l->item[l->count++] = (term){kept, count};
}

static void add_all(expansion *e, term_list *to, const term_list *from, const node *at)
{
    for (size_t i = 0; i < from->count; i++)
        append_term(e, to, from->item[i].variable, from->item[i].count, at);
}

/* Appends the union of two terms. */
static void add_union(expansion *e, term_list *l, const term *a, const term *b, const node *at)
{
    size_t i = 0, j = 0, count = 0;
    count_work(e, a->count + b->count, at);
    while (e->status == SBPS_OK && (i < a->count || j < b->count)) {
        bool left = j == b->count || (i < a->count && a->variable[i] <= b->variable[j]);
        uint32_t next = left ? a->variable[i] : b->variable[j];
        i += i < a->count && a->variable[i] == next;
        j += j < b->count && b->variable[j] == next;
        e->merged[count++] = next;
    }
    append_term(e, l, e->merged, count, at);
}

/* Appends all unions of a term of a with a term of b. */
static void interact(expansion *e, term_list *l, const term_list *a, const term_list *b,
                     const node *at)
{
    for (size_t i = 0; e->status == SBPS_OK && i < a->count; i++)
        for (size_t j = 0; e->status == SBPS_OK && j < b->count; j++)
            add_union(e, l, &a->item[i], &b->item[j], at);
}

/* Returns the term of all variables of a list. */
static term all_of(expansion *e, const term_list *l)
{
    uint32_t *found = pool_array(e->pool, e->model->variables + 1, sizeof *found);
    bool *in = pool_array(e->pool, e->model->variables + 1, sizeof *in);
    size_t count = 0;
    if (!found || !in) {
        no_memory(e);
        return (term){0};
    }
    for (size_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < l->item[i].count; k++) in[l->item[i].variable[k]] = true;
    for (size_t v = 0; v < e->model->variables; v++)
        if (in[v]) found[count++] = (uint32_t)v;
    return (term){found, count};
}

/* Appends each term of `a` united with all of `b`. */
static void nest_terms(expansion *e, term_list *l, const term_list *a, const term_list *b,
                       const node *at)
{
    term all = all_of(e, b);
    for (size_t i = 0; e->status == SBPS_OK && i < a->count; i++)
        add_union(e, l, &a->item[i], &all, at);
}

/* ---- expressions ---- */

static term_list encode(expansion *e, const node *n);

static term_list encode_number(expansion *e, const node *n)
{
    if (n->value != 0.0 && n->value != 1.0)
        fail_node(e, n,
                  "a number in a formula is 0 or 1, for the intercept; other numbers go "
                  "inside I()");
    else
        e->model->intercept = (n->value == 1.0) == e->positive;
    return (term_list){0};
}

static term_list encode_name(expansion *e, const node *n)
{
    term_list l = {0};
    const char *name = is_dot(n) ? NULL : tree_text(n, e->pool);
    for (size_t k = 0; is_dot(n) && k < e->from->dots; k++) {
        const char *column = name_as_written(e->from->dot[k], e->pool);
        size_t v = column ? byte_map_find(&e->names, column, strlen(column)) : 0;
        if (!column) no_memory(e);
        append_term(e, &l, &(uint32_t){(uint32_t)v}, 1, n);
    }
    if (is_dot(n)) return l;
    size_t v = name ? byte_map_find(&e->names, name, strlen(name)) : 0;
    if (!name) no_memory(e);
    append_term(e, &l, &(uint32_t){(uint32_t)v}, 1, n);
    return l;
}

/* Removes the terms of expression n from a list. */
static void remove_terms(expansion *e, term_list *l, const node *n)
{
    term_list kept = {0};
    e->positive = !e->positive;
    term_list gone = encode(e, n);
    e->positive = !e->positive;
    if (gone.count == 0 || e->status != SBPS_OK) return;
    for (size_t i = 0; i < l->count; i++) {
        const term *t = &l->item[i];
        if (byte_map_find(&gone.seen, t->variable, t->count * sizeof *t->variable) == NOT_THERE)
            append_term(e, &kept, t->variable, t->count, n);
    }
    count_work(e, l->count, n);
    *l = kept;
}

static term_list encode_sum(expansion *e, const node *n)
{
    term_list l = {0};
    for (const node *a = n->first; e->status == SBPS_OK && a; a = a->next) {
        if (a != n->first && a->sign == OP_MINUS) {
            remove_terms(e, &l, a);
            continue;
        }
        term_list more = encode(e, a);
        if (l.count == 0)
            l = more;
        else
            add_all(e, &l, &more, a);
    }
    return l;
}

static term_list encode_power(expansion *e, const node *n)
{
    const node *power = without_parens(n->first->next);
    bool whole = power->kind == NODE_NUMBER && power->value >= 1.0 &&
                 power->value == floor(power->value);
    if (!whole)
        fail_node(e, n->first->next, "a power of terms must be a whole number: 1, 2, ...");
    term_list base = encode(e, n->first), l = base;
    for (double k = 1.0; e->status == SBPS_OK && k < power->value; k++) {
        term_list more = {0};
        size_t before = l.count;
        interact(e, &more, &l, &base, n);
        l = more;
        if (l.count == before) break; /* no new terms: higher powers add none */
    }
    return l;
}

static term_list encode_binary(expansion *e, const node *n)
{
    if (n->op == OP_POWER) return encode_power(e, n);
    term_list a = encode(e, n->first), b = encode(e, n->first->next), l = {0};
    if (e->status != SBPS_OK) return l;
    if (n->op == OP_TIMES || n->op == OP_DIVIDE) l = a;
    switch (n->op) {
    case OP_TIMES: {
        term_list both = {0};
        interact(e, &both, &a, &b, n);
        add_all(e, &l, &b, n);
        add_all(e, &l, &both, n);
        break;
    }
    case OP_DIVIDE: {
        term_list within = {0};
        nest_terms(e, &within, &b, &a, n);
        add_all(e, &l, &within, n);
        break;
    }
    case OP_COLON:
        interact(e, &l, &a, &b, n);
        break;
    case OP_IN:
        nest_terms(e, &l, &a, &b, n);
        break;
    default:
        fail_node(e, n,
                  n->op == OP_TILDE ? "a formula has one ~"
                                    : "a group term needs parentheses of its own between + "
                                      "signs: y ~ x + (1 | g)");
    }
    return l;
}

static term_list encode(expansion *e, const node *n)
{
    term_list l = {0};
    if (e->status != SBPS_OK) return l;
    if (is_condition(n)) return encode_name(e, n);
    switch (n->kind) {
    case NODE_NUMBER:
        return encode_number(e, n);
    case NODE_NAME:
    case NODE_CALL:
        return encode_name(e, n);
    case NODE_PAREN:
        return encode(e, n->first);
    case NODE_UNARY:
        if (n->op == OP_PLUS) return encode(e, n->first);
        remove_terms(e, &l, n->first);
        return l;
    case NODE_SUM:
        return encode_sum(e, n);
    case NODE_BINARY:
        return encode_binary(e, n);
    case NODE_TEXT:
        break; /* find_variables has failed */
    }
    return l;
}

/* ---- result ---- */

static bool has_offset(const term_model *m, const term *t)
{
    for (size_t k = 0; k < t->count; k++)
        if (is_call(m->variable[t->variable[k]].of, "offset")) return true;
    return false;
}

/* Stores the terms without offsets, sorted by degree (counting sort, stable). */
static void take_terms(expansion *e, const term_list *l)
{
    term_model *m = e->model;
    size_t *next = pool_array(e->pool, m->variables + 2, sizeof *next);
    m->term = pool_array(e->pool, l->count + 1, sizeof *m->term);
    if (!m->term || !next) {
        no_memory(e);
        return;
    }
    for (size_t i = 0; i < l->count; i++)
        if (!has_offset(m, &l->item[i])) next[l->item[i].count + 1]++;
    for (size_t degree = 1; degree < m->variables + 2; degree++)
        next[degree] += next[degree - 1];
    m->terms = next[m->variables + 1];
    for (size_t i = 0; i < l->count; i++)
        if (!has_offset(m, &l->item[i])) m->term[next[l->item[i].count]++] = l->item[i];
}

sbps_status terms_expand(const terms_source *s, const node *right, pool *p, term_model *out,
                         sbps_error *err)
{
    *out = (term_model){.intercept = true};
    expansion e = {.from = s, .pool = p, .model = out, .positive = true, .err = err};
    find_variables(&e, right);
    if (e.status != SBPS_OK) return e.status;
    e.merged = pool_array(p, out->variables + 1, sizeof *e.merged);
    if (!e.merged) return fail_memory(err);
    term_list l = encode(&e, right);
    if (e.status == SBPS_OK) {
        term_model *m = e.model;
        m->offset = pool_array(e.pool, m->variables + 1, sizeof *m->offset);
        if (!m->offset) no_memory(&e);
        for (size_t v = 0; e.status == SBPS_OK && v < m->variables; v++)
            if (is_call(m->variable[v].of, "offset"))
                m->offset[m->offsets++] = m->variable[v].of;
    }
    if (e.status == SBPS_OK) take_terms(&e, &l);
    return e.status;
}

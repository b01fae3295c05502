/* The list of transforms, the one of conditions, and the arguments of calls. */
#include "ingest/formula/transform.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const transform_kind *transform_find(const char *name)
{
    static const transform_kind *const all[] = {TRANSFORM_KINDS(KIND_LISTED)};
    if (strcmp(name, "as.factor") == 0) return &transform_factor;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k]->name, name) == 0) return all[k];
    return NULL;
}

sbps_status fail_call(const call *c, const char *message)
{
    return fail_at(c->text, c->of->at, c->err, "%s(): %s", c->of->name, message);
}

int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

sbps_status fail_recall(const call *c)
{
    return fail_call(c, "the numbers learned from the run's rows are incomplete");
}

/* ---- arguments ---- */

static sbps_status fail_argument(const call *c, const node *at, const char *message)
{
    return fail_at(c->text, at->at, c->err, "%s(): %s", c->of->name, message);
}

/* Returns the index of a formal argument; that of the final NULL if there is none. */
static size_t find_formal(const char *const *formal, const char *tag)
{
    size_t k = 0;
    while (formal[k] && strcmp(formal[k], tag) != 0) k++;
    return k;
}

static sbps_status match_named(const call *c, const char *const *formal, const node **given)
{
    for (const node *a = c->of->first; a; a = a->next) {
        if (!a->tag) continue;
        size_t k = find_formal(formal, a->tag);
        if (!formal[k])
            return fail_at(c->text, a->at, c->err, "%s() has no argument '%.40s' here",
                           c->of->name, a->tag);
        if (given[k]) return fail_argument(c, a, "an argument is given twice");
        given[k] = a;
    }
    return SBPS_OK;
}

sbps_status call_match(const call *c, const char *const *formal, const node **given)
{
    for (size_t k = 0; formal[k]; k++) given[k] = NULL;
    sbps_status status = match_named(c, formal, given);
    size_t next = 0;
    for (const node *a = c->of->first; status == SBPS_OK && a; a = a->next) {
        if (a->tag) continue;
        while (formal[next] && given[next]) next++;
        if (!formal[next]) return fail_argument(c, a, "it has too many arguments");
        given[next] = a;
    }
    if (status == SBPS_OK && !given[0])
        status = fail_argument(c, c->of, "a column is missing between the parentheses");
    return status;
}

const node *first_argument(const node *n)
{
    const node *a = n->first;
    while (a && a->tag && strcmp(a->tag, "x") != 0) a = a->next;
    return a;
}

/* Reads a number with or without a sign, or an infinity; false: it is neither. */
static bool read_number(const node *n, double *out)
{
    n = without_parens(n);
    bool minus = n->kind == NODE_UNARY && n->op == OP_MINUS;
    if (n->kind == NODE_UNARY) n = without_parens(n->first);
    if (n->kind == NODE_NUMBER)
        *out = n->value;
    else if (n->kind == NODE_NAME && strcmp(n->name, "Inf") == 0)
        *out = INFINITY;
    else
        return false;
    if (minus) *out = -*out;
    return true;
}

sbps_status call_count(const call *c, const node *given, size_t min, size_t max, size_t *out)
{
    double value = 0.0;
    if (!given) return SBPS_OK;
    if (!read_number(given, &value) || value != floor(value) || value < (double)min ||
        value > (double)max)
        return fail_at(c->text, given->at, c->err,
                       "%s(): expected a whole number from %zu to %zu", c->of->name, min, max);
    *out = (size_t)value;
    return SBPS_OK;
}

sbps_status call_flag(const call *c, const node *given, bool *out)
{
    if (!given) return SBPS_OK;
    const char *literal = given->kind == NODE_NAME ? given->name : "";
    bool yes = !strcmp(literal, "TRUE") || !strcmp(literal, "T");
    bool no = !strcmp(literal, "FALSE") || !strcmp(literal, "F");
    if (!yes && !no) return fail_argument(c, given, "expected TRUE or FALSE");
    *out = yes;
    return SBPS_OK;
}

sbps_status call_list(const call *c, const node *given, double **out, size_t *count)
{
    if (!given) return SBPS_OK;
    bool several = is_call(given, "c");
    size_t length = several ? 0 : 1;
    for (const node *a = several ? given->first : NULL; a; a = a->next) length++;
    double *values = pool_array(c->pool, length + 1, sizeof *values);
    if (!values) return fail_memory(c->err);
    const node *a = several ? given->first : given;
    for (size_t k = 0; k < length; k++, a = a->next)
        if (!read_number(a, &values[k])) return fail_argument(c, a, "expected a number");
    *out = values;
    *count = length;
    return SBPS_OK;
}

sbps_status call_numbers(const call *c, const node *given, double **out, size_t *count)
{
    sbps_status status = call_list(c, given, out, count);
    if (given && status == SBPS_OK) qsort(*out, *count, sizeof **out, by_number);
    return status;
}

/* ---- logical ---- */

static size_t logical_width(const void *self)
{
    (void)self;
    return 2;
}

static size_t logical_level(const void *self, double x)
{
    (void)self;
    return isnan(x) ? SIZE_MAX : x != 0.0;
}

static const char *logical_level_name(const void *self, size_t level, pool *p)
{
    (void)self;
    (void)p;
    return level ? "TRUE" : "FALSE";
}

const transform_kind transform_logical = {
    .name = "logical",
    .levels = true,
    .width = logical_width,
    .level = logical_level,
    .level_name = logical_level_name,
};

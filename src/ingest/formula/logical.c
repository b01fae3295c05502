/* TRUE and FALSE as R has them: what compares is no number but a variable of two levels, and a column that is
 * compared with texts is a category. */
#include "ingest/formula/program.h"
#include "ingest/formula/transform.h"

#include <math.h>
#include <stdint.h>

static const node *list_of(const node *n)
{
    return is_call(n, "c") ? n->first : n;
}

const node *compared_with_text(const node *n)
{
    if (n->kind != NODE_BINARY) return NULL;
    const node *left = without_parens(n->first), *right = without_parens(n->first->next);
    const node *first = n->op == OP_IN ? list_of(right) : right;
    if (n->op != OP_IN && !is_condition(n)) return NULL;
    if (left->kind == NODE_NAME && first && first->kind == NODE_TEXT) return left;
    bool turned = is_condition(n) && left->kind == NODE_TEXT && right->kind == NODE_NAME;
    return turned ? right : NULL;
}

bool is_logical(const node *n)
{
    if (n->kind == NODE_PAREN) return is_logical(n->first);
    if (is_call(n, "I") && n->first && !n->first->next) return is_logical(n->first);
    return is_condition(n) || is_operator(n, OP_BAR) || is_operator(n, OP_IN);
}

static size_t two_levels(const void *self)
{
    (void)self;
    return 2;
}

static size_t level_of(const void *self, double x)
{
    (void)self;
    return isnan(x) ? SIZE_MAX : x != 0.0;
}

static const char *level_name(const void *self, size_t level, pool *p)
{
    (void)self;
    (void)p;
    return level ? "TRUE" : "FALSE";
}

const transform_kind transform_logical = {
    .name = "logical",
    .levels = true,
    .width = two_levels,
    .level = level_of,
    .level_name = level_name,
};

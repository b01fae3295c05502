/* Parsing a formula and separating its parts: the response with its trials and weights, the
 * group terms, and the rest of the right-hand side. (1 | g/h) is (1 | g) + (1 | g:h). */
#include "ingest/formula/formula.h"

#include "core/printable.h"
#include "core/text.h"
#include <stdlib.h>
#include <string.h>

#define FACTORS_MAX 8 /* columns that one group term combines */

/* ---- response ---- */

/* Stores the argument of trials() or weights(). */
static sbps_status take_addition(formula *f, const node *n, sbps_error *err)
{
    bool trials = is_call(n, "trials"), weights = is_call(n, "weights");
    if (!trials && !weights)
        return fail_at(f->text, n->at, err,
                       "after | the response can have only trials() and weights()");
    const node **to = trials ? &f->trials : &f->weights;
    if (*to) return fail_at(f->text, n->at, err, "%s() appears twice", n->name);
    if (!n->first || n->first->next)
        return fail_at(f->text, n->at, err, "%s() takes one column", n->name);
    *to = n->first;
    return SBPS_OK;
}

static sbps_status take_additions(formula *f, const node *n, sbps_error *err)
{
    if (n->kind != NODE_SUM) return take_addition(f, n, err);
    sbps_status status = SBPS_OK;
    for (const node *a = n->first; status == SBPS_OK && a; a = a->next)
        status = take_addition(f, a, err);
    return status;
}

/* Splits cbind(successes, failures). */
static sbps_status take_pair(formula *f, const node *n, sbps_error *err)
{
    const node *first = n->first, *second = first ? first->next : NULL;
    if (!second || second->next)
        return fail_at(f->text, n->at, err, "cbind(successes, failures) has two columns");
    if (f->trials)
        return fail_at(f->text, n->at, err,
                       "cbind() and trials() cannot both give the number of trials");
    f->response = first;
    f->failures = second;
    return SBPS_OK;
}

/* Stores the response and what is behind its | bar. */
static sbps_status take_response(formula *f, const node *left, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    f->response = left;
    if (is_operator(left, OP_BAR)) {
        f->response = left->first;
        status = take_additions(f, left->first->next, err);
    }
    f->response_name = tree_text(f->response, &f->pool);
    if (!f->response_name) return fail_memory(err);
    if (status == SBPS_OK && is_call(f->response, "cbind"))
        status = take_pair(f, f->response, err);
    return status;
}

/* ---- group terms ---- */

static bool is_group(const node *n)
{
    return n->kind == NODE_PAREN &&
           (is_operator(n->first, OP_BAR) || is_operator(n->first, OP_BARS));
}

/* Collects the names joined by `op` from the left; false: there is something else. */
static bool collect_names(const node *n, operator_kind op, const node **name, size_t *count)
{
    n = without_parens(n);
    if (n->kind == NODE_NAME && strcmp(n->name, ".") != 0 && *count < FACTORS_MAX) {
        name[(*count)++] = n;
        return true;
    }
    return is_operator(n, op) && collect_names(n->first, op, name, count) &&
           collect_names(n->first->next, op, name, count);
}

/* Returns "g" or "g:h"; NULL: no memory. */
static const char *joined_name(formula *f, const node *const *name, size_t count)
{
    text t = {0};
    for (size_t k = 0; k < count; k++) text_add(&t, "%s%s", k ? ":" : "", name[k]->name);
    char *made = text_take(&t);
    const char *kept = made ? pool_text(&f->pool, made, strlen(made)) : NULL;
    free(made);
    return kept;
}

/* Appends the group term (bar->first | name[0]:...:name[count - 1]). */
static sbps_status add_group(formula *f, const node *bar, const node *const *name, size_t count,
                             sbps_error *err)
{
    formula_group *g = &f->group[f->groups++];
    *g = (formula_group){.left = bar->first,
                         .columns = count,
                         .correlated = bar->op == OP_BAR,
                         .name = joined_name(f, name, count),
                         .column = pool_array(&f->pool, count, sizeof *g->column)};
    const node **kept = pool_array(&f->pool, count, sizeof *kept);
    if (!g->name || !g->column || !kept) return fail_memory(err);
    memcpy(kept, name, count * sizeof *kept);
    g->named = kept;
    return SBPS_OK;
}

/* g), (... | g:h), and one for each | Appends (... | g) or (... | g:h), and for (... | g/h/k)
 * one term for each step. */
static sbps_status take_group(formula *f, const node *paren, sbps_error *err)
{
    const node *bar = paren->first, *name[FACTORS_MAX];
    const node *factor = bar->first->next;
    size_t count = 0;
    bool nested = is_operator(without_parens(factor), OP_DIVIDE);
    if (!collect_names(factor, nested ? OP_DIVIDE : OP_COLON, name, &count))
        return fail_at(f->text, factor->at, err,
                       "after the bar goes the column that groups the rows: g, g:h or g/h");
    sbps_status status = SBPS_OK;
    for (size_t k = nested ? 1 : count; status == SBPS_OK && k <= count; k++)
        status = add_group(f, bar, name, k, err);
    return status;
}

/* ---- right-hand side ---- */

/* Copies the sum without its group terms to f->right. The copy begins with 1, which does not
 * change its terms. */
static sbps_status without_groups(formula *f, const node *right, sbps_error *err)
{
    node *sum = pool_take(&f->pool, sizeof *sum), *last = pool_take(&f->pool, sizeof *last);
    if (!sum || !last) return fail_memory(err);
    *last = (node){.kind = NODE_NUMBER, .at = right->at, .value = 1.0, .height = 1};
    *sum =
        (node){.kind = NODE_SUM, .at = right->at, .first = last, .height = right->height + 1};
    f->right = sum;
    sbps_status status = SBPS_OK;
    const node *a = right->kind == NODE_SUM ? right->first : right;
    for (bool first = true; status == SBPS_OK && a; a = a->next, first = false) {
        bool minus = !first && a->sign == OP_MINUS;
        if (is_group(a) && minus)
            return fail_at(f->text, a->at, err, "a group term cannot be removed");
        if (is_group(a)) {
            status = take_group(f, a, err);
            continue;
        }
        node *copy = pool_take(&f->pool, sizeof *copy);
        if (!copy) return fail_memory(err);
        *copy = *a;
        copy->next = NULL;
        copy->sign = minus ? OP_MINUS : OP_PLUS;
        last = last->next = copy;
    }
    return status;
}

static sbps_status formula_split(formula *f, const node *tree, sbps_error *err)
{
    if (!is_operator(tree, OP_TILDE))
        return fail_at(f->text, 0, err,
                       "a formula needs a ~ between the response and the terms: y ~ x");
    if (is_operator(tree->first, OP_TILDE))
        return fail_at(f->text, tree->at, err, "a formula has one ~");
    sbps_status status = take_response(f, tree->first, err);
    const node *right = tree->first->next;
    size_t groups = is_group(right);
    for (const node *a = right->kind == NODE_SUM ? right->first : NULL; a; a = a->next)
        groups += is_group(a);
    f->right = right;
    if (status != SBPS_OK || groups == 0) return status;
    f->group = pool_array(&f->pool, groups * FACTORS_MAX, sizeof *f->group);
    return f->group ? without_groups(f, right, err) : fail_memory(err);
}

/* ---- formula ---- */

sbps_status formula_parse(const char *source, formula **out, sbps_error *err)
{
    node *tree = NULL;
    *out = NULL;
    formula *f = calloc(1, sizeof *f);
    if (!f) return fail_memory(err);
    f->text = pool_text(&f->pool, source, strlen(source));
    sbps_status status = f->text ? tree_parse(f->text, &f->pool, &tree, err) : fail_memory(err);
    if (status == SBPS_OK) status = formula_split(f, tree, err);
    if (status == SBPS_OK)
        *out = f;
    else
        formula_destroy(f);
    return status;
}

void formula_destroy(formula *f)
{
    if (!f) return;
    pool_clear(&f->pool);
    free(f);
}

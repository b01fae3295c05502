/* Compilation of expressions to steps in postfix order, and their evaluation. A tree is at most
 * TREE_DEPTH high, and sums are added from the left, so that a stack of as many numbers is
 * enough. */
#include "ingest/formula/program.h"

#include "core/printable.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

static double identity(double x)
{
    return x;
}

static double square_root(double x)
{
    return sqrt(x);
}

static const struct {
    const char *name;
    double (*of)(double);
} functions[] = {
    {"I", identity},
    {"log", log},
    {"exp", exp},
    {"sqrt", square_root},
    {"abs", fabs},
    {"log2", log2},
    {"log10", log10},
    {"log1p", log1p},
    {"expm1", expm1},
    {"sin", sin},
    {"cos", cos},
    {"tan", tan},
    {"tanh", tanh},
    {"sinh", sinh},
    {"cosh", cosh},
    {"atan", atan},
    {"floor", floor},
    {"ceiling", ceil},
    {"as.numeric", identity},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

static size_t function_index(const char *name)
{
    size_t k = 0;
    while (k < FUNCTIONS && strcmp(functions[k].name, name) != 0) k++;
    return k;
}

bool is_function(const char *name)
{
    return function_index(name) < FUNCTIONS;
}

/* Returns the first of the values in c(...), or the single value. */
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
    bool reversed = is_condition(n) && left->kind == NODE_TEXT && right->kind == NODE_NAME;
    return reversed ? right : NULL;
}

bool is_logical(const node *n)
{
    if (n->kind == NODE_PAREN) return is_logical(n->first);
    if (is_call(n, "I") && n->first && !n->first->next) return is_logical(n->first);
    return is_condition(n) || is_operator(n, OP_BAR) || is_operator(n, OP_IN);
}

typedef struct {
    const name_finder *names;
    program *to;
    size_t capacity;
    pool *pool;
    sbps_error *err;
} compiler;

static sbps_status add_step(compiler *c, program_step s)
{
    program *g = c->to;
    if (g->steps == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 4;
        program_step *wide = pool_array(c->pool, capacity, sizeof *wide);
        if (!wide) return fail_memory(c->err);
        if (g->steps > 0) memcpy(wide, g->step, g->steps * sizeof *wide);
        g->step = wide;
        c->capacity = capacity;
    }
    g->step[g->steps++] = s;
    return SBPS_OK;
}

static sbps_status compile(compiler *c, const node *n);

static sbps_status compile_sum(compiler *c, const node *n)
{
    sbps_status status = compile(c, n->first);
    for (const node *a = n->first->next; status == SBPS_OK && a; a = a->next) {
        status = compile(c, a);
        step_kind kind = a->sign == OP_MINUS ? DO_SUBTRACT : DO_ADD;
        if (status == SBPS_OK) status = add_step(c, (program_step){.kind = kind});
    }
    return status;
}

/* ---- conditions on levels ---- */

/* Adds the step that tests whether column `name` has a level. */
static sbps_status add_test(compiler *c, const node *name, const node *level)
{
    program_step s = {.kind = DO_LEVEL};
    if (level->kind != NODE_TEXT)
        return fail_at(c->names->text, level->at, c->err, "expected a level in quotes");
    if (!c->names->find_level)
        return fail_at(c->names->text, level->at, c->err,
                       "levels can be compared only in a term of their own: I(a == \"b\")");
    sbps_status status = c->names->find_level(c->names->self, name, level, &s.test, c->err);
    if (status == SBPS_OK) s.column = s.test->column;
    return status == SBPS_OK ? add_step(c, s) : status;
}

/* a == "b", "b" != a */
static sbps_status compile_level(compiler *c, const node *n, const node *name)
{
    const node *left = without_parens(n->first), *right = without_parens(n->first->next);
    if (n->op != OP_EQUAL && n->op != OP_UNEQUAL)
        return fail_at(c->names->text, n->at, c->err,
                       "a category is compared with a text by ==, != or %%in%%");
    sbps_status status = add_test(c, name, name == left ? right : left);
    if (status != SBPS_OK || n->op == OP_EQUAL) return status;
    return add_step(c, (program_step){.kind = DO_NOT});
}

/* a %in% c("b", "c") and x %in% c(1, 2): one comparison after another, joined by or. */
static sbps_status compile_in(compiler *c, const node *n)
{
    const node *left = without_parens(n->first), *right = without_parens(n->first->next);
    bool several = is_call(right, "c"), texts = compared_with_text(n);
    sbps_status status = SBPS_OK;
    if (left->kind != NODE_NAME || (several && !right->first))
        return fail_at(
            c->names->text, n->at, c->err,
            "%%in%% needs a column on its left and values on its right: x %%in%% c(1, 2)");
    const node *first = several ? right->first : right;
    for (const node *a = first; status == SBPS_OK && a; a = several ? a->next : NULL) {
        status = texts ? add_test(c, left, a) : compile(c, left);
        if (status == SBPS_OK && !texts) status = compile(c, a);
        if (status == SBPS_OK && !texts) status = add_step(c, (program_step){.kind = DO_EQUAL});
        if (status == SBPS_OK && a != first)
            status = add_step(c, (program_step){.kind = DO_OR});
    }
    return status;
}

/* ---- operators ---- */

/* Returns the step of a binary operator; DO_NUMBER: it has none. */
static step_kind step_of(operator_kind op)
{
    static const step_kind steps[OP_POWER + 1] = {
        [OP_TIMES] = DO_MULTIPLY,
        [OP_DIVIDE] = DO_DIVIDE,
        [OP_POWER] = DO_POWER,
        [OP_EQUAL] = DO_EQUAL,
        [OP_UNEQUAL] = DO_UNEQUAL,
        [OP_LESS] = DO_LESS,
        [OP_LESS_EQUAL] = DO_LESS_EQUAL,
        [OP_GREATER] = DO_GREATER,
        [OP_GREATER_EQUAL] = DO_GREATER_EQUAL,
        [OP_AND] = DO_AND,
        [OP_BAR] = DO_OR,
    };
    return steps[op];
}

static sbps_status compile_binary(compiler *c, const node *n)
{
    const step_kind kind = step_of(n->op);
    const node *compared = compared_with_text(n);
    if (n->op == OP_IN) return compile_in(c, n);
    if (compared) return compile_level(c, n, compared);
    if (kind == DO_NUMBER)
        return fail_at(c->names->text, n->at, c->err,
                       "numbers can be combined only by + - * / ^, comparisons, & and |");
    sbps_status status = compile(c, n->first);
    if (status == SBPS_OK) status = compile(c, n->first->next);
    return status == SBPS_OK ? add_step(c, (program_step){.kind = kind}) : status;
}

enum { OTHERS = 8 };

/* Fails for a name that is no function of one number, with a suggestion. */
static sbps_status fail_function(const compiler *c, const node *n)
{
    static const char *const others[] = {"poly",   "bs",  "ns",     "scale",
                                         "factor", "cut", "offset", "relevel"};
    const char *names[FUNCTIONS + OTHERS];
    for (size_t k = 0; k < OTHERS; k++) {
        if (strcmp(n->name, others[k]) == 0)
            return fail_at(c->names->text, n->at, c->err,
                           "%s() cannot be used inside another function", n->name);
        names[FUNCTIONS + k] = others[k];
    }
    for (size_t k = 0; k < FUNCTIONS; k++) names[k] = functions[k].name;
    name_hint hint = did_you_mean(",", n->name, names, FUNCTIONS + OTHERS);
    return fail_at(c->names->text, n->at, c->err, "no function is called '%s'%s",
                   show_name(n->name).text, hint.text);
}

/* log(x, base) as in R: log2 and log10 for these bases. */
static sbps_status compile_log(compiler *c, const node *n)
{
    const node *base = n->first->next;
    double known = base->kind == NODE_NUMBER ? base->value : 0.0;
    double (*of)(double) = known == 2.0 ? log2 : known == 10.0 ? log10 : log;
    sbps_status status = compile(c, n->first);
    if (status == SBPS_OK)
        status = add_step(c, (program_step){.kind = DO_FUNCTION, .function = of});
    if (status != SBPS_OK || of != log) return status;
    status = compile(c, base);
    if (status == SBPS_OK)
        status = add_step(c, (program_step){.kind = DO_FUNCTION, .function = log});
    return status == SBPS_OK ? add_step(c, (program_step){.kind = DO_DIVIDE}) : status;
}

static bool is_log_with_base(const node *n)
{
    const node *base = n->first ? n->first->next : NULL;
    return is_call(n, "log") && base && !base->next && !n->first->tag &&
           (!base->tag || strcmp(base->tag, "base") == 0);
}

static sbps_status compile_call(compiler *c, const node *n)
{
    if (is_log_with_base(n)) return compile_log(c, n);
    size_t k = function_index(n->name);
    if (k == FUNCTIONS) return fail_function(c, n);
    if (!n->first || n->first->next || n->first->tag)
        return fail_at(c->names->text, n->at, c->err, "%s() takes one argument", n->name);
    sbps_status status = compile(c, n->first);
    if (status != SBPS_OK || functions[k].of == identity) return status;
    return add_step(c, (program_step){.kind = DO_FUNCTION, .function = functions[k].of});
}

static sbps_status compile_name(compiler *c, const node *n)
{
    program_step s = {.kind = DO_COLUMN};
    sbps_status status = c->names->find(c->names->self, n, &s.column, c->err);
    return status == SBPS_OK ? add_step(c, s) : status;
}

static sbps_status compile(compiler *c, const node *n)
{
    sbps_status status;
    switch (n->kind) {
    case NODE_NUMBER:
        return add_step(c, (program_step){.kind = DO_NUMBER, .number = n->value});
    case NODE_NAME:
        return compile_name(c, n);
    case NODE_CALL:
        return compile_call(c, n);
    case NODE_PAREN:
        return compile(c, n->first);
    case NODE_UNARY:
        status = compile(c, n->first);
        if (status != SBPS_OK || n->op == OP_PLUS) return status;
        return add_step(c, (program_step){.kind = n->op == OP_NOT ? DO_NOT : DO_NEGATE});
    case NODE_SUM:
        return compile_sum(c, n);
    case NODE_BINARY:
        return compile_binary(c, n);
    case NODE_TEXT:
        break;
    }
    return fail_at(c->names->text, n->at, c->err, "expected a number, not a text");
}

sbps_status program_compile(const node *n, const name_finder *names, pool *p, program *out,
                            sbps_error *err)
{
    *out = (program){0};
    compiler c = {.names = names, .to = out, .pool = p, .err = err};
    return compile(&c, n);
}

size_t program_column(const program *g)
{
    return g->steps == 1 && g->step->kind == DO_COLUMN ? g->step->column : SIZE_MAX;
}

/* As in R, x^2 is x times x. */
static double power(double x, double y)
{
    return y == 2.0 ? x * x : pow(x, y);
}

/* Comparisons, and, or. As in R a missing operand need not make the result missing: FALSE & NA
 * is FALSE. */
static double logical_result(step_kind kind, double x, double y)
{
    if (kind == DO_AND && (x == 0.0 || y == 0.0)) return 0.0;
    if (kind == DO_OR && ((x != 0.0 && !isnan(x)) || (y != 0.0 && !isnan(y)))) return 1.0;
    if (isnan(x) || isnan(y)) return NAN;
    return kind == DO_EQUAL           ? x == y
           : kind == DO_UNEQUAL       ? x != y
           : kind == DO_LESS          ? x < y
           : kind == DO_LESS_EQUAL    ? x <= y
           : kind == DO_GREATER       ? x > y
           : kind == DO_GREATER_EQUAL ? x >= y
                                      : kind == DO_AND;
}

static double has_level(const level_test *t, double code)
{
    const size_t *rank = *t->rank;
    return rank && rank[(size_t)code] == t->target;
}

double program_run(const program *g, const double *row, const size_t *slot)
{
    double stack[TREE_DEPTH + 2], *top = stack;
    *top = 0.0; /* the value of no steps */
    for (size_t k = 0; k < g->steps; k++) {
        const program_step *s = &g->step[k];
        switch (s->kind) {
        case DO_NUMBER:
            *++top = s->number;
            break;
        case DO_COLUMN:
            *++top = row[slot[s->column]];
            break;
        case DO_FUNCTION:
            *top = s->function(*top);
            break;
        case DO_NEGATE:
            *top = -*top;
            break;
        case DO_ADD:
            top--, *top += top[1];
            break;
        case DO_SUBTRACT:
            top--, *top -= top[1];
            break;
        case DO_MULTIPLY:
            top--, *top *= top[1];
            break;
        case DO_DIVIDE:
            top--, *top /= top[1];
            break;
        case DO_POWER:
            top--, *top = power(*top, top[1]);
            break;
        case DO_NOT:
            *top = isnan(*top) ? NAN : *top == 0.0;
            break;
        case DO_LEVEL:
            *++top = has_level(s->test, row[slot[s->column]]);
            break;
        default:
            top--, *top = logical_result(s->kind, *top, top[1]);
        }
    }
    return *top;
}

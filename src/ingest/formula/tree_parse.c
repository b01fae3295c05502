/* R's grammar as far as formulas go, from the loosest operator to the tightest:
 *
 *   ~     |  ||     &     !     == != < <= > >=     +  -     *  /     %in%     :     + and - before one operand     ^
 *
 * ^ groups to the right, comparisons do not stand beside each other, the others group to the left. */
#include "ingest/formula/lex.h"

#include <string.h>

typedef struct {
    const char *text;
    pool *pool;
    token next;
    size_t depth;
    sbps_status status;
    sbps_error *err;
} parser;

static void advance(parser *p)
{
    if (p->status == SBPS_OK)
        p->status = lex_next(p->text, p->next.end, p->pool, &p->next, p->err);
}

static node *fail_memory_here(parser *p)
{
    p->status = fail_memory(p->err);
    return NULL;
}

static node *fail_here(parser *p, size_t at, const char *sentence)
{
    if (p->status == SBPS_OK) p->status = fail_at(p->text, at, p->err, "%s", sentence);
    return NULL;
}

static node *new_node(parser *p, node_kind kind, size_t at)
{
    node *n = p->status == SBPS_OK ? pool_take(p->pool, sizeof *n) : NULL;
    if (!n) return p->status == SBPS_OK ? fail_memory_here(p) : NULL;
    n->kind = kind;
    n->at = at;
    n->height = 1;
    return n;
}

/* `child` is among the operands of `n`, whose height grows with it; NULL: too high. */
static node *grow(parser *p, node *n, const node *child)
{
    if (child->height >= n->height) n->height = child->height + 1;
    return n->height <= TREE_DEPTH ? n
                                   : fail_here(p, n->at, "the formula is nested too deeply");
}

static node *parse_level(parser *p, int level);

enum {
    LEVEL_TILDE,
    LEVEL_BAR,
    LEVEL_AND,
    LEVEL_COMPARE,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_IN,
    LEVEL_COLON,
    LEVEL_UNARY
};

static int level_of(const token *t)
{
    static const int levels[] = {
        [OP_NONE] = -1,
        [OP_TILDE] = LEVEL_TILDE,
        [OP_BARS] = LEVEL_BAR,
        [OP_BAR] = LEVEL_BAR,
        [OP_AND] = LEVEL_AND,
        [OP_NOT] = -1,
        [OP_EQUAL] = LEVEL_COMPARE,
        [OP_UNEQUAL] = LEVEL_COMPARE,
        [OP_LESS] = LEVEL_COMPARE,
        [OP_LESS_EQUAL] = LEVEL_COMPARE,
        [OP_GREATER] = LEVEL_COMPARE,
        [OP_GREATER_EQUAL] = LEVEL_COMPARE,
        [OP_PLUS] = LEVEL_SUM,
        [OP_MINUS] = LEVEL_SUM,
        [OP_TIMES] = LEVEL_PRODUCT,
        [OP_DIVIDE] = LEVEL_PRODUCT,
        [OP_IN] = LEVEL_IN,
        [OP_COLON] = LEVEL_COLON,
        [OP_POWER] = -1,
    };
    return t->kind == TOKEN_OPERATOR ? levels[t->op] : -1;
}

static node *parse_inside(parser *p)
{
    if (++p->depth > TREE_DEPTH)
        return fail_here(p, p->next.at, "the formula is nested too deeply");
    node *n = parse_level(p, LEVEL_TILDE);
    p->depth--;
    return n;
}

static bool expect_close(parser *p, size_t opened)
{
    if (p->status != SBPS_OK) return false;
    if (p->next.kind == TOKEN_CLOSE) {
        advance(p);
        return p->status == SBPS_OK;
    }
    if (p->next.kind == TOKEN_END)
        fail_here(p, opened, "the parenthesis that opens here is not closed");
    else
        fail_here(p, p->next.at, "an operator or a closing parenthesis is missing before this");
    return false;
}

/* An argument, `name = ` before it or not. */
static node *parse_argument(parser *p)
{
    const char *tag = NULL;
    if (p->next.kind == TOKEN_NAME) {
        parser ahead = *p;
        advance(&ahead);
        if (ahead.status != SBPS_OK) {
            p->status = ahead.status;
            return NULL;
        }
        if (ahead.next.kind == TOKEN_EQUALS) {
            tag = p->next.name;
            *p = ahead;
            advance(p);
        }
    }
    node *n = parse_inside(p);
    if (n) n->tag = tag;
    return n;
}

static node *parse_call(parser *p, const token *name)
{
    size_t opened = p->next.at;
    node *n = new_node(p, NODE_CALL, name->at);
    advance(p);
    if (!n) return NULL;
    n->name = name->name;
    n->quoted = name->quoted;
    node **last = &n->first;
    while (p->status == SBPS_OK && p->next.kind != TOKEN_CLOSE) {
        node *argument = parse_argument(p);
        if (!argument || !grow(p, n, argument)) return NULL;
        *last = argument;
        last = &argument->next;
        if (p->next.kind != TOKEN_COMMA) break;
        advance(p);
        if (p->next.kind == TOKEN_CLOSE)
            return fail_here(p, p->next.at, "an argument is missing before this");
    }
    return expect_close(p, opened) ? n : NULL;
}

static node *parse_paren(parser *p, size_t opened)
{
    node *n = new_node(p, NODE_PAREN, opened), *inner = parse_inside(p);
    if (!n || !inner || !grow(p, n, inner)) return NULL;
    n->first = inner;
    return expect_close(p, opened) ? n : NULL;
}

static node *fail_operand(parser *p)
{
    if (p->next.kind == TOKEN_OPERATOR && p->next.op == OP_TILDE)
        return fail_here(p, p->next.at, "what is to be explained is missing before ~");
    return fail_here(p, p->next.at,
                     p->next.kind == TOKEN_END ? "the formula ends where a term should stand"
                                               : "a term is missing before this");
}

static node *parse_operand(parser *p)
{
    const token t = p->next;
    if (p->status != SBPS_OK) return NULL;
    if (t.kind != TOKEN_NAME && t.kind != TOKEN_NUMBER && t.kind != TOKEN_TEXT &&
        t.kind != TOKEN_OPEN)
        return fail_operand(p);
    advance(p);
    if (p->status != SBPS_OK) return NULL;
    if (t.kind == TOKEN_OPEN) return parse_paren(p, t.at);
    if (t.kind == TOKEN_NAME && p->next.kind == TOKEN_OPEN) return parse_call(p, &t);
    node *n = new_node(p,
                       t.kind == TOKEN_NAME     ? NODE_NAME
                       : t.kind == TOKEN_NUMBER ? NODE_NUMBER
                                                : NODE_TEXT,
                       t.at);
    if (!n) return NULL;
    n->name = t.name;
    n->quoted = t.quoted;
    n->value = t.value;
    return n;
}

static node *make_binary(parser *p, operator_kind op, size_t at, node *left, node *right)
{
    node *n = left && right ? new_node(p, NODE_BINARY, at) : NULL;
    if (!n || !grow(p, n, left) || !grow(p, n, right)) return NULL;
    n->op = op;
    n->first = left;
    left->next = right;
    return n;
}

static node *parse_unary(parser *p);

/* A sign may stand behind ^, and binds its operand there. */
static node *parse_power(parser *p)
{
    node *left = parse_operand(p);
    size_t at = p->next.at;
    if (!left || p->next.kind != TOKEN_OPERATOR || p->next.op != OP_POWER) return left;
    advance(p);
    return make_binary(p, OP_POWER, at, left, parse_unary(p));
}

/* A ! takes all up to the next & or |. */
static node *parse_unary(parser *p)
{
    const token t = p->next;
    bool not = t.kind == TOKEN_OPERATOR && t.op == OP_NOT;
    bool sign = t.kind == TOKEN_OPERATOR && (t.op == OP_PLUS || t.op == OP_MINUS || not );
    if (++p->depth > TREE_DEPTH) return fail_here(p, t.at, "the formula is nested too deeply");
    node *n = NULL;
    if (sign) {
        advance(p);
        node *operand = not ? parse_level(p, LEVEL_COMPARE) : parse_unary(p);
        n = operand ? new_node(p, NODE_UNARY, t.at) : NULL;
        if (n && (n = grow(p, n, operand))) {
            n->op = t.op;
            n->first = operand;
        }
    } else
        n = parse_power(p);
    p->depth--;
    return n;
}

/* a + b - c ... in one node. */
static node *parse_sum(parser *p, node *first)
{
    node *n = new_node(p, NODE_SUM, p->next.at), *last = first;
    if (!n || !(n = grow(p, n, first))) return NULL;
    n->first = first;
    while (p->status == SBPS_OK && level_of(&p->next) == LEVEL_SUM) {
        operator_kind sign = p->next.op;
        advance(p);
        node *operand = parse_level(p, LEVEL_SUM + 1);
        if (!operand || !grow(p, n, operand)) return NULL;
        operand->sign = sign;
        last->next = operand;
        last = operand;
    }
    return p->status == SBPS_OK ? n : NULL;
}

static node *parse_level(parser *p, int level)
{
    if (level == LEVEL_UNARY) return parse_unary(p);
    node *left = parse_level(p, level + 1);
    if (left && level == LEVEL_SUM && level_of(&p->next) == LEVEL_SUM)
        return parse_sum(p, left);
    while (left && level_of(&p->next) == level) {
        operator_kind op = p->next.op;
        size_t at = p->next.at;
        advance(p);
        left = make_binary(p, op, at, left, parse_level(p, level + 1));
        if (left && level == LEVEL_COMPARE && level_of(&p->next) == level)
            return fail_here(p, p->next.at,
                             "comparisons do not stand beside each other: a < x & x < b");
    }
    return left;
}

sbps_status tree_parse(const char *text, pool *memory, node **out, sbps_error *err)
{
    parser p = {.text = text, .pool = memory, .err = err};
    *out = NULL;
    advance(&p);
    node *n = p.status == SBPS_OK ? parse_level(&p, LEVEL_TILDE) : NULL;
    if (n && p.next.kind != TOKEN_END)
        n = fail_here(&p, p.next.at,
                      p.next.kind == TOKEN_CLOSE
                          ? "a parenthesis closes here that was never opened"
                          : "an operator is missing before this");
    if (n) *out = n;
    return p.status;
}

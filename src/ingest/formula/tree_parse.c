/* R's grammar for formulas, from the loosest operator to the tightest:
 *
 *   ~   | ||   &   !   == != < <= > >=   + -   * /   %in%   :   sign before one operand   ^
 *
 * ^ groups to the right, comparisons cannot be chained, the others group to the left. Names are
 * R's: letters, digits, dots and underscores, or anything in backticks; bytes past ASCII are
 * letters. */
#include "ingest/formula/tree.h"

#include "core/decimal.h"
#include "core/printable.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- tokens ---- */

typedef enum {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_TEXT,
    TOKEN_OPERATOR,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
    TOKEN_EQUALS
} token_kind;

typedef struct {
    token_kind kind;
    operator_kind op;
    size_t at, end;   /* of the formula, bytes */
    const char *name; /* of a name or a text, in the pool */
    double value;
    bool quoted; /* a name in backticks */
} token;

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static sbps_status take_name(const char *text, pool *p, token *t, sbps_error *err)
{
    size_t end = t->at;
    while (is_letter(text[end]) || is_digit(text[end]) || text[end] == '.' || text[end] == '_')
        end++;
    t->kind = TOKEN_NAME;
    t->end = end;
    t->name = pool_text(p, text + t->at, end - t->at);
    return t->name ? SBPS_OK : fail_memory(err);
}

static size_t skip_digits(const char *text, size_t at)
{
    while (is_digit(text[at])) at++;
    return at;
}

static sbps_status take_number(const char *text, token *t, sbps_error *err)
{
    size_t end = skip_digits(text, t->at);
    if (text[end] == '.') end = skip_digits(text, end + 1);
    if (text[end] == 'e' || text[end] == 'E') {
        size_t sign = end + 1 + (text[end + 1] == '+' || text[end + 1] == '-');
        if (!is_digit(text[sign]))
            return fail_at(text, t->at, err, "the number has no exponent after its e");
        end = skip_digits(text, sign);
    }
    t->kind = TOKEN_NUMBER;
    t->value = decimal_read(text + t->at, NULL);
    t->end = end + (text[end] == 'L');
    if (!isfinite(t->value)) return fail_at(text, t->at, err, "the number is too large");
    if (is_letter(text[t->end]) || text[t->end] == '_' || text[t->end] == '.')
        return fail_at(text, t->end, err, "a name that begins with a digit needs `backticks`");
    return SBPS_OK;
}

/* Text or name between two quotes; a backslash keeps the next byte as it is. */
static sbps_status take_quoted(const char *text, pool *p, token *t, sbps_error *err)
{
    const char quote = text[t->at];
    size_t end = t->at + 1, length = 0;
    char *name = pool_take(p, strlen(text + end) + 1);
    if (!name) return fail_memory(err);
    for (; text[end] && text[end] != quote; end++) {
        if (text[end] == '\\' && text[end + 1]) end++;
        name[length++] = text[end];
    }
    if (!text[end])
        return fail_at(text, t->at, err, "the %s that begins here is not closed",
                       quote == '`' ? "name" : "text");
    if (quote == '`' && length == 0) return fail_at(text, t->at, err, "the name is empty");
    t->kind = quote == '`' ? TOKEN_NAME : TOKEN_TEXT;
    t->quoted = quote == '`';
    t->name = name;
    t->end = end + 1;
    return SBPS_OK;
}

static const struct {
    const char *written;
    token_kind kind;
    operator_kind op;
} symbols[] = {
    {"==", TOKEN_OPERATOR, OP_EQUAL},      {"!=", TOKEN_OPERATOR, OP_UNEQUAL},
    {"<=", TOKEN_OPERATOR, OP_LESS_EQUAL}, {">=", TOKEN_OPERATOR, OP_GREATER_EQUAL},
    {"<", TOKEN_OPERATOR, OP_LESS},        {">", TOKEN_OPERATOR, OP_GREATER},
    {"&", TOKEN_OPERATOR, OP_AND},         {"!", TOKEN_OPERATOR, OP_NOT},
    {"%in%", TOKEN_OPERATOR, OP_IN},       {"||", TOKEN_OPERATOR, OP_BARS},
    {"**", TOKEN_OPERATOR, OP_POWER},      {"|", TOKEN_OPERATOR, OP_BAR},
    {"~", TOKEN_OPERATOR, OP_TILDE},       {"+", TOKEN_OPERATOR, OP_PLUS},
    {"-", TOKEN_OPERATOR, OP_MINUS},       {"*", TOKEN_OPERATOR, OP_TIMES},
    {"/", TOKEN_OPERATOR, OP_DIVIDE},      {":", TOKEN_OPERATOR, OP_COLON},
    {"^", TOKEN_OPERATOR, OP_POWER},       {"(", TOKEN_OPEN, OP_NONE},
    {")", TOKEN_CLOSE, OP_NONE},           {",", TOKEN_COMMA, OP_NONE},
    {"=", TOKEN_EQUALS, OP_NONE},
};

static sbps_status take_symbol(const char *text, token *t, sbps_error *err)
{
    const char *at = text + t->at;
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        size_t length = strlen(symbols[k].written);
        if (strncmp(at, symbols[k].written, length) != 0) continue;
        t->kind = symbols[k].kind;
        t->op = symbols[k].op;
        t->end = t->at + length;
        return SBPS_OK;
    }
    return fail_at(text, t->at, err, "'%s' is not allowed in a formula", show(at, at + 1).text);
}

/* Reads the token that begins at `from` or after the blanks there. */
static sbps_status lex_next(const char *text, size_t from, pool *p, token *out, sbps_error *err)
{
    while (text[from] && strchr(" \t\r\n", text[from])) from++;
    const char c = text[from];
    *out = (token){.at = from, .end = from};
    if (!c) return SBPS_OK;
    if (is_digit(c) || (c == '.' && is_digit(text[from + 1])))
        return take_number(text, out, err);
    if (is_letter(c) || c == '.') return take_name(text, p, out, err);
    if (c == '`' || c == '"' || c == '\'') return take_quoted(text, p, out, err);
    return take_symbol(text, out, err);
}

/* ---- grammar ---- */

typedef struct {
    const char *text;
    pool *pool;
    token next;
    size_t depth;
    sbps_status status;
    sbps_error *err;
} parser;

/* Reads the next token. */
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

static node *fail_here(parser *p, size_t at, const char *message)
{
    if (p->status == SBPS_OK) p->status = fail_at(p->text, at, p->err, "%s", message);
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

/* Adds an operand to n, whose height grows with it; NULL: too high. */
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

/* Returns the level of a binary operator; -1: the token is none. */
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

/* Parses an expression inside parentheses or an argument. */
static node *parse_inside(parser *p)
{
    if (++p->depth > TREE_DEPTH)
        return fail_here(p, p->next.at, "the formula is nested too deeply");
    node *n = parse_level(p, LEVEL_TILDE);
    p->depth--;
    return n;
}

/* Reads a closing parenthesis; false: it is missing. */
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

/* Parses an argument, with or without a name. */
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

/* Fails because the next token does not begin an operand. */
static node *fail_operand(parser *p)
{
    if (p->next.kind == TOKEN_OPERATOR && p->next.op == OP_TILDE)
        return fail_here(p, p->next.at, "the response is missing before ~");
    return fail_here(p, p->next.at,
                     p->next.kind == TOKEN_END ? "a term is missing at the end of the formula"
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

/* Parses x ^ y. A sign may follow ^ and applies to the operand there. */
static node *parse_power(parser *p)
{
    node *left = parse_operand(p);
    size_t at = p->next.at;
    if (!left || p->next.kind != TOKEN_OPERATOR || p->next.op != OP_POWER) return left;
    advance(p);
    return make_binary(p, OP_POWER, at, left, parse_unary(p));
}

/* Parses a signed or negated operand; ! applies to everything up to the next & or |. */
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

/* Parses a + b - c ... into one node. */
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
                             "comparisons cannot be chained: write a < x & x < b");
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
                      p.next.kind == TOKEN_CLOSE ? "this parenthesis was never opened"
                                                 : "an operator is missing before this");
    if (n) *out = n;
    return p.status;
}

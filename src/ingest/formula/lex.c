/* Names are R's: letters, digits, dots and underscores; anything in backticks. A byte past ASCII is a
 * letter. */
#include "ingest/formula/lex.h"

#include "core/decimal.h"
#include "core/printable.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

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
            return fail_at(text, t->at, err, "a number ends with its exponent missing");
        end = skip_digits(text, sign);
    }
    t->kind = TOKEN_NUMBER;
    t->value = decimal_read(text + t->at, NULL);
    t->end = end + (text[end] == 'L');
    if (!isfinite(t->value)) return fail_at(text, t->at, err, "the number is too large");
    if (is_letter(text[t->end]) || text[t->end] == '_' || text[t->end] == '.')
        return fail_at(text, t->end, err, "a name cannot begin with a digit: `in backticks`");
    return SBPS_OK;
}

/* What stands between two marks; a backslash takes the next byte as it is. */
static sbps_status take_marked(const char *text, pool *p, token *t, sbps_error *err)
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
        return fail_at(text, t->at, err, "the %s that begins here does not end",
                       quote == '`' ? "name" : "text");
    if (quote == '`' && length == 0) return fail_at(text, t->at, err, "a name without letters");
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
    return fail_at(text, t->at, err, "'%s' has no meaning in a formula", show(at, at + 1).text);
}

sbps_status lex_next(const char *text, size_t from, pool *p, token *out, sbps_error *err)
{
    while (text[from] && strchr(" \t\r\n", text[from])) from++;
    const char c = text[from];
    *out = (token){.at = from, .end = from};
    if (!c) return SBPS_OK;
    if (is_digit(c) || (c == '.' && is_digit(text[from + 1])))
        return take_number(text, out, err);
    if (is_letter(c) || c == '.') return take_name(text, p, out, err);
    if (c == '`' || c == '"' || c == '\'') return take_marked(text, p, out, err);
    return take_symbol(text, out, err);
}

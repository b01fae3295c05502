/* Trees as text, in the way R writes them: blanks around + - * %in% and comparisons, none
 * around / ^ and :, a comma and a blank between arguments. */
#include "ingest/formula/tree.h"

#include "core/printable.h"
#include "core/text.h"
#include "ingest/formula/number_format.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const node *without_parens(const node *n)
{
    while (n->kind == NODE_PAREN) n = n->first;
    return n;
}

bool is_call(const node *n, const char *name)
{
    return n->kind == NODE_CALL && strcmp(n->name, name) == 0;
}

bool is_operator(const node *n, operator_kind op)
{
    return n->kind == NODE_BINARY && n->op == op;
}

bool is_condition(const node *n)
{
    return (n->kind == NODE_BINARY || n->kind == NODE_UNARY) && n->op >= OP_AND &&
           n->op <= OP_GREATER_EQUAL;
}

static const char *const written[] = {
    [OP_EQUAL] = " == ",      [OP_UNEQUAL] = " != ", [OP_LESS] = " < ",
    [OP_LESS_EQUAL] = " <= ", [OP_GREATER] = " > ",  [OP_GREATER_EQUAL] = " >= ",
    [OP_AND] = " & ",         [OP_NOT] = "!",        [OP_TILDE] = " ~ ",
    [OP_BARS] = " || ",       [OP_BAR] = " | ",      [OP_PLUS] = " + ",
    [OP_MINUS] = " - ",       [OP_TIMES] = " * ",    [OP_DIVIDE] = "/",
    [OP_IN] = " %in% ",       [OP_COLON] = ":",      [OP_POWER] = "^",
    [OP_NONE] = "",
};

static bool is_name_byte(unsigned char c)
{
    return isalnum(c) || c == '.' || c == '_' || c >= 0x80;
}

/* Returns whether a name is syntactic in R; one that begins with a dot and a digit is a
 * number. */
static bool is_plain_name(const char *name)
{
    static const char *const reserved[] = {"TRUE", "FALSE", "NULL", "NA", "NaN",  "Inf",
                                           "if",   "else",  "for",  "in", "while"};
    unsigned char first = (unsigned char)name[0];
    if (!(isalpha(first) || first == '.' || first >= 0x80)) return false;
    if (first == '.' && isdigit((unsigned char)name[1])) return false;
    for (const char *c = name; *c; c++)
        if (!is_name_byte((unsigned char)*c)) return false;
    for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++)
        if (strcmp(name, reserved[k]) == 0) return false;
    return true;
}

static void write_name(text *t, const char *name, bool quoted)
{
    if (!quoted || is_plain_name(name)) {
        text_bytes(t, name, strlen(name));
        return;
    }
    text_bytes(t, "`", 1);
    for (const char *c = name; *c; c++) {
        if (*c == '`' || *c == '\\') text_bytes(t, "\\", 1);
        text_bytes(t, c, 1);
    }
    text_bytes(t, "`", 1);
}

static void write_string(text *t, const char *string)
{
    text_bytes(t, "\"", 1);
    for (const char *c = string; *c; c++) {
        if (*c == '"' || *c == '\\') text_bytes(t, "\\", 1);
        text_bytes(t, c, 1);
    }
    text_bytes(t, "\"", 1);
}

static void write_node(text *t, const node *n);

static void write_operands(text *t, const node *n)
{
    for (const node *a = n->first; a; a = a->next) {
        if (a != n->first) text_add(t, "%s", written[n->kind == NODE_SUM ? a->sign : n->op]);
        write_node(t, a);
    }
}

static void write_arguments(text *t, const node *n)
{
    for (const node *a = n->first; a; a = a->next) {
        if (a->tag) text_add(t, "%s = ", a->tag);
        write_node(t, a);
        if (a->next) text_bytes(t, ", ", 2);
    }
}

static void write_node(text *t, const node *n)
{
    number_shown number;
    switch (n->kind) {
    case NODE_NAME:
        write_name(t, n->name, n->quoted);
        break;
    case NODE_NUMBER:
        number = number_as_written(n->value, 15);
        text_add(t, "%s", number.text);
        break;
    case NODE_TEXT:
        write_string(t, n->name);
        break;
    case NODE_CALL:
        write_name(t, n->name, n->quoted);
        text_bytes(t, "(", 1);
        write_arguments(t, n);
        text_bytes(t, ")", 1);
        break;
    case NODE_PAREN:
        text_bytes(t, "(", 1);
        write_node(t, n->first);
        text_bytes(t, ")", 1);
        break;
    case NODE_UNARY:
        text_add(t, "%s", n->op == OP_MINUS ? "-" : n->op == OP_NOT ? "!" : "+");
        write_node(t, n->first);
        break;
    case NODE_BINARY:
    case NODE_SUM:
        write_operands(t, n);
        break;
    }
}

/* Moves a text into the pool; NULL: no memory. */
static const char *into_pool(text *t, pool *p)
{
    char *made = text_take(t);
    const char *kept = made ? pool_text(p, made, strlen(made)) : NULL;
    free(made);
    return kept;
}

const char *tree_text(const node *n, pool *p)
{
    text t = {0};
    write_node(&t, n);
    return into_pool(&t, p);
}

const char *name_as_written(const char *name, pool *p)
{
    text t = {0};
    write_name(&t, name, true);
    return into_pool(&t, p);
}

/* ---- errors ---- */

sbps_status fail_at(const char *source, size_t at, sbps_error *err, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    sbps_status status = fail_pointing(err, "formula", source, at, format, values);
    va_end(values);
    return status;
}

/* A formula as a tree, and sentences that point at a place of its text. */
#ifndef INGEST_TREE_H
#define INGEST_TREE_H

#include "core/status.h"
#include "ingest/formula/pool.h"

typedef enum {
    OP_NONE,
    OP_TILDE,
    OP_BARS, /* || */
    OP_BAR,
    OP_AND,
    OP_NOT,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_PLUS,
    OP_MINUS,
    OP_TIMES,
    OP_DIVIDE,
    OP_IN,
    OP_COLON,
    OP_POWER
} operator_kind;

typedef enum {
    NODE_NAME,
    NODE_NUMBER,
    NODE_TEXT,
    NODE_CALL,
    NODE_PAREN,
    NODE_UNARY,
    NODE_BINARY,
    NODE_SUM /* any number of operands, each but the first with its sign: sums are long */
} node_kind;

typedef struct node {
    node_kind kind;
    operator_kind op;   /* of NODE_UNARY and NODE_BINARY */
    operator_kind sign; /* as an operand of a sum: OP_PLUS or OP_MINUS before it */
    size_t height;      /* nodes on the longest way down */
    size_t at;          /* byte of the formula */
    const char *name;   /* of a name, a call, a text */
    bool quoted;        /* a name in backticks, or that of a column */
    double value;       /* of a number */
    const char *tag;    /* as an argument of a call: what stands before its =; NULL: nothing */
    struct node *first; /* operands, or arguments of a call */
    struct node *next;  /* operand or argument after this one */
} node;

/* A tree is no deeper: who walks it may call itself. */
#define TREE_DEPTH 100

/* The tree of `text`, which has nothing behind the formula. */
sbps_status tree_parse(const char *text, pool *p, node **out, sbps_error *err);

/* As R's deparse() writes it: what columns are called. NULL: no memory. */
const char *tree_text(const node *n, pool *p);
/* A name as R writes it, in backticks where it is no word. */
const char *name_as_written(const char *name, pool *p);

/* What is inside parentheses. */
const node *without_parens(const node *n);
bool is_call(const node *n, const char *name);
bool is_operator(const node *n, operator_kind op);
/* x > 3, !a, a & b: true or false, not terms that are joined. */
bool is_condition(const node *n);

/* A sentence about the byte `at` of a formula: the column, the sentence, the text with a caret below. */
sbps_status fail_at(const char *text, size_t at, sbps_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

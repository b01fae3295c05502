/* The syntax tree of a formula, and error messages that point at a place in its text. */
#ifndef INGEST_TREE_H
#define INGEST_TREE_H

#include "sbps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- pool ----
 *
 * Memory and look-up tables of a formula. Everything that a formula consists of is allocated in
 * its pool and freed at once, with the formula. */

typedef struct pool_block pool_block;

typedef struct pool {
    pool_block *last;
} pool;

/* Return zeroed memory of the pool; NULL: no memory, or a size beyond size_t. */
void *pool_take(pool *p, size_t bytes);
void *pool_array(pool *p, size_t count, size_t size);
/* Returns a copy of `length` bytes with a final NUL; NULL: no memory. */
char *pool_text(pool *p, const char *begin, size_t length);
/* Frees all memory of the pool. */
void pool_clear(pool *p);

/* ---- a map from byte strings (names, sets of variables) to indices ---- */

typedef struct {
    const void *bytes; /* borrowed; NULL: the slot is free */
    size_t length, index;
    uint64_t hash;
} byte_key;

typedef struct byte_map {
    byte_key *slot; /* slots: a power of two, or 0 */
    size_t slots, count;
} byte_map;

#define NOT_THERE SIZE_MAX

/* Returns the index stored for the bytes; NOT_THERE: none. */
size_t byte_map_find(const byte_map *m, const void *bytes, size_t length);
/* Stores the index of bytes that are not in the map yet, and stay where they are; false: no
 * memory. */
bool byte_map_add(byte_map *m, pool *p, const void *bytes, size_t length, size_t index);

/* ---- syntax trees ---- */

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
    NODE_SUM /* any number of operands, each but the first with its sign */
} node_kind;

typedef struct node {
    node_kind kind;
    operator_kind op;   /* of NODE_UNARY and NODE_BINARY */
    operator_kind sign; /* of an operand of a sum: OP_PLUS or OP_MINUS before it */
    size_t height;      /* nodes on the longest path down */
    size_t at;          /* byte of the formula */
    const char *name;   /* of a name, a call, a text */
    bool quoted;        /* a name in backticks, or one that . stands for */
    double value;       /* of a number */
    const char *tag;    /* of an argument of a call: its name; NULL: it has none */
    struct node *first; /* operands, or arguments of a call */
    struct node *next;  /* next operand or argument */
} node;

/* Trees are at most so high, which bounds the recursion of functions that walk them. */
#define TREE_DEPTH 100

/* Parses `text`, which is a formula and nothing else; nodes are in `memory`. */
sbps_status tree_parse(const char *text, pool *memory, node **out, sbps_error *err);

/* Returns an expression as R's deparse() writes it, which names its column; NULL: no memory. */
const char *tree_text(const node *n, pool *p);
/* Returns a name as R writes it, in backticks unless it is syntactic; NULL: no memory. */
const char *name_as_written(const char *name, pool *p);

/* Returns the expression inside any parentheses. */
const node *without_parens(const node *n);
/* Returns whether n is a call of this function. */
bool is_call(const node *n, const char *name);
/* Returns whether n is a binary operator of this kind. */
bool is_operator(const node *n, operator_kind op);
/* Returns whether n is a comparison, !a or a & b: a variable that is TRUE or FALSE. */
bool is_condition(const node *n);

/* Fails with a message about byte `at` of a formula: its column, the message, and the text with
 * a caret below. */
sbps_status fail_at(const char *source, size_t at, sbps_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

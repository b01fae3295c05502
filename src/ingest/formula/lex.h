/* The words of a formula. */
#ifndef INGEST_LEX_H
#define INGEST_LEX_H

#include "ingest/formula/tree.h"

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
    size_t at, end;   /* bytes of the formula */
    const char *name; /* of a name or a text, in the pool */
    double value;
    bool quoted; /* a name in backticks */
} token;

/* The word that begins at `from` or behind the blanks there. */
sbps_status lex_next(const char *text, size_t from, pool *p, token *out, sbps_error *err);

#endif

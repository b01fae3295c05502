/* The algebra of R's formulas: a right-hand side is expanded into terms, which are sets of
 * variables. */
#ifndef INGEST_TERMS_H
#define INGEST_TERMS_H

#include "ingest/formula/tree.h"

/* Variables that are multiplied; increasing. */
typedef struct {
    const uint32_t *variable;
    size_t count;
} term;

/* A variable of a formula: a name, a call or a condition. */
typedef struct {
    const node *of;
    const char *name; /* as R writes it */
} named_node;

typedef struct {
    named_node *variable; /* in the order of the formula */
    size_t variables;
    term *term; /* by degree, then in the order of the formula; all different */
    size_t terms;
    bool intercept;
    const node **offset; /* the calls offset() */
    size_t offsets;
} term_model;

/* What a right-hand side is expanded with. */
typedef struct {
    const char *text;       /* of the formula, for messages */
    const char *const *dot; /* columns that . stands for */
    size_t dots;
} terms_source;

#define TERMS_MAX ((size_t)1 << 16)

/* Expands a right-hand side; everything in *out is in the pool. Fails for what is not a term
 * and for formulas of more than TERMS_MAX terms. */
sbps_status terms_expand(const terms_source *s, const node *right, pool *p, term_model *out,
                         sbps_error *err);

#endif

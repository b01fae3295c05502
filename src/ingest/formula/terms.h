/* R's algebra of terms: a right-hand side becomes sets of variables. */
#ifndef INGEST_TERMS_H
#define INGEST_TERMS_H

#include "ingest/formula/byte_map.h"
#include "ingest/formula/tree.h"

/* Variables that are multiplied; increasing. */
typedef struct {
    const uint32_t *variable;
    size_t count;
} term;

/* What stands for itself in a formula: a name or a call. */
typedef struct {
    const node *of;
    const char *name; /* as R writes it */
} named_node;

typedef struct {
    named_node *variable; /* in the order in which the formula names them */
    size_t variables;
    term *term; /* by degree, else in the order of the formula; none twice */
    size_t terms;
    bool intercept;
    const node **offset; /* the calls offset() */
    size_t offsets;
} term_model;

/* What a right-hand side is seen with. */
typedef struct {
    const char *text;       /* of the formula */
    const char *const *dot; /* columns that . stands for */
    size_t dots;
} terms_source;

#define TERMS_MAX ((size_t)1 << 16)

sbps_status terms_expand(const terms_source *s, const node *right, pool *p, term_model *out,
                         sbps_error *err);

#endif

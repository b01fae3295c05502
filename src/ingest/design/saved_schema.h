/* The saved schema (the "design" of a run's file): everything needed to treat new rows like
 * those of a table. Columns and their types, levels in their order, the formula and its fitted
 * transforms, standardisation, labels of the target.
 *
 *   saved_schema_write       a design becomes text (JSON), which the run's file stores
 *   saved_schema_parse       the text becomes a saved_schema
 *   saved_schema_open        a file of new rows is opened for reading with it
 *   saved_schema_encode_row  a row as read becomes what a model needs
 *
 * docs/design.md describes the text. */
#ifndef INGEST_SAVED_SCHEMA_H
#define INGEST_SAVED_SCHEMA_H

#include "core/json.h"
#include "core/printable.h"
#include "ingest/formula/formula.h"
#include "ingest/schema/column_schema.h"

struct design;
struct row_source;
struct row_taker;
struct rows;

#define SAVED_SCHEMA_VERSION 1

/* Writes the schema of a design; the caller frees *out. */
sbps_status saved_schema_write(const struct design *g, char **out, sbps_error *err);

typedef enum {
    ROLE_FEATURE,
    ROLE_TARGET,
    ROLE_WEIGHTS,
    ROLE_OFFSET,
    ROLE_TRIALS,
    ROLES
} column_role;

/* A column of the table, in the order of its file. Its index is its slot in a row as read. */
typedef struct {
    const char *name;
    column_role role;
    use_kind kind;
    bool left_out; /* nearly every row had a level of its own */
    bool groups;   /* a category that only groups rows: its levels are not stored */
    size_t levels;
    const char **level; /* in their order, the reference first */
    size_t *rank;       /* of each code: 0, 1, ... */
    size_t column;      /* without a formula: its first column of the design */
    bool needed;        /* for the linear predictor */
} saved_column;

typedef struct {
    json_document text;
    saved_column *column;
    size_t columns;
    char **source;    /* names of the columns */
    size_t of[ROLES]; /* column with a role other than ROLE_FEATURE; SIZE_MAX: none */
    formula *formula; /* NULL: features are columns */
    bool intercept, no_header;
    const char *na; /* texts that mean missing; NULL: the defaults */
    const char *target;
    const char **label; /* of the target's values 0, 1, ...; NULL: it is a number */
    double *label_value;
    bool text_labels;
    size_t labels;
    const char **name; /* of the design's columns */
    size_t names;
    double *mean, *sd; /* removed by standardisation; NULL: none */
} saved_schema;

/* Parses a schema; `path` names its file in messages. The caller destroys *out. */
sbps_status saved_schema_parse(const char *source, const char *path, saved_schema **out,
                               sbps_error *err);
void saved_schema_destroy(saved_schema *b); /* NULL is fine */

/* How a column is used among the fixed effects, interactions aside. Without a formula each
 * column is a term of its own. */
typedef struct {
    const char *term; /* a term that uses it, as R writes it: x, log(x), ns(x, 3); NULL: none */
    size_t terms;     /* that use it */
    bool plain;       /* one of them is the column itself */
    bool rescaled;    /* one is log(x) or similar */
    bool flexible;    /* one is poly(x, 2) or similar */
    bool alone;       /* some term uses it outside of interactions */
} formula_use;

/* Returns how the schema uses a column. */
formula_use saved_schema_use(const saved_schema *b, const char *column);
/* Returns whether an interaction has both columns. */
bool saved_schema_interacts(const saved_schema *b, const char *column, const char *other);

/* ---- reading new rows ---- */

/* What is needed of new rows besides the linear predictor. A missing column for it is an
 * error. */
typedef struct {
    bool target, trials;
    const uint16_t *encoding; /* of the text: encoding_find; NULL: UTF-8 */
} new_row_request;

/* Creates a column schema that reads the columns needed into their slots; `path` is borrowed.
 * The caller destroys *out, also after a failure. */
sbps_status saved_schema_match(const saved_schema *b, const char *path, const columns *c,
                               new_row_request request, column_schema **out, sbps_error *err);
/* Opens a file as a source of rows with such a schema. Missing cells are NAN, and levels
 * that the table did not have get codes from its number of levels on. Close it also after a
 * failure. */
sbps_status saved_schema_open(const saved_schema *b, const char *path, new_row_request request,
                              column_types *types, struct row_source *s, sbps_error *err);

/* New rows in memory, read in the same way: `to` receives them, and messages call them `name`.
 * Arguments are borrowed until it is closed, also after a failure. */
typedef struct saved_schema_frame saved_schema_frame;
sbps_status saved_schema_frame_open(const saved_schema *b, const char *name,
                                    const sbps_frame *from, new_row_request request,
                                    unsigned threads, const struct row_taker *to,
                                    saved_schema_frame **out, sbps_error *err);
/* Returns the schema by which rows are read; borrowed. */
const column_schema *saved_schema_frame_columns(const saved_schema_frame *f);
/* Reads all rows, once. */
sbps_status saved_schema_frame_read(saved_schema_frame *f, sbps_error *err);
void saved_schema_frame_close(saved_schema_frame *f); /* NULL is fine */

/* ---- group terms (left | factor) ---- */

/* Returns the number of group terms. */
size_t saved_schema_terms(const saved_schema *b);
/* Returns the name of a term's factor, and whether its effects are correlated. */
const char *saved_schema_factor(const saved_schema *b, size_t index, bool *correlated);
/* Returns the number of a term's effects per level, and the name of one. */
size_t saved_schema_effects(const saved_schema *b, size_t index);
const char *saved_schema_effect(const saved_schema *b, size_t of, size_t index);

/* ---- encoding rows ---- */

typedef enum { ROW_WHOLE, ROW_LACKS, ROW_UNKNOWN_LEVEL, ROW_NOT_FINITE } row_state;

/* A row as a model needs it. */
typedef struct {
    double *x;   /* the design's columns, the intercept's 1 first */
    double *z;   /* varying columns of all terms, one term after another */
    text *level; /* of each term's factor */
    size_t terms;
    double offset;
    double y, weight,
        trials; /* where requested; weight and trials are 1 where there are none */
    /* of a row that is not ROW_WHOLE: the column and value at fault */
    const char *column;
    shown value;
    formula_scratch scratch;
} encoded_row;

/* Allocates a row. Close it also after a failure. */
sbps_status encoded_row_open(const saved_schema *b, encoded_row *to, sbps_error *err);
void encoded_row_close(encoded_row *to);
/* Encodes a row as read, which it may change; *state receives whether that was possible. False:
 * no memory. */
bool saved_schema_encode_row(const saved_schema *b, const column_schema *p, double *row,
                             new_row_request request, encoded_row *to, row_state *state);
/* Returns whether the target counts successes among trials. */
bool saved_schema_has_trials(const saved_schema *b);

/* Maps a converted table; fails unless it was made with the same design. */
sbps_status saved_schema_map_table(const saved_schema *b, const char *path, struct rows **out,
                                   sbps_error *err);
/* Encodes row i of such a table; false: no memory. */
bool saved_schema_table_row(const saved_schema *b, const struct rows *r, size_t i,
                            encoded_row *to);

#endif

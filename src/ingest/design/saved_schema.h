/* How the rows of a table came about, so that rows to come can be treated as those were: columns and what they are,
 * levels in their order, the formula and what it has learned, standardisation, labels of the target.
 *
 *   saved_schema_write    a design becomes text (JSON), which a run's file keeps
 *   saved_schema_parse   the text becomes a blueprint
 *   saved_schema_open    a file of new rows, read by it
 *   saved_schema_encode_row     a row as read becomes what a model sees
 *
 * docs/design.md describes the text. */
#ifndef INGEST_SAVED_SCHEMA_H
#define INGEST_SAVED_SCHEMA_H

#include "core/json.h"
#include "core/printable.h"
#include "ingest/design/design_matrix.h"
#include "ingest/text/parts.h"

#define SAVED_SCHEMA_VERSION 1

sbps_status saved_schema_write(const design *g, char **out, sbps_error *err);

typedef enum {
    ROLE_FEATURE,
    ROLE_TARGET,
    ROLE_WEIGHTS,
    ROLE_OFFSET,
    ROLE_TRIALS,
    ROLES
} column_role;

/* A column of the table, in the order of its file; its place is its slot of a row. */
typedef struct {
    const char *name;
    column_role role;
    use_kind kind;
    bool left_out; /* nearly every row had a level of its own */
    bool groups;   /* a category that only groups rows: its levels are not here */
    size_t levels;
    const char **level; /* in their order, the reference first */
    size_t *rank;       /* 0, 1, ...: of each code */
    size_t column;      /* of the design, without a formula: of its first */
    bool needed;        /* for the linear predictor */
} saved_column;

typedef struct {
    json_document text;
    saved_column *column;
    size_t columns;
    char **source;    /* names of the columns */
    size_t of[ROLES]; /* column of a role but ROLE_FEATURE; SIZE_MAX: none */
    formula *formula; /* NULL: columns are themselves */
    bool intercept, no_header;
    const char *na; /* NULL: the usual words */
    const char *target;
    const char **label; /* of the target, 0, 1, ...; NULL: it is a number */
    double *label_value;
    bool text_labels;
    size_t labels;
    const char **name; /* of the design's columns */
    size_t names;
    double *mean, *sd; /* that standardisation took out; NULL: nothing */
} saved_schema;

/* `path` is the file that the text comes from, for sentences. */
sbps_status saved_schema_parse(const char *source, const char *path, saved_schema **out,
                               sbps_error *err);
void saved_schema_destroy(saved_schema *b);

/* ---- columns in the formula: saved_schema_terms.c ---- */

/* How a column stands among the fixed effects, interactions aside. Without a formula it is a term of its own. */
typedef struct {
    const char *term; /* that has it, as R writes it: x, log(x), ns(x, 3); NULL: none */
    size_t terms;     /* that have it */
    bool plain;       /* one of them is the column as it is */
    bool rescaled;    /* one is log(x) or the like */
    bool flexible;    /* one is poly(x, 2) or the like */
    bool alone;       /* it has a term outside of interactions */
} formula_use;

formula_use saved_schema_use(const saved_schema *b, const char *column);
/* Does an interaction have both columns? */
bool saved_schema_interacts(const saved_schema *b, const char *column, const char *other);

/* ---- new rows ---- */

/* What is wanted of new rows beside the linear predictor; where a column lacks for it, that is an error. */
typedef struct {
    bool target, trials;
    const uint16_t *encoding; /* of the text: encoding.h; NULL: UTF-8 */
} new_row_request;

/* A plan that reads the columns that are needed into their slots; `path` is borrowed. Also after a failure *out is to be
 * destroyed. */
sbps_status saved_schema_match(const saved_schema *b, const char *path, const columns *c,
                               new_row_request wants, column_schema **out, sbps_error *err);
/* A source whose plan reads the columns that are needed into their slots, row by row; missing cells are NAN, and
 * levels that the table had not have codes from its number on. Close it also after a failure. */
sbps_status saved_schema_open(const saved_schema *b, const char *path, new_row_request wants,
                              column_types *types, row_source *s, sbps_error *err);

/* The same of rows in memory, which `to` has as they come; sentences call them `name`. What is given is borrowed until
 * it is closed, which it is to be also after a failure. */
typedef struct saved_schema_frame saved_schema_frame;
sbps_status saved_schema_frame_open(const saved_schema *b, const char *name,
                                    const sbps_frame *from, new_row_request wants,
                                    unsigned threads, const row_taker *to,
                                    saved_schema_frame **out, sbps_error *err);
const column_schema *saved_schema_frame_columns(const saved_schema_frame *f);
sbps_status saved_schema_frame_read(saved_schema_frame *f, sbps_error *err);
void saved_schema_frame_close(saved_schema_frame *f);

/* What varies from group to group: a term (left | factor). */
size_t saved_schema_terms(const saved_schema *b);
const char *saved_schema_factor(const saved_schema *b, size_t index, bool *correlated);
size_t saved_schema_effects(const saved_schema *b, size_t index);
const char *saved_schema_effect(const saved_schema *b, size_t of, size_t index);

typedef enum { ROW_WHOLE, ROW_LACKS, ROW_UNKNOWN_LEVEL, ROW_NOT_FINITE } row_state;

/* What a model sees of a row. */
typedef struct {
    double *x;   /* the design's columns, the intercept's 1 first */
    double *z;   /* of all terms, one behind another */
    text *level; /* of the factor of each term */
    size_t terms;
    double offset;
    double y, weight,
        trials; /* where they are wanted; weights and trials 1 where there are none */
    /* of a row that is not whole: what is wrong with it */
    const char *column;
    shown value;
    formula_scratch scratch;
} seen_row;

/* Close it also after a failure. */
sbps_status seen_open(const saved_schema *b, seen_row *to, sbps_error *err);
void seen_close(seen_row *to);
/* `row` as read by the plan, which may be written to; false: no memory. */
bool saved_schema_encode_row(const saved_schema *b, const column_schema *p, double *row,
                             new_row_request wants, seen_row *to, row_state *state);
/* Whether the target counts successes of trials. */
bool saved_schema_has_trials(const saved_schema *b);

/* ---- converted tables: saved_schema_map_table.c ---- */

/* Maps a table that was made by the same design; another gets a sentence. */
sbps_status saved_schema_map_table(const saved_schema *b, const char *path, rows **out,
                                   sbps_error *err);
/* Its row i; false: no memory. */
bool saved_schema_table_row(const saved_schema *b, const rows *r, size_t i, seen_row *to);

#endif

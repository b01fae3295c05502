/* How the rows of a table came about, so that rows to come can be treated as those were: columns and what they are,
 * levels in their order, the formula and what it has learned, standardisation, labels of the target.
 *
 *   blueprint_tell    a design becomes text (JSON), which a run's file keeps
 *   blueprint_parse   the text becomes a blueprint
 *   blueprint_open    a file of new rows, read by it
 *   blueprint_row     a row as read becomes what a model sees
 *
 * docs/design.md describes the text. */
#ifndef READ_BLUEPRINT_H
#define READ_BLUEPRINT_H

#include "base/json.h"
#include "base/printable.h"
#include "read/design.h"
#include "read/parts.h"

#define BLUEPRINT_VERSION 1

sbps_status blueprint_tell(const design *g, char **out, sbps_error *err);

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
} blueprint_column;

typedef struct {
    json_document text;
    blueprint_column *column;
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
} blueprint;

/* `path` is the file that the text comes from, for sentences. */
sbps_status blueprint_parse(const char *source, const char *path, blueprint **out,
                            sbps_error *err);
void blueprint_destroy(blueprint *b);

/* ---- columns in the formula: blueprint_terms.c ---- */

/* How a column stands among the fixed effects, interactions aside. Without a formula it is a term of its own. */
typedef struct {
    const char *term; /* that has it, as R writes it: x, log(x), ns(x, 3); NULL: none */
    size_t terms;     /* that have it */
    bool plain;       /* one of them is the column as it is */
    bool rescaled;    /* one is log(x) or the like */
    bool flexible;    /* one is poly(x, 2) or the like */
    bool alone;       /* it has a term outside of interactions */
} formula_use;

formula_use blueprint_use(const blueprint *b, const char *column);
/* Does an interaction have both columns? */
bool blueprint_joined(const blueprint *b, const char *column, const char *other);

/* ---- new rows ---- */

/* What is wanted of new rows beside the linear predictor; where a column lacks for it, that is an error. */
typedef struct {
    bool target, trials;
    const uint16_t *encoding; /* of the text: encoding.h; NULL: UTF-8 */
} blueprint_wants;

/* A plan that reads the columns that are needed into their slots; `path` is borrowed. Also after a failure *out is to be
 * destroyed. */
sbps_status blueprint_plan(const blueprint *b, const char *path, const columns *c,
                           blueprint_wants wants, plan **out, sbps_error *err);
/* A source whose plan reads the columns that are needed into their slots, row by row; missing cells are NAN, and
 * levels that the table had not have codes from its number on. Close it also after a failure. */
sbps_status blueprint_open(const blueprint *b, const char *path, blueprint_wants wants,
                           column_types *found, row_source *s, sbps_error *err);

/* The same of rows in memory, which `to` has as they come; sentences call them `name`. What is given is borrowed until
 * it is closed, which it is to be also after a failure. */
typedef struct blueprint_frame blueprint_frame;
sbps_status blueprint_frame_open(const blueprint *b, const char *name, const sbps_frame *from,
                                 blueprint_wants wants, unsigned threads, const row_taker *to,
                                 blueprint_frame **out, sbps_error *err);
const plan *blueprint_frame_plan(const blueprint_frame *f);
sbps_status blueprint_frame_read(blueprint_frame *f, sbps_error *err);
void blueprint_frame_close(blueprint_frame *f);

/* What varies from group to group: a term (left | factor). */
size_t blueprint_terms(const blueprint *b);
const char *blueprint_factor(const blueprint *b, size_t index, bool *correlated);
size_t blueprint_effects(const blueprint *b, size_t index);
const char *blueprint_effect(const blueprint *b, size_t of, size_t index);

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
sbps_status seen_open(const blueprint *b, seen_row *to, sbps_error *err);
void seen_close(seen_row *to);
/* `row` as read by the plan, which may be written to; false: no memory. */
bool blueprint_row(const blueprint *b, const plan *p, double *row, blueprint_wants wants,
                   seen_row *to, row_state *state);
/* Whether the target counts successes of trials. */
bool blueprint_counted(const blueprint *b);

/* ---- converted tables: blueprint_table.c ---- */

/* Maps a table that was made by the same design; another gets a sentence. */
sbps_status blueprint_table(const blueprint *b, const char *path, rows **out, sbps_error *err);
/* Its row i; false: no memory. */
bool blueprint_table_row(const blueprint *b, const rows *r, size_t i, seen_row *to);

#endif

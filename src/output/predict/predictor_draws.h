/* What the draws of a run say of rows to come.
 *
 *   eta_is = x_i.w_s + offset_i + sum over terms of z_i.u_s[level of row i],     draw s = 1, ..., S      (1)
 *
 * and of eta the mean of the response, or a response drawn. Models of classes have an eta for each. */
#ifndef OUTPUT_PREDICTOR_DRAWS_H
#define OUTPUT_PREDICTOR_DRAWS_H

#include "ingest/design/saved_schema.h"
#include "model/likelihood/model.h"
#include "store/result.h"

/* PREDICTION_DENSITY: of the outcome that a row has; row_loglik, not predictor_draws_row, makes it. */
typedef enum {
    PREDICTION_LINEAR,
    PREDICTION_MEAN,
    PREDICTION_OUTCOME,
    PREDICTION_DENSITY
} prediction_kind;

typedef struct predictor_effects predictor_effects;
typedef struct response_kind response_kind;

typedef struct predictor_draws {
    const result *r;
    const char *path; /* of the run, for sentences; borrowed */
    saved_schema *b;
    const model_kind *model;
    const response_kind *response; /* how eta becomes what is asked for */
    const kernels *k;
    size_t draws;   /* S: of all chains, evenly spaced where fewer are wanted */
    size_t outputs; /* etas of a row */
    size_t classes; /* 0: the response is a number */
    char **class;   /* their names */
    double lowest;  /* number of the first class, where they are numbers */
    double *w;      /* [output][column][draw] */
    double *aux;    /* [draw][auxiliary], coordinates */
    size_t auxiliaries;
    double *cut;                /* [cutpoint][draw], of ordinal */
    predictor_effects *effects; /* NULL: no groups */
    uint64_t seed;
    bool point;      /* the one draw is the mean of all */
    bool new_levels; /* effects of levels that the run had not are drawn from their law */
} predictor_draws;

typedef struct {
    uint64_t seed;
    bool new_levels;
    size_t max_draws; /* 0: all */
    bool point;       /* one draw: the mean of all */
} predictor_options;

/* `path` is borrowed, as is the result. */
sbps_status predictor_draws_open(const result *r, const char *path, predictor_options choice,
                                 predictor_draws **out, sbps_error *err);
void predictor_draws_close(predictor_draws *f);
/* Whether every level counts as a new one, the run having kept no effects. */
bool predictor_draws_all_new(const predictor_draws *f);

/* Rows as a model sees them, one block of them at a time. */
typedef struct {
    size_t n;
    double *x; /* [row][column] */
    double *y, *weight, *trials;
    row_state *state;
    const size_t *index; /* places of its rows in the file, from 0 */
    const size_t *
        copy; /* of rows kept by weight: which of rows alike each is; NULL: all are the first */
    double *const *
        raw; /* the rows as read: cells of the blueprint's columns; NULL: of a converted table */
    double *eta;   /* [row][output][draw] */
    double *value; /* room for [output or class][draw] */
} row_block;

#define BLOCK_ROWS ((size_t)64)

sbps_status block_open(const predictor_draws *f, row_block *b, sbps_error *err);
void block_close(row_block *b);
/* Row i: offset and effects into its eta. */
sbps_status block_put(const predictor_draws *f, row_block *b, size_t i, const seen_row *s,
                      row_state state, sbps_error *err);
/* (1) of all rows that were put there. */
void block_products(const predictor_draws *f, row_block *b);

/* Of row i of the block: draws of what is asked for, an array of S for every line that the row has. Lines: 1, or as many as
 * there are classes. */
size_t predictor_draws_lines(const predictor_draws *f);
void predictor_draws_row(const predictor_draws *f, prediction_kind kind, const row_block *b,
                         size_t i, rng *r, double *out);
/* log p(y_i | draw) of every draw, weights left out but for trials. */
void predictor_draws_loglik(const predictor_draws *f, const row_block *b, size_t i,
                            double *out);

/* ---- effects of groups: effects.c ---- */

sbps_status effects_open(predictor_draws *f, sbps_error *err);
void effects_close(predictor_effects *e);
/* Adds what a row's groups say to eta. */
sbps_status effects_add(const predictor_draws *f, const seen_row *s, double *eta,
                        sbps_error *err);

/* ---- responses: response.c ---- */

struct response_kind {
    /* Of the eta of a row, [output][draw], to [line][draw]. */
    void (*mean)(const predictor_draws *f, const double *eta, double *out);
    void (*outcome)(const predictor_draws *f, const double *eta, double trials, rng *r,
                    double *out);
    void (*loglik)(const predictor_draws *f, const double *eta, double y, double trials,
                   double *out);
};

/* Sets response, outputs and classes, and finds cutpoints. */
sbps_status response_open(predictor_draws *f, sbps_error *err);

/* The first parameter of this name, and the last; SIZE_MAX: none. Coefficients are first: where a column is called sigma,
 * the last parameter of that name is the model's own sigma. */
size_t parameter_of(const result *r, const char *name);
size_t other_parameter_of(const result *r, const char *name);
/* Which draw of the run is the forecast's s-th. */
static inline size_t draw_index(const predictor_draws *f, size_t s)
{
    size_t all = f->r->chains * f->r->draws;
    return all == f->draws ? s : (size_t)((double)s * (double)all / (double)f->draws);
}
/* Draws of a parameter, S of them. */
void draws_of(const predictor_draws *f, size_t index, double *out);

#endif

/* Draws of the linear predictor of new rows,
 *
 *   eta_is = x_i.w_s + offset_i + sum over terms of z_i.u_s[level of row i], s = 1..S   (1)
 *
 * and of the response: its mean, or a simulated outcome. Models of classes have one eta per
 * class. Effects of groups are in group_effects.c, responses in response_kinds.c. */
#ifndef OUTPUT_PREDICTOR_DRAWS_H
#define OUTPUT_PREDICTOR_DRAWS_H

#include "ingest/design/saved_schema.h"
#include "model/likelihood/model.h"
#include "store/result.h"

/* PREDICTION_DENSITY is the density of the outcome in the row, which row_loglik computes;
 * PREDICTION_RESPONSE is that outcome itself, the same for every draw. */
typedef enum {
    PREDICTION_LINEAR,
    PREDICTION_MEAN,
    PREDICTION_OUTCOME,
    PREDICTION_DENSITY,
    PREDICTION_RESPONSE
} prediction_kind;

typedef struct predictor_effects predictor_effects;
typedef struct response_kind response_kind;

typedef struct predictor_draws {
    const result *r;
    const char *path; /* of the run, for messages; borrowed */
    saved_schema *b;
    const model_kind *model;
    const response_kind *response; /* from eta to the response */
    const kernels *k;
    size_t draws;   /* S: of all chains; evenly spaced if fewer than all are requested */
    size_t outputs; /* etas per row */
    size_t classes; /* 0: the response is a number */
    char **class;   /* names of the classes */
    double lowest;  /* number of the first class, if they are numbers */
    double *w;      /* [output][column][draw] */
    double *aux;    /* [draw][auxiliary], on the coordinate scale */
    size_t auxiliaries;
    double *cut;                /* [cutpoint][draw], of ordered classes */
    predictor_effects *effects; /* NULL: no groups */
    uint64_t seed;
    bool point;      /* a single draw: the mean of all */
    bool new_levels; /* effects of levels that the run did not have are drawn from N(0, S) */
    /* Called for each complete row that is put into a block, from several threads; NULL: not. */
    sbps_status (*keep)(void *self, size_t index, const encoded_row *s, sbps_error *err);
    void *keep_self;
} predictor_draws;

typedef struct {
    uint64_t seed;
    bool new_levels;
    size_t max_draws; /* 0: all */
    bool point;       /* one draw: the mean of all */
} predictor_options;

/* Opens the draws of a run; `r` and `path` are borrowed. */
sbps_status predictor_draws_open(const result *r, const char *path, predictor_options choice,
                                 predictor_draws **out, sbps_error *err);
void predictor_draws_close(predictor_draws *f);
/* True if every level of some term counts as new, because the run stored none of its
 * effects. */
bool predictor_draws_all_new(const predictor_draws *f);

/* A block of rows as a model sees them. */
typedef struct row_block {
    size_t n;
    double *x; /* [row][column] */
    double *y, *weight, *trials;
    row_state *state;
    const size_t *index; /* [row]: its place in the file, from 0 */
    const size_t *copy; /* [row]: which copy of a row kept by weight; NULL: all are the first */
    double *const *raw; /* [row]: its cells as read; NULL: the rows are of a converted table */
    double *eta;        /* [row][output][draw] */
    double *value;      /* scratch: [output or class][draw] */
} row_block;

#define BLOCK_ROWS ((size_t)64)

/* Opens an empty block. Call block_close in every case. */
sbps_status block_open(const predictor_draws *f, row_block *b, sbps_error *err);
void block_close(row_block *b);
/* Puts a row at place i: its columns, and offset and effects of groups into its eta. */
sbps_status block_put(const predictor_draws *f, row_block *b, size_t i, const encoded_row *s,
                      row_state state, sbps_error *err);
/* Adds x_i.w_s to the eta of all rows: (1). */
void block_products(const predictor_draws *f, row_block *b);

/* The number of lines per row of a prediction: 1, or the number of classes. */
size_t predictor_draws_lines(const predictor_draws *f);
/* Computes the requested draws of row i of a block: S numbers per line. `r` is for outcomes. */
void predictor_draws_row(const predictor_draws *f, prediction_kind kind, const row_block *b,
                         size_t i, rng *r, double *out);
/* Computes log p(y_i | draw) of every draw, with trials but without the weight of the row. */
void predictor_draws_loglik(const predictor_draws *f, const row_block *b, size_t i,
                            double *out);

/* ---- effects of groups: group_effects.c ---- */

/* Opens the effects of all terms; f->effects stays NULL if there are none. */
sbps_status effects_open(predictor_draws *f, sbps_error *err);
void effects_close(predictor_effects *e);
/* Adds the effects of a row's groups to its eta; fails for a level without effects. */
sbps_status effects_add(const predictor_draws *f, const encoded_row *s, double *eta,
                        sbps_error *err);

/* With new_levels: the lower Cholesky factor of S of term t at draw s, row by row. */
const double *effects_spread(const predictor_draws *f, size_t t, size_t s);
/* Sets out[a] to the S draws of each effect of a level of term t; fails if the run has none. */
sbps_status effects_known(const predictor_draws *f, size_t t, const char *group,
                          const double **out, sbps_error *err);

/* ---- responses: response_kinds.c ---- */

struct response_kind {
    /* From the eta of a row, [output][draw], to [line][draw]. */
    void (*mean)(const predictor_draws *f, const double *eta, double *out);
    void (*outcome)(const predictor_draws *f, const double *eta, double trials, rng *r,
                    double *out);
    void (*loglik)(const predictor_draws *f, const double *eta, double y, double trials,
                   double *out);
    /* The response y of a row in the form of an outcome. */
    void (*observed)(const predictor_draws *f, double y, double trials, double *out);
};

/* Finds the response of the model, its outputs, classes and cutpoints. */
sbps_status response_open(predictor_draws *f, sbps_error *err);

/* ---- parameters ---- */

/* Return the first, and the last, parameter of this name; SIZE_MAX: none. Coefficients are
 * first: if a column is called sigma, the last parameter of that name is the model's own
 * sigma. */
size_t first_parameter(const result *r, const char *name);
size_t last_parameter(const result *r, const char *name);
/* SBPS_BAD_DATA for a run of draws from the prior alone. */
sbps_status refuse_prior_only(const result *r, const char *path, sbps_error *err);
/* The draw of the run that is draw s here. */
static inline size_t draw_index(const predictor_draws *f, size_t s)
{
    size_t all = f->r->chains * f->r->draws;
    return all == f->draws ? s : (size_t)((double)s * (double)all / (double)f->draws);
}
/* Copies the S draws of a parameter. */
void parameter_draws(const predictor_draws *f, size_t index, double *out);

#endif

/* A potential (see potential.h) that is observed through mini-batches of the rows of a
 * posterior. Created and resized by the code that runs chains; the struct's members are
 * shared by the files of this folder. */
#ifndef POSTERIOR_MINIBATCH_H
#define POSTERIOR_MINIBATCH_H

#include "core/inspect.h"
#include "core/memory.h"
#include "core/rng.h"
#include "posterior/full/control.h"
#include "posterior/full/log_prior.h"
#include "posterior/full/posterior.h"
#include "posterior/minibatch/potential.h"
#include "posterior/minibatch/strata.h"
#include "table/gathered_rows.h"
#include "table/read_ahead.h"

typedef struct minibatch minibatch;

typedef struct {
    const char *name; /* the value of --minibatch */
    const char *summary;
    /* Chooses the rows of the next batch. */
    void (*pick)(minibatch *u);
    /* Optional: called when batches become of this kind. */
    void (*start)(minibatch *u);
    /* rows are listed in `list`; else they run from `first` on, wrapping round */
    bool uses_list;
} batch_kind;

extern const batch_kind *const batch_kinds[]; /* full, window, random, strata, NULL */
extern const batch_kind batch_full, batch_window, batch_random, batch_strata;

/* Largest number of rows in the scratch; larger batches are evaluated in blocks. */
#define MINIBATCH_BLOCK ((size_t)1024)

typedef struct {
    rng random; /* chooses rows, and nothing else */
    rng ahead;  /* the same stream, some windows ahead */
    rng noise;  /* for --gradient-noise */
    /* rows per batch; index of the kind: both may change between segments */
    uint64_t n, kind;
    size_t start[STRATA_MAX];       /* where the window of each stratum begins */
    size_t first;                   /* first row of the batch when it is a window */
    double time;                    /* of the last observation */
    double prior_slope, prior_rate; /* of quadratic priors along the line: slope + rate t */
    double exact_slope, exact_rate; /* of a control variate: slope + rate t */
    double speed2;                  /* |q|^2 */
    uint64_t at_point;              /* q is 0: rows need their products with p alone */
    uint64_t residuals_kept; /* `out` holds r of all rows at the last observation: slopes.c */
    uint64_t line_reversed;  /* p is the point of that observation, q is new */
} minibatch_state;

/* A centred intercept's prior, if it is quadratic, and its argument p + t q along the line. */
typedef struct {
    double centre, curvature, p, q;
} centred_prior;

/* A second-order control variate along the line; entries padded for the kernels. */
typedef struct {
    size_t stride;
    double *p, *q;   /* p - w_hat and q */
    double *hp, *hq; /* H of the log-likelihood at w_hat times those */
} taylor_line;

/* A batch consists of parts, each drawn from its own rows of the table. */
typedef struct {
    size_t begin, end; /* positions in the batch */
    double from;       /* rows of the table that they represent */
    /* from / n, 1 / n, and the factor from sum (g - mean)^2 to c^2: from^2 (1 - n / from) /
     * (n (n - 1)), with n = end - begin */
    double each, inverse_size, scatter;
} batch_part;

struct minibatch {
    potential is;
    const batch_kind *kind;
    const posterior *target;
    const struct row_terms *terms; /* for its form of model, see row_terms.h */
    size_t curved_count;           /* coordinates whose prior is not quadratic */
    size_t *curved;
    const control *cv; /* NULL: no control variate */
    /* Set after carving, if needed. */
    const strata *parts;      /* for batches by strata */
    size_t allot[STRATA_MAX]; /* rows of each stratum in a batch */
    size_t part_count;
    batch_part part[STRATA_MAX];
    /* for pairs of points, see bounds.h; NULL: these take all rows */
    const struct row_bounds *bounds;
    double factor; /* factor of the current rows relative to N/n: 1 except for strata */
    /* Windows of a table on disk. */
    row_reader *reader;      /* NULL: rows are read from the memory map */
    gathered_rows *gathered; /* rows of the batch, where they are not contiguous */
    /* windows since the start, windows not in memory, windows still to be requested
     * unconditionally */
    size_t windows, misses, requests_left;
    /* in the chain's arena */
    minibatch_state *state;
    /* the line w = p + t q; padded for the row kernels in predictor models */
    double *p, *q;
    /* dim: d/dw log prior = curvature (w - centre) of a quadratic prior; else 0 */
    double *centre, *curvature;
    /* target->centred of them: the same for centred intercepts */
    centred_prior *centred_priors;
    taylor_line taylor;
    double *added_noise; /* dim: the added noise of the last observation */
    size_t *list;        /* a permutation of all rows, its first n being the batch; or NULL */
    /* Scratch, without state. */
    size_t block;                             /* rows that fit */
    double *eta, *deta, *y, *out, *buffer[2]; /* one block of rows each */
    double *aux;                              /* one block per auxiliary, and one without any */
    double *point, *aside, *total, *scratch;  /* as p, three times; the model's own */
    /* Tables with recompute_rows: the numbers of a block at the reference, and a control
     * variate that refers to them, see row_terms.h. */
    double *recomputed;
    control recomputed_control;
};

/* Properties of a posterior for samplers. */
potential_facts minibatch_facts(const posterior *target);

/* Carves the state of u out of an arena in two passes (see arena); u itself is the caller's. */
void minibatch_carve(minibatch *u, const batch_kind *kind, const posterior *target, size_t n,
                     arena *memory);
/* After carving: sets the control variate cv (borrowed; NULL: none), and the sd of Gaussian
 * noise added to every component of the gradient. */
void minibatch_equip(minibatch *u, const control *cv, double noise);
/* Starts a carved potential with a random stream; not after resuming. */
void minibatch_start(minibatch *u, rng random);
/* Before its memory is freed: releases what it holds of the table. A u that was never carved
 * is fine. */
void minibatch_release(minibatch *u);

/* Changes kind and size of batches; a kind with `uses_list` must have been carved. */
void minibatch_resize(minibatch *u, const batch_kind *kind, size_t n);
/* After moving to a chain with other rows: resets the state that refers to rows. To be
 * resized next. */
void minibatch_move(minibatch *u);
/* The extent of its scratch in the arena, which carries no state except the stored batch. */
void minibatch_scratch(const minibatch *u, double **begin, double **end);
/* Updates u after its state was restored from a checkpoint. */
void minibatch_restore(minibatch *u);

/* As potential_observe, of -sum log p alone: without prior and without --gradient-noise. */
observation minibatch_observe_likelihood(minibatch *u, double t);
/* N^2 times the variance of one row's slope at time 0, on a fresh batch of two rows or more. */
double minibatch_row_variance(minibatch *u);
/* squares[i] += factor g_i^2 for the slopes of all rows at time 0. */
void minibatch_add_squares(minibatch *u, double factor, double *squares);
/* ---- for the files of this folder ---- */

static inline minibatch *minibatch_of(potential *u)
{
    return (minibatch *)u;
}
static inline const minibatch *minibatch_const(const potential *u)
{
    return (const minibatch *)u;
}
/* Coordinate j of a padded point. */
static inline double minibatch_coordinate(const minibatch *u, const double *x, size_t j)
{
    return x[j < u->target->columns ? j : j + u->target->width - u->target->dim];
}
/* The argument of prior j at a padded point, see log_prior.h. */
static inline double minibatch_prior_argument(const minibatch *u, const double *x, size_t j)
{
    return log_prior_centred(u->target, j) ? log_prior_argument(u->target, x, j)
                                           : minibatch_coordinate(u, x, j);
}
/* out[j] += slope, or for a centred intercept that times the gradient of its prior's
 * argument. */
static inline void minibatch_spread(const minibatch *u, size_t j, double slope, double *out)
{
    if (log_prior_centred(u->target, j))
        log_prior_spread(u->target, j, slope, out);
    else
        out[j] += slope;
}
/* prior_line.c: sets centre and curvature of quadratic priors, also of centred intercepts. */
void minibatch_set_quadratic_priors(minibatch *u);
/* prior_line.c: arguments of the centred intercepts' priors on the line, and their slope
 * along it. */
void minibatch_set_centred(minibatch *u);
/* Adds their part of grad U at time t. */
void minibatch_add_centred(const minibatch *u, double t, double *gradient);
/* As potential_next_kink. */
double minibatch_next_kink(const minibatch *u, double t, double *jump);
/* log p(w) of the prior at time t of the line. */
double minibatch_log_prior(const minibatch *u, double t);
/* Fills the parts of a batch. */
void minibatch_divide(minibatch *u);
/* minibatch_rows of a batch by strata. */
row_range minibatch_stratum_rows(const minibatch *u, size_t done);
/* Rows of the batch from position `done` on: at most a block, cut where a window wraps round
 * or a part ends. */
static inline row_range minibatch_rows(const minibatch *u, size_t done)
{
    if (u->kind == &batch_strata) return minibatch_stratum_rows(u, done);
    size_t left = u->is.batch - done, total = u->target->data->local_rows;
    size_t n = left < MINIBATCH_BLOCK ? left : MINIBATCH_BLOCK;
    if (u->kind->uses_list) return (row_range){u->list + done, 0, n};
    size_t first = u->state->first + done;
    if (first >= total) first -= total;
    return (row_range){NULL, first, n < total - first ? n : total - first};
}
/* batches.c: the table from which x of these rows is read; *r becomes their position there. */
const rows *minibatch_data(const minibatch *u, row_range *r);
/* Checks the restored state of a potential that was carved and started, see inspect.h. */
void minibatch_inspect(const minibatch *u, inspection *x);

#endif

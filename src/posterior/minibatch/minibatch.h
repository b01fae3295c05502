/* A potential seen through mini-batches of the rows of a posterior: see potential.h. Made and resized
 * by whoever runs chains; the files of this folder share what lies inside. */
#ifndef POSTERIOR_MINIBATCH_H
#define POSTERIOR_MINIBATCH_H

#include "core/inspect.h"
#include "core/memory.h"
#include "core/rng.h"
#include "posterior/full/control.h"
#include "posterior/full/log_prior.h"
#include "posterior/minibatch/potential.h"
#include "posterior/minibatch/strata.h"
#include "table/gathered_rows.h"
#include "table/window_reader.h"

typedef struct minibatch minibatch;

typedef struct {
    const char *name; /* as --minibatch says it */
    const char *summary;
    /* Chooses the rows of the next batch. */
    void (*pick)(minibatch *u);
    /* Optional: batches are of this kind from now on. */
    void (*start)(minibatch *u);
    bool uses_list; /* rows are listed in `list`; else they run from `first`, wrapping round */
} batch_kind;

extern const batch_kind
    *const batch_kinds[]; /* NULL at the end: full, window, random, strata */
extern const batch_kind batch_full, batch_window, batch_random, batch_strata;

/* A batch's scratch holds at most this many rows; larger ones go through in blocks. */
#define MINIBATCH_BLOCK ((size_t)1024)

typedef struct {
    rng random;       /* which rows, and nothing else */
    rng ahead;        /* the same stream, some windows further on */
    rng noise;        /* of --gradient-noise */
    uint64_t n, kind; /* rows a batch; index of the kind: both may change between flights */
    size_t start[STRATA_MAX];       /* where the window of each stratum begins */
    size_t first;                   /* first row of the batch when it is a window */
    double time;                    /* of the last observation */
    double prior_slope, prior_rate; /* quadratic priors along the line: slope + rate t */
    double exact_slope, exact_rate; /* of a control variate: slope + rate t */
    double speed2;                  /* |q|^2 */
    uint64_t still;                 /* q is 0: rows need their products with p alone */
    uint64_t kept;   /* `out` holds r of every row at the last observation, see slopes.c */
    uint64_t turned; /* p is the point of that observation, q is new */
} minibatch_state;

/* A centred intercept's prior, if it is quadratic, and what it sees of the line. */
typedef struct {
    double centre, curvature, p, q;
} centred_prior;

/* What a control variate of the second order knows of the line; entries padded for the kernels. */
typedef struct {
    size_t stride;
    double *p, *q;   /* p - w_hat and q */
    double *hp, *hq; /* H of the log-likelihood at w_hat times those */
} taylor_line;

/* A batch is made of parts, each drawn from rows of its own. */
typedef struct {
    size_t begin, end;                  /* rows of the batch */
    double from;                        /* rows that they stand for */
    double each, inverse_size, scatter; /* from / n, 1 / n and, from sum (g - mean)^2 to c^2,
                                    from^2 (1 - n / from) / (n (n - 1)); n = end - begin */
} batch_part;

struct minibatch {
    potential is;
    const batch_kind *kind;
    const posterior *target;
    const struct row_terms *terms; /* of its model, see terms.h */
    size_t curved_count;           /* coordinates whose prior is not quadratic */
    size_t *curved;
    const control *cv; /* NULL: no control variate */
    /* set after carving, when wanted */
    const strata *parts;      /* for batches by strata */
    size_t allot[STRATA_MAX]; /* rows of each in a batch */
    size_t part_count;
    batch_part part[STRATA_MAX];
    const struct row_bounds
        *bounds;   /* for pairs of points: bounds.h; NULL: they take all rows */
    double factor; /* of the rows at hand, over N/n: 1 but for strata */
    /* windows of a table on disk */
    row_reader *reader;             /* NULL: from the map */
    gathered_rows *gathered;        /* rows of the batch, where they do not lie side by side */
    size_t windows, misses, asking; /* since the start; not in memory; to be asked for unseen */
    /* in the chain's arena */
    minibatch_state *state;
    double *p, *q; /* the line w = p + t q; for predictor models padded for the row kernels */
    double *centre,
        *curvature; /* dim: d/dw log prior = curvature (w - centre) where it is quadratic; else 0 */
    centred_prior *centred_priors; /* target->centred of them: the same of centred intercepts */
    taylor_line taylor;
    double *added_noise; /* dim: the noise of the last observation */
    size_t *list;        /* a permutation of all rows, its first n the batch; or NULL */
    /* scratch, nothing to remember */
    size_t block;                             /* rows of the next */
    double *eta, *deta, *y, *out, *buffer[2]; /* a block of rows each */
    double *aux;                              /* one for each auxiliary, and one without any */
    double *point, *aside, *total, *scratch;  /* as p, thrice; what the model asks for */
    /* Of a table that is lean: blocks of what rows say at the reference, and a control with them, see lean.h. */
    double *recomputed;
    control seen;
};

/* What samplers may know of a posterior. */
potential_facts minibatch_facts(const posterior *target);

/* Two-pass carving (see arena): the handle is the caller's, its state lies in `memory`. */
void minibatch_carve(minibatch *u, const batch_kind *kind, const posterior *target, size_t n,
                     arena *memory);
/* After carving: takes `cv` out of the noise (NULL: no control variate), and adds Gaussian noise of this
 * sd to every component of the gradient. */
void minibatch_equip(minibatch *u, const control *cv, double noise);
/* Fills the state of a carved potential; not on resume. */
void minibatch_start(minibatch *u, rng random);
/* Before its memory is freed: gives back what it holds of the table. One never carved is fine. */
void minibatch_release(minibatch *u);

/* Other batches from now on; a kind that lists rows must have been carved. */
void minibatch_resize(minibatch *u, const batch_kind *kind, size_t n);
/* Its state was made where other rows are: nothing of those is remembered. To be resized next. */
void minibatch_move(minibatch *u);
/* Where its scratch lies in the memory it was carved from. Nothing is to be remembered of it but where the
 * batch is kept. */
void minibatch_scratch(const minibatch *u, double **begin, double **end);
/* The handle after its state was read back. */
void minibatch_restore(minibatch *u);

/* As potential_observe, of -sum log p alone: without the prior, and without --gradient-noise. */
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
static inline const minibatch *minibatch_behind(const potential *u)
{
    return (const minibatch *)u;
}
/* Coordinate j of a point as the rows want it. */
static inline double minibatch_coordinate(const minibatch *u, const double *x, size_t j)
{
    return x[j < u->target->columns ? j : j + u->target->width - u->target->dim];
}
/* What prior j sees of such a point, see log_prior.h. */
static inline double minibatch_seen(const minibatch *u, const double *x, size_t j)
{
    return log_prior_centred(u->target, j) ? log_prior_argument(u->target, x, j)
                                           : minibatch_coordinate(u, x, j);
}
/* out[j] += slope, or for a centred intercept that times the gradient of what its prior sees. */
static inline void minibatch_spread(const minibatch *u, size_t j, double slope, double *out)
{
    if (log_prior_centred(u->target, j))
        log_prior_spread(u->target, j, slope, out);
    else
        out[j] += slope;
}
/* Fills centre, curvature and those of leads. */
void minibatch_straighten(minibatch *u);
/* prior_along.c: what leads see of the line, their slope along it, their part of the gradient. */
void minibatch_set_centred(minibatch *u);
void minibatch_add_centred(const minibatch *u, double t, double *gradient);
double minibatch_next_kink(const minibatch *u, double t, double *jump);
/* log p(w) of the prior at time t of the line. */
double minibatch_log_prior(const minibatch *u, double t);
/* Fills the parts of a batch. */
void minibatch_divide(minibatch *u);
/* Rows done.. of the batch, at most a block, cut where a window wraps round or a part ends. */
row_range minibatch_stratum_rows(const minibatch *u, size_t done);
static inline row_range minibatch_rows(const minibatch *u, size_t done)
{
    if (u->kind == &batch_strata) return minibatch_stratum_rows(u, done);
    size_t left = u->is.batch - done, total = u->target->data->n;
    size_t n = left < MINIBATCH_BLOCK ? left : MINIBATCH_BLOCK;
    if (u->kind->uses_list) return (row_range){u->list + done, 0, n};
    size_t first = u->state->first + done;
    if (first >= total) first -= total;
    return (row_range){NULL, first, n < total - first ? n : total - first};
}
/* The table to read x of these rows from, and in *r where they are there. */
const rows *minibatch_data(const minibatch *u, row_range *r);
/* What was read back of a carved potential that was started: see inspect.h. */
void minibatch_inspect(const minibatch *u, inspection *x);

#endif

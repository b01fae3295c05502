/* The potential U = -log prior - sum log p, seen through noise. Three calls are the heart: aim
 * along a line once per velocity, observe the slope at a time with a fresh mini-batch, and ask
 * for the gradient on that batch. Samplers cannot tell the kinds apart. */
#ifndef POTENTIAL_POTENTIAL_H
#define POTENTIAL_POTENTIAL_H

#include "base/inspect.h"
#include "base/memory.h"
#include "base/rng.h"
#include "data/reader.h"
#include "path/look.h"
#include "posterior/control.h"
#include "posterior/log_prior.h"
#include "potential/strata.h"

typedef struct potential potential;

typedef struct {
    const char *name; /* as --minibatch says it */
    const char *summary;
    /* Chooses the rows of the next batch. */
    void (*pick)(potential *u);
    /* Optional: batches are of this kind from now on. */
    void (*start)(potential *u);
    bool uses_list; /* rows are listed in `list`; else they run from `first`, wrapping round */
} potential_kind;

extern const potential_kind
    *const potential_kinds[]; /* NULL at the end: full, window, random, strata */
extern const potential_kind potential_full, potential_window, potential_random,
    potential_strata;

/* A batch's scratch holds at most this many rows; larger ones go through in blocks. */
#define POTENTIAL_BLOCK ((size_t)1024)

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
} potential_state;

/* A centred intercept's prior, if it is quadratic, and what it sees of the line. */
typedef struct {
    double centre, bend, p, q;
} prior_lead;

/* What a control variate of the second order knows of the line; entries padded for the kernels. */
typedef struct {
    size_t stride;
    double *p, *q;   /* p - w_hat and q */
    double *hp, *hq; /* H of the log-likelihood at w_hat times those */
} taylor_line;

/* A batch is made of parts, each drawn from rows of its own. */
typedef struct {
    size_t begin, end;           /* rows of the batch */
    double from;                 /* rows that they stand for */
    double each, share, scatter; /* from / n, 1 / n and, from sum (g - mean)^2 to c^2,
                                    from^2 (1 - n / from) / (n (n - 1)); n = end - begin */
} batch_part;

struct potential {
    const potential_kind *kind;
    const posterior *target;
    size_t n;            /* rows a batch */
    size_t curved_count; /* coordinates whose prior is not quadratic */
    size_t *curved;
    /* set after carving, when wanted */
    const control *cv;        /* NULL: no control variate */
    const strata *parts;      /* for batches by strata */
    size_t allot[STRATA_MAX]; /* rows of each in a batch */
    size_t part_count;
    batch_part part[STRATA_MAX];
    double factor; /* of the rows at hand, over N/n: 1 but for strata */
    /* windows of a table on disk */
    row_reader *reader;             /* NULL: from the map */
    size_t windows, misses, asking; /* since the start; not in memory; to be asked for unseen */
    double noise; /* sd of Gaussian noise on every component of the gradient; 0: none */
    /* in the chain's arena */
    potential_state *state;
    double *p, *q; /* the line w = p + t q; for predictor models padded for the row kernels */
    double *centre,
        *bend; /* dim: d/dw log prior = bend (w - centre) where it is quadratic; else 0 */
    prior_lead *leads; /* target->centred of them: the same of centred intercepts */
    taylor_line taylor;
    double *shake; /* dim: the noise of the last observation */
    size_t *list;  /* a permutation of all rows, its first n the batch; or NULL */
    /* scratch, nothing to remember */
    double *eta, *deta, *y, *out, *aux, *room[2]; /* a block of rows each */
    double *point, *aside, *total, *scratch; /* as p, thrice; what a general model asks for */
};

/* Two-pass carving (see arena): the handle is the caller's, its state lies in `memory`. */
void potential_carve(potential *u, const potential_kind *kind, const posterior *target,
                     size_t n, arena *memory);
/* Fills the state of a carved potential; not on resume. */
void potential_start(potential *u, rng random);
/* Before its memory is freed: gives back what it holds of the table. One never carved is fine. */
void potential_release(potential *u);

/* Other batches from now on; a kind that lists rows must have been carved. */
void potential_resize(potential *u, const potential_kind *kind, size_t n);
/* The handle after its state was read back. */
void potential_restore(potential *u);

/* The line w(t) = p + t q from now on (dim entries each, copied). */
void potential_aim(potential *u, const double *p, const double *q);
/* The same after an observation, where p is the point it was made at: the batch need not be looked
 * at again to be seen along q by potential_observe_again at time 0. */
void potential_turn(potential *u, const double *p, const double *q);
/* The first time after t at which the line crosses a kink of a prior, INFINITY when it crosses
 * none, and by how much dU/dt jumps there. */
double potential_next_kink(const potential *u, double t, double *jump);
/* G~ and c^2 at time t on a fresh batch. */
observation potential_observe(potential *u, double t);
/* The same on the batch of the last observation, along the line aimed at now. */
observation potential_observe_again(potential *u, double t);
/* As potential_observe, of -sum log p alone: without the prior, and without --gradient-noise. */
observation potential_observe_likelihood(potential *u, double t);
/* N^2 times the variance of one row's slope at time 0, on a fresh batch of two rows or more. */
double potential_row_variance(potential *u);
/* squares[i] += factor g_i^2 for the slopes of all rows at time 0. */
void potential_add_squares(potential *u, double factor, double *squares);
/* grad U~ on the batch and at the time of the last observation: dim entries. */
void potential_gradient(potential *u, double *gradient);
/* U~ at w on a fresh batch, and the sd of its noise. Aims anew, along nothing. */
void potential_value(potential *u, const double *w, double *value, double *sd);
/* grad U~ at w on a fresh batch. Aims anew, along nothing. */
void potential_fresh_gradient(potential *u, const double *w, double *gradient);
/* The same, and U~ there: one pass over the rows gives both. */
double potential_fresh_both(potential *u, const double *w, double *gradient);
/* U~ at time t of the line on the batch of the last observation; exact on the full data. */
double potential_line_value(potential *u, double t);

/* For the files of this folder: coordinate j of a point as the rows want it. */
static inline double potential_coordinate(const potential *u, const double *x, size_t j)
{
    const rows *data = u->target->data;
    return x[u->target->model->general || j < data->d ? j : data->stride];
}
/* What prior j sees of such a point, see log_prior.h. */
static inline double potential_seen(const potential *u, const double *x, size_t j)
{
    return log_prior_leans(u->target, j) ? log_prior_seen(u->target, x, j)
                                         : potential_coordinate(u, x, j);
}
/* out[j] += slope, or for a centred intercept that times the gradient of what its prior sees. */
static inline void potential_spread(const potential *u, size_t j, double slope, double *out)
{
    if (log_prior_leans(u->target, j))
        log_prior_spread(u->target, j, slope, out);
    else
        out[j] += slope;
}
/* Fills centre, bend and those of leads. */
void potential_straighten(potential *u);
/* straight.c: what leads see of the line, their slope along it, their part of the gradient. */
void potential_aim_leads(potential *u);
void potential_pull_leads(const potential *u, double t, double *gradient);
/* For the files of this folder: fills the parts of a batch. */
void potential_divide(potential *u);
/* Rows done.. of the batch, at most a block, cut where a window wraps round or a part ends. */
row_range potential_stratum_rows(const potential *u, size_t done);
static inline row_range potential_rows(const potential *u, size_t done)
{
    if (u->kind == &potential_strata) return potential_stratum_rows(u, done);
    size_t left = u->n - done, total = u->target->data->n;
    size_t n = left < POTENTIAL_BLOCK ? left : POTENTIAL_BLOCK;
    if (u->kind->uses_list) return (row_range){u->list + done, 0, n};
    size_t first = u->state->first + done;
    if (first >= total) first -= total;
    return (row_range){NULL, first, n < total - first ? n : total - first};
}
/* The table to read x of these rows from, and in *r where they are there. */
const rows *potential_data(const potential *u, row_range *r);
/* What was read back of a carved potential that was started: see inspect.h. */
void potential_inspect(const potential *u, inspection *x);

#endif

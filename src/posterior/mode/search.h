/* The state of a search for the mode, shared by the files of this folder:
 *
 *   mode.c        starting point, choice of method, result
 *   newton.c      Newton's method; kinks of the prior
 *   lbfgs.c       L-BFGS, alone (mode_find_wide) or before Newton
 *   sag.c         stochastic average gradients
 *   subsample.c   searches on subsets of the rows first
 *   separation.c  posteriors without a mode */
#ifndef POSTERIOR_SEARCH_H
#define POSTERIOR_SEARCH_H

#include "linalg/cholesky.h"
#include "linalg/metric/metric.h"
#include "posterior/full/posterior.h"
#include "posterior/full/row_cache.h"
#include "posterior/mode/mode.h"

#define MODE_GOAL 1e-16 /* decrement of a mode: 1e-8 posterior sd from the exact one */

typedef struct {
    const posterior *u;
    size_t dim;
    double *memory;
    double *w, *trial, *gradient, *step; /* dim */
    double *root; /* dim: square roots of the Hessian's diagonal, the scale of a weight */
    /* lbfgs_search: a metric in place of `root`, which is then scratch; NULL: none. */
    const metric *a;
    const bool *held; /* lbfgs_search: dim flags of coordinates that stay fixed; NULL: none */
    double *kink;     /* dim: where a prior's slope jumps; NAN: nowhere */
    double *side; /* dim: side of its kink, -1 or +1, that a weight may move on; 0: it stays */
    double *hessian; /* dim*dim */
    double *factor;  /* dim*dim: Cholesky factor of the scaled Hessian, damped */
    double *next_gradient, *next_hessian; /* the same at trial, where one pass gives both */
    double value;                         /* U(w) */
    double decrement;                     /* g' H^-1 g of the weights that may move */
    double damping;                       /* added to the scaled Hessian's unit diagonal */
    double log_spread;                    /* log sd of the target */
    double goal;                          /* decrement at which the mode is near enough */
    double unchecked_goal; /* decrement at which a step ends the search without an evaluation */
    const posterior *subset; /* rows that correct steps, see search_correct_step; NULL: none */
    bool whole_trials;       /* trials are evaluated with gradient and Hessian */
    row_cache *cache;        /* filled by the evaluations of a reference; NULL: none */
    bool evaluated;          /* gradient and Hessian are those at w */
    bool is_reference;       /* w is not a mode but serves as a reference */
    size_t iterations;
    size_t max_steps;   /* of Newton; 0: the default */
    double epochs;      /* passes through the rows by SAG */
    const char *method; /* the method that reached w */
} search;

/* A search goes on, ends at a mode, is stuck short of one, or fails with a status. */
typedef enum { SEARCH_ON, SEARCH_CONVERGED, SEARCH_STUCK, SEARCH_FAILED } search_end;

/* ---- mode.c ---- */

/* Method, start (NULL: the default), goals, subset and cache as in `search`. */
typedef struct {
    const mode_request *how;
    const double *start;
    double goal, unchecked_goal;
    const posterior *subset;
    row_cache *cache;
} search_request;

/* Runs a search from beginning to end; the caller destroys *out, which is NULL on failure. */
sbps_status search_run(const posterior *u, const search_request *request, mode **out,
                       sbps_error *err);
/* Sets w to the default starting point, and log_spread. */
sbps_status search_initial_point(search *s, sbps_error *err);

/* ---- subsample.c ---- */

/* Corrects trial, reached from w by a full Newton step, for third-order curvature on
 * s->subset. */
sbps_status search_correct_step(search *s, sbps_error *err);

/* ---- newton.c ---- */

/* Newton's method from w. strict: stuck at once where the Hessian at the start is far from
 * positive definite. On SEARCH_FAILED *status is the reason. */
search_end newton_search(search *s, bool strict, sbps_status *status, sbps_error *err);
/* Evaluates value, gradient, Hessian and scales at w. */
sbps_status search_evaluate(search *s, sbps_error *err);
/* After search_evaluate: computes Newton's step and decrement, and classifies w: at the mode
 * or not, or SEARCH_FAILED where the posterior has none. */
search_end search_classify(search *s, sbps_status *status, sbps_error *err);
/* Finds the kinks of the priors. */
void kinks_find(search *s);
/* The curvature that a weight on its kink lacks in the Hessian; 0 for any other. */
double kink_curvature(const search *s, size_t j);

/* ---- lbfgs.c ---- */

/* L-BFGS until |D^-1 g| <= goal, D = s->root, or no step lowers U; never leaves w worse. */
sbps_status lbfgs_search(search *s, double goal, sbps_error *err);

/* ---- sag.c ---- */

typedef struct {
    double *w;     /* dim: the start, replaced by the end */
    double value;  /* U at the end */
    double epochs; /* passes through the rows so far; 0: a new search, else a resumed one */
} sag_point;

/* True for predictor models: SAG stores one number per row. */
bool sag_applies(const posterior *u);
/* SAG until |D^-1 g| <= goal, D the square roots of the Hessian's diagonal, or until
 * max_epochs. Never leaves w worse. */
sbps_status sag_descend(const posterior *u, sag_point *at, double goal, double max_epochs,
                        uint64_t seed, sbps_error *err);

/* ---- separation.c ---- */

/* *out: the posterior may diverge along s->step, as far as a decrement this large can show. */
sbps_status may_diverge(const search *s, bool *out, sbps_error *err);
/* Fails with an explanation if the posterior diverges along s->step. certain: the search is
 * at its end. */
sbps_status check_separation(const search *s, bool certain, sbps_error *err);
/* Fails if the columns up to `pivot` are linearly dependent and the prior does not hold
 * them. The leading part of s->factor is complete. */
sbps_status check_collinear(search *s, size_t pivot, sbps_error *err);
/* v is the direction that the columns up to `pivot` leave without curvature except for
 * rounding, and `size` its computed curvature in units of sum_j H_jj v_j^2. Fails if that is
 * far from what rows and priors account for: a path in the Hessian's metric would not cross
 * the posterior. The leading part of s->factor is complete; s->step is overwritten. */
sbps_status check_rounded_direction(search *s, size_t pivot, double size, sbps_error *err);
/* Fails if the target is so far from 0, relative to its spread, that residuals lose their
 * digits. */
sbps_status check_target(const search *s, sbps_error *err);
/* Fails if sigma, or a parameter like it, has run to where no residual is left. */
sbps_status check_perfect_fit(const search *s, sbps_error *err);

#endif

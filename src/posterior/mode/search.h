/* The state of a search for the mode, shared by its parts. */
#ifndef POSTERIOR_SEARCH_H
#define POSTERIOR_SEARCH_H

#include "linalg/cholesky.h"
#include "linalg/metric/metric.h"
#include "posterior/full/row_cache.h"
#include "posterior/mode/mode.h"

#define MODE_GOAL 1e-16 /* of the decrement: 1e-8 posterior sd from the mode */

typedef struct {
    const posterior *u;
    size_t dim;
    double *memory;
    double *w, *trial, *gradient, *step; /* dim */
    double *root;    /* dim: square roots of the Hessian's diagonal, the scale of a weight */
    const metric *a; /* in their place, for lbfgs_search; NULL: none. `root` is scratch then */
    const bool
        *held;    /* dim, for lbfgs_search: coordinates that stay where they are; NULL: none */
    double *kink; /* dim: where a prior's slope jumps, NAN for none */
    double *side; /* dim: -1 or +1: side of its kink a weight may move on; 0: it stays */
    double *hessian;                      /* dim*dim */
    double *factor;                       /* dim*dim: Cholesky of the scaled Hessian, damped */
    double *next_gradient, *next_hessian; /* the same at trial, where one pass makes them */
    double value;                         /* U(w) */
    double decrement;                     /* g' H^-1 g of the weights that may move */
    double damping;                       /* added to the scaled Hessian's unit diagonal */
    double log_spread;                    /* log sd of the target */
    double goal;                          /* decrement at which a mode is near enough */
    double hop; /* and at which a step ends the search, with no look where it leads */
    const posterior *part; /* some of the rows, to mend steps by; NULL: none are */
    bool whole_trials;     /* trials are looked at with gradient and Hessian */
    row_cache
        *beside;    /* of a reference: looks at all rows gather on their way; NULL: none do */
    bool evaluated; /* gradient and Hessian are those at w */
    bool is_reference; /* at a point that is no mode but serves as a reference */
    size_t iterations;
    size_t max_steps;   /* of Newton; 0: as many as usual */
    double epochs;      /* of SAG: passes through the rows */
    const char *method; /* that got here */
} search;

/* A search goes on, ends at a mode, is stuck short of one, or fails with a status. */
typedef enum { SEARCH_ON, SEARCH_CONVERGED, SEARCH_STUCK, SEARCH_FAILED } search_end;

/* How and from where, how near, and who comes along. */
typedef struct {
    const mode_request *how;
    const double *start; /* NULL: ours */
    double goal, hop;    /* as the search has them */
    const posterior *part;
    row_cache *beside;
} search_request;

/* mode.c: a search from beginning to end. */
sbps_status search_run(const posterior *u, const search_request *e, mode **out,
                       sbps_error *err);
/* mend.c: trial, w and a whole step of Newton, as a part of the rows would have it. */
sbps_status search_correct_step(search *s, sbps_error *err);
/* place.c: w, and the spread of the target. */
sbps_status search_initial_point(search *s, sbps_error *err);
/* picky: stuck at once where the Hessian at the start is far from positive definite. */
search_end newton_search(search *s, bool picky, sbps_status *status, sbps_error *err);
/* Value, gradient, Hessian and scales at w. */
sbps_status search_evaluate(search *s, sbps_error *err);
/* Newton's step and decrement where search_evaluate has looked: is this the mode, has it none? */
search_end search_classify(search *s, sbps_status *status, sbps_error *err);
/* Until |D^-1 g| <= goal, D being s->root, or nothing more is to be had; never leaves w worse. */
sbps_status lbfgs_search(search *s, double goal, sbps_error *err);

/* gradient (at w) becomes the one-sided one at kinks, and `side` says where weights may move. */
void kinks_find(search *s);
void kinks_resolve(search *s);
/* Stops trial weights that would cross their kink on it. */
void kinks_project(const search *s);
/* What a weight that sits on its kink lacks in curvature; 0 for any other. */
double kink_curvature(const search *s, size_t j);

/* May the posterior run off along s->step, for all that a decrement this large tells? */
sbps_status may_run_off(const search *s, bool *out, sbps_error *err);
/* Does the posterior run off along s->step for ever? Fails with the sentence that explains it. */
sbps_status check_separation(const search *s, bool certain, sbps_error *err);
/* Are columns up to `pivot` dependent, and nothing in the prior holds them? The leading part of
 * s->factor is whole. */
sbps_status check_collinear(search *s, size_t pivot, sbps_error *err);
/* v is the direction that the columns up to `pivot` leave without curvature, but for rounding. Is its curvature, of
 * `size` in units of sum_j H_jj v_j^2, far from what rows and priors make of it? Then a path in the Hessian's metric
 * would not cross the posterior. The leading part of s->factor is whole; s->step is overwritten. */
sbps_status check_lost(search *s, size_t pivot, double size, sbps_error *err);
/* Is the target too far from 0 for its residuals to have digits? */
sbps_status check_target(const search *s, sbps_error *err);
/* Has sigma, or what stands for it, run to where no residual is left? */
sbps_status check_perfect_fit(const search *s, sbps_error *err);

#endif

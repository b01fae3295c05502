/* How far do the bounces that did not happen shift the means? Linear response, from the path. */
#ifndef ESTIMATE_BIAS_H
#define ESTIMATE_BIAS_H

#include "base/inspect.h"
#include "base/memory.h"
#include "base/status.h"
#include "path/path.h"

/* Up to this dimension the response keeps the second order: d*d numbers a chain. */
#define BIAS_SECOND_ORDER ((size_t)256)

typedef struct {
    double time;
    double missing;  /* bounces */
    double expected; /* violations, as the regression foresaw them */
    uint64_t proposals, bounces, refreshments, violations, rows;
    uint64_t segments;
    double steepness; /* sum over violations of m (s^2 - s_r^2), s = u'Hx */
    double decay;     /* sum over sampled events of s^2 (s_r^2 - s^2) */
    double sampled;   /* time of the sampled segments */
} bias_state;

/* x = w - centre. The last three are NULL when dim is large or no Hessian is given. */
typedef struct {
    size_t dim;
    bias_state *state;
    double *push;          /* dim: sum over violations of m (u - u_r) */
    double *second;        /* dim*dim: sum of m x_a (u - u_r)_b; NULL when dim is large */
    const double *hessian; /* dim*dim, of U at the centre; borrowed */
    double *turn;          /* dim: sum over sampled events of s^2 (u_r - u) */
    double *bend; /* dim*dim: of s^2 x (u_r - u)' there, and of the integral of s^2 u u' */
} bias;

/* The Hessian may be NULL: then what a changed slope does later on is left out. */
void bias_carve(bias *b, size_t dim, const double *hessian, arena *memory);
void bias_start(bias *b);
void bias_take(void *self, const segment *s);

/* y = (d Cov(u))^-1 x, for velocities on the sphere (A A')^-1 x: handed in by whoever knows it. */
typedef struct {
    const void *self;
    void (*apply)(const void *self, const double *x, double *y);
} precision_map;

/* Draws of the posterior in w, less the centre: `count` rows of dim numbers. */
typedef struct {
    const double *x;
    size_t count;
} draw_block;

/* In units of the posterior sd, pooled over the chains: shift of every mean and, where the second
 * order is kept, relative error of every sd (else NAN). There are as many blocks as chains.
 * SBPS_BAD_ARG when the draws do not span the space. */
sbps_status bias_respond(const bias *chains, size_t count, const draw_block *blocks,
                         precision_map map, double *mean_shift, double *sd_shift,
                         sbps_error *err);
void bias_inspect(const bias *b, inspection *x);

#endif

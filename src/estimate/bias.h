/* How far do the bounces that did not happen shift the means, and how well is that known? Linear
 * response, from the path. */
#ifndef ESTIMATE_BIAS_H
#define ESTIMATE_BIAS_H

#include "core/inspect.h"
#include "core/memory.h"
#include "core/status.h"
#include "estimate/event_counts.h"

/* Up to this dimension the response keeps the second order: d*d numbers a chain. */
#define BIAS_SECOND_ORDER ((size_t)256)
#define BIAS_SNAPSHOTS    ((size_t)16) /* stretches of a path, whose scatter is the error */
#define BIAS_EXAMPLES     ((size_t)8)  /* bounces of a path that are kept */

typedef struct {
    uint64_t segments;
    double steepness;   /* sum over violations of m (s^2 - s_r^2), s = u'Hx */
    double decay;       /* sum over sampled events of s^2 (s_r^2 - s^2) */
    double sampled;     /* time of the sampled segments */
    uint64_t marks;     /* made */
    uint64_t stretch;   /* segments between two of them; doubles when all are made */
    uint64_t stretched; /* segments since the last */
    uint64_t examples;  /* kept, ever */
} bias_state;

/* x = w - centre. The last three are NULL when dim is large or no Hessian is given. */
typedef struct {
    size_t dim;
    const event_counts *counts; /* borrowed: of this path, taken before */
    bias_state *state;
    double *push;          /* dim: sum over violations of m (u - u_r) */
    double *second;        /* dim*dim: sum of m x_a (u - u_r)_b; NULL when dim is large */
    const double *hessian; /* dim*dim, of U at the centre; borrowed */
    double *jump;          /* dim: sum over sampled events of s^2 (u_r - u) */
    double
        *jump_second;  /* dim*dim: of s^2 x (u_r - u)' there, and of the integral of s^2 u u' */
    double *snapshots; /* BIAS_SNAPSHOTS: time, steepness, push, second as they stood then */
    double *examples;  /* BIAS_EXAMPLES: x, u - u_r, s^2 - s_r^2 of a bounce */
} bias;

/* The Hessian may be NULL: then what a changed slope does later on is left out. */
void bias_carve(bias *b, size_t dim, const double *hessian, const event_counts *counts,
                arena *memory);
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

/* Shift of every mean in posterior sds and, where the second order is kept, relative error of every
 * sd (else NAN); each with its standard error. */
typedef struct {
    double *mean, *mean_error, *sd, *sd_error; /* dim */
} bias_statement;

/* Pooled over the chains; there are as many blocks as chains. SBPS_BAD_ARG when the draws do not span
 * the space. */
sbps_status bias_respond(const bias *chains, size_t count, const draw_block *blocks,
                         precision_map map, const bias_statement *out, sbps_error *err);
void bias_inspect(const bias *b, inspection *x);

/* ---- what the error is made of: response.c has the mathematics ---- */

/* Of the stated bias: 0.7 to 1.3 times it were true wherever that was resolved. */
#define BIAS_REL_ERROR 0.15

/* Bounces missed in one stretch of all chains, or one bounce. */
typedef struct {
    double time, steepness;
    double *push, *second; /* dim, dim*dim or NULL */
} bias_missed;

double bias_time(const bias *chains, size_t count);
void bias_all(const bias *chains, size_t count, bias_missed *out);
/* Stretches, the same of all chains together. */
size_t bias_groups(const bias *chains, size_t count);
void bias_group(const bias *chains, size_t count, size_t group, bias_missed *out);
/* Bounces as they are; time is 0. */
size_t bias_example_count(const bias *chains, size_t count);
void bias_example(const bias *chains, size_t count, size_t index, bias_missed *out);
/* Missing bounces that may have gone unseen: two of these are what nineteen paths in twenty stay
 * under. */
double bias_unseen(const bias *chains, size_t count);

#endif

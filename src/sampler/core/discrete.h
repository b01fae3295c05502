/* Shared by samplers in discrete time: steps of z with w = A z, their size, and failed
 * steps. */
#ifndef SAMPLER_DISCRETE_H
#define SAMPLER_DISCRETE_H

#include "sampler/core/sampler.h"

/* First member of the state of every such sampler. */
typedef struct {
    rng random;
    event end;
    uint64_t steps;
} discrete_state;

/* Sets the chain to centre + p. */
void discrete_start(sampler *s, discrete_state *state, const double *p, rng random);
/* Chooses the step size if the user did not: 0.1 over the largest eigenvalue of the Hessian
 * per row in the metric, with gradient noise included at this weight. scale: a further
 * diagonal preconditioner, or NULL. */
void discrete_set_step(sampler *s, const double *scale, double noise_weight);
/* Mini-batch noise of the gradient in units of the Hessian: V / l of discrete.c. */
double discrete_noise(const sampler *s);
/* Largest eigenvalue of diag(scale) A' (curvature H + ridge) A in the metric; scale may be
 * NULL. */
double discrete_stiffness(sampler *s, const double *scale, double curvature, double ridge);
/* eta = h_i / N of the next step, which multiplies grad U~. */
double discrete_eta(const sampler *s, const discrete_state *state);

/* A step consists of begin, any number of gradients and moves, and end. */
void discrete_begin(sampler *s, discrete_state *state);
/* s->scratch = A' grad U~ at the new position on a fresh batch; counts its rows. */
void discrete_gradient(sampler *s, discrete_state *state);
/* new position += c A z; z may be s->scratch. */
void discrete_move(sampler *s, double c, const double *z);
/* Fills the segment of the old position; the event has `failed` set if the new one is not
 * finite. */
void discrete_end(sampler *s, discrete_state *state, segment *out);

/* Checks a restored state. */
void discrete_inspect(const discrete_state *state, inspection *x);
/* The same for kinds without further state. */
void discrete_inspect_kind(const sampler *s, inspection *x);

/* Advice after a failed step. */
#define DISCRETE_REMEDY                                                                        \
    "the step size is too large; give a smaller --step-size or leave it to auto"

#endif

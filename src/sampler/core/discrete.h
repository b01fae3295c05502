/* What samplers in discrete time share: steps of z with w = A z, their size and their failure. */
#ifndef SAMPLER_DISCRETE_H
#define SAMPLER_DISCRETE_H

#include "sampler/core/sampler.h"

/* First member of every such state. */
typedef struct {
    rng random;
    event end;
    uint64_t steps;
} discrete_state;

/* Places the chain at centre + p, standing still. */
void discrete_start(sampler *s, discrete_state *state, const double *p, rng random);
/* Settles a step size that was left to us: 0.1 over the largest eigenvalue of the Hessian per row in
 * the metric, gradient noise included with this weight. `scale`: a further diagonal
 * preconditioner, or NULL. */
void discrete_set_step(sampler *s, const double *scale, double noise_weight);
/* Mini-batch noise of the gradient in units of the Hessian, see discrete.c. */
double discrete_noise(const sampler *s);
/* Largest eigenvalue of diag(scale) A' (curvature H + ridge) A in the metric; scale may be NULL. */
double discrete_stiffness(sampler *s, const double *scale, double curvature, double ridge);
/* eta = h_i / N of the step to be taken: what multiplies grad U~. */
double discrete_eta(const sampler *s, const discrete_state *state);

/* A step: begin, any number of gradients and moves, end. */
void discrete_begin(sampler *s, discrete_state *state);
/* A' grad U~ at the new position on a fresh batch, into s->scratch; counts the rows. */
void discrete_gradient(sampler *s, discrete_state *state);
/* new position += c A z. z may be s->scratch. */
void discrete_move(sampler *s, double c, const double *z);
/* The segment of the old position; an event that failed when the new one is not a number. */
void discrete_end(sampler *s, discrete_state *state, segment *out);

void discrete_inspect(const discrete_state *state, inspection *x);
/* For kinds that have no more state than that. */
void discrete_inspect_kind(const sampler *s, inspection *x);

/* What helps a step that failed. */
#define DISCRETE_REMEDY                                                                        \
    "the step size is too large; give a smaller --step-size or leave it to auto"

#endif

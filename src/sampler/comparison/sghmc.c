/* Stochastic Gradient Hamiltonian Monte Carlo: momentum with friction.
 *
 *   v <- (1 - alpha) v - eta A' grad U~ + sqrt(2 alpha eta) xi,   w <- w + A v,          (1)
 *   eta = h / N,
 *
 * the authors' eq. (15) with their estimate of the gradient's noise, beta^, set to 0. eta is
 * the square of the time step, v the momentum times the time step, and alpha = 0.1 the
 * fraction of v that friction removes per step; alpha = 1 is SGLD with the same h. Gradient
 * noise of variance V acts against friction, so it has the weight 1/alpha in the choice of
 * the step: on a Gaussian it adds eta V / (2 alpha) to the variance, in units of the
 * posterior's.
 *
 * Chen, Fox, Guestrin (2014). Stochastic gradient Hamiltonian Monte Carlo. ICML. */
#include "sampler/core/discrete.h"
#include "sampler/core/sampler_kinds.h"

#include <math.h>

#define FRICTION 0.1 /* alpha */

static void sghmc_start(sampler *s, const double *p, rng random)
{
    discrete_state *state = s->state;
    discrete_start(s, state, p, random);
    discrete_set_step(s, NULL, 1.0 / FRICTION);
    double spread = sqrt(discrete_eta(s, state));
    for (size_t j = 0; j < s->dim; j++) s->v[j] = spread * rng_normal(&state->random);
}

/* One step (1). */
static void sghmc_step(sampler *s, segment *out)
{
    discrete_state *state = s->state;
    double eta = discrete_eta(s, state), noise_sd = sqrt(2.0 * FRICTION * eta), *v = s->v;
    discrete_begin(s, state);
    discrete_gradient(s, state);
    for (size_t j = 0; j < s->dim; j++)
        v[j] += -FRICTION * v[j] - eta * s->scratch[j] + noise_sd * rng_normal(&state->random);
    discrete_move(s, 1.0, v);
    discrete_end(s, state, out);
}

const sampler_kind sampler_sghmc = {
    .name = "sghmc",
    .summary = "stochastic gradient Hamiltonian Monte Carlo with friction, biased by its step",
    .state_bytes = sizeof(discrete_state),
    .metric = "none",
    .control_variate = "none",
    .discrete = true,
    .unmetered = true,
    .remedy = DISCRETE_REMEDY,
    .start = sghmc_start,
    .inspect = discrete_inspect_kind,
    .step = sghmc_step,
};

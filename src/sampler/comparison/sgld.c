/* Stochastic Gradient Langevin Dynamics.
 *
 *   w <- w - eta A A' grad U~(w) + sqrt(2 eta) A xi,   xi standard normal,   eta = h / N    (1)
 *
 * with a fresh mini-batch per step and no correction: exact only as h -> 0. On a Gaussian
 * with curvature l and noise of variance V in the gradient the stationary variance is
 *
 *   (1 + eta V / 2) / (l (1 - eta l / 2)).                                                  (2)
 *
 * Welling, Teh (2011). Bayesian learning via stochastic gradient Langevin dynamics. ICML. */
#include "sampler/core/discrete.h"
#include "sampler/core/sampler_kinds.h"

#include <math.h>

static void sgld_start(sampler *s, const double *p, rng random)
{
    discrete_start(s, s->state, p, random);
    discrete_set_step(s, NULL, 1.0);
}

/* One step (1). */
static void sgld_step(sampler *s, segment *out)
{
    discrete_state *state = s->state;
    double eta = discrete_eta(s, state), noise_sd = sqrt(2.0 * eta), *z = s->scratch;
    discrete_begin(s, state);
    discrete_gradient(s, state);
    for (size_t j = 0; j < s->dim; j++)
        z[j] = -eta * z[j] + noise_sd * rng_normal(&state->random);
    discrete_move(s, 1.0, z);
    discrete_end(s, state, out);
}

const sampler_kind sampler_sgld = {
    .name = "sgld",
    .summary = "stochastic gradient Langevin dynamics: small noisy steps, biased by their size",
    .state_bytes = sizeof(discrete_state),
    .metric = "none",
    .control_variate = "none",
    .discrete = true,
    .unmetered = true,
    .remedy = DISCRETE_REMEDY,
    .start = sgld_start,
    .inspect = discrete_inspect_kind,
    .step = sgld_step,
};

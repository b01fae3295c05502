/* Multivariate Stochastic Gradient Nose-Hoover Thermostat: every coordinate has a friction
 * of its own, which grows while the kinetic energy is above its stationary value, and so
 * absorbs gradient noise of unknown size.
 *
 *   dw = p dt,   dp = -grad U~ dt - xi p dt + sqrt(2 D) dW,   d xi_j = (p_j^2 - 1) dt       (1)
 *
 * With time step sqrt(eta), eta = h / N, v = sqrt(eta) p, alpha = sqrt(eta) xi and sqrt(eta)
 * D = a = 0.1, one step of the symmetric splitting is
 *
 *   half:   w += A v / 2,   alpha += (v^2 - eta) / 2,   v <- e^(-alpha / 2) v               (2)
 *   whole:  v += -eta A' grad U~ + sqrt(2 a eta) xi                                         (3)
 *   half:   (2) backwards: v, then alpha and w.
 *
 * Once E v^2 = eta, which the thermostats enforce, a Gaussian of curvature l has the
 * stationary variance
 *
 *   (cosh(alpha / 2) - eta l / 4) / l                                                       (4)
 *
 * whatever the noise. One gradient per step; alpha fluctuates about a plus eta V / 2, V the
 * variance of the noise. h has the meaning it has in SGLD and SGHMC: without thermostat and
 * to first order (3) is their step.
 *
 * Ding, Fang, Babbush, Chen, Skeel, Neven (2014), NIPS; Li, Chen, Fan, Carin (2016),
 * High-order stochastic gradient thermostats for Bayesian learning of deep models, AAAI (the
 * splitting). */
#include "sampler/core/discrete.h"
#include "sampler/core/sampler_kinds.h"

#include <math.h>

#define FRICTION 0.1 /* a */

static size_t msgnht_extra(const potential_facts *facts)
{
    return facts->dim; /* alpha */
}

/* v from its stationary distribution, and alpha at its mean without noise. */
static void msgnht_start(sampler *s, const double *p, rng random)
{
    discrete_state *state = s->state;
    discrete_start(s, state, p, random);
    discrete_set_step(s, NULL, 1.0);
    double spread = sqrt(discrete_eta(s, state));
    for (size_t j = 0; j < s->dim; j++) {
        s->v[j] = spread * rng_normal(&state->random);
        s->extra[j] = FRICTION;
    }
}

/* The first half of (2), for position and thermostats. */
static void drift(sampler *s, double eta)
{
    discrete_move(s, 0.5, s->v);
    for (size_t j = 0; j < s->dim; j++) s->extra[j] += 0.5 * (s->v[j] * s->v[j] - eta);
}

/* One step of (2), (3), (2). */
static void msgnht_step(sampler *s, segment *out)
{
    discrete_state *state = s->state;
    double eta = discrete_eta(s, state), noise_sd = sqrt(2.0 * FRICTION * eta), *v = s->v;
    discrete_begin(s, state);
    drift(s, eta);
    discrete_gradient(s, state);
    for (size_t j = 0; j < s->dim; j++) {
        double half = exp(-0.5 * s->extra[j]);
        v[j] = half * v[j] - eta * s->scratch[j] + noise_sd * rng_normal(&state->random);
        v[j] *= half;
    }
    drift(s, eta);
    discrete_end(s, state, out);
}

static void msgnht_inspect(const sampler *s, inspection *x)
{
    discrete_inspect(s->state, x);
    inspect_finite(x, "a thermostat", s->extra, s->dim);
}

const sampler_kind sampler_msgnht = {
    .name = "msgnht",
    .summary = "stochastic gradient thermostats, one a coordinate, biased by their step size",
    .state_bytes = sizeof(discrete_state),
    .extra = msgnht_extra,
    .metric = "none",
    .control_variate = "none",
    .discrete = true,
    .unmetered = true,
    .remedy = DISCRETE_REMEDY,
    .start = msgnht_start,
    .inspect = msgnht_inspect,
    .step = msgnht_step,
};

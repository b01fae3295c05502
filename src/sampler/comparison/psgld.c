/* Preconditioned SGLD: the diagonal of RMSprop as metric.
 *
 *   g = A' grad U~ / N,   V <- beta V + (1 - beta) g^2,   G = 1 / (eps + sqrt(V)),          (1)
 *   z <- z - h G g + sqrt(2 h G / N) xi,   w = A z,   for each coordinate                   (2)
 *
 * A metric that follows w causes a bias that no step size removes: steps grow where g is
 * small, and the path stays too long where they are short. The authors leave out the drift
 * Gamma that a metric depending on w alone would require, but V is a mean over the past. So
 * V learns in warm-up and is then frozen at
 *
 *   V_ <- V_ + i^-0.75 (V - V_),   i: steps of the warm-up,                                 (3)
 *
 * a mean in which later values count more; what remains is SGLD in a diagonal metric. On a
 * Gaussian of precision P its covariance is
 *
 *   sqrt(G) (B - eta B^2 / 2)^-1 sqrt(G),   B = sqrt(G) P sqrt(G),   eta = h / N.           (4)
 *
 * --adapt-forever is the authors' algorithm: (1) at every step.
 *
 * V begins at the expectation of (1) at the mode, (A'((1 + noise) H + s^2) A)_jj / N^2.
 *
 * Li, Chen, Carlson, Carin (2016). Preconditioned stochastic gradient Langevin dynamics for
 * deep neural networks. AAAI. */
#include "linalg/dense_matrix.h"
#include "sampler/core/discrete.h"
#include "sampler/core/sampler_kinds.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FORGET 0.75 /* the power in (3) */

typedef struct {
    discrete_state base;
    uint64_t adapting, count; /* steps since adaptation began */
} psgld_state;

static size_t psgld_extra(const potential_facts *facts)
{
    return 3 * facts->dim; /* V, G, V_ */
}

/* G of (1). */
static double gain(const sampler *s, double v)
{
    return 1.0 / (s->settings->metric_eps + sqrt(v));
}

/* Expected squares of the gradient per row at the mode. */
static void expect_squares(sampler *s, double *v)
{
    double n = (double)s->u->facts.rows, noise = discrete_noise(s);
    double *e = s->scratch, *u = s->gradient;
    memset(e, 0, s->dim * sizeof *e);
    for (size_t j = 0; j < s->dim; j++) {
        e[j] = 1.0;
        s->a->kind->forward(s->a, e, u);
        e[j] = 0.0;
        double length = dot(s->dim, u, u);
        v[j] = (1.0 + noise) * sampler_curvature(s, u) + s->u->noise * s->u->noise * length;
        v[j] /= n * n;
    }
}

static void psgld_start(sampler *s, const double *p, rng random)
{
    psgld_state *state = s->state;
    double *v = s->extra, *g = v + s->dim;
    *state = (psgld_state){0};
    discrete_start(s, &state->base, p, random);
    expect_squares(s, v);
    for (size_t j = 0; j < s->dim; j++) g[j] = gain(s, v[j]);
    discrete_set_step(s, g, 1.0);
}

/* Begins adaptation, or ends it by freezing V_. */
static void psgld_adapt(sampler *s, bool on)
{
    psgld_state *state = s->state;
    double *v = s->extra, *g = v + s->dim, *mean = g + s->dim;
    if (!on && state->count > 0) memcpy(v, mean, s->dim * sizeof *v);
    for (size_t j = 0; j < s->dim; j++) g[j] = gain(s, v[j]);
    state->adapting = on;
    state->count = 0;
}

/* Updates V, G by (1) and V_ by (3). z: the gradient, summed over rows. */
static void learn(sampler *s, psgld_state *state, const double *z)
{
    double n = (double)s->u->facts.rows, beta = s->settings->metric_beta;
    double *v = s->extra, *g = v + s->dim, *mean = g + s->dim;
    double weight = pow((double)++state->count, -FORGET);
    for (size_t j = 0; j < s->dim; j++) {
        double row = z[j] / n;
        v[j] += (1.0 - beta) * (row * row - v[j]);
        g[j] = gain(s, v[j]);
        mean[j] += weight * (v[j] - mean[j]);
    }
}

/* One step (2), and (1) while adapting. */
static void psgld_step(sampler *s, segment *out)
{
    psgld_state *state = s->state;
    discrete_state *base = &state->base;
    double eta = discrete_eta(s, base), *z = s->scratch;
    const double *g = s->extra + s->dim;
    discrete_begin(s, base);
    discrete_gradient(s, base);
    if (state->adapting) learn(s, state, z);
    for (size_t j = 0; j < s->dim; j++)
        z[j] = -eta * g[j] * z[j] + sqrt(2.0 * eta * g[j]) * rng_normal(&base->random);
    discrete_move(s, 1.0, z);
    discrete_end(s, base, out);
}

static void psgld_inspect(const sampler *s, inspection *x)
{
    const psgld_state *state = s->state;
    discrete_inspect(&state->base, x);
    INSPECT_COUNT(x, state->adapting, 1);
    INSPECT_ANY(x, state->count);
    inspect_reals(x, "a square of the gradient", s->extra, 3 * s->dim, 0.0, DBL_MAX);
}

const sampler_kind sampler_psgld = {
    .name = "psgld",
    .summary = "SGLD with the diagonal preconditioner of RMSprop, biased by its step size",
    .state_bytes = sizeof(psgld_state),
    .extra = psgld_extra,
    .metric = "none",
    .control_variate = "none",
    .discrete = true,
    .unmetered = true,
    .remedy = DISCRETE_REMEDY,
    .start = psgld_start,
    .inspect = psgld_inspect,
    .step = psgld_step,
    .adapt = psgld_adapt,
};

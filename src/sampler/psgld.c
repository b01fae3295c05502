/* Preconditioned SGLD: the diagonal of RMSprop as metric, adapted at every step.
 *
 *   g = A' grad U~ / N,   V <- beta V + (1 - beta) g^2,   G = 1 / (eps + sqrt(V)),            (1)
 *   z <- z - h G g + sqrt(2 h G / N) xi,   w = A z,   each coordinate by itself               (2)
 *
 * A metric that depends on w asks for a drift Gamma_j = sum_k d G_jk / d w_k. It is left out, as
 * the authors do in practice: V changes slowly and mini-batch noise dominates it when beta is near
 * 1. On the full data V follows w itself and the bias is larger than the step size says.
 *
 * V begins at what (1) averages to at the mode, (A'((1 + noise) H + s^2) A)_jj / N^2.
 *
 * Li, Chen, Carlson, Carin (2016). Preconditioned stochastic gradient Langevin dynamics for deep
 * neural networks. AAAI. */
#include "sampler/discrete.h"
#include "sampler/kinds.h"

#include <math.h>
#include <string.h>

static size_t psgld_extra(const posterior *target)
{
    return 2 * target->dim; /* V, G */
}

static double gain(const sampler *s, double v)
{
    return 1.0 / (s->settings->metric_eps + sqrt(v));
}

/* Expected squares of the gradient per row at the mode. */
static void expect_squares(sampler *s, double *v)
{
    double n = (double)s->u->target->data->n, noise = discrete_noise(s);
    double *e = s->scratch, *u = s->gradient;
    memset(e, 0, s->dim * sizeof *e);
    for (size_t j = 0; j < s->dim; j++) {
        e[j] = 1.0;
        s->a->kind->forward(s->a, e, u);
        e[j] = 0.0;
        double length = 0.0;
        for (size_t i = 0; i < s->dim; i++) length += u[i] * u[i];
        v[j] = (1.0 + noise) * sampler_curvature(s, u) + s->u->noise * s->u->noise * length;
        v[j] /= n * n;
    }
}

static void psgld_start(sampler *s, const double *p, rng random)
{
    double *v = s->extra, *g = v + s->dim;
    discrete_start(s, s->state, p, random);
    expect_squares(s, v);
    for (size_t j = 0; j < s->dim; j++) g[j] = gain(s, v[j]);
    discrete_choose_step(s, g, 1.0);
}

static void psgld_step(sampler *s, segment *out)
{
    discrete_state *state = s->state;
    double n = (double)s->u->target->data->n, beta = s->settings->metric_beta;
    double eta = discrete_eta(s, state), *v = s->extra, *g = v + s->dim, *z = s->scratch;
    discrete_begin(s, state);
    discrete_gradient(s, state);
    for (size_t j = 0; j < s->dim; j++) {
        double mean = z[j] / n;
        v[j] += (1.0 - beta) * (mean * mean - v[j]);
        g[j] = gain(s, v[j]);
        z[j] = -eta * g[j] * z[j] + sqrt(2.0 * eta * g[j]) * rng_normal(&state->random);
    }
    discrete_move(s, 1.0, z);
    discrete_end(s, state, out);
}

const sampler_kind sampler_psgld = {
    .name = "psgld",
    .summary = "SGLD with the diagonal preconditioner of RMSprop, biased by its step size",
    .state_bytes = sizeof(discrete_state),
    .extra = psgld_extra,
    .metric = "none",
    .control_variate = "none",
    .discrete = true,
    .unmetered = true,
    .remedy = DISCRETE_REMEDY,
    .start = psgld_start,
    .step = psgld_step,
};

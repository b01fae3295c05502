/* Samplers in discrete time: the step size.
 *
 * h is the step size as the option gives it; a step multiplies the mean gradient per row by h,
 * so grad U~, a sum over N rows, is multiplied by
 *
 *   eta_i = h (1 + i)^-decay / N.                                                  (1)
 *
 * The default step keeps the error of the stiffest direction small. On a Gaussian with
 * curvature l the Langevin step has stationary variance
 *
 *   (1 + eta V / 2) / (l (1 - eta l / 2)),   V: variance of the gradient's noise,           (2)
 *
 * so eta (l + V) = 0.1 makes it about 5% too large. Where the model describes the rows, the
 * gradients of a batch of n vary as the information equality says: V = (N/n)(1 - n/N) l;
 * with a control variate about (d/n)(1 - n/N) l, because rows differ from their Taylor
 * expansion by x.(w - w_hat), whose square is d/N on average in units of the curvature.
 * Noise that was requested adds its own s^2. In the metric, l + V is the largest eigenvalue
 * of
 *
 *   A' ((1 + noise) H + s^2) A.                                                             (3)
 *
 * Welling, Teh (2011), ICML; Vollmer, Zygalakis, Teh (2016), JMLR 17(159), for (2). */
#include "sampler/core/discrete.h"

#include <math.h>
#include <string.h>

#define STEP_FRACTION 0.1  /* eta (l + V) */
#define POWER_STEPS   200  /* limit of power iterations for the largest eigenvalue */
#define POWER_TOL     1e-4 /* relative change at which they stop */
#define FARTHEST      1e75 /* beyond it fourth powers overflow: the chain has diverged */

void discrete_start(sampler *s, discrete_state *state, const double *p, rng random)
{
    *state = (discrete_state){.random = random, .end = {.kind = EVENT_START}};
    memcpy(s->p_next, p, s->dim * sizeof *p);
    memcpy(s->p, s->p_next, s->dim * sizeof *p);
    memset(s->q, 0, s->dim * sizeof *s->q);
    memset(s->q_next, 0, s->dim * sizeof *s->q_next);
    memset(s->v, 0, s->dim * sizeof *s->v);
}

/* ---- size of the step ---- */

static double row_count(const sampler *s)
{
    return (double)s->u->facts.rows;
}

double discrete_noise(const sampler *s)
{
    double n = (double)s->u->batch, total = row_count(s);
    return (s->u->reference ? (double)s->dim : total) / n * (1.0 - n / total);
}

/* out = A' (curvature H + ridge) A x. With a dense metric s->hessian is NULL: A'HA = 1. */
static void apply(sampler *s, double curvature, double ridge, const double *x, double *out)
{
    double *u = s->q_next, *hu = s->gradient;
    s->a->kind->forward(s->a, x, u);
    for (size_t i = 0; i < s->dim; i++) {
        hu[i] = ridge * u[i];
        for (size_t j = 0; s->hessian && j < s->dim; j++)
            hu[i] += curvature * s->hessian[i * s->dim + j] * u[j];
    }
    s->a->kind->transpose(s->a, hu, out);
    for (size_t i = 0; !s->hessian && i < s->dim; i++) out[i] += curvature * x[i];
}

/* Power iteration on the product, which is similar to a symmetric matrix. Every chain starts
 * it from the same direction, so that all use the same step. */
double discrete_stiffness(sampler *s, const double *scale, double curvature, double ridge)
{
    double *x = s->q, *y = s->scratch, largest = 0.0;
    rng direction = rng_stream(0, 0, RNG_START);
    rng_sphere(&direction, s->dim, x);
    for (int k = 0; k < POWER_STEPS; k++) {
        double before = largest, square = 0.0;
        apply(s, curvature, ridge, x, y);
        for (size_t j = 0; j < s->dim; j++) {
            if (scale) y[j] *= scale[j];
            square += y[j] * y[j];
        }
        largest = sqrt(square);
        if (!(largest > 0.0) || fabs(largest - before) <= POWER_TOL * largest) break;
        for (size_t j = 0; j < s->dim; j++) x[j] = y[j] / largest;
    }
    memset(s->q, 0, s->dim * sizeof *s->q);
    memset(s->q_next, 0, s->dim * sizeof *s->q_next);
    return largest;
}

void discrete_set_step(sampler *s, const double *scale, double noise_weight)
{
    if (!isnan(s->settings->step_size)) return;
    double curvature = 1.0 + noise_weight * discrete_noise(s);
    double ridge = noise_weight * s->u->noise * s->u->noise;
    double stiffest = discrete_stiffness(s, scale, curvature, ridge);
    s->settings->step_size = STEP_FRACTION * row_count(s) / stiffest;
}

double discrete_eta(const sampler *s, const discrete_state *state)
{
    double eta = s->settings->step_size / row_count(s), decay = s->settings->step_decay;
    return decay > 0.0 ? eta * pow(1.0 + (double)state->steps, -decay) : eta;
}

/* ---- a step ---- */

void discrete_begin(sampler *s, discrete_state *state)
{
    memcpy(s->p, s->p_next, s->dim * sizeof *s->p);
    state->end = (event){.kind = EVENT_STEP, .proposals = 1};
}

void discrete_gradient(sampler *s, discrete_state *state)
{
    for (size_t j = 0; j < s->dim; j++) s->scratch[j] = s->centre[j] + s->p_next[j];
    potential_fresh_gradient(s->u, s->scratch, s->gradient);
    s->a->kind->transpose(s->a, s->gradient, s->scratch);
    state->end.rows += s->u->batch;
}

void discrete_move(sampler *s, double c, const double *z)
{
    s->a->kind->forward(s->a, z, s->gradient);
    for (size_t j = 0; j < s->dim; j++) s->p_next[j] += c * s->gradient[j];
}

static bool has_diverged(const sampler *s)
{
    for (size_t j = 0; j < s->dim; j++)
        if (!(fabs(s->p_next[j]) < FARTHEST)) return true;
    return false;
}

void discrete_end(sampler *s, discrete_state *state, segment *out)
{
    state->steps++;
    state->end.failed = has_diverged(s);
    if (state->end.failed) memcpy(s->p_next, s->p, s->dim * sizeof *s->p);
    *out = sampler_segment(s, &flow_still, 1.0, &state->end);
}

/* ---- checks of restored state ---- */

void discrete_inspect(const discrete_state *state, inspection *x)
{
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    INSPECT_ANY(x, state->steps);
}

void discrete_inspect_kind(const sampler *s, inspection *x)
{
    discrete_inspect(s->state, x);
}

/* Random-walk Metropolis on the full data.
 *
 *   w' = w + s A xi,   accepted with probability min(1, exp(U(w) - U(w')))                  (1)
 *
 * exact for every model and step; a step evaluates every row. In warm-up s follows
 *
 *   log s += (1 + i)^-0.6 (accepted - a*),   a* = 0.234 + 0.206 / d                         (2)
 *
 * with a* between the optimal rates of one and of many dimensions; then it is frozen. It
 * begins at 2.38 / sqrt(d) sds of the stiffest direction. A --step-size given by the user is
 * s itself, and fixed.
 *
 * Metropolis et al. (1953); Roberts, Gelman, Gilks (1997), Ann. Appl. Prob. 7, for a*;
 * Robbins, Monro (1951) for (2). */
#include "sampler/core/discrete.h"
#include "sampler/core/sampler_kinds.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ACCEPT_MANY 0.234 /* optimal rate as d grows */
#define ACCEPT_ONE  0.44  /* and at d = 1 */
#define GAIN_POWER  0.6

typedef struct {
    discrete_state base;
    double value; /* U at the position */
    double log_scale;
    uint64_t adapting, tuned;
} mh_state;

/* U at centre + p, on all rows. */
static double value_at(sampler *s, const double *p)
{
    double value, sd;
    for (size_t j = 0; j < s->dim; j++) s->scratch[j] = s->centre[j] + p[j];
    potential_value(s->u, s->scratch, &value, &sd);
    return value;
}

static void mh_start(sampler *s, const double *p, rng random)
{
    mh_state *state = s->state;
    *state = (mh_state){0};
    discrete_start(s, &state->base, p, random);
    double scale = s->settings->step_size;
    if (isnan(scale))
        scale = 2.38 / sqrt((double)s->dim * discrete_stiffness(s, NULL, 1.0, 0.0));
    state->log_scale = log(scale);
    state->value = value_at(s, s->p_next);
}

/* One step (1). */
static void mh_step(sampler *s, segment *out)
{
    mh_state *state = s->state;
    discrete_begin(s, &state->base);
    for (size_t j = 0; j < s->dim; j++) s->scratch[j] = rng_normal(&state->base.random);
    discrete_move(s, exp(state->log_scale), s->scratch);
    double value = value_at(s, s->p_next);
    /* where U is infinite every finite proposal is accepted */
    double gain = isfinite(state->value) ? state->value - value : INFINITY;
    bool accepted = isfinite(value) && -rng_exponential(&state->base.random) < gain;
    if (accepted)
        state->value = value;
    else
        memcpy(s->p_next, s->p, s->dim * sizeof *s->p);
    if (state->adapting) {
        /* One update (2). */
        double goal = ACCEPT_MANY + (ACCEPT_ONE - ACCEPT_MANY) / (double)s->dim;
        double step = pow(1.0 + (double)state->tuned++, -GAIN_POWER);
        state->log_scale += step * ((accepted ? 1.0 : 0.0) - goal);
    }
    state->base.end.rows = s->u->batch;
    discrete_end(s, &state->base, out);
}

/* A step size that was given stays fixed; the adapted one is not written to the settings. */
static void mh_adapt(sampler *s, bool on)
{
    mh_state *state = s->state;
    state->adapting = on && isnan(s->settings->step_size);
}

/* U may be infinite: from such a point every finite proposal is accepted. */
static void mh_inspect(const sampler *s, inspection *x)
{
    const mh_state *state = s->state;
    discrete_inspect(&state->base, x);
    INSPECT_ANY(x, state->value);
    INSPECT_REAL(x, state->log_scale, -DBL_MAX, DBL_MAX);
    INSPECT_COUNT(x, state->adapting, 1);
    INSPECT_ANY(x, state->tuned);
}

const sampler_kind sampler_mh = {
    .name = "mh",
    .summary = "random-walk Metropolis on the full data: exact, slow, for every model",
    .state_bytes = sizeof(mh_state),
    .control_variate = "none",
    .full = true,
    .discrete = true,
    .start = mh_start,
    .inspect = mh_inspect,
    .step = mh_step,
    .adapt = mh_adapt,
};

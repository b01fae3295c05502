/* Stochastic Bouncy Particle Sampler.
 *
 *   w(t) = w + t A v; proposals arrive with rate lambda(t), the band over a local
 *   regression of the slopes G~ observed since the last event; a proposal at t becomes a bounce
 *   with probability
 *   min(1, [G~(t)]+ / lambda(t)), v <- v - 2 (v.h / h.h) h, h = A' grad U~.  (4), (13), (16)
 *
 * Two variants differ only in settings. As published (Supp. C, errors corrected): weights
 * 1/c_t^2, noise of the last batch, c_t kept at a bounce, fixed chords. Ours: variance
 * pooled over the segment with a running mean, lack of fit in the band, a floor under lambda
 * and a horizon with an observation at its end, chords on the scale of the band itself. The
 * band is computed in slope_regression.c.
 *
 * Auxiliary observations (Supp. E): where after an observation at t the linear term of the
 * band is negative, so that a long segment lies ahead, the same batch is observed again at t
 * + 10 p t_mean, p = 1..P, t_mean being the mean time from observation to proposal, until
 * the term is not negative.
 *
 * psbps (section 5) is the same with a metric that learns from the gradient of every
 * proposal while it adapts. A changes only at bounces, after the reflection.
 *
 * Pakman, Gilboa, Carlson, Paninski (2017), ICML, section 4 and Supplement C. */
#include "linalg/real.h"
#include "sampler/core/sampler_kinds.h"
#include "sampler/sbps/band_segment.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define AUXILIARY_STEP 10.0 /* mean proposal times */

typedef struct {
    band_segment segment;
    double wait_sum, wait_count; /* times from an observation to the next proposal */
    uint64_t adapting;
} sbps_state;

static void sbps_start(sampler *s, const double *p, rng random)
{
    sbps_state *state = s->state;
    *state = (sbps_state){0};
    band_segment_start(s, random);
    sampler_start_metric(s, s->shared);
    memcpy(s->p_next, p, s->dim * sizeof *p);
    sampler_refresh(s, &state->segment.random);
}

/* ---- the segment ---- */

/* Sum of the jumps of G at the kinks between two times. */
static double jumps_between(const potential *u, double from, double to)
{
    double sum = 0.0, jump, at = potential_next_kink(u, from, &jump);
    for (; at <= to; at = potential_next_kink(u, at, &jump)) sum += jump;
    return sum;
}

/* True while the band falls, or always if so set. */
static bool needs_auxiliary(sbps_state *state, const band_settings *set)
{
    if (set->auxiliary_always) return true;
    band b = slope_regression_band(&state->segment.view, set);
    return band_rise(&b) < 0.0;
}

/* Observes the batch of the observation at t again at later times. */
static void observe_auxiliary(sampler *s, double t, event *e)
{
    sbps_state *state = s->state;
    const band_settings *set = &s->settings->band;
    if (state->wait_count == 0.0) return;
    double step = AUXILIARY_STEP * state->wait_sum / state->wait_count;
    for (size_t p = 1; p <= set->auxiliary; p++) {
        if (!needs_auxiliary(state, set)) return;
        double later = t + (double)p * step;
        observation o = potential_observe_again(s->u, later);
        e->rows += o.rows;
        if (s->observer) report_observation(s->observer, OBSERVATION_AUXILIARY, later, o);
        /* as if observed on this side of the kinks */
        o.slope -= jumps_between(s->u, t, later);
        slope_regression_add_ahead(&state->segment.view, set, later, &o);
    }
}

/* Sets the potential's line along the segment; returns u'Hu. */
static double begin_line(sampler *s, bool same_batch)
{
    const double *w = sampler_start_point(s);
    if (same_batch)
        potential_reverse_line(s->u, w, s->q);
    else
        potential_set_line(s->u, w, s->q);
    return sampler_curvature(s, s->q);
}

static observation observe(sampler *s, double t)
{
    return potential_observe(s->u, t);
}

static observation observe_again(sampler *s)
{
    return potential_observe_again(s->u, 0.0);
}

static double next_kink(const sampler *s, double t, double *jump)
{
    return potential_next_kink(s->u, t, jump);
}

/* The metric learns from every proposal's gradient, and changes at the next bounce. */
static void study(sampler *s, const arrival *a)
{
    sbps_state *state = s->state;
    state->wait_sum += a->time - state->segment.view.last_time;
    state->wait_count++;
    if (!state->adapting) return;
    potential_gradient(s->u, s->gradient);
    s->own.kind->learn(&s->own, s->gradient, s->settings->metric_beta);
}

static void end_line(sampler *s, double dt)
{
    for (size_t j = 0; j < s->dim; j++) s->p_next[j] = s->p[j] + dt * s->q[j];
}

static void bounce(sampler *s)
{
    const sbps_state *state = s->state;
    potential_gradient(s->u, s->gradient);
    sampler_reflect(s);
    if (state->adapting) sampler_update_metric(s);
}

static void refresh(sampler *s)
{
    sbps_state *state = s->state;
    sampler_refresh(s, &state->segment.random);
}

static const segment_kind straight = {
    .flow = &flow_line,
    .longest = INFINITY,
    .begin = begin_line,
    .observe = observe,
    .observe_again = observe_again,
    .end_segment = end_line,
    .bounce = bounce,
    .refresh = refresh,
    .next_kink = next_kink,
    .study = study,
    .observe_auxiliary = observe_auxiliary,
};

static void sbps_step(sampler *s, segment *out)
{
    band_segment_step(s, &straight, out);
}

/* ---- adaptation ---- */

static void sbps_adapt(sampler *s, bool on)
{
    sbps_state *state = s->state;
    state->adapting = on && s->own.kind;
}

static double sbps_noise(const sampler *s)
{
    const sbps_state *state = s->state;
    return state->segment.view.running;
}

static void sbps_scale_noise(sampler *s, double factor)
{
    sbps_state *state = s->state;
    state->segment.view.running *= factor;
}

/* ---- checks of restored state ---- */

static void sbps_inspect(const sampler *s, inspection *x)
{
    const sbps_state *state = s->state;
    band_segment_inspect(s, x);
    INSPECT_REAL(x, state->wait_sum, 0.0, DBL_MAX);
    INSPECT_REAL(x, state->wait_count, 0.0, DBL_MAX);
    INSPECT_COUNT(x, state->adapting, s->own.kind ? 1 : 0);
}

#define REMEDY                                                                                 \
    "its slopes were too steep to follow; a tighter --prior or scaled columns may help"

const sampler_kind sampler_sbps = {
    .name = "sbps",
    .summary = "stochastic bouncy particle sampler: straight segments, bounces off mini-batch "
               "gradients, band from a local regression",
    .state_bytes = sizeof(sbps_state),
    .adapts_metric = true,
    .remedy = REMEDY,
    .start = sbps_start,
    .inspect = sbps_inspect,
    .step = sbps_step,
    .adapt = sbps_adapt,
    .calibrate = band_segment_calibrate,
    .curve = band_segment_curve,
    .noise = sbps_noise,
    .scale_noise = sbps_scale_noise,
};

const sampler_kind sampler_psbps = {
    .name = "psbps",
    .summary = "sbps with a diagonal metric learned from the gradients of its proposals",
    .state_bytes = sizeof(sbps_state),
    .metric = "adaptive",
    .adapts_metric = true,
    .remedy = REMEDY,
    .start = sbps_start,
    .inspect = sbps_inspect,
    .step = sbps_step,
    .adapt = sbps_adapt,
    .calibrate = band_segment_calibrate,
    .curve = band_segment_curve,
    .noise = sbps_noise,
    .scale_noise = sbps_scale_noise,
};

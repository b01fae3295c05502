/* Stochastic Bouncy Particle Sampler.
 *
 *   w(t) = w + t A v; proposals arrive with rate lambda(t), the band over a local regression of the
 *   slopes G~ observed since the last event; a proposal at t becomes a bounce with probability
 *   min(1, [G~(t)]+ / lambda(t)), v <- v - 2 (v.h / h.h) h, h = A' grad U~.      (4), (13), (16)
 *
 * The particle always keeps the distance flown. Regression time runs from the last event, the
 * Poisson clock restarts at each proposal. Where G~ > lambda the bound was violated and
 * (G~/lambda - 1) bounces that should have happened did not: the event carries them.
 *
 * Two ways differ only in settings. As published (Supp. C, slips corrected): weights 1/c_t^2,
 * noise of the last batch, c_t kept at a bounce, fixed chords. Ours: variance pooled over the
 * flight with a running mean, lack of fit in the band, a floor under lambda and a horizon with an
 * observation at its end, chords on the scale of the band itself. The band is made in forecast.c.
 *
 * Auxiliary observations (Supp. E): where after a look at t the linear term of the band is negative,
 * so that a long flight lies ahead, the same batch is looked at once more at t + 10 p t_mean,
 * p = 1..P, t_mean being the mean time from look to proposal, until the term is negative no more.
 *
 * psbps (section 5) is the same with a metric that learns from the gradient of every proposal
 * while it adapts. A changes only at bounces, after the reflection.
 *
 * Pakman, Gilboa, Carlson, Paninski (2017), ICML, section 4 and Supplement C. */
#include "band/calibration.h"
#include "band/forecast.h"
#include "band/tell.h"
#include "base/real.h"
#include "sampler/kinds.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A flight on which nothing was decided after so many looks will not end: slopes that are no
 * numbers, or so steep that time stands still. */
#define LOOKS_MOST ((size_t)100000)
/* Nor will one without a horizon that was looked at so often because its chords had run out: the particle
 * flies away. */
#define REACHES_MOST ((size_t)3000)

#define AUXILIARY_STEP 10.0 /* mean proposal times */

typedef struct {
    rng random;
    event end; /* that ended the last segment */
    observation last;
    forecast view;
    double wait_sum, wait_count; /* times from a look to the next proposal, all so far */
    calibration widths;
    uint64_t adapting;
} sbps_state;

static void sbps_start(sampler *s, const double *p, rng random)
{
    sbps_state *state = s->state;
    *state = (sbps_state){.random = random};
    forecast_start(&state->view, &s->settings->band);
    sampler_start_metric(s, s->shared);
    memcpy(s->p_next, p, s->dim * sizeof *p);
    sampler_refresh(s, &state->random);
    state->end.kind = EVENT_START;
}

/* ---- flight ---- */

/* By how much G jumps at the kinks of a stretch of the flight. */
static double jumps_between(const potential *u, double from, double to)
{
    double sum = 0.0, jump, at = potential_next_kink(u, from, &jump);
    for (; at <= to; at = potential_next_kink(u, at, &jump)) sum += jump;
    return sum;
}

static bool must_look_ahead(sbps_state *state, const band_settings *set)
{
    if (set->auxiliary_always) return true;
    band b = forecast_band(&state->view, set);
    return band_rise(&b) < 0.0;
}

static void look_ahead(sampler *s, sbps_state *state, double t, event *e)
{
    if (state->wait_count == 0.0) return;
    double step = AUXILIARY_STEP * state->wait_sum / state->wait_count;
    for (size_t p = 1; p <= s->settings->band.auxiliary; p++) {
        if (!must_look_ahead(state, &s->settings->band)) return;
        double ahead = t + (double)p * step;
        observation seen = potential_observe_again(s->u, ahead);
        e->rows += seen.rows;
        if (s->looks) tell_look(s->looks, LOOK_AUXILIARY, ahead, seen);
        seen.slope -= jumps_between(s->u, t, ahead); /* as if seen from this side of them */
        forecast_see_ahead(&state->view, &s->settings->band, ahead, &seen);
    }
}

static void remember(sampler *s, sbps_state *state, double t, observation o, event *e)
{
    forecast_see(&state->view, &s->settings->band, t, &o);
    state->last = o;
    if (s->settings->band.auxiliary) look_ahead(s, state, t, e);
}

/* The first observation of a flight. After a bounce it is the bounce's own batch, seen along the
 * new velocity: G~ changes its sign there. */
static void take_off(sampler *s, sbps_state *state, event *e)
{
    memcpy(s->p, s->p_next, s->dim * sizeof *s->p);
    memcpy(s->q, s->q_next, s->dim * sizeof *s->q);
    for (size_t j = 0; j < s->dim; j++) s->scratch[j] = s->centre[j] + s->p[j];
    bool same_batch = state->end.kind == EVENT_BOUNCE && !s->settings->band.fresh_bounce;
    if (same_batch)
        potential_turn(s->u, s->scratch, s->q);
    else
        potential_aim(s->u, s->scratch, s->q);
    forecast_clear(&state->view, sampler_curvature(s, s->q));
    observation first = state->last;
    if (!same_batch) {
        first = potential_observe(s->u, 0.0);
        e->rows += first.rows;
    } else if (s->settings->band.keep_variance) {
        first.slope = -first.slope;
    } else {
        first = potential_observe_again(s->u, 0.0);
    }
    if (s->looks) tell_look(s->looks, LOOK_START, 0.0, first);
    remember(s, state, 0.0, first, e);
}

/* The metric learns from every proposal's gradient, and changes at the next bounce. */
static void study_gradient(sampler *s)
{
    potential_gradient(s->u, s->gradient);
    s->own.kind->see(&s->own, s->gradient, s->settings->metric_beta);
}

/* True when the proposal becomes a bounce. */
static bool propose(sampler *s, sbps_state *state, const band *b, const arrival *a, event *e)
{
    observation o = potential_observe(s->u, a->time);
    double ratio = o.slope / a->rate;
    event_count_ratio(e, ratio);
    e->expected += band_violation(b, a);
    e->rows += o.rows;
    state->wait_sum += a->time - state->view.last_time;
    state->wait_count++;
    if (state->widths.on) calibration_see(&state->widths, b, a->time, o.slope, a->rate);
    if (state->adapting) study_gradient(s);
    forecast_learn(&state->view, &s->settings->band, b, a->time, o.slope);
    bool bounced = rng_uniform(&state->random) < ratio;
    if (s->looks)
        tell_look_under(s->looks, LOOK_PROPOSAL, b, state->view.last_time, a, &o, bounced);
    if (bounced) {
        state->last = o;
        return true;
    }
    remember(s, state, a->time, o, e);
    return false;
}

/* Flies until a bounce or a refreshment; returns the time flown. */
static double fly(sampler *s, sbps_state *state, event *e)
{
    double rate = s->settings->refresh_rate, t = 0.0;
    double refresh_at = rate > 0.0 ? rng_exponential(&state->random) / rate : INFINITY;
    double jump, kink_at = potential_next_kink(s->u, 0.0, &jump);
    size_t reaches = 0;
    for (;;) {
        band b = forecast_band(&state->view, &s->settings->band);
        chord_grid grid = forecast_grid(&state->view, &s->settings->band, &b, t, INFINITY,
                                        smaller(refresh_at, kink_at));
        if (e->rows > LOOKS_MOST * s->u->batch || reaches > REACHES_MOST) {
            e->failed = true;
            e->kind = EVENT_REFRESH;
            return t;
        }
        arrival a = band_arrival(&b, &grid, rng_exponential(&state->random));
        t = a.time;
        if (a.arrived) {
            if (!propose(s, state, &b, &a, e)) continue;
            e->kind = EVENT_BOUNCE;
            return t;
        }
        if (t >= refresh_at) {
            if (s->looks)
                tell_look_under(s->looks, LOOK_REFRESH, &b, state->view.last_time, &a, NULL,
                                false);
            e->kind = EVENT_REFRESH;
            return t;
        }
        if (t >= kink_at) {
            forecast_shift(&state->view, jump); /* a prior's slope jumps: known, not noise */
            kink_at = potential_next_kink(s->u, t, &jump);
            continue;
        }
        observation o = potential_observe(s->u, t); /* the horizon's end: look again */
        reaches += isinf(s->settings->band.horizon);
        e->rows += o.rows;
        if (s->looks)
            tell_look_under(s->looks, LOOK_HORIZON, &b, state->view.last_time, &a, &o, false);
        forecast_learn(&state->view, &s->settings->band, &b, t, o.slope);
        remember(s, state, t, o, e);
    }
}

static void sbps_step(sampler *s, segment *out)
{
    sbps_state *state = s->state;
    event e = {0};
    take_off(s, state, &e);
    double dt = fly(s, state, &e);
    forecast_end(&state->view, &s->settings->band, dt,
                 e.kind == EVENT_BOUNCE ? &state->last : NULL);
    for (size_t j = 0; j < s->dim; j++) s->p_next[j] = s->p[j] + dt * s->q[j];
    if (e.kind == EVENT_BOUNCE) {
        potential_gradient(s->u, s->gradient);
        sampler_reflect(s);
        if (state->adapting) sampler_settle_metric(s);
    } else {
        sampler_refresh(s, &state->random);
    }
    if (state->widths.on) state->widths.time += dt;
    state->end = e;
    *out = (segment){.flow = &flow_line,
                     .dim = s->dim,
                     .dt = dt,
                     .centre = s->centre,
                     .p = s->p,
                     .q = s->q,
                     .end = &state->end,
                     .q_next = s->q_next};
}

/* ---- adaptation and calibration ---- */

static void sbps_adapt(sampler *s, bool on)
{
    sbps_state *state = s->state;
    state->adapting = on && s->own.kind;
}

static void sbps_calibrate(sampler *s, bool on)
{
    sbps_state *state = s->state;
    calibration_begin(&state->widths, on);
}

static const calibration *sbps_curve(const sampler *s)
{
    const sbps_state *state = s->state;
    return &state->widths;
}

static double sbps_noise(const sampler *s)
{
    const sbps_state *state = s->state;
    return state->view.running;
}

static void sbps_scale_noise(sampler *s, double factor)
{
    sbps_state *state = s->state;
    state->view.running *= factor;
}

/* ---- read back ---- */

static void sbps_inspect(const sampler *s, inspection *x)
{
    const sbps_state *state = s->state;
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    observation_inspect(&state->last, x);
    forecast_inspect(&state->view, x);
    INSPECT_REAL(x, state->wait_sum, 0.0, DBL_MAX);
    INSPECT_REAL(x, state->wait_count, 0.0, DBL_MAX);
    calibration_inspect(&state->widths, x);
    INSPECT_COUNT(x, state->adapting, s->own.kind ? 1 : 0);
}

#define REMEDY                                                                                 \
    "its slopes were too steep to fly along; a tighter --prior or scaled columns may help"

const sampler_kind sampler_sbps = {
    .name = "sbps",
    .summary = "stochastic bouncy particle sampler: straight flights, bounces off mini-batch "
               "gradients, band from a local regression",
    .state_bytes = sizeof(sbps_state),
    .adapts_metric = true,
    .remedy = REMEDY,
    .start = sbps_start,
    .inspect = sbps_inspect,
    .step = sbps_step,
    .adapt = sbps_adapt,
    .calibrate = sbps_calibrate,
    .curve = sbps_curve,
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
    .calibrate = sbps_calibrate,
    .curve = sbps_curve,
    .noise = sbps_noise,
    .scale_noise = sbps_scale_noise,
};

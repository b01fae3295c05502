/* Stochastic Bouncy Particle Sampler.
 *
 *   w(t) = w + t A v; proposals arrive with rate lambda(t), the band over a local regression of the
 *   slopes G~ observed since the last event; a proposal at t becomes a bounce with probability
 *   min(1, [G~(t)]+ / lambda(t)), v <- v - 2 (v.h / h.h) h, h = A' grad U~.       (3), (7), (12)
 *
 * The particle always keeps the distance flown. Regression time runs from the last event, the
 * Poisson clock restarts at each proposal. Where G~ > lambda the bound was violated and
 * (G~/lambda - 1) bounces that should have happened did not: the event carries them.
 *
 * Two ways differ only in settings. As published (Supp. C, slips corrected): weights 1/c_t^2,
 * noise of the last batch, c_t kept at a bounce, fixed chords. Ours: variance pooled over the
 * flight with a running mean, lack of fit in the band, a floor under lambda and a horizon with an
 * observation at its end, chords on the scale of the band itself.
 *
 * Pakman, Gilboa, Carlson, Paninski (2017), ICML, section 4 and Supplement C. */
#include "base/real.h"
#include "sampler/calibrate.h"
#include "sampler/kinds.h"

#include <math.h>
#include <string.h>

#define VARIANCE_MEMORY 1000.0 /* observations the running variance looks back on */
#define NOISE_FLOOR     1e-6   /* of c^2 / u'Hu: keeps the regression solvable without noise */
#define CHORD_SHARE     0.25   /* of the way to the horizon: longest first chord */
#define CHORDS_AT_MOST  1e5    /* fixed chords without a horizon: look again after so many */

typedef struct {
    rng random;
    event end; /* that ended the last segment */
    observation last;
    regression fit;
    double curvature; /* u'Hu of this flight */
    double running;   /* mean of c^2 / u'Hu */
    double running_count;
    double variance_sum; /* of c^2 over this flight */
    slope_prior prior;   /* in units of u'Hu */
    double curve[BAND_CURVE], curve_time;
    uint64_t calibrating;
} sbps_state;

static void sbps_start(sampler *s, const double *p, rng random)
{
    sbps_state *state = s->state;
    *state = (sbps_state){.random = random, .prior = {.mean = 1.0, .variance = 1.0}};
    memcpy(s->p_next, p, s->dim * sizeof *p);
    sampler_refresh(s, &state->random);
    state->end.kind = EVENT_START;
}

/* ---- the regression of this flight ---- */

static double noise_floor(const sbps_state *state)
{
    return NOISE_FLOOR * state->curvature;
}

static void remember(const sampler *s, sbps_state *state, double t, observation o)
{
    double c2 = larger(o.variance, noise_floor(state));
    regression_add(&state->fit, t, o.slope, s->settings->pool > 0.0 ? 1.0 : 1.0 / c2);
    state->variance_sum += c2;
    state->last = o;
    double memory = smaller(++state->running_count, VARIANCE_MEMORY);
    state->running += (c2 / state->curvature - state->running) / memory;
}

/* c^2 of the noise: the flight's observations and the running mean, which counts for `pool`. */
static double pooled_variance(const sampler *s, const sbps_state *state)
{
    double pool = s->settings->pool, count = (double)state->fit.count;
    return (pool * state->running * state->curvature + state->variance_sum) / (pool + count);
}

static slope_prior scaled_prior(const sbps_state *state)
{
    double c = state->curvature;
    return (slope_prior){.mean = state->prior.mean * c,
                         .variance = state->prior.variance * c * c};
}

/* Variance of an observation of weight 1: pooled, or 1 where weights are 1/c^2 themselves. */
static double unit_variance(const sampler *s, const sbps_state *state)
{
    return s->settings->pool > 0.0 ? pooled_variance(s, state) : 1.0;
}

static band make_band(const sampler *s, const sbps_state *state)
{
    const sampler_settings *set = s->settings;
    double unit = unit_variance(s, state);
    double next = set->pool > 0.0 ? unit : larger(state->last.variance, noise_floor(state));
    band b = {.k = set->band, .floor = set->floor * sqrt(state->curvature)};
    b.fit = regression_solve(&state->fit, scaled_prior(state), unit, next);
    if (set->lack_of_fit) regression_admit_misfit(&state->fit, unit, &b.fit);
    return b;
}

/* ---- flight ---- */

/* The first observation of a flight. After a bounce it is the bounce's own batch, seen along the
 * new velocity: G~ changes its sign there. */
static void take_off(sampler *s, sbps_state *state, event *e)
{
    memcpy(s->p, s->p_next, s->dim * sizeof *s->p);
    memcpy(s->q, s->q_next, s->dim * sizeof *s->q);
    for (size_t j = 0; j < s->dim; j++) s->scratch[j] = s->centre[j] + s->p[j];
    potential_aim(s->u, s->scratch, s->q);
    state->curvature = sampler_curvature(s, s->q);
    state->variance_sum = 0.0;
    regression_clear(&state->fit);
    observation first = state->last;
    if (state->end.kind != EVENT_BOUNCE) {
        first = potential_observe(s->u, 0.0);
        e->rows += first.rows;
    } else if (s->settings->keep_variance) {
        first.slope = -first.slope;
    } else {
        first = potential_observe_again(s->u, 0.0);
    }
    remember(s, state, 0.0, first);
}

static chord_grid make_grid(const sampler *s, const sbps_state *state, const band *b, double t,
                            double until)
{
    const sampler_settings *set = s->settings;
    bool fixed = !isnan(set->chord);
    double reach = set->horizon / sqrt(state->curvature);
    if (fixed) reach = smaller(reach, CHORDS_AT_MOST * set->chord);
    chord_grid grid = {.start = t, .limit = smaller(t + reach, until)};
    grid.growth = fixed ? 1.0 : 2.0;
    double rate = band_at(b, t);
    grid.step = fixed ? set->chord : CHORD_SHARE * (grid.limit - t);
    if (!fixed && rate > 0.0) grid.step = smaller(grid.step, 0.5 / rate);
    return grid;
}

/* True when the proposal becomes a bounce. */
static bool propose(sampler *s, sbps_state *state, const band *b, const arrival *a, event *e)
{
    observation o = potential_observe(s->u, a->time);
    double ratio = o.slope / a->rate;
    e->proposals++;
    e->rows += o.rows;
    if (ratio > 1.0) {
        e->violations++;
        e->missing += ratio - 1.0;
    }
    if (state->calibrating) band_curve_add(state->curve, b, a->time, o.slope, a->rate);
    if (rng_uniform(&state->random) < ratio) {
        state->last = o;
        return true;
    }
    remember(s, state, a->time, o);
    return false;
}

/* Flies until a bounce or a refreshment; returns the time flown. */
static double fly(sampler *s, sbps_state *state, event *e)
{
    double rate = s->settings->refresh_rate, t = 0.0;
    double refresh_at = rate > 0.0 ? rng_exponential(&state->random) / rate : INFINITY;
    double jump, kink_at = potential_next_kink(s->u, 0.0, &jump);
    for (;;) {
        band b = make_band(s, state);
        chord_grid grid = make_grid(s, state, &b, t, smaller(refresh_at, kink_at));
        arrival a = band_arrival(&b, &grid, rng_exponential(&state->random));
        t = a.time;
        if (a.arrived) {
            if (!propose(s, state, &b, &a, e)) continue;
            e->kind = EVENT_BOUNCE;
            return t;
        }
        if (t >= refresh_at) {
            e->kind = EVENT_REFRESH;
            return t;
        }
        if (t >= kink_at) {
            regression_shift(&state->fit, jump); /* a prior's slope jumps: known, not noise */
            kink_at = potential_next_kink(s->u, t, &jump);
            continue;
        }
        observation o = potential_observe(s->u, t); /* the horizon's end: look again */
        e->rows += o.rows;
        remember(s, state, t, o);
    }
}

static void sbps_step(sampler *s, segment *out)
{
    sbps_state *state = s->state;
    event e = {0};
    take_off(s, state, &e);
    double dt = fly(s, state, &e);
    for (size_t j = 0; j < s->dim; j++) s->p_next[j] = s->p[j] + dt * s->q[j];
    if (e.kind == EVENT_BOUNCE) {
        potential_gradient(s->u, s->gradient);
        sampler_reflect(s);
    } else {
        sampler_refresh(s, &state->random);
    }
    double c = state->curvature, unit = unit_variance(s, state);
    slope_prior learned = scaled_prior(state);
    slope_prior_learn(&learned, &state->fit, unit, s->settings->learning_rate);
    state->prior =
        (slope_prior){.mean = learned.mean / c, .variance = learned.variance / (c * c)};
    if (state->calibrating) state->curve_time += dt;
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

/* ---- calibration ---- */

static void sbps_calibrate(sampler *s, bool on)
{
    sbps_state *state = s->state;
    state->calibrating = on;
    state->curve_time = 0.0;
    memset(state->curve, 0, sizeof state->curve);
}

static const double *sbps_curve(const sampler *s, double *time)
{
    const sbps_state *state = s->state;
    *time = state->curve_time;
    return state->curve;
}

const sampler_kind sampler_sbps = {
    .name = "sbps",
    .summary = "stochastic bouncy particle sampler: straight flights, bounces off mini-batch "
               "gradients, band from a local regression",
    .state_bytes = sizeof(sbps_state),
    .start = sbps_start,
    .step = sbps_step,
    .calibrate = sbps_calibrate,
    .curve = sbps_curve,
};

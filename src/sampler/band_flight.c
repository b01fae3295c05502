/* Proposals arrive with rate lambda(t), the band over a local regression of the slopes G~ observed since
 * the last event. The particle always keeps the distance flown. Regression time runs from the
 * last event, the Poisson clock restarts at each proposal. Where G~ > lambda the bound was violated
 * and (G~/lambda - 1) bounces that should have happened did not: the event carries them. */
#include "sampler/band_flight.h"
#include "band/tell.h"
#include "base/real.h"

#include <math.h>

/* A flight on which nothing was decided after so many looks will not end: slopes that are no
 * numbers, or so steep that time stands still. */
#define LOOKS_MOST ((size_t)100000)
/* Nor will one without a horizon that was looked at so often because its chords had run out: the particle
 * flies away. */
#define REACHES_MOST ((size_t)3000)

void band_flight_start(sampler *s, rng random)
{
    band_flight *state = s->state;
    *state = (band_flight){.random = random, .end = {.kind = EVENT_START}};
    forecast_start(&state->view, &s->settings->band);
}

/* ---- looks ---- */

static void remember(sampler *s, const flight_kind *way, double t, observation o, event *e)
{
    band_flight *state = s->state;
    forecast_see(&state->view, &s->settings->band, t, &o);
    state->last = o;
    if (s->settings->band.auxiliary && way->look_further) way->look_further(s, t, e);
}

/* The first observation of a flight. After a bounce it is the bounce's own batch, seen along the
 * new velocity: G~ changes its sign there. */
static void take_off(sampler *s, const flight_kind *way, event *e)
{
    band_flight *state = s->state;
    const band_settings *set = &s->settings->band;
    bool same_batch = state->end.kind == EVENT_BOUNCE && !set->fresh_bounce;
    sampler_take_off(s);
    forecast_clear(&state->view, way->begin(s, same_batch));
    observation first = state->last;
    if (!same_batch) {
        first = way->observe(s, 0.0);
        e->rows += first.rows;
    } else if (set->keep_variance) {
        first.slope = -first.slope;
    } else {
        first = way->observe_again(s);
    }
    if (s->looks) tell_look(s->looks, LOOK_START, 0.0, first);
    remember(s, way, 0.0, first, e);
}

/* True when the proposal becomes a bounce. */
static bool propose(sampler *s, const flight_kind *way, const band *b, const arrival *a,
                    event *e)
{
    band_flight *state = s->state;
    observation o = way->observe(s, a->time);
    bool bounced = sampler_accept(o.slope, a->rate, &state->random, e);
    e->expected += band_violation(b, a);
    e->rows += o.rows;
    if (state->widths.on) calibration_see(&state->widths, b, a->time, o.slope, a->rate);
    if (way->study) way->study(s, a);
    forecast_learn(&state->view, &s->settings->band, b, a->time, o.slope);
    if (s->looks)
        tell_look_under(s->looks, LOOK_PROPOSAL, b, state->view.last_time, a, &o, bounced);
    if (bounced)
        state->last = o;
    else
        remember(s, way, a->time, o, e);
    return bounced;
}

/* At the horizon's end. */
static void look_again(sampler *s, const flight_kind *way, const band *b, const arrival *a,
                       event *e)
{
    band_flight *state = s->state;
    observation o = way->observe(s, a->time);
    e->rows += o.rows;
    if (s->looks)
        tell_look_under(s->looks, LOOK_HORIZON, b, state->view.last_time, a, &o, false);
    forecast_learn(&state->view, &s->settings->band, b, a->time, o.slope);
    remember(s, way, a->time, o, e);
}

/* ---- flight ---- */

static double draw_refresh(const sampler *s, const flight_kind *way, rng *random)
{
    double rate = s->settings->refresh_rate;
    if (!(rate > 0.0)) rate = way->refresh_least;
    return rate > 0.0 ? rng_exponential(random) / rate : INFINITY;
}

/* Flies until a bounce or a refreshment; returns the time flown. */
static double fly(sampler *s, const flight_kind *way, event *e)
{
    band_flight *state = s->state;
    const band_settings *set = &s->settings->band;
    bool endless = isinf(set->horizon) && isinf(way->longest);
    double t = 0.0, jump = 0.0, refresh_at = draw_refresh(s, way, &state->random);
    double kink_at = way->next_kink ? way->next_kink(s, 0.0, &jump) : INFINITY;
    e->kind = EVENT_REFRESH;
    for (size_t reaches = 0;;) {
        band b = forecast_band(&state->view, set);
        chord_grid grid =
            forecast_grid(&state->view, set, &b, t, way->longest, smaller(refresh_at, kink_at));
        e->failed = e->rows > LOOKS_MOST * s->u->batch || reaches > REACHES_MOST ||
                    isnan(state->last.slope);
        if (e->failed) return t;
        arrival a = band_arrival(&b, &grid, rng_exponential(&state->random));
        t = a.time;
        if (a.arrived) {
            if (!propose(s, way, &b, &a, e)) continue;
            e->kind = EVENT_BOUNCE;
            return t;
        }
        if (t >= refresh_at) {
            if (s->looks)
                tell_look_under(s->looks, LOOK_REFRESH, &b, state->view.last_time, &a, NULL,
                                false);
            return t;
        }
        if (t >= kink_at) {
            forecast_shift(&state->view, jump); /* a prior's slope jumps: known, not noise */
            kink_at = way->next_kink(s, t, &jump);
            continue;
        }
        reaches += endless;
        look_again(s, way, &b, &a, e);
    }
}

void band_flight_step(sampler *s, const flight_kind *way, segment *out)
{
    band_flight *state = s->state;
    event e = {0};
    take_off(s, way, &e);
    double dt = fly(s, way, &e);
    bool bounced = e.kind == EVENT_BOUNCE;
    forecast_end(&state->view, &s->settings->band, dt, bounced ? &state->last : NULL);
    way->land(s, dt);
    if (bounced)
        way->bounce(s);
    else
        way->refresh(s);
    if (state->widths.on) state->widths.time += dt;
    state->end = e;
    *out = sampler_segment(s, way->flow, dt, &state->end);
}

/* ---- calibration, read back ---- */

void band_flight_calibrate(sampler *s, bool on)
{
    band_flight *state = s->state;
    calibration_begin(&state->widths, on);
}

const calibration *band_flight_curve(const sampler *s)
{
    const band_flight *state = s->state;
    return &state->widths;
}

void band_flight_inspect(const sampler *s, inspection *x)
{
    const band_flight *state = s->state;
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    observation_inspect(&state->last, x);
    forecast_inspect(&state->view, x);
    calibration_inspect(&state->widths, x);
}

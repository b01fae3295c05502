/* Proposals arrive with rate lambda(t), the band over a local regression of the slopes G~ observed since
 * the last event. The particle always keeps the distance flown. Regression time runs from the
 * last event, the Poisson clock restarts at each proposal. Where G~ > lambda the bound was violated
 * and (G~/lambda - 1) bounces that should have happened did not: the event carries them. */
#include "sampler/sbps/band_segment.h"
#include "linalg/real.h"
#include "sampler/band/report_observation.h"

#include <math.h>

/* A flight on which nothing was decided after so many looks will not end: slopes that are no
 * numbers, or so steep that time stands still. */
#define OBSERVATIONS_MAX ((size_t)100000)
/* Nor will one without a horizon that was looked at so often because its chords had run out: the particle
 * flies away. */
#define REACHES_MAX ((size_t)3000)

void band_segment_start(sampler *s, rng random)
{
    band_segment *state = s->state;
    *state = (band_segment){.random = random, .end = {.kind = EVENT_START}};
    slope_regression_start(&state->view, &s->settings->band);
}

/* ---- looks ---- */

static void record_observation(sampler *s, const segment_kind *way, double t, observation o,
                               event *e)
{
    band_segment *state = s->state;
    slope_regression_add(&state->view, &s->settings->band, t, &o);
    state->last = o;
    if (s->settings->band.auxiliary && way->observe_auxiliary) way->observe_auxiliary(s, t, e);
}

/* The first observation of a flight. After a bounce it is the bounce's own batch, seen along the
 * new velocity: G~ changes its sign there. */
static void begin_segment(sampler *s, const segment_kind *way, event *e)
{
    band_segment *state = s->state;
    const band_settings *set = &s->settings->band;
    bool same_batch = state->end.kind == EVENT_BOUNCE && !set->fresh_bounce;
    sampler_begin_segment(s);
    slope_regression_clear(&state->view, way->begin(s, same_batch));
    observation first = state->last;
    if (!same_batch) {
        first = way->observe(s, 0.0);
        e->rows += first.rows;
    } else if (set->keep_variance) {
        first.slope = -first.slope;
    } else {
        first = way->observe_again(s);
    }
    if (s->observer) report_observation(s->observer, OBSERVATION_START, 0.0, first);
    record_observation(s, way, 0.0, first, e);
}

/* True when the proposal becomes a bounce. */
static bool test_proposal(sampler *s, const segment_kind *way, const band *b, const arrival *a,
                          event *e)
{
    band_segment *state = s->state;
    observation o = way->observe(s, a->time);
    bool bounced = sampler_accept(o.slope, a->rate, &state->random, e);
    e->expected += band_violation(b, a);
    e->rows += o.rows;
    if (state->widths.on) calibration_see(&state->widths, b, a->time, o.slope, a->rate);
    if (way->study) way->study(s, a);
    slope_regression_learn(&state->view, &s->settings->band, b, a->time, o.slope);
    if (s->observer)
        report_under_band(s->observer, OBSERVATION_PROPOSAL, b, state->view.last_time, a, &o,
                          bounced);
    if (bounced)
        state->last = o;
    else
        record_observation(s, way, a->time, o, e);
    return bounced;
}

/* At the horizon's end. */
static void observe_at_horizon(sampler *s, const segment_kind *way, const band *b,
                               const arrival *a, event *e)
{
    band_segment *state = s->state;
    observation o = way->observe(s, a->time);
    e->rows += o.rows;
    if (s->observer)
        report_under_band(s->observer, OBSERVATION_HORIZON, b, state->view.last_time, a, &o,
                          false);
    slope_regression_learn(&state->view, &s->settings->band, b, a->time, o.slope);
    record_observation(s, way, a->time, o, e);
}

/* ---- flight ---- */

static double draw_refresh(const sampler *s, const segment_kind *way, rng *random)
{
    double rate = s->settings->refresh_rate;
    if (!(rate > 0.0)) rate = way->refresh_min;
    return rate > 0.0 ? rng_exponential(random) / rate : INFINITY;
}

/* Flies until a bounce or a refreshment; returns the time flown. */
static double advance_to_event(sampler *s, const segment_kind *way, event *e)
{
    band_segment *state = s->state;
    const band_settings *set = &s->settings->band;
    bool endless = isinf(set->horizon) && isinf(way->longest);
    double t = 0.0, jump = 0.0, refresh_at = draw_refresh(s, way, &state->random);
    double kink_at = way->next_kink ? way->next_kink(s, 0.0, &jump) : INFINITY;
    e->kind = EVENT_REFRESH;
    for (size_t reaches = 0;;) {
        band b = slope_regression_band(&state->view, set);
        chord_grid grid = slope_regression_grid(&state->view, set, &b, t, way->longest,
                                                smaller(refresh_at, kink_at));
        e->failed = e->rows > OBSERVATIONS_MAX * s->u->batch || reaches > REACHES_MAX ||
                    isnan(state->last.slope);
        if (e->failed) return t;
        arrival a = band_arrival(&b, &grid, rng_exponential(&state->random));
        t = a.time;
        if (a.arrived) {
            if (!test_proposal(s, way, &b, &a, e)) continue;
            e->kind = EVENT_BOUNCE;
            return t;
        }
        if (t >= refresh_at) {
            if (s->observer)
                report_under_band(s->observer, OBSERVATION_REFRESH, &b, state->view.last_time,
                                  &a, NULL, false);
            return t;
        }
        if (t >= kink_at) {
            slope_regression_shift(&state->view,
                                   jump); /* a prior's slope jumps: known, not noise */
            kink_at = way->next_kink(s, t, &jump);
            continue;
        }
        reaches += endless;
        observe_at_horizon(s, way, &b, &a, e);
    }
}

void band_segment_step(sampler *s, const segment_kind *way, segment *out)
{
    band_segment *state = s->state;
    event e = {0};
    begin_segment(s, way, &e);
    double dt = advance_to_event(s, way, &e);
    bool bounced = e.kind == EVENT_BOUNCE;
    slope_regression_end(&state->view, &s->settings->band, dt, bounced ? &state->last : NULL);
    way->end_segment(s, dt);
    if (bounced)
        way->bounce(s);
    else
        way->refresh(s);
    if (state->widths.on) state->widths.time += dt;
    state->end = e;
    *out = sampler_segment(s, way->flow, dt, &state->end);
}

/* ---- calibration, read back ---- */

void band_segment_calibrate(sampler *s, bool on)
{
    band_segment *state = s->state;
    calibration_begin(&state->widths, on);
}

const calibration *band_segment_curve(const sampler *s)
{
    const band_segment *state = s->state;
    return &state->widths;
}

void band_segment_inspect(const sampler *s, inspection *x)
{
    const band_segment *state = s->state;
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    observation_inspect(&state->last, x);
    slope_regression_inspect(&state->view, x);
    calibration_inspect(&state->widths, x);
}

/* Proposals arrive with rate lambda(t), the band over a local regression of the slopes G~
 * observed since the last event. The particle always moves on: regression time runs from the
 * last event, and the Poisson clock restarts at each proposal. Where G~ > lambda the bound
 * was violated and (G~/lambda - 1) bounces that should have happened did not: the event
 * counts them. */
#include "sampler/sbps/band_segment.h"

#include "linalg/real.h"

#include <math.h>

/* A segment without an event after this many observations will not end: slopes are NaN, or
 * so steep that time steps vanish. */
#define OBSERVATIONS_MAX ((size_t)100000)
/* Nor will one without a horizon that ran out of chords this often: the particle runs away. */
#define REACHES_MAX ((size_t)3000)

void band_segment_start(sampler *s, rng random)
{
    band_segment *state = s->state;
    *state = (band_segment){.random = random, .end = {.kind = EVENT_START}};
    slope_regression_start(&state->view, &s->settings->band);
}

/* ---- observations ---- */

static void record_observation(sampler *s, const segment_kind *kind, double t, observation o,
                               event *e)
{
    band_segment *state = s->state;
    slope_regression_add(&state->view, &s->settings->band, t, &o);
    state->last = o;
    if (s->settings->band.auxiliary && kind->observe_auxiliary)
        kind->observe_auxiliary(s, t, e);
}

/* The first observation of a segment. After a bounce it is the bounce's own batch, evaluated
 * along the new velocity: G~ changes its sign there. */
static void begin_segment(sampler *s, const segment_kind *kind, event *e)
{
    band_segment *state = s->state;
    const band_settings *set = &s->settings->band;
    bool same_batch = state->end.kind == EVENT_BOUNCE && !set->fresh_bounce;
    sampler_begin_segment(s);
    slope_regression_clear(&state->view, kind->begin(s, same_batch));
    observation first = state->last;
    if (!same_batch) {
        first = kind->observe(s, 0.0);
        e->rows += first.rows;
    } else if (set->keep_variance) {
        first.slope = -first.slope;
    } else {
        first = kind->observe_again(s);
    }
    if (s->observer) report_observation(s->observer, OBSERVATION_START, 0.0, first);
    record_observation(s, kind, 0.0, first, e);
}

/* Observes a proposal; true when it becomes a bounce. */
static bool test_proposal(sampler *s, const segment_kind *kind, const band *b, const arrival *a,
                          event *e)
{
    band_segment *state = s->state;
    observation o = kind->observe(s, a->time);
    bool bounced = sampler_accept(o.slope, a->rate, &state->random, e);
    e->expected += band_violation(b, a);
    e->rows += o.rows;
    if (state->widths.on)
        calibration_add_proposal(&state->widths, b, a->time, o.slope, a->rate);
    if (kind->study) kind->study(s, a);
    slope_regression_learn(&state->view, &s->settings->band, b, a->time, o.slope);
    if (s->observer)
        report_under_band(s->observer, OBSERVATION_PROPOSAL, b, state->view.last_time, a, &o,
                          bounced);
    if (bounced)
        state->last = o;
    else
        record_observation(s, kind, a->time, o, e);
    return bounced;
}

/* The observation at the end of the horizon. */
static void observe_at_horizon(sampler *s, const segment_kind *kind, const band *b,
                               const arrival *a, event *e)
{
    band_segment *state = s->state;
    observation o = kind->observe(s, a->time);
    e->rows += o.rows;
    if (s->observer)
        report_under_band(s->observer, OBSERVATION_HORIZON, b, state->view.last_time, a, &o,
                          false);
    slope_regression_learn(&state->view, &s->settings->band, b, a->time, o.slope);
    record_observation(s, kind, a->time, o, e);
}

/* ---- the segment ---- */

static double draw_refresh(const sampler *s, const segment_kind *kind, rng *random)
{
    double rate = s->settings->refresh_rate;
    if (!(rate > 0.0)) rate = kind->refresh_min;
    return rate > 0.0 ? rng_exponential(random) / rate : INFINITY;
}

/* Advances until a bounce or a refreshment; returns the time. */
static double advance_to_event(sampler *s, const segment_kind *kind, event *e)
{
    band_segment *state = s->state;
    const band_settings *set = &s->settings->band;
    bool no_horizon = isinf(set->horizon) && isinf(kind->longest);
    double t = 0.0, jump = 0.0, refresh_at = draw_refresh(s, kind, &state->random);
    double kink_at = kind->next_kink ? kind->next_kink(s, 0.0, &jump) : INFINITY;
    e->kind = EVENT_REFRESH;
    for (size_t reaches = 0;;) {
        band b = slope_regression_band(&state->view, set);
        chord_grid grid = slope_regression_grid(&state->view, set, &b, t, kind->longest,
                                                smaller(refresh_at, kink_at));
        e->failed = e->rows > OBSERVATIONS_MAX * s->u->batch || reaches > REACHES_MAX ||
                    isnan(state->last.slope);
        if (e->failed) return t;
        arrival a = band_arrival(&b, &grid, rng_exponential(&state->random));
        t = a.time;
        if (a.arrived) {
            if (!test_proposal(s, kind, &b, &a, e)) continue;
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
            kink_at = kind->next_kink(s, t, &jump);
            continue;
        }
        reaches += no_horizon;
        observe_at_horizon(s, kind, &b, &a, e);
    }
}

void band_segment_step(sampler *s, const segment_kind *kind, segment *out)
{
    band_segment *state = s->state;
    event e = {0};
    begin_segment(s, kind, &e);
    double dt = advance_to_event(s, kind, &e);
    bool bounced = e.kind == EVENT_BOUNCE;
    slope_regression_end(&state->view, &s->settings->band, dt, bounced ? &state->last : NULL);
    kind->end_segment(s, dt);
    if (bounced)
        kind->bounce(s);
    else
        kind->refresh(s);
    if (state->widths.on) state->widths.time += dt;
    state->end = e;
    *out = sampler_segment(s, kind->flow, dt, &state->end);
}

/* ---- calibration, checks of restored state ---- */

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

/* ---- reports of observations ----
 *
 * Without an arrival lambda is the band itself, not a chord over it. */

void report_observation(const observation_sink *w, observation_kind kind, double t,
                        observation o)
{
    slope_observation l = {.kind = kind, .t = t, .slope = o.slope, .variance = o.variance};
    l.mean = l.sd = l.rate = l.from = l.rate_from = NAN;
    w->take(w->self, &l);
}

void report_under_band(const observation_sink *w, observation_kind kind, const band *b,
                       double from, const arrival *a, const observation *o, bool bounced)
{
    slope_observation l = {
        .kind = kind, .bounced = bounced, .t = a->time, .rate = a->rate, .from = from};
    l.slope = o ? o->slope : NAN;
    l.variance = o ? o->variance : NAN;
    l.mean = band_mean(b, a->time);
    l.sd = band_sd(b, a->time);
    l.rate_from = larger(band_at(b, from), 0.0);
    w->take(w->self, &l);
}

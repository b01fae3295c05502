/* The registry of samplers, and what they share: thinning with a count of violations,
 * reflection (7), refreshment, segments, and checks of restored state. */
#include "sampler/core/sampler.h"
#include "linalg/dense_matrix.h"
#include "sampler/core/sampler_kinds.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define BAND_WIDEST 1e3 /* widest band that warm-up or an option can choose */

const sampler_kind *const sampler_kinds[] = {SAMPLER_KINDS(KIND_LISTED) NULL};

const sampler_kind *sampler_find(const char *name)
{
    return kind_find(sampler_kinds, name);
}

void sampler_carve(sampler *s, const sampler_kind *kind, const metric *a, const double *hessian,
                   const double *centre, potential *u, arena *memory)
{
    size_t d = u->facts.dim;
    *s =
        (sampler){.kind = kind, .a = a, .hessian = hessian, .centre = centre, .u = u, .dim = d};
    s->shared = a;
    s->settings = arena_take(memory, sizeof *s->settings);
    s->state = arena_take(memory, kind->state_bytes);
    s->extra = arena_doubles(memory, kind->extra ? kind->extra(&u->facts) : 0);
    if (kind->adapts_metric && a->kind->numbers) {
        s->own = (metric){.kind = a->kind, .d = d};
        s->own.data = arena_doubles(memory, a->kind->numbers(d));
        s->a = &s->own;
    }
    s->p = arena_doubles(memory, d);
    s->q = arena_doubles(memory, d);
    s->p_next = arena_doubles(memory, d);
    s->q_next = arena_doubles(memory, d);
    s->v = arena_doubles(memory, d);
    s->gradient = arena_doubles(memory, d);
    s->scratch = arena_doubles(memory, 2 * d + KERNEL_LANES); /* see bounds.h */
}

double sampler_curvature(const sampler *s, const double *q)
{
    return s->hessian ? quadratic_form(s->dim, s->hessian, q) : 1.0;
}

double sampler_scale(sampler *s)
{
    double sum = 0.0, *e = s->v, *u = s->scratch;
    if (!s->hessian) return 1.0;
    memset(e, 0, s->dim * sizeof *e);
    for (size_t j = 0; j < s->dim; j++) {
        e[j] = 1.0;
        s->a->kind->forward(s->a, e, u);
        sum += sampler_curvature(s, u);
        e[j] = 0.0;
    }
    return sqrt(sum / (double)s->dim);
}

/* Sets q_next, and normalises v: rounding would change |v| over millions of bounces. */
static void set_velocity(sampler *s)
{
    double scale = 1.0 / sqrt(dot(s->dim, s->v, s->v));
    for (size_t i = 0; i < s->dim; i++) s->v[i] *= scale;
    s->a->kind->forward(s->a, s->v, s->q_next);
}

void sampler_reflect(sampler *s)
{
    double *h = s->scratch;
    s->a->kind->transpose(s->a, s->gradient, h);
    double hh = dot(s->dim, h, h);
    if (hh > 0.0) {
        double c = 2.0 * dot(s->dim, s->v, h) / hh;
        for (size_t i = 0; i < s->dim; i++) s->v[i] -= c * h[i];
    }
    set_velocity(s);
}

void sampler_refresh(sampler *s, rng *random)
{
    rng_sphere(random, s->dim, s->v);
    set_velocity(s);
}

void sampler_start_metric(sampler *s, const metric *from)
{
    if (!s->own.kind) return;
    memcpy(s->own.data, from->data, s->own.kind->numbers(s->dim) * sizeof *s->own.data);
}

void sampler_update_metric(sampler *s)
{
    s->own.kind->update(&s->own, s->settings->metric_eps);
    s->own.kind->forward(&s->own, s->v, s->q_next);
}

void sampler_begin_segment(sampler *s)
{
    memcpy(s->p, s->p_next, s->dim * sizeof *s->p);
    memcpy(s->q, s->q_next, s->dim * sizeof *s->q);
}

const double *sampler_start_point(sampler *s)
{
    for (size_t j = 0; j < s->dim; j++) s->scratch[j] = s->centre[j] + s->p[j];
    return s->scratch;
}

bool sampler_accept(double rate, double bound, rng *random, event *e)
{
    double ratio = rate / bound;
    event_count_ratio(e, ratio);
    return rng_uniform(random) < ratio;
}

segment sampler_segment(const sampler *s, const flow_kind *flow, double dt, const event *end)
{
    return (segment){.flow = flow,
                     .dim = s->dim,
                     .dt = dt,
                     .centre = s->centre,
                     .p = s->p,
                     .q = s->q,
                     .end = end,
                     .q_next = s->q_next};
}

void sampler_update_velocity(sampler *s, event_kind end, rng *random)
{
    if (end != EVENT_BOUNCE) {
        sampler_refresh(s, random);
        return;
    }
    potential_gradient(s->u, s->gradient);
    sampler_reflect(s);
}

/* ---- checks of restored state ---- */

/* Warm-up changes the width of the band; everything else is as set-up chose it. */
static void inspect_settings(const sampler_settings *set, bool band, inspection *x)
{
    const double *const reals[] = {
        &set->refresh_rate, &set->band.horizon, &set->band.floor,    &set->band.chord,
        &set->band.pool,    &set->step_size,    &set->step_decay,    &set->band.learning_rate,
        &set->metric_beta,  &set->metric_eps,   &set->gradient_noise};
    const bool *const flags[] = {
        &set->band.lack_of_fit,      &set->band.keep_variance, &set->band.slope_repair,
        &set->band.process,          &set->band.weight_decay,  &set->adapt_forever,
        &set->band.auxiliary_always, &set->band.fresh_bounce,  &set->band.rejected_evidence};
    if (band)
        inspect_reals(x, "the width of the band", &set->band.width, 1, 0.0, BAND_WIDEST);
    else
        inspect_made(x, "the width of the band", &set->band.width, 1);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        inspect_made(x, "a setting of the sampler", reals[i], 1);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        inspect_same(x, "a switch of the sampler", flags[i], sizeof *flags[i]);
    inspect_same(x, "the prior of slopes", &set->band.slope_prior,
                 sizeof set->band.slope_prior);
    inspect_same(x, "the number of auxiliary observations", &set->band.auxiliary,
                 sizeof set->band.auxiliary);
    INSPECT_WHOLE(x, *set);
}

void sampler_inspect(const sampler *s, bool band, inspection *x)
{
    const double *const places[] = {s->p, s->q, s->p_next, s->q_next, s->v};
    inspect_settings(s->settings, band, x);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        inspect_reals(x, "a position or velocity", places[i], s->dim, -INSPECT_FARTHEST,
                      INSPECT_FARTHEST);
    inspect_any(x, s->gradient, s->dim * sizeof *s->gradient);
    inspect_any(x, s->scratch, (2 * s->dim + KERNEL_LANES) * sizeof *s->scratch);
    if (s->own.kind)
        inspect_reals(x, "the metric", s->own.data, s->own.kind->numbers(s->dim), DBL_MIN,
                      INSPECT_FARTHEST * INSPECT_FARTHEST);
    s->kind->inspect(s, x);
    inspect_whole(x, s->kind->name, s->state, s->kind->state_bytes);
}

/* Bouncy Particle Sampler on the full data.
 *
 *   w(t) = w + t A v,   bounces at rate G+,   G(t) = dU/dt                                (1)
 *   at a bounce  v <- v - 2 (v.h / h.h) h,    h = A' grad U                               (2)
 *   refreshments at a constant rate: v uniform on the sphere
 *
 * Where U is convex along the line the arrival is exact (exact_arrival.c). Else it is
 * thinned from bounds that are verified at every proposal (same file). With Gaussian noise of
 * sd s on every component of the gradient the rate is E (G + y)+ with y ~ N(0, sigma^2),
 * sigma = s |A v|; on a convex line it is thinned from
 *
 *   E (G + y)+ <= G+ + sigma phi(0),                                                      (3)
 *
 * by two independent Poisson processes, one of rate G+ and one of constant rate: the first
 * arrival is the proposal.
 *
 * Pakman, Gilboa, Carlson, Paninski (2017), ICML, Algorithm 1 and Theorem 1. Bouchard-Cote,
 * Vollmer, Doucet (2018), JASA 113, 855-867. */
#include "sampler/exact/bps.h"

#include "linalg/real.h"
#include "sampler/core/sampler_kinds.h"
#include "sampler/exact/exact_arrival.h"

#include <math.h>
#include <string.h>

#define FARTHEST 1e9 /* longest segment, natural units: no proper posterior is so wide */

void bps_start(sampler *s, const double *p, rng random)
{
    bps_state *state = s->state;
    *state = (bps_state){.random = random, .thinning = cell_thinning_start()};
    memcpy(s->p_next, p, s->dim * sizeof *p);
    sampler_refresh(s, &state->random);
    state->end.kind = EVENT_START;
}

/* First arrival on a convex line by (3). Without noise the arrival of rate G+ is accepted as
 * it is. */
static bool convex_arrival(exact_line *l, double sigma, rng *random, double limit, double *time)
{
    double constant = noisy_excess(sigma), height = rng_exponential(random);
    double constant_time = constant > 0.0 ? rng_exponential(random) / constant : INFINITY;
    climb c = climb_start(l);
    for (;;) {
        double end = smaller(constant_time, limit);
        bool arrived = climb_to(l, &c, height, end, time);
        if (!arrived) *time = end;
        if (!arrived && end == limit) return false;
        l->e->proposals++;
        if (constant == 0.0) return true;
        double g = exact_slope(l, *time), bound = larger(g, 0.0) + constant;
        if (rng_uniform(random) * bound < noisy_rate(g, sigma)) return true;
        if (arrived)
            height += rng_exponential(random);
        else
            constant_time += rng_exponential(random) / constant;
    }
}

double bps_advance(sampler *s, double noise)
{
    bps_state *state = s->state;
    event e = {.kind = EVENT_REFRESH};
    sampler_begin_segment(s);
    potential_set_line(s->u, sampler_start_point(s), s->q);
    exact_line l = {
        .u = s->u, .e = &e, .curvature = sampler_curvature(s, s->q), .time = NAN, .slope = NAN};
    double sigma = noise * sqrt(potential_speed2(s->u)), rate = s->settings->refresh_rate;
    double limit = FARTHEST / sqrt(l.curvature), dt;
    if (rate > 0.0) limit = smaller(limit, rng_exponential(&state->random) / rate);
    bool bounce = s->u->facts.convex ? convex_arrival(&l, sigma, &state->random, limit, &dt)
                                     : cell_thinning_arrival(&l, &state->thinning, sigma,
                                                             &state->random, limit, &dt);
    for (size_t j = 0; j < s->dim; j++) s->p_next[j] = s->p[j] + dt * s->q[j];
    if (bounce) {
        e.kind = EVENT_BOUNCE;
        state->slope = exact_slope(&l, dt);
        potential_gradient(s->u, s->gradient);
    } else {
        sampler_refresh(s, &state->random);
    }
    state->end = e;
    return dt;
}

segment bps_segment(const sampler *s, double dt)
{
    const bps_state *state = s->state;
    return sampler_segment(s, &flow_line, dt, &state->end);
}

static void bps_step(sampler *s, segment *out)
{
    double dt = bps_advance(s, 0.0);
    const bps_state *state = s->state;
    if (state->end.kind == EVENT_BOUNCE) sampler_reflect(s);
    *out = bps_segment(s, dt);
}

void bps_inspect(const sampler *s, inspection *x)
{
    const bps_state *state = s->state;
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    cell_thinning_inspect(&state->thinning, x);
    INSPECT_ANY(x, state->slope);
}

static sbps_status bps_check(const potential_facts *facts, const sampler_settings *settings,
                             sbps_error *err)
{
    (void)facts;
    if (settings->gradient_noise == 0.0) return SBPS_OK;
    return fail(
        err, SBPS_BAD_ARG,
        "--gradient-noise: bps has none; noisy-bps is bps with it, and sbps takes it too");
}

const sampler_kind sampler_bps = {
    .name = "bps",
    .summary = "bouncy particle sampler on the full data: straight segments, exact arrivals",
    .state_bytes = sizeof(bps_state),
    .full = true,
    .own_noise = true,
    .check = bps_check,
    .start = bps_start,
    .inspect = bps_inspect,
    .step = bps_step,
};

/* ---- noisy-bps ----
 *
 * Equation numbers are of this section.
 *
 * Bouncy Particle Sampler with noise n ~ N(0, s^2 I) on the gradient, drawn anew at every
 * time.
 *
 *   bounces at rate E (G + y)+,   y = n.q ~ N(0, s^2 |q|^2),   q = A v                    (1)
 *   at a bounce y is drawn in proportion to (G + y)+ N(y; 0, s^2 |q|^2), the rest of n from
 *   N(0, s^2 I) given n.q = y, and v is reflected in h = A' (grad U + n)                  (2)
 *
 * Theorem 1: the posterior stays invariant. A Cox process with unbounded noise cannot be
 * thinned by observing it; averaging the rate over the noise, which is independent at
 * different times, is exact.
 *
 * Pakman, Gilboa, Carlson, Paninski (2017), ICML, section 3 and Figure 1. */

/* (2): adds n to the gradient. */
static void add_noise(sampler *s, double noise)
{
    bps_state *state = s->state;
    double speed2 = potential_speed2(s->u), along = 0.0;
    double y = noisy_draw(&state->random, state->slope, noise * sqrt(speed2));
    for (size_t j = 0; j < s->dim; j++) {
        s->scratch[j] = noise * rng_normal(&state->random);
        along += s->scratch[j] * s->q[j];
    }
    double shift = (y - along) / speed2;
    for (size_t j = 0; j < s->dim; j++) s->gradient[j] += s->scratch[j] + shift * s->q[j];
}

static void noisy_bps_step(sampler *s, segment *out)
{
    const bps_state *state = s->state;
    double noise = s->settings->gradient_noise, dt = bps_advance(s, noise);
    if (state->end.kind == EVENT_BOUNCE) {
        if (noise > 0.0) add_noise(s, noise);
        sampler_reflect(s);
    }
    *out = bps_segment(s, dt);
}

static sbps_status noisy_bps_check(const potential_facts *facts,
                                   const sampler_settings *settings, sbps_error *err)
{
    (void)facts;
    if (settings->gradient_noise > 0.0) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG,
                "noisy-bps needs --gradient-noise above 0; without noise the sampler is bps");
}

const sampler_kind sampler_noisy_bps = {
    .name = "noisy-bps",
    .summary = "bps with Gaussian noise on every component of the gradient (Figure 1), exact",
    .state_bytes = sizeof(bps_state),
    .full = true,
    .own_noise = true,
    .check = noisy_bps_check,
    .start = bps_start,
    .inspect = bps_inspect,
    .step = noisy_bps_step,
};

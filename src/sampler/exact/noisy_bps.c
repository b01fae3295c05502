/* Bouncy Particle Sampler with noise n ~ N(0, s^2 I) on the gradient, drawn anew at every
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
#include "sampler/core/sampler_kinds.h"
#include "sampler/exact/bps.h"
#include "sampler/exact/slope_noise.h"

#include <math.h>

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

/* Lipschitz SBPS: mini-batches of n >= 1 rows under an exact bound instead of a band.
 *
 *   G~(t) = d/dt -log prior + (N/n) sum_batch g_i,   g_i = -weight_i d/dt log p_i           (1)
 *   g_i  <= L weight_i |A'x_i|  for |v| = 1, L = max |d log p/d eta| (logistic: 1), so that
 *   G~(t) <= N max_i L weight_i |A'x_i| + slope + rate t + rest                             (2)
 *
 * with slope + rate t the slope of quadratic priors along the segment and `rest` a bound of
 * the others. Arrivals under (2) are inverted exactly; a proposal becomes a bounce with
 * probability G~+ over (2), as in SBPS, and no bounce is missed. The printed bound sqrt(d) N
 * max |x_ij| is (2) without a metric and a little looser.
 *
 * Pakman, Gilboa, Carlson, Paninski (2017), ICML, section 7.1 and Supplement H. */
#include "sampler/core/sampler_kinds.h"
#include "sampler/exact/thinning.h"

#include <string.h>

typedef struct {
    rng random;
    event end;
    double bound; /* of the rows' part of (2) */
} lipsbps_state;

static sbps_status lipsbps_check(const potential_facts *facts, const sampler_settings *settings,
                                 sbps_error *err)
{
    (void)settings;
    return bounds_check(facts, "lipsbps", err);
}

static void lipsbps_start(sampler *s, const double *p, rng random)
{
    lipsbps_state *state = s->state;
    double largest = bounds_norms(s->u, thinning_map(s), s->scratch, NULL);
    *state = (lipsbps_state){.random = random};
    state->bound = (1.0 + BOUND_SLACK) * (double)s->u->facts.rows * largest;
    memcpy(s->p_next, p, s->dim * sizeof *p);
    sampler_refresh(s, &state->random);
}

/* Advances to a bounce or a refreshment; returns the time. */
static double advance_to_event(sampler *s, lipsbps_state *state, event *e)
{
    double t = 0.0, refresh_at = thinning_refresh_at(s, &state->random);
    prior_line line = bounds_prior_line(s->u);
    double start = state->bound + line.slope + line.rest;
    for (;;) {
        t += linear_arrival(start + line.rate * t, line.rate, rng_exponential(&state->random));
        if (!(t < refresh_at)) { /* also for NaN */
            e->kind = EVENT_REFRESH;
            return refresh_at;
        }
        observation o = potential_observe(s->u, t);
        e->rows += o.rows;
        if (!sampler_accept(o.slope, start + line.rate * t, &state->random, e)) continue;
        e->kind = EVENT_BOUNCE;
        return t;
    }
}

static void lipsbps_step(sampler *s, segment *out)
{
    lipsbps_state *state = s->state;
    event e = {0};
    thinning_begin_segment(s);
    double dt = advance_to_event(s, state, &e);
    sampler_update_velocity(s, e.kind, &state->random);
    state->end = e;
    thinning_end_segment(s, dt, &state->end, out);
}

static void lipsbps_inspect(const sampler *s, inspection *x)
{
    const lipsbps_state *state = s->state;
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    inspect_made(x, "the bound of the rows", &state->bound, 1);
}

const sampler_kind sampler_lipsbps = {
    .name = "lipsbps",
    .summary = "SBPS with one row a batch under an exact bound: no bias, many proposals; "
               "logistic only",
    .state_bytes = sizeof(lipsbps_state),
    .control_variate = "none",
    .batch = 1,
    .bounded = true,
    .check = lipsbps_check,
    .start = lipsbps_start,
    .inspect = lipsbps_inspect,
    .step = lipsbps_step,
};

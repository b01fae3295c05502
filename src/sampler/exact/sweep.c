/* Sweeps of conditional updates for models with group effects, see posterior/sweep/sweep.h: one
 * step draws the effects of all levels, factor by factor, standard deviations and correlations,
 * fixed effects and auxiliary parameters. Exact: every update leaves the posterior invariant.
 *
 * Papaspiliopoulos, Roberts, Zanella (2020), Biometrika 107, 25-40. */
#include "posterior/sweep/sweep.h"
#include "sampler/core/discrete.h"
#include "sampler/core/sampler_kinds.h"

#include <string.h>

#define WARMUP_STEPS 60

typedef struct {
    discrete_state base;
    uint64_t adapting;
} conditional_state;

static size_t sweep_extra(const potential_facts *facts)
{
    return facts->sweep_numbers;
}

static sbps_status sweep_check(const potential_facts *facts, const sampler_settings *settings,
                               sbps_error *err)
{
    (void)settings;
    if (facts->effects) return SBPS_OK;
    return fail(
        err, SBPS_BAD_ARG,
        "--sampler: sweep draws the effects of groups, and this model has none: use hmc "
        "or leave the option out");
}

/* s->p_next = w - centre */
static void take_point(sampler *s, const double *w)
{
    for (size_t j = 0; j < s->dim; j++) s->p_next[j] = w[j] - s->centre[j];
}

static void sweep_begin(sampler *s, const double *p, rng random)
{
    conditional_state *state = s->state;
    *state = (conditional_state){0};
    discrete_start(s, &state->base, p, random);
    memcpy(s->scratch, s->centre, s->dim * sizeof *s->scratch);
    sweep_start(s->u->sweep, p, s->scratch, s->extra);
    take_point(s, s->scratch);
    memcpy(s->p, s->p_next, s->dim * sizeof *s->p);
}

static void sweep_advance(sampler *s, segment *out)
{
    conditional_state *state = s->state;
    uint64_t count = state->base.steps;
    discrete_begin(s, &state->base);
    double passes = sweep_step(s->u->sweep, &state->base.random, count, state->adapting,
                               s->extra, s->scratch);
    take_point(s, s->scratch);
    state->base.end.rows = (uint64_t)(passes * (double)s->u->batch);
    discrete_end(s, &state->base, out);
}

static void sweep_adapt(sampler *s, bool on)
{
    ((conditional_state *)s->state)->adapting = on;
}

static void sweep_check_state(const sampler *s, inspection *x)
{
    const conditional_state *state = s->state;
    discrete_inspect(&state->base, x);
    INSPECT_COUNT(x, state->adapting, 1);
    if (s->u->sweep) sweep_inspect(s->u->sweep, s->extra, x);
}

const sampler_kind sampler_sweep = {
    .name = "sweep",
    .summary = "Gibbs and Metropolis sweeps of a mixed model: all levels of a factor at once, "
               "crossed or nested; exact",
    .state_bytes = sizeof(conditional_state),
    .extra = sweep_extra,
    .metric = "none",
    .control_variate = "none",
    .full = true,
    .discrete = true,
    .means_suffice = true,
    .warmup = WARMUP_STEPS,
    .conditional = true,
    .check = sweep_check,
    .start = sweep_begin,
    .inspect = sweep_check_state,
    .step = sweep_advance,
    .adapt = sweep_adapt,
};

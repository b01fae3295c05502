/* Independent draws from the prior: every step is a new draw, and no row is evaluated. */
#include "sampler/core/prior_sampler.h"
#include "sampler/core/discrete.h"

/* Moves to a new draw. Where there is none the position is NAN, which ends the run. */
static void draw(sampler *s, discrete_state *state)
{
    potential_draw_prior(s->u, &state->random, s->scratch);
    for (size_t j = 0; j < s->dim; j++) s->p_next[j] = s->scratch[j] - s->centre[j];
}

/* The start is a draw, too; p is not used. */
static void prior_start(sampler *s, const double *p, rng random)
{
    discrete_start(s, s->state, p, random);
    draw(s, s->state);
}

static void prior_step(sampler *s, segment *out)
{
    discrete_begin(s, s->state);
    draw(s, s->state);
    discrete_end(s, s->state, out);
}

const sampler_kind sampler_prior = {
    .name = "prior", /* PRIOR_SAMPLER of store/result.h */
    .summary = "independent draws from the prior; rows are left out",
    .state_bytes = sizeof(discrete_state),
    .metric = "none",
    .control_variate = "none",
    .full = true,
    .discrete = true,
    .independent = true,
    .means_suffice = true,
    .start = prior_start,
    .inspect = discrete_inspect_kind,
    .step = prior_step,
};

/* Pareto-smoothed importance sampling from a Student t at the mode, on the full data.
 *
 *   w = centre + A (m + x sqrt(n / c)),   x normal, c chi-squared with n = 2d + 6,          (1)
 *   log weight = -U(w) - log q(w)
 *
 * in sets of proposals. When a set is complete its weights are smoothed (linalg/pareto.h),
 * and the proposals become the path: each is held for a time equal to its weight, the mean
 * of which is 1. So averages over time are weighted ones, draws at equal times are
 * systematic resampling, and an ESS of the path is 1 / sum of squared weights. Proposals are
 * not stored but generated again from the same random numbers; steps that evaluate proposals
 * take no time.
 *
 * m is the posterior mean to first order in its third derivatives, from differences of
 * gradients:
 *
 *   m = -A' (g + (1/2) sum_j (g_j+ + g_j- - 2 g)),                                          (2)
 *
 * with g at the centre and g_j+- at one sd along axis j of A, where A A' is the inverse
 * Hessian; else 0.
 *
 * Vehtari, Simpson, Gelman, Yao, Gabry (2024), JMLR 25(72). */
#include "linalg/dense_matrix.h"
#include "linalg/pareto.h"
#include "sampler/core/discrete.h"
#include "sampler/core/sampler_kinds.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SET          ((size_t)500)
#define MEAN_DIM_MAX ((size_t)100) /* largest d for which (2) is worth its gradients */

typedef struct {
    discrete_state base;
    rng replay;                   /* generates the proposals of the set again */
    uint64_t at;                  /* proposals of this set evaluated and, from SET on, held */
    uint64_t sets;                /* complete sets */
    uint64_t unpaid;              /* rows evaluated before the first step, to be counted */
    double width;                 /* scale of proposals: 1 where A A' is the inverse Hessian */
    double raw[SET], weight[SET]; /* log weights; smoothed weights of mean 1 */
    ranked_weight scratch[SET];
} importance_state;

/* m, z and w of a proposal. */
static size_t importance_extra(const potential_facts *facts)
{
    return 3 * facts->dim;
}

/* ---- the mean ---- */

/* out += factor * grad U at centre + along * A e_j. */
static void add_gradient_at(sampler *s, size_t j, double along, double factor, double *out)
{
    double *w = s->extra + 2 * s->dim;
    memset(s->v, 0, s->dim * sizeof *s->v);
    s->v[j] = along;
    s->a->kind->forward(s->a, s->v, w);
    for (size_t i = 0; i < s->dim; i++) w[i] += s->centre[i];
    potential_fresh_gradient(s->u, w, s->gradient);
    add_scaled(s->dim, factor, s->gradient, out);
}

/* Sets m by (2), or 0 where the correction is not small. Without a Hessian of its own the
 * sampler has a metric with A A' = H^-1. */
static void find_mean(sampler *s, importance_state *state)
{
    double *mean = s->extra, *sum = s->extra + s->dim, d = (double)s->dim;
    memset(mean, 0, s->dim * sizeof *mean);
    if (s->hessian || s->dim > MEAN_DIM_MAX) return;
    memset(sum, 0, s->dim * sizeof *sum);
    add_gradient_at(s, 0, 0.0, 1.0 - d, sum);
    for (size_t j = 0; j < s->dim; j++) {
        add_gradient_at(s, j, 1.0, 0.5, sum);
        add_gradient_at(s, j, -1.0, 0.5, sum);
    }
    state->unpaid = (2 * s->dim + 1) * s->u->batch;
    s->a->kind->transpose(s->a, sum, mean);
    bool small = dot(s->dim, mean, mean) < d;
    for (size_t j = 0; j < s->dim; j++) mean[j] = small ? -mean[j] : 0.0;
}

static void importance_start(sampler *s, const double *p, rng random)
{
    importance_state *state = s->state;
    memset(state, 0, sizeof *state);
    state->width = 1.0 / sampler_scale(s);
    find_mean(s, state);
    discrete_start(s, &state->base, p, random);
    state->replay = state->base.random;
}

/* ---- proposals ---- */

/* Draws a proposal into s->p; returns log q. */
static double draw_proposal(sampler *s, const importance_state *state, rng *random)
{
    const double *mean = s->extra;
    double *z = s->extra + s->dim, c = 0.0, square = 0.0;
    size_t d = s->dim, half = d + 3;
    for (size_t i = 0; i < half; i++) c += rng_exponential(random);
    double scale = sqrt((double)half / c), n = 2.0 * (double)half;
    for (size_t j = 0; j < d; j++) {
        double x = scale * rng_normal(random);
        square += x * x;
        z[j] = mean[j] + state->width * x;
    }
    s->a->kind->forward(s->a, z, s->p);
    memcpy(s->p_next, s->p, d * sizeof *s->p);
    return -0.5 * (n + (double)d) * log1p(square / n);
}

/* Smooths the weights of a complete set, and scales them to mean 1. */
static void weigh_set(importance_state *state)
{
    double top = -INFINITY, sum = 0.0;
    memcpy(state->weight, state->raw, sizeof state->weight);
    pareto_smooth(SET, state->weight, state->scratch);
    for (size_t i = 0; i < SET; i++) top = fmax(top, state->weight[i]);
    for (size_t i = 0; i < SET; i++) sum += exp(state->weight[i] - top);
    for (size_t i = 0; i < SET; i++)
        state->weight[i] = (double)SET * exp(state->weight[i] - top) / sum;
    state->sets++;
}

/* Evaluates a proposal. */
static void weigh_proposal(sampler *s, importance_state *state)
{
    double value, sd, *w = s->extra + 2 * s->dim;
    if (state->at == 0) state->replay = state->base.random;
    double q = draw_proposal(s, state, &state->base.random);
    for (size_t j = 0; j < s->dim; j++) w[j] = s->centre[j] + s->p[j];
    potential_value(s->u, w, &value, &sd);
    state->raw[state->at] = isfinite(value) ? -value - q : -DBL_MAX;
    state->base.end.proposals = 1;
    state->base.end.rows = s->u->batch + state->unpaid;
    state->unpaid = 0;
    if (state->at + 1 == SET) weigh_set(state);
}

/* Evaluates a proposal, or holds one of a complete set for its weight. */
static void importance_step(sampler *s, segment *out)
{
    importance_state *state = s->state;
    double dt = 0.0;
    state->base.end = (event){.kind = EVENT_STEP};
    if (state->at < SET) {
        weigh_proposal(s, state);
    } else {
        draw_proposal(s, state, &state->replay);
        dt = state->weight[state->at - SET];
    }
    state->at = (state->at + 1) % (2 * SET);
    state->base.steps++;
    *out = sampler_segment(s, &flow_still, dt, &state->base.end);
}

/* Log weights of the last complete set; those of the next replace them one by one. */
static const double *importance_weights(const sampler *s, size_t *count)
{
    const importance_state *state = s->state;
    *count = state->sets > 0 ? SET : 0;
    return state->raw;
}

static void importance_inspect(const sampler *s, inspection *x)
{
    const importance_state *state = s->state;
    discrete_inspect(&state->base, x);
    rng_inspect(&state->replay, x);
    INSPECT_COUNT(x, state->at, 2 * SET - 1);
    INSPECT_ANY(x, state->sets);
    INSPECT_ANY(x, state->unpaid);
    inspect_made(x, "the width of proposals", &state->width, 1);
    inspect_finite(x, "a weight", state->raw, SET);
    inspect_reals(x, "a weight", state->weight, SET, 0.0, (double)SET);
    INSPECT_ANY(x, state->scratch);
    inspect_made(x, "the mean", s->extra, s->dim);
    inspect_any(x, s->extra + s->dim, 2 * s->dim * sizeof *s->extra);
}

const sampler_kind sampler_importance = {
    .name = "importance",
    .summary =
        "Pareto-smoothed importance sampling from a Student t at the mode, on the full data; "
        "k-hat is stated, and refused above 0.7",
    .state_bytes = sizeof(importance_state),
    .extra = importance_extra,
    .control_variate = "none",
    .full = true,
    .discrete = true,
    .independent = true,
    .start = importance_start,
    .inspect = importance_inspect,
    .step = importance_step,
    .weights = importance_weights,
};

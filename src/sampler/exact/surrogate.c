/* Independence Metropolis from a Student t at the reference, evaluated on few random rows.
 *
 *   w' = reference + A z',   z' = m + x sqrt(n / c),                                       (1)
 *   log q(z) = -(n + d)/2 log(1 + |z - m|^2 / n),      x normal, c chi^2 with n degrees
 *
 * with m the posterior mean by third derivatives and n = 6 + 2d/(1 + b), b the squared distance
 * by which third derivatives move the mean from the mode: where that is large, tails are
 * heavier too.
 *
 * With T(w) the potential by the rows' Taylor polynomials of second order (with exact
 * priors), which is known without rows, and R = U - T, the step is accepted with probability
 *
 *   min(1, exp(T(w) - T(w')) q(z)/q(z') r(s)),   r(s) of bounds_compare,                    (2)
 *
 * for which exp(-R') P'(s) = exp(-R) P(s) r(s), s being the rows that were drawn: detailed
 * balance holds for each s, so it does overall. t has heavier tails than any log-concave
 * posterior: with a normal the chain would stay for long where the posterior is the wider
 * one.
 *
 * The first proposal is always accepted: chains start so far out that they would otherwise
 * stay there.
 *
 * Prado, Nemeth, Sherlock (2024), arXiv 2407.19602; Cornish et al. (2019), ICML, PMLR 97;
 * Zhang, Cooper, De Sa (2020), NeurIPS 33. */
#include "linalg/dense_matrix.h"
#include "posterior/minibatch/bounds.h"
#include "sampler/core/discrete.h"
#include "sampler/core/sampler_kinds.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
    discrete_state base;
    double taylor; /* T at the position */
    double width;  /* scale of proposals: 1 where A A' is the covariance */
    uint64_t begun;
} surrogate_state;

/* Vectors of dim numbers in the arena. */
typedef struct {
    double *z, *z_next;
    double *w, *w_next;
} surrogate_vectors;

static size_t surrogate_extra(const potential_facts *facts)
{
    return 4 * facts->dim;
}

static surrogate_vectors vectors(const sampler *s)
{
    double *x = s->extra;
    return (surrogate_vectors){x, x + s->dim, x + 2 * s->dim, x + 3 * s->dim};
}

static const double *reference(const sampler *s)
{
    return s->u->reference ? s->u->reference : s->centre;
}

static void surrogate_start(sampler *s, const double *p, rng random)
{
    surrogate_state *state = s->state;
    surrogate_vectors x = vectors(s);
    *state = (surrogate_state){0};
    state->width = 1.0 / sampler_scale(s);
    discrete_start(s, &state->base, p, random);
    memset(x.z, 0, s->dim * sizeof *x.z);
    memcpy(x.w, reference(s), s->dim * sizeof *x.w);
}

/* ---- a step ---- */

/* Half of n of (1). */
static size_t half_freedom(const sampler *s)
{
    return 3 + (size_t)((double)s->dim / (1.0 + bounds_skew(s->u)));
}

/* log q(z) of (1). */
static double log_density(const sampler *s, const double *z)
{
    const double *mean = bounds_mean(s->u);
    const surrogate_state *state = s->state;
    double n = 2.0 * (double)half_freedom(s), square = 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        double x = (z[j] - (mean ? mean[j] : 0.0)) / state->width;
        square += x * x;
    }
    return -0.5 * (n + (double)s->dim) * log1p(square / n);
}

/* Draws z' and w' of (1). */
static void propose_point(sampler *s, surrogate_state *state)
{
    surrogate_vectors x = vectors(s);
    rng *random = &state->base.random;
    const double *mean = bounds_mean(s->u);
    size_t half = half_freedom(s);
    /* c/2: chi-squared with an even number of degrees is a sum of exponentials */
    double c = 0.0;
    for (size_t i = 0; i < half; i++) c += rng_exponential(random);
    double scale = state->width * sqrt((double)half / c);
    for (size_t j = 0; j < s->dim; j++)
        x.z_next[j] = (mean ? mean[j] : 0.0) + scale * rng_normal(random);
    s->a->kind->forward(s->a, x.z_next, x.w_next);
    for (size_t j = 0; j < s->dim; j++) x.w_next[j] += reference(s)[j];
}

/* Accepts the proposal with probability (2). */
static bool accept_proposal(sampler *s, surrogate_state *state, double taylor)
{
    surrogate_vectors x = vectors(s);
    event *e = &state->base.end;
    rng *random = &state->base.random;
    size_t d = s->dim;
    point_pair pair = {.from = x.w, .to = x.w_next, .from_square = dot(d, x.z, x.z)};
    pair.to_square = dot(d, x.z_next, x.z_next);
    pair.product = dot(d, x.z, x.z_next);
    double gain = state->taylor - taylor + log_density(s, x.z) - log_density(s, x.z_next);
    if (!isfinite(gain)) return false; /* rejected without evaluating rows */
    pair_ratio ratio = bounds_compare(s->u, &pair, random);
    e->rows += ratio.rows;
    e->violations += ratio.over;
    return -rng_exponential(random) < gain + ratio.log_ratio;
}

/* Proposes a point, and accepts it by (2). */
static void surrogate_step(sampler *s, segment *out)
{
    surrogate_state *state = s->state;
    surrogate_vectors x = vectors(s);
    size_t bytes = s->dim * sizeof *x.z;
    discrete_begin(s, &state->base);
    propose_point(s, state);
    double taylor = bounds_taylor(s->u, x.w_next);
    bool taken = state->begun ? accept_proposal(s, state, taylor) : isfinite(taylor);
    if (taken) {
        state->begun = true;
        state->taylor = taylor;
        memcpy(x.z, x.z_next, bytes);
        memcpy(x.w, x.w_next, bytes);
        for (size_t j = 0; j < s->dim; j++) s->p_next[j] = x.w[j] - s->centre[j];
    }
    discrete_end(s, &state->base, out);
}

static void surrogate_inspect(const sampler *s, inspection *x)
{
    const surrogate_state *state = s->state;
    discrete_inspect(&state->base, x);
    INSPECT_REAL(x, state->taylor, -DBL_MAX, DBL_MAX);
    inspect_made(x, "the width of proposals", &state->width, 1);
    INSPECT_COUNT(x, state->begun, 1);
    inspect_reals(x, "a position", s->extra, surrogate_extra(&s->u->facts), -INSPECT_FARTHEST,
                  INSPECT_FARTHEST);
}

static sbps_status surrogate_check(const potential_facts *facts,
                                   const sampler_settings *settings, sbps_error *err)
{
    (void)settings;
    return bounds_check_third(facts, "surrogate", err);
}

const sampler_kind sampler_surrogate = {
    .name = "surrogate",
    .summary =
        "independence Metropolis from a Student t at the mode, weighed on a random few of "
        "the rows under exact bounds; exact, logistic and poisson only",
    .state_bytes = sizeof(surrogate_state),
    .extra = surrogate_extra,
    .control_variate = "hessian",
    .batch = 1,
    .chooses_row = true,
    .bounded = true,
    .pairs = true,
    .discrete = true,
    .check = surrogate_check,
    .start = surrogate_start,
    .inspect = surrogate_inspect,
    .step = surrogate_step,
};

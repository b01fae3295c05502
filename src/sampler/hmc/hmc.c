/* Hamiltonian Monte Carlo on the full data, in z = A^-1 (w - centre) with unit mass.
 *
 *   H(z, v) = U(centre + A z) + |v|^2 / 2,      v ~ N(0, I) anew before every trajectory    (1)
 *   leapfrog:  v -= e/2 h(z),  z += e v,  v -= e/2 h(z),      h = A' grad U                 (2)
 *   the end of L leapfrogs is accepted with probability min(1, exp(H - H'))                 (3)
 *
 * so a leapfrog costs one pass over all rows, the last of which gives the energy too. Where
 * h is not finite the trajectory ends; then, and where H' is not finite, it is rejected. If
 * U or h is not finite at the start no trajectory can begin: the chain has failed.
 *
 * Adapted in warm-up, then frozen: log e by dual averaging towards the acceptance TARGET
 * (Hoffman, Gelman 2014, JMLR 15, 1593-1623, eq. 6), and the length T of a trajectory by
 * maximising
 *
 *   C(T) = E[(|z' - m|^2 - |z - m|^2)^2] / 4,                                            (4)
 *   dC/dT = E[(|z' - m|^2 - |z - m|^2) (z' - m).v']
 *
 * (Hoffman, Radul, Sountsov 2021, AISTATS, PMLR 130, 3907-3915): where the posterior is
 * Gaussian and A its own metric, T = pi/2, a quarter turn, after which z' is independent of
 * z. L is T/e, jittered, and rounded up or down at random, so that no direction is sampled
 * in its own period.
 *
 * Where the posterior decreases far more steeply on one side of a coordinate than on the
 * other, that coordinate is warped: full_target.h. This changes the speed, not the
 * posterior. */
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "sampler/core/sampler_kinds.h"
#include "sampler/hmc/full_target.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* acceptance: 0.75 and 0.8 did best of 0.55..0.85, docs/samplers/hmc.md */
#define TARGET    0.75
#define JITTER    0.2    /* T is uniform in (1 +- JITTER) T */
#define STEPS_MAX 1000.0 /* most leapfrogs of one trajectory */
#define QUARTER   1.5707963267948966

/* Dual averaging. */
#define SHRINK   0.05
#define DELAY    10.0
#define FORGET   0.75
#define FIRST_UP 10.0 /* its goal for e, in units of the first e */
/* Maximising (4) by Adam on log T. */
#define ADAM_RATE 0.025
#define ADAM_1    0.9
#define ADAM_2    0.95

typedef struct {
    rng random;
    event end;
    double energy; /* U at z */
    double step, length;
    uint64_t adapting, count; /* trajectories since adaptation began */
    double goal, error;   /* dual averaging: log of FIRST_UP e, mean of TARGET - acceptance */
    double slope, slope2; /* Adam's averages */
    /* averages over the warm-up in which later values count more */
    double log_step, log_length;
    uint64_t unpaid; /* rows evaluated before the first step, to be counted */
} hmc_state;

/* Vectors of dim numbers in the arena. */
typedef struct {
    double *z, *h;     /* the chain's position, and A' grad U there */
    double *at, *h_at; /* the same along the trajectory; v is s->v */
    double *mean;      /* of z, while adapting */
    double *x;         /* A z of the last evaluation */
} hmc_vectors;

static size_t hmc_extra(const potential_facts *facts)
{
    return 6 * facts->dim;
}

static hmc_vectors vectors(const sampler *s)
{
    double *x = s->extra;
    size_t d = s->dim;
    return (hmc_vectors){x, x + d, x + 2 * d, x + 3 * d, x + 4 * d, x + 5 * d};
}

/* z of the start, its gradient and energy, and the initial step and length. */
static void hmc_start(sampler *s, const double *p, rng random)
{
    hmc_vectors x = vectors(s);
    hmc_state *state = s->state;
    double scale = sampler_scale(s), requested = s->settings->step_size;
    *state = (hmc_state){.random = random};
    state->length = QUARTER / scale;
    /* stable in dim dimensions */
    state->step = requested > 0.0 ? requested : 1.0 / (scale * sqrt((double)s->dim));
    full_coordinates(s, p, x.x, x.z);
    memcpy(s->p_next, p, s->dim * sizeof *p);
    memset(s->q, 0, s->dim * sizeof *s->q);
    memset(s->q_next, 0, s->dim * sizeof *s->q_next);
    full_gradient(s, x.z, x.x, x.h, &state->energy);
    state->unpaid = s->u->batch;
}

/* ---- adaptation ---- */

/* Begins adaptation, or ends it by freezing the weighted averages. */
static void hmc_adapt(sampler *s, bool on)
{
    hmc_state *state = s->state;
    if (!on && state->count > 0) {
        if (!(s->settings->step_size > 0.0)) state->step = exp(state->log_step);
        state->length = exp(state->log_length);
    }
    state->adapting = on;
    state->count = 0;
    state->goal = log(FIRST_UP * state->step);
    state->error = state->slope = state->slope2 = 0.0;
    state->log_step = log(state->step);
    state->log_length = log(state->length);
    memset(vectors(s).mean, 0, s->dim * sizeof(double));
}

/* d C/d log T of the trajectory from z to `at`, by (4). */
static double criterion_slope(const sampler *s, const hmc_vectors *x)
{
    double from = 0.0, to = 0.0, along = 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        double a = x->z[j] - x->mean[j], b = x->at[j] - x->mean[j];
        from += a * a;
        to += b * b;
        along += b * s->v[j];
    }
    return (to - from) * along;
}

/* One step of Adam on log T, by the slope of (4). */
static void adapt_length(hmc_state *state, double slope)
{
    double n = (double)state->count;
    state->slope = ADAM_1 * state->slope + (1.0 - ADAM_1) * slope;
    state->slope2 = ADAM_2 * state->slope2 + (1.0 - ADAM_2) * slope * slope;
    double first = state->slope / (1.0 - pow(ADAM_1, n));
    double second = sqrt(state->slope2 / (1.0 - pow(ADAM_2, n)));
    double log_length = log(state->length);
    if (second > 0.0) log_length += ADAM_RATE * first / second;
    log_length = smaller(log_length, log(STEPS_MAX * state->step));
    state->length = exp(log_length);
    state->log_length += pow(n, -FORGET) * (log_length - state->log_length);
}

/* Adapts step and length after a trajectory. */
static void adapt(sampler *s, hmc_state *state, double acceptance)
{
    hmc_vectors x = vectors(s);
    state->count++;
    if (acceptance > 0.0) adapt_length(state, acceptance * criterion_slope(s, &x));
    if (!(s->settings->step_size > 0.0)) {
        /* One update of dual averaging, towards the acceptance TARGET. */
        double n = (double)state->count;
        state->error += (TARGET - acceptance - state->error) / (n + DELAY);
        double log_step = state->goal - sqrt(n) / SHRINK * state->error;
        state->step = exp(log_step);
        state->log_step += pow(n, -FORGET) * (log_step - state->log_step);
    }
    for (size_t j = 0; j < s->dim; j++)
        x.mean[j] += (x.z[j] - x.mean[j]) / (double)(state->count + 1);
}

/* ---- a trajectory ---- */

/* v -= e h. */
static void kick(size_t d, double *v, double e, const double *h)
{
    for (size_t j = 0; j < d; j++) v[j] -= e * h[j];
}

/* The number L of leapfrogs: T/e, jittered, and rounded at random. */
static size_t draw_steps(hmc_state *state)
{
    double t = state->length * (1.0 + JITTER * (2.0 * rng_uniform(&state->random) - 1.0));
    double steps = floor(t / state->step + rng_uniform(&state->random));
    return (size_t)larger(1.0, smaller(steps, STEPS_MAX));
}

/* Leapfrogs (2) from z into x->at; returns U there, NAN if it diverged. */
static double leapfrog_steps(sampler *s, hmc_state *state, hmc_vectors *x, size_t steps)
{
    size_t d = s->dim;
    double e = state->step, energy = NAN;
    memcpy(x->at, x->z, d * sizeof *x->at);
    kick(d, s->v, 0.5 * e, x->h);
    for (size_t i = 1; i <= steps; i++) {
        for (size_t j = 0; j < d; j++) x->at[j] += e * s->v[j];
        full_gradient(s, x->at, x->x, x->h_at, i < steps ? NULL : &energy);
        state->end.rows += s->u->batch;
        if (!isfinite(dot(d, x->h_at, x->h_at))) return NAN;
        kick(d, s->v, i < steps ? e : 0.5 * e, x->h_at);
    }
    return energy;
}

/* One trajectory, accepted or rejected. */
static void run_trajectory(sampler *s, hmc_state *state)
{
    hmc_vectors x = vectors(s);
    size_t d = s->dim;
    for (size_t j = 0; j < d; j++) s->v[j] = rng_normal(&state->random);
    double before = state->energy + 0.5 * dot(d, s->v, s->v);
    double energy = leapfrog_steps(s, state, &x, draw_steps(state));
    double after = energy + 0.5 * dot(d, s->v, s->v);
    double acceptance = isfinite(after) ? exp(-larger(after - before, 0.0)) : 0.0;
    if (state->adapting) adapt(s, state, acceptance);
    if (rng_uniform(&state->random) < acceptance) {
        memcpy(x.z, x.at, d * sizeof *x.z);
        memcpy(x.h, x.h_at, d * sizeof *x.h);
        state->energy = energy;
        full_position(s, x.z, x.x, s->p_next);
    }
    /* diverged: the velocity is not used again, and a checkpoint must not hold one so large */
    if (!(acceptance > 0.0)) memset(s->v, 0, d * sizeof *s->v);
}

static void hmc_step(sampler *s, segment *out)
{
    hmc_state *state = s->state;
    const double *h = vectors(s).h;
    size_t d = s->dim;
    state->end = (event){.kind = EVENT_STEP, .proposals = 1, .rows = state->unpaid};
    state->unpaid = 0;
    memcpy(s->p, s->p_next, d * sizeof *s->p); /* kept until the next state is known */
    state->end.failed = !isfinite(state->energy) || !isfinite(dot(d, h, h));
    if (!state->end.failed) run_trajectory(s, state);
    *out = sampler_segment(s, &flow_still, 1.0, &state->end);
}

static void hmc_inspect(const sampler *s, inspection *x)
{
    const hmc_state *state = s->state;
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    INSPECT_REAL(x, state->energy, -DBL_MAX, DBL_MAX);
    INSPECT_REAL(x, state->step, DBL_MIN, DBL_MAX);
    INSPECT_REAL(x, state->length, DBL_MIN, DBL_MAX);
    INSPECT_COUNT(x, state->adapting, 1);
    INSPECT_ANY(x, state->count);
    const double *const learned[] = {&state->goal,   &state->error,    &state->slope,
                                     &state->slope2, &state->log_step, &state->log_length};
    for (size_t i = 0; i < sizeof learned / sizeof *learned; i++)
        inspect_finite(x, "the adapted state of hmc", learned[i], 1);
    INSPECT_ANY(x, state->unpaid);
    inspect_any(x, s->extra, 6 * s->dim * sizeof *s->extra);
    inspect_finite(x, "a position or gradient", s->extra, 2 * s->dim); /* z, h */
}

const sampler_kind sampler_hmc = {
    .name = "hmc",
    .summary =
        "Hamiltonian Monte Carlo on the full data: leapfrogs in the metric, step and length "
        "adapted in warm-up; exact",
    .state_bytes = sizeof(hmc_state),
    .extra = hmc_extra,
    .full = true,
    .warped = true,
    .discrete = true,
    .remedy =
        "where it started the posterior or its gradient is not finite; mh may start anywhere",
    .start = hmc_start,
    .inspect = hmc_inspect,
    .step = hmc_step,
    .adapt = hmc_adapt,
};

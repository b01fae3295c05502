/* Local Bouncy Particle Sampler: one factor per row, the prior split evenly over them.
 *
 *   U = sum_i U_i,   U_i = -weight_i log p_i - (1/N) log prior
 *   factor i bounces with rate G_i+ = (d/dt U_i)+,                                          (1)
 *   v <- v - 2 (v.h / h.h) h,  h = A' grad U_i
 *   G_i <= b_i + P(t)+/N,   b_i = L weight_i |A'x_i|,   P(t) = slope + rate t + rest        (2)
 *
 * P bounds the prior's slope along the segment. The N Poisson processes under (2) are
 * simulated as two: one of rate sum b_i, whose arrival belongs to row i with probability b_i
 * / sum b, and one of rate P+, whose arrival belongs to a uniformly drawn row. Thinned by
 * G_i+ over (2) they are (1), without a queue. The rows of G_i are those of a mini-batch of
 * one, so the process is that of lipsbps at n = 1 with sum b_i proposals where lipsbps makes
 * N max b_i.
 *
 * Bouchard-Cote, Vollmer, Doucet (2018), JASA 113, section 3.3. */
#include "linalg/real.h"
#include "sampler/core/sampler_kinds.h"
#include "sampler/exact/thinning.h"

#include <string.h>

typedef struct {
    rng random;
    event end;
} local_state;

/* One bound per row. */
static size_t row_count(const potential_facts *facts)
{
    return facts->rows;
}

static sbps_status local_check(const potential_facts *facts, const sampler_settings *settings,
                               sbps_error *err)
{
    (void)settings;
    return bounds_check(facts, "local-bps", err);
}

/* extra[i] = b_0 + ... + b_i. A fraction of the largest is added to every row to make up for
 * rounding of the sum. */
static void local_start(sampler *s, const double *p, rng random)
{
    local_state *state = s->state;
    size_t n = s->u->facts.rows;
    double largest = bounds_norms(s->u, thinning_map(s), s->scratch, s->extra), sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += s->extra[i] + BOUND_SLACK * largest;
        s->extra[i] = sum;
    }
    *state = (local_state){.random = random};
    memcpy(s->p_next, p, s->dim * sizeof *p);
    sampler_refresh(s, &state->random);
}

/* The row in whose interval of the cumulative sums x lies. */
static size_t find_row(const double *sums, size_t n, double x)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sums[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Advances to a bounce or a refreshment; returns the time. */
static double advance_to_event(sampler *s, local_state *state, event *e)
{
    rng *random = &state->random;
    size_t n = s->u->facts.rows;
    const double *sums = s->extra;
    double t = 0.0, refresh_at = thinning_refresh_at(s, random);
    prior_line line = bounds_prior_line(s->u);
    double start = line.slope + line.rest, total = sums[n - 1];
    for (;;) {
        double of_rows = rng_exponential(random) / total;
        double of_prior =
            linear_arrival(start + line.rate * t, line.rate, rng_exponential(random));
        t += smaller(of_rows, of_prior);
        if (!(t < refresh_at)) { /* also for NaN */
            e->kind = EVENT_REFRESH;
            return refresh_at;
        }
        size_t row = of_rows < of_prior ? find_row(sums, n, total * rng_uniform(random))
                                        : rng_below(random, n);
        double b = row ? sums[row] - sums[row - 1] : sums[0];
        bounds_select_row(s->u, row);
        observation o = potential_observe_again(s->u, t); /* N G_i */
        e->rows += o.rows;
        double bound = (double)n * b + larger(start + line.rate * t, 0.0);
        if (!sampler_accept(o.slope, bound, random, e)) continue;
        e->kind = EVENT_BOUNCE;
        return t;
    }
}

static void local_step(sampler *s, segment *out)
{
    local_state *state = s->state;
    event e = {0};
    thinning_begin_segment(s);
    double dt = advance_to_event(s, state, &e);
    sampler_update_velocity(s, e.kind, &state->random);
    state->end = e;
    thinning_end_segment(s, dt, &state->end, out);
}

static void local_inspect(const sampler *s, inspection *x)
{
    const local_state *state = s->state;
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    inspect_made(x, "the bound of the rows", s->extra, s->u->facts.rows);
}

const sampler_kind sampler_local_bps = {
    .name = "local-bps",
    .summary =
        "local bouncy particle sampler: every row bounces on its own under a bound of its "
        "own; exact, logistic only",
    .state_bytes = sizeof(local_state),
    .extra = row_count,
    .control_variate = "none",
    .batch = 1,
    .chooses_row = true,
    .bounded = true,
    .check = local_check,
    .start = local_start,
    .inspect = local_inspect,
    .step = local_step,
};

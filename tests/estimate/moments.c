/* Time averages: exact integrals, batches that add up to the path, errors that cover the truth.
 * */
#include "check.h"
#include "core/rng.h"
#include "estimate/path_moments.h"

#define DIM 3

static const double centre[DIM] = {2.0, -1.0, 0.3};
static const reported_value plain[DIM];

typedef struct {
    moments m;
    arena memory;
} estimate;

static estimate estimate_make(size_t dim, const reported_value *report, double length)
{
    estimate e = {0};
    moments_carve(&e.m, dim, report, centre, &e.memory);
    e.memory = (arena){.base = aligned_zeroed(e.memory.used), .size = e.memory.used};
    moments_carve(&e.m, dim, report, centre, &e.memory);
    moments_start(&e.m, length);
    return e;
}

static void take(estimate *e, size_t dim, double dt, const double *p, const double *q)
{
    static const event end = {.kind = EVENT_REFRESH};
    segment s = {.flow = &flow_line,
                 .dim = dim,
                 .dt = dt,
                 .centre = centre,
                 .p = p,
                 .q = q,
                 .end = &end,
                 .q_next = q};
    moments_take(&e->m, &s);
}

/* ---- integrals ---- */

typedef struct {
    double time, mean[DIM], square[DIM];
} sampled;

/* A random continuous path, given to the estimator and sampled densely as well. */
static sampled random_path(estimate *e, const reported_value *report, size_t segments)
{
    const size_t fine = 400;
    rng r = rng_stream(1, 0, RNG_TEST);
    double p[DIM] = {0.5, 0.0, -0.2}, q[DIM];
    sampled s = {0};
    for (size_t i = 0; i < segments; i++) {
        double dt = rng_exponential(&r), h = dt / (double)fine;
        for (size_t j = 0; j < DIM; j++) q[j] = rng_normal(&r) - 0.5 * p[j];
        q[2] *= 0.3; /* five nodes resolve exp over a segment of a few sds, no more */
        take(e, DIM, dt, p, q);
        for (size_t j = 0; j < DIM; j++)
            for (size_t k = 0; k < fine; k++) {
                double w = centre[j] + p[j] + h * ((double)k + 0.5) * q[j];
                double x = report[j] ? report[j](w) : w;
                s.mean[j] += h * x;
                s.square[j] += h * x * x;
            }
        for (size_t j = 0; j < DIM; j++) p[j] += dt * q[j];
        s.time += dt;
    }
    for (size_t j = 0; j < DIM; j++) {
        s.mean[j] /= s.time;
        s.square[j] /= s.time;
    }
    return s;
}

TEST(mean_and_sd_are_those_of_the_path_sampled_densely)
{
    static const reported_value logged[DIM] = {NULL, NULL, exp};
    const reported_value *reports[] = {plain, logged};
    for (size_t i = 0; i < 2; i++) {
        estimate e = estimate_make(DIM, reports[i], 0.25);
        sampled s = random_path(&e, reports[i], 600);
        for (size_t j = 0; j < DIM; j++) {
            moment_summary got = moments_summarize(&e.m, 1, j);
            double sd = sqrt(s.square[j] - s.mean[j] * s.mean[j]);
            CHECK_NEAR(got.mean, s.mean[j], 1e-4);
            CHECK_NEAR(got.sd, sd, 1e-4);
        }
        free(e.memory.base);
    }
}

/* int e^(c + p + t q) dt in closed form, over pieces no longer than a batch. */
TEST(exponential_of_a_coordinate_has_its_closed_form)
{
    static const reported_value report[1] = {exp};
    static const double slopes[] = {1.5, -0.8, 0.01};
    for (size_t i = 0; i < 3; i++) {
        double p = -0.4, q = slopes[i], dt = 2.0, from = exp(centre[0] + p),
               to = exp(centre[0] + p + dt * q);
        double mean = (to - from) / q / dt, square = (to * to - from * from) / (2.0 * q) / dt;
        estimate e = estimate_make(1, report, 0.5);
        take(&e, 1, dt, &p, &q);
        moment_summary got = moments_summarize(&e.m, 1, 0);
        CHECK_NEAR(got.mean, mean, 1e-9);
        CHECK_NEAR(got.sd, sqrt(square - mean * mean), 1e-7);
        free(e.memory.base);
    }
}

TEST(batches_merge_without_losing_mass)
{
    rng r = rng_stream(2, 0, RNG_TEST);
    estimate e = estimate_make(DIM, plain, 0.01);
    size_t merged = 0;
    for (size_t i = 0; i < 3000; i++) {
        double p[DIM], q[DIM], before = e.m.state->length;
        for (size_t j = 0; j < DIM; j++) {
            p[j] = rng_normal(&r);
            q[j] = rng_normal(&r);
        }
        take(&e, DIM, rng_exponential(&r), p, q);
        merged += e.m.state->length != before;
        if (i % 100) continue;
        const moments_state *s = e.m.state;
        CHECK_NEAR((double)s->full * s->length + s->filled, s->time, 1e-10);
        for (size_t j = 0; j < 2 * DIM; j++) {
            double sum = e.m.part[j];
            for (size_t b = 0; b < s->full; b++) sum += e.m.batches[b * 2 * DIM + j];
            CHECK_NEAR(sum, e.m.sum[j], 1e-10);
        }
    }
    CHECK(merged > 5 && e.m.state->full >= MOMENT_BATCHES / 2);
    free(e.memory.base);
}

/* w(t) = t: batch i of length L holds the mean (i + 1/2) L. */
TEST(batches_are_consecutive_parts_of_equal_time)
{
    rng r = rng_stream(3, 0, RNG_TEST);
    estimate e = estimate_make(1, plain, 0.05);
    double time = 0.0, one = 1.0;
    for (size_t i = 0; i < 500; i++) {
        double dt = rng_exponential(&r);
        take(&e, 1, dt, &time, &one);
        time += dt;
    }
    double length = e.m.state->length;
    for (size_t b = 0; b < e.m.state->full; b++)
        CHECK_NEAR(e.m.batches[2 * b] / length, ((double)b + 0.5) * length, 1e-9);
    free(e.memory.base);
}

TEST(start_resets_everything)
{
    double p[DIM] = {3, 2, 1}, q[DIM] = {1, 1, 1};
    estimate used = estimate_make(DIM, plain, 0.1), fresh = estimate_make(DIM, plain, 0.2);
    take(&used, DIM, 30.0, p, q);
    moments_start(&used.m, 0.2);
    take(&used, DIM, 9.0, q, p);
    take(&fresh, DIM, 9.0, q, p);
    for (size_t j = 0; j < DIM; j++) {
        moment_summary a = moments_summarize(&used.m, 1, j);
        moment_summary b = moments_summarize(&fresh.m, 1, j);
        CHECK(a.mean == b.mean && a.sd == b.sd && a.ess_mean == b.ess_mean);
    }
    free(used.memory.base);
    free(fresh.memory.base);
}

/* ---- errors ---- */

/* Paths whose time average has a known variance: s2 = lim T Var(mean). */
typedef enum { STEPS, RANDOM_STEPS, LINES, SLOW_STEPS } path_kind;

typedef struct {
    const char *name;
    path_kind kind;
    double variance; /* of x in time */
    double s2;
    double square_fraction; /* s2 of (x - mean)^2 over Var (x - mean)^2; 0: not known */
} known_path;

/* Values X_i ~ N(0,1). STEPS: X_i for time 1. RANDOM_STEPS: for an exponential time, s2 =
 * E dt^2 / E dt = 2. LINES: from X_i to X_i+1 in time 1, Var = int (1-s)^2 + s^2 = 2/3.
 * SLOW_STEPS: X is AR(1) with coefficient 0.8, s2 = 1.8/0.2 and for squares 1.64/0.36. */
static const known_path known_paths[] = {
    {"steps", STEPS, 1.0, 1.0, 1.0},
    {"random steps", RANDOM_STEPS, 1.0, 2.0, 2.0},
    {"lines", LINES, 2.0 / 3.0, 1.0, 0.0},
    {"slow steps", SLOW_STEPS, 1.0, 9.0, 1.64 / 0.36},
};

static void run_known(estimate *e, path_kind kind, rng *r, size_t segments, double shift)
{
    double x = rng_normal(r);
    for (size_t i = 0; i < segments; i++) {
        double next = kind == SLOW_STEPS ? 0.8 * x + 0.6 * rng_normal(r) : rng_normal(r);
        double dt = kind == RANDOM_STEPS ? rng_exponential(r) : 1.0;
        double p = x + shift, q = kind == LINES ? next - x : 0.0;
        take(e, 1, dt, &p, &q);
        x = next;
    }
}

#define REPEATS  ((size_t)200)
#define SEGMENTS ((size_t)4000)

/* The initial sequence estimator is conservative: variances are up to a quarter too large. */
TEST(errors_and_ess_are_those_of_paths_with_a_known_correlation)
{
    for (size_t k = 0; k < sizeof known_paths / sizeof *known_paths; k++) {
        const known_path *path = &known_paths[k];
        double z2 = 0.0, mcse2 = 0.0, ess = 0.0, square = 0.0, sd = 0.0;
        for (size_t i = 0; i < REPEATS; i++) {
            rng r = rng_stream(4 + k, i, RNG_TEST);
            estimate e = estimate_make(1, plain, 0.25);
            run_known(&e, path->kind, &r, SEGMENTS, 0.0);
            moment_summary s = moments_summarize(&e.m, 1, 0);
            double miss = s.mean - centre[0], time = e.m.state->time;
            z2 += miss * miss / (s.mcse * s.mcse) / REPEATS;
            mcse2 += s.mcse * s.mcse * time / path->s2 / REPEATS;
            ess += s.ess_mean * path->s2 / path->variance / time / REPEATS;
            square += s.ess_square * path->square_fraction / time / REPEATS;
            sd += s.sd / REPEATS;
            free(e.memory.base);
        }
        CHECK(z2 > 0.55 && z2 < 1.35); /* 1 less the bias, within five errors */
        CHECK(mcse2 > 0.98 && mcse2 < 1.25);
        CHECK(ess > 0.88 && ess < 1.06);
        if (path->square_fraction > 0.0) CHECK(square > 0.9 && square < 1.1);
        CHECK(fabs(sd - sqrt(path->variance)) < 0.01);
    }
}

TEST(too_little_path_states_no_error)
{
    estimate e = estimate_make(1, plain, 1.0);
    double p = 0.3, q = 0.1;
    take(&e, 1, 5.5, &p, &q);
    moment_summary s = moments_summarize(&e.m, 1, 0);
    CHECK(isnan(s.mcse) && isnan(s.rhat));
    CHECK(moments_min_ess(&e.m, 1) == 0.0);
    free(e.memory.base);
}

/* ---- several chains ---- */

TEST(chains_are_pooled_by_time)
{
    estimate chain[2] = {estimate_make(1, plain, 0.25), estimate_make(1, plain, 0.25)};
    double a = 1.0, b = -2.0, zero = 0.0;
    take(&chain[0], 1, 30.0, &a, &zero);
    take(&chain[1], 1, 10.0, &b, &zero);
    moments both[2] = {chain[0].m, chain[1].m};
    moment_summary s = moments_summarize(both, 2, 0);
    CHECK_NEAR(s.mean, centre[0] + 0.25, TOL_SUM);
    CHECK_NEAR(s.sd, sqrt(0.75 * 1.0 + 0.25 * 4.0 - 0.0625), TOL_SUM);
    free(chain[0].memory.base);
    free(chain[1].memory.base);
}

TEST(chains_that_disagree_lower_the_ess_and_raise_rhat)
{
    static const double shifts[] = {0.0, 0.5, 2.0};
    double ess = INFINITY, rhat = 0.0;
    for (size_t i = 0; i < 3; i++) {
        estimate chain[2] = {estimate_make(1, plain, 0.25), estimate_make(1, plain, 0.25)};
        rng r = rng_stream(9, 0, RNG_TEST);
        for (size_t c = 0; c < 2; c++)
            run_known(&chain[c], STEPS, &r, SEGMENTS, c ? shifts[i] : 0.0);
        moments both[2] = {chain[0].m, chain[1].m};
        moment_summary s = moments_summarize(both, 2, 0);
        if (i == 0) CHECK(s.rhat < 1.01 && s.ess_mean > 1.2 * (double)SEGMENTS);
        if (i == 1) CHECK(s.rhat > 1.02 && s.ess_mean < 0.2 * (double)SEGMENTS);
        if (i == 2) CHECK(s.rhat > 1.5 && s.ess_mean < 0.05 * (double)SEGMENTS);
        CHECK(s.ess_mean < ess && s.rhat > rhat);
        CHECK(moments_min_ess(both, 2) <= fmin(s.ess_mean, s.ess_square));
        ess = s.ess_mean;
        rhat = s.rhat;
        free(chain[0].memory.base);
        free(chain[1].memory.base);
    }
}

/* Chains at rest for half of the time at m - s, for half at m + s: m = 1, 3 and 4, 8, so that
 * groups have means 2 and 6 and variances 2 and 8 between chains, s^2 = 1 within. */
TEST(groups_of_chains_are_apart_by_nested_rhat)
{
    static const double at[] = {1.0, 3.0, 4.0, 8.0};
    estimate chain[4];
    moments all[4];
    for (size_t c = 0; c < 4; c++) {
        double low = at[c] - 1.0, high = at[c] + 1.0, zero = 0.0;
        chain[c] = estimate_make(1, plain, 0.25);
        take(&chain[c], 1, 10.0, &low, &zero);
        take(&chain[c], 1, 10.0, &high, &zero);
        all[c] = chain[c].m;
    }
    CHECK_NEAR(moments_nested_rhat(all, 2, 2), sqrt(1.0 + 8.0 / (0.5 * (2.0 + 8.0) + 1.0)),
               TOL_SUM);
    CHECK(moments_nested_rhat(all, 4, 1) == moments_summarize(all, 4, 0).rhat);
    CHECK(isnan(moments_nested_rhat(all, 1, 4)));
    for (size_t c = 0; c < 4; c++) free(chain[c].memory.base);
}

TEST(the_slowest_coordinate_counts)
{
    estimate e = estimate_make(2, plain, 0.25);
    rng r = rng_stream(10, 0, RNG_TEST);
    double x[2] = {0.0, 0.0}, still[2] = {0.0, 0.0};
    for (size_t i = 0; i < SEGMENTS; i++) {
        x[0] = rng_normal(&r);
        x[1] = 0.9 * x[1] + sqrt(1.0 - 0.81) * rng_normal(&r);
        take(&e, 2, 1.0, x, still);
    }
    double slow = moments_summarize(&e.m, 1, 1).ess_mean;
    CHECK(moments_min_ess(&e.m, 1) == slow);
    CHECK(slow < 0.2 * moments_summarize(&e.m, 1, 0).ess_mean);
    free(e.memory.base);
}

CHECK_MAIN

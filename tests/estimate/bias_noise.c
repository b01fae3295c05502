/* The response to missed bounces if slopes are observed with noise.
 *
 * A bouncy particle that knows its slope s but bounces off g~ = g + noise, drawn afresh:
 * proposals have the rate L = max(s + k c, floor), the bounce happens with probability min(1,
 * G~/L), G~ = u.g~, c = sd of G~, and (G~/L - 1)+ more are missing. Noise turns s = u'Hx into
 * some s_r that is not -s. Then the velocity is not enough: a missed bounce leaves s^2 too
 * small or too large until refreshments and bounces restore it. Coordinates are exchangeable,
 * so that their means are compared. */
#include "check.h"
#include "core/rng.h"
#include "estimate/bias_response.h"
#include "estimate/path_moments.h"
#include "store/draw_store.h"

#define DIM   10
#define BOUND 10.0
#define FLOOR 0.1
#define NEAR  0.3 /* tolerance: higher orders, and the truncated expansion */

typedef struct {
    bool skew;    /* U = sum e^x - 3 x, log Gamma(3); else the standard Gaussian */
    double speed; /* in posterior sds per unit time; the numbers below are for speed 1 */
    double band;  /* k */
    double noise; /* sd of a slope */
    double refresh;
    double time;
} target;

static double curvature(const target *t)
{
    return t->skew ? 3.0 : 1.0;
}

static double slope(const target *t, double x)
{
    return t->skew ? exp(x) - 3.0 : x;
}

typedef struct {
    arena memory;
    event_counts *counts;
    bias b;
    moments m;
    draws d;
    path_sinks all;
} sinks;

static void sinks_carve(sinks *k, const double *centre, const double *hessian)
{
    static const reported_value plain[DIM];
    k->memory.used = 0;
    k->counts = arena_take(&k->memory, sizeof *k->counts);
    bias_carve(&k->b, DIM, hessian, k->counts, &k->memory);
    moments_carve(&k->m, DIM, plain, centre, &k->memory);
    draws_carve(&k->d, DIM, 10000, &k->memory);
}

static void sinks_make(sinks *k, const double *centre, const double *hessian, double batch)
{
    *k = (sinks){0};
    sinks_carve(k, centre, hessian);
    k->memory = (arena){.base = aligned_zeroed(k->memory.used), .size = k->memory.used};
    sinks_carve(k, centre, hessian);
    bias_start(&k->b);
    moments_start(&k->m, batch);
    draws_start(&k->d, batch);
    sinks_add(&k->all, k->counts, event_counts_take);
    sinks_add(&k->all, &k->b, bias_take);
    sinks_add(&k->all, &k->m, moments_take);
    sinks_add(&k->all, &k->d, draws_take);
}

/* Proposes at x along u; on a bounce u is reflected. */
static event propose(const target *t, rng *r, const double *x, double *u)
{
    event e = {.kind = EVENT_STEP, .proposals = 1};
    double g[DIM], ug = 0.0, gg = 0.0, exact = 0.0;
    rng_sphere(r, DIM, g);
    for (size_t j = 0; j < DIM; j++) {
        double here = slope(t, x[j]);
        g[j] = here + sqrt(curvature(t) * DIM) * t->noise * g[j];
        exact += u[j] * here;
        ug += u[j] * g[j];
        gg += g[j] * g[j];
    }
    double limit = fmax(exact + t->band * t->noise * t->speed, FLOOR * t->speed);
    if (rng_uniform(r) * BOUND * t->speed >= fmin(ug, limit)) return e;
    e.kind = EVENT_BOUNCE;
    e.missing = fmax(ug / limit - 1.0, 0.0);
    for (size_t j = 0; j < DIM; j++) u[j] -= 2.0 * ug / gg * g[j];
    return e;
}

static void refresh(const target *t, rng *r, double *u)
{
    rng_sphere(r, DIM, u);
    for (size_t j = 0; j < DIM; j++) u[j] *= t->speed / sqrt(curvature(t));
}

static void run_path(const target *t, sinks *k, const double *centre, uint64_t seed)
{
    rng r = rng_stream(seed, 0, RNG_TEST);
    double p[DIM] = {0}, q[DIM], x[DIM], u[DIM];
    refresh(t, &r, q);
    for (double now = 0.0, at = 0.0; at < t->time / t->speed; now = 0.0) {
        event e = {.kind = EVENT_STEP};
        double until = rng_exponential(&r) / (t->refresh * t->speed);
        memcpy(u, q, sizeof u);
        while (e.kind == EVENT_STEP) {
            now += rng_exponential(&r) / (BOUND * t->speed);
            if (now > until) {
                now = until;
                e.kind = EVENT_REFRESH;
                refresh(t, &r, u);
                break;
            }
            for (size_t j = 0; j < DIM; j++) x[j] = centre[j] + p[j] + now * q[j];
            e = propose(t, &r, x, u);
        }
        segment s = {.flow = &flow_line,
                     .dim = DIM,
                     .dt = now,
                     .centre = centre,
                     .p = p,
                     .q = q,
                     .end = &e,
                     .q_next = u};
        sinks_take(&k->all, &s);
        for (size_t j = 0; j < DIM; j++) p[j] += now * q[j];
        memcpy(q, u, sizeof q);
        at += now;
    }
}

static void precision(const void *self, const double *x, double *y)
{
    const target *t = self;
    for (size_t j = 0; j < DIM; j++) y[j] = curvature(t) / (t->speed * t->speed) * x[j];
}

static void precision_one(const void *self, const double *x, double *y)
{
    const double *variance = self;
    *y = *x / *variance;
}

typedef struct {
    double mean, sd;           /* stated, averaged over coordinates, in sds */
    double true_mean, true_sd; /* of the path */
    double error;              /* Monte Carlo, of true_mean */
} outcome;

static outcome compare(const target *t, bool even, uint64_t seed)
{
    /* digamma and trigamma of 3 */
    double exact = t->skew ? 0.92278433509846714 : 0.0;
    double sd = t->skew ? sqrt(0.39493406684822644) : 1.0;
    double centre[DIM], hessian[DIM * DIM] = {0}, mean[DIM], spread[DIM];
    outcome o = {0};
    sinks k;
    for (size_t j = 0; j < DIM; j++) {
        centre[j] = t->skew ? log(3.0) : 0.0;
        hessian[j * DIM + j] = curvature(t);
    }
    sinks_make(&k, centre, even ? hessian : NULL, 0.5 / t->speed);
    run_path(t, &k, centre, seed);
    for (size_t i = 0; i < k.d.state->count * DIM; i++) k.d.w[i] -= centre[i % DIM];
    draw_block block = {k.d.w, k.d.state->count};
    precision_map map = {t, precision};
    double error[2 * DIM];
    bias_statement out = {mean, error, spread, error + DIM};
    CHECK(bias_respond(&k.b, 1, &block, map, &out, NULL) == SBPS_OK);
    for (size_t j = 0; j < DIM; j++) {
        moment_summary s = moments_summarize(&k.m, 1, j);
        o.mean += mean[j] / DIM;
        o.sd += spread[j] / DIM;
        o.true_mean += (s.mean - exact) / sd / DIM;
        o.true_sd += (s.sd / sd - 1.0) / DIM;
        o.error += s.mcse * s.mcse / (sd * sd * DIM * DIM);
    }
    o.error = sqrt(o.error);
    free(k.memory.base);
    return o;
}
/* |stated - truth| within NEAR of it and the noise of the run. */
static void check_near(const char *what, double stated, double truth, double noise)
{
    if (fabs(stated - truth) <= NEAR * fabs(truth) + 2.0 * noise) return;
    printf("%s: stated %g, true %g\n", what, stated, truth);
    check_failures++;
}

static const target gaussian = {
    .speed = 1.0, .band = 1.2, .noise = 0.5, .refresh = 0.1, .time = 3e5};
static const target skew = {
    .skew = true, .speed = 1.0, .band = 1.2, .noise = 0.5, .refresh = 0.2, .time = 3e5};

TEST(bounces_missed_by_noise_widen_the_spread_as_stated)
{
    target noisier = gaussian;
    noisier.noise = 1.0;
    noisier.band = 1.5;
    outcome o = compare(&gaussian, true, 1), n = compare(&noisier, true, 2);
    CHECK(o.true_sd > 0.04 && n.true_sd > 0.03); /* else the test would be empty */
    check_near("sd", o.sd, o.true_sd, 0.5 * o.error);
    check_near("sd, more noise", n.sd, n.true_sd, 0.5 * n.error);
}

TEST(bounces_missed_by_noise_shift_the_mean_of_a_skew_distribution_as_stated)
{
    outcome o = compare(&skew, true, 3);
    CHECK(o.true_mean < -10.0 * o.error);
    check_near("mean", o.mean, o.true_mean, o.error);
}

/* The response by the velocity alone, without the Hessian, is far too small here. */
TEST(the_velocity_alone_is_not_enough)
{
    outcome o = compare(&gaussian, false, 1);
    CHECK(o.sd < 0.6 * o.true_sd);
}

/* Time has no unit: the same path at three times the speed gives the same statement. */
TEST(speed_does_not_count)
{
    target slow = skew, fast;
    slow.time = 1e4;
    fast = slow;
    fast.speed = 3.0;
    outcome a = compare(&slow, true, 4), b = compare(&fast, true, 4);
    CHECK_NEAR(a.true_mean, b.true_mean, 1e-9);
    CHECK_NEAR(a.mean, b.mean, 1e-9);
    CHECK_NEAR(a.sd, b.sd, 1e-9);
}

/* Equations (a) to (g) of bias.c in one dimension, with artificial sums. */
TEST(one_dimension_agrees_with_the_formulas)
{
    const double h = 2.0, c = 0.4, x[5] = {-1.0, -0.5, 0.25, 1.0, 3.0};
    const double mean = 0.55, square = 2.45, third = 1.97775; /* of x; over 5, 4 and 5 */
    double shift, spread;
    arena memory = {0};
    bias b;
    event_counts counts = {.time = 10.0};
    bias_carve(&b, 1, &h, &counts, &memory);
    memory = (arena){.base = aligned_zeroed(memory.used), .size = memory.used};
    bias_carve(&b, 1, &h, &counts, &memory);
    bias_start(&b);
    *b.state = (bias_state){.steepness = -3.0, .decay = -4.0, .sampled = 2.0};
    b.push[0] = 0.7;
    b.second[0] = 1.3;
    b.jump[0] = -0.9;
    b.jump_second[0] = 2.1;
    draw_block block = {x, 5};
    precision_map map = {&c, precision_one};
    double error[2];
    bias_statement out = {&shift, &error[0], &spread, &error[1]};
    CHECK(bias_respond(&b, 1, &block, map, &out, NULL) == SBPS_OK);
    double excess = -0.15, twice = h * c * h * c; /* -(-3/10) / (-4/2) */
    double m = 0.07 + excess * (-0.45 + 2.0 * mean * twice);
    double q = 0.13 + excess * (1.05 + 2.0 * (square + mean * mean) * twice) - mean * m;
    CHECK_NEAR(spread, 0.5 * q / c, 1e-12);
    CHECK_NEAR(shift, (square * m / c + 0.5 * third * q / c / square) / sqrt(square), 1e-12);
    free(memory.base);
}

CHECK_MAIN

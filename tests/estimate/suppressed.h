/* Processes with a known shift.
 *
 * A bouncy particle whose bounces are suppressed with probability e(x, v) has the bounce rate
 * (1 - e) G+ and records at every bounce that e/(1 - e) more were missed. If e is constant its
 * stationary density is exp(-(1 - e) U). In one dimension, with e for v > 0 alone, it is the
 * Gaussian with precision 1 - e on the right and 1 on the left: rate(x,+) - rate(x,-) is the
 * slope of minus its log density. */
#ifndef TESTS_ESTIMATE_SUPPRESSED_H
#define TESTS_ESTIMATE_SUPPRESSED_H

#include "check.h"
#include "core/rng.h"
#include "estimate/bias_response.h"
#include "estimate/path_moments.h"
#include "store/draw_store.h"

#define DIM_MAX 3

typedef struct {
    size_t d;
    double refresh;
    double a[DIM_MAX][DIM_MAX]; /* metric: u = A v */
    double h[DIM_MAX][DIM_MAX]; /* Gaussian: U = x'Hx/2; unused with `shape` */
    double shape;               /* > 0: U = e^x - shape x in one dimension, skew */
    double up, down;            /* suppression for v_0 > 0 and for v_0 <= 0 */
    double rare;                /* > 0: only this many bounces record missed ones, for all */
    double centre[DIM_MAX];     /* positions are kept relative to it */
} target;

typedef struct {
    arena memory;
    event_counts *counts;
    bias b;
    moments m;
    draws d;
    path_sinks all;
} sinks;

static void sinks_carve(sinks *k, size_t d, const double *centre)
{
    static const reported_value plain[DIM_MAX];
    k->memory.used = 0;
    k->counts = arena_take(&k->memory, sizeof *k->counts);
    bias_carve(&k->b, d, NULL, k->counts, &k->memory);
    moments_carve(&k->m, d, plain, centre, &k->memory);
    draws_carve(&k->d, d, 4000, &k->memory);
}

static void sinks_make(sinks *k, size_t d, const double *centre)
{
    *k = (sinks){0};
    sinks_carve(k, d, centre);
    k->memory = (arena){.base = aligned_zeroed(k->memory.used), .size = k->memory.used};
    sinks_carve(k, d, centre);
    bias_start(&k->b);
    moments_start(&k->m, 0.5);
    draws_start(&k->d, 0.5);
    sinks_add(&k->all, k->counts, event_counts_take);
    sinks_add(&k->all, &k->b, bias_take);
    sinks_add(&k->all, &k->m, moments_take);
    sinks_add(&k->all, &k->d, draws_take);
}

static double dot(size_t d, const double *x, const double *y)
{
    double s = 0.0;
    for (size_t j = 0; j < d; j++) s += x[j] * y[j];
    return s;
}

static void gradient(const target *t, const double *x, double *g)
{
    if (t->shape > 0.0)
        g[0] = exp(x[0]) - t->shape;
    else
        for (size_t i = 0; i < t->d; i++) g[i] = dot(t->d, t->h[i], x);
}

/* Time at which the integral of G+ reaches `mass`. */
static double bounce_time(const target *t, const double *x, const double *u, double mass)
{
    if (t->shape > 0.0) { /* U(x + ut) - U(x or mode) = mass, by bisection */
        double mode = log(t->shape), from = u[0] * (mode - x[0]) > 0.0 ? mode : x[0];
        double goal = exp(from) - t->shape * from + mass, near = from, far = from + 1e3 * u[0];
        for (size_t i = 0; i < 80; i++) {
            double mid = 0.5 * (near + far);
            if (exp(mid) - t->shape * mid < goal)
                near = mid;
            else
                far = mid;
        }
        return (near - x[0]) / u[0];
    }
    double g[DIM_MAX], hu[DIM_MAX];
    gradient(t, x, g);
    gradient(t, u, hu);
    double at = dot(t->d, u, g), rise = dot(t->d, u, hu);
    return (-at + sqrt(fmax(at, 0.0) * fmax(at, 0.0) + 2.0 * rise * mass)) / rise;
}

static void reflect(const target *t, const double *g, double *v)
{
    double h[DIM_MAX] = {0};
    for (size_t i = 0; i < t->d; i++)
        for (size_t j = 0; j < t->d; j++) h[j] += t->a[i][j] * g[i];
    double c = 2.0 * dot(t->d, v, h) / dot(t->d, h, h);
    for (size_t j = 0; j < t->d; j++) v[j] -= c * h[j];
}

static void forward(const target *t, const double *v, double *u)
{
    for (size_t i = 0; i < t->d; i++) u[i] = dot(t->d, t->a[i], v);
}

/* Of a bounce, to lambda. Rare ones have a tail with the power -3 that begins below lambda: by
 * the half on average they exceed it, so that a share of about half of them is missing. */
static double slope_ratio(const target *t, double e, rng *r)
{
    if (!(t->rare > 0.0) || e == 0.0) return 1.0 + e / (1.0 - e);
    return cbrt(t->rare / (1.0 - rng_uniform(r)));
}

/* The suppression for a given fraction of violations. */
__attribute__((unused)) static double rare_fraction(double rare)
{
    return 0.5 * rare / (1.0 + 0.5 * rare);
}

/* Simulates the suppressed process exactly for this much time. */
static void run_suppressed(const target *t, sinks *k, double time, uint64_t seed)
{
    rng r = rng_stream(seed, 0, RNG_TEST);
    double x[DIM_MAX] = {t->shape > 0.0 ? log(t->shape) : 0.0}, v[DIM_MAX], u[DIM_MAX];
    double next[DIM_MAX], g[DIM_MAX];
    rng_sphere(&r, t->d, v);
    forward(t, v, u);
    while (k->counts->time < time) {
        double e = v[0] > 0.0 ? t->up : t->down;
        double bounce = bounce_time(t, x, u, rng_exponential(&r) / (1.0 - e));
        double refresh = rng_exponential(&r) / t->refresh, dt = fmin(bounce, refresh);
        double from[DIM_MAX];
        event end = {.kind = bounce < refresh ? EVENT_BOUNCE : EVENT_REFRESH};
        for (size_t j = 0; j < t->d; j++) from[j] = x[j] - t->centre[j];
        for (size_t j = 0; j < t->d; j++) x[j] += dt * u[j];
        if (end.kind == EVENT_BOUNCE) {
            gradient(t, x, g);
            reflect(t, g, v);
            event_count_ratio(&end, slope_ratio(t, e, &r));
        } else {
            rng_sphere(&r, t->d, v);
        }
        forward(t, v, next);
        segment s = {.flow = &flow_line,
                     .dim = t->d,
                     .dt = dt,
                     .centre = t->centre,
                     .p = from,
                     .q = u,
                     .end = &end,
                     .q_next = next};
        sinks_take(&k->all, &s);
        memcpy(u, next, sizeof u);
    }
}

/* (A A')^-1 for at most two dimensions, or for A = I. */
static void precision(const void *self, const double *x, double *y)
{
    const target *t = self;
    if (t->d == 2) {
        double p = t->a[0][0], q = t->a[0][1], r = t->a[1][0], s = t->a[1][1];
        double m00 = p * p + q * q, m01 = p * r + q * s, m11 = r * r + s * s;
        double det = m00 * m11 - m01 * m01;
        y[0] = (m11 * x[0] - m01 * x[1]) / det;
        y[1] = (m00 * x[1] - m01 * x[0]) / det;
    } else {
        memcpy(y, x, t->d * sizeof *y);
    }
}

typedef struct {
    double mean[DIM_MAX], sd[DIM_MAX];             /* stated shifts, in sds */
    double mean_error[DIM_MAX], sd_error[DIM_MAX]; /* and their errors */
    moment_summary path[DIM_MAX];
} response;

__attribute__((unused)) static response respond(const target *t, double time, uint64_t seed)
{
    response r;
    sinks k;
    sinks_make(&k, t->d, t->centre);
    run_suppressed(t, &k, time, seed);
    for (size_t i = 0; i < k.d.state->count * t->d; i++) k.d.w[i] -= t->centre[i % t->d];
    draw_block block = {k.d.w, k.d.state->count};
    precision_map map = {t, precision};
    bias_statement out = {r.mean, r.mean_error, r.sd, r.sd_error};
    CHECK(bias_respond(&k.b, 1, &block, map, &out, NULL) == SBPS_OK);
    for (size_t j = 0; j < t->d; j++) r.path[j] = moments_summarize(&k.m, 1, j);
    free(k.memory.base);
    return r;
}

#endif

/* Proposals per second of one chain on one core, and where the nanoseconds go:
 *
 *   name  N  n  d  ns per proposal  proposals per second   (whole sampler, sinks attached)
 *   and below it the parts, each timed alone, in ns per call and per proposal.
 *
 * Data of the paper's 7.1. Processor time of this thread, so that a shared machine disturbs
 * less; the best of REPEATS. */
#include "estimate/bias.h"
#include "estimate/path_moments.h"
#include "ingest/ingest.h"
#include "posterior/minibatch/minibatch.h"
#include "posterior/mode/mode.h"
#include "sampler/core/sampler.h"
#include "store/draw_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DIM     20
#define REPEATS 5
#define STEPS   20000

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static rows *make_rows(size_t n)
{
    rng r = rng_stream(1, 0, RNG_SIMULATE);
    double *x = calloc(n * DIM, sizeof *x), *y = calloc(n, sizeof *y), w[DIM];
    rows *out = NULL;
    rows_spec spec = {.seed = 1};
    for (size_t j = 0; j < DIM; j++) w[j] = 10.0 * rng_uniform(&r) - 5.0;
    for (size_t i = 0; x && y && i < n; i++) {
        double eta = 0.0;
        for (size_t j = 0; j < DIM; j++) {
            x[i * DIM + j] = rng_normal(&r) * (j == 0 ? sqrt(6.0) : 1.0);
            eta += w[j] * x[i * DIM + j];
        }
        y[i] = rng_uniform(&r) < 1.0 / (1.0 + exp(-eta));
    }
    if (x && y) rows_copy(n, DIM, x, NULL, y, NULL, NULL, &spec, &out, NULL);
    free(x);
    free(y);
    return out;
}

typedef struct {
    posterior *target;
    mode *at;
    metric *a;
    control *cv; /* NULL: none */
    reported_value report[DIM];
    arena memory;
    minibatch u;
    sampler s;
    event_counts *counts;
    moments m;
    bias b;
    draws d;
    path_sinks sinks;
} bench_chain;

static void carve(bench_chain *c, const batch_kind *kind, size_t n)
{
    c->memory.used = 0;
    minibatch_carve(&c->u, kind, c->target, n, &c->memory);
    sampler_carve(&c->s, sampler_find("sbps"), c->a, NULL, c->at->w, &c->u.is, &c->memory);
    moments_carve(&c->m, DIM, c->report, c->at->w, &c->memory);
    c->counts = arena_take(&c->memory, sizeof *c->counts);
    bias_carve(&c->b, DIM, NULL, c->counts, &c->memory);
    draws_carve(&c->d, DIM, 1000, &c->memory);
}

/* Which control variate, and how many rows a batch. */
typedef struct {
    const char *name;
    const batch_kind *kind;
    size_t n;
    bool controlled;
    control_order order;
} bench_case;

static bool chain_open(bench_chain *c, const rows *data, const bench_case *of)
{
    const batch_kind *kind = of->kind;
    size_t n = of->n;
    prior priors[DIM];
    double zero[DIM] = {0};
    const metric_kind *dense = metric_kinds[2];
    *c = (bench_chain){0};
    for (size_t j = 0; j < DIM; j++)
        if (prior_parse("normal(0,10)", &priors[j], NULL) != SBPS_OK) return false;
    if (posterior_create(data, model_find("logistic"), priors, &c->target, NULL) != SBPS_OK ||
        mode_find(c->target, NULL, &c->at, NULL) != SBPS_OK ||
        metric_create(dense, DIM, c->at->hessian, &c->a, NULL) != SBPS_OK)
        return false;
    carve(c, kind, n);
    c->memory = (arena){.base = aligned_zeroed(c->memory.used), .size = c->memory.used};
    if (!c->memory.base) return false;
    carve(c, kind, n);
    if (of->controlled &&
        control_create(c->target, c->at->w, of->order, NULL, &c->cv, NULL) != SBPS_OK)
        return false;
    minibatch_equip(&c->u, c->cv, c->u.is.noise);
    *c->s.settings = (sampler_settings){.band.width = 3.5,
                                        .refresh_rate = 1.0 / sqrt(DIM),
                                        .band.horizon = 1.0,
                                        .band.floor = 0.1,
                                        .band.chord = NAN,
                                        .band.pool = 3.0,
                                        .band.learning_rate = 0.01,
                                        .band.lack_of_fit = true};
    minibatch_start(&c->u, rng_stream(1, 0, RNG_BATCH));
    c->s.kind->start(&c->s, zero, rng_stream(1, 0, RNG_PATH));
    moments_start(&c->m, 1.0);
    bias_start(&c->b);
    draws_start(&c->d, 1.0);
    sinks_add(&c->sinks, c->counts, event_counts_take);
    sinks_add(&c->sinks, &c->m, moments_take);
    sinks_add(&c->sinks, &c->b, bias_take);
    sinks_add(&c->sinks, &c->d, draws_take);
    return true;
}

static void chain_close(bench_chain *c)
{
    free(c->memory.base);
    control_destroy(c->cv);
    metric_destroy(c->a);
    mode_destroy(c->at);
    posterior_destroy(c->target);
}

/* ---- parts ---- */

static void part_step(bench_chain *c)
{
    segment s;
    c->s.kind->step(&c->s, &s);
    sinks_take(&c->sinks, &s);
}

static void part_observe(bench_chain *c)
{
    potential_observe(&c->u.is, 0.01);
}

static void part_pick(bench_chain *c)
{
    c->u.kind->pick(&c->u);
}

static void part_products(bench_chain *c)
{
    const rows *data = c->target->data;
    c->target->k->row_products(
        data->storage.x, data->stride, c->u.list, c->u.state->first % (data->local_rows / 2),
        c->u.is.batch < MINIBATCH_BLOCK ? c->u.is.batch : MINIBATCH_BLOCK, c->u.p, c->u.q,
        c->u.eta, c->u.deta);
}

static void part_slope(bench_chain *c)
{
    batch b = {
        .k = c->target->k, .n = c->u.is.batch, .eta = c->u.eta, .deta = c->u.deta, .y = c->u.y};
    c->target->model->predictor->slope(&b, c->u.out);
}

static void part_gradient(bench_chain *c)
{
    potential_gradient(&c->u.is, c->s.gradient);
    sampler_reflect(&c->s);
}

static double best_ns(bench_chain *c, void (*part)(bench_chain *c), size_t calls)
{
    double best = INFINITY;
    for (size_t r = 0; r < REPEATS; r++) {
        double begin = processor_time();
        for (size_t i = 0; i < calls; i++) part(c);
        best = fmin(best, 1e9 * (processor_time() - begin) / (double)calls);
    }
    return best;
}

/* ns per proposal of whole segments, and the number of proposals per segment. */
static double whole_ns(bench_chain *c, double *per_segment)
{
    double best = INFINITY;
    for (size_t i = 0; i < STEPS; i++) part_step(c);
    for (size_t r = 0; r < REPEATS; r++) {
        double before = (double)c->counts->proposals, begin = processor_time();
        for (size_t i = 0; i < STEPS; i++) part_step(c);
        double time = processor_time() - begin, made = (double)c->counts->proposals - before;
        best = fmin(best, 1e9 * time / made);
        *per_segment = made / STEPS;
    }
    return best;
}

static void report(const rows *data, const bench_case *of)
{
    bench_chain c;
    double per_segment = 1.0;
    if (!chain_open(&c, data, of)) {
        fprintf(stderr, "bench: set-up failed\n");
        exit(EXIT_FAILURE);
    }
    double ns = whole_ns(&c, &per_segment);
    printf("proposals %-16s N=%zu n=%zu d=%d %6.0f ns %9.0f per second, %.1f per segment\n",
           of->name, data->local_rows, of->n, DIM, ns, 1e9 / ns, per_segment);
    double observe = best_ns(&c, part_observe, STEPS),
           gradient = best_ns(&c, part_gradient, STEPS);
    printf("  observe %.0f: pick %.0f, row products %.0f, slopes %.0f\n", observe,
           best_ns(&c, part_pick, STEPS), best_ns(&c, part_products, STEPS),
           best_ns(&c, part_slope, STEPS));
    printf("  bounce %.0f per segment: %.0f; first observation, regression, band, arrival, "
           "sinks: %.0f\n",
           gradient, gradient / per_segment, ns - observe - gradient / per_segment);
    chain_close(&c);
}

static const bench_case bench_cases[] = {
    {"random", &batch_random, 100, false, CONTROL_GRADIENT},
    {"window", &batch_window, 100, false, CONTROL_GRADIENT},
    {"window, gradient", &batch_window, 100, true, CONTROL_GRADIENT},
    {"window, hessian", &batch_window, 100, true, CONTROL_HESSIAN},
    {"window, hessian", &batch_window, 16, true, CONTROL_HESSIAN},
};

int main(void)
{
    printf("kernels: %s\n", kernels_best()->isa);
    const size_t sizes[] = {1000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rows *data = make_rows(sizes[i]);
        if (!data) return EXIT_FAILURE;
        for (size_t k = 0; k < sizeof bench_cases / sizeof *bench_cases; k++)
            report(data, &bench_cases[k]);
        rows_destroy(data);
    }
    return EXIT_SUCCESS;
}

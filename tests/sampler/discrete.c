/* Samplers in discrete time against their own stationary laws.
 *
 * The model is y ~ normal(x.w, 1), the posterior Gaussian with curvature H. With x = +-1 a row's
 * gradient is w - x y: mini-batches of m random rows add noise of variance
 * V = (N^2/m)(1 - m/N) Var(x y) wherever w is, and what follows is linear with constant noise:
 *   sgld    w' = (1 - eta l) w + e,  Var e = 2 eta + eta^2 V,  so Var w = (1 + eta V / 2) / (l (1 - eta l / 2));
 *           in many dimensions without noise Cov w = (H - eta H^2 / 2)^-1
 *   sghmc   (w, v)' = M (w, v) + noise: the fixed point of P = M P M' + Q, iterated here */
#include "sampler/discrete.h"
#include "estimate/moments.h"
#include "mode/mode.h"
#include "potential/fixture.h"
#include "sampler/kinds.h"

#define PRIOR 0.25 /* precision: normal(0,2) */

/* ---- the model ---- */

static void unit_loglik(const batch *b, double *out)
{
    for (size_t i = 0; i < b->n; i++) out[i] = -0.5 * pow(b->y[i] - b->eta[i], 2.0);
}

static void unit_slope(const batch *b, double *out)
{
    for (size_t i = 0; i < b->n; i++) out[i] = (b->y[i] - b->eta[i]) * b->deta[i];
}

static void unit_gradient(const batch *b, double *d_eta, double *d_aux)
{
    (void)d_aux;
    for (size_t i = 0; i < b->n; i++) d_eta[i] = b->y[i] - b->eta[i];
}

static void unit_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    (void)ea;
    (void)aa;
    for (size_t i = 0; i < b->n; i++) ee[i] = -1.0;
}

static sbps_status unit_check(const rows *r, sbps_error *err)
{
    (void)r;
    (void)err;
    return SBPS_OK;
}

static const model_kind unit = {.name = "unit",
                                .check = unit_check,
                                .loglik = unit_loglik,
                                .slope = unit_slope,
                                .gradient = unit_gradient,
                                .curvature = unit_curvature};

/* ---- a chain ---- */

#define ROWS ((size_t)200)

typedef struct {
    rows *data;
    posterior *u;
    mode *m;
    metric *a;
    control *cv;
    double scatter; /* Var(x y), over n - 1 */
    arena memory;
    potential flight;
    sampler s;
    moments sums;
} chain;

/* columns = 1: x = +-1. Else correlated columns of very different sizes. */
static void fill(chain *c, size_t columns)
{
    double x[4 * ROWS], y[ROWS];
    rng r = rng_stream(31, columns, RNG_TEST);
    rows_spec as = {.target = "y", .intercept = false};
    prior priors[4];
    tally of = {0};
    for (size_t i = 0; i < ROWS; i++) {
        double common = rng_normal(&r);
        for (size_t j = 0; j < columns; j++)
            x[i * columns + j] = (common + rng_normal(&r)) * (j ? 0.2 * (double)j : 1.0);
        if (columns == 1) x[i] = i % 2 ? 1.0 : -1.0;
        y[i] = 0.4 * x[i * columns] + 2.0 * rng_normal(&r);
        tally_add(&of, x[i] * y[i]);
    }
    c->scatter = tally_variance(&of);
    for (size_t j = 0; j < columns; j++) prior_parse("normal(0,2)", &priors[j], NULL);
    rows_copy(ROWS, columns, x, NULL, y, NULL, NULL, &as, &c->data, NULL);
    if (c->data) posterior_create(c->data, &unit, priors, &c->u, NULL);
    if (c->u) mode_find(c->u, NULL, &c->m, NULL);
}

static void carve_chain(chain *c, const sampler_kind *kind, size_t take)
{
    static const reported_value none[DIM_MAX];
    const potential_kind *batches = take < ROWS ? &potential_random : &potential_full;
    bool dense = !strcmp(c->a->kind->name, "dense");
    c->memory.used = 0;
    potential_carve(&c->flight, batches, c->u, take, &c->memory);
    sampler_carve(&c->s, kind, c->a, dense ? NULL : c->m->hessian, c->m->w, &c->flight,
                  &c->memory);
    moments_carve(&c->sums, c->u->dim, none, c->m->w, &c->memory);
    c->flight.cv = c->cv;
}

static const metric_kind *metric_named(const char *name)
{
    for (size_t i = 0; metric_kinds[i]; i++)
        if (!strcmp(metric_kinds[i]->name, name)) return metric_kinds[i];
    return NULL;
}

/* step: h, or NAN. */
static bool open_chain(chain *c, const sampler_kind *kind, size_t columns, const char *space,
                       size_t take, double step)
{
    double zero[DIM_MAX] = {0};
    bool cv = c->cv;
    *c = (chain){0};
    fill(c, columns);
    if (!c->m) return false;
    metric_create(metric_named(space), columns, c->m->hessian, &c->a, NULL);
    if (cv) control_create(c->u, c->m->w, &c->cv, NULL);
    if (!c->a) return false;
    carve_chain(c, kind, take);
    c->memory = (arena){.base = aligned_zeroed(c->memory.used), .size = c->memory.used};
    if (!c->memory.base) return false;
    carve_chain(c, kind, take);
    *c->s.settings =
        (sampler_settings){.step_size = step, .metric_beta = 0.99, .metric_eps = 1e-4};
    potential_start(&c->flight, rng_stream(7, 0, RNG_BATCH));
    kind->start(&c->s, zero, rng_stream(7, 0, RNG_FLIGHT));
    moments_start(&c->sums, 1.0);
    return true;
}

static void close_chain(chain *c)
{
    free(c->memory.base);
    control_destroy(c->cv);
    metric_destroy(c->a);
    mode_destroy(c->m);
    posterior_destroy(c->u);
    rows_destroy(c->data);
}

/* Runs and returns the share of steps that moved. */
static double advance(chain *c, size_t steps)
{
    double last = NAN, moved = 0.0;
    for (size_t i = 0; i < steps; i++) {
        segment s;
        c->s.kind->step(&c->s, &s);
        moments_take(&c->sums, &s);
        moved += s.p[0] != last;
        last = s.p[0];
    }
    return moved / (double)steps;
}

static void settle(chain *c, size_t steps)
{
    advance(c, steps);
    moments_start(&c->sums, 1.0);
}

/* Mean within MAX_Z errors of the mode, variance of its law, give or take `slack` of it. */
static void check_law(const char *what, const chain *c, size_t j, double variance, double slack)
{
    moment_summary m = moments_summarize(&c->sums, 1, j);
    double error = variance * sqrt(2.0 / m.ess_square), got = m.sd * m.sd;
    printf("%-28s w%zu: variance %.5g, law %.5g, error %.2g; ESS %.0f\n", what, j, got,
           variance, error, m.ess_square);
    CHECK(m.ess_square > 1000.0);
    CHECK_Z(m.mean, c->m->w[j], m.mcse, MAX_Z);
    CHECK(fabs(got - variance) <= MAX_Z * error + slack * variance);
}

static double batch_noise(const chain *c, size_t take)
{
    double n = (double)ROWS, m = (double)take;
    return n * n / m * (1.0 - m / n) * c->scatter;
}

/* ---- sgld ---- */

static double langevin(double l, double eta, double noise)
{
    return (1.0 + 0.5 * eta * noise) / (l * (1.0 - 0.5 * eta * l));
}

TEST(sgld_has_the_variance_of_its_recursion)
{
    static const struct {
        size_t take;
        double step;
        bool cv;
    } cases[] = {{ROWS, 0.8, false}, {ROWS, 0.1, false}, {40, 0.1, false}, {40, 0.5, true}};
    double l = (double)ROWS + PRIOR;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chain c = {0};
        control mark;
        if (cases[i].cv) c.cv = &mark; /* asks for one */
        REQUIRE(open_chain(&c, &sampler_sgld, 1, "none", cases[i].take, cases[i].step));
        CHECK_NEAR(c.m->hessian[0], l, TOL_SUM);
        settle(&c, 1000);
        advance(&c, 100000);
        /* rows of one curvature: a control variate takes out all their noise */
        double noise = cases[i].cv ? 0.0 : batch_noise(&c, cases[i].take);
        double eta = cases[i].step / (double)ROWS;
        check_law("sgld", &c, 0, langevin(l, eta, noise), 0.0);
        close_chain(&c);
    }
}

/* Cov w = (H - eta H^2/2)^-1, or H^-1 / (1 - eta/2) in the dense metric. */
TEST(sgld_in_two_dimensions_and_both_metrics)
{
    static const struct {
        const char *metric;
        double step;
    } cases[] = {{"none", 0.5}, {"dense", 100.0}};
    for (size_t i = 0; i < 2; i++) {
        chain c = {0};
        REQUIRE(open_chain(&c, &sampler_sgld, 2, cases[i].metric, ROWS, cases[i].step));
        const double *h = c.m->hessian;
        double eta = cases[i].step / (double)ROWS, b[3];
        double square[3] = {h[0] * h[0] + h[1] * h[1], h[1] * (h[0] + h[3]),
                            h[1] * h[1] + h[3] * h[3]};
        double of[3] = {h[0], h[1], h[3]};
        for (size_t k = 0; k < 3; k++)
            b[k] = i ? (1.0 - 0.5 * eta) * of[k] : of[k] - 0.5 * eta * square[k];
        double det = b[0] * b[2] - b[1] * b[1];
        settle(&c, 2000);
        advance(&c, 300000);
        check_law(cases[i].metric, &c, 0, b[2] / det, 0.0);
        check_law(cases[i].metric, &c, 1, b[0] / det, 0.0);
        close_chain(&c);
    }
}

TEST(steps_fall_as_the_decay_says)
{
    chain c = {0};
    REQUIRE(open_chain(&c, &sampler_sgld, 1, "none", ROWS, 0.5));
    discrete_state *state = c.s.state;
    CHECK_NEAR(discrete_eta(&c.s, state), 0.5 / (double)ROWS, TOL_ROUND);
    settle(&c, 99);
    CHECK_NEAR(discrete_eta(&c.s, state), 0.5 / (double)ROWS, TOL_ROUND);
    c.s.settings->step_decay = 0.5;
    CHECK_NEAR(discrete_eta(&c.s, state), 0.05 / (double)ROWS, TOL_ROUND);
    close_chain(&c);
}

/* ---- the step that is chosen ---- */

static double largest_eigenvalue(const double *h)
{
    double mean = 0.5 * (h[0] + h[3]), half = 0.5 * (h[0] - h[3]);
    return mean + sqrt(half * half + h[1] * h[1]);
}

TEST(chosen_step_is_a_tenth_of_the_stiffest_with_its_noise)
{
    double n = (double)ROWS, m = 40.0;
    for (int i = 0; i < 5; i++) {
        chain c = {0};
        control mark;
        if (i == 3) c.cv = &mark;
        REQUIRE(open_chain(&c, i == 4 ? &sampler_sghmc : &sampler_sgld, 2,
                           i == 2 ? "dense" : "none", i ? 40 : ROWS, NAN));
        double l = largest_eigenvalue(c.m->hessian);
        double want[] = {n / l, n / (l * n / m), n / (n / m),
                         n / (l * (1.0 + 2.0 / m * (1.0 - m / n))),
                         n / (l * (1.0 + 10.0 * (n / m - 1.0)))};
        CHECK_NEAR(c.s.settings->step_size, 0.1 * want[i], 1e-3);
        close_chain(&c);
    }
}

/* ---- momentum ---- */

/* Stationary Var w of v' = (1 - alpha) v - eta l w + s xi, w' = w + v'. */
static double momentum_variance(double l, double eta, double alpha, double noise)
{
    double ww = 1.0 / l, wv = 0.0, vv = eta, keep = 1.0 - alpha, pull = eta * l;
    double s2 = 2.0 * alpha * eta + eta * eta * noise;
    for (int i = 0; i < 100000; i++) {
        double v2 = keep * keep * vv - 2.0 * keep * pull * wv + pull * pull * ww + s2;
        double w_v = keep * wv - pull * ww; /* Cov(w, v') */
        ww += 2.0 * w_v + v2;
        wv = w_v + v2;
        vv = v2;
    }
    return ww;
}

TEST(momentum_without_memory_is_langevin)
{
    CHECK_NEAR(momentum_variance(3.0, 0.1, 1.0, 5.0), langevin(3.0, 0.1, 5.0), TOL_SUM);
}

TEST(sghmc_has_the_variance_of_its_recursion)
{
    static const struct {
        size_t take;
        double step;
    } cases[] = {{ROWS, 0.5}, {ROWS, 0.05}, {40, 0.05}};
    double l = (double)ROWS + PRIOR;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chain c = {0};
        REQUIRE(open_chain(&c, &sampler_sghmc, 1, "none", cases[i].take, cases[i].step));
        settle(&c, 1000);
        advance(&c, 200000);
        double noise = batch_noise(&c, cases[i].take), eta = cases[i].step / (double)ROWS;
        check_law("sghmc", &c, 0, momentum_variance(l, eta, 0.1, noise), 0.0);
        close_chain(&c);
    }
}

/* Thermostats take up the noise that makes sgld at the same step 20% and sghmc 200% too wide. */
TEST(msgnht_takes_up_gradient_noise)
{
    static const struct {
        size_t columns, take;
        const char *metric;
        double step;
    } cases[] = {{1, ROWS, "none", 0.02},
                 {1, 40, "none", 0.02},
                 {2, ROWS, "dense", 2.0},
                 {2, 40, "dense", 2.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chain c = {0};
        size_t d = cases[i].columns;
        REQUIRE(
            open_chain(&c, &sampler_msgnht, d, cases[i].metric, cases[i].take, cases[i].step));
        const double *h = c.m->hessian;
        settle(&c, 5000);
        advance(&c, 400000);
        for (size_t j = 0; j < d; j++) {
            double det = h[0] * h[3] - h[1] * h[1];
            double truth = d == 1 ? 1.0 / h[0] : (j ? h[0] : h[3]) / det;
            check_law("msgnht", &c, j, truth, 0.02);
        }
        close_chain(&c);
    }
}

/* Where batches drown the signal V hardly moves, and psgld is sgld with step h G. */
TEST(psgld_is_sgld_with_its_own_step)
{
    double l = (double)ROWS + PRIOR, step = 0.01, n = (double)ROWS;
    chain c = {0};
    REQUIRE(open_chain(&c, &sampler_psgld, 1, "none", 10, step));
    double noise = batch_noise(&c, 10), gain = 1.0 / (1e-4 + sqrt(noise + l) / n);
    settle(&c, 1000);
    advance(&c, 400000);
    check_law("psgld", &c, 0, langevin(l, step * gain / n, noise), 0.03);
    close_chain(&c);
}

/* Coordinates of different sizes take steps in proportion to their spread. */
TEST(psgld_weighs_coordinates_by_their_gradients)
{
    chain c = {0};
    REQUIRE(open_chain(&c, &sampler_psgld, 3, "none", 40, NAN));
    advance(&c, 20000);
    const double *h = c.m->hessian, *g = c.s.extra + 3;
    for (size_t j = 1; j < 3; j++)
        CHECK_NEAR(log(g[j] / g[0]), 0.5 * log(h[0] / h[4 * j]), 0.4);
    close_chain(&c);
}

/* ---- mh ---- */

TEST(mh_is_exact_and_accepts_as_often_as_it_should)
{
    static const char *const metrics[] = {"none", "dense"};
    for (size_t d = 1; d <= 2; d++)
        for (size_t i = 0; i < 2; i++) {
            chain c = {0};
            REQUIRE(open_chain(&c, &sampler_mh, d, metrics[i], ROWS, NAN));
            const double *h = c.m->hessian;
            c.s.kind->adapt(&c.s, true);
            settle(&c, 5000);
            c.s.kind->adapt(&c.s, false);
            double rate = advance(&c, d == 1 ? 60000 : 200000);
            CHECK_NEAR(rate, 0.234 + 0.206 / (double)d, 0.05);
            for (size_t j = 0; j < d; j++) {
                double det = h[0] * h[3] - h[1] * h[1];
                check_law("mh", &c, j, d == 1 ? 1.0 / h[0] : (j ? h[0] : h[3]) / det, 0.0);
            }
            close_chain(&c);
        }
}

TEST(mh_keeps_a_scale_that_was_given)
{
    chain c = {0};
    REQUIRE(open_chain(&c, &sampler_mh, 1, "dense", ROWS, 1e-3)); /* in posterior sds */
    c.s.kind->adapt(&c.s, true);
    CHECK(advance(&c, 5000) > 0.99);
    segment s;
    c.s.kind->step(&c.s, &s);
    CHECK(fabs(s.p[0] - c.s.p_next[0]) < 6e-3 / sqrt((double)ROWS));
    CHECK(s.end->rows == ROWS && s.end->proposals == 1);
    close_chain(&c);
}

/* ---- too large a step ---- */

TEST(a_step_that_is_too_large_fails_and_stays_finite)
{
    const sampler_kind *const kinds[] = {&sampler_sgld, &sampler_psgld, &sampler_sghmc,
                                         &sampler_msgnht};
    for (size_t k = 0; k < 4; k++) {
        chain c = {0};
        size_t failed = 0;
        REQUIRE(open_chain(&c, kinds[k], 2, "none", ROWS, 1e6));
        for (size_t i = 0; i < 3000; i++) {
            segment s;
            c.s.kind->step(&c.s, &s);
            failed += s.end->failed;
            CHECK(isfinite(s.p[0]) && isfinite(s.p[1]));
            CHECK(isfinite(c.s.p_next[0]) && isfinite(c.s.p_next[1]));
        }
        if (kinds[k] != &sampler_psgld) CHECK(failed > 0); /* it shortens its own steps */
        close_chain(&c);
    }
}

CHECK_MAIN

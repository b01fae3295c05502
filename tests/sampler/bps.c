/* bps and noisy-bps: the rate averaged over the noise, the noise of a bounce, arrivals along
 * lines that are convex and lines that are not, and the distribution of whole segments. */
#include "sampler/fixture.h"

#include "linalg/real.h"
#include "model/likelihood/model_kinds.h"
#include "sampler/core/sampler_kinds.h"
#include "sampler/exact/bps.h"
#include "sampler/exact/exact_arrival.h"

/* ---- noise ---- */

static double normal_density(double x)
{
    return exp(-0.5 * x * x) / sqrt(2.0 * M_PI);
}

/* Integral of x^power f(x), f = (x+) phi(x - a), from 0: the trapezium rule has a negligible
 * error except from the kink at 0, which power >= 3 does not have, so it begins with
 * Simpson. */
static double bounce_moment(double a, int power)
{
    double end = larger(a, 0.0) + 12.0, h = end / 20000.0, sum = 0.0;
    for (int i = 0; i <= 20000; i++) {
        double x = h * i, f = pow(x, power + 1) * normal_density(x - a);
        sum += f * (i == 0 || i == 20000 ? 1.0 : i % 2 ? 4.0 : 2.0);
    }
    return sum * h / 3.0;
}

TEST(rate_is_the_mean_of_the_positive_part)
{
    static const double slopes[] = {-30.0, -5.0, -1.0, -0.1, 0.0, 0.3, 2.0, 9.0, 40.0};
    static const double sigmas[] = {0.02, 1.0, 7.0};
    for (size_t i = 0; i < 9; i++)
        for (size_t k = 0; k < 3; k++) {
            double g = slopes[i], sigma = sigmas[k], rate = noisy_rate(g, sigma);
            double expected = sigma * bounce_moment(g / sigma, 0);
            CHECK(fabs(rate - expected) <= 1e-10 * expected + 1e-12 * sigma);
            CHECK(rate >= larger(g, 0.0)); /* Jensen */
            CHECK(rate <= (larger(g, 0.0) + noisy_excess(sigma)) * (1.0 + TOL_ROUND));
            CHECK(noisy_rate(g, 0.0) == larger(g, 0.0));
        }
}

TEST(noise_of_a_bounce_has_the_density_of_the_positive_part)
{
    static const double slopes[] = {-20.0, -4.0, -2.5, -1.0, 0.0, 1.0, 6.0, 50.0};
    const double sigma = 2.0;
    const size_t n = 100000;
    rng r = rng_stream(1, 0, RNG_TEST);
    for (size_t i = 0; i < 8; i++) {
        double g = slopes[i], a = g / sigma, mass = bounce_moment(a, 0);
        double mean = bounce_moment(a, 1) / mass, square = bounce_moment(a, 2) / mass;
        tally x = {.about = mean};
        for (size_t k = 0; k < n; k++) {
            double y = noisy_draw(&r, g, sigma);
            CHECK(g + y > 0.0);
            tally_add(&x, (g + y) / sigma);
        }
        CHECK_Z(tally_mean(&x), mean, tally_error(&x), MAX_Z);
        CHECK_Z(x.squares / x.n, square - mean * mean, tally_square_error(&x), MAX_Z);
    }
}

/* ---- targets ---- */

/* A step of tanh((w1 - 1)/0.01) log units in a standard normal: too thin for any grid. */
static sbps_status cliff_open(const model_kind *kind, const rows *data,
                              const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind, (void)data, (void)shape, (void)err;
    *self = NULL;
    return SBPS_OK;
}

static void cliff_close(void *self)
{
    (void)self;
}

static size_t cliff_dim(const void *self)
{
    (void)self;
    return 2;
}

static size_t cliff_scratch(const void *self, size_t n)
{
    (void)self, (void)n;
    return 0;
}

static void cliff_loglik(const void *self, row_range r, const double *w, double *scratch,
                         double *out)
{
    (void)self, (void)scratch;
    for (size_t i = 0; i < r.n; i++)
        out[i] = -0.5 * (w[0] * w[0] + w[1] * w[1]) - tanh((w[0] - 1.0) / 0.01);
}

static void cliff_score(const double *w, double g[2])
{
    double c = cosh((w[0] - 1.0) / 0.01);
    g[0] = -w[0] - 1.0 / (0.01 * c * c);
    g[1] = -w[1];
}

static void cliff_slope(const void *self, row_range r, const double *w, const double *u,
                        double *scratch, double *out)
{
    (void)self, (void)scratch;
    double g[2];
    cliff_score(w, g);
    for (size_t i = 0; i < r.n; i++) out[i] = g[0] * u[0] + g[1] * u[1];
}

static void cliff_gradient(const void *self, row_range r, const double *w, const double *factor,
                           double *scratch, double *out)
{
    (void)self, (void)scratch;
    double g[2];
    cliff_score(w, g);
    for (size_t i = 0; i < r.n; i++)
        for (size_t j = 0; j < 2; j++) out[j] += factor[i] * g[j];
}

static const model_kind cliff = {.name = "cliff",
                                 .facts.no_rows = true,
                                 .facts.mode_optional = true,
                                 .open = cliff_open,
                                 .close = cliff_close,
                                 .parameters.dim = cliff_dim,
                                 .rows.scratch = cliff_scratch,
                                 .rows.loglik = cliff_loglik,
                                 .rows.slope = cliff_slope,
                                 .rows.gradient = cliff_gradient};

static problem density_make(const sampler_kind *kind, const model_kind *model, size_t d,
                            double condition)
{
    problem p = {.made = {kind, metric_find("none"), &batch_full, model, 1}};
    model_shape shape = {.dim = d, .condition = condition};
    double start[DIM_MAX] = {0};
    rows_none(&p.t.data, NULL);
    if (!p.t.data || posterior_open(p.t.data, model, &shape, &p.t.u, NULL) != SBPS_OK) return p;
    if (model->parameters.start) model->parameters.start(p.t.u->self, start);
    if (mode_find(p.t.u, start, &p.m, NULL) != SBPS_OK) return p;
    metric_create(p.made.metric, d, p.m->hessian, &p.a, NULL);
    return p;
}

static problem table_problem(const sampler_kind *kind, const model_kind *model,
                             const char *weights)
{
    problem p = {.made = {kind, metric_find("dense"), &batch_full, model, 40}};
    table_spec spec = {.n = 300, .columns = 3, .weights = weights, .sigma = "exponential(1)"};
    p.t = table_make(model, spec);
    if (!p.t.u || mode_find(p.t.u, NULL, &p.m, NULL) != SBPS_OK) return p;
    metric_create(p.made.metric, p.t.u->dim, p.m->hessian, &p.a, NULL);
    return p;
}

/* ---- lines ---- */

/* Integral of the rate from a to b by the midpoint rule. */
static double integrate_rate(minibatch *u, double a, double b, double sigma, size_t steps)
{
    double sum = 0.0, h = (b - a) / (double)steps;
    for (size_t i = 0; i < steps; i++)
        sum +=
            h * noisy_rate(potential_observe(&u->is, a + h * ((double)i + 0.5)).slope, sigma);
    return sum;
}

/* Over a segment, from kink to kink. */
static double integrated(minibatch *u, double t, double sigma, size_t steps)
{
    double sum = 0.0, from = 0.0, jump;
    while (from < t) {
        double to = smaller(potential_next_kink(&u->is, from, &jump), t);
        sum += integrate_rate(u, from, to, sigma, steps);
        from = to;
    }
    return sum;
}

static void set_line(minibatch *u, const problem *p, const double *from, const double *q)
{
    double w[DIM_MAX];
    for (size_t j = 0; j < p->t.u->dim; j++) w[j] = p->m->w[j] + from[j];
    potential_set_line(&u->is, w, q);
}

/* Climbs of several heights from several starts, in one call and in two. */
static void climb_property(const problem *p)
{
    size_t d = p->t.u->dim, n = p->t.data->local_rows;
    double scale = natural_scale(p);
    rng r = rng_stream(3, 0, RNG_TEST);
    carved c = carve(&batch_full, p->t.u, n, 1);
    CHECK(c.u.is.facts.convex);
    for (size_t k = 0; k < 24; k++) {
        double v[DIM_MAX], from[DIM_MAX], q[DIM_MAX], t, again;
        for (size_t j = 0; j < d; j++) v[j] = (k % 4 ? 2.0 : 8.0) * rng_normal(&r) / scale;
        p->a->kind->forward(p->a, v, from);
        rng_sphere(&r, d, v);
        p->a->kind->forward(p->a, v, q);
        set_line(&c.u, p, from, q);
        double height = rng_exponential(&r) * (k % 5 ? 1.0 : 1e-4);
        event e = {0};
        exact_line l = {.u = &c.u.is, .e = &e, .curvature = scale * scale, .time = NAN};
        climb one = climb_start(&l);
        REQUIRE(climb_to(&l, &one, height, INFINITY, &t));
        CHECK(l.time == t && t > 0.0 && e.rows > 0 && e.rows % n == 0);
        CHECK(e.rows / n < 40);
        double wrong = integrated(&c.u, t, 0.0, 4000) - height;
        CHECK(fabs(wrong) < 1e-5 * (1.0 + height));
        climb two = climb_start(&l);
        CHECK(!climb_to(&l, &two, height, 0.5 * t, &again));
        CHECK(!climb_to(&l, &two, height, t * (1.0 - 1e-6), &again));
        REQUIRE(climb_to(&l, &two, height, t * (1.0 + 1e-6), &again));
        CHECK_NEAR(again / t, 1.0, 1e-11 + 1e-12 / height);
        CHECK(climb_to(&l, &two, 2.0 * height, INFINITY, &again) && again > t);
        CHECK(fabs(integrated(&c.u, again, 0.0, 4000) - 2.0 * height) < 1e-5 * (1.0 + height));
    }
    free(c.memory.base);
}

TEST(climb_reaches_its_height)
{
    static const char *const weights[] = {"normal(0,2)", "laplace(0,0.1)", "flat"};
    static const model_kind *const models[] = {&model_logistic, &model_poisson};
    for (size_t m = 0; m < 2; m++)
        for (size_t i = 0; i < 3; i++) {
            problem p = table_problem(&sampler_bps, models[m], weights[i]);
            REQUIRE(p.a);
            climb_property(&p);
            problem_close(&p);
        }
    problem p = density_make(&sampler_bps, &model_gaussian, 3, 1e4);
    REQUIRE(p.a);
    climb_property(&p);
    problem_close(&p);
}

TEST(only_log_concave_targets_count_as_convex)
{
    problem p = table_problem(&sampler_bps, &model_logistic, "student_t(3,0,1)");
    REQUIRE(p.a);
    CHECK(!minibatch_facts(p.t.u).convex);
    problem_close(&p);
    p = table_problem(&sampler_bps, &model_linear, "normal(0,2)");
    REQUIRE(p.a);
    CHECK(!minibatch_facts(p.t.u).convex);
    problem_close(&p);
}

/* For a quadratic U no search is needed: slopes at 0, at the bottom and beyond it, at the
 * arrival; values at the bottom and at the arrival. */
TEST(a_gaussian_takes_closed_forms)
{
    problem p = density_make(&sampler_bps, &model_gaussian, 2, 1.0);
    test_chain f;
    segment s;
    REQUIRE(p.a);
    test_chain_make(&f, &p, &ours, 1);
    for (size_t i = 0; i < 1000; i++) {
        test_chain_step(&f, &s);
        double qq = dot(2, s.q, s.q), pq = dot(2, s.p, s.q), bottom = larger(-pq / qq, 0.0);
        CHECK(s.end->rows <= 6);
        if (s.end->kind != EVENT_BOUNCE) continue;
        CHECK(s.dt > bottom && s.end->proposals == 1);
    }
    free(f.memory.base);
    problem_close(&p);
}

/* ---- segments ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The integral of the rate up to a bounce is exponential: mean, variance, and the largest
 * distance of the distribution functions, which exceeds 2.8/sqrt(n) once in 1e6. */
static void check_exponential(size_t n, double *x)
{
    double mean = 0.0, square = 0.0, far = 0.0, count = (double)n;
    qsort(x, n, sizeof *x, by_size);
    for (size_t i = 0; i < n; i++) {
        double cdf = -expm1(-x[i]);
        mean += x[i] / count;
        square += x[i] * x[i] / count;
        far = larger(
            far, larger(fabs(cdf - (double)i / count), fabs(cdf - (double)(i + 1) / count)));
    }
    CHECK_Z(mean, 1.0, 1.0 / sqrt(count), MAX_Z);
    CHECK_Z(square, 2.0, sqrt(20.0 / count), MAX_Z);
    CHECK(far * sqrt(count) < 2.8);
}

#define SEGMENTS ((size_t)4000)

static void arrival_property(problem p, double noise)
{
    static double x[SEGMENTS];
    sampler_settings set = ours;
    size_t n = p.t.data->local_rows, steps = n == 1 ? 300 : 60;
    carved c = carve(&batch_full, p.t.u, n, 1);
    test_chain f;
    segment s;
    REQUIRE(p.a);
    set.refresh_rate = 0.0;
    set.gradient_noise = noise;
    test_chain_make(&f, &p, &set, 7);
    for (size_t i = 0; i < SEGMENTS; i++) {
        test_chain_step(&f, &s);
        CHECK(s.end->kind == EVENT_BOUNCE);
        set_line(&c.u, &p, s.p, s.q);
        x[i] = integrated(&c.u, s.dt, noise * sqrt(dot(s.dim, s.q, s.q)), steps);
    }
    check_exponential(SEGMENTS, x);
    CHECK(f.counts->missing <= 1e-3 * (double)SEGMENTS);
    if (minibatch_facts(p.t.u).convex) CHECK(f.counts->violations == 0);
    free(c.memory.base);
    free(f.memory.base);
    problem_close(&p);
}

TEST(arrivals_are_exponential_in_the_integrated_rate)
{
    const sampler_kind *exact = &sampler_bps, *noisy = &sampler_noisy_bps;
    arrival_property(density_make(exact, &model_gaussian, 3, 10.0), 0.0);
    arrival_property(density_make(noisy, &model_gaussian, 3, 10.0), 0.3);
    arrival_property(density_make(noisy, &model_gaussian, 3, 10.0), 5.0);
    arrival_property(density_make(exact, &model_banana, 2, 1.0), 0.0);
    arrival_property(density_make(noisy, &model_banana, 2, 1.0), 5.0);
    arrival_property(table_problem(exact, &model_logistic, "normal(0,2)"), 0.0);
    arrival_property(table_problem(exact, &model_logistic, "laplace(0,0.1)"), 0.0);
    arrival_property(table_problem(noisy, &model_logistic, "normal(0,2)"), 8.0);
    arrival_property(table_problem(exact, &model_linear, "normal(0,2)"), 0.0);
    arrival_property(table_problem(noisy, &model_linear, "cauchy(0,1)"), 8.0);
}

/* Across the velocity the noise of a bounce is what it was; along it, it has made G + y > 0. */
TEST(noise_orthogonal_to_the_velocity_is_independent_of_the_bounce)
{
    problem p = density_make(&sampler_noisy_bps, &model_gaussian, 2, 4.0);
    sampler_settings set = ours;
    test_chain f;
    segment s;
    tally across = {0}, along = {0};
    REQUIRE(p.a);
    set.gradient_noise = 3.0;
    test_chain_make(&f, &p, &set, 4);
    for (size_t i = 0; i < 40000; i++) {
        double w[2], g[2], value;
        test_chain_step(&f, &s);
        if (s.end->kind != EVENT_BOUNCE) continue;
        for (size_t j = 0; j < 2; j++) w[j] = s.centre[j] + s.p[j] + s.dt * s.q[j];
        posterior_gradient(p.t.u, w, &value, g, NULL);
        double n[2] = {f.s.gradient[0] - g[0], f.s.gradient[1] - g[1]};
        double speed = sqrt(dot(2, s.q, s.q));
        CHECK(dot(2, f.s.gradient, s.q) > 0.0);
        tally_add(&across, (n[1] * s.q[0] - n[0] * s.q[1]) / speed);
        tally_add(&along, dot(2, n, s.q) / speed);
    }
    CHECK_Z(tally_mean(&across), 0.0, tally_error(&across), MAX_Z);
    CHECK_Z(across.squares / across.n, 9.0, tally_square_error(&across), MAX_Z);
    CHECK(tally_mean(&along) > 1.0);
    free(f.memory.base);
    problem_close(&p);
}

/* In a standard normal G = v.w is N(0, 1), so bounces come at E (G + y)+ = sqrt((1 + s^2)/(2
 * pi)). */
TEST(noise_makes_bounces_more_frequent_by_jensens_inequality)
{
    static const double noises[] = {0.0, 0.5, 2.0, 10.0};
    for (size_t k = 0; k < 4; k++) {
        double noise = noises[k];
        problem p = density_make(noise > 0.0 ? &sampler_noisy_bps : &sampler_bps,
                                 &model_gaussian, 10, 1.0);
        sampler_settings set = ours;
        test_chain f;
        segment s;
        tally rate = {0};
        REQUIRE(p.a);
        set.gradient_noise = noise;
        test_chain_make(&f, &p, &set, 5);
        for (size_t i = 0; i < 4000; i++) test_chain_step(&f, &s); /* from the mode */
        for (size_t part = 0; part < 40; part++) {
            double bounces = (double)f.counts->bounces, time = f.counts->time;
            while (f.counts->time < time + 250.0) test_chain_step(&f, &s);
            bounces = (double)f.counts->bounces - bounces;
            tally_add(&rate, bounces / (f.counts->time - time));
        }
        double expected = sqrt((1.0 + noise * noise) / (2.0 * M_PI));
        CHECK_Z(tally_mean(&rate), expected, tally_error(&rate), MAX_Z);
        CHECK(tally_error(&rate) < 0.02 * expected);
        free(f.memory.base);
        problem_close(&p);
    }
}

TEST(a_step_thinner_than_the_cells_is_counted_as_violations)
{
    problem p = density_make(&sampler_bps, &cliff, 2, 1.0);
    test_chain f;
    segment s;
    REQUIRE(p.a);
    test_chain_make(&f, &p, &ours, 6);
    const bps_state *state = f.s.state;
    double smallest = state->thinning.most;
    for (size_t i = 0; i < 20000; i++) {
        test_chain_step(&f, &s);
        CHECK((s.end->missing > 0.0) == (s.end->violations > 0));
        smallest = smaller(smallest, state->thinning.most);
    }
    CHECK(f.counts->violations > 0 && f.counts->missing > 1.0);
    CHECK(smallest < 0.6);
    free(f.memory.base);
    problem_close(&p);
}

CHECK_MAIN

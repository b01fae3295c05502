/* The Boomerang sampler's path: ellipses that keep |z|^2 + |v|^2, bounces that reflect at the
 * gradient of the difference from the reference, Gaussian velocities. */
#include "ingest/ingest.h"
#include "sampler/fixture.h"

static const sampler_kind *kind(void)
{
    return sampler_find("boomerang");
}

static double squared(const problem *p, const double *q)
{
    double y[DIM_MAX];
    p->a->kind->precision(p->a, q, y);
    return dot(p->t.u->dim, q, y);
}

/* grad R~ = grad U~ - (A A')^-1 x, with the batch of the bounce. */
static void remainder_gradient(const problem *p, const sampler *s, const double *x, double *g)
{
    p->a->kind->precision(p->a, x, g);
    for (size_t j = 0; j < s->dim; j++) g[j] = s->gradient[j] - g[j];
}

static void check_bounce(const problem *p, const test_chain *f, const segment *s,
                         const double *x, const double *u)
{
    size_t d = s->dim;
    double g[DIM_MAX], change[DIM_MAX], h[DIM_MAX];
    remainder_gradient(p, &f->s, x, g);
    double before = dot(d, g, u), after = dot(d, g, s->q_next);
    double size = sqrt(dot(d, g, g) * dot(d, u, u));
    CHECK(s->end->proposals >= 1 && before > 0.0);
    CHECK_NEAR(after / size, -before / size, 1e-9);
    CHECK_NEAR(squared(p, u), squared(p, s->q_next), 1e-9);
    /* u changes along A A' g alone: what the precision makes of the change is along g */
    for (size_t j = 0; j < d; j++) change[j] = u[j] - s->q_next[j];
    p->a->kind->precision(p->a, change, h);
    double cosine = dot(d, h, g) / sqrt(dot(d, h, h) * dot(d, g, g));
    CHECK_NEAR(cosine, 1.0, 1e-9);
}

static void check_segment(const problem *p, test_chain *f, double *end, double *next,
                          bool first)
{
    size_t d = p->t.u->dim;
    segment s;
    double a, b, da, db, u[DIM_MAX];
    test_chain_step(f, &s);
    CHECK(s.flow == &flow_ellipse && s.dim == d && s.centre == p->m->w);
    CHECK(s.dt > 0.0 && isfinite(s.dt));
    s.flow->at(s.dt, &a, &b);
    s.flow->rate(s.dt, &da, &db);
    double energy = squared(p, s.p) + squared(p, s.q);
    for (size_t j = 0; j < d; j++) {
        if (!first) CHECK(s.p[j] == end[j] && s.q[j] == next[j]);
        end[j] = a * s.p[j] + b * s.q[j];
        u[j] = da * s.p[j] + db * s.q[j];
        next[j] = s.q_next[j];
    }
    CHECK_NEAR(squared(p, end) + squared(p, u), energy, 1e-9);
    CHECK(s.end->kind == EVENT_BOUNCE || s.end->kind == EVENT_REFRESH);
    CHECK((s.end->missing > 0.0) == (s.end->violations > 0));
    if (s.end->kind == EVENT_BOUNCE) check_bounce(p, f, &s, end, u);
}

static void for_each(void (*property)(const problem *p))
{
    for (size_t a = 0; metric_kinds[a]; a++)
        for (size_t b = 0; batch_kinds[b]; b++)
            for (size_t m = 0; regression_model(m); m++) {
                recipe made = {kind(), metric_kinds[a], batch_kinds[b], regression_model(m),
                               40};
                problem p = problem_make(made);
                CHECK(p.a);
                if (p.a) property(&p);
                problem_close(&p);
            }
}

static void path_property(const problem *p)
{
    static const sampler_settings *const settings[] = {&ours, &papers};
    for (size_t i = 0; i < 2; i++) {
        test_chain f;
        double end[DIM_MAX], next[DIM_MAX];
        test_chain_make(&f, p, settings[i], 1);
        REQUIRE(f.memory.base);
        for (size_t k = 0; k < 300; k++) check_segment(p, &f, end, next, k == 0);
        CHECK(f.counts->bounces > 5 && f.counts->refreshments > 0);
        free(f.memory.base);
    }
}

TEST(path_is_continuous_on_ellipses_and_bounces_reflect_at_the_remainder)
{
    for_each(path_property);
}

/* Logistic rows of weight 0: the posterior is its normal prior, and so is the reference. */
static problem gaussian_problem(void)
{
    const double x[] = {1.0, 1.0, -1.0, 0.5}, y[] = {0.0, 1.0}, weight[] = {1e-13, 1e-13};
    rows_spec as = {.target = "y", .seed = 1};
    prior priors[2];
    problem p = {
        .made = {kind(), metric_find("dense"), &batch_full, model_find("logistic"), 2}};
    prior_parse("normal(0.3,2)", &priors[0], NULL);
    prior_parse("normal(-1,0.01)", &priors[1], NULL);
    rows_copy(2, 2, x, NULL, y, weight, NULL, &as, &p.t.data, NULL);
    if (p.t.data) posterior_create(p.t.data, p.made.model, priors, &p.t.u, NULL);
    if (p.t.u) mode_find(p.t.u, NULL, &p.m, NULL);
    if (p.m) metric_create(p.made.metric, 2, p.m->hessian, &p.a, NULL);
    return p;
}

TEST(a_gaussian_posterior_has_no_bounce)
{
    problem p = gaussian_problem();
    REQUIRE(p.a);
    test_chain f;
    segment s;
    test_chain_make(&f, &p, &ours, 1);
    double speed = 0.0;
    for (size_t i = 0; i < 4000; i++) {
        test_chain_step(&f, &s);
        speed += squared(&p, s.q) / 4000.0;
    }
    CHECK(f.counts->bounces == 0 && f.counts->violations == 0);
    CHECK_Z(speed, 2.0, 2.0 / sqrt(4000.0), MAX_Z); /* |v|^2 ~ chi^2 of 2, anew each time */
    for (size_t j = 0; j < 2; j++) {
        moment_summary m = moments_summarize(&f.m, 1, j);
        double sd = j ? 0.01 : 2.0;
        CHECK_Z(m.mean, j ? -1.0 : 0.3, m.mcse, MAX_Z);
        CHECK_Z(m.sd, sd, sd / sqrt(2.0 * m.ess_square), MAX_Z);
        CHECK(m.ess_mean > 1000.0 && m.ess_square > 500.0);
    }
    free(f.memory.base);
    problem_close(&p);
}

/* Without refreshment a segment would never end there. */
TEST(a_refresh_rate_of_zero_is_replaced)
{
    problem p = gaussian_problem();
    REQUIRE(p.a);
    test_chain f;
    segment s;
    sampler_settings none = ours;
    none.refresh_rate = 0.0;
    test_chain_make(&f, &p, &none, 1);
    for (size_t i = 0; i < 100; i++) test_chain_step(&f, &s);
    CHECK(f.counts->refreshments == 100);
    free(f.memory.base);
    problem_close(&p);
}

CHECK_MAIN

/* A model with two auxiliaries, student_t: regression through the origin with unknown scale
 * and degrees of freedom, sampled by mini-batches under every control variate and by hmc,
 * against quadrature: three coordinates, (b, log sigma, log nu), on a grid of -7 to +11 sds
 * about the mode, beyond which the mass is negligible. And its mode, by SAG as by Newton. */
#include "sampler/fixture.h"

#define ROWS ((size_t)300)
#define DIM  ((size_t)3)
#define SIDE 45
#define LOW  -7.0
#define HIGH 11.0

typedef struct {
    double mean[DIM], sd[DIM];
} answer;

static rows *make_rows(void)
{
    double x[ROWS], y[ROWS];
    const double aux[] = {-0.3, 1.1};
    rng r = rng_stream(31, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = 1.0 + rng_normal(&r);
        y[i] = model_find("student_t")->predictor->simulate(&r, 0.7 * x[i], aux);
    }
    rows *data = NULL;
    const rows_spec as = {.target = "y", .seed = 1};
    rows_copy(ROWS, 1, x, NULL, y, NULL, NULL, &as, &data, NULL);
    return data;
}

static problem make_problem(const char *name, const batch_kind *batches)
{
    problem p = {.made = {sampler_find(name), metric_find("dense"), batches,
                          model_find("student_t"), 40}};
    prior priors[DIM];
    prior_parse("normal(0,2)", &priors[0], NULL);
    prior_parse("exponential(1)", &priors[1], NULL);
    prior_parse("exponential(0.1)", &priors[2], NULL);
    p.t.data = make_rows();
    CHECK(posterior_create(p.t.data, model_find("student_t"), priors, &p.t.u, NULL) == SBPS_OK);
    CHECK(p.t.u && mode_find(p.t.u, NULL, &p.m, NULL) == SBPS_OK);
    if (p.m) metric_create(p.made.metric, DIM, p.m->hessian, &p.a, NULL);
    return p;
}

/* Of the grid, along every coordinate. */
static void grid_steps(const problem *p, double step[DIM])
{
    double e[DIM] = {0}, u[DIM];
    memset(step, 0, DIM * sizeof *step);
    for (size_t j = 0; j < DIM; j++) {
        e[j] = 1.0;
        p->a->kind->forward(p->a, e, u);
        for (size_t i = 0; i < DIM; i++) step[i] += u[i] * u[i];
        e[j] = 0.0;
    }
    for (size_t j = 0; j < DIM; j++) step[j] = sqrt(step[j]) * (HIGH - LOW) / (SIDE - 1);
}

static answer quadrature(const problem *p)
{
    double step[DIM], w[DIM], mass = 0.0, sum[DIM] = {0}, square[DIM] = {0}, top, value;
    answer out;
    grid_steps(p, step);
    posterior_value(p->t.u, p->m->w, &top, NULL);
    for (size_t cell = 0; cell < SIDE * SIDE * SIDE; cell++) {
        const size_t at[DIM] = {cell % SIDE, cell / SIDE % SIDE, cell / SIDE / SIDE};
        double off[DIM];
        for (size_t j = 0; j < DIM; j++) {
            off[j] = step[j] * ((double)at[j] + LOW * (SIDE - 1) / (HIGH - LOW));
            w[j] = p->m->w[j] + off[j];
        }
        posterior_value(p->t.u, w, &value, NULL);
        double density = exp(top - value);
        mass += density;
        for (size_t j = 0; j < DIM; j++) sum[j] += density * off[j];
        for (size_t j = 0; j < DIM; j++) square[j] += density * off[j] * off[j];
    }
    for (size_t j = 0; j < DIM; j++) {
        double mean = sum[j] / mass;
        out.mean[j] = p->m->w[j] + mean;
        out.sd[j] = sqrt(square[j] / mass - mean * mean);
    }
    return out;
}

/* Steps; the first tenth is warm-up. */
static void sample(test_chain *f, size_t steps)
{
    segment s;
    for (size_t i = 0; i < steps; i++) {
        if (i == steps / 10) moments_start(&f->m, f->m.state->length);
        test_chain_step(f, &s);
    }
}

static void compare(const char *name, const batch_kind *batches, const char *variate,
                    size_t steps)
{
    problem p = make_problem(name, batches);
    REQUIRE(p.a);
    answer expected = quadrature(&p);
    control *cv = NULL;
    if (strcmp(variate, "none"))
        control_create(p.t.u, p.m->w,
                       strcmp(variate, "hessian") ? CONTROL_GRADIENT : CONTROL_HESSIAN, NULL,
                       &cv, NULL);
    test_chain f;
    test_chain_make(&f, &p, &ours, 4);
    minibatch_equip(&f.u, cv, 0.0);
    sample(&f, steps);
    for (size_t j = 0; j < DIM; j++) {
        moment_summary got = moments_summarize(&f.m, 1, j);
        CHECK(got.ess_mean > 500.0);
        CHECK_Z(got.mean, expected.mean[j], got.mcse, MAX_Z);
        CHECK_Z(got.sd, expected.sd[j], expected.sd[j] / sqrt(0.5 * got.ess_square), MAX_Z);
    }
    free(f.memory.base);
    control_destroy(cv);
    problem_close(&p);
}

TEST(sbps_without_a_control_variate)
{
    compare("sbps", &batch_window, "none", 150000);
}

TEST(sbps_with_gradient_control_variate)
{
    compare("sbps", &batch_window, "gradient", 150000);
}

TEST(sbps_with_hessian_control_variate)
{
    compare("sbps", &batch_window, "hessian", 150000);
}

TEST(hmc_on_all_rows)
{
    compare("hmc", &batch_full, "none", 20000);
}

TEST(sag_finds_the_mode_that_newton_finds)
{
    problem p = make_problem("hmc", &batch_full);
    REQUIRE(p.a);
    const mode_request how = {
        .method = "sag", .tolerance = 1e-4, .max_epochs = 1000, .seed = 1};
    mode *m = NULL;
    REQUIRE(mode_find_by(p.t.u, NULL, &how, &m, NULL) == SBPS_OK);
    for (size_t j = 0; j < DIM; j++) CHECK_NEAR(m->w[j], p.m->w[j], 1e-4);
    mode_destroy(m);
    problem_close(&p);
}

CHECK_MAIN

/* nuts as a black box: trajectories have at most 2^k - 1 leapfrogs and end when they turn
 * back; what is adapted approaches what is known of Gaussians, and stays. tests/stat checks
 * the distribution. */
#include "linalg/cholesky.h"
#include "sampler/trajectories.h"

#define WARM_UP 1000
#define SAMPLED 4000
#define VECTORS ((size_t)40) /* of the arena */

static problem make(const metric_kind *how)
{
    recipe made = {sampler_find("nuts"), how, &batch_full, model_find("logistic"), 0};
    return problem_make(made);
}

typedef struct {
    double leapfrogs, moved;  /* means over trajectories */
    double correlation;       /* of neighbouring states, squares of all coordinates together */
    uint64_t fewest, largest; /* leapfrogs */
} summary;

static summary observe(test_chain *f, size_t trajectories)
{
    summary out = {.fewest = UINT64_MAX};
    segment s;
    double product = 0.0, square = 0.0;
    for (size_t i = 0; i < trajectories; i++) {
        test_chain_step(f, &s);
        uint64_t count = s.end->rows / f->u.is.batch;
        out.leapfrogs += (double)count / (double)trajectories;
        out.fewest = count < out.fewest ? count : out.fewest;
        out.largest = count > out.largest ? count : out.largest;
        out.moved +=
            (memcmp(f->s.p_next, s.p, s.dim * sizeof *s.p) != 0) / (double)trajectories;
        product += dot(s.dim, f->s.p_next, s.p);
        square += dot(s.dim, s.p, s.p);
    }
    out.correlation = product / square;
    return out;
}

static void warm_up(test_chain *f)
{
    segment s;
    f->s.kind->adapt(&f->s, true);
    for (size_t i = 0; i < WARM_UP; i++) test_chain_step(f, &s);
    f->s.kind->adapt(&f->s, false);
}

/* In the metric of a nearly Gaussian posterior a period is 2 pi long, and a trajectory turns
 * back after half of one: with steps of 0.1 that takes 31 leapfrogs, so 5 doublings,
 * sometimes one more, and with the short steps of one trajectory in eight four times as
 * many. */
TEST(trajectories_end_when_they_turn_back)
{
    problem p = make(metric_find("dense"));
    REQUIRE(p.a);
    test_chain f;
    segment s;
    sampler_settings fixed = ours;
    fixed.step_size = 0.1;
    test_chain_make(&f, &p, &fixed, 1);
    test_chain_step(&f, &s); /* the start is evaluated once more */
    summary observed = observe(&f, 500);
    CHECK(observed.fewest >= 1 && observed.largest <= 255);
    CHECK(observed.leapfrogs > 20.0 && observed.leapfrogs < 50.0);
    CHECK(observed.moved > 0.95);
    free(f.memory.base);
    problem_close(&p);
}

TEST(adaptation_makes_neighbours_nearly_independent_in_every_metric)
{
    for (size_t a = 0; metric_kinds[a]; a++) {
        problem p = make(metric_kinds[a]);
        REQUIRE(p.a);
        test_chain f;
        test_chain_make(&f, &p, &ours, 1);
        warm_up(&f);
        summary observed = observe(&f, SAMPLED);
        printf("%s: %.2f leapfrogs\n", metric_kinds[a]->name, observed.leapfrogs);
        CHECK(observed.leapfrogs < (metric_kinds[a] == metric_find("dense") ? 9.0 : 22.0));
        CHECK(observed.moved > 0.7);
        CHECK(fabs(observed.correlation) < 0.3);
        free(f.memory.base);
        problem_close(&p);
    }
}

/* The scales s are the first DIM numbers behind the position and its gradient. Of a Gaussian
 * with covariance C, Var(z_j) = C_jj and Var(dV/dz_j) = (C^-1)_jj. */
TEST(scales_come_from_draws_and_gradients_and_are_frozen)
{
    problem p = make(metric_find("none"));
    REQUIRE(p.a);
    test_chain f;
    size_t d = p.t.u->dim;
    double inverse[DIM_MAX * DIM_MAX], kept[DIM_MAX];
    test_chain_make(&f, &p, &ours, 1);
    warm_up(&f);
    const double *scale = f.s.extra + 2 * d;
    memcpy(inverse, p.m->hessian, d * d * sizeof *inverse);
    REQUIRE(cholesky(d, inverse));
    for (size_t j = 0; j < d; j++) {
        double unit[DIM_MAX] = {0};
        unit[j] = 1.0;
        cholesky_solve(d, inverse, unit);
        double expected = pow(unit[j] / p.m->hessian[j * d + j], 0.25);
        CHECK_NEAR(log(scale[j] / expected), 0.0, 0.15);
    }
    memcpy(kept, scale, d * sizeof *kept);
    observe(&f, 100);
    CHECK(!memcmp(kept, scale, d * sizeof *kept));
    free(f.memory.base);
    problem_close(&p);
}

/* M is the first matrix behind the vectors. Of a Gaussian with covariance C, M M' = C. */
TEST(the_matrix_comes_from_draws_and_gradients)
{
    problem p = make(metric_find("none"));
    REQUIRE(p.a);
    test_chain f;
    size_t d = p.t.u->dim;
    test_chain_make(&f, &p, &ours, 1);
    warm_up(&f);
    const double *m = f.s.extra + VECTORS * d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0.0; /* of M' H M */
            for (size_t k = 0; k < d; k++)
                for (size_t l = 0; l < d; l++)
                    sum += m[k * d + i] * p.m->hessian[k * d + l] * m[l * d + j];
            CHECK_NEAR(sum, i == j ? 1.0 : 0.0, 0.3);
        }
    free(f.memory.base);
    problem_close(&p);
}

TEST(huge_steps_are_rejected)
{
    check_absurd_steps(make(metric_find("dense")));
}

TEST(a_start_without_a_finite_energy_fails)
{
    check_start_without_energy(make(metric_find("dense")));
}

CHECK_MAIN

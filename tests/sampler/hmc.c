/* hmc as a black box: leapfrogs conserve the energy to second order and are reversible, and
 * what is adapted in warm-up approaches what is known of Gaussians. The properties of all
 * samplers and the runs of tests/stat check the distribution. */
#include "sampler/trajectories.h"

static problem make(const metric_kind *how)
{
    recipe made = {sampler_find("hmc"), how, &batch_full, model_find("logistic"), 0};
    return problem_make(made);
}

static double energy(const problem *p, const double *at, const double *v)
{
    double w[DIM_MAX] = {0}, value = NAN;
    size_t d = p->t.u->dim;
    for (size_t j = 0; j < d; j++) w[j] = p->m->w[j] + at[j];
    posterior_value(p->t.u, w, &value, NULL);
    return value + 0.5 * dot(d, v, v);
}

/* The momentum of the first trajectory: the first numbers of the chain's stream. */
static void first_momentum(size_t d, uint64_t seed, double *v)
{
    rng r = rng_stream(seed, 0, RNG_PATH);
    for (size_t j = 0; j < d; j++) v[j] = rng_normal(&r);
}

/* Root mean square of H' - H over first trajectories with steps of e, in units of the scale. */
static double energy_error(const problem *p, double e, size_t *moved)
{
    double sum = 0.0, v[DIM_MAX], zero[DIM_MAX] = {0};
    *moved = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        test_chain f;
        segment s;
        sampler_settings fixed = ours;
        fixed.step_size = e / natural_scale(p);
        test_chain_make(&f, p, &fixed, seed);
        first_momentum(p->t.u->dim, seed, v);
        f.s.kind->step(&f.s, &s);
        bool accepted = memcmp(f.s.p_next, zero, s.dim * sizeof *zero);
        if (accepted) sum += pow(energy(p, f.s.p_next, f.s.v) - energy(p, zero, v), 2.0);
        *moved += accepted;
        free(f.memory.base);
    }
    return sqrt(sum / (double)*moved);
}

TEST(leapfrogs_keep_the_energy_to_second_order)
{
    for (size_t a = 0; metric_kinds[a]; a++) {
        problem p = make(metric_kinds[a]);
        REQUIRE(p.a);
        size_t moved[3];
        double coarse = energy_error(&p, 0.2, &moved[0]);
        double fine = energy_error(&p, 0.1, &moved[1]);
        double finest = energy_error(&p, 0.05, &moved[2]);
        CHECK(coarse < 0.1 && moved[0] > 250 && moved[2] > 290);
        CHECK(coarse / fine > 3.3 && coarse / fine < 4.7);
        CHECK(fine / finest > 3.6 && fine / finest < 4.4);
        problem_close(&p);
    }
}

TEST(every_leapfrog_evaluates_all_rows_once)
{
    problem p = make(metric_find("dense"));
    REQUIRE(p.a);
    test_chain f;
    segment s;
    sampler_settings fixed = ours;
    fixed.step_size = acos(0.0) / 8.0; /* a quarter turn in eight steps, spread by a fifth */
    test_chain_make(&f, &p, &fixed, 1);
    uint64_t evaluations = 0, fewest = UINT64_MAX, largest = 0;
    for (size_t i = 0; i < 1000; i++) {
        test_chain_step(&f, &s);
        CHECK(s.end->rows % f.u.is.batch == 0 && s.end->proposals == 1);
        /* the start was evaluated once */
        uint64_t now = s.end->rows / f.u.is.batch - (i == 0);
        evaluations += now;
        fewest = now < fewest ? now : fewest;
        largest = now > largest ? now : largest;
    }
    CHECK_NEAR((double)evaluations / 1000.0, 8.0, 0.03);
    CHECK(fewest >= 6 && fewest < 8 && largest > 8 && largest <= 10);
    free(f.memory.base);
    problem_close(&p);
}

/* Warm-up by hand: step and length move, then stay. A nearly Gaussian posterior requires a
 * quarter turn in the metric, and then two to four leapfrogs are enough in four dimensions. */
TEST(adaptation_finds_a_quarter_turn_and_is_frozen)
{
    for (size_t a = 0; metric_kinds[a]; a++) {
        problem p = make(metric_kinds[a]);
        REQUIRE(p.a);
        test_chain f;
        segment s;
        test_chain_make(&f, &p, &ours, 1);
        f.s.kind->adapt(&f.s, true);
        for (size_t i = 0; i < 2000; i++) test_chain_step(&f, &s);
        f.s.kind->adapt(&f.s, false);
        double evaluations = 0.0, moved = 0.0, product = 0.0, square = 0.0;
        for (size_t i = 0; i < 4000; i++) {
            test_chain_step(&f, &s);
            evaluations += (double)s.end->rows / (double)f.u.is.batch;
            moved += memcmp(f.s.p_next, s.p, s.dim * sizeof *s.p) != 0;
            product += dot(s.dim, f.s.p_next, s.p);
            square += dot(s.dim, s.p, s.p);
        }
        CHECK(moved / 4000.0 > 0.65 && moved / 4000.0 < 0.9);
        CHECK(evaluations / 4000.0 < (metric_kinds[a] == metric_find("dense") ? 3.5 : 12.0));
        CHECK(fabs(product / square) < 0.5); /* neighbouring draws are nearly independent */
        free(f.memory.base);
        problem_close(&p);
    }
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

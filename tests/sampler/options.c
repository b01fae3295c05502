/* The options of sbps: each has its documented effect, and none when it is off. */
#include "sampler/band/slope_regression.h"
#include "sampler/fixture.h"

/* ---- slope repair ---- */

TEST(a_repaired_slope_is_zero_and_the_level_is_the_mean)
{
    regression r = {0};
    const double g[4] = {5.0, 4.0, 2.5, 1.0};
    for (size_t i = 0; i < 4; i++) regression_add(&r, (double)i, g[i], 1.0);
    regression_fit fit = regression_solve(&r, (slope_prior){1.0, 1e3}, 0.5, 0.5), was = fit;
    REQUIRE(fit.b1 < 0.0);
    fit_repair_slope(&fit);
    CHECK(fit.b1 == 0.0);
    /* of b0 given b1 = 0: the mean of the observations */
    CHECK_NEAR(fit.b0, 3.125, TOL_SUM);
    CHECK(fit.v00 == was.v00 && fit.v01 == was.v01 && fit.v11 == was.v11);
}

TEST(a_positive_slope_needs_no_repair)
{
    regression_fit fit = {.b0 = 1.0, .b1 = 2.0, .v00 = 1.0, .v01 = -0.5, .v11 = 1.0}, was = fit;
    fit_repair_slope(&fit);
    CHECK(!memcmp(&fit, &was, sizeof fit));
}

/* ---- lack of fit ---- */

TEST(drift_adds_to_the_variance_only_beyond_the_last_observation)
{
    regression_fit fit = {.b0 = 1.0, .b1 = 2.0, .v00 = 1.0, .v01 = -0.5, .v11 = 1.0}, was = fit;
    fit_admit_drift(&fit, 3.0, 2.0);
    for (double t = 0.0; t < 6.0; t += 0.5) {
        double more = fit_sd(&fit, t) * fit_sd(&fit, t) - fit_sd(&was, t) * fit_sd(&was, t);
        CHECK_NEAR(more, 3.0 * (t - 2.0) * (t - 2.0), TOL_SUM);
        CHECK(fit_mean(&fit, t) == fit_mean(&was, t));
    }
}

/* kappa after one observation at t = 1.5, its residual in predicted sd. */
static double drift_after(double kappa, double residual, double noise)
{
    slope_regression o;
    slope_regression_start(&o, &ours.band);
    slope_regression_clear(&o, 1.0);
    slope_regression_add(&o, &ours.band, 0.0, &(observation){.slope = 1.0, .variance = noise});
    slope_regression_add(&o, &ours.band, 0.5, &(observation){.slope = 1.5, .variance = noise});
    o.drift = kappa;
    band b = slope_regression_band(&o, &ours.band);
    double g = band_mean(&b, 1.5) + residual * band_sd(&b, 1.5);
    slope_regression_learn(&o, &ours.band, &b, 1.5, g);
    return o.drift;
}

TEST(drift_grows_with_large_residuals_that_noise_does_not_explain)
{
    CHECK_NEAR(drift_after(1.0, 1.0, 1e-8), 1.0, 1e-6); /* as predicted */
    CHECK(drift_after(1.0, 2.0, 1e-8) > 1.2);
    CHECK(drift_after(1.0, 0.0, 1e-8) < 0.95);
    CHECK(drift_after(1.0, 100.0, 1e-8) < 3.0); /* limited effect of one odd observation */
    CHECK(drift_after(1.0, 2.0, 1e4) < 1.001);  /* noise may explain it */
    CHECK(drift_after(1e-9, 0.0, 1e-8) > 1e-3); /* it never becomes 0 */
}

/* ---- decaying weights ---- */

TEST(weights_decay_with_the_distance_from_the_latest_observation)
{
    sampler_settings set = ours;
    slope_regression o;
    set.band.weight_decay = true;
    slope_regression_start(&o, &set.band);
    slope_regression_clear(&o, 4.0); /* time is natural time / 2 */
    double tau = exp(o.decay.log_tau) / 2.0, times[3] = {0.0, 0.4, 1.1};
    for (size_t i = 0; i < 3; i++)
        slope_regression_add(&o, &set.band, times[i],
                             &(observation){.slope = (double)i, .variance = 1.0});
    double w0 = exp(-1.1 / tau), w1 = exp(-0.7 / tau);
    CHECK_NEAR(o.fit.w, w0 + w1 + 1.0, TOL_SUM);
    CHECK_NEAR(o.fit.t, 0.4 * w1 + 1.1, TOL_SUM);
    CHECK_NEAR(o.fit.g, w1 + 2.0, TOL_SUM);
    CHECK(o.decay.shorter.w < o.fit.w && o.fit.w < o.decay.longer.w);
    CHECK(o.fit.count == 3);
}

/* tau after segments of G = sin(rate t) with little noise. */
static double learned_tau(double rate)
{
    sampler_settings set = ours;
    slope_regression o;
    rng r = rng_stream(32, 0, RNG_TEST);
    set.band.weight_decay = true;
    set.band.lack_of_fit = false;
    slope_regression_start(&o, &set.band);
    for (size_t k = 0; k < 500; k++) {
        double phase = 6.28 * rng_uniform(&r);
        slope_regression_clear(&o, 1.0);
        for (double t = 0.0; t < 4.0; t += 0.1) {
            double g = 3.0 * sin(rate * t + phase) + rng_normal(&r);
            if (t > 0.0) {
                band b = slope_regression_band(&o, &set.band);
                slope_regression_learn(&o, &set.band, &b, t, g);
            }
            slope_regression_add(&o, &set.band, t, &(observation){.slope = g, .variance = 1.0});
        }
    }
    return exp(o.decay.log_tau);
}

TEST(the_scale_of_decay_is_learned_from_the_curvature_of_the_rate)
{
    double slow = learned_tau(0.2), fast = learned_tau(1.0);
    CHECK(fast < 0.5 * slow);
    CHECK(fast > 0.06 && slow < 900.0);
}

/* ---- Gaussian process ---- */

/* Dense normal equations: K as in regression.c with a level of variance 1e8, by elimination. */
static void dense_prediction(const process *p, double t, double *mean, double *variance)
{
    double k[8][10], level = 1e8;
    size_t n = p->count;
    for (size_t i = 0; i <= n; i++) {
        double ti = i < n ? p->t[i] : t;
        for (size_t j = 0; j < n; j++) {
            double a = sqrt(3.0) * fabs(ti - p->t[j]) / p->scale.length;
            double c = level + p->prior.variance * ti * p->t[j] +
                       p->scale.variance * (1.0 + a) * exp(-a);
            if (i < n)
                k[i][j] = c + (i == j ? p->noise : 0.0);
            else
                for (size_t m = 0; m < n; m++)
                    if (m == j) k[m][n] = c; /* right-hand side 1 */
        }
        if (i < n) k[i][n + 1] = p->g[i] - p->prior.mean * p->t[i];
    }
    double cross[8];
    for (size_t i = 0; i < n; i++) cross[i] = k[i][n];
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < n; r++) {
            if (r == i) continue;
            double f = k[r][i] / k[i][i];
            for (size_t c = i; c < n + 2; c++) k[r][c] -= f * k[i][c];
        }
    *mean = p->prior.mean * t;
    *variance = level + p->prior.variance * t * t + p->scale.variance + p->noise;
    for (size_t i = 0; i < n; i++) {
        *mean += cross[i] * k[i][n + 1] / k[i][i];
        *variance -= cross[i] * k[i][n] / k[i][i];
    }
}

TEST(process_predicts_as_the_dense_equations_with_a_vague_level)
{
    static process p;
    const double t[5] = {0.0, 0.3, 0.5, 1.2, 1.4}, g[5] = {-2.0, -1.0, 0.5, 0.2, 3.0};
    for (size_t n = 1; n <= 5; n++) {
        process_clear(&p);
        for (size_t i = 0; i < n; i++) process_add(&p, t[i], g[i]);
        process_fit(&p, (slope_prior){1.5, 0.7}, (process_scale){2.0, 0.8}, 0.3);
        for (double at = 0.0; at < 3.0; at += 0.4) {
            double mean, variance, expected_mean, expected_variance;
            process_predict(&p, at, &mean, &variance);
            dense_prediction(&p, at, &expected_mean, &expected_variance);
            CHECK_NEAR(mean, expected_mean, 1e-5);
            CHECK_NEAR(variance, expected_variance, 1e-5);
        }
    }
}

TEST(process_keeps_the_latest_observations_and_follows_jumps)
{
    static process p, q;
    for (size_t i = 0; i < PROCESS_MAX + 7; i++) process_add(&p, (double)i, sin((double)i));
    CHECK(p.count == PROCESS_MAX && p.t[0] == 7.0);
    for (size_t i = 7; i < PROCESS_MAX + 7; i++)
        process_add(&q, (double)i, sin((double)i) + 2.5);
    process_shift(&p, 2.5);
    for (size_t i = 0; i < PROCESS_MAX; i++) CHECK_NEAR(p.g[i], q.g[i], TOL_ROUND);
}

TEST(a_process_of_variance_0_is_the_straight_line)
{
    static process p;
    regression r = {0};
    slope_prior slope = {1.0, 0.5};
    for (size_t i = 0; i < 6; i++) {
        double t = 0.2 * (double)i, g = 3.0 * t + cos(9.0 * t);
        process_add(&p, t, g);
        regression_add(&r, t, g, 1.0);
    }
    regression_fit fit = regression_solve(&r, slope, 0.4, 0.4);
    process_fit(&p, slope, (process_scale){1e-12, 1.0}, 0.4);
    for (double t = 0.0; t < 3.0; t += 0.25) {
        double mean, variance, sd = fit_sd(&fit, t);
        process_predict(&p, t, &mean, &variance);
        CHECK_NEAR(mean, fit_mean(&fit, t), 1e-8);
        CHECK_NEAR(variance, sd * sd, 1e-8);
    }
}

/* Beyond the latest observation an arrival's rate is not below the band, though that is not
 * convex. */
TEST(chords_over_a_process_lie_above_its_band)
{
    static process p;
    rng r = rng_stream(33, 0, RNG_TEST);
    double worst = 0.0;
    for (size_t trial = 0; trial < 200; trial++) {
        process_clear(&p);
        for (size_t i = 0; i < 8; i++) process_add(&p, 0.25 * (double)i, 5.0 * rng_normal(&r));
        process_fit(&p, (slope_prior){1.0, 0.5}, (process_scale){20.0, 0.4}, 0.1);
        band b = {.curve = &p, .k = 3.0, .floor = 0.1};
        chord_grid grid = {
            .start = 1.75, .step = 0.05, .growth = 2.0, .limit = 5.0, .longest = 0.2};
        for (size_t i = 0; i < 20; i++) {
            arrival a = band_arrival(&b, &grid, 4.0 * rng_exponential(&r));
            if (!a.arrived) continue;
            worst = fmax(worst, (band_at(&b, a.time) - a.rate) / a.rate);
        }
    }
    CHECK(worst < 1e-3);
}

/* ---- whole segments ---- */

static const sampler_settings *with(sampler_settings *set, size_t which)
{
    *set = ours;
    set->band.slope_repair = which == 0;
    set->band.weight_decay = which == 1;
    set->band.process = which == 2;
    set->band.auxiliary = which == 3 ? 2 : 0;
    set->band.auxiliary_always = true;
    return set;
}

/* Each option changes the path, and its means agree with those of the plain sampler. */
TEST(every_option_changes_the_path_but_not_the_posterior)
{
    recipe made = {sampler_find("sbps"), metric_find("dense"), &batch_random,
                   model_find("logistic"), 100};
    problem p = problem_make(made);
    REQUIRE(p.a);
    size_t d = p.t.u->dim;
    double mean[DIM_MAX], mcse[DIM_MAX];
    for (size_t i = 0; i < 5; i++) {
        size_t which = 4 - i; /* 4: none of them, the measure of the others */
        test_chain f, plain;
        segment s, t;
        sampler_settings set;
        bool differs = false;
        test_chain_make(&f, &p, with(&set, which), 7);
        test_chain_make(&plain, &p, &ours, 7);
        uint64_t evaluations = 0;
        for (size_t k = 0; k < 60000; k++) {
            test_chain_step(&f, &s);
            evaluations += s.end->rows / f.u.is.batch;
            CHECK(s.end->rows % f.u.is.batch == 0 && isfinite(s.dt) && s.dt > 0.0);
            if (k > 50) continue;
            test_chain_step(&plain, &t);
            differs = differs || s.dt != t.dt;
        }
        CHECK(differs == (which < 4));
        CHECK(evaluations >= f.counts->proposals * (which == 3 ? 2 : 1));
        for (size_t j = 0; j < d; j++) {
            moment_summary m = moments_summarize(&f.m, 1, j);
            if (which == 4) {
                mean[j] = m.mean;
                mcse[j] = m.mcse;
            }
            CHECK_Z(m.mean, mean[j], sqrt(mcse[j] * mcse[j] + m.mcse * m.mcse) + 1e-300, MAX_Z);
        }
        free(f.memory.base);
        free(plain.memory.base);
    }
    problem_close(&p);
}

TEST(auxiliary_observations_count_their_rows)
{
    recipe made = {sampler_find("sbps"), metric_find("dense"), &batch_random,
                   model_find("logistic"), 40};
    problem p = problem_make(made);
    REQUIRE(p.a);
    test_chain f;
    segment s;
    sampler_settings set = ours;
    set.band.auxiliary = 3;
    set.band.auxiliary_always = true;
    test_chain_make(&f, &p, &set, 8);
    for (size_t k = 0; k < 100; k++) test_chain_step(&f, &s);
    for (size_t k = 0; k < 1000; k++) {
        test_chain_step(&f, &s);
        bool bounce = s.end->kind == EVENT_BOUNCE;
        /* each of them, and the start, makes an auxiliary observation */
        uint64_t rejected = s.end->proposals - bounce;
        CHECK(s.end->rows / f.u.is.batch >= s.end->proposals + 3 * (rejected + 1));
    }
    free(f.memory.base);
    problem_close(&p);
}

/* ---- the adaptive metric ---- */

static const metric_kind *adaptive(void)
{
    for (size_t i = 0; metric_kinds[i]; i++)
        if (metric_kinds[i]->learn) return metric_kinds[i];
    return NULL;
}

TEST(adaptive_metric_is_the_inverse_root_of_mean_squares_with_mean_one)
{
    const double h[4] = {4.0, 0.0, 0.0, 100.0};
    metric *m;
    REQUIRE(metric_create(adaptive(), 2, h, &m, NULL) == SBPS_OK);
    CHECK_NEAR(m->data[0], 2.0 * 0.5 / 0.6, TOL_ROUND); /* 1/2 and 1/10 over their mean */
    CHECK_NEAR(m->data[1], 2.0 * 0.1 / 0.6, TOL_ROUND);
    m->kind->learn(m, (double[]){3.0, 0.0}, 0.9);
    CHECK_NEAR(m->data[2], 0.9 * 4.0 + 0.1 * 9.0, TOL_ROUND);
    CHECK_NEAR(m->data[3], 0.9 * 100.0, TOL_ROUND);
    CHECK_NEAR(m->data[0], 2.0 * 0.5 / 0.6, TOL_ROUND); /* A waits */
    m->kind->update(m, 0.25);
    double r0 = 1.0 / (sqrt(4.5) + 0.25), r1 = 1.0 / (sqrt(90.0) + 0.25);
    CHECK_NEAR(m->data[0], 2.0 * r0 / (r0 + r1), TOL_ROUND);
    CHECK_NEAR(m->data[0] + m->data[1], 2.0, TOL_ROUND);
    metric_destroy(m);
}

/* A is unchanged until the next bounce and when frozen, and starts as the shared one. */
TEST(the_metric_changes_only_at_bounces_and_only_while_it_adapts)
{
    recipe made = {sampler_find("psbps"), adaptive(), &batch_random, model_find("logistic"),
                   40};
    problem p = problem_make(made);
    REQUIRE(p.a);
    test_chain f;
    segment s;
    sampler_settings set = ours;
    size_t d = p.t.u->dim, changed = 0;
    double before[DIM_MAX];
    set.metric_beta = 0.9;
    set.metric_eps = 1e-4;
    test_chain_make(&f, &p, &set, 9);
    CHECK(f.s.a == &f.s.own && !memcmp(f.s.own.data, p.a->data, 2 * d * sizeof(double)));
    for (size_t phase = 0; phase < 3; phase++) { /* off, on, off */
        f.s.kind->adapt(&f.s, phase == 1);
        for (size_t k = 0; k < 300; k++) {
            memcpy(before, f.s.own.data, d * sizeof *before);
            test_chain_step(&f, &s);
            bool same = !memcmp(before, f.s.own.data, d * sizeof *before);
            CHECK(same || (phase == 1 && s.end->kind == EVENT_BOUNCE));
            changed += !same;
            double y[DIM_MAX];
            f.s.a->kind->precision(f.s.a, s.q_next, y);
            CHECK_NEAR(dot(d, s.q_next, y), 1.0, 1e-10);
        }
    }
    CHECK(changed > 100);
    free(f.memory.base);
    problem_close(&p);
}

CHECK_MAIN

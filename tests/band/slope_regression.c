/* The slope regression against values computed here: pooled noise, jumps and the slope prior;
 * and the same in the reported observations of whole segments. */
#include "sampler/band/slope_regression.h"
#include "sampler/fixture.h"

static observation make_observation(double slope, double variance)
{
    return (observation){.slope = slope, .variance = variance};
}

/* ---- pooled variance ---- */

static const double variances[] = {3.0, 0.5, 2.0, 9.0, 1.0};

/* The running mean is in units of u'Hu: a segment along which that is 4 times as large uses
 * 4 times the mean, next to its own observations, which are used as they are. */
TEST(noise_is_pooled_over_the_segment_with_a_running_mean_in_units_of_curvature)
{
    const double first = 2.0, second = 8.0;
    band_settings set = ours.band;
    slope_regression o;
    double running = 0.0;
    slope_regression_start(&o, &set);
    slope_regression_clear(&o, first);
    for (size_t i = 0; i < 5; i++) {
        observation observed = make_observation((double)i, variances[i]);
        slope_regression_add(&o, &set, (double)i, &observed);
        running += variances[i] / first / 5.0;
    }
    slope_regression_clear(&o, second);
    observation observed = make_observation(1.0, 6.0);
    slope_regression_add(&o, &set, 0.0, &observed);
    running += (6.0 / second - running) / 6.0;
    band b = slope_regression_band(&o, &set);
    CHECK_NEAR(o.running, running, TOL_SUM);
    CHECK_NEAR(b.fit.noise, (set.pool * running * second + 6.0) / (set.pool + 1.0), TOL_SUM);
    CHECK_NEAR(b.fit.v00, b.fit.noise, TOL_SUM); /* of the level, after one observation */
    set.pool = 0.0;
    b = slope_regression_band(&o, &set);
    CHECK(b.fit.noise == 6.0); /* the last batch alone */
}

/* ---- kinks ---- */

static band band_after(const band_settings *set, double raise, double jump)
{
    static slope_regression o; /* a band over a process borrows from it */
    slope_regression_start(&o, set);
    slope_regression_clear(&o, 1.0);
    for (size_t i = 0; i < 4; i++) {
        observation observed =
            make_observation(raise + 0.5 * (double)i + sin(3.0 * (double)i), 0.3);
        slope_regression_add(&o, set, 0.4 * (double)i, &observed);
    }
    slope_regression_shift(&o, jump);
    return slope_regression_band(&o, set);
}

TEST(beyond_a_kink_the_band_includes_the_jump)
{
    for (size_t which = 0; which < 3; which++) {
        band_settings set = ours.band;
        set.weight_decay = which == 1;
        set.process = which == 2;
        for (double t = 1.2; t < 3.0; t += 0.3) {
            band before = band_after(&set, 0.0, 0.0);
            double plain = band_mean(&before, t);
            band jumped = band_after(&set, 0.0, 2.5);
            double mean = band_mean(&jumped, t), top = band_at(&jumped, t);
            band raised = band_after(&set, 2.5, 0.0);
            CHECK_NEAR(mean, plain + 2.5, TOL_SUM);
            CHECK_NEAR(top, band_at(&raised, t), TOL_SUM);
        }
    }
}

typedef struct {
    const test_chain *f;
    double residual, jump, count; /* sums of squares behind kinks */
} kink_watch;

/* Auxiliary observations made before exactly one kink. */
static void record_kink(void *self, const slope_observation *l)
{
    kink_watch *k = self;
    double jump, other, at;
    if (isnan(l->mean) || isnan(l->slope)) return;
    at = potential_next_kink(&k->f->u.is, 0.0, &jump);
    if (!(at < l->t) || potential_next_kink(&k->f->u.is, at, &other) < l->t) return;
    k->residual += (l->slope - l->mean) * (l->slope - l->mean);
    k->jump += jump * jump;
    k->count++;
}

/* Without noise the slope predicted beyond a kink is right to a fraction of the jump: with the
 * wrong sign, or none, it would be off by twice or once the jump. */
TEST(segments_predict_the_slope_beyond_a_kink)
{
    problem p = {.made = {sampler_find("sbps"), metric_find("dense"), &batch_full,
                          model_find("logistic"), 300}};
    table_spec spec = {
        .n = 300, .columns = 3, .weights = "laplace(0,0.05)", .sigma = "exponential(1)"};
    p.t = table_make(p.made.model, spec);
    REQUIRE(p.t.u && mode_find(p.t.u, NULL, &p.m, NULL) == SBPS_OK);
    metric_create(p.made.metric, p.t.u->dim, p.m->hessian, &p.a, NULL);
    REQUIRE(p.a);
    test_chain f;
    segment s;
    kink_watch k = {.f = &f};
    observation_sink watch = {&k, record_kink};
    test_chain_make(&f, &p, &ours, 11);
    f.s.observer = &watch;
    for (size_t i = 0; i < 2000; i++) test_chain_step(&f, &s);
    CHECK(k.count > 200.0);
    printf("behind %.0f kinks: residual %.3f of the jump\n", k.count,
           sqrt(k.residual / k.jump));
    CHECK(k.residual < 0.1 * k.jump);
    free(f.memory.base);
    problem_close(&p);
}

/* ---- the evidence ---- */

/* A segment of three observations that rise ever faster; the third ends it. */
static slope_regression ended_segment(const band_settings *set, const observation *last)
{
    static const double g[2] = {-2.0, -1.0};
    slope_regression o;
    slope_regression_start(&o, set);
    slope_regression_clear(&o, 4.0);
    for (size_t i = 0; i < 2; i++) {
        observation observed = make_observation(g[i], 0.25);
        slope_regression_add(&o, set, 0.3 * (double)i, &observed);
    }
    slope_regression_end(&o, set, 0.6, last);
    return o;
}

TEST(the_observation_that_ends_a_segment_belongs_to_its_evidence)
{
    const observation last = make_observation(5.0, 0.25);
    const band_settings *both[] = {&ours.band, &papers.band};
    for (size_t i = 0; i < 2; i++) {
        band_settings set = *both[i], without = set;
        without.rejected_evidence = true;
        slope_regression bounced = ended_segment(&set, &last),
                         refreshed = ended_segment(&set, NULL);
        slope_regression old = ended_segment(&without, &last);
        regression r = {0};
        slope_prior expected = {4.0, 16.0};
        double unit = set.pool > 0.0 ? 0.25 : 1.0, weight = set.pool > 0.0 ? 1.0 : 4.0;
        regression_add(&r, 0.0, -2.0, weight);
        regression_add(&r, 0.3, -1.0, weight);
        regression_add(&r, 0.6, 5.0, weight);
        slope_prior_learn(&expected, &r, unit, set.learning_rate);
        CHECK_NEAR(bounced.prior.mean, expected.mean / 4.0, TOL_SUM);
        CHECK_NEAR(bounced.prior.variance, expected.variance / 16.0, TOL_SUM);
        CHECK(bounced.prior.mean > refreshed.prior.mean);
        CHECK(old.prior.mean == refreshed.prior.mean);
        /* its noise counts in the next segment */
        CHECK(bounced.running == refreshed.running);
    }
}

/* A segment of G = level + slope t under normal noise, slopes from 0.5 to 1.5, thinned under
 * its own band, to its bounce. */
static void advance_to_bounce(slope_regression *o, const band_settings *set, rng *r)
{
    double level = -20.0 * rng_uniform(r), slope = 0.5 + rng_uniform(r), t = 0.0;
    observation observed = make_observation(level + 2.0 * rng_normal(r), 4.0);
    arrival a = {0};
    slope_regression_clear(o, 1.0);
    do {
        if (t == 0.0 || a.arrived) slope_regression_add(o, set, t, &observed);
        band b = slope_regression_band(o, set);
        chord_grid grid = slope_regression_grid(o, set, &b, t, INFINITY, INFINITY);
        a = band_arrival(&b, &grid, rng_exponential(r));
        t = a.time;
        observed = make_observation(level + slope * t + 2.0 * rng_normal(r), 4.0);
    } while (!a.arrived || rng_uniform(r) >= observed.slope / a.rate);
    slope_regression_end(o, set, t, &observed);
}

/* Mean of the slope prior over the second half of this many segments. */
static double learned_mean(const band_settings *set, size_t segments)
{
    slope_regression o;
    rng r = rng_stream(35, 0, RNG_TEST);
    double sum = 0.0;
    slope_regression_start(&o, set);
    for (size_t k = 0; k < segments; k++) {
        advance_to_bounce(&o, set, &r);
        if (2 * k >= segments) sum += o.prior.mean;
    }
    return 2.0 * sum / (double)segments;
}

/* A segment ends because its last observation was high. With that observation the evidence
 * is complete: the end depends on nothing that was not observed. Without it slopes are
 * underestimated. */
TEST(the_slope_prior_learns_the_mean_slope)
{
    band_settings all = papers.band, without = papers.band;
    without.rejected_evidence = true;
    double mean = learned_mean(&all, 40000), low = learned_mean(&without, 40000);
    printf("mean slope 1: learned %.3f, %.3f without the looks that bounced\n", mean, low);
    CHECK_NEAR(mean, 1.0, 0.03);
    CHECK(low < 0.95);
}

/* ---- where the prior begins ---- */

TEST(the_slope_prior_begins_at_the_curvature_or_wide)
{
    static const slope_source sources[] = {SLOPE_HESSIAN, SLOPE_LEARNED, SLOPE_WIDE};
    for (size_t i = 0; i < 3; i++) {
        band_settings set = papers.band;
        slope_regression o;
        set.slope_prior = sources[i];
        slope_regression_start(&o, &set);
        slope_regression_clear(&o, 7.0);
        observation observed = make_observation(-3.0, 1.0);
        slope_regression_add(&o, &set, 0.0, &observed);
        band b = slope_regression_band(&o, &set);
        CHECK_NEAR(b.fit.b1, sources[i] == SLOPE_HESSIAN ? 7.0 : 0.0, TOL_SUM);
        CHECK_NEAR(b.fit.v11, sources[i] == SLOPE_HESSIAN ? 49.0 : 1e5, TOL_SUM);
    }
}

/* Segments with slope 20, whatever u'Hu is; each ends by a bounce. */
static slope_prior prior_after(slope_source source, size_t segments)
{
    band_settings set = papers.band;
    slope_regression o;
    rng r = rng_stream(36, 0, RNG_TEST);
    set.slope_prior = source;
    slope_regression_start(&o, &set);
    for (size_t k = 0; k < segments; k++) {
        slope_regression_clear(&o, 1.0 + 9.0 * rng_uniform(&r));
        for (double t = 0.0; t < 0.8; t += 0.2) {
            observation observed =
                make_observation(20.0 * t - 5.0 + 0.3 * rng_normal(&r), 0.09);
            slope_regression_add(&o, &set, t, &observed);
        }
        observation last = make_observation(11.0 + 0.3 * rng_normal(&r), 0.09);
        slope_regression_end(&o, &set, 0.8, &last);
    }
    return o.prior;
}

TEST(a_global_prior_learns_mean_and_spread_and_a_wide_one_the_mean)
{
    slope_prior learned = prior_after(SLOPE_LEARNED, 4000),
                wide = prior_after(SLOPE_WIDE, 4000);
    CHECK_NEAR(learned.mean, 20.0, 0.01);
    CHECK(learned.variance < 1.0);
    CHECK(wide.variance == 1e5);
    CHECK_NEAR(wide.mean, 20.0, 0.02);
}

/* ---- auxiliary observations ---- */

TEST(the_rise_of_a_band_is_its_slope_far_ahead)
{
    for (size_t which = 0; which < 2; which++)
        for (size_t points = 1; points <= 5; points++) {
            static slope_regression o;
            band_settings set = papers.band;
            set.process = which == 1;
            slope_regression_start(&o, &set);
            slope_regression_clear(&o, 2.0);
            for (size_t i = 0; i < points; i++) {
                observation observed =
                    make_observation(4.0 - 9.0 * (double)i + cos(5.0 * (double)i), 0.5);
                slope_regression_add(&o, &set, 0.3 * (double)i, &observed);
            }
            band b = slope_regression_band(&o, &set);
            double far = 1e7, slope = (band_at(&b, 2.0 * far) - band_at(&b, far)) / far;
            CHECK_NEAR(band_rise(&b), slope, 1e-6);
        }
}

typedef struct {
    size_t ahead, observations;
} ahead_watch;

static void record_ahead(void *self, const slope_observation *l)
{
    ahead_watch *a = self;
    a->ahead += l->kind == OBSERVATION_AUXILIARY;
    a->observations += l->kind != OBSERVATION_REFRESH && !l->bounced;
}

static ahead_watch observe_ahead(const problem *p, const sampler_settings *set)
{
    test_chain f;
    segment s;
    ahead_watch a = {0};
    observation_sink watch = {&a, record_ahead};
    test_chain_make(&f, p, set, 13);
    for (size_t k = 0; k < 200; k++) test_chain_step(&f, &s);
    f.s.observer = &watch;
    for (size_t k = 0; k < 5000; k++) test_chain_step(&f, &s);
    free(f.memory.base);
    a.observations -= a.ahead;
    return a;
}

/* In a posterior without valleys the band of as many standard errors rises: there are no
 * auxiliary observations. */
TEST(auxiliary_observations_are_made_only_where_the_band_falls)
{
    problem p = problem_make((recipe){sampler_find("sbps"), metric_find("dense"), &batch_random,
                                      model_find("logistic"), 40});
    REQUIRE(p.a);
    sampler_settings set = papers;
    set.band.auxiliary = 1;
    ahead_watch needed = observe_ahead(&p, &set);
    set.band.auxiliary_always = true;
    ahead_watch always = observe_ahead(&p, &set);
    CHECK(needed.ahead == 0 && needed.observations > 5000);
    CHECK(always.ahead == always.observations);
    problem_close(&p);
}

CHECK_MAIN

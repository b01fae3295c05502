/* The width of the band is the one whose missing bounces reach the goal. For G ~ N(m, s^2)
 * under a band of width k they occur at the rate s (phi(k) - k Q(k)). */
#include "sampler/band/calibration.h"
#include "check.h"
#include "core/rng.h"

#define MEAN 1.7
#define SD   0.6

static double partial_expectation(double k)
{
    return exp(-0.5 * k * k) / sqrt(2.0 * M_PI) - k * 0.5 * erfc(k / sqrt(2.0));
}

/* Proposals of a band of width 5 for so much time. */
static double simulate_proposals(calibration *c, double sd, double floor, double time,
                                 uint64_t seed)
{
    rng r = rng_stream(seed, 0, RNG_TEST);
    band b = {.fit = {.b0 = MEAN, .noise = sd * sd}, .k = 5.0, .floor = floor};
    double rate = band_at(&b, 0.0), t = 0.0;
    calibration_begin(c, true);
    while ((t += rng_exponential(&r) / rate) < time)
        calibration_add_proposal(c, &b, t, MEAN + sd * rng_normal(&r), rate);
    c->time = time;
    return rate;
}

static double simulate(calibration *c, double floor, double time)
{
    return simulate_proposals(c, SD, floor, time, 3);
}

/* Read off the curve, whatever its error. */
static double width_for(const calibration *c, double target)
{
    return band_choose_width(c, (band_goal){target, INFINITY});
}

TEST(the_curve_is_the_missing_rate_of_every_width)
{
    const double time = 1e5;
    calibration c;
    double rate = simulate(&c, 0.0, time);
    for (size_t i = 0; i < BAND_CURVE; i++) {
        double k = band_width(i), expected = SD * partial_expectation(k);
        /* E (G - lambda)+^2 < 2 s E(G - lambda)+ / k for a Gaussian tail */
        double error = sqrt(2.0 * SD * expected / k / rate / time);
        if (expected * time > 5.0) CHECK_Z(c.missed[i] / time, expected, error, MAX_Z);
        CHECK_NEAR(c.proposals[i] / time, MEAN + k * SD, 0.02 * (MEAN + k * SD));
        if (i) CHECK(c.missed[i] <= c.missed[i - 1] && c.squares[i] <= c.squares[i - 1]);
    }
}

TEST(the_width_chosen_has_the_requested_missing_rate)
{
    const double time = 4e5;
    calibration c;
    simulate(&c, 0.0, time);
    for (double k = 1.1; k < 3.0; k += 0.27) {
        double width = width_for(&c, SD * partial_expectation(k));
        CHECK(width > k - 0.04);
        CHECK(MEAN + width * SD < 1.07 * (MEAN + k * SD)); /* and little more than that costs */
    }
}

TEST(a_smaller_goal_makes_a_wider_band)
{
    double last = 0.0;
    calibration c;
    simulate(&c, 0.0, 1e4);
    for (double goal = 1.0; goal > 1e-7; goal *= 0.8) {
        double k = width_for(&c, goal);
        CHECK(isfinite(k) && k >= last);
        last = k;
    }
    CHECK(last > 3.0);
}

TEST(the_ends_of_the_range_are_kept)
{
    calibration none = {.time = 100.0}, all = {.time = 100.0};
    for (size_t i = 0; i < BAND_CURVE; i++) {
        none.proposals[i] = all.proposals[i] = band_width(i);
        all.missed[i] = all.squares[i] = 1e9;
    }
    CHECK(width_for(&none, 0.01) == band_width(0));
    CHECK(width_for(&all, 0.01) == band_width(BAND_CURVE - 1));
    CHECK(band_width(0) == 1.0 && band_width(BAND_CURVE - 1) > 35.0);
}

/* Segments with one miss or none at the width in question: noise with exponential tails, of
 * which a band of width k misses bounces at the rate s exp(-k) / 2. By the curve alone the
 * width is far too small now and then; with two standard errors it is enough. */
TEST(a_width_chosen_with_two_errors_keeps_to_its_limit)
{
    const double time = 60.0, target = 0.002, limit = 3.0 * target;
    size_t runs = 400, bare = 0, sure = 0;
    for (size_t i = 0; i < runs; i++) {
        rng r = rng_stream(100 + i, 0, RNG_TEST);
        band b = {.fit = {.b0 = MEAN, .noise = SD * SD}, .k = 5.0};
        double rate = band_at(&b, 0.0), t = 0.0;
        calibration c = {.time = time};
        while ((t += rng_exponential(&r) / rate) < time) {
            double size = SD * rng_exponential(&r);
            calibration_add_proposal(&c, &b, t, MEAN + (rng_uniform(&r) < 0.5 ? size : -size),
                                     rate);
        }
        bare += 0.5 * SD * exp(-width_for(&c, target)) > limit;
        sure += 0.5 * SD * exp(-band_choose_width(&c, (band_goal){target, limit})) > limit;
    }
    printf("over the limit: %zu of %zu, without errors %zu\n", sure, runs, bare);
    CHECK(bare > runs / 7);
    CHECK(sure < runs / 10);
}

/* Hardly any noise: proposals do not depend on the width, and the widest allowed is chosen. */
TEST(a_width_without_cost_is_chosen)
{
    calibration c;
    simulate_proposals(&c, 1e-4, 0.0, 1e3, 5);
    CHECK(width_for(&c, 1.0) == band_width(BAND_CURVE - 2));
    simulate_proposals(&c, SD, 0.0, 1e3, 5);
    CHECK(width_for(&c, 1.0) < 1.2);
}

/* Bounces proposed by the floor are not missed at any width. */
TEST(the_floor_counts_in_the_curve)
{
    const double time = 1e5, floor = MEAN + 2.0 * SD;
    calibration c;
    double rate = simulate(&c, floor, time);
    double expected = SD * partial_expectation(2.0);
    for (size_t i = 0; band_width(i) < 2.0; i++)
        CHECK_Z(c.missed[i] / time, expected, sqrt(SD * expected / rate / time), MAX_Z);
}

TEST(times_in_the_segment_count)
{
    calibration c = {0};
    band b = {.fit = {.b0 = 1.0, .b1 = 2.0, .v11 = 0.25}, .k = 3.0};
    /* mean 5, sd 1: width 2.5 is just enough */
    calibration_add_proposal(&c, &b, 2.0, 7.5, 4.0);
    for (size_t i = 0; i < BAND_CURVE; i++)
        CHECK_NEAR(c.missed[i], fmax(2.5 - band_width(i), 0.0) / 4.0, 1e-12);
}

CHECK_MAIN

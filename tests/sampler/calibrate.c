/* The width of the band is the one whose missing bounces meet the goal. For G ~ N(m, s^2) under a
 * band of width k they come at the rate s (phi(k) - k Q(k)). */
#include "sampler/calibrate.h"
#include "base/rng.h"
#include "check.h"

#define MEAN 1.7
#define SD   0.6

static double partial_expectation(double k)
{
    return exp(-0.5 * k * k) / sqrt(2.0 * M_PI) - k * 0.5 * erfc(k / sqrt(2.0));
}

/* Proposals of a band of width 5 for so much time. */
static double simulate(double *curve, double floor, double time)
{
    rng r = rng_stream(3, 0, RNG_TEST);
    band b = {.fit = {.b0 = MEAN, .noise = SD * SD}, .k = 5.0, .floor = floor};
    double rate = band_at(&b, 0.0), t = 0.0;
    memset(curve, 0, BAND_CURVE * sizeof *curve);
    while ((t += rng_exponential(&r) / rate) < time)
        band_curve_add(curve, &b, t, MEAN + SD * rng_normal(&r), rate);
    return rate;
}

TEST(the_curve_is_the_missing_rate_of_every_width)
{
    const double time = 1e5;
    double curve[BAND_CURVE], rate = simulate(curve, 0.0, time);
    for (size_t i = 0; i < BAND_CURVE; i++) {
        double k = band_width(i), want = SD * partial_expectation(k);
        /* E (G - lambda)+^2 < 2 s E(G - lambda)+ / k for a Gaussian tail */
        double error = sqrt(2.0 * SD * want / k / rate / time);
        if (want * time > 5.0) CHECK_Z(curve[i] / time, want, error, MAX_Z);
        if (i) CHECK(curve[i] <= curve[i - 1]);
    }
}

TEST(the_width_chosen_has_the_missing_rate_asked_for)
{
    const double time = 4e5;
    double curve[BAND_CURVE];
    simulate(curve, 0.0, time);
    for (double k = 1.1; k < 3.0; k += 0.27) {
        double chosen = band_choose(curve, time, SD * partial_expectation(k));
        CHECK(fabs(chosen - k) < 0.04);
    }
}

TEST(a_smaller_goal_makes_a_wider_band)
{
    double curve[BAND_CURVE], last = 0.0;
    simulate(curve, 0.0, 1e4);
    for (double goal = 1.0; goal > 1e-7; goal *= 0.8) {
        double k = band_choose(curve, 1e4, goal);
        CHECK(isfinite(k) && k >= last);
        last = k;
    }
    CHECK(last > 3.0);
}

TEST(the_ends_of_the_range_are_kept)
{
    double none[BAND_CURVE] = {0}, all[BAND_CURVE];
    for (size_t i = 0; i < BAND_CURVE; i++) all[i] = 1e9;
    CHECK(band_choose(none, 100.0, 0.01) == band_width(0));
    CHECK(band_choose(all, 100.0, 0.01) == band_width(BAND_CURVE - 1));
    CHECK(band_width(0) == 1.0 && band_width(BAND_CURVE - 1) > 35.0);
}

/* What the floor lets through is not missed at any width. */
TEST(the_floor_counts_in_the_curve)
{
    const double time = 1e5, floor = MEAN + 2.0 * SD;
    double curve[BAND_CURVE], rate = simulate(curve, floor, time);
    double want = SD * partial_expectation(2.0);
    for (size_t i = 0; band_width(i) < 2.0; i++)
        CHECK_Z(curve[i] / time, want, sqrt(SD * want / rate / time), MAX_Z);
}

TEST(times_in_the_flight_count)
{
    double curve[BAND_CURVE] = {0};
    band b = {.fit = {.b0 = 1.0, .b1 = 2.0, .v11 = 0.25}, .k = 3.0};
    band_curve_add(curve, &b, 2.0, 7.5, 4.0); /* mean 5, sd 1: width 2.5 would just do */
    for (size_t i = 0; i < BAND_CURVE; i++)
        CHECK_NEAR(curve[i], fmax(2.5 - band_width(i), 0.0) / 4.0, 1e-12);
}

CHECK_MAIN

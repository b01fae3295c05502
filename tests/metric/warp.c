/* Warped coordinates: derivatives, the inverse, and the distributions that they transform to
 * normal ones. */
#include "check.h"
#include "linalg/metric/metric.h"

static const warp below = {
    .sign = 1.0, .unit = 3.0, .boundary = 0.2, .reach = 7.0, .start = -0.4};
static const warp above = {
    .sign = -1.0, .unit = 0.5, .boundary = 1e-3, .reach = 40.0, .start = 0.1};
static const warp *const both[] = {&below, &above};

TEST(first_and_second_derivatives_are_finite_differences)
{
    for (size_t k = 0; k < 2; k++) {
        const warp *b = both[k];
        for (double y = -6.0; y <= 6.0; y += 0.37) {
            double x = y * b->unit, h = 1e-5 * b->unit;
            warped low = warp_at(b, x - h), at = warp_at(b, x), high = warp_at(b, x + h);
            CHECK(at.slope > 0.0);
            CHECK_NEAR((high.value - low.value) / (2.0 * h) / at.slope, 1.0, TOL_DIFF);
            CHECK_NEAR(log(high.slope / low.slope) / (2.0 * h), at.log_slope_rate, TOL_DIFF);
        }
    }
}

TEST(the_inverse_returns_x)
{
    for (size_t k = 0; k < 2; k++)
        for (double y = -30.0; y <= 30.0; y += 0.71) {
            double x = y * both[k]->unit;
            double inverse = warp_inverse(both[k], warp_at(both[k], x).value);
            CHECK_NEAR(inverse, x, 1e-9);
        }
}

TEST(far_away_the_warp_is_linear_on_either_side)
{
    for (size_t k = 0; k < 2; k++) {
        const warp *b = both[k];
        double far = 40.0 * b->unit;
        CHECK_NEAR(warp_at(b, -b->sign * far).slope * b->unit / b->boundary, 1.0, TOL_SUM);
        CHECK_NEAR(warp_at(b, b->sign * far).slope * b->unit / b->reach, 1.0, TOL_SUM);
    }
}

TEST(a_symmetric_profile_gives_a_linear_warp)
{
    warp line = {.sign = 1.0, .unit = 2.0, .boundary = 5.0, .reach = 5.0};
    for (double x = -20.0; x < 20.0; x += 1.3) {
        CHECK_NEAR(warp_at(&line, x).value, 2.5 * x, TOL_ROUND);
        CHECK(warp_at(&line, x).log_slope_rate == 0.0);
    }
}

/* Median and 2.275% point of |N(0,1)|: 0.67449 and 0.02851. */
TEST(a_normal_becomes_a_half_normal)
{
    warp half = {.sign = 1.0, .unit = 1.0, .boundary = 1e-9, .reach = 1.0};
    CHECK_NEAR(warp_at(&half, 0.0).value, 0.67449, 1e-3);
    double low = warp_at(&half, -2.0).value;
    CHECK(low > 0.5 * 0.02851 && low < 1.5 * 0.02851);
}

CHECK_MAIN

/* ten_digits is printf's %.10g: on numbers of all sizes, near powers of ten, near halves of the
 * last digit. */
#include "check.h"

#include "core/decimal.h"
#include "core/rng.h"
#include <math.h>
#include <string.h>

static void check_one(double value)
{
    char own[TEN_DIGITS_SIZE + 1], other[64];
    own[ten_digits(own, value)] = '\0';
    snprintf(other, sizeof other, "%.10g", value);
    if (strcmp(own, other) == 0) return;
    printf("%.17g: %s, expected %s\n", value, own, other);
    CHECK(false);
}

TEST(numbers_are_printed_as_printf_does)
{
    rng r = rng_stream(1, 0, RNG_SHUFFLE);
    for (size_t i = 0; i < 300000; i++) {
        double value = rng_normal(&r) * pow(10.0, floor(40.0 * rng_uniform(&r)) - 20.0);
        check_one(value);
        check_one(floor(1e10 * rng_uniform(&r)) / 1e10);
        check_one((floor(1e9 * rng_uniform(&r)) + 0.5) / 1e9);
        check_one(1.0 - pow(10.0, -12.0 * rng_uniform(&r)));
    }
}

TEST(numbers_at_the_edges_are_printed_as_printf_does)
{
    const double edges[] = {0.0,    -0.0,         1.0,          -1.0, 0.5,    1e-4,
                            1e-5,   9999999999.5, 1e9,          1e10, 1e-17,  1e-300,
                            1e300,  NAN,          INFINITY,     0.1,  0.0001, 99999.99999499,
                            1e-310, 999999999.95, 999999999.949};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) check_one(edges[i]);
    for (int e = -30; e < 20; e++)
        for (int step = -2; step <= 2; step++) {
            double at = pow(10.0, e);
            for (int k = 0; k < abs(step); k++) at = nextafter(at, step > 0 ? INFINITY : 0.0);
            check_one(at);
            check_one(-at * (1.0 - 4.9e-11));
            check_one(at * (1.0 - 5.1e-11));
        }
}

CHECK_MAIN

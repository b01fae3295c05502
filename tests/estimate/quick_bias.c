/* The quick response has the units of the full one, and equals it for a normal posterior. */
#include "estimate/bias_response.h"
#include "estimate/suppressed.h"

static const target line = {.d = 1, .refresh = 0.3, .a = {{1}}, .h = {{1}}, .up = 0.05};

/* P = 4 I */
static void times_four(const void *self, const double *x, double *y)
{
    for (size_t j = 0; j < *(const size_t *)self; j++) y[j] = 4.0 * x[j];
}

TEST(a_shift_is_the_push_through_precision_and_hessian)
{
    const size_t d = 2;
    const double factor[4] = {2.0, 0.0, 0.0, 3.0}; /* H = diag(4, 9) */
    const double sd[2] = {0.5, 0.25}, push[2] = {1.0, -3.0};
    double shift[2];
    quick_response q = {{&d, times_four}, factor, sd};
    quick_shift(&q, d, 10.0, push, shift);
    CHECK_NEAR(shift[0], 2.0 / 10.0 * 4.0 / 4.0 / 0.5, TOL_ROUND);
    CHECK_NEAR(shift[1], -3.0 * 2.0 / 10.0 * 4.0 / 9.0 / 0.25, TOL_ROUND);
}

/* Standard normal in one dimension, where the response has no other term. */
TEST(for_a_normal_it_equals_the_full_response)
{
    const double one = 1.0;
    double mean, error, sd, sd_error;
    sinks k;
    response full = respond(&line, 20000.0, 3);
    sinks_make(&k, 1, line.centre);
    run_suppressed(&line, &k, 20000.0, 3);
    quick_response q = {{&line, precision}, &one, &one};
    bias_statement out = {&mean, &error, &sd, &sd_error};
    CHECK(quick_respond(&q, &k.b, 1, &out, NULL) == SBPS_OK);
    printf("quick %.4f +- %.4f, full %.4f +- %.4f\n", mean, error, full.mean[0],
           full.mean_error[0]);
    CHECK(full.mean[0] > 0.01);
    CHECK(fabs(mean / full.mean[0] - 1.0) < 0.1);
    CHECK(fabs(error / full.mean_error[0] - 1.0) < 0.2);
    CHECK_NEAR(quick_worst(&q, &k.b, 1), fabs(mean), TOL_ROUND);
    CHECK(isnan(sd) && isnan(sd_error));
    free(k.memory.base);
}

CHECK_MAIN

/* Every run says how biased it is. With the band forced low the stated bias of each parameter
 * predicts the error of its mean; with a wide band both vanish. No control variate: with one there
 * is little noise, and little bias, to predict. */
#include "check.h"
#include "stat/bias.h"

#define SEEDS 4

static sbps_result *sample(const char *data, const char *settings, unsigned seed)
{
    char all[512];
    snprintf(
        all, sizeof all,
        "model=logistic target=y no-intercept control-variate=none batch-size=104 seed=%u %s",
        seed, settings);
    return sample_file(data, all);
}

TEST(stated_bias_predicts_the_error_of_the_means)
{
    char data[256];
    sbps_error err = {0};
    bias_fit low = {0}, high = {0};
    temporary_name(sizeof data, data);
    if (sbps_simulate("logistic", 1000, 10, 2, data, NULL, &err) != SBPS_OK)
        give_up("simulate", &err);
    sbps_result *truth = sample(data, "band=8 ess=10000", 99);
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        sbps_result *r = sample(data, "band=2.2 ess=2000", seed);
        bias_fit_add(&low, truth, r);
        sbps_result_destroy(r);
    }
    sbps_result *other = sample(data, "band=8 ess=4000", 1);
    bias_fit_add(&high, truth, other);
    printf("k = 2.2: true bias %.4f sd (rms), stated %.4f, slope %.2f +- %.2f\n",
           true_size(&low), stated_size(&low), bias_slope(&low), bias_slope_error(&low));
    printf("k = 8: true bias %.4f sd (rms), stated %.4f\n", true_size(&high),
           stated_size(&high));
    CHECK(bias_slope_error(&low) < 0.25);
    CHECK(bias_slope(&low) > 0.25 && bias_slope(&low) < 2.0); /* stated: half to four times */
    CHECK(true_size_within(&high, 0.01));
    CHECK(stated_size(&high) < 0.01 && other->info.bias_estimate < 0.01);
    sbps_result_destroy(other);
    sbps_result_destroy(truth);
    unlink(data);
}

CHECK_MAIN

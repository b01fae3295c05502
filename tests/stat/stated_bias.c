/* Every run says how biased it is. With the band forced low the stated bias of each parameter
 * predicts the error of its mean; with a wide band both vanish. With a control variate there is
 * little noise: most of the bias comes by way of the slope's square (bias.c). */
#include "check.h"
#include "stat/bias.h"

#define SEEDS      4
#define CONTROLLED "sampler=sbps control-variate=hessian batch-size=60 "
#define PLAIN      "sampler=sbps control-variate=none batch-size=104 "

static sbps_result *sample(const char *data, const char *settings, unsigned seed)
{
    char all[512];
    snprintf(all, sizeof all, "model=logistic target=y no-intercept seed=%u %s", seed,
             settings);
    return sample_file(data, all);
}

TEST(stated_bias_predicts_the_error_of_the_means)
{
    char data[256];
    sbps_error err = {0};
    bias_fit low = {0}, high = {0};
    bias_cover cover = {0};
    temporary_name(sizeof data, data);
    if (sbps_simulate("logistic", 1000, 10, 2, data, NULL, &err) != SBPS_OK)
        give_up("simulate", &err);
    sbps_result *truth = sample(data, "sampler=hmc ess=20000", 99);
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        sbps_result *r = sample(data, PLAIN "band=2.2 ess=2000", seed);
        bias_fit_add(&low, truth, r);
        bias_cover_add(&cover, truth, r);
        sbps_result_destroy(r);
    }
    sbps_result *other = sample(data, PLAIN "band=8 ess=2000", 1);
    bias_fit_add(&high, truth, other);
    printf("k = 2.2: true bias %.4f sd (rms), stated %.4f, slope %.2f +- %.2f\n",
           true_size(&low), stated_size(&low), bias_slope(&low), bias_slope_error(&low));
    printf("k = 8: true bias %.4f sd (rms), stated %.4f\n", true_size(&high),
           stated_size(&high));
    printf("with their errors: z^2 %.2f, %.0f of %.0f within two\n",
           cover.squares / cover.count, cover.within, cover.count);
    CHECK(bias_slope_error(&low) < 0.25);
    /* z^2 of ten parameters and four runs that share a truth has the mean 1, and scatters by 0.3 */
    CHECK(cover.squares < 2.0 * cover.count && cover.within > 0.85 * cover.count);
    CHECK(bias_slope(&low) > 0.6 && bias_slope(&low) < 1.6);
    CHECK(true_size_within(&high, 0.01));
    CHECK(stated_size(&high) < 0.01 && other->info.bias_estimate < 0.01);
    sbps_result_destroy(other);
    sbps_result_destroy(truth);
    unlink(data);
}

TEST(stated_bias_predicts_the_error_of_the_means_where_noise_is_small)
{
    char data[256];
    sbps_error err = {0};
    bias_fit low = {0};
    temporary_name(sizeof data, data);
    if (sbps_simulate("logistic", 300, 10, 2, data, NULL, &err) != SBPS_OK)
        give_up("simulate", &err);
    sbps_result *truth = sample(data, "sampler=hmc ess=100000", 99);
    sbps_result *r = sample(data, CONTROLLED "band=1.5 ess=40000", 1);
    bias_fit_add(&low, truth, r);
    printf(
        "control variate, k = 1.5: true bias %.4f sd (rms), stated %.4f, slope %.2f +- %.2f\n",
        true_size(&low), stated_size(&low), bias_slope(&low), bias_slope_error(&low));
    CHECK(bias_slope_error(&low) < 0.15);
    CHECK(bias_slope(&low) > 0.5 && bias_slope(&low) < 2.0);
    sbps_result_destroy(r);
    sbps_result_destroy(truth);
    unlink(data);
}

CHECK_MAIN

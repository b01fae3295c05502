/* Every run states its bias. With the band forced low the stated bias of each parameter
 * predicts the error of its mean; with a wide band both vanish. With a control variate there
 * is little noise: most of the bias comes from the slope's square (bias.c). */
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
    /* z^2 of ten parameters and four runs that share a truth has the mean 1, and scatters by
     * 0.3 */
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

#define MAX_SD_Z 3.0

/* Relative error of the sds of a run, as it is and as it is stated, means over the
 * parameters. */
typedef struct {
    double off, stated;
    double chance, stated_error; /* standard errors: of `off`; of `stated`, as the run has it */
} sd_excess;

static sd_excess excess_of(const sbps_result *truth, const sbps_result *r)
{
    double d = (double)r->dim;
    sd_excess e = {0};
    for (size_t j = 0; j < r->dim; j++) {
        e.off += (r->sd[j] / truth->sd[j] - 1.0) / d;
        e.stated += r->sd_bias[j] / d;
        e.stated_error += r->sd_bias_se[j] / d;
    }
    e.chance = sqrt((0.5 / r->info.min_ess + 0.5 / truth->info.min_ess) / d);
    return e;
}

/* Missed bounces widen every sd. A run states by how much: all of it, not a part. */
TEST(stated_excess_of_sds_is_the_true_one_on_a_small_table)
{
    char data[256];
    sbps_error err = {0};
    temporary_name(sizeof data, data);
    if (sbps_simulate("logistic", 300, 6, 3, data, NULL, &err) != SBPS_OK)
        give_up("simulate", &err);
    sbps_result *truth = sample(data, "sampler=hmc ess=300000", 77);
    sbps_result *low = sample(data, "batch-size=15 band=1.7 ess=150000", 5);
    sbps_result *high = sample(data, "batch-size=15 band=8 ess=150000", 5);
    sd_excess at_low = excess_of(truth, low), at_high = excess_of(truth, high);
    double error = hypot(at_low.chance, at_low.stated_error);
    printf("sds at k = 1.7: %.2f +- %.2f %% too wide, stated %.2f +- %.2f %%; at k = 8: %.2f, "
           "%.2f %%\n",
           100.0 * at_low.off, 100.0 * at_low.chance, 100.0 * at_low.stated,
           100.0 * at_low.stated_error, 100.0 * at_high.off, 100.0 * at_high.stated);
    CHECK(at_low.stated > 3.0 * at_low.stated_error); /* the true excess is not negligible */
    CHECK(at_low.stated > MAX_SD_Z * at_low.chance);
    CHECK_Z(at_low.off, at_low.stated, error, MAX_SD_Z);
    CHECK_Z(at_high.off, at_high.stated, at_high.chance, MAX_SD_Z);
    CHECK(at_high.stated < 0.001);
    sbps_result_destroy(low);
    sbps_result_destroy(high);
    sbps_result_destroy(truth);
    unlink(data);
}

CHECK_MAIN

/* `--paper`, the method as published, on its own example (7.1: N = 1000, d = 20, n = 100):
 * how often its bound is violated, how biased it is, and whether it reports that. */
#include "check.h"
#include "stat/bias.h"

#define SEEDS 3

static char data[256];

static void make_data(void)
{
    sbps_error err = {0};
    if (*data) return;
    temporary_name(sizeof data, data);
    if (sbps_simulate("logistic", 1000, 20, 1, data, NULL, &err) != SBPS_OK)
        give_up("simulate", &err);
}

__attribute__((destructor)) static void remove_data(void)
{
    if (*data) unlink(data);
}

static sbps_result *sample(const char *settings, unsigned seed)
{
    char all[512];
    make_data();
    snprintf(all, sizeof all, "model=logistic target=y no-intercept seed=%u %s", seed,
             settings);
    return sample_file(data, all);
}

static double violation_rate(const char *settings)
{
    sbps_result *r = sample(settings, 1);
    double rate = r->info.violations / r->info.proposals;
    sbps_result_destroy(r);
    return rate;
}

TEST(violations_are_ten_times_the_gaussian_rate_and_fall_with_k)
{
    double three = violation_rate("paper epochs=6000");
    double four = violation_rate("paper epochs=6000 band=4");
    double five = violation_rate("paper epochs=6000 band=5");
    printf("violations: %.4f at k = 3, %.4f at 4, %.4f at 5\n", three, four, five);
    CHECK(three > 0.005 && three < 0.03);
    CHECK(four < 0.6 * three);
    CHECK(five < 0.6 * four);
}

TEST(stated_bias_of_the_paper_is_its_true_one)
{
    bias_fit paper = {0}, ours = {0};
    sbps_result *truth = sample("sampler=hmc ess=20000", 99);
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        sbps_result *p = sample("paper ess=600", seed), *o = sample("ess=600", seed);
        CHECK(p->info.paper && p->info.band == 3.0 && p->info.batch_size == 100.0);
        CHECK(p->info.refreshments == 0.0 && !strcmp(p->info.metric, "none"));
        bias_fit_add(&paper, truth, p);
        bias_fit_add(&ours, truth, o);
        sbps_result_destroy(p);
        sbps_result_destroy(o);
    }
    sbps_result_destroy(truth);
    printf("paper: true bias %.4f sd (rms), stated %.4f, slope %.2f +- %.2f\n",
           true_size(&paper), stated_size(&paper), bias_slope(&paper),
           bias_slope_error(&paper));
    printf("default: true bias %.4f sd (rms), stated %.4f\n", true_size(&ours),
           stated_size(&ours));
    CHECK(bias_slope_error(&paper) < 0.2);
    CHECK(bias_slope(&paper) > 0.25 &&
          bias_slope(&paper) < 2.0); /* stated: half to four times */
    CHECK(true_size(&paper) > 0.03);
    CHECK(true_size(&paper) > 2.0 * true_size(&ours));
    CHECK(stated_size(&paper) > 5.0 * stated_size(&ours));
}

CHECK_MAIN

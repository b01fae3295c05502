/* A curved density, w1 ~ N(0, s^2), w2 | w1 ~ N(w1^2 - s^2, 1), s = 1.5, by whole runs of
 * sbps. Total variation of w1 and of w2 given w1, over 40 bins of equal probability. With
 * bench-banana both marginals are within 0.01 at ESS 2e5; here runs are short and the
 * allowance covers them. */
#include "check.h"
#include "stat/sample.h"

#define BINS  40
#define WIDTH 1.5

static sbps_result *sample_banana(const char *settings)
{
    char all[512];
    sbps_error err = {0};
    sbps_table *none;
    snprintf(all, sizeof all, "model=banana draws=20000 seed=5 %s", settings);
    sbps_options *options = options_of(all);
    if (sbps_table_none(&none, &err) != SBPS_OK) give_up("table", &err);
    sbps_result *r = sample_table(none, options);
    sbps_table_destroy(none);
    sbps_options_destroy(options);
    return r;
}

static size_t normal_bin(double z)
{
    size_t bin = (size_t)(BINS * 0.5 * erfc(-z / sqrt(2.0)));
    return bin < BINS ? bin : BINS - 1;
}

/* The larger of the two distances. */
static double distance(const sbps_result *r)
{
    double fraction[2][BINS] = {{0}}, n = (double)(r->chains * r->draws), sum[2] = {0};
    for (size_t i = 0; i < r->chains * r->draws; i++) {
        const double *w = r->w + 2 * i;
        fraction[0][normal_bin(w[0] / WIDTH)] += 1.0 / n;
        fraction[1][normal_bin(w[1] - w[0] * w[0] + WIDTH * WIDTH)] += 1.0 / n;
    }
    for (size_t j = 0; j < 2; j++)
        for (size_t bin = 0; bin < BINS; bin++)
            sum[j] += 0.5 * fabs(fraction[j][bin] - 1.0 / BINS);
    return fmax(sum[0], sum[1]);
}

static double distance_with(const char *settings, double *stated)
{
    sbps_result *r = sample_banana(settings);
    double found = distance(r);
    *stated = r->info.bias_estimate;
    printf("%-40s distance %.4f, stated bias %.4f, k %.2f\n", settings, found, *stated,
           r->info.band);
    sbps_result_destroy(r);
    return found;
}

TEST(default_sbps_has_the_shape_of_a_banana)
{
    double stated;
    CHECK(distance_with("ess=4000", &stated) < 0.015);
    CHECK(stated < 0.02);
}

TEST(default_sbps_has_it_under_gradient_noise)
{
    double stated;
    CHECK(distance_with("ess=400 gradient-noise=5", &stated) < 0.03);
    CHECK(stated < 0.02);
}

TEST(without_lack_of_fit_the_shape_is_lost_and_reported)
{
    double stated;
    CHECK(distance_with("ess=2000 lack-of-fit=off", &stated) > 0.03);
    CHECK(stated > 0.1);
}

TEST(options_for_curvature_keep_the_shape)
{
    double stated;
    CHECK(distance_with("ess=2000 weight-decay=on", &stated) < 0.02);
    CHECK(distance_with("ess=2000 slope-repair=true", &stated) < 0.02);
    CHECK(distance_with("ess=1000 regression=gp", &stated) < 0.03);
    CHECK(distance_with("ess=1000 sampler=psbps", &stated) < 0.03);
}

CHECK_MAIN

/* Gaussians of known covariance for whole runs: S_ij = s_i s_j (rho + (1 - rho) [i = j])
 * with s_i log-spaced from 1 to 100, variances from 1 to 10^4. Include after check.h, once. */
#ifndef TESTS_STAT_GAUSSIAN_H
#define TESTS_STAT_GAUSSIAN_H

#include "stat/sample.h"

static double gaussian_sd(size_t d, size_t i)
{
    return pow(100.0, (double)i / (double)(d - 1));
}

static void write_gaussian(const char *path, size_t d, double rho)
{
    FILE *file = fopen(path, "w");
    for (size_t j = 0; j < d; j++) fprintf(file, "c%zu%c", j, j + 1 < d ? ',' : '\n');
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            fprintf(file, "%.17g%c",
                    gaussian_sd(d, i) * gaussian_sd(d, j) * (i == j ? 1.0 : rho),
                    j + 1 < d ? ',' : '\n');
    fclose(file);
}

/* Runs each of the settings; sd_bias as check_moments has it. */
static void check_gaussian(size_t d, double rho, const char *const *settings, double sd_bias)
{
    char path[256], all[512];
    const double ess = check_size(1000.0, 2000.0, 2000.0);
    sbps_error err = {0};
    temporary_name(sizeof path, path);
    write_gaussian(path, d, rho);
    for (; *settings; settings++) {
        sbps_table *none;
        snprintf(all, sizeof all, "model=gaussian covariance=%s ess=%g seed=3 %s", path, ess,
                 *settings);
        sbps_options *options = options_of(all);
        if (sbps_table_none(&none, &err) != SBPS_OK) give_up("table", &err);
        sbps_result *r = sample_table(none, options);
        CHECK(r->dim == d && r->info.min_ess >= ess);
        for (size_t j = 0; j < d; j++) {
            double variance = pow(gaussian_sd(d, j), 2.0);
            known truth = {0.0, sqrt(variance), 3.0 * variance * variance};
            check_moments(*settings, r, j, truth, sd_bias);
        }
        sbps_result_destroy(r);
        sbps_table_destroy(none);
        sbps_options_destroy(options);
    }
    unlink(path);
}

#endif

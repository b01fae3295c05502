/* Whole runs for the statistical tests: options as "name=value name=value", tables from
 * arrays or from a CSV with weights and offsets, and the standard errors that the tests
 * divide by. Include after check.h, once. */
#ifndef TESTS_STAT_SAMPLE_H
#define TESTS_STAT_SAMPLE_H

#include "sbps.h"
#include "store/result.h"

#include <unistd.h>

static void give_up(const char *what, const sbps_error *err)
{
    printf("FAILED %s: %s\n", what, err->text);
    exit(EXIT_FAILURE);
}

static sbps_options *options_of(const char *settings)
{
    sbps_options *options;
    sbps_error err = {0};
    char text[1024], *rest = text, *option;
    snprintf(text, sizeof text, "%s", settings);
    if (sbps_options_create(&options, &err) != SBPS_OK) give_up("options", &err);
    while ((option = strsep(&rest, " "))) {
        char *value = strchr(option, '=');
        if (!*option) continue;
        if (value) *value++ = '\0';
        if (sbps_options_set(options, option, value, &err) != SBPS_OK) give_up(option, &err);
    }
    /* these tests are about sbps unless they set another sampler: auto would use hmc for
     * most */
    if (!strcmp(sbps_options_get(options, "sampler"), "auto"))
        sbps_options_set(options, "sampler", "sbps", &err);
    return options;
}

/* Runs to the end; the caller destroys the result. */
__attribute__((unused)) static sbps_result *sample_table(const sbps_table *table,
                                                         const sbps_options *options)
{
    sbps_error err = {0};
    sbps_run *run;
    sbps_result *r;
    bool finished = false;
    if (sbps_run_create(table, options, &run, &err) != SBPS_OK) give_up("run", &err);
    while (!finished)
        if (sbps_run_advance(run, &finished, &err) != SBPS_OK) give_up("advance", &err);
    if (sbps_result_from_run(run, &r, &err) != SBPS_OK) give_up("result", &err);
    sbps_run_destroy(run);
    return r;
}

/* x: n x columns without the intercept. */
__attribute__((unused)) static sbps_result *
sample_arrays(size_t n, size_t columns, const double *x, const double *y, const char *settings)
{
    sbps_error err = {0};
    sbps_table *table;
    sbps_options *options = options_of(settings);
    if (sbps_table_copy(n, columns, x, NULL, y, options, &table, &err) != SBPS_OK)
        give_up("table", &err);
    sbps_result *r = sample_table(table, options);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return r;
}

__attribute__((unused)) static sbps_result *sample_file(const char *path, const char *settings)
{
    sbps_error err = {0};
    sbps_table *table;
    sbps_options *options = options_of(settings);
    if (sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK) give_up(path, &err);
    sbps_result *r = sample_table(table, options);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return r;
}

/* A fresh name in the folder for temporary files; the caller unlinks it. */
__attribute__((unused)) static void temporary_name(size_t size, char *path)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/sbps-test-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) give_up(path, &(sbps_error){.text = "no temporary file"});
    close(file);
}

/* Moments of a parameter as known from quadrature. */
typedef struct {
    double mean, sd;
    double fourth; /* central */
} known;

/* The summary of a run with its tolerance: z standard errors and the bias that it states
 * (means) or is allowed (sds, whose bias no column states). */
__attribute__((unused)) static void check_moments(const char *what, const sbps_result *r,
                                                  size_t j, known truth, double sd_bias)
{
    double variance = truth.sd * truth.sd;
    double sd_error =
        sqrt((truth.fourth - variance * variance) / r->ess_square[j]) / (2.0 * truth.sd);
    double off = fabs(r->mean[j] - truth.mean), wide = fabs(r->sd[j] - truth.sd);
    if (!(off <= MAX_Z * r->mcse[j] + fabs(r->bias[j]) * truth.sd)) {
        printf("%s: mean of %s = %.6g, expected %.6g: off by %.4f sd, mcse %.4f sd, bias %.4f "
               "sd\n",
               what, r->names[j], r->mean[j], truth.mean, off / truth.sd, r->mcse[j] / truth.sd,
               r->bias[j]);
        check_failures++;
    }
    if (!(wide <= MAX_Z * sd_error + sd_bias * truth.sd)) {
        printf("%s: sd of %s = %.6g, expected %.6g: z = %.2f\n", what, r->names[j], r->sd[j],
               truth.sd, (r->sd[j] - truth.sd) / sd_error);
        check_failures++;
    }
    /* the error that is stated must be the one that the truth has at this ESS */
    CHECK_NEAR(r->mcse[j] * sqrt(r->ess_mean[j]) / r->sd[j], 1.0, 0.05);
}

#endif

/* The posterior does not depend on how the rows are stored: a small file of indicators,
 * sampled as sparse rows, doubles and floats, by samplers that evaluate the rows in
 * different ways. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"
#include "inference/run/run.h"

#define ROWS    600
#define COLUMNS 60
#define GROUPS  3 /* one indicator of each in a row, like one-hot columns */

static void write_rows(const char *path)
{
    rng r = rng_stream(41, 0, RNG_TEST);
    FILE *file = fopen(path, "w");
    if (!file) give_up(path, &(sbps_error){.text = "cannot be written"});
    for (size_t i = 0; i < ROWS; i++) {
        double eta = -0.5;
        size_t column[GROUPS];
        for (size_t g = 0; g < GROUPS; g++) {
            column[g] = g * (COLUMNS / GROUPS) + rng_below(&r, COLUMNS / GROUPS);
            eta += 0.1 * (double)(column[g] % 7) - 0.3;
        }
        fprintf(file, "%d", rng_uniform(&r) < 1.0 / (1.0 + exp(-eta)) ? 1 : -1);
        for (size_t g = 0; g < GROUPS; g++) fprintf(file, " %zu:1", column[g] + 1);
        fprintf(file, "\n");
    }
    fclose(file);
}

static sbps_result *sampled(const char *path, const char *settings, const char *storage)
{
    char all[256];
    snprintf(all, sizeof all, "model=logistic %s storage=%s", settings, storage);
    return sample_file(path, all);
}

/* Two runs with seeds of their own: means within their errors and what bias they state. */
static void agree(const sbps_result *a, const sbps_result *b, const char *what)
{
    CHECK(a->dim == b->dim && a->dim == COLUMNS + 1);
    for (size_t j = 0; j < a->dim && j < b->dim; j++) {
        double error = hypot(a->mcse[j], b->mcse[j]), sd = b->sd[j], reported = 0.0;
        if (isfinite(a->bias[j])) reported += fabs(a->bias[j]) * sd;
        if (isfinite(b->bias[j])) reported += fabs(b->bias[j]) * sd;
        double off = fabs(a->mean[j] - b->mean[j]);
        if (!(off <= MAX_Z * error + reported) || !(fabs(log(a->sd[j] / sd)) < 0.25)) {
            printf("%s: %s: mean %.4f and %.4f, error %.4f, sd %.4f and %.4f\n", what,
                   a->names[j], a->mean[j], b->mean[j], error, a->sd[j], sd);
            check_failures++;
        }
    }
}

TEST(every_storage_gives_the_posterior_of_doubles)
{
    char path[256];
    temporary_name(sizeof path, path);
    write_rows(path);
    sbps_result *expected = sampled(path, "sampler=hmc seed=1 ess=400", "double");
    static const char *const samplers[] = {"sampler=sbps seed=2 ess=300",
                                           "sampler=sbps minibatch=random seed=3 ess=300",
                                           "sampler=zigzag-cv seed=4 epochs=5000"};
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++) {
        sbps_result *sparse = sampled(path, samplers[i], "sparse");
        agree(sparse, expected, samplers[i]);
        sbps_result_destroy(sparse);
    }
    sbps_result *single = sampled(path, samplers[0], "float");
    agree(single, expected, "float");
    sbps_result_destroy(single);
    sbps_result_destroy(expected);
    unlink(path);
}

/* Modes need no tolerance for noise. */
TEST(every_storage_gives_the_same_mode_and_hessian)
{
    static const char *const storages[] = {"double", "sparse", "float"};
    char path[256], all[64];
    sbps_error err = {0};
    mode *found[3] = {NULL};
    temporary_name(sizeof path, path);
    write_rows(path);
    for (size_t k = 0; k < 3; k++) {
        sbps_table *table;
        sbps_run *run;
        snprintf(all, sizeof all, "model=logistic storage=%s", storages[k]);
        sbps_options *options = options_of(all);
        REQUIRE(sbps_table_read(path, options, NULL, &table, &err) == SBPS_OK);
        CHECK(strcmp(table->data->storage.kind->name, storages[k]) == 0);
        REQUIRE(sbps_run_create(table, options, &run, &err) == SBPS_OK);
        size_t d = run->target->dim;
        REQUIRE(mode_find(run->target, NULL, &found[k], &err) == SBPS_OK);
        for (size_t j = 0; j < d; j++) CHECK_NEAR(found[k]->w[j], found[0]->w[j], 1e-8);
        for (size_t j = 0; j < d * d; j++)
            CHECK_NEAR(found[k]->hessian[j], found[0]->hessian[j], 1e-8);
        sbps_run_destroy(run);
        sbps_table_destroy(table);
        sbps_options_destroy(options);
    }
    for (size_t k = 0; k < 3; k++) mode_destroy(found[k]);
    unlink(path);
}

CHECK_MAIN

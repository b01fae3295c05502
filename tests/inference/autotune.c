/* Automatic choices depend on counted work only: they are the same on every machine and with
 * any number of threads. */
#include "check.h"
#include "inference/run/run.h"

#include "stat/sample.h"

typedef struct {
    char sampler[32], control[32], minibatch[32];
    double batch, passes;
} choice;

/* `settings` may name the sampler; "auto" is passed by not naming any. */
static choice choose_automatically(const char *path, const char *settings)
{
    sbps_error err = {0};
    sbps_options *options;
    sbps_table *table;
    sbps_run *run;
    choice c = {0};
    if (sbps_options_create(&options, &err) != SBPS_OK) give_up("options", &err);
    char text[256], *rest = text, *option;
    snprintf(text, sizeof text, "model=logistic target=y %s", settings);
    while ((option = strsep(&rest, " "))) {
        char *value = strchr(option, '=');
        if (!*option) continue;
        *value++ = '\0';
        if (sbps_options_set(options, option, value, &err) != SBPS_OK) give_up(option, &err);
    }
    if (sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK) give_up(path, &err);
    if (sbps_run_create(table, options, &run, &err) != SBPS_OK) give_up("run", &err);
    snprintf(c.sampler, sizeof c.sampler, "%s", run->plan->sampler->name);
    snprintf(c.control, sizeof c.control, "%s", run->plan->control_variate);
    snprintf(c.minibatch, sizeof c.minibatch, "%s", run->tuned.minibatch->name);
    c.batch = (double)run->tuned.batch;
    c.passes = run->passes_setup;
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return c;
}

static void simulate(size_t n, size_t d, char path[256])
{
    sbps_error err = {0};
    temporary_name(256, path);
    if (sbps_simulate("logistic", n, d, 4, path, NULL, &err) != SBPS_OK)
        give_up("simulate", &err);
}

TEST(few_rows_per_parameter_select_hmc)
{
    char path[256];
    simulate(300, 10, path);
    choice c = choose_automatically(path, "");
    CHECK(!strcmp(c.sampler, "hmc"));
    CHECK(c.batch == 300.0);
    c = choose_automatically(path, "batch-size=50"); /* only sbps has one */
    CHECK(!strcmp(c.sampler, "sbps") && c.batch == 50.0);
    c = choose_automatically(path, "sampler=sbps");
    CHECK(!strcmp(c.sampler, "sbps"));
    unlink(path);
}

TEST(many_rows_select_sbps_with_the_second_order)
{
    char path[256];
    simulate(50000, 5, path);
    choice one = choose_automatically(path, "sampler=sbps threads=1");
    choice four = choose_automatically(path, "sampler=sbps threads=4");
    CHECK(!strcmp(one.control, "hessian"));
    CHECK(one.batch >= 4.0 && one.batch <= 64.0);
    CHECK(!memcmp(&one, &four, sizeof one));
    choice plain = choose_automatically(path, "control-variate=none");
    CHECK(!strcmp(plain.control, "none") && plain.batch > 4.0 * one.batch);
    unlink(path);
}

/* One row in two hundred is fifty times as long as the others. */
TEST(influential_rows_select_strata)
{
    char path[256];
    temporary_name(sizeof path, path);
    FILE *f = fopen(path, "w");
    REQUIRE(f);
    rng r = rng_stream(3, 0, RNG_TEST);
    fprintf(f, "y,a,b\n");
    for (size_t i = 0; i < 20000; i++) {
        double long_one = i % 200 ? 1.0 : 50.0, a = long_one * rng_normal(&r);
        double b = long_one * rng_normal(&r), p = 1.0 / (1.0 + exp(0.03 * b - 0.02 * a));
        fprintf(f, "%d,%.6f,%.6f\n", rng_uniform(&r) < p, a, b);
    }
    fclose(f);
    choice c = choose_automatically(path, "sampler=sbps");
    CHECK(!strcmp(c.minibatch, "strata"));
    c = choose_automatically(path, "minibatch=window");
    CHECK(!strcmp(c.minibatch, "window"));
    unlink(path);
}

TEST(the_exact_sampler_is_chosen_if_it_is_cheaper)
{
    static const char *const overrides[] = {
        "band=4",     "minibatch=window", "warmup=0",      "sampler=sbps",
        "paper=true", "metric=diagonal",  "batch-size=50", "refresh-rate=1"};
    char path[256];
    simulate(50000, 5, path);
    choice one = choose_automatically(path, "threads=1"),
           four = choose_automatically(path, "threads=4");
    CHECK(!strcmp(one.sampler, "surrogate") && !strcmp(one.control, "hessian"));
    CHECK(!memcmp(&one, &four, sizeof one));
    one = choose_automatically(path, "bias-budget=0.1 ess=100000");
    CHECK(!strcmp(one.sampler, "surrogate"));
    for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++)
        CHECK(!strcmp(choose_automatically(path, overrides[i]).sampler, "sbps"));
    unlink(path);
}

/* The rows evaluated per step grow with the cube of the leverages. */
TEST(sbps_is_chosen_if_it_is_cheaper)
{
    char path[256];
    simulate(20000, 40, path);
    CHECK(!strcmp(choose_automatically(path, "").sampler, "sbps"));
    unlink(path);
}

TEST(set_up_takes_three_passes_for_exact_samplers_too)
{
    static const char *const of[] = {"surrogate", "auto", "sbps"};
    char path[256];
    simulate(100000, 5, path);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "sampler=%s", of[i]);
        CHECK(choose_automatically(path, settings).passes <= 3.0);
    }
    unlink(path);
}

CHECK_MAIN

/* A model as a function: its posterior is that of the listed model with the same density; a
 * failure in it ends the run with its message, wherever it happens; invalid models are refused.
 * */
#include "check.h"

#include "sbps.h"

#include <pthread.h>

#define ROWS    ((size_t)200)
#define COLUMNS ((size_t)2)

typedef struct {
    pthread_t home;
    bool elsewhere;   /* it was called on another thread */
    size_t calls;     /* so far */
    size_t limit;     /* the call after this many fails; 0: none */
    size_t failures;  /* so far */
    double tilt;      /* added to the first parameter's gradient */
    bool sums;        /* wrong: the first row gets the sum of all rows */
    const char *text; /* of the failing call */
} shared;

/* Logistic regression. */
static bool logistic_rows(void *data, const sbps_batch *b)
{
    shared *s = data;
    s->elsewhere = s->elsewhere || !pthread_equal(s->home, pthread_self());
    if (s->limit && s->calls >= s->limit) {
        s->failures++;
        snprintf(b->text, b->text_size, "%s", s->text);
        return false;
    }
    s->calls++;
    for (size_t i = 0; i < b->n; i++) {
        const double *x = b->x + i * b->columns;
        double eta = 0.0;
        for (size_t j = 0; j < b->dim; j++) eta += x[j] * b->w[j];
        double residual = b->y[i] - 1.0 / (1.0 + exp(-eta));
        if (b->loglik) b->loglik[i] = b->y[i] * eta - log1p(exp(eta));
        for (size_t j = 0; b->gradient && j < b->dim; j++)
            b->gradient[i * b->dim + j] = residual * x[j] + (j == 0 ? s->tilt : 0.0);
        if (s->sums && b->loglik && i > 0) b->loglik[0] += b->loglik[i];
    }
    return true;
}

static sbps_model_function model_of(shared *s)
{
    s->home = pthread_self();
    return (sbps_model_function){.struct_size = sizeof(sbps_model_function),
                                 .name = "mine",
                                 .data = s,
                                 .rows = logistic_rows};
}

static sbps_options *options_for_run(void)
{
    sbps_options *options;
    sbps_error err;
    static const char *const set[][2] = {{"prior", "normal(0,2.5)"},
                                         {"prior-intercept", "normal(0,2.5)"},
                                         {"prior-intercept-at", "zero"},
                                         {"seed", "3"},
                                         {"ess", "100"}};
    if (sbps_options_create(&options, &err) != SBPS_OK) return NULL;
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        CHECK(sbps_options_set(options, set[i][0], set[i][1], &err) == SBPS_OK);
    return options;
}

static sbps_table *table_of(const sbps_options *options)
{
    double x[ROWS * COLUMNS], y[ROWS];
    sbps_table *table = NULL;
    sbps_error err;
    unsigned state = 12345;
    for (size_t i = 0; i < ROWS; i++) {
        double eta = 0.3;
        for (size_t j = 0; j < COLUMNS; j++) {
            state = state * 1664525u + 1013904223u;
            x[i * COLUMNS + j] = (double)(state >> 8) / 16777216.0 * 4.0 - 2.0;
            eta += (j ? -0.5 : 1.0) * x[i * COLUMNS + j];
        }
        state = state * 1664525u + 1013904223u;
        y[i] = (double)(state >> 8) / 16777216.0 < 1.0 / (1.0 + exp(-eta));
    }
    CHECK(sbps_table_copy(ROWS, COLUMNS, x, NULL, y, options, &table, &err) == SBPS_OK);
    return table;
}

/* Runs to the end. Returns the first status that is not SBPS_OK, and its message. */
static sbps_status draw(const sbps_options *options, sbps_result **out, sbps_error *err)
{
    bool finished = false;
    sbps_run *run = NULL;
    sbps_table *table = table_of(options);
    *out = NULL;
    sbps_status status = sbps_run_create(table, options, &run, err);
    while (status == SBPS_OK && !finished) status = sbps_run_advance(run, &finished, err);
    if (status == SBPS_OK) status = sbps_result_from_run(run, out, err);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    return status;
}

static void compare(const sbps_result *own, const sbps_result *listed)
{
    REQUIRE(sbps_result_dim(own) == sbps_result_dim(listed));
    for (size_t j = 0; j < sbps_result_dim(own); j++) {
        sbps_parameter a = {.struct_size = sizeof a}, b = a;
        sbps_error err;
        REQUIRE(sbps_result_parameter(own, j, &a, &err) == SBPS_OK);
        REQUIRE(sbps_result_parameter(listed, j, &b, &err) == SBPS_OK);
        CHECK(!strcmp(a.name, b.name));
        CHECK_Z(a.mean, b.mean, hypot(a.mcse, b.mcse), MAX_Z);
        CHECK(a.sd > 0.85 * b.sd && a.sd < 1.15 * b.sd);
    }
}

TEST(posterior_is_that_of_the_listed_model)
{
    shared s = {0};
    sbps_error err;
    sbps_result *own, *listed;
    sbps_options *options = options_for_run();
    REQUIRE(sbps_options_set(options, "model", "logistic", &err) == SBPS_OK);
    REQUIRE(draw(options, &listed, &err) == SBPS_OK);
    const sbps_model_function model = model_of(&s);
    REQUIRE(sbps_options_set_model(options, &model, &err) == SBPS_OK);
    CHECK(!strcmp(sbps_options_get(options, "model"), "function mine"));
    REQUIRE(draw(options, &own, &err) == SBPS_OK);
    CHECK(s.calls > 0);
    CHECK(!s.elsewhere);
    compare(own, listed);
    sbps_result_destroy(own);
    sbps_result_destroy(listed);
    sbps_options_destroy(options);
}

TEST(same_draws_on_many_threads_as_on_one)
{
    sbps_error err;
    sbps_result *result[2];
    sbps_options *options = options_for_run();
    for (int many = 0; many < 2; many++) {
        shared s = {0};
        sbps_model_function model = model_of(&s);
        REQUIRE(sbps_options_set(options, "threads", many ? "1" : "4", &err) == SBPS_OK);
        REQUIRE(sbps_options_set_model(options, &model, &err) == SBPS_OK);
        REQUIRE(draw(options, &result[many], &err) == SBPS_OK);
        CHECK(!s.elsewhere);
    }
    size_t size = sbps_result_dim(result[0]) * sbps_result_draws(result[0]) *
                  sbps_result_chains(result[0]) * sizeof(double);
    CHECK(!memcmp(sbps_result_values(result[0]), sbps_result_values(result[1]), size));
    for (int i = 0; i < 2; i++) sbps_result_destroy(result[i]);
    sbps_options_destroy(options);
}

/* In set-up, warm-up, sampling and while the result is made. */
TEST(a_failure_ends_the_run_with_its_message)
{
    sbps_error err;
    sbps_result *result;
    sbps_options *options = options_for_run();
    shared s = {.text = "the dog ate it"};
    sbps_model_function model = model_of(&s);
    REQUIRE(sbps_options_set_model(options, &model, &err) == SBPS_OK);
    REQUIRE(draw(options, &result, &err) == SBPS_OK);
    sbps_result_destroy(result);
    size_t all = s.calls;
    for (size_t part = 0; part < 12; part++) {
        s.calls = s.failures = 0;
        s.limit = 1 + (all - 2) * part / 11;
        CHECK(draw(options, &result, &err) == SBPS_BAD_DATA);
        CHECK(!strcmp(err.text, "function mine: the dog ate it"));
        CHECK(s.calls == s.limit && s.failures == 1); /* it is not called again */
    }
    sbps_mode *found;
    sbps_table *table = table_of(options);
    s = (shared){.text = "", .limit = 40, .home = s.home};
    CHECK(sbps_mode_find(table, options, &found, &err) == SBPS_BAD_DATA);
    CHECK(!strcmp(err.text, "function mine: it failed without a message"));
    sbps_table_destroy(table);
    sbps_options_destroy(options);
}

static void refused(shared *s, const sbps_model_function *model, const char *message)
{
    sbps_error err = {0};
    sbps_result *result = NULL;
    sbps_options *options = options_for_run();
    s->home = pthread_self();
    sbps_status status = sbps_options_set_model(options, model, &err);
    if (status == SBPS_OK) status = draw(options, &result, &err);
    CHECK(status != SBPS_OK);
    if (!strstr(err.text, message)) printf("%s\n", err.text);
    CHECK(strstr(err.text, message));
    sbps_result_destroy(result);
    sbps_options_destroy(options);
}

TEST(inconsistent_functions_are_refused)
{
    shared tilted = {.tilt = 0.3}, summed = {.sums = true};
    sbps_model_function model = model_of(&tilted);
    refused(&tilted, &model,
            "function mine: its gradient is not the derivative of its loglik: for parameter 0, "
            "'intercept'");
    model = model_of(&summed);
    refused(&summed, &model, "its result for a row depends on the other rows of the call");
}

TEST(invalid_structs_are_refused)
{
    shared s = {0};
    const double start[] = {0.0};
    sbps_model_function model = model_of(&s);
    model.struct_size = 8;
    refused(&s, &model, "struct_size is 8: expected sizeof(sbps_model_function)");
    model.struct_size = 4096;
    refused(&s, &model, "compiled for a later version");
    model = model_of(&s);
    model.rows = NULL;
    refused(&s, &model, "no function `rows`");
    model = model_of(&s);
    model.name = "a/b";
    refused(&s, &model, "contains a slash");
    model = model_of(&s);
    model.start = start;
    refused(&s, &model, "its dim is 0");
}

TEST(a_later_option_replaces_the_function)
{
    shared s = {0};
    sbps_error err;
    sbps_result *result;
    sbps_options *options = options_for_run();
    const sbps_model_function model = model_of(&s);
    REQUIRE(sbps_options_set_model(options, &model, &err) == SBPS_OK);
    REQUIRE(sbps_options_set(options, "model", "logistic", &err) == SBPS_OK);
    REQUIRE(draw(options, &result, &err) == SBPS_OK);
    CHECK(s.calls == 0);
    sbps_result_destroy(result);
    REQUIRE(sbps_options_set(options, "model", "function mine", &err) == SBPS_OK);
    CHECK(draw(options, &result, &err) == SBPS_BAD_ARG);
    sbps_options_destroy(options);
}

CHECK_MAIN

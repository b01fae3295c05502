/* The option table: defaults, checks, messages, and files of options. */
#include "inference/options/options.h"
#include "check.h"
#include "inference/options/option_table.h"
#include "model/likelihood/model.h"
#include <unistd.h>

static sbps_options *fresh(void)
{
    sbps_options *options = NULL;
    sbps_error err;
    if (sbps_options_create(&options, &err) != SBPS_OK) {
        printf("%s\n", err.text);
        abort();
    }
    return options;
}

/* Sets and expects a failure whose message contains `words`. */
static bool refuses(const char *name, const char *value, const char *message)
{
    sbps_options *options = fresh();
    sbps_error err = {0};
    sbps_status status = sbps_options_set(options, name, value, &err);
    bool ok = status == SBPS_BAD_ARG && err.status == status && strstr(err.text, message);
    if (!ok)
        printf("--%s %s: status %d, '%s', expected '%s'\n", name, value, status, err.text,
               message);
    bool untouched = !option_given(options, name);
    sbps_options_destroy(options);
    return ok && untouched;
}

static bool accepts(sbps_options *options, const char *name, const char *value)
{
    sbps_error err = {0};
    if (sbps_options_set(options, name, value, &err) == SBPS_OK) return true;
    printf("--%s %s: %s\n", name, value, err.text);
    return false;
}

/* Writes the text to a file, which the caller removes. */
static void write_file(char path[32], const char *text)
{
    strcpy(path, "/tmp/sbps-options-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) abort();
    close(fd);
}

static sbps_status read_text(sbps_options *options, const char *text, sbps_error *err)
{
    char path[32];
    write_file(path, text);
    sbps_status status = sbps_options_read(options, path, err);
    unlink(path);
    return status;
}

/* Reads a file and expects a failure on `line` whose message contains `words`. */
static bool file_refused(const char *text, size_t line, const char *message)
{
    sbps_options *options = fresh();
    sbps_error err = {0};
    char place[16];
    snprintf(place, sizeof place, ":%zu: ", line);
    bool refused = read_text(options, text, &err) != SBPS_OK;
    bool ok = refused && strstr(err.text, place) && strstr(err.text, message);
    if (!ok) printf("'%s': '%s', expected line %zu and '%s'\n", text, err.text, line, message);
    sbps_options_destroy(options);
    return ok;
}

/* Otherwise a request for another prior would be ignored. */
TEST(priors_of_auxiliaries_can_be_given)
{
    for (size_t k = 0; model_kinds[k]; k++)
        for (size_t i = 0; i < model_kinds[k]->auxiliary_count; i++)
            CHECK(option_find(model_kinds[k]->auxiliaries[i].option) < option_count());
}

TEST(defaults_are_those_the_table_states)
{
    sbps_options *o = fresh();
    CHECK(o->model == NULL && o->target == NULL && o->checkpoint == NULL);
    CHECK(!strcmp(o->missing, "drop") && !strcmp(o->prior, "auto"));
    CHECK(!o->no_intercept && !o->paper && !o->dry_run);
    CHECK(o->batch_size == SIZE_AUTO && o->threads == SIZE_AUTO && o->warmup == SIZE_AUTO);
    CHECK(isnan(o->band) && isnan(o->refresh_rate) && isnan(o->horizon) && isnan(o->dt));
    CHECK(isnan(o->epochs) && isnan(o->seconds));
    CHECK(o->bias_budget == 0.02 && o->ess == 400 && o->chains == 4);
    CHECK(o->draws == 1000 && o->seed == 1);
    CHECK(!strcmp(o->output, "run.nc") && !strcmp(o->progress, "auto"));
    for (size_t i = 0; i < sbps_option_count(); i++)
        CHECK(!option_given(o, sbps_option_at(i).name));
    sbps_options_destroy(o);
}

TEST(every_option_prints_its_default)
{
    sbps_options *o = fresh();
    for (size_t i = 0; i < sbps_option_count(); i++) {
        sbps_option_info info = sbps_option_at(i);
        const char *text = sbps_options_get(o, info.name);
        REQUIRE(text != NULL);
        if (strcmp(text, info.fallback)) printf("%s: %s\n", info.name, text);
        CHECK(!strcmp(text, info.fallback));
    }
    CHECK(sbps_options_get(o, "bnad") == NULL);
    sbps_options_destroy(o);
}

TEST(every_line_of_the_table_is_complete)
{
    CHECK(option_count() <= OPTION_MAX);
    for (size_t i = 0; i < option_count(); i++) {
        const option_spec spec = option_at(i);
        CHECK(option_find(spec.name) == i); /* no name twice */
        CHECK(spec.group && *spec.group && spec.help && strlen(spec.help) > 20);
        CHECK(spec.help[strlen(spec.help) - 1] == '.');
        CHECK(!spec.argument == (spec.type == &option_switch_type));
        if (spec.auto_text) CHECK(!strcmp(spec.auto_text, spec.fallback));
        /* options of a group are consecutive */
        bool new_group = i == 0 || strcmp(spec.group, option_at(i - 1).group);
        for (size_t j = 0; new_group && j < i; j++)
            CHECK(strcmp(option_at(j).group, spec.group));
    }
    CHECK(sbps_option_at(sbps_option_count()).name == NULL);
}

/* It protects input files: no file that is written may replace a file that is read. */
TEST(every_option_with_a_file_states_its_use)
{
    for (size_t i = 0; i < sbps_option_count(); i++) {
        const char *argument = sbps_option_at(i).argument;
        bool names_file = argument && (strstr(argument, "FILE") || strstr(argument, "PATH"));
        if (names_file && sbps_option_file(i) == SBPS_FILE_NONE)
            printf("--%s\n", sbps_option_at(i).name);
        CHECK(!names_file || sbps_option_file(i) != SBPS_FILE_NONE);
    }
    CHECK(sbps_option_file(sbps_option_count()) == SBPS_FILE_NONE);
}

TEST(options_have_distinct_fields)
{
    for (size_t i = 0; i < option_count(); i++)
        for (size_t j = 0; j < i; j++) CHECK(option_at(i).field != option_at(j).field);
}

/* Checks the model of a family, or that the error message contains `why`. */
static void check_family(const char *family, const char *model, const char *why)
{
    sbps_options *o = fresh();
    sbps_error err = {0};
    sbps_status status = sbps_options_set(o, "family", family, &err);
    CHECK((status == SBPS_OK) == (model != NULL));
    if (model && strcmp(sbps_options_get(o, "model"), model))
        printf("%s: %s\n", family, sbps_options_get(o, "model"));
    if (model) CHECK(!strcmp(sbps_options_get(o, "model"), model));
    if (model) CHECK(model_find(model) && !option_given(o, "model"));
    if (why && !strstr(err.text, why)) printf("%s: %s\n", family, err.text);
    CHECK(!why || strstr(err.text, why));
    sbps_options_destroy(o);
}

TEST(a_family_names_a_model)
{
    static const char *const same[][2] = {
        {"gaussian", "linear"},
        {"bernoulli", "logistic"},
        {"binomial", "binomial"},
        {"binomial(logit)", "binomial"},
        {"binomial(probit)", "probit"},
        {"binomial(link=\"probit\")", "probit"},
        {" bernoulli ( link = 'probit' ) ", "probit"},
        {"poisson", "poisson"},
        {"poisson(\"log\")", "poisson"},
        {"zero_inflated_poisson", "zero_inflated_poisson"},
        {"cumulative", "ordinal"},
        {"cumulative(logit)", "ordinal"},
        {"categorical", "categorical"},
        {"negbinomial", "negative_binomial"},
        {"negative_binomial", "negative_binomial"},
        {"neg_binomial_2", "negative_binomial"},
        {"nbinom2", "negative_binomial"},
        {"multinomial", "categorical"},
        {"Gamma", "gamma"},
        {"gamma(log)", "gamma"},
        {"student", "student_t"},
        {"student_t", "student_t"},
        {"Beta", "beta"},
        {"beta", "beta"},
        {"probit", "probit"},
        {"linear", "linear"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_family(same[i][0], same[i][1], NULL);
    check_family("gausian", NULL,
                 "--family: there is no family 'gausian'; did you mean 'gaussian'?");
    check_family("binomial(cloglog)", NULL,
                 "family binomial has no link 'cloglog'; there are logit, probit");
    check_family("binomial(", NULL, "expected a family, or family(link)");
    check_family("binomial(probit", NULL, "expected a family");
    check_family("binomial(\"probit)", NULL, "expected a family");
    check_family("binomial(probit) x", NULL, "expected a family");
    check_family("(probit)", NULL, "there is no family '(probit)'");
}

/* Returns the error message, or "". */
static sbps_error set(sbps_options *options, const char *name, const char *value)
{
    sbps_error err = {0};
    sbps_options_set(options, name, value, &err);
    return err;
}

TEST(family_and_model_must_agree)
{
    sbps_options *o = fresh(), *copy;
    CHECK(accepts(o, "family", "gaussian") && accepts(o, "model", "linear"));
    CHECK(strstr(set(o, "model", "poisson").text,
                 "family gaussian is model linear, but --model is poisson"));
    CHECK(strstr(set(o, "family", "poisson").text,
                 "family poisson is model poisson, but --model is linear"));
    CHECK(!strcmp(o->model, "linear") && !strcmp(o->family, "gaussian"));
    sbps_options_destroy(o);
    o = fresh();
    CHECK(accepts(o, "family", "poisson") && accepts(o, "family", "student"));
    CHECK(!strcmp(o->model, "student_t"));
    REQUIRE(options_copy(o, &copy, NULL) == SBPS_OK);
    CHECK(!strcmp(copy->model, "student_t") && !strcmp(copy->family, "student"));
    sbps_options_destroy(copy);
    sbps_options_destroy(o);
}

TEST(values_reach_their_fields)
{
    sbps_options *o = fresh();
    CHECK(accepts(o, "model", "logistic") && !strcmp(o->model, "logistic"));
    CHECK(accepts(o, "model", "linear") && !strcmp(o->model, "linear"));
    CHECK(accepts(o, "metric", "dense") && !strcmp(o->metric, "dense"));
    CHECK(accepts(o, "band", "4.5") && o->band == 4.5);
    CHECK(accepts(o, "band", "100") && o->band == 100);
    CHECK(accepts(o, "band", "auto") && isnan(o->band));
    CHECK(accepts(o, "refresh-rate", "0") && o->refresh_rate == 0);
    CHECK(accepts(o, "horizon", "inf") && isinf(o->horizon));
    CHECK(accepts(o, "batch-size", "2") && o->batch_size == 2);
    CHECK(accepts(o, "batch-size", "auto") && o->batch_size == SIZE_AUTO);
    CHECK(accepts(o, "warmup", "0") && o->warmup == 0 && o->warmup != SIZE_AUTO);
    CHECK(accepts(o, "warmup", "auto") && o->warmup == SIZE_AUTO);
    CHECK(accepts(o, "warmup", "1e6") && o->warmup == 1000000);
    CHECK(accepts(o, "seed", "0") && o->seed == 0);
    CHECK(accepts(o, "seed", "18446744073709551615") && o->seed == UINT64_MAX);
    CHECK(accepts(o, "seconds", "1.5") && o->seconds == 1.5);
    CHECK(accepts(o, "paper", NULL) && o->paper);
    CHECK(accepts(o, "paper", "false") && !o->paper);
    CHECK(accepts(o, "no-intercept", "true") && o->no_intercept);
    CHECK(option_given(o, "paper") && !option_given(o, "chains") && !option_given(o, "x"));
    sbps_options_destroy(o);
}

TEST(impossible_numbers_are_refused_with_the_expected_range)
{
    CHECK(
        refuses("band", "abc", "--band: 'abc' is not a number: expected 0 < K <= 100 or auto"));
    CHECK(refuses("band", "0", "--band: 0 is out of range: expected 0 < K <= 100 or auto"));
    CHECK(refuses("band", "100.5", "out of range"));
    CHECK(refuses("band", "-1", "out of range"));
    CHECK(refuses("band", "nan", "not a number"));
    CHECK(refuses("band", "inf", "out of range"));
    CHECK(refuses("band", "3x", "not a number"));
    CHECK(refuses("band", "", "not a number"));
    CHECK(refuses("band", "0x2", "not a number"));
    CHECK(refuses("band", " 1", "not a number"));
    CHECK(refuses("warmup", "0x10", "not a whole number"));
    CHECK(refuses("warmup", " 1", "not a whole number"));
    CHECK(refuses("warmup", "+0X10", "not a whole number"));
    CHECK(refuses("bias-budget", "1.01", "expected 0 < SD <= 1"));
    CHECK(refuses("bias-budget", "auto", "not a number"));
    CHECK(refuses("refresh-rate", "-0.1", "expected RATE >= 0 or auto"));
    CHECK(refuses("horizon", "0", "out of range"));
    CHECK(refuses("dt", "inf", "out of range"));
    CHECK(refuses("ess", "0", "expected N > 0"));
    CHECK(refuses("epochs", "-2", "or none"));
    CHECK(refuses("seconds", "1e999", "out of range"));
}

TEST(impossible_counts_are_refused_with_the_expected_range)
{
    CHECK(refuses("batch-size", "0", "expected a whole number N >= 1 or auto"));
    CHECK(refuses("batch-size", "2.5", "'2.5' is not a whole number"));
    CHECK(refuses("batch-size", "-5", "out of range"));
    CHECK(refuses("chains", "0", "expected a whole number 1 <= N <= 1024"));
    CHECK(refuses("chains", "1025", "out of range"));
    CHECK(refuses("chains", "auto", "not a whole number"));
    CHECK(refuses("draws", "3", "N >= 4"));
    CHECK(refuses("seed", "18446744073709551616", "out of range"));
    CHECK(refuses("seed", "-1", "out of range"));
    CHECK(refuses("threads", "0", "out of range"));
    CHECK(refuses("warmup", "many", "not a whole number"));
    CHECK(refuses("warmup", "1e300", "out of range"));
    CHECK(refuses("warmup", "", "not a whole number"));
}

TEST(unknown_words_get_a_suggestion)
{
    CHECK(refuses("bnad", "3", "unknown option 'bnad', did you mean 'band'?"));
    CHECK(refuses("batch_size", "3", "'batch-size'"));
    CHECK(refuses("zzzzzzzzzz", "3", "unknown option 'zzzzzzzzzz'"));
    CHECK(refuses("metric", "dnse",
                  "did you mean 'dense'? Expected auto|none|diagonal|adaptive|dense"));
    CHECK(refuses("missing", "xyzzy", "unknown choice 'xyzzy': expected error|drop"));
    CHECK(refuses("progress", "o", "unknown choice"));
    CHECK(refuses("progress", "on|off", "unknown choice"));
    CHECK(refuses("paper", "maybe", "neither true nor false"));
    CHECK(refuses("model", "", "empty"));
    CHECK(refuses("model", NULL, "a value is missing"));
}

TEST(a_null_error_is_fine)
{
    sbps_options *o = fresh();
    CHECK(sbps_options_set(o, "band", "x", NULL) == SBPS_BAD_ARG);
    CHECK(sbps_options_set(o, "bnad", "x", NULL) == SBPS_BAD_ARG);
    CHECK(sbps_options_read(o, "/nonexistent/x", NULL) == SBPS_NO_FILE);
    sbps_options_destroy(o);
    sbps_options_destroy(NULL);
}

TEST(texts_read_back_to_the_same_value)
{
    const char *reals[] = {"0.1", "1e-300", "0.30000000000000004", "99.99999999999999",
                           "1e+22"};
    sbps_options *o = fresh();
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        REQUIRE(accepts(o, "refresh-rate", reals[i]));
        double value = o->refresh_rate;
        CHECK(!strcmp(sbps_options_get(o, "refresh-rate"), reals[i]));
        REQUIRE(accepts(o, "refresh-rate", sbps_options_get(o, "refresh-rate")));
        CHECK(o->refresh_rate == value);
    }
    sbps_options_destroy(o);
}

TEST(texts_of_several_options_can_be_used_together)
{
    sbps_options *o = fresh();
    const char *chains = sbps_options_get(o, "chains"), *draws = sbps_options_get(o, "draws");
    CHECK(!strcmp(chains, "4") && !strcmp(draws, "1000"));
    sbps_options_destroy(o);
}

TEST(option_text_covers_the_whole_table)
{
    sbps_options *o = fresh();
    REQUIRE(accepts(o, "seed", "77"));
    const char *name;
    char text[256];
    bool affects;
    size_t count = 0, path = 0;
    while (option_text(o, count, &name, &affects, sizeof text, text)) {
        if (!strcmp(name, "seed")) CHECK(affects && !strcmp(text, "77"));
        if (!strcmp(name, "ess") || !strcmp(name, "threads") || !strcmp(name, "output") ||
            !strcmp(name, "progress") || !strcmp(name, "resume") || !strcmp(name, "seconds"))
            CHECK(!affects);
        path += affects;
        count++;
    }
    CHECK(count == sbps_option_count());
    CHECK(path > 20 && path < count);
    sbps_options_destroy(o);
}

TEST(a_file_sets_options_that_the_user_has_not_set)
{
    sbps_options *o = fresh();
    sbps_error err = {0};
    REQUIRE(accepts(o, "band", "7"));
    sbps_status status = read_text(o,
                                   "# a run\n\n"
                                   "  band = 3   # loses\n"
                                   "chains=2\r\n"
                                   "target = \"late #2\"  # quoted\n"
                                   "features = 'a, b' \n"
                                   "paper = true\n"
                                   "seed = 5",
                                   &err);
    if (status != SBPS_OK) printf("%s\n", err.text);
    CHECK(status == SBPS_OK);
    CHECK(o->band == 7 && o->chains == 2 && o->paper && o->seed == 5);
    CHECK(o->target && !strcmp(o->target, "late #2"));
    CHECK(o->features && !strcmp(o->features, "a, b"));
    CHECK(option_given(o, "chains") && option_given(o, "seed") && !option_given(o, "draws"));
    sbps_options_destroy(o);
}

TEST(a_bad_line_is_named)
{
    CHECK(file_refused("band = 3\nwat\n", 2, "expected `name = value`"));
    CHECK(file_refused("= 3\n", 1, "expected `name = value`"));
    CHECK(file_refused("\n\nbnad = 3\n", 3, "unknown option 'bnad', did you mean 'band'?"));
    CHECK(file_refused("band = x\n", 1, "band: 'x' is not a number"));
    CHECK(file_refused("band =\n", 1, "not a number"));
    CHECK(file_refused("model = # none\n", 1, "empty"));
    CHECK(file_refused("target = \"open\n", 1, "quote"));
    CHECK(file_refused("target = \"a\" b\n", 1, "quote"));
    CHECK(file_refused("band = 3\nseed = 1\nband = 4\n", 3, "already set on line 1"));
    CHECK(file_refused("config = other.txt\n", 1, "cannot include another"));
    CHECK(file_refused("paper\n", 1, "expected `name = value`"));
    CHECK(file_refused("--band = 3\n", 1, "unknown option"));
}

TEST(overridden_values_of_a_file_are_checked)
{
    sbps_options *o = fresh();
    sbps_error err = {0};
    REQUIRE(accepts(o, "band", "7"));
    CHECK(read_text(o, "band = -1\n", &err) == SBPS_BAD_ARG);
    CHECK(o->band == 7);
    sbps_options_destroy(o);
}

TEST(files_that_cannot_be_read_are_named)
{
    sbps_options *o = fresh();
    sbps_error err = {0};
    CHECK(sbps_options_read(o, "/nonexistent/x.conf", &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, "/nonexistent/x.conf") != NULL);
    CHECK(sbps_options_read(o, "/tmp", &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, "/tmp") != NULL);
    sbps_options_destroy(o);
}

CHECK_MAIN

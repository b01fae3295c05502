/* Wrong calls of the public interface: NULL arguments fail with a message that names function
 * and argument, or do nothing. */
#include "check.h"
#include "sbps.h"
#include "sbps_ranks.h"

#include <string.h>

static sbps_error error;

/* A call with a NULL argument returns SBPS_BAD_ARG and a message. */
#define REFUSED(call)                                                                          \
    do {                                                                                       \
        error = (sbps_error){0};                                                               \
        CHECK((call) == SBPS_BAD_ARG);                                                         \
        CHECK(error.status == SBPS_BAD_ARG && *error.text);                                    \
    } while (0)

TEST(version_is_that_of_the_header)
{
    CHECK(!strcmp(sbps_version(), SBPS_VERSION));
}

TEST(null_arguments_of_options_are_refused)
{
    sbps_options *o;
    CHECK(sbps_options_create(&o, NULL) == SBPS_OK);
    REFUSED(sbps_options_create(NULL, &error));
    REFUSED(sbps_options_set(NULL, "ess", "100", &error));
    CHECK(strstr(error.text, "sbps_options_set") && strstr(error.text, "options"));
    REFUSED(sbps_options_set(o, NULL, "100", &error));
    REFUSED(sbps_options_set_real(NULL, "ess", 1.0, &error));
    REFUSED(sbps_options_read(o, NULL, &error));
    REFUSED(sbps_options_set_model(o, NULL, &error));
    CHECK(!sbps_options_get(NULL, "ess") && !sbps_options_get(o, NULL));
    CHECK(!sbps_option_serves(0, NULL));
    CHECK(!sbps_kind_at(NULL, 0, &(sbps_kind_info){.struct_size = sizeof(sbps_kind_info)}));
    CHECK(!sbps_kind_at("models", 0, NULL));
    CHECK(!sbps_nearest(NULL, NULL, 0));
    sbps_options_destroy(o);
    sbps_options_destroy(NULL);
    sbps_free(NULL);
}

TEST(typed_setters_set_what_text_sets)
{
    sbps_options *o;
    CHECK(sbps_options_create(&o, NULL) == SBPS_OK);
    CHECK(sbps_options_set_real(o, "ess", 123.5, NULL) == SBPS_OK);
    CHECK(!strcmp(sbps_options_get(o, "ess"), "123.5"));
    CHECK(sbps_options_set_size(o, "chains", 7, NULL) == SBPS_OK);
    CHECK(!strcmp(sbps_options_get(o, "chains"), "7"));
    CHECK(sbps_options_set_switch(o, "no-intercept", true, NULL) == SBPS_OK);
    CHECK(!strcmp(sbps_options_get(o, "no-intercept"), "true"));
    CHECK(sbps_options_set_switch(o, "no-intercept", false, NULL) == SBPS_OK);
    CHECK(!strcmp(sbps_options_get(o, "no-intercept"), "false"));
    CHECK(sbps_options_set_size(o, "chains", 0, &error) == SBPS_BAD_ARG);
    CHECK(!strcmp(sbps_options_get(o, "chains"), "7"));
    sbps_options_destroy(o);
}

TEST(null_arguments_of_tables_are_refused)
{
    sbps_options *o;
    sbps_table *t;
    double x = 0.0;
    CHECK(sbps_options_create(&o, NULL) == SBPS_OK);
    REFUSED(sbps_table_read(NULL, o, NULL, &t, &error));
    CHECK(!t);
    REFUSED(sbps_table_read("x.csv", NULL, NULL, &t, &error));
    REFUSED(sbps_table_read("x.csv", o, NULL, NULL, &error));
    REFUSED(sbps_table_read("x.csv", o, &(sbps_reading){0}, &t, &error)); /* no struct_size */
    REFUSED(sbps_table_copy(1, 1, NULL, NULL, &x, o, &t, &error));
    REFUSED(sbps_table_copy(1, 1, &x, NULL, NULL, o, &t, &error));
    REFUSED(sbps_table_copy(1, 1, &x, NULL, &x, NULL, &t, &error));
    REFUSED(sbps_table_copy(1, 1, &x, NULL, &x, o, NULL, &error));
    REFUSED(sbps_table_from_columns(1, 1, NULL, o, NULL, NULL, &t, &error));
    REFUSED(sbps_table_from_sparse(1, NULL, 0, NULL, o, NULL, NULL, &t, &error));
    REFUSED(sbps_table_from_arrow(NULL, o, NULL, NULL, &t, &error));
    REFUSED(sbps_table_none(NULL, &error));
    REFUSED(sbps_table_convert(NULL, "x", o, 0, NULL, NULL, &error));
    REFUSED(sbps_table_convert("x", NULL, o, 0, NULL, NULL, &error));
    REFUSED(sbps_simulate(NULL, 1, 1, 1, "x", NULL, &error));
    REFUSED(sbps_generate("logistic", 1, 1, 1, NULL, NULL, &error));
    CHECK(sbps_table_rows(NULL) == 0 && !(sbps_table_passes(NULL) > 0.0));
    CHECK(!*sbps_table_notes(NULL));
    sbps_table_interrupt(NULL);
    sbps_table_destroy(NULL);
    sbps_options_destroy(o);
}

TEST(null_arguments_of_runs_and_results_are_refused)
{
    sbps_options *o;
    sbps_table *t;
    sbps_run *run;
    sbps_result *r;
    sbps_mode *mode;
    sbps_laplace *laplace;
    sbps_watch *w;
    char *text;
    bool finished;
    const sbps_scoring how = {.struct_size = sizeof how};
    const sbps_prediction prediction = {.struct_size = sizeof prediction};
    sbps_predicted predicted = {.struct_size = sizeof predicted};
    CHECK(sbps_options_create(&o, NULL) == SBPS_OK);
    CHECK(sbps_table_none(&t, NULL) == SBPS_OK);
    REFUSED(sbps_run_create(NULL, o, &run, &error));
    REFUSED(sbps_run_create(t, NULL, &run, &error));
    REFUSED(sbps_run_create(t, o, NULL, &error));
    REFUSED(sbps_run_describe(NULL, &text, &error));
    REFUSED(sbps_run_advance(NULL, &finished, &error));
    REFUSED(sbps_run_effects(NULL, "x", NULL, &error));
    CHECK(!sbps_run_warning(NULL, &error));
    sbps_run_progress(NULL, NULL);
    sbps_run_interrupt(NULL);
    sbps_run_destroy(NULL);
    REFUSED(sbps_result_from_run(NULL, &r, &error));
    REFUSED(sbps_result_read(NULL, &r, &error));
    REFUSED(sbps_result_write(NULL, "x.nc", &error));
    REFUSED(sbps_result_parameter(NULL, 0, NULL, &error));
    REFUSED(sbps_result_summary(NULL, SBPS_TEXT, &text, &error));
    REFUSED(sbps_result_warning(NULL, NULL, &text, &error));
    REFUSED(sbps_result_diagnose(NULL, &text, NULL, &error));
    REFUSED(sbps_result_findings(NULL, &text, &error));
    REFUSED(sbps_result_contrast(NULL, NULL, 0, SBPS_TEXT, &text, &error));
    REFUSED(sbps_result_page(NULL, NULL, NULL, NULL, &text, &error));
    REFUSED(sbps_result_set_command(NULL, "x", &error));
    REFUSED(sbps_predict(NULL, "x", "y", &prediction, &predicted, &error));
    REFUSED(sbps_score(NULL, "x", "y", &how, SBPS_TEXT, &text, &error));
    REFUSED(sbps_loo(NULL, "x", "y", &how, SBPS_TEXT, &text, &error));
    REFUSED(sbps_check(NULL, "x", "y", &how, SBPS_TEXT, &text, &error));
    REFUSED(sbps_compare(NULL, NULL, 2, "y", &how, SBPS_TEXT, &text, &error));
    CHECK(!sbps_result_recognise(NULL) && !sbps_result_values(NULL) &&
          !sbps_result_data(NULL) && !sbps_result_stat(NULL, "potential"));
    CHECK(sbps_result_dim(NULL) + sbps_result_chains(NULL) + sbps_result_draws(NULL) == 0);
    sbps_result_destroy(NULL);
    REFUSED(sbps_mode_find(NULL, o, &mode, &error));
    REFUSED(sbps_mode_find(t, NULL, &mode, &error));
    REFUSED(sbps_mode_report(NULL, SBPS_TEXT, &text, &error));
    CHECK(sbps_mode_dim(NULL) == 0 && !sbps_mode_name(NULL, 0) && !sbps_mode_values(NULL));
    sbps_mode_describe(NULL, NULL);
    sbps_mode_destroy(NULL);
    REFUSED(sbps_laplace_create(NULL, &laplace, &error));
    REFUSED(sbps_laplace_report(NULL, SBPS_TEXT, &text, &error));
    CHECK(!sbps_laplace_name(NULL, 0) && !sbps_laplace_mean(NULL) && !sbps_laplace_sd(NULL) &&
          !sbps_laplace_covariance(NULL));
    sbps_laplace_nll(NULL, 0.5);
    sbps_laplace_destroy(NULL);
    REFUSED(sbps_watch_create(NULL, &error));
    w = NULL;
    CHECK(!sbps_watch_address(w));
    sbps_watch_notify(w, "x");
    sbps_watch_show(w, NULL, NULL);
    sbps_watch_end(w, NULL, NULL, "x");
    REFUSED(sbps_text_write(NULL, "x", &error));
    REFUSED(sbps_text_write("x", NULL, &error));
    REFUSED(sbps_ranks_open(NULL, &error));
    CHECK(sbps_ranks_size(NULL) == 1 && sbps_ranks_rank(NULL) == 0);
    sbps_ranks_traffic(NULL, NULL, NULL);
    sbps_table_destroy(t);
    sbps_options_destroy(o);
}

CHECK_MAIN

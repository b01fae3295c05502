/* Runs of samplers in discrete time: mh against quadrature, the biased ones within the error
 * of their steps, and the messages of a run whose bias is unknown or which has diverged. */
#include "check.h"
#include "stat/quadrature.h"

/* ---- mh ---- */

TEST(mh_agrees_with_quadrature)
{
    static const char *const settings[] = {"metric=dense", "metric=none", "metric=diagonal",
                                           "step-size=1.5", NULL};
    known truth[2];
    table t = simulate(100, -0.5, 1.2);
    integrate(&t, truth);
    for (size_t i = 0; settings[i]; i++) {
        char all[256];
        snprintf(all, sizeof all, "model=logistic sampler=mh ess=2500 seed=5 %s", settings[i]);
        sbps_result *r = sample_arrays(t.n, 1, t.x, t.y, all);
        CHECK(r->info.min_ess >= 2500.0);
        CHECK(r->info.bias_estimate == 0.0);
        CHECK(r->info.rows_touched == 100.0 * r->info.proposals);
        for (size_t j = 0; j < 2; j++) check_moments(all, r, j, truth[j], 0.0);
        sbps_result_destroy(r);
    }
    table_free(&t);
}

/* ---- steps that were chosen ---- */

/* The chosen step costs the stiffest direction 5% of variance where the posterior is
 * Gaussian. */
static void check_near(const char *settings, const table *t, const known truth[2],
                       double mean_slack, double sd_slack)
{
    char all[256];
    snprintf(all, sizeof all, "model=logistic ess=800 seed=5 %s", settings);
    sbps_result *r = sample_arrays(t->n, 1, t->x, t->y, all);
    for (size_t j = 0; j < 2; j++) {
        double sd = truth[j].sd, off = (r->mean[j] - truth[j].mean) / sd;
        double wide = r->sd[j] / sd - 1.0, error = 1.0 / sqrt(2.0 * r->ess_square[j]);
        printf("%-52s %s: mean off by %+.3f sd (mcse %.3f), sd by %+.3f (error %.3f)\n",
               settings, r->names[j], off, r->mcse[j] / sd, wide, error);
        CHECK(fabs(off) <= MAX_Z * r->mcse[j] / sd + mean_slack);
        CHECK(fabs(wide) <= MAX_Z * error + sd_slack);
    }
    CHECK(r->info.min_ess >= 800.0);
    sbps_result_destroy(r);
}

TEST(chosen_steps_are_small_enough)
{
    known truth[2];
    for (size_t n = 100; n <= 2000; n += 1900) {
        table t = simulate(n, -0.5, 1.2);
        integrate(&t, truth);
        check_near("sampler=sgld", &t, truth, 0.05, 0.06);
        check_near("sampler=sgld metric=dense", &t, truth, 0.05, 0.06);
        check_near("sampler=sgld control-variate=gradient", &t, truth, 0.05, 0.06);
        check_near("sampler=sghmc", &t, truth, 0.05, 0.06);
        check_near("sampler=msgnht", &t, truth, 0.05, 0.06);
        check_near("sampler=psgld", &t, truth, 0.05, 0.06);
        table_free(&t);
    }
}

/* ---- unknown bias ---- */

TEST(a_biased_sampler_states_no_bias_and_diagnose_reports_it)
{
    static const char *const names[] = {"sgld", "psgld", "sghmc", "msgnht"};
    table t = simulate(400, -0.5, 1.2);
    for (size_t k = 0; k < 4; k++) {
        char all[128], *message = NULL;
        size_t findings = 0;
        snprintf(all, sizeof all, "model=logistic ess=100 sampler=%s", names[k]);
        sbps_result *r = sample_arrays(t.n, 1, t.x, t.y, all);
        CHECK(isnan(r->info.bias_estimate) && isnan(r->info.eta));
        for (size_t j = 0; j < 2; j++) CHECK(isnan(r->bias[j]));
        CHECK(r->info.rows_touched == r->info.batch_size * r->info.proposals);
        CHECK(sbps_result_diagnose(r, &message, &findings, NULL) == SBPS_OK);
        CHECK(message && strstr(message, "does not estimate its bias"));
        sbps_free(message);
        sbps_result_destroy(r);
    }
    table_free(&t);
}

/* ---- too large a step ---- */

static void check_failure(sbps_status status, const sbps_error *err)
{
    CHECK(status == SBPS_DIVERGED);
    CHECK(strstr(err->text, "sgld") && strstr(err->text, "step size is too large"));
}

TEST(too_large_a_step_ends_the_run_with_a_message)
{
    table t = simulate(400, -0.5, 1.2);
    sbps_options *options = options_of("model=linear sampler=sgld step-size=1000");
    sbps_table *row_table = NULL;
    sbps_run *run = NULL;
    sbps_result *r = NULL;
    sbps_error err = {0};
    bool finished = false;
    sbps_status status = sbps_table_copy(t.n, 1, t.x, NULL, t.y, options, &row_table, &err);
    if (status == SBPS_OK) status = sbps_run_create(row_table, options, &run, &err);
    REQUIRE(status == SBPS_OK);
    for (int i = 0; i < 100 && status == SBPS_OK && !finished; i++)
        status = sbps_run_advance(run, &finished, &err);
    check_failure(status, &err);
    err = (sbps_error){0};
    check_failure(sbps_run_advance(run, &finished, &err), &err);
    err = (sbps_error){0};
    check_failure(sbps_result_from_run(run, &r, &err), &err);
    CHECK(!r);
    sbps_run_destroy(run);
    sbps_table_destroy(row_table);
    sbps_options_destroy(options);
    table_free(&t);
}

CHECK_MAIN

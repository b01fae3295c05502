/* The diagnosis: no finding for a good run, and one finding for each fault that is put into it. */
#include "check.h"
#include "core/memory.h"

#include "output/faults.h"

static const char all_clear[] =
    "No problems found. Checked, among others:\n"
    "   largest R-hat              1.001\n"
    "   smallest ESS of the path   1600 (needed: 400)\n"
    "   smallest ESS of the draws  1802\n"
    "   stated bias                0.0125 posterior sd\n"
    "   bias budget                0.02 posterior sd\n"
    "   largest bias of a mean     0.02 posterior sd\n"
    "   largest bias of an sd      0% of the sd\n"
    "   missed bounces             0.015% of bounces\n"
    "   bounces                    20% of proposals\n"
    "   refreshments               7% of bounces\n"
    "\n"
    "0 problems, 0 remarks in 35 checks of 3 parameters, 4 chains, 2000 draws.\n";

TEST(a_good_run_has_no_findings)
{
    char *got;
    size_t findings = 99;
    result *r = make_result(4, 500, 3);
    REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
    if (strcmp(got, all_clear) != 0) printf("%s\n", got);
    CHECK(strcmp(got, all_clear) == 0);
    CHECK(findings == 0);
    sbps_free(got);
    result_destroy(r);
}

/* The message that each fault should produce, and the number of findings. Chains that disagree
 * also have few effective draws, and sometimes the reverse. */
static const struct {
    const char *name;
    void (*spoil)(result *r);
    size_t findings;
    const char *want;
} faults[] = {
    {"interrupt", interrupt, 1, "1. The run was interrupted before it had finished.\n"},
    {"shift a chain", shift_a_chain, 2,
     "1. The chains disagree: R-hat is above 1.01 for 1 of 3 parameters: intercept\n"},
    {"separate chains", separate_chains, 3,
     "1. The chains stay in separate regions and none moved between them: intercept\n"
     "   is in "},
    {"drift", drift, 2,
     "1. The chains disagree: R-hat is above 1.01 for 1 of 3 parameters: intercept\n"},
    {"lower path ESS", lower_path_ess, 1,
     "1. The effective sample size of the path is 120, but 400 are needed; it is too\n"
     "   small for 1 of 3 parameters: dist,\"km\" (120).\n"},
    {"request more", request_more_ess, 1,
     "1. The effective sample size of the path is 1600, but 1700 are needed; it is\n"
     "   too small for 3 of 3 parameters, worst first: intercept (1600), dist,\"km\"\n"
     "   (1600), h\xc3\xb6he (1600).\n"},
    {"repeat draws", repeat_draws, 2,
     "2. The effective sample size of the stored draws is below 300 for 1 of 3\n"
     "   parameters: h\xc3\xb6he ("},
    {"exceed budget", exceed_budget, 1,
     "1. The stated bias is 0.3 posterior sd, the budget is 0.02.\n"},
    {"exceed budget in one", exceed_budget_in_one, 1,
     "1. The stated bias is 0.0125 posterior sd, the budget is 0.02; it is exceeded\n"
     "   for 1 of 3 parameters: dist,\"km\" (-0.5).\n"},
    {"uncertain bias", make_bias_uncertain, 1,
     "1. The stated bias is 0.0125 +- 0.006 posterior sd; with two standard errors it\n"
     "   exceeds the budget of 0.02 for 1 of 3 parameters: dist,\"km\" (-0.01).\n"},
    {"widen spreads", widen_spreads, 1,
     "1. By the run's own estimate, the relative error of the standard deviation is\n"
     "   above 0.02 for 1 of 3 parameters: intercept (0.05).\n"},
    {"no bias", unset_bias, 1, "1. This sampler (sbps) does not estimate its bias.\n"},
    {"published method", use_published_method, 1,
     "1. The run used the published method (--paper), which has no bias budget.\n"},
    {"violate", violate, 1,
     "1. Violations: in 1.3% of the proposals (650 of 50000) the slope was above the\n"
     "   band of k = 3.5; the regression expects 0.03%, and there are 43.3 times as\n"
     "   many.\n"},
    {"violate unexpectedly", violate_unexpectedly, 1,
     "1. Violations: in 0.6% of the proposals (300 of 50000) the slope was above the\n"
     "   band of k = 3.5; the regression expects 0.06%, and there are 10 times as\n"
     "   many.\n"},
    {"violate out of budget", violate_out_of_budget, 2,
     "2. Violations: in 0.2% of the proposals (100 of 50000) the slope was above the\n"
     "   band of k = 3.5; the regression expects none in so many proposals.\n"},
    {"miss bounces", miss_bounces, 1,
     "1. Bounces were missed: 0.1 per posterior sd of path.\n"},
    {"last batch only", use_last_batch_only, 1,
     "1. The noise was estimated from the last mini-batch alone: 0.2% of the\n"
     "   proposals violate the band; the regression expects 0.03%, and there are 6.67\n"
     "   times as many.\n"},
    {"require a line", require_a_line, 2,
     "2. The slope is not linear along a segment, and the band does not allow for it.\n"},
    {"cap band in vain", cap_band_in_vain, 2,
     "2. The band has its maximum width, k = 3.5, and warm-up found it too narrow.\n"},
    {"few rows", few_rows, 1,
     "1. Mini-batches are windows of consecutive rows, and the table has only 62.5 of\n"
     "   them.\n"},
    {"influential row", set_influential_row, 1,
     "1. Single rows dominate the result: row 731204 moves 'amount' by +1.3 posterior\n"
     "   sd.\n"},
    {"influential group", set_influential_group, 1,
     "1. Single groups dominate the result: group 'north' of 'region' moves 'amount'\n"
     "   by +1.3 posterior sd.\n"},
    {"miss rare rows", miss_rare_rows, 1,
     "1. Mini-batches contain the most influential rows too rarely; if this run never\n"
     "   used them, means may be off by about 0.4 posterior sd, which the stated bias\n"
     "   does not include.\n"},
    {"move reference", move_reference, 1,
     "1. The reference point of the control variate is 1.5 posterior sd away from the\n"
     "   mean (root mean square over all directions).\n"},
    {"shorten warm-up", shorten_warmup, 1,
     "1. Warm-up ended before the chains were stationary.\n"},
    {"adapt forever", adapt_forever, 1,
     "1. The metric kept adapting after warm-up (--adapt-forever).\n"},
    {"waste proposals", waste_proposals, 1,
     "1. Only 1% of the proposals (10000 of 1000000) became bounces.\n"},
    {"touch many rows", touch_many_rows, 1,
     "1. Mini-batches of 16 rows are noisy: the band k is 3.5, and an effective\n"
     "   sample takes 150 passes over the data.\n"},
    {"lag squares", lag_squares, 1,
     "1. Standard deviations are much less precise than means: the ESS of squares is\n"
     "   less than a tenth of that of means for 1 of 3 parameters: h\xc3\xb6he (1600).\n"},
    {"shorten", shorten_chains, 1,
     "1. The chains are short: 80 bounces each, at least 100 are needed.\n"},
    {"enlarge error", enlarge_error, 1,
     "1. The Monte Carlo error of the mean is more than a tenth of the posterior sd\n"
     "   for 1 of 3 parameters: intercept (0.2).\n"},
    {"refresh often", refresh_often, 1,
     "1. The path was refreshed 30000 times but bounced only 10000 times: 3\n"
     "   refreshments per posterior sd of path.\n"},
    {"refresh rarely", refresh_rarely, 1,
     "1. Only refreshments randomise this path, since its gradients have no noise,\n"
     "   and it was refreshed 0 times in all.\n"},
    {"freeze", freeze, 1,
     "1. R-hat, mean or sd cannot be computed for 1 of 3 parameters: dist,\"km\".\n"},
};

/* Unusual, but neither wrong nor expensive. */
static void (*const oddities[])(result *r) = {cap_band, widen_band, waste_cheap_proposals};

TEST(harmless_unusual_settings_give_no_finding)
{
    for (size_t i = 0; i < sizeof oddities / sizeof *oddities; i++) {
        char *got;
        size_t findings;
        result *r = make_result(4, 500, 3);
        oddities[i](r);
        REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
        if (findings) printf("oddity %zu:\n%s\n", i, got);
        CHECK(findings == 0);
        sbps_free(got);
        result_destroy(r);
    }
}

TEST(each_fault_gives_its_finding)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char *got;
        size_t findings;
        result *r = make_result(4, 500, 3);
        faults[i].spoil(r);
        REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
        bool right = findings == faults[i].findings && strstr(got, faults[i].want);
        if (!right) printf("%s, %zu findings:\n%s\n", faults[i].name, findings, got);
        CHECK(right);
        CHECK(strstr(got, "   What it means: ") && strstr(got, "   What to do: "));
        sbps_free(got);
        result_destroy(r);
    }
}

TEST(findings_are_numbered_and_have_meaning_and_remedy)
{
    static const char want[] =
        "1. The chains are short: 80 bounces each, at least 100 are needed.\n"
        "   What it means: All results of this run, its findings included, rest on\n"
        "   little data.\n"
        "   What to do: Run longer: --ess, --epochs or --seconds.\n"
        "\n"
        "2. The path was refreshed 30000 times but bounced only 320 times: 3\n"
        "   refreshments per posterior sd of path.\n"
        "   What it means: A refreshment draws a new direction of travel. When it\n"
        "   happens more often than bounces, the path becomes a slow random walk.\n"
        "   What to do: Lower --refresh-rate or leave it at auto.\n"
        "\n"
        "2 problems, 0 remarks in 35 checks of 3 parameters, 4 chains, 2000 draws.\n";
    char *got;
    size_t findings;
    result *r = make_result(4, 500, 3);
    shorten_chains(r);
    refresh_often(r);
    REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
    if (strcmp(got, want) != 0) printf("%s\n", got);
    CHECK(strcmp(got, want) == 0);
    CHECK(findings == 2);
    sbps_free(got);
    result_destroy(r);
}

/* A sampler without a band must never be advised to widen one. */
TEST(advice_without_a_band_does_not_name_it)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char *got;
        size_t findings;
        result *r = make_result(4, 500, 3);
        r->info.band = r->info.expected_violations = NAN;
        faults[i].spoil(r);
        if (faults[i].spoil == widen_band) r->info.band = NAN;
        REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
        if (strstr(got, "--band")) printf("%s:\n%s\n", faults[i].name, got);
        CHECK(!strstr(got, "--band") && !strstr(got, "above the band of"));
        sbps_free(got);
        result_destroy(r);
    }
}

TEST(five_parameters_are_named_worst_first)
{
    char *got;
    result *r = make_result(4, 500, 7);
    for (size_t j = 0; j < 7; j++) {
        char name[] = {'p', (char)('0' + j), '\0'};
        free(r->names[j]);
        r->names[j] = copy_text(name);
        r->bias[j] = j == 3 ? 0.0 : (j % 2 ? -1.0 : 1.0) * (double)(7 - j) / 10.0;
    }
    r->bias[5] = 0.7; /* as bad as the first */
    REQUIRE(report_diagnose(r, SBPS_TEXT, &got, NULL, NULL) == SBPS_OK);
    CHECK(strstr(got,
                 "6 of 7 parameters, worst first: p0 (0.7), p5 (0.7), p1 (-0.6), p2 (0.5),\n"
                 "   p4 (0.3) and 1 more.\n"));
    sbps_free(got);
    result_destroy(r);
}

TEST(reports_of_empty_and_broken_results_have_no_nan)
{
    char *got;
    size_t findings;
    result *r;
    REQUIRE(result_create(1, 2, 1, &r, NULL) == SBPS_OK);
    r->info.min_ess = r->info.band = r->info.bias_estimate = NAN;
    r->mean[0] = r->sd[0] = r->mcse[0] = r->bias[0] = NAN;
    r->ess_mean[0] = r->ess_square[0] = NAN;
    REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
    CHECK(findings == 3); /* undefined, bias unknown, short */
    CHECK(!strstr(got, "nan"));
    sbps_free(got);
    result_destroy(r);
}

/* A run with effects of 40 groups after its 3 parameters, as --ranef all stores them. Effects
 * have the draws of parameters, shifted in time. */
static result *make_grouped(void)
{
    result *r = make_result(4, 500, 43), *plain = make_result(4, 500, 3);
    for (size_t i = 0; i < 2000; i++)
        for (size_t j = 0; j < r->dim; j++) {
            size_t from = i - i % 500 + (i + 11 * j) % 500, k = j % 3;
            r->w[i * r->dim + j] = (plain->w[from * 3 + k] - plain->mean[k]) / plain->sd[k];
        }
    result_destroy(plain);
    r->info.formula = copy_text("y ~ x + (1 | g)");
    for (size_t j = 3; j < r->dim; j++) {
        char name[64];
        snprintf(name, sizeof name, "r_g[level%zu,Intercept]", j - 3);
        free(r->names[j]);
        r->names[j] = copy_text(name);
        r->bias[j] = 0.0;
    }
    for (size_t j = 0; j < r->dim; j++) r->sd[j] = 1.0, r->mcse[j] = 0.025;
    return r;
}

static void shift_chain(result *r, size_t j, double sds)
{
    for (size_t i = 0; i < r->draws; i++) r->w[i * r->dim + j] += sds * r->sd[j];
}

TEST(group_effects_are_checked_together)
{
    char *got;
    size_t findings;
    result *r = make_grouped();
    REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
    bool sound = findings == 0 && strstr(got, "40 group effects: largest R-hat 1.0") &&
                 strstr(got, "\n0 problems, 0 remarks in ");
    if (!sound) printf("%s\n", got);
    CHECK(sound);
    sbps_free(got);
    shift_chain(r, 20, 0.5);
    REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
    bool found = findings == 2 && strstr(got, "1. The chains disagree about group effects") &&
                 strstr(got, "r_g[level17,Intercept]") &&
                 strstr(got, "\n2 problems, 0 remarks in ");
    if (!found) printf("%s\n", got);
    CHECK(found);
    sbps_free(got);
    result_destroy(r);
}

/* For effects that were sampled but not stored, the summary in the run file is checked. */
TEST(group_effects_that_are_not_stored_are_checked)
{
    char *got;
    size_t findings;
    result *r = make_result(4, 500, 3);
    r->info.effects_checked = 300;
    r->info.effects_rhat = 1.03;
    r->info.effects_rhat_of = copy_text("r_g[a,Intercept]");
    r->info.effects_ess = 120;
    r->info.effects_ess_of = copy_text("r_g[b,Intercept]");
    r->info.effects_mean_ess = 1500;
    REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
    bool found = findings == 2 &&
                 strstr(got, "largest R-hat of 300 effects is\n   1.03 (r_g[a,Intercept])") &&
                 strstr(got, "is 120 (r_g[b,Intercept])");
    if (!found) printf("%s\n", got);
    CHECK(found);
    sbps_free(got);
    r->info.effects_rhat = 1.013; /* of 300 effects no more than chance */
    r->info.effects_ess = 800;
    REQUIRE(report_diagnose(r, SBPS_JSON, &got, &findings, NULL) == SBPS_OK);
    CHECK(findings == 0 && strstr(got, "\"effects\": {\"count\": 300, \"rhat\": 1.013"));
    sbps_free(got);
    result_destroy(r);
}

TEST(remarks_about_a_table_are_not_problems_of_the_run)
{
    char *got;
    size_t findings;
    result *r = make_result(4, 500, 3);
    set_influential_row(r);
    shorten_chains(r);
    REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
    const char *problem = strstr(got, "1. The chains are short"),
               *heading = strstr(got, "\nRemarks about the table and the priors:\n"),
               *remark = strstr(got, "\n2. Single rows ");
    CHECK(findings == 2 && problem && heading && remark && problem < heading &&
          heading < remark);
    CHECK(strstr(got, "\n1 problem, 1 remark in 35 checks of 3 parameters"));
    sbps_free(got);
    REQUIRE(report_diagnose(r, SBPS_JSON, &got, NULL, NULL) == SBPS_OK);
    CHECK(strstr(got, "{\"kind\": \"problem\", \"seen\": \"The chains are short") &&
          strstr(got, "{\"kind\": \"remark\", \"seen\": \"Single rows ") &&
          strstr(got, "\"problems\": 1") && strstr(got, "\"remarks\": 1"));
    sbps_free(got);
    result_destroy(r);
}

CHECK_MAIN

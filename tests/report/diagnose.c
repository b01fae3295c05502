/* The diagnosis: silent about a good run, and one finding for each thing broken in it. */
#include "check.h"
#include "core/memory.h"

#include "report/faults.h"

static const char all_clear[] =
    "Nothing wrong was found. Looked at, among others:\n"
    "   largest R-hat              1.001\n"
    "   smallest ESS of the path   1600 (wanted 400)\n"
    "   smallest ESS of the draws  1802\n"
    "   stated bias                0.0125 posterior sd\n"
    "   bias budget                0.02 posterior sd\n"
    "   largest bias of one mean   0.02 posterior sd\n"
    "   largest bias of one sd     0% of it\n"
    "   bounces that were missed   0.015% of bounces\n"
    "   bounces                    20% of proposals\n"
    "   refreshments               7% of bounces\n"
    "\n"
    "0 problems, 0 remarks in 35 checks of 3 parameters, 4 chains, 2000 draws.\n";

TEST(nothing_is_said_against_a_good_run)
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

/* The sentence that each change should bring about, and how many findings. Chains that disagree
 * also have few effective draws, and now and then the reverse. */
static const struct {
    const char *name;
    void (*spoil)(result *r);
    size_t findings;
    const char *want;
} faults[] = {
    {"interrupt", interrupt, 1, "1. The run was interrupted before it had finished.\n"},
    {"shift a chain", shift_a_chain, 2,
     "1. The chains disagree: R-hat is above 1.01 for 1 of 3 parameters: intercept\n"},
    {"part chains", part_chains, 3,
     "1. The chains sit in separate places and none went from one to another:\n"
     "   intercept is in "},
    {"drift", drift, 2,
     "1. The chains disagree: R-hat is above 1.01 for 1 of 3 parameters: intercept\n"},
    {"lower path ESS", lower_path_ess, 1,
     "1. The effective sample size of the path is 120, wanted are 400; too few for 1\n"
     "   of 3 parameters: dist,\"km\" (120).\n"},
    {"ask for more", request_more_ess, 1,
     "1. The effective sample size of the path is 1600, wanted are 1700; too few for\n"
     "   3 of 3 parameters, worst first: intercept (1600), dist,\"km\" (1600), h\xc3\xb6he\n"
     "   (1600).\n"},
    {"repeat draws", repeat_draws, 2,
     "2. The stored draws are worth fewer than 300 independent ones for 1 of 3\n"
     "   parameters: h\xc3\xb6he ("},
    {"exceed budget", exceed_budget, 1,
     "1. The stated bias, in posterior sd, is 0.3, the budget is 0.02.\n"},
    {"exceed budget in one", exceed_budget_in_one, 1,
     "1. The stated bias, in posterior sd, is 0.0125, the budget is 0.02; above it\n"
     "   are 1 of 3 parameters: dist,\"km\" (-0.5).\n"},
    {"doubt bias", doubt_bias, 1,
     "1. The stated bias, in posterior sd, is 0.0125 +- 0.006; with two standard\n"
     "   errors it leaves the budget of 0.02 for 1 of 3 parameters: dist,\"km\"\n"
     "   (-0.01).\n"},
    {"widen spreads", widen_spreads, 1,
     "1. By the run's own estimate standard deviations are off by more than a share\n"
     "   of 0.02 for 1 of 3 parameters: intercept (0.05).\n"},
    {"forget bias", forget_bias, 1, "1. This sampler (sbps) cannot say how biased it is.\n"},
    {"publish", publish, 1,
     "1. The published method was asked for (--paper), which holds to no bias budget.\n"},
    {"violate", violate, 1,
     "1. Violations: 1.3% of the proposals (650 of 50000) found a slope above the\n"
     "   band of k = 3.5, where the regression expects 0.03%: 43.3 times as many.\n"},
    {"violate unexpectedly", violate_unexpectedly, 1,
     "1. Violations: 0.6% of the proposals (300 of 50000) found a slope above the\n"
     "   band of k = 3.5, where the regression expects 0.06%: 10 times as many.\n"},
    {"violate out of budget", violate_out_of_budget, 2,
     "2. Violations: 0.2% of the proposals (100 of 50000) found a slope above the\n"
     "   band of k = 3.5, where the regression expects none in so many.\n"},
    {"miss bounces", miss_bounces, 1,
     "1. Bounces are missing: 0.1 of them per posterior sd of flight should have\n"},
    {"trust the last batch", trust_the_last_batch, 1,
     "1. The noise was judged by the last mini-batch alone: 0.2% of the proposals\n"
     "   violate the band, where the regression expects 0.03%: 6.67 times as many.\n"},
    {"force a line", force_a_line, 2,
     "2. The slope does not follow a straight line along a flight, and the band does\n"},
    {"cap band in vain", cap_band_in_vain, 2,
     "2. The band is as wide as it can be, k = 3.5, and warm-up wanted more.\n"},
    {"few rows", few_rows, 1,
     "1. Mini-batches are windows of consecutive rows, and the table holds only 62.5\n"
     "   of them.\n"},
    {"let a row rule", let_a_row_rule, 1,
     "1. Single rows rule the answer: row 731204 moves 'amount' by +1.3 posterior sd.\n"},
    {"let a group rule", let_a_group_rule, 1,
     "1. Single groups rule the answer: group 'north' of 'region' moves 'amount' by\n"},
    {"miss loud rows", miss_loud_rows, 1,
     "1. The batches leave it to chance whether the loudest rows are met; where they\n"},
    {"lose reference", lose_reference, 1,
     "1. The reference point of the control variate lies 1.5 posterior sd from the\n"},
    {"hurry warm-up", hurry_warmup, 1, "1. Warm-up ended before the chains had settled.\n"},
    {"adapt forever", adapt_forever, 1,
     "1. The metric went on adapting after warm-up (--adapt-forever).\n"},
    {"waste proposals", waste_proposals, 1,
     "1. Only 1% of the proposals (10000 of 1000000) became bounces.\n"},
    {"touch many rows", touch_many_rows, 1,
     "1. Mini-batches of 16 rows are noisy: the band k is 3.5, and the passes over\n"
     "   all rows that one effective sample costs are 150.\n"},
    {"lag squares", lag_squares, 1,
     "1. Spreads are known much worse than means: the ESS of squares is less than a\n"
     "   tenth of that of means for 1 of 3 parameters: h\xc3\xb6he (1600).\n"},
    {"shorten", shorten, 1, "1. The chains are short: 80 bounces each, 100 are wanted.\n"},
    {"enlarge error", enlarge_error, 1,
     "1. The Monte Carlo error of the mean is more than a tenth of the posterior sd\n"
     "   for 1 of 3 parameters: intercept (0.2).\n"},
    {"refresh often", refresh_often, 1,
     "1. The path was refreshed 30000 times but bounced only 10000 times: 3\n"
     "   refreshments per posterior sd of flight.\n"},
    {"refresh rarely", refresh_rarely, 1,
     "1. Nothing but refreshment turns this path off its course (gradients have no\n"
     "   noise), and it was refreshed 0 times in all.\n"},
    {"freeze", freeze, 1,
     "1. R-hat, mean or sd cannot be worked out for 1 of 3 parameters: dist,\"km\".\n"},
};

/* Odd, but neither wrong nor dear. */
static void (*const oddities[])(result *r) = {cap_band, widen_band, waste_cheap_proposals};

TEST(what_is_right_and_cheap_is_no_finding_however_it_was_set)
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

TEST(each_fault_makes_its_finding)
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

TEST(findings_are_numbered_and_told_in_full)
{
    static const char want[] =
        "1. The chains are short: 80 bounces each, 100 are wanted.\n"
        "   What it means: Everything said about this run, its warnings too, rests on\n"
        "   little evidence.\n"
        "   What to do: Run longer: --ess, --epochs or --seconds.\n"
        "\n"
        "2. The path was refreshed 30000 times but bounced only 320 times: 3\n"
        "   refreshments per posterior sd of flight.\n"
        "   What it means: A refreshment forgets the direction of travel. When it\n"
        "   happens more often than bounces the path becomes a slow random walk.\n"
        "   What to do: Lower --refresh-rate or leave it to auto.\n"
        "\n"
        "2 problems, 0 remarks in 35 checks of 3 parameters, 4 chains, 2000 draws.\n";
    char *got;
    size_t findings;
    result *r = make_result(4, 500, 3);
    shorten(r);
    refresh_often(r);
    REQUIRE(report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) == SBPS_OK);
    if (strcmp(got, want) != 0) printf("%s\n", got);
    CHECK(strcmp(got, want) == 0);
    CHECK(findings == 2);
    sbps_free(got);
    result_destroy(r);
}

/* A sampler without a band may not be advised to widen one, whatever is found. */
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

TEST(empty_and_broken_results_are_told_without_numbers_that_are_none)
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

/* A run with effects of 40 groups behind its 3 parameters, as --ranef all stores them. Effects have the draws of parameters,
 * some places on. */
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

/* Of effects that were sampled and not kept the run's own summary is checked. */
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
    bool found = findings == 2 && strstr(got, "largest R-hat is\n   1.03 (r_g[a,Intercept])") &&
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

TEST(remarks_about_a_table_are_no_problems_of_the_run)
{
    char *got;
    size_t findings;
    result *r = make_result(4, 500, 3);
    let_a_row_rule(r);
    shorten(r);
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

/* Remarks of `diagnose` on priors: conflict with the data, and parameters without data. */
#include "check.h"

#include "output/fixture.h"

/* The number of findings of a result after `spoil`; checks that the report has these words. */
static size_t findings_of(void (*spoil)(result *r), const char *message)
{
    char *got;
    size_t findings = 99;
    result *r = make_result(4, 500, 3);
    spoil(r);
    if (report_diagnose(r, SBPS_TEXT, &got, &findings, NULL) != SBPS_OK) abort();
    bool reported = strstr(got, message);
    if (!reported) printf("%s\n", got);
    CHECK(reported);
    sbps_free(got);
    result_destroy(r);
    return findings;
}

static void set_prior(result *r, double prior_mean, double mean, double sd)
{
    r->prior_mean[0] = prior_mean;
    r->prior_sd[0] = 1.0;
    r->seen_mean[0] = mean;
    r->seen_sd[0] = sd;
}

/* Prior -8.5 +- 1, likelihood 1.5 +- 0.58: posterior -1 +- 0.5. */
static void conflict(result *r)
{
    set_prior(r, -8.5, -1.0, 0.5);
}

/* Prior -2 +- 1, likelihood 1 +- 0.58: within chance. */
static void differ(result *r)
{
    set_prior(r, -2.0, 0.25, 0.5);
}

/* The likelihood is 20 prior sds away, but so narrow that the prior hardly moved it. */
static void narrow_likelihood(result *r)
{
    set_prior(r, -20.0, 0.0, 0.01);
}

static void let_priors_dominate(result *r)
{
    r->prior_share[1] = 0.97;
    r->prior_share[2] = 0.6;
}

TEST(a_prior_in_conflict_with_the_data_is_named)
{
    CHECK(findings_of(conflict, "   1 of 3 parameters: intercept (-5).\n") == 1);
    CHECK(findings_of(differ, "No problems found") == 0);
    CHECK(findings_of(narrow_likelihood, "No problems found") == 0);
}

TEST(parameters_without_data_are_named)
{
    CHECK(findings_of(let_priors_dominate,
                      "   priors determine: 1 of 3 parameters: dist,\"km\".\n") == 1);
}

CHECK_MAIN

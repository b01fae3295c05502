/* What `diagnose` says of priors: those that fight the rows, and parameters that nothing else holds. */
#include "check.h"

#include "report/fixture.h"

/* The findings about a result that is spoilt, and whether they hold these words. */
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

/* Prior -8.5 +- 1, rows 1.5 +- 0.58: between them -1 +- 0.5. */
static void fight(result *r)
{
    set_prior(r, -8.5, -1.0, 0.5);
}

/* Prior -2 +- 1, rows 1 +- 0.58: chance does that. */
static void differ(result *r)
{
    set_prior(r, -2.0, 0.25, 0.5);
}

/* Rows 20 sds of the prior away, but so sure that the prior moved nothing to speak of. */
static void be_overruled(result *r)
{
    set_prior(r, -20.0, 0.0, 0.01);
}

static void let_priors_dominate(result *r)
{
    r->prior_share[1] = 0.97;
    r->prior_share[2] = 0.6;
}

TEST(a_prior_that_fights_the_rows_is_named)
{
    CHECK(findings_of(fight, "of 1 of 3 parameters: intercept (-5).\n") == 1);
    CHECK(findings_of(differ, "Nothing wrong") == 0);
    CHECK(findings_of(be_overruled, "Nothing wrong") == 0);
}

TEST(what_only_priors_hold_is_named)
{
    CHECK(findings_of(let_priors_dominate, "   hold: 1 of 3 parameters: dist,\"km\".\n") == 1);
}

CHECK_MAIN

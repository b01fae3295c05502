/* Settings of a run without options and of --paper; every option of the band reaches the
 * sampler. */
#include "check.h"
#include "inference/run/run.h"

#include "stat/sample.h"

static band_settings parse_band_settings(const char *settings)
{
    char all[256];
    sbps_error err = {0};
    sbps_table *none;
    sbps_run *run;
    snprintf(all, sizeof all, "model=gaussian %s", settings);
    sbps_options *options = options_of(all);
    if (sbps_table_none(&none, &err) != SBPS_OK) give_up("table", &err);
    if (sbps_run_create(none, options, &run, &err) != SBPS_OK) give_up(settings, &err);
    band_settings s = run->plan->settings.band;
    sbps_run_destroy(run);
    sbps_table_destroy(none);
    sbps_options_destroy(options);
    return s;
}

TEST(the_default_pools_the_variance_and_the_paper_does_not)
{
    band_settings ours = parse_band_settings(""), paper = parse_band_settings("paper");
    CHECK(ours.pool == 3.0 && ours.lack_of_fit && ours.floor > 0.0 && isfinite(ours.horizon));
    CHECK(!ours.keep_variance);
    CHECK(paper.pool == 0.0 && !paper.lack_of_fit && paper.floor == 0.0);
    CHECK(isinf(paper.horizon) && paper.width == 3.0 && paper.keep_variance);
    CHECK(parse_band_settings("pool-variance=off").pool == 0.0);
    CHECK(parse_band_settings("paper pool-variance=on").pool == ours.pool);
}

/* Both: variance of all observations, the batch of a bounce again, an auxiliary observation if
 * needed. The slope prior of --paper is the paper's. */
TEST(slope_priors_of_the_default_and_of_the_paper)
{
    for (size_t i = 0; i < 2; i++) {
        band_settings s = parse_band_settings(i ? "paper" : "");
        CHECK(s.slope_prior == (i ? SLOPE_LEARNED : SLOPE_HESSIAN));
        CHECK(!s.rejected_evidence && !s.fresh_bounce);
        CHECK(s.auxiliary == 0 && !s.auxiliary_always);
    }
    CHECK(parse_band_settings("paper slope-prior=hessian").slope_prior == SLOPE_HESSIAN);
    CHECK(parse_band_settings("slope-prior=learned").slope_prior == SLOPE_LEARNED);
    CHECK(parse_band_settings("paper slope-prior=wide").slope_prior == SLOPE_WIDE);
    CHECK(parse_band_settings("slope-evidence=rejected").rejected_evidence);
    CHECK(parse_band_settings("bounce-batch=fresh").fresh_bounce);
    band_settings s = parse_band_settings("auxiliary=2 auxiliary-when=always");
    CHECK(s.auxiliary == 2 && s.auxiliary_always);
}

/* The steps of --paper are 0.01, on a posterior of any scale; --dt changes them, --dt auto to
 * those of the default. */
TEST(steps_over_the_band_of_the_default_and_of_the_paper)
{
    CHECK(isnan(parse_band_settings("").chord) && parse_band_settings("paper").chord == 0.01);
    CHECK(isnan(parse_band_settings("paper dt=auto").chord));
    CHECK(parse_band_settings("paper dt=0.3").chord == 0.3);
    CHECK(parse_band_settings("dt=0.3").chord == 0.3);
}

CHECK_MAIN

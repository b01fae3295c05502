/* Functions that put one fault each into a good result. */
#ifndef TESTS_OUTPUT_FAULTS_H
#define TESTS_OUTPUT_FAULTS_H

#include "core/memory.h"
#include "output/fixture.h"

static void interrupt(result *r)
{
    r->info.interrupted = true;
}

static void freeze(result *r)
{
    for (size_t i = 0; i < r->chains * r->draws; i++) r->w[i * r->dim + 1] = 0.5;
}

static void shift_a_chain(result *r)
{
    for (size_t i = 0; i < r->draws; i++) r->w[i * r->dim] += 2.0 * r->sd[0];
}

/* Shifts chains 1 and 3 beyond the range of the others. */
static void separate_chains(result *r)
{
    for (size_t c = 0; c < 4; c += 2)
        for (size_t i = 0; i < r->draws; i++)
            r->w[(c * r->draws + i) * r->dim] += 100.0 * r->sd[0];
}

/* One chain drifts away from the rest, so it is not stationary. */
static void drift(result *r)
{
    for (size_t i = 0; i < r->draws; i++) r->w[i * r->dim] += (100.0 + (double)i) * r->sd[0];
}

static void lower_path_ess(result *r)
{
    r->info.min_ess = 120;
    r->ess_mean[1] = 130;
    r->ess_square[1] = 120;
}

static void request_more_ess(result *r)
{
    r->info.ess_goal = 1700;
}

/* Every draw eight times: an eighth of the effective sample size. */
static void repeat_draws(result *r)
{
    for (size_t c = 0; c < r->chains; c++)
        for (size_t i = 0; i < r->draws; i++)
            r->w[(c * r->draws + i) * r->dim + 2] =
                r->w[(c * r->draws + i / 8 * 8) * r->dim + 2];
}

static void exceed_budget(result *r)
{
    r->info.bias_estimate = 0.3;
}

static void exceed_budget_in_one(result *r)
{
    r->bias[1] = -0.5;
}

static void unset_bias(result *r)
{
    r->info.bias_estimate = NAN;
}

static void use_published_method(result *r)
{
    r->info.paper = true;
}

static void violate(result *r)
{
    r->info.violations = 650;
}

/* A rate that does no harm by itself, but is ten times the expected one. */
static void violate_unexpectedly(result *r)
{
    r->info.violations = 300;
    r->info.expected_violations = 30;
}

static void violate_out_of_budget(result *r)
{
    r->info.violations = 100;
    r->info.expected_violations = 0.01;
    r->info.bias_estimate = 0.03;
}

static void miss_bounces(result *r)
{
    r->info.eta = 0.1;
}

static void set_option(result *r, const char *name, const char *value)
{
    r->options = realloc(r->options, (r->option_count + 1) * sizeof *r->options);
    if (!r->options) abort();
    r->options[r->option_count++] = (result_option){copy_text(name), copy_text(value)};
}

static void use_last_batch_only(result *r)
{
    set_option(r, "pool-variance", "off");
    r->info.violations = 100;
}

static void require_a_line(result *r)
{
    set_option(r, "lack-of-fit", "off");
    violate_unexpectedly(r);
}

static void cap_band(result *r)
{
    r->info.band_capped = true;
}

static void cap_band_in_vain(result *r)
{
    cap_band(r);
    r->info.bias_estimate = 0.3;
}

static void widen_spreads(result *r)
{
    r->sd_bias[0] = 0.05;
    r->sd_bias_se[0] = 0.01;
}

static void make_bias_uncertain(result *r)
{
    r->info.bias_estimate_se = 0.006;
    r->bias_se[1] = 0.006;
}

static void few_rows(result *r)
{
    r->info.rows = 1000;
}

static void move_reference(result *r)
{
    r->info.reference_distance = 1.5;
}

static void set_influential_row(result *r)
{
    r->info.influential_rows = copy_text("row 731204 moves 'amount' by +1.3 posterior sd");
}

static void set_influential_group(result *r)
{
    r->info.influential_rows =
        copy_text("group 'north' of 'region' moves 'amount' by +1.3 posterior sd");
}

static void miss_rare_rows(result *r)
{
    r->info.eta_unmet = 0.1;
}

static void shorten_warmup(result *r)
{
    r->info.unsettled = true;
}

static void adapt_forever(result *r)
{
    free(r->info.metric);
    r->info.metric = copy_text("adaptive");
    r->info.bias_estimate = NAN;
    set_option(r, "adapt-forever", "true");
}

static void waste_cheap_proposals(result *r)
{
    r->info.proposals = 1e6;
}

static void waste_proposals(result *r)
{
    waste_cheap_proposals(r);
    r->info.rows_touched = 2e10;
}

static void widen_band(result *r)
{
    r->info.band = 12;
}

static void touch_many_rows(result *r)
{
    r->info.rows_touched = 2.4e11;
}

static void lag_squares(result *r)
{
    r->ess_mean[2] = 20000;
}

static void shorten_chains(result *r)
{
    r->info.bounces = 320;
    r->info.proposals = 1600;
    r->info.violations = 0;
}

static void enlarge_error(result *r)
{
    r->mcse[0] = 0.2 * r->sd[0];
}

static void refresh_often(result *r)
{
    r->info.refreshments = 30000;
    r->info.refreshments_per_sd = 3;
}

static void refresh_rarely(result *r)
{
    r->info.needs_refreshment = true;
    r->info.refreshments = 0;
}

#endif

/* The members of a result as tables: names, units and offsets. */
#include "store/layout.h"

#define ARRAY(member, text, unit)                                                              \
    {                                                                                          \
#member, offsetof(result, member), text, unit, false                                   \
    }
#define LATER(member, text, unit)                                                              \
    {                                                                                          \
#member, offsetof(result, member), text, unit, true                                    \
    }
#define INFO(member)                                                                           \
    {                                                                                          \
#member, offsetof(result_info, member)                                                 \
    }
#define END                                                                                    \
    {                                                                                          \
        NULL, 0                                                                                \
    }

const array_field layout_path[] = {
    ARRAY(mean, "posterior mean, integrated along the path", "as w"),
    ARRAY(sd, "posterior standard deviation, integrated along the path", "as w"),
    ARRAY(mcse, "Monte Carlo standard error of the mean", "as w"),
    ARRAY(bias, "stated bias of the mean", "posterior sd"),
    LATER(bias_se, "standard error of the stated bias of the mean", "posterior sd"),
    LATER(sd_bias, "stated bias of the standard deviation, relative", "1"),
    LATER(sd_bias_se, "standard error of the stated bias of the standard deviation", "1"),
    ARRAY(ess_mean, "effective sample size of the mean, from the path", "1"),
    ARRAY(ess_square, "effective sample size of the squared deviation, from the path", "1"),
    {NULL, 0, NULL, NULL, false},
};

const array_field layout_model[] = {
    LATER(prior_mean, "mean of the prior", "as w"),
    LATER(prior_sd, "standard deviation of the prior", "as w"),
    LATER(seen_mean, "posterior mean of what the prior is of", "as w"),
    LATER(seen_sd, "posterior standard deviation of what the prior is of", "as w"),
    LATER(prior_share, "share of the posterior variance that the priors alone hold", "1"),
    LATER(column_mean, "mean of the column as the model sees it", "1"),
    LATER(column_sd, "standard deviation of the column as the model sees it", "1"),
    LATER(standardize_mean, "mean that --standardize took out of the column", "1"),
    LATER(standardize_sd, "standard deviation that --standardize divided by", "1"),
    {NULL, 0, NULL, NULL, false},
};

#define LABEL(member, text)                                                                    \
    {                                                                                          \
#member, offsetof(result, member), text                                                \
    }

const label_field layout_labels[] = {
    LABEL(prior, "prior in force"),
    LABEL(prior_of, "what the prior is of"),
    LABEL(column, "column of the table"),
    LABEL(level, "level that the column is 1 for"),
    LABEL(reference, "level of the category that is 0 in all its columns"),
    {NULL, 0, NULL},
};

const array_field layout_stats[] = {
    ARRAY(proposals, "proposals since the draw before", "1"),
    ARRAY(bounces, "bounces since the draw before", "1"),
    ARRAY(missing, "estimated bounces that did not happen since the draw before", "1"),
    ARRAY(k, "width of the band in force, in standard errors", "1"),
    ARRAY(potential, "estimate of the potential, minus log posterior", "nat"),
    ARRAY(potential_sd, "standard deviation of the estimate of the potential", "nat"),
    LATER(log_prior, "log density of the priors, at the coordinates that are flown in", "nat"),
    LATER(log_likelihood,
          "log likelihood; as exact as the potential is: its sd is potential_sd", "nat"),
    LATER(seconds, "seconds of sampling when it was made, by the clock between rounds", "s"),
    {NULL, 0, NULL, NULL, false},
};

const info_field layout_texts[] = {
    INFO(sampler),         INFO(model),
    INFO(control_variate), INFO(metric),
    INFO(minibatch),       INFO(created_at),
    INFO(target),          INFO(data),
    INFO(formula),         INFO(influential_rows),
    INFO(replanned),       INFO(command),
    INFO(made_by),         INFO(effects_rhat_of),
    INFO(effects_ess_of),  INFO(table_hash),
    INFO(rows_content),    END,
};

const info_field layout_numbers[] = {
    INFO(seed),
    INFO(rows),
    INFO(rows_dropped),
    INFO(batch_size),
    INFO(band),
    INFO(bias_budget),
    INFO(refresh_rate),
    INFO(proposals),
    INFO(bounces),
    INFO(refreshments),
    INFO(violations),
    INFO(expected_violations),
    INFO(missing_bounces),
    INFO(rows_touched),
    INFO(bias_estimate),
    INFO(bias_estimate_se),
    INFO(min_ess),
    INFO(passes_setup),
    INFO(ranks),
    INFO(rank_error),
    INFO(rank_bias),
    INFO(rank_rhat),
    INFO(pareto_k),
    INFO(seconds_setup),
    INFO(seconds_warmup),
    INFO(seconds_sampling),
    INFO(ess_goal),
    INFO(eta),
    INFO(eta_unmet),
    INFO(refreshments_per_sd),
    INFO(reference_distance),
    INFO(effects_checked),
    INFO(effects_undefined),
    INFO(effects_rhat),
    INFO(effects_ess),
    INFO(effects_mean_ess),
    END,
};

const info_field layout_switches[] = {
    INFO(paper),       INFO(interrupted),       INFO(unsettled),
    INFO(band_capped), INFO(needs_refreshment), END};

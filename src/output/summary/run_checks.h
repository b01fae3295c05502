/* The findings of `sbps diagnose`: problems of a run, and remarks about its table and its
 * priors.
 *
 * run_checks.c lists the checks with their texts, runs them and writes the report;
 * draw_checks.c and path_checks.c detect the findings. */
#ifndef OUTPUT_RUN_CHECKS_H
#define OUTPUT_RUN_CHECKS_H

#include "estimate/diagnostics.h"
#include "output/summary/summary.h"

/* R-hat and ESS of all group effects together; count 0: the run has none, or did not check
 * them. */
typedef struct {
    size_t count, undefined; /* effects; of these, without R-hat */
    double rhat, rhat_limit, ess, ess_limit, mean_ess;
    const char *rhat_of,
        *ess_of; /* names of the effects with the largest R-hat and smallest ESS */
} effect_measures;

/* What the checks of a run are based on; everything is borrowed. */
typedef struct {
    const result *r;
    const sbps_parameter *parameters; /* summaries of all stored parameters */
    size_t count;                     /* parameters before the group effects, which come last */
    effect_measures effects;
} evidence;

/* Gathers the evidence; `parameters` are the summaries of r, in its order. */
evidence evidence_of(const result *r, const sbps_parameter *parameters);

/* Whether a parameter of r is a group effect, r_GROUP[LEVEL,TERM], by its name. */
bool is_group_effect(const result *r, const char *name);

/* One check: how it is detected, and what its finding means. */
typedef struct {
    /* Appends what was found, a sentence without its full stop, and returns whether it is a
     * finding. The caller drops the text when it is not. */
    bool (*detect)(const evidence *e, text *message);
    const char *meaning, *remedy;
    const char *remedy_without_band; /* for samplers that have no band; NULL: the same remedy */
} check;

/* How far parameter j is beyond the limit of a check: positive for a finding, NAN where that is
 * unknown. *shown is the number to print after its name; NAN: none. */
typedef double badness(const evidence *e, size_t j, double *shown);

/* Appends "3 of 21 parameters, worst first: a (1.3), ..."; returns false, and appends nothing,
 * if there is none. */
bool name_worst(const evidence *e, badness *of, text *message);

/* Problems of a run, and remarks. Both lists end with a check whose detect is NULL. */
extern const check run_checks[];
extern const check run_remarks[];

typedef struct {
    size_t problems, remarks, checks; /* findings of each kind; checks that were made */
} finding_counts;

/* Called for each finding with its message; remark: it is from run_remarks. */
typedef void finding_visitor(void *self, const evidence *e, const check *c, bool remark,
                             const char *message);

/* Makes all checks, problems first, and counts them; `visit` may be NULL. False when memory
 * runs out. */
bool visit_findings(const evidence *e, finding_visitor *visit, void *self, finding_counts *out);

/* The remedy that applies to the sampler of this run. */
const char *check_remedy(const evidence *e, const check *c);

/* ---- draw_checks.c: what the draws, their summaries and the priors show ---- */

/* ESS that a run should reach: its own goal, and at least 400 for R-hat and quantiles. */
double required_ess(const result_info *info);

/* R-hat, mean or sd is NaN or infinite: constant draws, or too few. */
bool not_computable(const evidence *e, text *message);
/* Chains stay in ranges of a parameter that do not overlap, (1) in draw_checks.c. */
bool separate_modes(const evidence *e, text *message);
/* R-hat of a parameter is above 1.01. */
bool chains_disagree(const evidence *e, text *message);
/* The largest R-hat of the group effects is above the limit for so many, or undefined. */
bool effects_disagree(const evidence *e, text *message);
/* The smallest ESS of the group effects is below the limit for so many. */
bool effects_ess_low(const evidence *e, text *message);
/* The ESS along the path is below required_ess. */
bool path_ess_low(const evidence *e, text *message);
/* The ESS of the stored draws, bulk or tail, is below 300. */
bool draw_ess_low(const evidence *e, text *message);
/* The ESS of the squares is below a tenth of that of the means. */
bool squares_lag(const evidence *e, text *message);
/* The Monte Carlo error of a mean is above a tenth of the posterior sd. */
bool errors_large(const evidence *e, text *message);
/* Prior and likelihood are far apart, and the prior moved the mean, (2) in draw_checks.c. */
bool prior_conflicts(const evidence *e, text *message);
/* More than 90 % of the posterior variance of a parameter is due to its prior. */
bool prior_alone(const evidence *e, text *message);

/* Appends "300 group effects: largest R-hat 1.009 (NAME; limit 1.014), smallest ESS ...". */
void effects_summary(const evidence *e, text *t);

/* ---- path_checks.c: how the path was made, its bias, and influential rows ---- */

/* Is every mean within the bias budget by two standard errors? False where the bias is
 * unknown. */
bool bias_within_budget(const evidence *e);

/* The run was ended by a signal. */
bool interrupted(const evidence *e, text *message);
/* The run used --paper. */
bool used_published_method(const evidence *e, text *message);
/* A chain has fewer than 100 bounces, or proposals of a discrete sampler. */
bool chains_short(const evidence *e, text *message);
/* Warm-up ended before it had reached its ESS. */
bool warmup_too_short(const evidence *e, text *message);
/* The metric was not frozen after warm-up. */
bool metric_adapting(const evidence *e, text *message);
/* The bias of a mean is above the budget. */
bool over_budget(const evidence *e, text *message);
/* The bias is within the budget, but not with two standard errors. */
bool bias_uncertain(const evidence *e, text *message);
/* The relative bias of an sd is above the budget by two standard errors. */
bool spreads_over_budget(const evidence *e, text *message);
/* The bias from using one rank at a time is above the budget. */
bool ranks_over_budget(const evidence *e, text *message);
/* The sampler states no bias, for no other reason that is a finding. */
bool bias_unknown(const evidence *e, text *message);
/* The slope was above the band in too many proposals. */
bool band_violated(const evidence *e, text *message);
/* So many bounces were missed that means may be off by more than the budget. */
bool bounces_missing(const evidence *e, text *message);
/* An excess of violations with the noise estimated from one batch (--pool-variance off). */
bool last_batch_alone(const evidence *e, text *message);
/* A harmful excess of violations without an allowance for lack of fit. */
bool line_unfit(const evidence *e, text *message);
/* The band has its maximum width and the bias is above the budget. */
bool band_at_cap(const evidence *e, text *message);
/* Batches are windows of a table that has fewer than 100 of them. */
bool few_windows(const evidence *e, text *message);
/* The reference of the control variate is more than 1 sd away from the mean. */
bool reference_far(const evidence *e, text *message);
/* Fewer than 2 % of the proposals were bounces, and the run was expensive. */
bool proposals_wasted(const evidence *e, text *message);
/* An effective sample takes more than 100 passes over the data. */
bool batch_too_small(const evidence *e, text *message);
/* More refreshments than bounces, and more than 1.5 per posterior sd of path. */
bool refreshed_too_often(const evidence *e, text *message);
/* Fewer than 100 refreshments where nothing else randomises the path. */
bool refreshed_too_rarely(const evidence *e, text *message);
/* Rows that batches may never contain could shift means by more than the budget. */
bool rare_rows_missed(const evidence *e, text *message);
/* The run recorded single rows that dominate a parameter. */
bool influential_rows(const evidence *e, text *message);
/* The run recorded single groups that dominate a parameter. */
bool influential_groups(const evidence *e, text *message);

#endif

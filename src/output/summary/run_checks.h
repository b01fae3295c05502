/* What can be wrong with a run. */
#ifndef OUTPUT_RUN_CHECKS_H
#define OUTPUT_RUN_CHECKS_H

#include "estimate/diagnostics.h"
#include "output/summary/summary.h"

/* The effects of groups together; count 0: the run has none, or did not look at them. */
typedef struct {
    size_t count, undefined;
    double rhat, rhat_limit, ess, ess_limit, mean_ess;
    const char *rhat_of, *ess_of; /* which has them */
} effects_seen;

typedef struct {
    const result *r;
    const sbps_parameter *parameters; /* of all that is stored */
    size_t count; /* of these, in front: parameters that are no group effects */
    effects_seen effects;
} evidence;

/* effects.c */
evidence evidence_of(const result *r, const sbps_parameter *parameters);
bool is_group_effect(const result *r, const char *name);

typedef struct {
    /* Writes what was seen, a sentence without a full stop, and says whether it is a finding;
     * what it wrote is dropped when it is none. */
    bool (*detect)(const evidence *e, text *seen);
    const char *meaning, *remedy;
    const char *remedy_without_band; /* for samplers that have no band; NULL: the same */
} check;

/* How bad parameter j is: at most 0 when it is fine, NAN when that cannot be said. `shown` is
 * the number to print. */
typedef double badness(const evidence *e, size_t j, double *shown);
/* "3 of 21 parameters, worst first: a (1.3), ..."; false when there is none. */
bool name_worst(const evidence *e, badness *of, text *seen);

/* Both end with a NULL function. Problems of a run, and remarks about its table and priors. */
extern const check run_checks[];
extern const check run_remarks[];

typedef struct {
    size_t problems, remarks, checks;
} finding_counts;

/* All checks in turn, problems first; visit gets what was seen, of findings alone. */
typedef void finding_visitor(void *self, const evidence *e, const check *c, bool remark,
                             const char *seen);
/* False: no memory. */
bool visit_findings(const evidence *e, finding_visitor *visit, void *self, finding_counts *out);
const char *check_remedy(const evidence *e, const check *c);

bool effects_disagree(const evidence *e, text *seen);
bool effects_few(const evidence *e, text *seen);
/* "300 group effects: largest R-hat 1.009 (NAME; limit 1.014), smallest ESS ..." */
void effects_summary(const evidence *e, text *t);

/* priors.c */
bool prior_fights(const evidence *e, text *seen);
bool prior_alone(const evidence *e, text *seen);
/* modes.c */
bool separate_modes(const evidence *e, text *seen);
/* bias.c */
bool over_budget(const evidence *e, text *seen);
bool bias_uncertain(const evidence *e, text *seen);
bool spreads_over_budget(const evidence *e, text *seen);
bool ranks_over_budget(const evidence *e, text *seen);
bool bias_unknown(const evidence *e, text *seen);
/* Is every mean within the budget by two standard errors? False where that is not known. */
bool bias_within_budget(const evidence *e);
/* flight_checks.c */
bool band_violated(const evidence *e, text *seen);
bool bounces_missing(const evidence *e, text *seen);
bool last_batch_alone(const evidence *e, text *seen);
bool line_unfit(const evidence *e, text *seen);
bool band_at_cap(const evidence *e, text *seen);
bool few_windows(const evidence *e, text *seen);
bool reference_far(const evidence *e, text *seen);
bool warmup_too_short(const evidence *e, text *seen);
bool metric_adapting(const evidence *e, text *seen);
bool refreshed_too_often(const evidence *e, text *seen);
bool rows_rule(const evidence *e, text *seen);
bool groups_rule(const evidence *e, text *seen);
bool rows_unmet(const evidence *e, text *seen);
bool refreshed_too_rarely(const evidence *e, text *seen);

/* ESS that a run should reach: its own goal, and at least what R-hat and quantiles need. */
double required_ess(const result_info *info);

#endif

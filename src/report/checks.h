/* What can be wrong with a run. */
#ifndef REPORT_CHECKS_H
#define REPORT_CHECKS_H

#include "report/summary.h"

typedef struct {
    const result *r;
    const sbps_parameter *parameters;
} evidence;

typedef struct {
    /* Writes what was seen, a sentence without a full stop, and says whether it is a finding;
     * what it wrote is dropped when it is none. */
    bool (*found)(const evidence *e, text *seen);
    const char *meaning, *remedy;
    const char *remedy_without_band; /* for samplers that have no band; NULL: the same */
} check;

/* How bad parameter j is: at most 0 when it is fine, NAN when that cannot be said. `shown` is
 * the number to print. */
typedef double badness(const evidence *e, size_t j, double *shown);
/* "3 of 21 parameters, worst first: a (1.3), ..."; false when there is none. */
bool name_worst(const evidence *e, badness *of, text *seen);

/* Ends with a NULL function. */
extern const check run_checks[];

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
bool never_settled(const evidence *e, text *seen);
bool metric_adapting(const evidence *e, text *seen);
bool refreshed_too_often(const evidence *e, text *seen);
bool rows_rule(const evidence *e, text *seen);
bool groups_rule(const evidence *e, text *seen);
bool rows_unmet(const evidence *e, text *seen);
bool refreshed_too_rarely(const evidence *e, text *seen);

/* ESS that a run should reach: its own goal, and at least what R-hat and quantiles need. */
double wanted_ess(const result_info *info);

#endif

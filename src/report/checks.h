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
} check;

/* Ends with a NULL function. */
extern const check run_checks[];

/* modes.c */
bool separate_modes(const evidence *e, text *seen);

/* ESS that a run should reach: its own goal, and at least what R-hat and quantiles need. */
double wanted_ess(const result_info *info);

#endif

/* Sentences of what is off. */
#ifndef OUTPUT_FINDINGS_H
#define OUTPUT_FINDINGS_H

#include "output/check/check_parts.h"

/* Being written: what was seen, and what to do; a finding when both are there. */
typedef struct {
    const result *r;
    const row_sample *s; /* NULL: no rows were looked at */
    predictive_checks *c;
    text seen, remedy;
    bool failed;
    bool of_priors; /* this one */
    bool
        columns_off; /* found: columns along which residuals are off, whence their shape is another too */
    bool
        strong_priors; /* found: priors that hold coefficients back, whence residuals are off along columns */
} assessment;

/* Whatever was written becomes a finding. */
void judgement_close(assessment *j);
/* Adds numbers with a decimal point. */
void add_formatted(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "p 0.023", "p below 0.001". */
void add_p_value(text *t, double p);
/* The statistic of this name that is off; NULL: it is not, or there is none. */
const check_statistic *statistic_off(const predictive_checks *c, const char *name);
/* Decides which checks count as off; see off.c. */
void flag_checks(predictive_checks *c);
/* The column along which residuals bend most; NULL: along none. */
const check_panel *bending(const predictive_checks *c);

/* ---- columns.c ---- */

void diagnose_curves(assessment *j);
void diagnose_columns(assessment *j);

/* ---- priors.c ---- */

void diagnose_conflicts(assessment *j);
void diagnose_strong_priors(assessment *j);

#endif

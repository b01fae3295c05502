/* Sentences of what is off. */
#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include "check/parts.h"

/* Being written: what was seen, and what to do; a finding when both are there. */
typedef struct {
    const result *r;
    const row_sample *s; /* NULL: no rows were looked at */
    predictive_checks *c;
    text seen, remedy;
    bool failed;
    bool of_priors; /* this one */
    bool
        bent; /* found: columns along which residuals are off, whence their shape is another too */
    bool
        held_back; /* found: priors that hold coefficients back, whence residuals are off along columns */
} judgement;

/* Whatever was written becomes a finding. */
void judgement_close(judgement *j);
/* Adds numbers with a decimal point. */
void tell(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "p 0.023", "p below 0.001". */
void tell_p(text *t, double p);
/* The statistic of this name that is off; NULL: it is not, or there is none. */
const check_statistic *statistic_off(const predictive_checks *c, const char *name);
/* Decides which checks count as off; see off.c. */
void mark_off(predictive_checks *c);
/* The column along which residuals bend most; NULL: along none. */
const check_panel *bending(const predictive_checks *c);

/* ---- columns.c ---- */

void judge_bends(judgement *j);
void judge_columns(judgement *j);

/* ---- priors.c ---- */

void judge_conflicts(judgement *j);
void judge_strong_priors(judgement *j);

#endif

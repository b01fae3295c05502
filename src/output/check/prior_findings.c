/* Parameters that the prior moves. */
#include "output/check/findings.h"

#include "core/decimal.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MAX 5

/* The next that has this diagnosis after those told, the most moved first; NULL: none is left. */
static const check_sensitivity *next_moved(const predictive_checks *c, const char *diagnosis,
                                           const check_sensitivity *last)
{
    const check_sensitivity *found = NULL;
    for (size_t k = 0; k < c->sensitivities; k++) {
        const check_sensitivity *s = &c->sensitivity[k];
        if (strcmp(s->diagnosis, diagnosis) != 0) continue;
        bool reported = last && (s->by_prior > last->by_prior ||
                                 (s->by_prior == last->by_prior && s <= last));
        if (!reported && (!found || s->by_prior > found->by_prior)) found = s;
    }
    return found;
}

/* normal(0,2.4921860949) becomes normal(0,2.492). */
static void add_prior(text *t, const char *prior)
{
    while (*prior) {
        char *end = NULL;
        bool number = isdigit((unsigned char)*prior) || *prior == '-';
        double value = number ? decimal_read(prior, &end) : 0.0;
        if (number && end > prior) {
            add_formatted(t, "%.4g", value);
            prior = end;
        } else
            text_bytes(t, prior++, 1);
    }
}

static size_t name_moved(assessment *j, const char *diagnosis)
{
    size_t count = 0;
    const check_sensitivity *s = NULL;
    while ((s = next_moved(j->c, diagnosis, s))) {
        if (++count > NAMED_MAX) continue;
        text_add(&j->seen, count > 1 ? ", '" : "'");
        text_name(&j->seen, s->name);
        text_add(&j->seen, *s->prior ? "' ~ " : "'");
        add_prior(&j->seen, s->prior);
        add_formatted(&j->seen, " (prior %.2f, likelihood %.2f)", s->by_prior,
                      s->by_likelihood);
    }
    if (count > NAMED_MAX) text_add(&j->seen, " and %zu more", count - NAMED_MAX);
    return count;
}

void diagnose_conflicts(assessment *j)
{
    const char *diagnosis = "prior-data conflict";
    const check_sensitivity *worst = next_moved(j->c, diagnosis, NULL);
    if (!worst) return;
    text_add(&j->seen, "%s: prior and rows pull apart, and both move ", diagnosis);
    name_moved(j, diagnosis);
    text_add(&j->remedy, "ask whether the prior of '");
    text_name(&j->remedy, worst->name);
    text_add(&j->remedy, "' was meant so: another one gives another answer (docs/priors.md); "
                         "where it was, say that the answer is the prior's as well");
    j->of_priors = j->strong_priors = true;
}

void diagnose_strong_priors(assessment *j)
{
    const char *diagnosis = "strong prior / weak likelihood";
    if (!next_moved(j->c, diagnosis, NULL)) return;
    text_add(&j->seen, "%s: the prior moves ", diagnosis);
    name_moved(j, diagnosis);
    text_add(&j->remedy, "the rows say little here: tell the prior along with the answer, or "
                         "find rows or columns that say more");
    j->of_priors = true;
}

/* The warning after a run: what a user can act on, in one sentence, the same for the command line,
 * R and Python. Facts about costs and choices of the program are no warnings: they are in the set-up
 * report and in JSON. */
#include "output/summary/summary.h"

#include "core/decimal.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>

#define RHAT_CONVERGED 1.01 /* Vehtari et al. (2021) */

/* Largest values over all parameters; NAN: unknown. */
typedef struct {
    double rhat;
    double bias, bias_se; /* of the largest bias, posterior sd */
    double bias_most;     /* largest bias plus two standard errors */
} extremes;

static extremes find_extremes(const sbps_parameter *p, size_t count)
{
    extremes e = {NAN, NAN, NAN, NAN};
    for (size_t j = 0; j < count; j++) {
        e.rhat = fmax(e.rhat, p[j].rhat); /* fmax skips NAN */
        e.bias_most = fmax(e.bias_most, fabs(p[j].bias) + 2.0 * p[j].bias_se);
        if (isnan(p[j].bias) || fabs(p[j].bias) <= e.bias) continue;
        e.bias = fabs(p[j].bias);
        e.bias_se = p[j].bias_se;
    }
    return e;
}

/* Adds a part of the sentence. */
static void add_part(text *t, bool *any, const char *part)
{
    text_add(t, "%s%s", *any ? "; " : "", part);
    *any = true;
}

sbps_status report_warning(const result *r, const char *more, char **out, sbps_error *err)
{
    text t = {0};
    bool any = false;
    char part[160];
    sbps_parameter *parameters;
    *out = NULL;
    /* of many effects of groups the largest R-hat is above the limit by chance: `diagnose` */
    size_t count = count_parameters(r);
    sbps_status status = summarize_range(r, 0, count, &parameters, err);
    if (status != SBPS_OK) return status;
    extremes e = find_extremes(parameters, count);
    double budget = r->info.bias_budget;
    if (isnan(e.rhat))
        add_part(&t, &any, "too few draws to check whether the chains agree");
    else if (e.rhat > RHAT_CONVERGED) {
        decimal_print(part, sizeof part, "the chains have not converged: R-hat %.3f > %.2f",
                      e.rhat, RHAT_CONVERGED);
        add_part(&t, &any, part);
    }
    if (e.bias > budget) {
        decimal_print(part, sizeof part,
                      "the stated bias of %.4f posterior sd is above the budget of %g", e.bias,
                      budget);
        add_part(&t, &any, part);
    } else if (e.bias_most > budget) {
        decimal_print(
            part, sizeof part,
            "the stated bias of %.4f +- %.4f posterior sd may be above the budget of %g",
            e.bias, e.bias_se, budget);
        add_part(&t, &any, part);
    }
    if (more && *more) add_part(&t, &any, more);
    if (!any) text_add(&t, "%s", "");
    free(parameters);
    return text_give(&t, out, err);
}

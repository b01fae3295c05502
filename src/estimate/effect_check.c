/* See effect_check.h. */
#include "estimate/effect_check.h"

#include "estimate/normal_scores.h"
#include <math.h>

#define FALSE_ALARMS 0.01 /* of runs whose effects are all sound */
#define RHAT_MIN     1.01
#define ESS_ERROR    0.1 /* relative standard error of an ESS */

void effect_check_add(effect_check *c, size_t at, double rhat, double ess_bulk, double ess_tail)
{
    double ess = fmin(ess_bulk, ess_tail);
    c->count++;
    c->undefined += isnan(rhat);
    if (rhat > c->rhat) {
        c->rhat = rhat;
        c->rhat_at = at;
    }
    if (!(ess > 0.0)) return;
    if (c->with_ess == 0 || ess < c->ess) {
        c->ess = ess;
        c->ess_at = at;
    }
    c->log_ess += log(ess);
    c->with_ess++;
}

double effect_check_mean_ess(const effect_check *c)
{
    return c->with_ess ? exp(c->log_ess / (double)c->with_ess) : NAN;
}

/* Quantile of a normal that one of `effects` exceeds with probability FALSE_ALARMS. */
static double far_out(size_t effects)
{
    return normal_quantile(1.0 - FALSE_ALARMS / (2.0 * (double)effects));
}

double effect_rhat_limit(size_t effects, double mean_ess, size_t chains)
{
    double m = 2.0 * (double)chains, k = m - 1.0, part = 2.0 / (9.0 * k);
    if (effects == 0 || !(mean_ess > 0.0)) return RHAT_MIN;
    double chi = pow(1.0 - part + far_out(effects) * sqrt(part), 3.0); /* over k */
    return fmax(RHAT_MIN, sqrt(1.0 + m / mean_ess * chi));
}

double effect_ess_limit(size_t effects, double required)
{
    return effects ? required * exp(-ESS_ERROR * far_out(effects)) : required;
}

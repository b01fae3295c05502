/* Checks of priors against rows. What the rows say of a parameter, with the priors of the others but
 * without its own, follows from posterior mean m and sd s and the prior's m_0 and s_0 as if all were
 * normal:
 *
 *   1/s_l^2 = 1/s^2 - 1/s_0^2,   m_l = (m/s^2 - m_0/s_0^2) s_l^2                            (1) */
#include "output/summary/run_checks.h"

#include <math.h>

#define UNINFORMATIVE 0.1 /* s^2/s_l^2: below it (1) is a difference of nearly equal numbers */
#define FAR_APART     5.0 /* m_l - m_0 over the root of s_l^2 + s_0^2: chance does not do it */
#define MOVED         0.5 /* |m - m_l| / s: what a prior may do unnamed */
#define HELD          0.9 /* share of the variance that is the priors' alone */

/* Shows by how many posterior sds the prior has moved the mean. */
static double bad_fight(const evidence *e, size_t j, double *shown)
{
    const result *r = e->r;
    double m = r->seen_mean[j], s = r->seen_sd[j], m0 = r->prior_mean[j], s0 = r->prior_sd[j];
    double rest = 1.0 - (s / s0) * (s / s0); /* s^2 / s_l^2 */
    *shown = NAN;
    if (!(rest > UNINFORMATIVE)) return 0.0;
    double from = (m - m0) / rest, own = s / sqrt(rest); /* m_l - m_0; s_l */
    *shown = (m - m0 - from) / s;
    if (!(fabs(*shown) > MOVED)) return 0.0;
    return fabs(from) / hypot(own, s0) - FAR_APART;
}

bool prior_fights(const evidence *e, text *seen)
{
    text_add(seen, "The prior fights the rows: each wants a parameter where the other all but "
                   "rules it out, and the prior has moved the mean, by posterior sds in "
                   "parentheses, of ");
    return name_worst(e, bad_fight, seen);
}

static double bad_prior_share(const evidence *e, size_t j, double *shown)
{
    *shown = NAN;
    return e->r->prior_share[j] - HELD;
}

bool prior_alone(const evidence *e, text *seen)
{
    text_add(seen, "The rows say next to nothing of some parameters, which only their priors "
                   "hold: ");
    return name_worst(e, bad_prior_share, seen);
}

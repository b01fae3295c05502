/* Priors along a line. A quadratic one has the slope bend (w - centre), in w and so in t; of the
 * others some have kinks, which a flight must not pass unseen. */
#include "base/real.h"
#include "potential/potential.h"

#include <math.h>

#define KINK_NUDGE 1e-9 /* relative; slopes are smooth beside a kink */

static bool is_curved(const posterior *target, size_t j)
{
    return target->scale[j] != SCALE_PLAIN || !target->priors[j].kind->quadratic;
}

void potential_straighten(potential *u)
{
    const posterior *target = u->target;
    for (size_t j = 0; j < target->dim; j++) {
        const prior *of = &target->priors[j];
        u->bend[j] = is_curved(target, j) ? 0.0 : of->kind->curvature(of->theta, 0.0);
        u->centre[j] = u->bend[j] < 0.0 ? -of->kind->slope(of->theta, 0.0) / u->bend[j] : 0.0;
    }
}

double potential_next_kink(const potential *u, double t, double *jump)
{
    double first = INFINITY;
    *jump = 0.0;
    for (size_t c = 0; c < u->curved_count; c++) {
        size_t j = u->curved[c];
        const prior *of = &u->target->priors[j];
        coordinate_scale scale = u->target->scale[j];
        double p = potential_coordinate(u, u->p, j), q = potential_coordinate(u, u->q, j);
        double kink = of->kind->kink ? of->kind->kink(of->theta) : NAN;
        if (scale == SCALE_LOG) kink = log(kink);
        double when = (kink - p) / q, nudge = copysign(KINK_NUDGE * larger(1.0, fabs(kink)), q);
        if (!(when > t) || !(when < first)) continue;
        first = when;
        *jump =
            q * (prior_slope(of, scale, kink - nudge) - prior_slope(of, scale, kink + nudge));
    }
    return first;
}

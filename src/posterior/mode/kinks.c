/* Kinks: a Laplace prior's slope jumps at its location, and a mode may sit on the jump. There
 *
 *   w_j stays at kappa   when   dU/dw_j(kappa-) <= 0 <= dU/dw_j(kappa+),      (1)
 *
 * else the one-sided slope that points downhill takes the gradient's place, and a step that would
 * cross kappa ends on it. So weights that belong on a kink land on it exactly.
 *
 * Andrew, Gao (2007), Scalable training of L1-regularized log-linear models, ICML. */
#include "posterior/mode/search.h"

#include <math.h>

#define NUDGE 1e-9 /* relative; slopes are smooth beside a kink */

void kinks_find(search *s)
{
    for (size_t j = 0; j < s->dim; j++) {
        const prior *p = &s->u->priors[j];
        s->side[j] = 1.0;
        s->kink[j] = p->kind->kink ? p->kind->kink(p->theta) : NAN;
        s->kink[j] = scale_coordinate(s->u->scale[j], s->kink[j]); /* NAN where there is none */
    }
}

/* (1) at a weight on its kink */
static void resolve(search *s, size_t j)
{
    const prior *p = &s->u->priors[j];
    coordinate_scale scale = s->u->scale[j];
    double at = s->w[j], nudge = NUDGE * fmax(1.0, fabs(at));
    double middle = s->gradient[j] + prior_slope(p, scale, at);
    double left = middle - prior_slope(p, scale, at - nudge);
    double right = middle - prior_slope(p, scale, at + nudge);
    s->side[j] = right < 0.0 ? 1.0 : left > 0.0 ? -1.0 : 0.0;
    s->gradient[j] = right < 0.0 ? right : left > 0.0 ? left : 0.0;
}

void kinks_resolve(search *s)
{
    for (size_t j = 0; j < s->dim; j++) {
        if (!isfinite(s->kink[j])) continue;
        if (s->w[j] == s->kink[j])
            resolve(s, j);
        else
            s->side[j] = s->w[j] > s->kink[j] ? 1.0 : -1.0;
    }
}

void kinks_project(const search *s)
{
    for (size_t j = 0; j < s->dim; j++)
        if (isfinite(s->kink[j]) && (s->trial[j] - s->kink[j]) * s->side[j] <= 0.0)
            s->trial[j] = s->kink[j];
}

/* A Laplace prior of scale s alone has variance 2 s^2, slopes +-1/s: a weight that sits on its kink
 * gets that precision, where second derivatives see none. */
double kink_curvature(const search *s, size_t j)
{
    const prior *p = &s->u->priors[j];
    coordinate_scale scale = s->u->scale[j];
    double at = s->w[j], nudge = NUDGE * fmax(1.0, fabs(at));
    if (!isfinite(s->kink[j]) || at != s->kink[j]) return 0.0;
    double jump = prior_slope(p, scale, at - nudge) - prior_slope(p, scale, at + nudge);
    return 0.125 * jump * jump;
}

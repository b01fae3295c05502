/* Priors along a line. A quadratic one has the slope curvature (w - centre), in w and so in t; a centred
 * intercept's sees p + t q of the line in place of a coordinate; of the others some have kinks, which
 * a flight must not pass unseen. */
#include "linalg/real.h"
#include "posterior/minibatch/minibatch.h"

#include <math.h>

#define KINK_NUDGE 1e-9 /* relative; slopes are smooth beside a kink */

static bool is_curved(const posterior *target, size_t j)
{
    return target->scale[j] != SCALE_PLAIN || !target->priors[j].kind->quadratic;
}

void minibatch_straighten(minibatch *u)
{
    const posterior *target = u->target;
    for (size_t j = 0; j < target->dim; j++) {
        const prior *of = &target->priors[j];
        double curvature = is_curved(target, j) ? 0.0 : of->kind->curvature(of->theta, 0.0);
        double centre = curvature < 0.0 ? -of->kind->slope(of->theta, 0.0) / curvature : 0.0;
        bool leans = log_prior_centred(target, j);
        u->curvature[j] = leans ? 0.0 : curvature;
        u->centre[j] = leans ? 0.0 : centre;
        if (leans)
            u->centred_priors[j / target->data->d] =
                (centred_prior){centre, curvature, 0.0, 0.0};
    }
}

void minibatch_set_centred(minibatch *u)
{
    for (size_t i = 0; i < u->target->centred; i++) {
        centred_prior *centred = &u->centred_priors[i];
        size_t j = i * u->target->data->d;
        centred->p = log_prior_argument(u->target, u->p, j);
        centred->q = log_prior_argument(u->target, u->q, j);
        u->state->prior_slope -=
            centred->q * centred->curvature * (centred->p - centred->centre);
        u->state->prior_rate -= centred->q * centred->q * centred->curvature;
    }
}

void minibatch_add_centred(const minibatch *u, double t, double *gradient)
{
    for (size_t i = 0; i < u->target->centred; i++) {
        const centred_prior *centred = &u->centred_priors[i];
        double slope = centred->curvature * (centred->p + t * centred->q - centred->centre);
        log_prior_spread(u->target, i * u->target->data->d, -slope, gradient);
    }
}

double minibatch_next_kink(const minibatch *u, double t, double *jump)
{
    double first = INFINITY;
    *jump = 0.0;
    for (size_t c = 0; c < u->curved_count; c++) {
        size_t j = u->curved[c];
        const prior *of = &u->target->priors[j];
        coordinate_scale scale = u->target->scale[j];
        double p = minibatch_seen(u, u->p, j), q = minibatch_seen(u, u->q, j);
        double kink = of->kind->kink ? of->kind->kink(of->theta) : NAN;
        kink = scale_coordinate(scale, kink);
        double when = (kink - p) / q, nudge = copysign(KINK_NUDGE * larger(1.0, fabs(kink)), q);
        if (!(when > t) || !(when < first)) continue;
        first = when;
        *jump =
            q * (prior_slope(of, scale, kink - nudge) - prior_slope(of, scale, kink + nudge));
    }
    return first;
}

double minibatch_log_prior(const minibatch *u, double t)
{
    const posterior *target = u->target;
    double sum = 0.0;
    if (target->model->parameters
            .joint_prior) /* of models given w: p is w itself, and the line stands still */
        sum = target->model->parameters.joint_prior(target->self, u->p);
    for (size_t j = 0; j < target->dim; j++) {
        double w = minibatch_seen(u, u->p, j) + t * minibatch_seen(u, u->q, j);
        sum += prior_logpdf(&target->priors[j], target->scale[j], w);
    }
    return sum;
}

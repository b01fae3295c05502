/* Priors along a line. A quadratic one has the slope curvature (w - centre), linear in w and
 * so in t; the argument of a centred intercept's prior is p + t q of its own. Some of the
 * others have kinks, which a segment must not cross unnoticed. */
#include "linalg/real.h"
#include "posterior/minibatch/minibatch.h"

#include <math.h>

/* relative offset at which slopes on either side of a kink are taken */
#define KINK_NUDGE 1e-9

static bool is_curved(const posterior *target, size_t j)
{
    return target->scale[j] != SCALE_PLAIN || !target->priors[j].kind->quadratic;
}

void minibatch_set_quadratic_priors(minibatch *u)
{
    const posterior *target = u->target;
    for (size_t j = 0; j < target->dim; j++) {
        const prior *own = &target->priors[j];
        double curvature = is_curved(target, j) ? 0.0 : own->kind->curvature(own->theta, 0.0);
        double centre = curvature < 0.0 ? -own->kind->slope(own->theta, 0.0) / curvature : 0.0;
        bool is_centred = log_prior_centred(target, j);
        u->curvature[j] = is_centred ? 0.0 : curvature;
        u->centre[j] = is_centred ? 0.0 : centre;
        if (is_centred)
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
        const prior *own = &u->target->priors[j];
        coordinate_scale scale = u->target->scale[j];
        double p = minibatch_prior_argument(u, u->p, j),
               q = minibatch_prior_argument(u, u->q, j);
        double kink = own->kind->kink ? own->kind->kink(own->theta) : NAN;
        kink = scale_coordinate(scale, kink);
        double time = (kink - p) / q, nudge = copysign(KINK_NUDGE * larger(1.0, fabs(kink)), q);
        if (!(time > t) || !(time < first)) continue;
        first = time;
        *jump =
            q * (prior_slope(own, scale, kink - nudge) - prior_slope(own, scale, kink + nudge));
    }
    return first;
}

double minibatch_log_prior(const minibatch *u, double t)
{
    const posterior *target = u->target;
    double sum = 0.0;
    if (target->model->parameters
            .joint_prior) /* of pointwise models: p is w itself, and q is 0 */
        sum = target->model->parameters.joint_prior(target->self, u->p);
    for (size_t j = 0; j < target->dim; j++) {
        double w =
            minibatch_prior_argument(u, u->p, j) + t * minibatch_prior_argument(u, u->q, j);
        sum += prior_logpdf(&target->priors[j], target->scale[j], w);
    }
    return sum;
}

/* Properties of a posterior that samplers may depend on. */
#include "posterior/minibatch/minibatch.h"

/* True if U is convex: rows and priors are log-concave. */
static bool convex(const posterior *target)
{
    if (!target->model->facts.log_concave) return false;
    for (size_t j = 0; j < target->dim; j++)
        if (target->scale[j] != SCALE_PLAIN || !target->priors[j].kind->log_concave)
            return false;
    return true;
}

/* Name of the first prior without a bound on its slope; NULL if there is none. */
static const char *unbounded_prior(const posterior *target)
{
    for (size_t j = 0; j < target->dim; j++) {
        const prior_kind *kind = target->priors[j].kind;
        bool known = kind->quadratic || kind->slope_bound;
        if (target->scale[j] != SCALE_PLAIN || !known) return kind->name;
    }
    return NULL;
}

static bool third_bounded(const posterior *target)
{
    const predictor *p = target->model->predictor;
    return p && p->third_bound && target->model->auxiliary_count == 0;
}

potential_facts minibatch_facts(const posterior *target)
{
    return (potential_facts){
        .dim = target->dim,
        .rows = total_rows(target->data),
        .model = target->model->name,
        .convex = convex(target),
        .quadratic = target->model->facts.quadratic,
        .bounded = posterior_bounded(target),
        .third_bounded = third_bounded(target),
        .unbounded_prior = unbounded_prior(target),
    };
}

/* Draws from the prior. The prior of coordinate j is that of its argument s_j(w), see
 * log_prior.c. The arguments are independent; a centred intercept follows from its argument and
 * the weights. A model with a joint prior then changes the draw (join_prior_draw). */
#include "posterior/full/prior_draw.h"
#include "core/printable.h"
#include "posterior/full/log_prior.h"

#include <math.h>
#include <string.h>

#define JOINT_TRIES 100000 /* draws of all coordinates until one is in the joint support */

sbps_status prior_draw_check(const posterior *u, sbps_error *err)
{
    rng r = rng_stream(1, 0, RNG_START);
    for (size_t j = 0; j < u->dim; j++) {
        double w;
        char name[81], text[128];
        if (prior_can_draw(&u->priors[j], u->scale[j]) &&
            prior_draw(&u->priors[j], u->scale[j], &r, &w))
            continue;
        posterior_name(u, j, sizeof name, name);
        prior_format(&u->priors[j], sizeof text, text);
        if (u->priors[j].kind->draw)
            return fail(err, SBPS_BAD_ARG,
                        "--prior-only: the prior %s of '%s' has almost no mass at allowed "
                        "values of the parameter: choose another",
                        text, show_name(name).text);
        return fail(err, SBPS_BAD_ARG,
                    "--prior-only: the prior of '%s' is flat, which is no distribution to draw "
                    "from: give it another, such as normal(0,5)",
                    show_name(name).text);
    }
    return SBPS_OK;
}

/* Do all intercepts have the same prior? */
static bool intercepts_alike(const posterior *u)
{
    const prior *first = NULL;
    for (size_t j = 0; u->model->parameters.intercept && j < u->dim; j++) {
        if (!u->model->parameters.intercept(u->self, j)) continue;
        if (!first) first = &u->priors[j];
        if (first->kind != u->priors[j].kind ||
            memcmp(first->theta, u->priors[j].theta, sizeof first->theta) != 0)
            return false;
    }
    return true;
}

/* Draws all arguments; false: a prior gave no allowed value. */
static bool draw_arguments(const posterior *u, rng *r, double *w)
{
    for (size_t j = 0; j < u->dim; j++)
        if (!prior_draw(&u->priors[j], u->scale[j], r, &w[j])) return false;
    return true;
}

void prior_draw_all(const posterior *u, rng *r, double *w)
{
    bool (*join)(const void *, bool, double *) = u->model->parameters.join_prior_draw;
    for (int tries = 0; tries < JOINT_TRIES; tries++) {
        if (!draw_arguments(u, r, w)) break;
        if (join && !join(u->self, intercepts_alike(u), w)) continue;
        for (size_t j = 0; j < u->dim; j++)
            if (log_prior_centred(u, j)) w[j] -= log_prior_argument(u, w, j) - w[j];
        return;
    }
    for (size_t j = 0; j < u->dim; j++) w[j] = NAN;
}

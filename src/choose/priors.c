/* Which prior each coordinate gets.
 *
 * Defaults: coefficients normal(0, 2.5 s / sd(x)), intercept normal(0, 10) or for a model on the
 * target's own scale normal(mean y, 10 s), sigma exponential(1/s); s = sd(y) for such a model,
 * else 1. The intercept is the one at the means of the columns: at x = 0, far from the data of a
 * column such as a year, its prior would hold the slope back. */
#include "run/run.h"

#include <math.h>
#include <string.h>

static void target_scale(const rows *data, double *mean, double *sd)
{
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < data->n; i++) sum += data->y[i];
    *mean = sum / (double)data->n;
    for (size_t i = 0; i < data->n; i++) square += (data->y[i] - *mean) * (data->y[i] - *mean);
    *sd = sqrt(square / (double)data->n);
}

/* The option's prior, or `fallback` where the option says auto. */
static sbps_status asked_or(const char *option, const char *text, prior fallback, prior *out,
                            sbps_error *err)
{
    *out = fallback;
    if (!text || !strcmp(text, "auto")) return SBPS_OK;
    sbps_error why;
    if (prior_parse(text, out, &why) == SBPS_OK) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG, "--%s: %s", option, why.text);
}

/* A coefficient's default: 2.5 of the target's scale per sd of its column. */
static prior usual_prior(const rows *data, size_t j, double mean, double scale)
{
    const prior_kind *normal = prior_find("normal");
    if (data->intercept && j == 0) return (prior){normal, {mean, 10.0 * scale}};
    return (prior){normal, {0.0, 2.5 * scale / (data->sd[j] > 0.0 ? data->sd[j] : 1.0)}};
}

static sbps_status predictor_priors(const sbps_options *o, const posterior *target, prior *out,
                                    sbps_error *err)
{
    const rows *data = target->data;
    double mean = 0.0, scale = 1.0;
    sbps_status status = SBPS_OK;
    if (target->model->scales_with_target) target_scale(data, &mean, &scale);
    for (size_t j = 0; j < data->d && status == SBPS_OK; j++) {
        prior usual = usual_prior(data, j, mean, scale);
        bool intercept = data->intercept && j == 0;
        status = asked_or(intercept ? "prior-intercept" : "prior",
                          intercept ? o->prior_intercept : o->prior, usual, out + j, err);
    }
    if (status != SBPS_OK || !target->model->aux_name) return status;
    prior usual = {prior_find("exponential"), {1.0 / scale}};
    return asked_or("prior-sigma", o->prior_sigma, usual, out + data->d, err);
}

static sbps_status general_priors(const sbps_options *o, const posterior *target, prior *out,
                                  sbps_error *err)
{
    const general_model *general = target->model->general;
    const char *why = general->needs_prior;
    sbps_status status = SBPS_OK;
    for (size_t j = 0; j < target->dim && status == SBPS_OK; j++) {
        double sd = general->prior_sd(target->self, j);
        prior usual = {prior_find("flat"), {0.0}};
        if (isfinite(sd)) usual = (prior){prior_find("normal"), {0.0, sd}};
        bool intercept = general->intercept && general->intercept(target->self, j);
        const char *option = intercept ? "prior-intercept" : "prior";
        status =
            asked_or(option, intercept ? o->prior_intercept : o->prior, usual, out + j, err);
        if (status == SBPS_OK && why && out[j].kind == prior_find("flat"))
            return fail(err, SBPS_NO_MODE,
                        "--%s: with flat the posterior of %s is improper: %s; give a proper "
                        "prior, e.g. --%s \"normal(0,2.5)\"",
                        option, target->model->name, why, option);
    }
    return status;
}

/* A prior that was given is of the intercept as it is reported, the default of the one in the middle
 * of the data. */
static sbps_status centre(const sbps_options *o, posterior *target, sbps_error *err)
{
    bool given = !is_auto(o->prior_intercept);
    if (is_auto(o->prior_intercept_at) ? given : !strcmp(o->prior_intercept_at, "zero"))
        return SBPS_OK;
    posterior_centre(target);
    if (!target->centred || !target->priors[0].kind->kink) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG,
                "--prior-intercept-at: mean: %s has a kink, which must be at x = 0; take zero, "
                "with --standardize if need be",
                target->priors[0].kind->name);
}

sbps_status priors_choose(const sbps_options *options, posterior *target, sbps_error *err)
{
    prior *priors = calloc(target->dim + 1, sizeof *priors);
    if (!priors) return fail_memory(err);
    sbps_status status = target->model->general
                             ? general_priors(options, target, priors, err)
                             : predictor_priors(options, target, priors, err);
    if (status == SBPS_OK) status = posterior_set_priors(target, priors, err);
    if (status == SBPS_OK) status = centre(options, target, err);
    free(priors);
    return status;
}

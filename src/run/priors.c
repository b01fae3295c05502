/* Which prior each coordinate gets.
 *
 * Defaults: coefficients normal(0, 2.5 s / sd(x)), intercept normal(0, 10) or for a model on the
 * target's own scale normal(mean y, 10 s), sigma exponential(1/s); s = sd(y) for such a model,
 * else 1. */
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

static const prior_kind *kind_named(const char *name)
{
    for (size_t i = 0; prior_kinds[i]; i++)
        if (!strcmp(prior_kinds[i]->name, name)) return prior_kinds[i];
    return NULL;
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

sbps_status priors_choose(const sbps_options *options, const rows *data,
                          const model_kind *model, prior *out, sbps_error *err)
{
    const prior_kind *normal = kind_named("normal"), *exponential = kind_named("exponential");
    double mean = 0.0, scale = 1.0;
    sbps_status status = SBPS_OK;
    if (model->scales_with_target) target_scale(data, &mean, &scale);
    for (size_t j = 0; j < data->d && status == SBPS_OK; j++) {
        bool intercept = data->intercept && j == 0;
        prior usual = {normal, {0.0, 2.5 * scale / (data->sd[j] > 0.0 ? data->sd[j] : 1.0)}};
        if (intercept) usual = (prior){normal, {mean, 10.0 * scale}};
        status = intercept ? asked_or("prior-intercept", options->prior_intercept, usual,
                                      out + j, err)
                           : asked_or("prior", options->prior, usual, out + j, err);
    }
    if (status != SBPS_OK || !model->aux_name) return status;
    return asked_or("prior-sigma", options->prior_sigma, (prior){exponential, {1.0 / scale}},
                    out + data->d, err);
}

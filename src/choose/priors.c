/* Which prior each coordinate gets.
 *
 * Defaults are the model's: see predictor.c for those of regressions; those of auxiliaries are
 * stated with them, in units of theirs. The intercept is the one at the means of the columns: at x = 0, far from the data of a
 * column such as a year, its prior would hold the slope back. */
#include "choose/priors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The model's own. */
static prior usual_prior(const posterior *target, size_t j)
{
    const model_kind *model = target->model;
    double sd = model->prior_sd(target->self, j);
    double mean = model->prior_mean ? model->prior_mean(target->self, j) : 0.0;
    if (!isfinite(sd)) return (prior){prior_find("flat"), {0.0}};
    return (prior){prior_find("normal"), {mean, sd}};
}

static sbps_status auxiliary_prior(const sbps_options *o, const posterior *target, size_t index,
                                   prior *out, sbps_error *err)
{
    const model_kind *model = target->model;
    const model_auxiliary *of = &model->auxiliaries[index];
    prior usual;
    sbps_status status = prior_parse(of->prior, &usual, err);
    if (status != SBPS_OK) return status;
    usual = prior_in_units(&usual, model->auxiliary_unit(target->self, index));
    return asked_or(of->option, options_get(o, of->option), usual, out, err);
}

static sbps_status weight_prior(const sbps_options *o, const posterior *target, size_t j,
                                prior *out, sbps_error *err)
{
    const model_kind *model = target->model;
    bool intercept = model->intercept && model->intercept(target->self, j);
    const char *option = intercept ? "prior-intercept" : "prior";
    sbps_status status = asked_or(option, intercept ? o->prior_intercept : o->prior,
                                  usual_prior(target, j), out, err);
    if (status != SBPS_OK || !model->needs_prior || out->kind != prior_find("flat"))
        return status;
    return fail(err, SBPS_NO_MODE,
                "--%s: with flat the posterior of %s is improper: %s; give a proper "
                "prior, e.g. --%s \"normal(0,2.5)\"",
                option, model->name, model->needs_prior, option);
}

static bool has_auxiliary(const model_kind *model, const char *name)
{
    for (size_t i = 0; i < model->auxiliary_count; i++)
        if (!strcmp(model->auxiliaries[i].name, name)) return true;
    return false;
}

/* Nothing that was asked for is passed over. */
static sbps_status check_asked(const sbps_options *o, const posterior *target, sbps_error *err)
{
    const model_auxiliary *each;
    const char *model = o->model ? o->model : target->model->name;
    for (size_t i = 0; (each = model_auxiliary_at(i)); i++)
        if (!is_auto(options_get(o, each->option)) && !has_auxiliary(target->model, each->name))
            return fail(err, SBPS_BAD_ARG, "--%s: model %s has no parameter '%s'", each->option,
                        model, each->name);
    if (is_auto(o->prior_intercept) || target->data->intercept) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG, "--prior-intercept: model %s has no intercept here", model);
}

static sbps_status choose_all(const sbps_options *o, const posterior *target, prior *out,
                              sbps_error *err)
{
    size_t weights = target->dim - target->auxiliaries;
    sbps_status status = SBPS_OK;
    for (size_t j = 0; j < weights && status == SBPS_OK; j++)
        status = weight_prior(o, target, j, out + j, err);
    for (size_t i = 0; i < target->auxiliaries && status == SBPS_OK; i++)
        status = auxiliary_prior(o, target, i, out + weights + i, err);
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
    sbps_status status = check_asked(options, target, err);
    if (status == SBPS_OK) status = choose_all(options, target, priors, err);
    if (status == SBPS_OK) status = posterior_set_priors(target, priors, err);
    if (status == SBPS_OK) status = centre(options, target, err);
    free(priors);
    return status;
}

/* Which prior each coordinate gets.
 *
 * Defaults are the model's: see predictor.c for those of regressions; those of auxiliaries are
 * stated with them, in units of theirs. The intercept is the one at the means of the columns: at x = 0, far from the data of a
 * column such as a year, its prior would hold the slope back. */
#include "inference/options/coordinate_priors.h"
#include "core/printable.h"
#include "inference/options/prior_list.h"
#include "inference/options/target.h"
#include "model/prior/prior_shrinkage.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The option's prior, or `fallback` where the option says auto. */
static sbps_status parse_or_default(const char *option, const char *text, prior fallback,
                                    prior *out, sbps_error *err)
{
    *out = fallback;
    if (!text || !strcmp(text, "auto")) return SBPS_OK;
    sbps_error why;
    if (prior_parse(text, out, &why) == SBPS_OK) {
        if (!prior_shrinks(out)) return SBPS_OK;
        return fail(err, SBPS_BAD_ARG, "--%s: %s is a prior of coefficients: --prior", option,
                    out->kind->name);
    }
    return fail(err, SBPS_BAD_ARG, "--%s: %s", option, why.text);
}

/* The model's own. */
static prior usual_prior(const posterior *target, size_t j)
{
    const model_kind *model = target->model;
    double sd = model->parameters.prior_sd(target->self, j);
    double mean =
        model->parameters.prior_mean ? model->parameters.prior_mean(target->self, j) : 0.0;
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
    usual = prior_in_units(&usual, model->parameters.auxiliary_unit(target->self, index));
    return parse_or_default(of->option, options_get(o, of->option), usual, out, err);
}

/* Of a coordinate that the model describes. */
static sbps_status own_prior(const sbps_options *o, const model_coordinate *own, prior *out,
                             sbps_error *err)
{
    prior usual;
    sbps_status status = prior_parse(own->prior, &usual, err);
    if (status != SBPS_OK) return status;
    usual = prior_in_units(&usual, own->unit);
    status = parse_or_default(own->option, own->option ? options_get(o, own->option) : NULL,
                              usual, out, err);
    if (out->kind->correlation) out->theta[0] += own->deeper;
    return status;
}

/* What is asked of coefficients, and their names where it asks by them. */
typedef struct {
    const sbps_options *options;
    const posterior *target;
    prior_list list;
    char **names; /* dim, or NULL */
} request;

/* Those that are shrunk have their usual one here: shrinkage.c gives them theirs. */
static prior coefficient_prior(request *r, size_t j)
{
    const prior_piece *piece = prior_list_find(&r->list, r->names ? r->names[j] : "");
    bool given = piece && !piece->usual && !prior_shrinks(&piece->distribution);
    return given ? piece->distribution : usual_prior(r->target, j);
}

static sbps_status weight_prior(request *r, size_t j, prior *out, sbps_error *err)
{
    const model_kind *model = r->target->model;
    bool intercept =
        model->parameters.intercept && model->parameters.intercept(r->target->self, j);
    const char *option = intercept ? "prior-intercept" : "prior";
    sbps_status status = SBPS_OK;
    if (intercept)
        status = parse_or_default(option, r->options->prior_intercept,
                                  usual_prior(r->target, j), out, err);
    else
        *out = coefficient_prior(r, j);
    if (status != SBPS_OK || !model->facts.needs_prior || out->kind != prior_find("flat"))
        return status;
    return fail(err, SBPS_NO_MODE,
                "--%s: with flat the posterior of %s is improper: %s; give a proper "
                "prior, e.g. --%s \"normal(0,2.5)\"",
                option, model->name, model->facts.needs_prior, option);
}

static bool has_auxiliary(const model_kind *model, const char *name)
{
    if (model->row_model) model = model->row_model;
    for (size_t i = 0; i < model->auxiliary_count; i++)
        if (!strcmp(model->auxiliaries[i].name, name)) return true;
    return false;
}

/* Nothing that was asked for is passed over. */
static sbps_status check_requested(const sbps_options *o, const posterior *target,
                                   sbps_error *err)
{
    const char *const of_groups[] = {"prior-sd", "prior-cor"};
    for (size_t i = 0; i < 2 && !target->model->row_model; i++)
        if (option_given(o, of_groups[i]))
            return fail(
                err, SBPS_BAD_ARG,
                "--%s is of groups, and the table has none: a formula names them, (1 | g)",
                of_groups[i]);
    const model_auxiliary *of[MODEL_AUXILIARIES_MAX];
    const char *model = o->model ? o->model : target->model->name;
    size_t count = model_auxiliary_list(of);
    for (size_t i = 0; i < count; i++)
        if (!is_auto(options_get(o, of[i]->option)) &&
            !has_auxiliary(target->model, of[i]->name))
            return fail(err, SBPS_BAD_ARG, "--%s: model %s has no parameter '%s'",
                        of[i]->option, model, of[i]->name);
    if (is_auto(o->prior_intercept) || target->data->intercept) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG, "--prior-intercept: model %s has no intercept here", model);
}

/* A name that no coefficient has; other parameters have options of their own. */
static sbps_status unknown_name(const request *r, const char *name, sbps_error *err)
{
    const posterior *u = r->target;
    size_t weights = u->dim - u->auxiliaries;
    for (size_t i = 0; i < u->auxiliaries; i++)
        if (!strcmp(name, u->model->auxiliaries[i].name))
            return fail(err, SBPS_BAD_ARG, "--prior is of coefficients; %s has --%s", name,
                        u->model->auxiliaries[i].option);
    if (!strcmp(name, "intercept"))
        return fail(err, SBPS_BAD_ARG,
                    "--prior is of coefficients; the intercept has --prior-intercept");
    return fail(err, SBPS_BAD_ARG, "--prior: no coefficient is called '%s'%s",
                show_name(name).text,
                did_you_mean(";", name, (const char *const *)r->names, weights).text);
}

static sbps_status check_used(const request *r, sbps_error *err)
{
    for (size_t i = 0; i < r->list.count; i++)
        if (r->list.piece[i].name && !r->list.piece[i].used)
            return unknown_name(r, r->list.piece[i].name, err);
    return SBPS_OK;
}

/* Beside an intercept, the Hessian holds what a column adds to it as 1 - cor^2 = (sd/mean)^2. Where that is below the
 * rounding error of a double and only the wide default prior bounds the coefficient, no posterior can be computed. */
static sbps_status check_spread(const request *r, sbps_error *err)
{
    const rows *data = r->target->data;
    if (!data->intercept || !is_auto(r->options->prior)) return SBPS_OK;
    for (size_t j = 1; j < data->d; j++) {
        double ratio = data->table.sd[j] / fabs(data->table.mean[j]);
        if (!(ratio > 0.0 && ratio * ratio < DBL_EPSILON)) continue;
        return fail(err, SBPS_BAD_DATA,
                    "column '%s' is nearly constant: its standard deviation of %.2g is lost "
                    "beside its mean of %.6g; subtract the mean, use --standardize, or leave "
                    "the column out",
                    show_name(data->table.names[j]).text, data->table.sd[j],
                    data->table.mean[j]);
    }
    return SBPS_OK;
}

static sbps_status choose_all(request *r, prior *out, sbps_error *err)
{
    const posterior *target = r->target;
    size_t weights = target->dim - target->auxiliaries;
    sbps_status status = SBPS_OK;
    model_coordinate own;
    for (size_t j = 0; j < weights && status == SBPS_OK; j++)
        status = target->model->parameters.coordinate &&
                         target->model->parameters.coordinate(target->self, j, &own)
                     ? own_prior(r->options, &own, out + j, err)
                     : weight_prior(r, j, out + j, err);
    if (status == SBPS_OK) status = check_used(r, err);
    for (size_t i = 0; i < target->auxiliaries && status == SBPS_OK; i++)
        status = auxiliary_prior(r->options, target, i, out + weights + i, err);
    return status;
}

static sbps_status request_open(const sbps_options *o, const posterior *target, request *r,
                                sbps_error *err)
{
    sbps_error why = {0};
    *r = (request){.options = o, .target = target};
    const char *text = o->prior && *o->prior ? o->prior : "auto";
    sbps_status status = prior_list_parse(text, &r->list, &why);
    if (status != SBPS_OK) return fail(err, status, "--prior: %s", why.text);
    return prior_list_names(&r->list) ? target_names(target, &r->names, err) : SBPS_OK;
}

static void request_close(request *r)
{
    for (size_t j = 0; r->names && j < r->target->dim; j++) free(r->names[j]);
    free(r->names);
    prior_list_close(&r->list);
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
    request r;
    sbps_status status = request_open(options, target, &r, err);
    if (status == SBPS_OK) status = check_requested(options, target, err);
    if (status == SBPS_OK) status = check_spread(&r, err);
    if (status == SBPS_OK) status = choose_all(&r, priors, err);
    request_close(&r);
    if (status == SBPS_OK) status = posterior_set_priors(target, priors, err);
    if (status == SBPS_OK) status = centre(options, target, err);
    free(priors);
    return status;
}

/* A model that the caller hands over as a function. Its name among the options is "function" or "function NAME", which no
 * listed model has. */
#include "inference/options/options.h"
#include "model/likelihood/model_kinds.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION "function"

static sbps_status check(const sbps_model_function *model, sbps_error *err)
{
    if (model->struct_size < offsetof(sbps_model_function, dim))
        return fail(err, SBPS_BAD_ARG,
                    "the model's struct_size is %zu: want sizeof(sbps_model_function)",
                    model->struct_size);
    if (model->struct_size > sizeof *model)
        return fail(
            err, SBPS_BAD_ARG,
            "the model's struct_size is %zu, this library knows %zu bytes of it: it was "
            "compiled for a later version",
            model->struct_size, sizeof *model);
    if (!model->rows) return fail(err, SBPS_BAD_ARG, "the model has no function `rows`");
    if (model->name && strchr(model->name, '/'))
        return fail(err, SBPS_BAD_ARG, "the model's name '%s' has a slash in it, as files have",
                    model->name);
    return SBPS_OK;
}

/* Members that a shorter, older struct does not have stay 0. */
static sbps_model_function whole(const sbps_model_function *model)
{
    sbps_model_function out = {0};
    memcpy(&out, model, model->struct_size);
    return out;
}

static sbps_status check_names(const sbps_model_function *model, sbps_error *err)
{
    if (model->dim == 0 && (model->names || model->start || model->prior_sd))
        return fail(err, SBPS_BAD_ARG,
                    "the model lists something for each parameter, and its dim is 0: say how "
                    "many there are");
    for (size_t j = 0; model->names && j < model->dim; j++)
        if (!model->names[j] || !*model->names[j])
            return fail(err, SBPS_BAD_ARG, "parameter %zu of the model has no name", j + 1);
    return SBPS_OK;
}

sbps_status options_set_model(sbps_options *options, const sbps_model_function *model,
                              sbps_error *err)
{
    sbps_status status = check(model, err);
    if (status != SBPS_OK) return status;
    sbps_model_function own = whole(model);
    if ((status = check_names(&own, err)) != SBPS_OK) return status;
    const char *name = own.name ? own.name : "";
    size_t size = sizeof FUNCTION + 1 + strlen(name);
    char *full_name = malloc(size);
    if (!full_name) return fail_memory(err);
    snprintf(full_name, size, *name ? "%s %s" : "%s%s", FUNCTION, name);
    status = options_set(options, "model", full_name, err);
    free(full_name);
    if (status == SBPS_OK) options->function = own;
    return status;
}

const model_kind *options_model(const sbps_options *options)
{
    if (options->function.rows) return &model_function;
    return options->model && *options->model ? model_find(options->model) : NULL;
}

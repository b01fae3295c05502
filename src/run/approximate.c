/* From options and rows to a mode with names, and to the normal there. */
#include "run/approximate.h"
#include "base/memory.h"
#include "choose/target.h"
#include "run/run.h"

#include <math.h>
#include <string.h>

static sbps_status name_coordinates(sbps_mode *found, sbps_error *err)
{
    found->coordinates = calloc(found->dim, sizeof *found->coordinates);
    if (!found->coordinates) return fail_memory(err);
    for (size_t j = 0; j < found->dim; j++) {
        found->coordinates[j] = coordinate_name(found->u, found->names[j], j);
        if (!found->coordinates[j]) return fail_memory(err);
    }
    return SBPS_OK;
}

static sbps_status search_mode(sbps_mode *found, sbps_error *err)
{
    const sbps_options *o = found->options;
    mode_request how = {.method = o->method,
                        .tolerance = o->tolerance,
                        .most_epochs = o->max_epochs,
                        .seed = o->seed};
    start_point start;
    if (found->u->data->share && !strcmp(o->method, "sag"))
        return fail(
            err, SBPS_BAD_ARG,
            "--method: sag goes from row to row and not on several ranks: newton and lbfgs "
            "do");
    sbps_status status = target_start(o, found->u, found->names, &start, err);
    if (status == SBPS_OK && found->u->model->lead) {
        metric *a;
        status = wide_find(found->u, start.w, &a, &found->m, err);
        metric_destroy(a);
        start_release(&start);
        return status;
    }
    if (status == SBPS_OK) status = groups_ready(found->u, start.w, err);
    if (status == SBPS_OK) status = groups_find(found->u, start.w, &how, &found->m, err);
    quadrature rule;
    if (status == SBPS_OK) status = groups_settle(found->u, &how, &found->m, &rule, err);
    start_release(&start);
    return status;
}

static sbps_status keep_values(sbps_mode *found, sbps_error *err)
{
    found->values = new_doubles(found->dim);
    if (!found->values) return fail_memory(err);
    for (size_t j = 0; j < found->dim; j++)
        found->values[j] = scale_value(found->u->scale[j], found->m->w[j]);
    return laplace_nll(found->u, found->m, &found->law, err);
}

static sbps_status find(sbps_mode *found, const rows *data, sbps_error *err)
{
    const model_kind *model;
    sbps_status status = plan_model(found->options, data, &model, err);
    if (status == SBPS_OK) status = target_open(found->options, data, model, &found->u, err);
    if (status != SBPS_OK) return status;
    if (found->u->told)
        return fail(
            err, SBPS_BAD_ARG,
            "--prior: the mode of coefficients together with their scales is no estimate "
            "of them; `sbps sample` has their posterior");
    found->dim = found->u->dim;
    found->target = copy_text(data->target);
    if (data->target && !found->target) return fail_memory(err);
    if ((status = target_names(found->u, &found->names, err)) != SBPS_OK) return status;
    if ((status = name_coordinates(found, err)) != SBPS_OK) return status;
    if ((status = search_mode(found, err)) != SBPS_OK) return status;
    return keep_values(found, err);
}

sbps_status approximate_find(const sbps_table *table, const sbps_options *options,
                             sbps_mode **out, sbps_error *err)
{
    *out = NULL;
    sbps_mode *found = calloc(1, sizeof *found);
    if (!found) return fail_memory(err);
    sbps_status status = options_copy(options, &found->options, err);
    struct row_crew crew;
    if (status == SBPS_OK) {
        const rows data = crew_take(table, found->options, &crew);
        status = find(found, &data, err);
        status = target_told(found->u, status, err);
    }
    posterior_destroy(found->u);
    found->u = NULL;
    if (status == SBPS_OK)
        *out = found;
    else
        approximate_destroy(found);
    return status;
}

void approximate_destroy(sbps_mode *found)
{
    if (!found) return;
    free(found->values);
    mode_destroy(found->m);
    free_texts(found->coordinates, found->dim);
    free_texts(found->names, found->dim);
    free(found->target);
    options_destroy(found->options);
    free(found);
}

sbps_status approximate_normal(const sbps_mode *found, sbps_laplace **out, sbps_error *err)
{
    size_t d = found->dim;
    sbps_status status;
    *out = NULL;
    if (!found->m->hessian)
        return fail(err, SBPS_BAD_ARG,
                    "effects of all factors are coordinates here, and no Hessian of so many is "
                    "made: there is no normal approximation; 'sbps map' has the mode");
    sbps_laplace *laplace = calloc(1, sizeof *laplace);
    if (!laplace) return fail_memory(err);
    *laplace = (sbps_laplace){found, new_doubles(d * d), new_doubles(d)};
    status = laplace->covariance && laplace->sd
                 ? laplace_spread(d, found->m, laplace->covariance, laplace->sd, err)
                 : fail_memory(err);
    if (status == SBPS_OK)
        *out = laplace;
    else
        approximate_normal_destroy(laplace);
    return status;
}

void approximate_normal_destroy(sbps_laplace *laplace)
{
    if (!laplace) return;
    free(laplace->covariance);
    free(laplace->sd);
    free(laplace);
}

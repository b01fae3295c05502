/* The mode of a posterior, from options and table, and the normal approximation at it,
 *
 *   w ~ N(mode, H^-1),   H the Hessian of U = -log posterior at the mode,
 *
 * in coordinates (log sigma, not sigma). The posterior borrows the caller's table and is
 * destroyed after the search: a sbps_mode holds copies of all it needs. */
#include "inference/run/approximate.h"
#include "core/memory.h"
#include "inference/options/family_choice.h"
#include "inference/options/start_point.h"
#include "inference/options/target.h"
#include "inference/run/group_mode.h"
#include "inference/run/run.h"
#include "inference/run/set_up.h"

#include <math.h>
#include <string.h>

/* Creates the names of the coordinates, such as log(sigma). */
static sbps_status name_coordinates(sbps_mode *map, sbps_error *err)
{
    map->coordinates = calloc(map->dim, sizeof *map->coordinates);
    if (!map->coordinates) return fail_memory(err);
    for (size_t j = 0; j < map->dim; j++) {
        map->coordinates[j] = coordinate_name(map->u, map->names[j], j);
        if (!map->coordinates[j]) return fail_memory(err);
    }
    return SBPS_OK;
}

/* Finds the mode by the route the model needs: matrix-free for models that sample all group
 * effects, with recentred effects and quadrature for other groups, else by --method. */
static sbps_status search_mode(sbps_mode *map, sbps_error *err)
{
    const sbps_options *o = map->options;
    mode_request how = {.method = o->method,
                        .tolerance = o->tolerance,
                        .max_epochs = o->max_epochs,
                        .seed = o->seed};
    start_point start;
    if (map->u->data->partition && !strcmp(o->method, "sag"))
        return fail(err, SBPS_BAD_ARG,
                    "--method: sag cannot run on several ranks; use newton or lbfgs");
    sbps_status status = target_start(o, map->u, map->names, &start, err);
    if (status == SBPS_OK && map->u->model->transformation.apply) {
        metric *a;
        status = wide_find(map->u, start.w, &a, &map->m, err);
        metric_destroy(a);
        start_release(&start);
        return status;
    }
    if (status == SBPS_OK) status = groups_ready(map->u, start.w, err);
    if (status == SBPS_OK) status = groups_find(map->u, start.w, &how, &map->m, err);
    quadrature rule;
    if (status == SBPS_OK)
        status = groups_choose_nodes(map->u, &how, false, &map->m, &rule, err);
    start_release(&start);
    return status;
}

/* Plans the model, opens its posterior and finds the mode, into map. */
static sbps_status find(sbps_mode *map, const rows *data, sbps_error *err)
{
    const model_kind *model;
    sbps_status status = plan_model(map->options, data, &model, err);
    if (status == SBPS_OK) status = target_open(map->options, data, model, &map->u, err);
    if (status != SBPS_OK) return status;
    if (map->u->reported_priors)
        return fail(err, SBPS_BAD_ARG,
                    "--prior: the joint mode of coefficients and their scales is not a usable "
                    "estimate; use `sbps sample` for their posterior");
    map->dim = map->u->dim;
    map->target = copy_text(data->table.target);
    if (data->table.target && !map->target) return fail_memory(err);
    if ((status = target_names(map->u, &map->names, err)) != SBPS_OK) return status;
    if ((status = name_coordinates(map, err)) != SBPS_OK) return status;
    if ((status = search_mode(map, err)) != SBPS_OK) return status;
    map->values = new_doubles(map->dim);
    if (!map->values) return fail_memory(err);
    for (size_t j = 0; j < map->dim; j++)
        map->values[j] = scale_value(map->u->scale[j], map->m->w[j]);
    return laplace_nll(map->u, map->m, &map->nll, err);
}

sbps_status approximate_find(const sbps_table *table, const sbps_options *options,
                             sbps_mode **out, sbps_error *err)
{
    *out = NULL;
    sbps_mode *map = calloc(1, sizeof *map);
    if (!map) return fail_memory(err);
    sbps_status status = options_copy(options, &map->options, err);
    struct row_workers workers;
    const char *why;
    if (status == SBPS_OK) status = family_choose(map->options, table->data, &why, err);
    if (status == SBPS_OK) {
        const rows data = attach_row_workers(table, map->options, &workers);
        status = find(map, &data, err);
        status = target_failure(map->u, status, err);
    }
    posterior_destroy(map->u);
    map->u = NULL;
    if (status == SBPS_OK)
        *out = map;
    else
        approximate_destroy(map);
    return status;
}

void approximate_destroy(sbps_mode *map)
{
    if (!map) return;
    free(map->values);
    mode_destroy(map->m);
    free_texts(map->coordinates, map->dim);
    free_texts(map->names, map->dim);
    free(map->target);
    options_destroy(map->options);
    free(map);
}

sbps_status approximate_normal(const sbps_mode *map, sbps_laplace **out, sbps_error *err)
{
    size_t d = map->dim;
    sbps_status status;
    *out = NULL;
    if (!map->m->hessian)
        return fail(
            err, SBPS_BAD_ARG,
            "the model samples the effects of all factors, and their Hessian is too large to "
            "compute: there is no normal approximation; 'sbps map' reports the mode");
    sbps_laplace *laplace = calloc(1, sizeof *laplace);
    if (!laplace) return fail_memory(err);
    *laplace = (sbps_laplace){map, new_doubles(d * d), new_doubles(d)};
    status = laplace->covariance && laplace->sd
                 ? laplace_spread(d, map->m, laplace->covariance, laplace->sd, err)
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

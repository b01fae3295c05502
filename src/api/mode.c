/* The mode and Laplace's approximation as sbps.h offers them. */
#include "base/memory.h"
#include "choose/plan.h"
#include "choose/target.h"
#include "mode/laplace.h"
#include "report/approximation.h"
#include "run/run.h"
#include "store/atomic.h"

#include <math.h>
#include <string.h>

struct sbps_mode {
    sbps_options *options; /* own copy */
    char *target;
    posterior *u; /* NULL once the search is over: its table is not ours */
    size_t dim;
    char **names, **coordinates;
    double *values; /* as reported; the coordinates are in m->w */
    mode *m;
    nll_law law;
};

struct sbps_laplace {
    const sbps_mode *of;
    double *covariance, *sd;
};

/* ---- finding it ---- */

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
    sbps_status status = target_start(o, found->u, found->names, &start, err);
    if (status == SBPS_OK) status = mode_find_by(found->u, start.w, &how, &found->m, err);
    start_release(&start);
    return status;
}

static sbps_status keep_values(sbps_mode *found, sbps_error *err)
{
    found->values = new_doubles(found->dim);
    if (!found->values) return fail_memory(err);
    for (size_t j = 0; j < found->dim; j++)
        found->values[j] =
            found->u->scale[j] == SCALE_LOG ? exp(found->m->w[j]) : found->m->w[j];
    return laplace_nll(found->u, found->m, &found->law, err);
}

static sbps_status find(sbps_mode *found, const rows *data, sbps_error *err)
{
    const model_kind *model;
    sbps_status status = plan_model(found->options, data, &model, err);
    if (status == SBPS_OK) status = target_open(found->options, data, model, &found->u, err);
    if (status != SBPS_OK) return status;
    found->dim = found->u->dim;
    found->target = copy_text(data->target);
    if (data->target && !found->target) return fail_memory(err);
    if ((status = target_names(found->u, &found->names, err)) != SBPS_OK) return status;
    if ((status = name_coordinates(found, err)) != SBPS_OK) return status;
    if ((status = search_mode(found, err)) != SBPS_OK) return status;
    return keep_values(found, err);
}

sbps_status sbps_mode_find(const sbps_table *table, const sbps_options *options,
                           sbps_mode **out, sbps_error *err)
{
    *out = NULL;
    sbps_mode *found = calloc(1, sizeof *found);
    if (!found) return fail_memory(err);
    sbps_status status = options_copy(options, &found->options, err);
    if (status == SBPS_OK) status = find(found, table->data, err);
    posterior_destroy(found->u);
    found->u = NULL;
    if (status == SBPS_OK)
        *out = found;
    else
        sbps_mode_destroy(found);
    return status;
}

void sbps_mode_destroy(sbps_mode *found)
{
    if (!found) return;
    free(found->values);
    mode_destroy(found->m);
    free_texts(found->coordinates, found->dim);
    free_texts(found->names, found->dim);
    free(found->target);
    sbps_options_destroy(found->options);
    free(found);
}

/* ---- telling it ---- */

void sbps_mode_describe(const sbps_mode *found, sbps_mode_info *out)
{
    *out = (sbps_mode_info){.method = found->m->method,
                            .potential = found->m->value,
                            .nll = found->law.nll,
                            .gradient_norm = found->m->plain_norm,
                            .distance = found->m->gradient_norm,
                            .ridge = found->m->ridge,
                            .iterations = found->m->iterations,
                            .epochs = found->m->epochs > 0.0 ? found->m->epochs : NAN};
}

size_t sbps_mode_dim(const sbps_mode *found)
{
    return found->dim;
}

const char *sbps_mode_name(const sbps_mode *found, size_t index)
{
    return index < found->dim ? found->names[index] : NULL;
}

const double *sbps_mode_values(const sbps_mode *found)
{
    return found->values;
}

static approximation figures(const sbps_mode *found)
{
    approximation a = {.model = found->options->model,
                       .target = found->target,
                       .rows = found->law.rows,
                       .dim = found->dim,
                       .names = (const char *const *)found->names,
                       .values = found->values};
    sbps_mode_describe(found, &a.info);
    return a;
}

sbps_status sbps_mode_report(const sbps_mode *found, sbps_format format, char **out,
                             sbps_error *err)
{
    approximation a = figures(found);
    return report_approximation(&a, format, out, err);
}

/* ---- Laplace ---- */

sbps_status sbps_laplace_create(const sbps_mode *found, sbps_laplace **out, sbps_error *err)
{
    size_t d = found->dim;
    sbps_status status;
    *out = NULL;
    sbps_laplace *laplace = calloc(1, sizeof *laplace);
    if (!laplace) return fail_memory(err);
    *laplace = (sbps_laplace){found, new_doubles(d * d), new_doubles(d)};
    status = laplace->covariance && laplace->sd
                 ? laplace_spread(d, found->m, laplace->covariance, laplace->sd, err)
                 : fail_memory(err);
    if (status == SBPS_OK)
        *out = laplace;
    else
        sbps_laplace_destroy(laplace);
    return status;
}

const char *sbps_laplace_name(const sbps_laplace *laplace, size_t index)
{
    return index < laplace->of->dim ? laplace->of->coordinates[index] : NULL;
}

const double *sbps_laplace_mean(const sbps_laplace *laplace)
{
    return laplace->of->m->w;
}

const double *sbps_laplace_sd(const sbps_laplace *laplace)
{
    return laplace->sd;
}

const double *sbps_laplace_covariance(const sbps_laplace *laplace)
{
    return laplace->covariance;
}

double sbps_laplace_nll(const sbps_laplace *laplace, double p)
{
    return p > 0.0 && p < 1.0 ? nll_quantile(&laplace->of->law, p) : NAN;
}

sbps_status sbps_laplace_report(const sbps_laplace *laplace, sbps_format format, char **out,
                                sbps_error *err)
{
    const sbps_mode *found = laplace->of;
    approximation a = figures(found);
    a.names = (const char *const *)found->coordinates;
    a.values = found->m->w;
    a.sd = laplace->sd;
    a.covariance = laplace->covariance;
    a.nll = (nll_figures){.mean = nll_mean(&found->law),
                          .sd = nll_sd(&found->law),
                          .q5 = nll_quantile(&found->law, 0.05),
                          .q50 = nll_quantile(&found->law, 0.5),
                          .q95 = nll_quantile(&found->law, 0.95)};
    return report_approximation(&a, format, out, err);
}

void sbps_laplace_destroy(sbps_laplace *laplace)
{
    if (!laplace) return;
    free(laplace->covariance);
    free(laplace->sd);
    free(laplace);
}

/* ---- files ---- */

sbps_status sbps_text_write(const char *text, const char *path, sbps_error *err)
{
    atomic_file file;
    sbps_status status = file_begin(path, &file, err);
    if (status != SBPS_OK) return status;
    file_write(&file, text, strlen(text));
    return file_commit(&file, err);
}

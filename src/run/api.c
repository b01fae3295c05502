/* The parts of sbps.h that only hand on: tables, results and the lists of kinds. */
#include "report/report.h"
#include "run/run.h"

#include <string.h>

/* ---- kinds ---- */

/* Registries differ in type but every kind begins with its name and its sentence. */
typedef struct {
    const char *name, *summary;
} named_kind;

_Static_assert(offsetof(model_kind, summary) == offsetof(named_kind, summary), "kinds");
_Static_assert(offsetof(sampler_kind, summary) == offsetof(named_kind, summary), "kinds");
_Static_assert(offsetof(prior_kind, summary) == offsetof(named_kind, summary), "kinds");

static bool needs_table(const void *kind)
{
    const model_kind *model = kind;
    return !model->general || !model->general->rowless;
}

bool sbps_kind_at(const char *family, size_t index, sbps_kind_info *out)
{
    const struct {
        const char *family;
        const void *kinds;
    } families[] = {
        {"models", model_kinds}, {"samplers", sampler_kinds}, {"priors", prior_kinds}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strcmp(families[i].family, family)) continue;
        const named_kind *const *kinds = families[i].kinds;
        for (size_t k = 0; k <= index; k++)
            if (!kinds[k]) return false;
        *out = (sbps_kind_info){kinds[index]->name, kinds[index]->summary, true};
        if (families[i].kinds == model_kinds) out->needs_table = needs_table(kinds[index]);
        return true;
    }
    return false;
}

/* ---- tables ---- */

static const char *text_or_null(const char *text)
{
    return text && *text ? text : NULL;
}

rows_spec table_spec(const sbps_options *o)
{
    const model_kind *model = o->model ? model_find(o->model) : NULL;
    const general_model *general = model ? model->general : NULL;
    bool real = model && (model->aux_name || (general && !strcmp(o->head, "gaussian")));
    bool bare = general && (general->no_columns || general->no_target);
    return (rows_spec){.target = text_or_null(o->target),
                       .features = text_or_null(o->features),
                       .categorical = text_or_null(o->categorical),
                       .weights = text_or_null(o->weights),
                       .offset = text_or_null(o->offset),
                       .real_target = real,
                       .intercept = !o->no_intercept && !bare,
                       .standardize = o->standardize,
                       .no_header = !strcmp(o->header, "no"),
                       .drop_missing = !strcmp(o->missing, "drop"),
                       .no_columns = general && general->no_columns,
                       .no_target = general && general->no_target,
                       .storage = o->storage,
                       .needs_doubles = (general && !general->any_storage) ||
                                        (o->model && model_is_file(o->model)),
                       .seed = o->seed};
}

static sbps_status wrap(rows *data, sbps_table **out, sbps_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out) {
        rows_destroy(data);
        return fail_memory(err);
    }
    (*out)->data = data;
    return SBPS_OK;
}

sbps_status sbps_table_read(const char *path, const sbps_options *options, sbps_table **out,
                            sbps_error *err)
{
    rows *data;
    rows_spec spec = table_spec(options);
    *out = NULL;
    sbps_status status = rows_read(path, &spec, &data, err);
    return status == SBPS_OK ? wrap(data, out, err) : status;
}

sbps_status sbps_table_copy(size_t row_count, size_t columns, const double *x,
                            const char *const *names, const double *target,
                            const sbps_options *options, sbps_table **out, sbps_error *err)
{
    rows *data;
    rows_spec spec = table_spec(options);
    *out = NULL;
    sbps_status status =
        rows_copy(row_count, columns, x, names, target, NULL, NULL, &spec, &data, err);
    return status == SBPS_OK ? wrap(data, out, err) : status;
}

sbps_status sbps_table_none(sbps_table **out, sbps_error *err)
{
    rows *data;
    *out = NULL;
    sbps_status status = rows_none(&data, err);
    return status == SBPS_OK ? wrap(data, out, err) : status;
}

const char *sbps_table_notes(const sbps_table *table)
{
    return table->data->notes ? table->data->notes : "";
}

size_t sbps_table_rows(const sbps_table *table)
{
    return table->data->n;
}

void sbps_table_destroy(sbps_table *table)
{
    if (!table) return;
    rows_destroy(table->data);
    free(table);
}

/* ---- results ---- */

sbps_status sbps_result_from_run(const sbps_run *run, sbps_result **out, sbps_error *err)
{
    return run_collect(run, out, err);
}

sbps_status sbps_result_read(const char *path, sbps_result **out, sbps_error *err)
{
    return result_read_netcdf(path, out, err);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

sbps_status sbps_result_write(const sbps_result *r, const char *path, sbps_error *err)
{
    static const struct {
        const char *ending;
        sbps_status (*write)(const sbps_result *r, const char *path, sbps_error *err);
    } formats[] = {{".nc", result_write_netcdf},
                   {".stan.csv", result_write_stan},
                   {".csv", result_write_csv}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (ends_with(path, formats[i].ending)) return formats[i].write(r, path, err);
    return fail(err, SBPS_BAD_ARG, "%s: the name must end in .nc, .csv or .stan.csv", path);
}

bool sbps_result_recognise(const char *path)
{
    return result_recognise(path);
}

size_t sbps_result_dim(const sbps_result *r)
{
    return r->dim;
}

size_t sbps_result_chains(const sbps_result *r)
{
    return r->chains;
}

size_t sbps_result_draws(const sbps_result *r)
{
    return r->draws;
}

const double *sbps_result_values(const sbps_result *r)
{
    return r->w;
}

sbps_status sbps_result_parameter(const sbps_result *r, size_t index, sbps_parameter *out,
                                  sbps_error *err)
{
    if (index >= r->dim)
        return fail(err, SBPS_BAD_ARG, "there is no parameter %zu of %zu", index, r->dim);
    return report_parameter(r, index, out, err);
}

sbps_status sbps_result_summary(const sbps_result *r, sbps_format format, char **out,
                                sbps_error *err)
{
    return report_summary(r, format, out, err);
}

sbps_status sbps_result_diagnose(const sbps_result *r, char **out, size_t *findings,
                                 sbps_error *err)
{
    return report_diagnose(r, out, findings, err);
}

void sbps_result_destroy(sbps_result *r)
{
    result_destroy(r);
}

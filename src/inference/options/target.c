/* From options to the description of a table, to generated rows, and to a posterior with its
 * names. The modules below know nothing of options: their names and texts are translated into
 * structs here (rows_spec, model_shape). */
#include "inference/options/target.h"
#include "core/memory.h"
#include "core/printable.h"
#include "inference/options/coordinate_priors.h"
#include "ingest/text/matrix.h"
#include "model/likelihood/generated_targets.h"
#include "model/likelihood/model.h"
#include "sampler/core/sampler.h"
#include "table/row_groups.h"

#include <stdlib.h>
#include <string.h>

/* NULL for an empty text. */
static const char *text_or_null(const char *text)
{
    return text && *text ? text : NULL;
}

/* How the labels of a response become numbers: by what the model accepts as targets. */
static target_labels labels_of(const sbps_options *o, target_support support)
{
    switch (support) {
    case SUPPORT_PROPORTIONS:
        return text_or_null(o->trials) ? LABELS_NONE : LABELS_TWO;
    case SUPPORT_BINARY:
        return LABELS_TWO;
    case SUPPORT_CLASSES:
        return LABELS_CLASSES;
    case SUPPORT_ORDERED:
        return LABELS_ORDERED;
    case SUPPORT_ANY:
        return LABELS_TEXT;
    default:
        return LABELS_NONE;
    }
}

rows_spec table_spec(const sbps_options *o)
{
    const model_kind *model = options_model(o);
    const model_shape shape = {.head = o->head};
    target_support support = model ? model_support(model, &shape) : SUPPORT_ANY;
    bool no_columns = model && model->facts.no_columns, no_target = support == SUPPORT_NONE;
    return (rows_spec){.formula = text_or_null(o->formula),
                       .target = text_or_null(o->target),
                       .features = text_or_null(o->features),
                       .categorical = text_or_null(o->categorical),
                       .exclude = text_or_null(o->exclude),
                       .reference = text_or_null(o->reference),
                       .success = text_or_null(o->success),
                       .label_order = text_or_null(o->levels),
                       .labels = labels_of(o, support),
                       .weights = text_or_null(o->weights),
                       .offset = text_or_null(o->offset),
                       .trials = text_or_null(o->trials),
                       .real_target = support == SUPPORT_REAL,
                       .intercept = !o->no_intercept && !no_columns && !no_target,
                       .standardize = o->standardize,
                       .in_order = o->no_shuffle,
                       .no_header = !strcmp(o->header, "no"),
                       .na = o->na,
                       .encoding = encoding_find(o->encoding),
                       .drop_missing = !strcmp(o->missing, "drop"),
                       .no_columns = no_columns,
                       .no_target = no_target,
                       .storage = o->storage,
                       .dense = model != NULL,
                       .needs_doubles = model && !model->facts.any_storage,
                       .seed = o->seed,
                       .threads = o->threads == SIZE_AUTO ? 0 : (unsigned)o->threads};
}

sbps_status target_open(const sbps_options *o, const rows *data, const model_kind *model,
                        posterior **out, sbps_error *err)
{
    model_shape shape = {.hidden = o->hidden,
                         .activation = o->activation,
                         .head = o->head,
                         .covariance = o->covariance,
                         .read_matrix = matrix_read,
                         .dim = o->dim,
                         .condition = o->condition,
                         .library = o->model,
                         .function = &o->function,
                         .effects_at_zero = !is_auto(o->prior_sd) || !is_auto(o->prior_cor)};
    sbps_status status = posterior_open(data, model, &shape, out, err);
    if (status == SBPS_OK) status = priors_choose(o, *out, err);
    if (status == SBPS_OK) status = shrinkage_apply(o, out, err);
    if (status != SBPS_OK || !data->storage.recipe || (*out)->model->predictor) return status;
    return fail(err, SBPS_BAD_ARG,
                "--generate: %s is not available with generated rows, nor are shrinkage priors",
                (*out)->model->name);
}

sbps_status target_failure(const posterior *u, sbps_status status, sbps_error *err)
{
    const char *why = u ? model_failure(u->model, u->self) : NULL;
    return why ? fail(err, SBPS_BAD_DATA, "%s", why) : status;
}

sbps_status target_control(const posterior *u, const mode *reference, const char *name,
                           const double *w, control **out, sbps_error *err)
{
    *out = NULL;
    if (!strcmp(name, "none")) return SBPS_OK;
    control_order order = strcmp(name, "hessian") ? CONTROL_GRADIENT : CONTROL_HESSIAN;
    /* the control variate needs the plain sum of the rows' curvatures, without corrections */
    bool known = w == reference->w && reference->exact_hessian;
    return control_create(u, w, order, known ? reference->hessian : NULL, out, err);
}

#define NAME_MORE ((size_t)256) /* for what a model adds, such as a class or a unit */

/* Length of the longest of `count` texts; NULL: none. */
static size_t longest_of(char *const *texts, size_t count)
{
    size_t longest = 0;
    for (size_t k = 0; texts && k < count; k++)
        if (strlen(texts[k]) > longest) longest = strlen(texts[k]);
    return longest;
}

/* Longest name of a group effect: a factor, a level and two effects. */
static size_t group_name_size(const row_groups *g)
{
    size_t factor = 0, level = 0, effect = 0;
    for (size_t k = 0; k < g->factors; k++) {
        const group_factor *f = &g->factor[k];
        size_t own = longest_of(f->level, f->levels);
        if (strlen(f->name) > factor) factor = strlen(f->name);
        if (own > level) level = own;
    }
    for (size_t k = 0; k < g->terms; k++) {
        size_t own = longest_of(g->term[k].names, g->term[k].count);
        if (own > effect) effect = own;
    }
    return factor + level + 2 * effect;
}

size_t target_name_size(const rows *data)
{
    size_t column = longest_of(data->table.names, data->d);
    size_t label =
        longest_of(data->table.labels, data->table.label_count); /* of two labels: "low|high" */
    const row_groups *groups = data->member_rows ? data->member_rows->groups : data->groups;
    return column + 2 * label + (groups ? group_name_size(groups) : 0) + NAME_MORE;
}

typedef void naming(const posterior *u, size_t j, size_t size, char *text);

/* Creates the list of the dim names printed by name_of; *out is the caller's. */
static sbps_status list_names(const posterior *u, naming *name_of, char ***out, sbps_error *err)
{
    size_t size = target_name_size(u->data);
    char *name = malloc(size), **names = *out = calloc(u->dim, sizeof *names);
    bool whole = name && names;
    for (size_t j = 0; whole && j < u->dim; j++) {
        name_of(u, j, size, name);
        whole = (names[j] = copy_text(name));
    }
    free(name);
    return whole ? SBPS_OK : fail_memory(err);
}

sbps_status target_names(const posterior *u, char ***out, sbps_error *err)
{
    return list_names(u, posterior_name, out, err);
}

sbps_status target_reported_names(const posterior *u, char ***out, sbps_error *err)
{
    return list_names(u, posterior_reported_name, out, err);
}

sbps_status target_start(const sbps_options *o, const posterior *u, char *const *names,
                         start_point *out, sbps_error *err)
{
    *out = (start_point){0};
    if (o->start && *o->start)
        return start_read(o->start, u, (const char *const *)names, out, err);
    return SBPS_OK;
}

/* ---- generated rows: which options apply to them ---- */

/* Options about files and their columns, refused with --generate. */
static const char *const of_files[] = {
    "formula", "target", "features", "categorical", "exclude",     "reference",
    "success", "levels", "weights",  "trials",      "offset",      "missing",
    "na",      "header", "encoding", "storage",     "standardize", "no-shuffle"};

/* Refuses options about files together with --generate. */
static sbps_status check_files(const sbps_options *o, const char *path, sbps_error *err)
{
    if (path)
        return fail(err, SBPS_BAD_ARG,
                    "--generate creates the rows: leave out either %.200s or --generate", path);
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        if (option_given(o, of_files[i]))
            return fail(err, SBPS_BAD_ARG,
                        "--%s applies to the columns and rows of a file and cannot be combined "
                        "with --generate: leave it out",
                        of_files[i]);
    return SBPS_OK;
}

/* Refuses methods that store numbers for every row. */
static sbps_status check_samplers(const sbps_options *o, sbps_error *err)
{
    const sampler_kind *kind = sampler_find(o->sampler);
    if (kind && (kind->bounded || kind->pairs || kind->chooses_row))
        return fail(err, SBPS_BAD_ARG,
                    "--sampler: %s stores numbers for every row, which --generate does not "
                    "allow; use sbps, boomerang or hmc",
                    o->sampler);
    if (!strcmp(o->minibatch, "strata") || !strcmp(o->method, "sag"))
        return fail(
            err, SBPS_BAD_ARG,
            "%s stores numbers for every row, which --generate does not allow: leave it out",
            strcmp(o->method, "sag") ? "--minibatch strata" : "--method sag");
    return SBPS_OK;
}

sbps_status table_generate(const sbps_options *o, const char *path, rows **out, sbps_error *err)
{
    *out = NULL;
    sbps_status status = check_files(o, path, err);
    if (status == SBPS_OK) status = check_samplers(o, err);
    const model_kind *model = options_model(o);
    if (status == SBPS_OK && !model)
        status = fail(err, SBPS_BAD_ARG,
                      "--model: there is no model '%.80s' to generate rows for", o->model);
    if (status != SBPS_OK) return status;
    size_t features = option_given(o, "dim") ? o->dim : GENERATED_DIM;
    return generated_rows(model->name, o->generate, features, !o->no_intercept, o->data_seed,
                          out, err);
}

/* Tables of rows made on the fly: which options say something of them, and which do not. */
#include "inference/options/generate_table.h"
#include "inference/options/options.h"
#include "model/likelihood/generated_targets.h"
#include "model/likelihood/model.h"
#include "sampler/core/sampler.h"

#include <string.h>

/* Of files and their columns. */
static const char *const of_files[] = {
    "formula", "target", "features", "categorical", "exclude",     "reference",
    "success", "levels", "weights",  "trials",      "offset",      "missing",
    "na",      "header", "encoding", "storage",     "standardize", "no-shuffle"};

static sbps_status check_files(const sbps_options *o, const char *path, sbps_error *err)
{
    if (path)
        return fail(err, SBPS_BAD_ARG,
                    "--generate makes the rows: leave out %.200s, or --generate", path);
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        if (option_given(o, of_files[i]))
            return fail(
                err, SBPS_BAD_ARG,
                "--%s is about a file's columns and rows, and --generate makes its own: "
                "leave it out",
                of_files[i]);
    return SBPS_OK;
}

/* What would keep a number of every row. */
static sbps_status check_samplers(const sbps_options *o, sbps_error *err)
{
    const sampler_kind *kind = sampler_find(o->sampler);
    if (kind && (kind->bounded || kind->pairs || kind->chooses_row))
        return fail(err, SBPS_BAD_ARG,
                    "--sampler: %s keeps numbers of every row, and --generate is for tables "
                    "of which nobody can: sbps, boomerang and hmc can",
                    o->sampler);
    if (!strcmp(o->minibatch, "strata") || !strcmp(o->method, "sag"))
        return fail(err, SBPS_BAD_ARG,
                    "%s keeps numbers of every row, and --generate is for tables of which "
                    "nobody can: leave it out",
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
        status =
            fail(err, SBPS_BAD_ARG, "--model: there is no '%.80s' to make rows for", o->model);
    if (status != SBPS_OK) return status;
    size_t features = option_given(o, "dim") ? o->dim : GENERATED_DIM;
    return generated_rows(model->name, o->generate, features, !o->no_intercept, o->data_seed,
                          out, err);
}

/* Results for a caller: made of a run, read, summarised and written. */
#include "api/arguments.h"
#include "core/memory.h"
#include "inference/run/collect.h"
#include "inference/run/run.h"
#include "output/contrast/contrast.h"
#include "output/page/page.h"
#include "output/summary/summary.h"
#include "store/layout.h"
#include "store/result.h"

#include <stdlib.h>
#include <string.h>

sbps_status sbps_result_from_run(const sbps_run *run, sbps_result **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(run);
    return run_collect(run, out, err);
}

sbps_status sbps_result_read(const char *path, sbps_result **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(path);
    return result_read_netcdf(path, out, err);
}

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n >= m && !strcmp(path + n - m, end);
}

sbps_status sbps_result_write(const sbps_result *r, const char *path, sbps_error *err)
{
    static const struct {
        const char *ending;
        sbps_status (*write)(const sbps_result *r, const char *path, sbps_error *err);
    } formats[] = {{".nc", result_write_netcdf},
                   {".stan.csv", result_write_stan},
                   {".csv", result_write_csv}};
    REQUIRE(r);
    REQUIRE(path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (ends_with(path, formats[i].ending)) return formats[i].write(r, path, err);
    return fail(err, SBPS_BAD_ARG, "%s: the name must end in .nc, .csv or .stan.csv", path);
}

bool sbps_result_recognise(const char *path)
{
    return path && result_recognise(path);
}

size_t sbps_result_dim(const sbps_result *r)
{
    return r ? r->dim : 0;
}

size_t sbps_result_chains(const sbps_result *r)
{
    return r ? r->chains : 0;
}

size_t sbps_result_draws(const sbps_result *r)
{
    return r ? r->draws : 0;
}

const double *sbps_result_values(const sbps_result *r)
{
    return r ? r->w : NULL;
}

const double *sbps_result_stat(const sbps_result *r, const char *name)
{
    for (const array_field *f = layout_stats; r && name && f->name; f++)
        if (!strcmp(f->name, name)) return array_of(r, f);
    return NULL;
}

const char *sbps_result_name(const sbps_result *r, size_t index, const char **part)
{
    if (part) *part = "";
    if (!r || index >= r->dim) return NULL;
    if (part) *part = parameter_part(r, index);
    return r->names[index] ? r->names[index] : "";
}

sbps_status sbps_result_parameter(const sbps_result *r, size_t index, sbps_parameter *out,
                                  sbps_error *err)
{
    REQUIRE(r);
    REQUIRE(out);
    if (index >= r->dim)
        return fail(err, SBPS_BAD_ARG, "there is no parameter %zu of %zu", index, r->dim);
    sbps_parameter full;
    sbps_status status = sized_check("sbps_parameter", out, err);
    if (status != SBPS_OK) return status;
    status = report_parameter(r, index, &full, err);
    if (status == SBPS_OK) sized_give(&full, sizeof full, out);
    return status;
}

sbps_status sbps_result_warning(const sbps_result *r, const char *more, char **out,
                                sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(r);
    return report_warning(r, more, out, err);
}

sbps_status sbps_result_summary(const sbps_result *r, sbps_format format, char **out,
                                sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(r);
    return report_summary(r, format, out, err);
}

sbps_status sbps_result_text(const sbps_result *r, unsigned show, char **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(r);
    return report_summary_with(r, SBPS_TEXT, show, out, err);
}

sbps_status sbps_result_effects(const sbps_result *r, sbps_format format, char **out,
                                sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(r);
    return report_effects(r, format, out, err);
}

sbps_status sbps_result_diagnose(const sbps_result *r, char **out, size_t *findings,
                                 sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(r);
    return report_diagnose(r, SBPS_TEXT, out, findings, err);
}

sbps_status sbps_result_findings(const sbps_result *r, char **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(r);
    return report_diagnose(r, SBPS_JSON, out, NULL, err);
}

sbps_status sbps_result_contrast(const sbps_result *r, const char *const *expressions,
                                 size_t count, sbps_format format, char **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(r);
    REQUIRE(expressions);
    for (size_t i = 0; i < count; i++) REQUIRE(expressions[i]);
    return contrast_report(r, expressions, count, format, out, err);
}

sbps_status sbps_result_page(const sbps_result *r, const char *run, const char *data,
                             const sbps_scoring *how, char **out, sbps_error *err)
{
    static const sbps_scoring usual = {.struct_size = sizeof usual, .seed = 1};
    page_table *table = NULL;
    scoring_taken full;
    REQUIRE_OUT(out);
    REQUIRE(r);
    sbps_status status = take_scoring(how ? how : &usual, &full, &data, err);
    if (status == SBPS_OK) status = page_table_open(r, run, data, &full.how, &table, err);
    if (status == SBPS_OK) status = page_write(r, (page_extras){.table = table}, out, err);
    page_table_close(table);
    leave_frame(full.how.frame);
    return status;
}

sbps_status sbps_result_set_command(sbps_result *r, const char *command, sbps_error *err)
{
    REQUIRE(r);
    REQUIRE(command);
    char *copy = copy_text(command);
    if (!copy) return fail_memory(err);
    free(r->info.command);
    r->info.command = copy;
    return SBPS_OK;
}

void sbps_result_destroy(sbps_result *r)
{
    result_destroy(r);
}

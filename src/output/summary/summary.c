/* Mean, sd, error and bias were integrated along the path and are taken as they are; quantiles,
 * ESS and R-hat are worked out from the stored draws. */
#include "output/summary/summary.h"

#include "core/decimal.h"
#include "estimate/diagnostics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double rows_per_sample(const result_info *info)
{
    return info->min_ess > 0.0 ? info->rows_touched / info->min_ess : NAN;
}

/* Draws of one parameter, chain after chain, into x. */
static void gather_draws(const result *r, size_t index, double *x)
{
    for (size_t i = 0; i < r->chains * r->draws; i++) x[i] = r->w[i * r->dim + index];
}

static void fill_column(const column *c, const result *r, size_t j, const draw_summary *s,
                        sbps_parameter *out)
{
    double *to = (double *)((char *)out + c->offset);
    if (c->from_draws)
        *to = *(const double *)((const char *)s + c->source);
    else
        *to = (*(double *const *)((const char *)r + c->source))[j];
}

/* Coefficients have a column in the run's record; a column may have the name of any other parameter. */
static const char *part_of(const result *r, size_t j)
{
    const char *name = r->names[j] ? r->names[j] : "";
    const char *of = r->column[j] ? r->column[j] : "", *last = strrchr(name, ':');
    bool named = !strcmp(last ? last + 1 : name, "intercept");
    if (!isnan(r->column_mean[j])) return named && !*of ? "intercept" : "coefficient";
    if (!r->info.formula || !strchr(r->info.formula, '|')) return "";
    if (!strncmp(name, "r_", 2) && strchr(name, '[')) return "effect";
    if (!strncmp(name, "sd_", 3) && strstr(name, "__")) return "sd";
    return !strncmp(name, "cor_", 4) && strstr(name, "__") ? "cor" : "";
}

static sbps_status summarize_one(const result *r, size_t j, double *buffer, sbps_parameter *out,
                                 sbps_error *err)
{
    draw_summary s;
    size_t k = 0;
    gather_draws(r, j, buffer);
    sbps_status status = summarize_draws(r->chains, r->draws, buffer, &s, err);
    if (status != SBPS_OK) return status;
    *out = (sbps_parameter){.name = r->names[j] ? r->names[j] : "", .part = part_of(r, j)};
    for (const column *c; (c = column_at(k)); k++) fill_column(c, r, j, &s, out);
    if (r->draws == 0) out->mean = out->mcse = out->sd = out->bias = NAN; /* of a warm-up */
    return SBPS_OK;
}

static double *new_draw_buffer(const result *r)
{
    return malloc((r->chains * r->draws + 1) * sizeof(double));
}

sbps_status report_parameter(const result *r, size_t index, sbps_parameter *out,
                             sbps_error *err)
{
    if (index >= r->dim)
        return fail(err, SBPS_BAD_ARG, "parameter %zu was asked for, the result has %zu", index,
                    r->dim);
    double *buffer = new_draw_buffer(r);
    if (!buffer) return fail_memory(err);
    sbps_status status = summarize_one(r, index, buffer, out, err);
    free(buffer);
    return status;
}

sbps_status summarize_parameters(const result *r, sbps_parameter **out, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    sbps_parameter *all = calloc(r->dim + 1, sizeof *all);
    double *buffer = new_draw_buffer(r);
    *out = NULL;
    if (!all || !buffer) {
        status = fail_memory(err);
        goto done;
    }
    for (size_t j = 0; j < r->dim && status == SBPS_OK; j++)
        status = summarize_one(r, j, buffer, &all[j], err);
    if (status != SBPS_OK) goto done;
    *out = all;
    all = NULL;
done:
    free(buffer);
    free(all);
    return status;
}

typedef void summary_writer(text *t, const result *r, const sbps_parameter *parameters);

static summary_writer *const writers[] = {
    [SBPS_TEXT] = write_table,
    [SBPS_CSV] = write_csv,
    [SBPS_JSON] = write_json,
};

sbps_status report_summary(const result *r, sbps_format format, char **out, sbps_error *err)
{
    text t = {0};
    number_locale locale;
    sbps_parameter *parameters;
    *out = NULL;
    if ((size_t)format >= sizeof writers / sizeof *writers)
        return fail(err, SBPS_BAD_ARG, "%d is no format of a summary", (int)format);
    sbps_status status = summarize_parameters(r, &parameters, err);
    if (status != SBPS_OK) return status;
    if ((status = numbers_begin(&locale, err)) != SBPS_OK) goto done;
    writers[format](&t, r, parameters);
    numbers_end(&locale);
    status = text_give(&t, out, err);
done:
    free(parameters);
    return status;
}

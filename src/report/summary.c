/* Mean, sd, error and bias were integrated along the path and are taken as they are; quantiles,
 * ESS and R-hat are worked out from the stored draws. */
#include "report/summary.h"

#include "base/decimal.h"

#include <math.h>
#include <stdlib.h>

const column summary_columns[SUMMARY_COLUMNS] = {
    {"mean", offsetof(sbps_parameter, mean), CELL_VALUE},
    {"mcse", offsetof(sbps_parameter, mcse), CELL_ERROR},
    {"sd", offsetof(sbps_parameter, sd), CELL_VALUE},
    {"q5", offsetof(sbps_parameter, q5), CELL_VALUE},
    {"q50", offsetof(sbps_parameter, q50), CELL_VALUE},
    {"q95", offsetof(sbps_parameter, q95), CELL_VALUE},
    {"ess_bulk", offsetof(sbps_parameter, ess_bulk), CELL_COUNT},
    {"ess_tail", offsetof(sbps_parameter, ess_tail), CELL_COUNT},
    {"rhat", offsetof(sbps_parameter, rhat), CELL_RATIO},
    {"bias", offsetof(sbps_parameter, bias), CELL_RATIO},
};

const column further_columns[FURTHER_COLUMNS] = {
    {"bias_se", offsetof(sbps_parameter, bias_se), CELL_RATIO},
    {"sd_bias", offsetof(sbps_parameter, sd_bias), CELL_RATIO},
    {"sd_bias_se", offsetof(sbps_parameter, sd_bias_se), CELL_RATIO},
};

double column_value(const column *c, const sbps_parameter *p)
{
    return *(const double *)((const char *)p + c->offset);
}

double rows_per_sample(const result_info *info)
{
    return info->min_ess > 0.0 ? info->rows_touched / info->min_ess : NAN;
}

/* Draws of one parameter, chain after chain, into x. */
static void gather(const result *r, size_t index, double *x)
{
    for (size_t i = 0; i < r->chains * r->draws; i++) x[i] = r->w[i * r->dim + index];
}

static sbps_status summarize_one(const result *r, size_t j, double *room, sbps_parameter *out,
                                 sbps_error *err)
{
    draw_summary s;
    gather(r, j, room);
    sbps_status status = summarize_draws(r->chains, r->draws, room, &s, err);
    if (status != SBPS_OK) return status;
    *out = (sbps_parameter){
        .name = r->names[j] ? r->names[j] : "",
        .mean = r->mean[j],
        .mcse = r->mcse[j],
        .sd = r->sd[j],
        .q5 = s.q5,
        .q50 = s.q50,
        .q95 = s.q95,
        .ess_bulk = s.ess_bulk,
        .ess_tail = s.ess_tail,
        .rhat = s.rhat,
        .bias = r->bias[j],
        .bias_se = r->bias_se[j],
        .sd_bias = r->sd_bias[j],
        .sd_bias_se = r->sd_bias_se[j],
    };
    if (r->draws == 0) out->mean = out->mcse = out->sd = out->bias = NAN; /* of a warm-up */
    return SBPS_OK;
}

static double *room_for_draws(const result *r)
{
    return malloc((r->chains * r->draws + 1) * sizeof(double));
}

sbps_status report_parameter(const result *r, size_t index, sbps_parameter *out,
                             sbps_error *err)
{
    if (index >= r->dim)
        return fail(err, SBPS_BAD_ARG, "parameter %zu was asked for, the result has %zu", index,
                    r->dim);
    double *room = room_for_draws(r);
    if (!room) return fail_memory(err);
    sbps_status status = summarize_one(r, index, room, out, err);
    free(room);
    return status;
}

sbps_status summarize_parameters(const result *r, sbps_parameter **out, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    sbps_parameter *all = calloc(r->dim + 1, sizeof *all);
    double *room = room_for_draws(r);
    *out = NULL;
    if (!all || !room) {
        status = fail_memory(err);
        goto done;
    }
    for (size_t j = 0; j < r->dim && status == SBPS_OK; j++)
        status = summarize_one(r, j, room, &all[j], err);
    if (status != SBPS_OK) goto done;
    *out = all;
    all = NULL;
done:
    free(room);
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

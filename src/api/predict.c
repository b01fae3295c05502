/* Rows to come, for a caller. */
#include "predict/predict.h"
#include "api/sized.h"
#include "check/check.h"
#include "predict/score.h"

sbps_status sbps_predict(const sbps_result *r, const char *run, const char *data,
                         const sbps_prediction *how, sbps_predicted *out, sbps_error *err)
{
    sbps_prediction full;
    sbps_predicted told;
    sbps_status status = sized_take("sbps_prediction", how, sizeof full, &full, err);
    if (status == SBPS_OK) status = sized_check("sbps_predicted", out, err);
    if (status != SBPS_OK) return status;
    status = predict_rows(r, run, data, &full, &told, err);
    sized_give(&told, sizeof told, out);
    return status;
}

sbps_status sbps_score(const sbps_result *r, const char *run, const char *data,
                       const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    sbps_scoring full;
    *out = NULL;
    sbps_status status = sized_take("sbps_scoring", how, sizeof full, &full, err);
    return status == SBPS_OK ? score_report(r, run, data, &full, format, out, err) : status;
}

sbps_status sbps_loo(const sbps_result *r, const char *run, const char *data,
                     const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    sbps_scoring full;
    *out = NULL;
    sbps_status status = sized_take("sbps_scoring", how, sizeof full, &full, err);
    return status == SBPS_OK ? loo_report(r, run, data, &full, format, out, err) : status;
}

sbps_status sbps_check(const sbps_result *r, const char *run, const char *data,
                       const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    sbps_scoring full;
    *out = NULL;
    sbps_status status = sized_take("sbps_scoring", how, sizeof full, &full, err);
    return status == SBPS_OK ? check_report(r, run, data, &full, format, out, err) : status;
}

sbps_status sbps_compare(const sbps_result *const *results, const char *const *runs,
                         size_t count, const char *data, const sbps_scoring *how,
                         sbps_format format, char **out, sbps_error *err)
{
    sbps_scoring full;
    *out = NULL;
    sbps_status status = sized_take("sbps_scoring", how, sizeof full, &full, err);
    if (status != SBPS_OK) return status;
    return compare_report(results, runs, count, data, &full, format, out, err);
}

const char *sbps_result_data(const sbps_result *r)
{
    return r->info.data;
}

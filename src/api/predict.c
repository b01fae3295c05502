/* Rows to come, for a caller. */
#include "predict/predict.h"
#include "check/check.h"
#include "predict/score.h"

sbps_status sbps_predict(const sbps_result *r, const char *run, const char *data,
                         const sbps_prediction *how, sbps_predicted *out, sbps_error *err)
{
    return predict_rows(r, run, data, how, out, err);
}

sbps_status sbps_score(const sbps_result *r, const char *run, const char *data,
                       const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    return score_report(r, run, data, how, format, out, err);
}

sbps_status sbps_loo(const sbps_result *r, const char *run, const char *data,
                     const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    return loo_report(r, run, data, how, format, out, err);
}

sbps_status sbps_check(const sbps_result *r, const char *run, const char *data,
                       const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    return check_report(r, run, data, how, format, out, err);
}

sbps_status sbps_compare(const sbps_result *const *results, const char *const *runs,
                         size_t count, const char *data, const sbps_scoring *how,
                         sbps_format format, char **out, sbps_error *err)
{
    return compare_report(results, runs, count, data, how, format, out, err);
}

const char *sbps_result_data(const sbps_result *r)
{
    return r->info.data;
}

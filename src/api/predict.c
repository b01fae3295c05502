/* Predictions, scores and checks for a caller. */
#include "output/predict/predict.h"
#include "api/arguments.h"
#include "output/check/predictive_checks.h"
#include "output/predict/score.h"

/* Copies a frame of any size; its rows are called "table" where the caller gives no name. */
static sbps_status take_frame(const sbps_frame **frame, sbps_frame *full, const char **data,
                              sbps_error *err)
{
    const sbps_frame *source = *frame;
    *frame = NULL;
    if (!source) return SBPS_OK;
    sbps_status status = sized_take("sbps_frame", source, sizeof *full, full, err);
    if (status == SBPS_OK) *frame = full;
    if (!*data) *data = "table";
    return status;
}

void leave_frame(const sbps_frame *frame)
{
    if (frame && frame->stream && frame->stream->release) frame->stream->release(frame->stream);
}

sbps_status take_scoring(const sbps_scoring *how, scoring_taken *out, const char **data,
                         sbps_error *err)
{
    out->how.frame = NULL;
    sbps_status status = sized_take("sbps_scoring", how, sizeof out->how, &out->how, err);
    return status == SBPS_OK ? take_frame(&out->how.frame, &out->frame, data, err) : status;
}

static sbps_status need_rows(const char *data, sbps_error *err)
{
    return data ? SBPS_OK
                : fail(err, SBPS_BAD_ARG, "no rows: name a file, or give a frame of columns");
}

sbps_status sbps_predict(const sbps_result *r, const char *run, const char *data,
                         const sbps_prediction *how, sbps_predicted *out, sbps_error *err)
{
    sbps_prediction full = {0};
    sbps_predicted predicted;
    sbps_frame frame;
    REQUIRE(r);
    REQUIRE(how);
    REQUIRE(out);
    sbps_status status = sized_take("sbps_prediction", how, sizeof full, &full, err);
    if (status == SBPS_OK) status = take_frame(&full.frame, &frame, &data, err);
    if (status == SBPS_OK) status = sized_check("sbps_predicted", out, err);
    if (status == SBPS_OK) status = need_rows(data, err);
    if (status == SBPS_OK) {
        status = predict_rows(r, run, data, &full, &predicted, err);
        sized_give(&predicted, sizeof predicted, out);
    }
    leave_frame(full.frame);
    return status;
}

typedef sbps_status report_maker(const result *r, const char *run, const char *data,
                                 const sbps_scoring *how, sbps_format format, char **out,
                                 sbps_error *err);

static sbps_status report(report_maker *make, const sbps_result *r, const char *run,
                          const char *data, const sbps_scoring *how, sbps_format format,
                          char **out, sbps_error *err)
{
    scoring_taken full;
    REQUIRE_OUT(out);
    REQUIRE(r);
    REQUIRE(how);
    sbps_status status = take_scoring(how, &full, &data, err);
    if (status == SBPS_OK) status = need_rows(data, err);
    if (status == SBPS_OK) status = make(r, run, data, &full.how, format, out, err);
    leave_frame(full.how.frame);
    return status;
}

sbps_status sbps_score(const sbps_result *r, const char *run, const char *data,
                       const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    return report(score_report, r, run, data, how, format, out, err);
}

sbps_status sbps_loo(const sbps_result *r, const char *run, const char *data,
                     const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    return report(loo_report, r, run, data, how, format, out, err);
}

sbps_status sbps_check(const sbps_result *r, const char *run, const char *data,
                       const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    return report(check_report, r, run, data, how, format, out, err);
}

sbps_status sbps_compare(const sbps_result *const *results, const char *const *runs,
                         size_t count, const char *data, const sbps_scoring *how,
                         sbps_format format, char **out, sbps_error *err)
{
    scoring_taken full;
    REQUIRE_OUT(out);
    REQUIRE(results);
    REQUIRE(runs);
    REQUIRE(how);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(results[i]);
        REQUIRE(runs[i]);
    }
    sbps_status status = take_scoring(how, &full, &data, err);
    if (status == SBPS_OK) status = need_rows(data, err);
    if (status == SBPS_OK)
        status = compare_report(results, runs, count, data, &full.how, format, out, err);
    leave_frame(full.how.frame);
    return status;
}

const char *sbps_result_data(const sbps_result *r)
{
    return r ? r->info.data : NULL;
}

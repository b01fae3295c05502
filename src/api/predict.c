/* Rows to come, for a caller. */
#include "predict/predict.h"

sbps_status sbps_predict(const sbps_result *r, const char *run, const char *data,
                         const sbps_prediction *how, sbps_predicted *out, sbps_error *err)
{
    return predict_rows(r, run, data, how, out, err);
}

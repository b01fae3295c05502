/* Rows or groups with a large influence on the result. */
#ifndef INFERENCE_INFLUENTIAL_H
#define INFERENCE_INFLUENTIAL_H

#include "inference/run/run.h"

/* Finds groups whose removal would shift a posterior mean, into run->influential. Does nothing
 * without groups. */
sbps_status groups_find_influential(sbps_run *run, sbps_error *err);
/* Fills influential_rows (a text) and eta_unmet of a result. */
sbps_status influential_rows_fill(const sbps_run *run, result_info *info, sbps_error *err);

#endif

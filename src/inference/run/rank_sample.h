/* How far a rank's rows are off, from so many of them as say it: see rank_sample.c. */
#ifndef INFERENCE_RANK_SAMPLE_H
#define INFERENCE_RANK_SAMPLE_H

#include "inference/run/run.h"

#define RANK_SAMPLE ((size_t)65536) /* rows of a rank, at most */

/* Are they random ones of the table? */
bool rank_sample_serves(const sbps_run *run);
/* rank_error and rank_bias. */
sbps_status rank_sample_errors(const sbps_run *run, size_t points, double *error, double *moved,
                               sbps_error *err);

#endif

/* How far a rank's rows are off, from some of them: see rank_sample.c. */
#ifndef RUN_RANK_SAMPLE_H
#define RUN_RANK_SAMPLE_H

#include "run/run.h"

#define RANK_SAMPLE ((size_t)65536) /* rows of a rank */

/* Are they random ones of the table, and more than that? */
bool rank_sample_serves(const sbps_run *run);
sbps_status rank_sample_error(const sbps_run *run, size_t points, double *out, sbps_error *err);

#endif

/* Warm-up: epochs that double in length and tune the band, the metric and the batches. */
#ifndef INFERENCE_WARMUP_H
#define INFERENCE_WARMUP_H

#include "inference/run/run.h"

/* Part of --seconds for warm-up. */
#define WARMUP_TIME 0.3

/* Starts warm-up, or sampling at once if there is nothing to warm up. */
void warmup_begin(sbps_run *run);
/* Ends an epoch, and warm-up, when it is long enough. Called after each complete round. */
void warmup_after_round(sbps_run *run);

#endif

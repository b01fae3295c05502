/* Draws of the effects of groups, given the draws of the other parameters. */
#ifndef INFERENCE_RUN_GROUP_EFFECTS_H
#define INFERENCE_RUN_GROUP_EFFECTS_H

#include "inference/run/run.h"

/* What a run keeps of the effects of its groups. */
typedef enum { EFFECTS_NONE, EFFECTS_MOMENTS, EFFECTS_DRAWS } effects_kept;

/* Bytes of draws up to which --ranef auto keeps them. */
#define EFFECTS_BYTES_MAX 500e6

/* The rule of --ranef, for effects of groups of which a run may store this many draws each, all
 * chains together. It depends on sizes only, so that it is known before the run and the same
 * when the run is resumed. */
effects_kept effects_rule(const char *ranef, double effects, double draws_each);
/* The number of effects of groups, over all factors; 0: the run has no groups. */
size_t effects_count(const sbps_run *run);
/* The bytes that draws of these effects may take in the run file: with twice --draws of each
 * chain, the most that a run stores but for a rest of an eighth. */
double effects_bytes(const sbps_run *run, size_t effects);
/* What this run keeps. */
effects_kept effects_of_run(const sbps_run *run);

/* Writes a summary of each effect to a CSV file. *out: counts and approximation errors. */
sbps_status effects_write(const sbps_run *run, const char *path, sbps_effects *out,
                          sbps_error *err);
/* Appends the effects to the parameters of the result. */
sbps_status effects_join(const sbps_run *run, result *r, sbps_error *err);
/* Appends means and sds of the effects that are integrated out to those of the result. */
sbps_status effects_add_moments(const sbps_run *run, result *r, sbps_error *err);

#endif

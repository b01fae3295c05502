/* Reported quantities that are functions of several coordinates, such as correlations and group
 * effects. They are computed from the draws when a result is made; chains, stopping rules and
 * checkpoints see coordinates only. */
#ifndef INFERENCE_DERIVED_QUANTITIES_H
#define INFERENCE_DERIVED_QUANTITIES_H

#include "estimate/diagnostics.h"
#include "inference/run/group_effects.h"
#include "inference/run/run.h"

/* True if a group effect is reported for coordinate j, not a parameter. */
bool derived_is_effect(const posterior *u, size_t j);
/* Number of coordinates for which a parameter is reported. */
size_t derived_parameters(const posterior *u);

/* Coordinates per block: thousands of effects can be written without keeping their draws. */
#define DERIVED_AT_A_TIME ((size_t)256)

/* An iteration over blocks of coordinates. The first four members are set by the caller. */
typedef struct {
    const sbps_run *run;
    bool parameters, effects; /* which of the derived quantities to compute */
    size_t draws;             /* per chain */
    size_t first, count;      /* coordinates of the present block */
    size_t selected;          /* derived quantities in it */
    size_t *at;               /* [selected]: their coordinates */
    double *drawn;            /* [selected][chain][draw] */
    draw_summary *summary;    /* [selected] */
    double value[DERIVED_AT_A_TIME];
    sbps_status status[DERIVED_AT_A_TIME];
} derived_job;

/* Allocates for an iteration; close it also after a failure. */
sbps_status derived_open(derived_job *j, sbps_error *err);
/* Frees the arrays of the iteration. */
void derived_close(derived_job *j);
/* Computes draws and summaries of the next block. False: there is none, or *status failed. */
bool derived_next(derived_job *j, sbps_status *status, sbps_error *err);

/* Stores draws, summary and name of a derived quantity as parameter `at` of a result. */
sbps_status derived_store(result *r, size_t at, const char *name, const double *drawn,
                          const draw_summary *s, sbps_error *err);
/* Replaces coordinates by their derived quantities in a result that contains all coordinates;
 * effects follow the parameters if their draws are kept, else they are removed. */
sbps_status derived_show(const sbps_run *run, effects_kept keep, result *r, sbps_error *err);

#endif

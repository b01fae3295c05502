/* What is reported in the place of coordinates: functions of several, worked out draw by draw when the run has ended.
 * Chains, stopping rules and checkpoints know of coordinates alone. */
#ifndef INFERENCE_DERIVED_QUANTITIES_H
#define INFERENCE_DERIVED_QUANTITIES_H

#include "estimate/diagnostics.h"
#include "inference/run/run.h"

/* Is what stands in the place of coordinate j an effect of a level, and no parameter? */
bool derived_is_effect(const posterior *u, size_t j);
size_t derived_parameters(const posterior *u); /* coordinates without such */

/* Coordinates are looked at some at a time, so that thousands of effects can be written and none kept. */
#define DERIVED_AT_A_TIME ((size_t)256)

typedef struct {
    const sbps_run *run;
    bool parameters, effects; /* which are wanted */
    size_t draws;             /* of a chain */
    size_t first, count;      /* coordinates at hand */
    size_t selected;          /* of these */
    size_t *at;               /* wanted: which coordinates they are */
    double *drawn;            /* [wanted][chain][draw] */
    draw_summary *summary;    /* wanted */
    double value[DERIVED_AT_A_TIME];
    sbps_status status[DERIVED_AT_A_TIME];
} derived_job;

sbps_status derived_open(derived_job *j, sbps_error *err); /* the first four are given */
void derived_close(derived_job *j);
/* The next coordinates; false: there are no more, or something failed. */
bool derived_next(derived_job *j, sbps_status *status, sbps_error *err);

/* Draws and summary of what is no coordinate, as parameter `at` of a result, and its name. */
sbps_status derived_store(result *r, size_t at, const char *name, const double *drawn,
                          const draw_summary *s, sbps_error *err);
/* In a result of all coordinates: what stands in their place takes it, effects behind the parameters or left out. */
sbps_status derived_show(const sbps_run *run, bool effects, result *r, sbps_error *err);

/* derived_bias.c: the bias stated of coordinates, carried on to functions of them. */
typedef struct {
    const posterior *u;
    double *mean, *sd; /* of coordinates, by the draws */
    double *points;    /* at which functions are looked at, in pairs */
    double *values;    /* of those at hand, a point after another */
} propagated_bias;

sbps_status propagated_open(const sbps_run *run, const result *r, propagated_bias *c,
                            sbps_error *err);
void propagated_close(propagated_bias *c);
/* Functions in the place of `count` coordinates from `first` on. */
void propagated_evaluate(propagated_bias *c, size_t first, size_t count);
/* Of the one at first + i, in its sds, and its standard error. */
void propagated_shift(const propagated_bias *c, size_t count, size_t i, double sd,
                      double *of_mean, double *error);

#endif

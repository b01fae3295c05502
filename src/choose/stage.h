/* A stage on which control variates are heard: points spread like the posterior, directions of the
 * metric, and the mini-batch noise that is left there. */
#ifndef CHOOSE_STAGE_H
#define CHOOSE_STAGE_H

#include "posterior/influence.h"
#include "run/run.h"

#define STAGE_POINTS ((size_t)64)

typedef struct {
    const sbps_run *run;
    arena memory;
    minibatch u;
    double *points; /* STAGE_POINTS * dim: posterior draws, or what stands for them */
    double *z, *q;  /* dim: scratch of the calls below */
    rng random;
} stage;

sbps_status stage_open(stage *s, const sbps_run *run, sbps_error *err);
void stage_close(stage *s);
/* Points of the normal at the mode; or stored draws of all chains, false when there are too few. */
void stage_normal(stage *s);
bool stage_draws(stage *s);

/* Mean over the points of N^2 Var_i / u'Hu, Var_i of one row's slope: divided by n it is c^2 / u'Hu of
 * batches of n rows. Every control variate is heard with the same rows and directions. */
double stage_noise(stage *s, const control *cv);
/* Root mean square over some points of every row's slope in units of sqrt(u'Hu); n numbers. */
sbps_status stage_influence(stage *s, const control *cv, float *influence, sbps_error *err);

#endif

/* The flight under a band that sbps and boomerang share: first look, proposals, their meter, landing.
 * They differ in the curve they fly along and in how the slope is seen from it. */
#ifndef SAMPLER_BAND_SEGMENT_H
#define SAMPLER_BAND_SEGMENT_H

#include "sampler/band/calibration.h"
#include "sampler/band/slope_regression.h"
#include "sampler/core/sampler.h"

/* First member of such a state; pointer-free. */
typedef struct {
    rng random;
    event end; /* that ended the last segment */
    observation last;
    slope_regression view;
    calibration widths;
} band_segment;

typedef struct {
    const flow_kind *flow;
    double longest;     /* time between two looks */
    double refresh_min; /* what stands for a refresh rate of 0 */
    /* A flight begins at s->p with velocity s->q; `same_batch`: it is seen on the batch of the bounce
     * before. Returns u'Hu. */
    double (*begin)(sampler *s, bool same_batch);
    /* G~ at time t of it on a fresh batch. */
    observation (*observe)(sampler *s, double t);
    /* G~ at its start on the batch of the last look. */
    observation (*observe_again)(sampler *s);
    /* p_next at the end of a flight of length dt, and then the velocity after the event. */
    void (*end_segment)(sampler *s, double dt);
    void (*bounce)(sampler *s);
    void (*refresh)(sampler *s);
    /* Optional: the first kink after t and its jump. NULL: none are foreseen. */
    double (*next_kink)(const sampler *s, double t, double *jump);
    /* Optional: a proposal was looked at. */
    void (*study)(sampler *s, const arrival *a);
    /* Optional, where auxiliary looks are wanted: makes them, after one at t. */
    void (*observe_auxiliary)(sampler *s, double t, event *e);
} segment_kind;

void band_segment_start(sampler *s, rng random);
/* Flies to the next bounce or refreshment. */
void band_segment_step(sampler *s, const segment_kind *way, segment *out);

/* For the sampler's kind. */
void band_segment_calibrate(sampler *s, bool on);
const calibration *band_segment_curve(const sampler *s);
void band_segment_inspect(const sampler *s, inspection *x);

#endif

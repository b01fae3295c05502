/* The flight under a band that sbps and boomerang share: first look, proposals, their meter, landing.
 * They differ in the curve they fly along and in how the slope is seen from it. */
#ifndef SAMPLER_BAND_FLIGHT_H
#define SAMPLER_BAND_FLIGHT_H

#include "band/calibration.h"
#include "band/forecast.h"
#include "sampler/sampler.h"

/* First member of such a state; pointer-free. */
typedef struct {
    rng random;
    event end; /* that ended the last segment */
    observation last;
    forecast view;
    calibration widths;
} band_flight;

typedef struct {
    const flow_kind *flow;
    double longest;       /* time between two looks */
    double refresh_least; /* what stands for a refresh rate of 0 */
    /* A flight begins at s->p with velocity s->q; `same_batch`: it is seen on the batch of the bounce
     * before. Returns u'Hu. */
    double (*begin)(sampler *s, bool same_batch);
    /* G~ at time t of it on a fresh batch. */
    observation (*observe)(sampler *s, double t);
    /* G~ at its start on the batch of the last look. */
    observation (*observe_again)(sampler *s);
    /* p_next at the end of a flight of length dt, and then the velocity after the event. */
    void (*land)(sampler *s, double dt);
    void (*bounce)(sampler *s);
    void (*refresh)(sampler *s);
    /* Optional: the first kink after t and its jump. NULL: none are foreseen. */
    double (*next_kink)(const sampler *s, double t, double *jump);
    /* Optional: a proposal was looked at. */
    void (*study)(sampler *s, const arrival *a);
    /* Optional, where auxiliary looks are wanted: makes them, after one at t. */
    void (*look_further)(sampler *s, double t, event *e);
} flight_kind;

void band_flight_start(sampler *s, rng random);
/* Flies to the next bounce or refreshment. */
void band_flight_step(sampler *s, const flight_kind *way, segment *out);

/* For the sampler's kind. */
void band_flight_calibrate(sampler *s, bool on);
const calibration *band_flight_curve(const sampler *s);
void band_flight_inspect(const sampler *s, inspection *x);

#endif

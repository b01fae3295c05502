/* A segment under the band, shared by sbps and boomerang: first observation, proposals,
 * counting of violations, end. The two differ in the curve of the segment and in how the
 * slope along it is observed. */
#ifndef SAMPLER_BAND_SEGMENT_H
#define SAMPLER_BAND_SEGMENT_H

#include "path/path.h"
#include "sampler/band/calibration.h"
#include "sampler/band/slope_regression.h"
#include "sampler/core/sampler.h"

/* First member of the sampler's state; pointer-free. */
typedef struct {
    rng random;
    event end; /* of the last segment */
    /* The last observation; the regression of the slopes; statistics that calibrate the
     * band's width. */
    observation last;
    slope_regression view;
    calibration widths;
} band_segment;

typedef struct {
    const flow_kind *flow;
    double longest;     /* longest time between two observations */
    double refresh_min; /* refresh rate that replaces 0 */
    /* Starts a segment at s->p with velocity s->q; `same_batch`: it will be observed on the
     * batch of the last bounce. Returns u'Hu. */
    double (*begin)(sampler *s, bool same_batch);
    /* G~ at time t of the segment on a fresh batch. */
    observation (*observe)(sampler *s, double t);
    /* G~ at its start on the batch of the last observation. */
    observation (*observe_again)(sampler *s);
    /* Sets p_next after a segment of length dt; then bounce or refresh sets the velocity
     * after the event. */
    void (*end_segment)(sampler *s, double dt);
    void (*bounce)(sampler *s);
    void (*refresh)(sampler *s);
    /* Optional: the first kink of a prior after t, and its jump of G. NULL: kinks are
     * ignored. */
    double (*next_kink)(const sampler *s, double t, double *jump);
    /* Optional: called after the observation of a proposal. */
    void (*study)(sampler *s, const arrival *a);
    /* Optional: makes auxiliary observations after one at t, if settings request them. */
    void (*observe_auxiliary)(sampler *s, double t, event *e);
} segment_kind;

/* Initialises the state. */
void band_segment_start(sampler *s, rng random);
/* Advances the sampler to the next bounce or refreshment. */
void band_segment_step(sampler *s, const segment_kind *kind, segment *out);

/* Members of the sampler's kind. */
void band_segment_calibrate(sampler *s, bool on);
const calibration *band_segment_curve(const sampler *s);
void band_segment_inspect(const sampler *s, inspection *x);

/* ---- reports of observations, to the sink that was set (never NULL here) ---- */

/* An observation without a band: the first of a segment, or an auxiliary one ahead of the
 * particle. */
void report_observation(const observation_sink *w, observation_kind kind, double t,
                        observation o);
/* One under a band that began at time `from`; `o` NULL: the segment ended without an
 * observation. */
void report_under_band(const observation_sink *w, observation_kind kind, const band *b,
                       double from, const arrival *a, const observation *o, bool bounced);

#endif

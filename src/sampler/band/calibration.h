/* Calibration of the width of the band. Each proposal made under an intensity lambda shows
 * for every width k what would have been missed: a proposal at (t, G) represents 1/lambda of
 * segment time, in which a band gamma_k would have missed bounces at the rate (G - gamma_k)+
 * and made proposals at the rate gamma_k. */
#ifndef SAMPLER_CALIBRATION_H
#define SAMPLER_CALIBRATION_H

#include "core/inspect.h"
#include "sampler/band/slope_regression.h"

#define BAND_CURVE 64

/* Statistics of a chain's proposals; pointer-free. */
typedef struct calibration {
    uint64_t on;
    double time;               /* length of all segments */
    double missed[BAND_CURVE]; /* missed bounces, by width */
    /* sums of squares of single proposals' contributions to them */
    double squares[BAND_CURVE];
    double proposals[BAND_CURVE]; /* proposals */
} calibration;

/* Clears the statistics, and switches their collection on or off. */
void calibration_begin(calibration *c, bool on);

/* The index-th width that is tried: 1.06^index, up to about 40. */
double band_width(size_t index);
/* Adds a proposal at time t with slope g under band b, made with intensity `rate`. */
void calibration_add_proposal(calibration *c, const band *b, double t, double g, double rate);
/* Adds the statistics of another chain. */
void calibration_add(calibration *c, const calibration *other);
/* Missed bounces per unit time: their target, and the upper limit that two standard errors
 * may reach. */
typedef struct {
    double target, upper;
} band_goal;
/* The smallest width that satisfies both goals, interpolated geometrically, and wider where
 * that costs almost nothing; the largest width if none does. */
double band_choose_width(const calibration *c, band_goal goal);
/* Checks a restored calibration. */
void calibration_inspect(const calibration *c, inspection *x);

#endif

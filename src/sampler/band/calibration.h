/* How wide must the band be? Each proposal made under an intensity lambda tells for every width k
 * what would have been missed: a proposal at (t, G) stands for 1/lambda of flight time, in which a
 * band gamma_k would have missed bounces at the rate (G - gamma_k)+ and made proposals at the rate
 * gamma_k. */
#ifndef SAMPLER_CALIBRATION_H
#define SAMPLER_CALIBRATION_H

#include "core/inspect.h"
#include "sampler/band/arrival.h"

#define BAND_CURVE 64

/* What a chain's proposals say; pointer-free. */
typedef struct calibration {
    uint64_t on;
    double time;                  /* flown */
    double missed[BAND_CURVE];    /* bounces, by width */
    double squares[BAND_CURVE];   /* of what single proposals add to them */
    double proposals[BAND_CURVE]; /* proposals */
} calibration;

/* Begins anew, or ends; what was gathered is gone either way. */
void calibration_begin(calibration *c, bool on);

/* The i-th width tried: 1 * 1.06^i, up to about 40. */
double band_width(size_t index);
void calibration_see(calibration *c, const band *b, double t, double g, double rate);
/* Adds what another chain saw. */
void calibration_add(calibration *c, const calibration *other);
/* Missing bounces per unit time that are wanted, and that may be by two standard errors. */
typedef struct {
    double target, upper;
} band_goal;
/* The smallest width that stays under both, interpolated geometrically, and wider where that costs
 * next to nothing; the largest width when none does. */
double band_choose_width(const calibration *c, band_goal goal);
void calibration_inspect(const calibration *c, inspection *x);

#endif

/* How wide must the band be? Each proposal made under an intensity lambda tells for every width k
 * what would have been missed: a proposal at (t, G) stands for 1/lambda of flight time, in which a
 * band gamma_k would have missed bounces at the rate (G - gamma_k)+. */
#ifndef SAMPLER_CALIBRATE_H
#define SAMPLER_CALIBRATE_H

#include "base/inspect.h"
#include "sampler/arrival.h"

#define BAND_CURVE 64

/* What a chain's proposals say; pointer-free. */
typedef struct {
    uint64_t on;
    double time; /* flown */
    double curve[BAND_CURVE];
} calibration;

/* Begins anew, or ends; what was gathered is gone either way. */
void calibration_begin(calibration *c, bool on);

/* The i-th width tried: 1 * 1.06^i, up to about 40. */
double band_width(size_t index);
/* Adds a proposal to the curve of missing bounces. */
void band_curve_add(double *curve, const band *b, double t, double g, double rate);
/* The smallest width whose missing bounces per unit time stay under `goal`: interpolated
 * geometrically between widths; the largest width when none does. */
double band_choose(const double *curve, double time, double goal);
void calibration_inspect(const calibration *c, inspection *x);

#endif

/* The proposal intensity lambda(t), a band over a regression of the slope G, and its first
 * arrival. */
#ifndef SAMPLER_ARRIVAL_H
#define SAMPLER_ARRIVAL_H

#include "linalg/real.h"
#include "sampler/band/regression.h"

typedef struct {
    regression_fit fit;
    /* a Gaussian process that replaces the line of `fit`; NULL: none */
    const process *curve;
    double k;
    double floor; /* least lambda; 0: none, and a negative band counts as 0 */
} band;

/* How the band is interpolated by chords: nodes at start, start + step, and so on, steps
 * growing by the factor `growth`, none beyond `limit`. Nothing here may depend on the
 * exponential drawn. */
typedef struct {
    double start, step, growth, limit;
    double longest; /* longest chord; 0: no limit */
} chord_grid;

typedef struct {
    bool arrived; /* before grid.limit */
    double time;  /* of the arrival, or grid.limit */
    double rate;  /* lambda at that time */
} arrival;

/* Predictive mean and sd of G at time t. */
double band_mean(const band *b, double t);
double band_sd(const band *b, double t);
/* Probability that G~ at an arrival lies above its rate if the regression is right: accurate
 * to 2 % for widths of 1 and more. */
double band_violation(const band *b, const arrival *a);
/* Linear term of the band: its increase per unit time far ahead. */
double band_rise(const band *b);
/* mean + k sd of a process at time t. */
double band_at_curve(const band *b, double t);

/* max(b0 + b1 t + k sd(t), floor); without a floor the band itself, which may be negative. */
static inline double band_at(const band *b, double t)
{
    double gamma =
        b->curve ? band_at_curve(b, t) : fit_mean(&b->fit, t) + b->k * fit_sd(&b->fit, t);
    return b->floor > 0.0 ? larger(gamma, b->floor) : gamma;
}

/* First arrival of the Poisson process whose rate is the positive part of the chords;
 * exponential: a standard exponential draw. */
arrival band_arrival(const band *b, const chord_grid *grid, double exponential);

#endif

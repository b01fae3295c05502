/* The proposal intensity lambda(t) = band over the regression, and its first arrival. */
#ifndef SAMPLER_ARRIVAL_H
#define SAMPLER_ARRIVAL_H

#include "linalg/real.h"
#include "sampler/band/process.h"

typedef struct {
    regression_fit fit;
    const process *curve; /* NULL: the line of `fit`; else this in its place */
    double k;
    double floor; /* of lambda; 0: none, the band is clipped at 0 */
} band;

/* How the band is interpolated: nodes at start, start + step, and so on, steps growing by
 * `growth`, none beyond `limit`. Nothing here may depend on the exponential drawn. */
typedef struct {
    double start, step, growth, limit;
    double longest; /* chord; 0: any */
} chord_grid;

typedef struct {
    bool arrived; /* before grid.limit */
    double time;  /* of the arrival, or the limit */
    double rate;  /* lambda there */
} arrival;

/* Predictive mean and sd of G. */
double band_mean(const band *b, double t);
double band_sd(const band *b, double t);
/* Probability that G~ at an arrival lies above its rate, were G~ as predicted: within 2 % for
 * widths of 1 and more. */
double band_violation(const band *b, const arrival *a);
/* The linear term of the band: what it rises by per unit time far ahead. */
double band_rise(const band *b);
/* mean + k sd of a process. */
double band_at_curve(const band *b, double t);

/* max(b0 + b1 t + k sd(t), floor), or without a floor the band itself, negative or not. */
static inline double band_at(const band *b, double t)
{
    double gamma =
        b->curve ? band_at_curve(b, t) : fit_mean(&b->fit, t) + b->k * fit_sd(&b->fit, t);
    return b->floor > 0.0 ? larger(gamma, b->floor) : gamma;
}

/* First arrival of the Poisson process whose rate is the positive part of the chords. */
arrival band_arrival(const band *b, const chord_grid *grid, double exponential);

#endif

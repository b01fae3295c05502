/* Gaussian-process regression of the slopes G of one segment, over a straight line. */
#ifndef SAMPLER_PROCESS_H
#define SAMPLER_PROCESS_H

#include "sampler/band/regression.h"

#define PROCESS_MAX 32 /* number of latest observations that are kept */

/* Departure from the line: its variance, and the time scale on which it changes. */
typedef struct {
    double variance, length;
} process_scale;

/* Pointer-free. */
typedef struct {
    uint64_t count;
    double t[PROCESS_MAX], g[PROCESS_MAX];
    /* The last fit. */
    slope_prior prior;
    process_scale scale;
    double noise, level, level_precision;
    double factor[PROCESS_MAX * PROCESS_MAX];      /* lower Cholesky factor of K */
    double ones[PROCESS_MAX], weight[PROCESS_MAX]; /* K^-1 1, K^-1 (g - mu t - level) */
} process;

/* Removes all observations. */
void process_clear(process *p);
/* Adds an observation g at time t; beyond PROCESS_MAX the oldest is dropped. */
void process_add(process *p, double t, double g);
/* Adds `jump` to every observation so far. */
void process_shift(process *p, double jump);
/* Fits the process. Every observation has variance `noise`, and so will the next. */
void process_fit(process *p, slope_prior prior, process_scale scale, double noise);
/* Predictive mean and variance of an observation at t. */
void process_predict(const process *p, double t, double *mean, double *variance);
/* Mean and variance of the slope of G far beyond the observations. */
void process_slope(const process *p, double *mean, double *variance);

#endif

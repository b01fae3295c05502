/* Local Bayesian regression of the observed slopes G on the time since the last event, and
 * the prior on its slope, which is learned from segment to segment. */
#ifndef SAMPLER_REGRESSION_H
#define SAMPLER_REGRESSION_H

#include "linalg/real.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Weighted sums over the observations of one segment. */
typedef struct {
    double w, t, tt, g, tg, gg;
    uint64_t count;
} regression;

/* beta_1 ~ N(mean, variance) */
typedef struct {
    double mean, variance;
} slope_prior;

/* Predictive distribution of G at time t: mean b0 + b1 t, variance v00 + 2 v01 t + v11 t^2 +
 * noise. */
typedef struct {
    double b0, b1, v00, v01, v11, noise;
} regression_fit;

/* Removes all observations. */
void regression_clear(regression *r);
/* Adds `jump` to every observation so far. */
void regression_shift(regression *r, double jump);

/* Multiplies every weight by `factor`. */
void regression_scale(regression *r, double factor);

/* Supp. C: sets a negative slope to 0, and b0 to its conditional mean given that slope. */
void fit_repair_slope(regression_fit *fit);

/* log p({G_i} | mean, variance) with beta_0 integrated out under a flat prior, up to a constant
 * that does not depend on the prior; 0 with fewer than two distinct times. */
double slope_evidence(const regression *r, slope_prior prior, double unit);
/* The derivatives of that in mean and in variance. */
void slope_evidence_gradient(const regression *r, slope_prior prior, double unit,
                             double *d_mean, double *d_variance);
/* One gradient step on the evidence, preconditioned by the prior's variance so that it has
 * no scale. */
void slope_prior_learn(slope_prior *prior, const regression *r, double unit, double rate);

/* ---- called at every proposal, therefore inline ---- */

/* Adds observation g at time t. */
static inline void regression_add(regression *r, double t, double g, double weight)
{
    r->w += weight;
    r->t += weight * t;
    r->tt += weight * t * t;
    r->g += weight * g;
    r->tg += weight * t * g;
    r->gg += weight * g * g;
    r->count++;
}

/* The posterior: observation i has variance unit / weight_i, the next will have variance
 * `next`. */
static inline regression_fit regression_solve(const regression *r, slope_prior slope,
                                              double unit, double next)
{
    /* everything times unit, so that one division is enough */
    double k = unit / slope.variance, tt = r->tt + k, tg = r->tg + k * slope.mean;
    double inverse_det = 1.0 / (r->w * tt - r->t * r->t), scale = unit * inverse_det;
    return (regression_fit){.b0 = (tt * r->g - r->t * tg) * inverse_det,
                            .b1 = (r->w * tg - r->t * r->g) * inverse_det,
                            .v00 = tt * scale,
                            .v01 = -r->t * scale,
                            .v11 = r->w * scale,
                            .noise = next};
}

/* Weighted variance of the times. */
static inline double time_variance(const regression *r)
{
    double mean = r->t / r->w;
    return larger(r->tt / r->w - mean * mean, 0.0);
}

/* Widens slope and noise by the excess of the residual variance over `unit`, which a
 * straight line leaves unexplained. */
static inline void regression_admit_misfit(const regression *r, double unit,
                                           regression_fit *fit)
{
    if (r->count < 3) return;
    double b0 = fit->b0, b1 = fit->b1, freedom = (double)r->count - 2.0;
    double rss = r->gg - 2.0 * (b0 * r->g + b1 * r->tg) + b0 * b0 * r->w +
                 2.0 * b0 * b1 * r->t + b1 * b1 * r->tt;
    /* two standard deviations of chi^2 noise are not yet evidence of misfit */
    double excess = rss - unit * (freedom + 2.0 * sqrt(2.0 * freedom));
    if (!(excess > 0.0)) return;
    excess *=
        (double)r->count / (freedom * r->w); /* from units of the weights to those of G^2 */
    double spread = time_variance(r);
    if (!(spread > 0.0)) return;
    fit->v11 += excess / spread;
    fit->noise += excess;
}

/* Adds lack of fit as learned over segments: beyond t_last the slope deviates by a further
 * N(0, kappa), and variance += kappa (t - t_last)^2. */
static inline void fit_admit_drift(regression_fit *fit, double kappa, double t_last)
{
    fit->v11 += kappa;
    fit->v01 -= kappa * t_last;
    fit->v00 += kappa * t_last * t_last;
}

/* Predictive mean, variance and sd of G at time t. */
static inline double fit_mean(const regression_fit *fit, double t)
{
    return fit->b0 + fit->b1 * t;
}

static inline double fit_variance(const regression_fit *fit, double t)
{
    return fit->v00 + t * (2.0 * fit->v01 + t * fit->v11) + fit->noise;
}

static inline double fit_sd(const regression_fit *fit, double t)
{
    return sqrt(fit_variance(fit, t));
}

/* ---- Gaussian process ----
 *
 * Gaussian-process regression of the slopes G of one segment, over a straight line. */

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

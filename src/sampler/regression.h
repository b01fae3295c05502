/* Local Bayesian regression of the observed slopes G on the time since the last event, and the
 * prior on its slope that is learned from flight to flight. */
#ifndef SAMPLER_REGRESSION_H
#define SAMPLER_REGRESSION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Weighted sums over the observations of one flight. */
typedef struct {
    double w, t, tt, g, tg, gg;
    uint64_t count;
} regression;

/* beta_1 ~ N(mean, variance) */
typedef struct {
    double mean, variance;
} slope_prior;

/* Predictive distribution of G at time t: mean b0 + b1 t, variance v00 + 2 v01 t + v11 t^2 + noise. */
typedef struct {
    double b0, b1, v00, v01, v11, noise;
} regression_fit;

void regression_clear(regression *r);
void regression_add(regression *r, double t, double g, double weight);
/* As if every G so far had been seen higher by `jump`. */
void regression_shift(regression *r, double jump);

/* Every weight times `factor`. */
void regression_scale(regression *r, double factor);

/* Observation i has variance unit / weight_i; the next one will have variance `next`. */
regression_fit regression_solve(const regression *r, slope_prior prior, double unit,
                                double next);
/* Adds what a straight line leaves unexplained: the excess of the residual variance over `unit`
 * widens slope and noise. */
void regression_admit_misfit(const regression *r, double unit, regression_fit *fit);
/* Lack of fit as flights teach it: beyond t_last the slope is off by a further N(0, kappa). */
void fit_admit_drift(regression_fit *fit, double kappa, double t_last);
/* Supp. C: a negative slope becomes 0, and b0 what it would be if that were known. */
void fit_repair_slope(regression_fit *fit);

static inline double fit_mean(const regression_fit *fit, double t)
{
    return fit->b0 + fit->b1 * t;
}

static inline double fit_sd(const regression_fit *fit, double t)
{
    return sqrt(fit->v00 + t * (2.0 * fit->v01 + t * fit->v11) + fit->noise);
}

/* log p({G_i} | mean, variance) with beta_0 integrated out under a flat prior, up to a constant
 * that does not depend on the prior; 0 with fewer than two distinct times. */
double slope_evidence(const regression *r, slope_prior prior, double unit);
/* Its derivatives in mean and in variance. */
void slope_evidence_gradient(const regression *r, slope_prior prior, double unit,
                             double *d_mean, double *d_variance);
/* One gradient step, preconditioned by the prior's variance so that it is free of scale. */
void slope_prior_learn(slope_prior *prior, const regression *r, double unit, double rate);

#endif

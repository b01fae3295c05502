/* The regression of the slopes G observed since the last event, as a band that should lie
 * above G, and the parameters learned from segment to segment that make the band accurate. */
#ifndef SAMPLER_SLOPE_REGRESSION_H
#define SAMPLER_SLOPE_REGRESSION_H

#include "core/inspect.h"
#include "linalg/real.h"
#include "path/path.h"
#include "sampler/band/regression.h"
#include "sampler/band/settings.h"

/* ---- band and arrivals ----
 *
 * The proposal intensity lambda(t), a band over a regression of the slope G, and its first
 * arrival. */

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

/* ---- regression ---- */

/* Decaying weights: an observation h before the latest one weighs exp(-h / tau). */
typedef struct {
    double log_tau; /* natural units */
    /* the sums of the same segment under a shorter and a longer tau */
    regression shorter, longer;
} forgetting;

/* Pointer-free: part of a chain's state. */
typedef struct {
    regression fit;     /* of the current segment */
    double curvature;   /* u'Hu along it */
    double speed;       /* sqrt of that: natural units of time per unit of time */
    double last_time;   /* time of its latest observation */
    double last_noise;  /* c^2 of that observation */
    double noise_sum;   /* sum of c^2 over the segment */
    double noise_count; /* number of observations in that sum */
    double running;     /* mean of c^2 / u'Hu over segments */
    double running_count;
    slope_prior prior; /* in units of u'Hu with SLOPE_HESSIAN */
    double fitted;     /* number of fitted slopes whose mean a wide prior has */
    double drift;      /* kappa in units of (u'Hu)^2 */
    forgetting decay;
    process gp;
    process_scale gp_scale; /* natural units */
} slope_regression;

/* Initialises the state of a chain. */
void slope_regression_start(slope_regression *f, const band_settings *set);
/* Starts a new segment along which u'Hu is `curvature`. */
void slope_regression_clear(slope_regression *f, double curvature);
/* Adds an observation of the segment; times must not decrease. */
void slope_regression_add(slope_regression *f, const band_settings *set, double t,
                          const observation *o);
/* Adds an auxiliary observation ahead of the particle, on the latest mini-batch. */
void slope_regression_add_ahead(slope_regression *f, const band_settings *set, double t,
                                const observation *o);
/* Accounts for a known jump of G at the current time. */
void slope_regression_shift(slope_regression *f, double jump);
/* The band; it borrows from f until the next observation. */
band slope_regression_band(slope_regression *f, const band_settings *set);
/* Learns from slope g observed at time t under band b; call before slope_regression_add. */
void slope_regression_learn(slope_regression *f, const band_settings *set, const band *b,
                            double t, double g);
/* Ends the segment at time t; last: the observation that made it bounce, or NULL. The slope
 * prior learns. */
void slope_regression_end(slope_regression *f, const band_settings *set, double t,
                          const observation *last);
/* Chord nodes from t on, up to the horizon, but for no longer than duration_max and not
 * beyond `until`. */
chord_grid slope_regression_grid(const slope_regression *f, const band_settings *set,
                                 const band *b, double t, double duration_max, double until);
/* Checks a restored state between segments; the observations of the last segment are not
 * used any more. */
void slope_regression_inspect(const slope_regression *f, inspection *x);

#endif

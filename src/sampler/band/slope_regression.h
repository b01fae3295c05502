/* Forecast: what the slopes G seen since the last event say about G ahead, as a band that shall lie
 * over it, and what is learned from flight to flight to make that band honest. */
#ifndef SAMPLER_SLOPE_REGRESSION_H
#define SAMPLER_SLOPE_REGRESSION_H

#include "core/inspect.h"
#include "path/path.h"
#include "sampler/band/arrival.h"
#include "sampler/band/settings.h"

/* Decaying weights: an observation h before the latest one weighs exp(-h / tau). */
typedef struct {
    double log_tau;             /* natural units */
    regression shorter, longer; /* the same flight under a shorter and a longer tau */
} forgetting;

/* Pointer-free: part of a chain's state. */
typedef struct {
    regression fit;     /* of this flight */
    double curvature;   /* u'Hu of this flight */
    double speed;       /* its root: natural units of time a unit of time */
    double last_time;   /* of its latest observation */
    double last_noise;  /* c^2 of it */
    double noise_sum;   /* of c^2 over this flight */
    double noise_count; /* and of how many observations */
    double running;     /* mean of c^2 / u'Hu over flights */
    double running_count;
    slope_prior prior; /* in units of u'Hu, if it comes from the Hessian */
    double fitted;     /* slopes, so many, whose mean a wide prior has */
    double drift;      /* kappa in units of (u'Hu)^2 */
    forgetting decay;
    process gp;
    process_scale gp_scale; /* natural units */
} slope_regression;

void slope_regression_start(slope_regression *f, const band_settings *set);
/* A new flight along which u'Hu is `curvature`. */
void slope_regression_clear(slope_regression *f, double curvature);
/* An observation of the flight; times do not fall. */
void slope_regression_add(slope_regression *f, const band_settings *set, double t,
                          const observation *seen);
/* One ahead of the particle, with the latest mini-batch. */
void slope_regression_add_ahead(slope_regression *f, const band_settings *set, double t,
                                const observation *seen);
/* G jumps by a known amount here. */
void slope_regression_shift(slope_regression *f, double jump);
/* Borrows from the forecast until its next observation. */
band slope_regression_band(slope_regression *f, const band_settings *set);
/* What a look at G under this band teaches: before it is seen. */
void slope_regression_learn(slope_regression *f, const band_settings *set, const band *b,
                            double t, double g);
/* The flight is over at t, by the bounce of this look if it is not NULL: the slope prior learns. */
void slope_regression_end(slope_regression *f, const band_settings *set, double t,
                          const observation *last);
/* Chords over the band from t on, to the horizon, but for no longer than `most` and not beyond
 * `until`. */
chord_grid slope_regression_grid(const slope_regression *f, const band_settings *set,
                                 const band *b, double t, double duration_max, double until);
/* Between flights: what was seen on the last one is forgotten at the start of the next. */
void slope_regression_inspect(const slope_regression *f, inspection *x);

#endif

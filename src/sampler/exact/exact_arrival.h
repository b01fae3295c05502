/* Arrivals along a straight line on the full data, from G(t) = dU/dt and U(t): exact for convex
 * U, else by thinning. */
#ifndef SAMPLER_EXACT_ARRIVAL_H
#define SAMPLER_EXACT_ARRIVAL_H

#include "core/rng.h"
#include "path/path.h"
#include "posterior/minibatch/potential.h"

/* The line of the current segment. The potential's line is set already; rows evaluated are
 * counted in e. */
typedef struct {
    potential *u;
    event *e;
    double curvature;   /* u'Hu at the reference, > 0: natural units of time are 1/sqrt of it */
    double time, slope; /* last evaluation; NAN: none yet */
} exact_line;

/* G(t); potential_gradient then gives the gradient there. */
double exact_slope(exact_line *l, double t);
/* U(t), up to a constant of the line. */
double exact_value(exact_line *l, double t);

typedef struct {
    double time, slope;
} node;

/* The integral F(t) of G+ from 0 to t, for convex U. Before the minimum is found `low` is
 * the last node with G < 0; then it is the last node with F known and not beyond the
 * arrival. */
typedef struct {
    node low;
    bool bottom;    /* the minimum of U along the line is known */
    double base;    /* U at the minimum */
    double climbed; /* F at low */
    double rise;    /* dG/dt by the last secant */
} climb;

/* Starts at time 0. */
climb climb_start(exact_line *l);
/* True when F reaches `height` before `limit`; *time is then where, and the slope was
 * evaluated there last. Further calls on the same line may only raise height and limit. */
bool climb_to(exact_line *l, climb *c, double height, double limit, double *time);

/* ---- thinning by cells ----
 *
 * Arrivals where U is not known to be convex: bounds from evaluations of the
 * slope. */

/* Lengths in natural units; adapted from segment to segment; pointer-free. */
typedef struct {
    double length; /* of the next cell */
    double most;   /* longest allowed: halved at a violation, recovers slowly */
} cell_lengths;

/* The initial lengths. */
cell_lengths cell_thinning_start(void);
/* First arrival of the rate E (G + y)+, y ~ N(0, sigma^2), before `limit`: true, and *time
 * is the arrival, where the slope was evaluated last. False: *time is the end. Violations
 * are counted in the line's event. */
bool cell_thinning_arrival(exact_line *l, cell_lengths *c, double sigma, rng *random,
                           double limit, double *time);
/* Checks restored lengths. */
void cell_thinning_inspect(const cell_lengths *c, inspection *x);

/* ---- noise on the slope ----
 *
 * Bounces off a slope G + y with y ~ N(0, sigma^2), independent at every time (Theorem 1). */

/* E (G + y)+ = G Phi(G/sigma) + sigma phi(G/sigma); G+ without noise. Convex and rising in
 * G. */
double noisy_rate(double g, double sigma);
/* The most by which it exceeds G+: sigma phi(0). */
double noisy_excess(double sigma);
/* Draws y of a bounce, in proportion to (G + y)+ N(y; 0, sigma^2); 0 without noise. */
double noisy_draw(rng *random, double g, double sigma);

#endif

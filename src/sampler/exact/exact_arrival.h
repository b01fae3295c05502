/* Exact arrivals along a straight line on the full data, from G(t) = dU/dt and U(t). */
#ifndef SAMPLER_EXACT_ARRIVAL_H
#define SAMPLER_EXACT_ARRIVAL_H

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

#endif

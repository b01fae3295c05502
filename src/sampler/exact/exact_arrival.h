/* Exact arrivals along a straight line, seen on the full data: G(t) = dU/dt and U(t). */
#ifndef SAMPLER_EXACT_ARRIVAL_H
#define SAMPLER_EXACT_ARRIVAL_H

#include "path/path.h"
#include "posterior/minibatch/potential.h"

/* A flight under way. The potential is aimed already; every look at the rows is counted in e. */
typedef struct {
    potential *u;
    event *e;
    double curvature;   /* u'Hu at the reference, > 0: natural units of time are 1/sqrt of it */
    double time, slope; /* last looked at; NAN: nowhere */
} exact_line;

/* G(t); the gradient can then be asked for there. */
double exact_slope(exact_line *l, double t);
double exact_value(exact_line *l, double t);

typedef struct {
    double time, slope;
} node;

/* What is known of the climb F(t) = integral of G+ from 0 to t, U convex. Before the bottom is
 * found `low` is the last node with G < 0; then it is the last node with F known and not beyond
 * the arrival. */
typedef struct {
    node low;
    bool bottom;
    double base;    /* U at the bottom */
    double climbed; /* F at low */
    double rise;    /* dG/dt, the last secant */
} climb;

climb climb_start(exact_line *l);
/* True when F reaches `height` before `limit`, at *time, where the slope was looked at last. Calls
 * of one flight may only raise height and limit. */
bool climb_to(exact_line *l, climb *c, double height, double limit, double *time);

#endif

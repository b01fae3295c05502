/* Coordinates that are bent: w = centre + g(x) one by one, x = A z, where a posterior with a wall at one
 * side (half a normal) is no ellipsoid that a linear map could straighten. */
#ifndef METRIC_BEND_H
#define METRIC_BEND_H

#include <stddef.h>

typedef struct {
    size_t j;    /* which coordinate */
    double sign; /* +1: the wall is below, -1: above */
    double unit; /* sd of x_j where z is standard normal */
    /* As a normal of this sd towards the wall and that one away from it, in units of w: */
    double wall, reach; /* 0 < wall < reach */
    double start;       /* of the wall, from the centre: see bend.c; mostly negative */
} bend;

typedef struct {
    size_t count;
    bend list[];
} bends;

typedef struct {
    double value; /* w - centre */
    double slope; /* dw/dx > 0 */
    double turn;  /* d log(slope) / dx */
} bent;

bent bend_at(const bend *b, double x);
/* x of a value w - centre. */
double bend_back(const bend *b, double value);

#endif

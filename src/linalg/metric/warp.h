/* Coordinates that are bent: w = centre + g(x) one by one, x = A z, where a posterior with a wall at one
 * side (half a normal) is no ellipsoid that a linear map could straighten. */
#ifndef LINALG_WARP_H
#define LINALG_WARP_H

#include <stddef.h>

typedef struct {
    size_t j;    /* which coordinate */
    double sign; /* +1: the wall is below, -1: above */
    double unit; /* sd of x_j where z is standard normal */
    /* As a normal of this sd towards the wall and that one away from it, in units of w: */
    double boundary, reach; /* 0 < wall < reach */
    double start;           /* of the wall, from the centre: see bend.c; mostly negative */
} warp;

typedef struct {
    size_t count;
    warp list[];
} warps;

typedef struct {
    double value;          /* w - centre */
    double slope;          /* dw/dx > 0 */
    double log_slope_rate; /* d log(slope) / dx */
} warped;

warped warp_at(const warp *b, double x);
/* x of a value w - centre. */
double warp_inverse(const warp *b, double value);

#endif

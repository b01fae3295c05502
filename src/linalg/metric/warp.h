/* Warped coordinates: w = centre + g(x) one by one, x = A z. For posteriors with a boundary
 * on one side (half a normal), which no linear map can make an ellipsoid. */
#ifndef LINALG_WARP_H
#define LINALG_WARP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t j;    /* coordinate */
    double sign; /* +1: the boundary is below, -1: above */
    double unit; /* sd of x_j where z is standard normal */
    /* Scales on the side of the boundary and on the other, in units of w, as sds of a
     * normal: 0 < boundary < reach. */
    double boundary, reach; /* 0 < boundary < reach */
    /* where the boundary begins, relative to the centre, see warp.c; usually negative */
    double start;
} warp;

typedef struct {
    size_t count;
    /* A boundary runs between coordinates, such as two classes' coefficients of one level:
     * warping one of them does not straighten it. */
    bool oblique;
    warp list[];
} warps;

typedef struct {
    double value;          /* w - centre */
    double slope;          /* dw/dx > 0 */
    double log_slope_rate; /* d log(slope) / dx */
} warped;

/* g at x, and its derivatives. */
warped warp_at(const warp *b, double x);
/* The x of a value w - centre. */
double warp_inverse(const warp *b, double value);

#endif

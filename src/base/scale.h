/* How a coordinate of w is reported: as itself, or as exp(w), a positive parameter. */
#ifndef BASE_SCALE_H
#define BASE_SCALE_H

#include <math.h>

typedef enum { SCALE_PLAIN, SCALE_LOG } coordinate_scale;

/* The parameter at a coordinate, and the coordinate of a parameter. */
static inline double scale_value(coordinate_scale scale, double w)
{
    return scale == SCALE_LOG ? exp(w) : w;
}
static inline double scale_coordinate(coordinate_scale scale, double value)
{
    return scale == SCALE_LOG ? log(value) : value;
}

#endif

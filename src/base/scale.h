/* How a coordinate w of a flight is reported: as itself, as exp(w), a positive parameter, or as tanh(w), a
 * correlation. */
#ifndef BASE_SCALE_H
#define BASE_SCALE_H

#include <math.h>

typedef enum { SCALE_PLAIN, SCALE_LOG, SCALE_TANH } coordinate_scale;

/* The parameter x at a coordinate, and the coordinate of a parameter. */
static inline double scale_value(coordinate_scale scale, double w)
{
    return scale == SCALE_LOG ? exp(w) : scale == SCALE_TANH ? tanh(w) : w;
}
static inline double scale_coordinate(coordinate_scale scale, double value)
{
    return scale == SCALE_LOG ? log(value) : scale == SCALE_TANH ? atanh(value) : value;
}
/* The function of w that is reported; NULL: w itself. */
static inline double (*scale_function(coordinate_scale scale))(double)
{
    return scale == SCALE_LOG ? exp : scale == SCALE_TANH ? tanh : (double (*)(double))0;
}
/* What the coordinate is called of its parameter: "log", "atanh"; "" for itself. */
static inline const char *scale_word(coordinate_scale scale)
{
    return scale == SCALE_LOG ? "log" : scale == SCALE_TANH ? "atanh" : "";
}

#endif

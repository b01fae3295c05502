/* How a coordinate w of the sampler is reported: unchanged, as exp(w) (a positive parameter),
 * as tanh(w) (a correlation), or as 1/(1 + exp(-w)) (a probability). */
#ifndef CORE_COORDINATE_SCALE_H
#define CORE_COORDINATE_SCALE_H

#include <math.h>
#include <stddef.h>

typedef enum { SCALE_PLAIN, SCALE_LOG, SCALE_TANH, SCALE_LOGIT } coordinate_scale;

/* The logistic function. */
static inline double probability_of(double w)
{
    return 1.0 / (1.0 + exp(-w));
}

/* Returns the function of w that is reported; NULL: w itself. */
static inline double (*scale_function(coordinate_scale scale))(double)
{
    static double (*const functions[])(double) = {NULL, exp, tanh, probability_of};
    return functions[scale];
}
/* Returns the reported value of coordinate w. */
static inline double scale_value(coordinate_scale scale, double w)
{
    return scale == SCALE_PLAIN ? w : scale_function(scale)(w);
}
/* Returns the coordinate of a reported value: the inverse of scale_value. */
static inline double scale_coordinate(coordinate_scale scale, double value)
{
    if (scale == SCALE_LOGIT) return log(value / (1.0 - value));
    return scale == SCALE_LOG ? log(value) : scale == SCALE_TANH ? atanh(value) : value;
}
/* Returns the name of the map from parameter to coordinate: "log", "atanh", "logit"; "" if the
 * coordinate is the parameter. */
static inline const char *scale_label(coordinate_scale scale)
{
    static const char *const labels[] = {"", "log", "atanh", "logit"};
    return labels[scale];
}

#endif

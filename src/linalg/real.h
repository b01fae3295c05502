/* Comparisons that compile to one instruction, unlike fmax and fmin, which treat NaN
 * specially: a NaN in `a` gives b, and a NaN in `b` gives NaN. */
#ifndef LINALG_REAL_H
#define LINALG_REAL_H

#include <math.h>

/* a if a > b, else b. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* a if a < b, else b. */
static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Thread-safe log gamma: lgamma writes a global sign. */
static inline double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

#endif

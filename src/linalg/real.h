/* Comparisons that compile to one instruction; fmax and fmin are calls because of NaN. The second number
 * stands unless the first is beyond it: a NaN in `a` gives b, a NaN in `b` is what comes out. */
#ifndef LINALG_REAL_H
#define LINALG_REAL_H

#include <math.h>

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* lgamma writes a global that threads would share. */
static inline double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

#endif

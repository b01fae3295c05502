/* Comparisons that compile to one instruction; fmax and fmin are calls because of NaN. The second number
 * stands unless the first is beyond it: a NaN in `a` gives b, a NaN in `b` is what comes out. */
#ifndef BASE_REAL_H
#define BASE_REAL_H

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

#endif

/* Comparisons that compile to one instruction; fmax and fmin are calls because of NaN. Here a NaN
 * in `a` gives b. */
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

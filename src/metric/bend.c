/* A bent coordinate, from one slope to another:
 *
 *   w - centre = s (start + wall y + (reach - wall) softplus(R y + S) / R),   y = s x / unit     (1)
 *
 * s = +-1. Far to the wall's side dw/dy is `wall`, far to the other `reach`. With wall = reach it is a
 * straight line. With wall = 0 a standard normal y becomes nearly half a normal of sd `reach`:
 * R = 1.7 and S = 0.765 give its median and, within a third, its 2% point. It takes every value of w, so
 * nothing is cut off. */
#include "metric/bend.h"

#include <math.h>
#include <stdbool.h>

#define R         1.7
#define S         0.765
#define BACK_MOST 200 /* halvings: more than doubles have bits and exponents */

bent bend_at(const bend *b, double x)
{
    double y = b->sign * x / b->unit, r = R * y + S, e = exp(-fabs(r));
    double softplus = fmax(r, 0.0) + log1p(e), share = (r > 0.0 ? 1.0 : e) / (1.0 + e);
    double more = b->reach - b->wall, slope = b->wall + more * share;
    return (bent){
        .value = b->sign * (b->start + b->wall * y + more * softplus / R),
        .slope = slope / b->unit,
        .turn = b->sign * R * more * share * (1.0 - share) / slope / b->unit,
    };
}

/* Slopes lie between wall and reach, so x is bracketed at once; then halving. */
double bend_back(const bend *b, double value)
{
    double miss = value - bend_at(b, 0.0).value;
    double low = 0.0, high = miss / b->wall * b->unit;
    for (int i = 0; i < BACK_MOST; i++) {
        double middle = 0.5 * (low + high);
        bool beyond = fabs(bend_at(b, middle).value - bend_at(b, 0.0).value) > fabs(miss);
        if (middle == low || middle == high) break;
        *(beyond ? &high : &low) = middle;
    }
    return low;
}

/* Products of Hermite polynomials, He_a(t) = prod_i He_(a_i)(t_i), of total degree up to a
 * limit and ordered by degree. They are orthogonal under the standard normal distribution, with
 *
 *   E He_a^2 = prod_i a_i!,   d/dt_i He_a = a_i He_(a - e_i).
 *
 * Abramowitz, Stegun (1964), chapter 22. */
#ifndef MODEL_HERMITES_H
#define MODEL_HERMITES_H

#include "model/mixed/effect_spread.h"

#define HERMITES_DEGREE ((size_t)8)
#define HERMITES_MAX    ((size_t)126) /* five axes, degree 4 */
#define NO_TERM         HERMITES_MAX

/* The terms, ordered by degree: those of degree 0 to k are the first upto[k]. */
typedef struct {
    size_t axes, degree, terms;
    size_t upto[HERMITES_DEGREE + 1];              /* number of terms of at most each degree */
    size_t power[HERMITES_MAX][LEVEL_EFFECTS_MAX]; /* a_i of each term */
    /* The term with a power less on an axis; NO_TERM: its power is 0. */
    size_t lower[HERMITES_MAX][LEVEL_EFFECTS_MAX];
} hermites;

/* Lists all terms of this degree or less. */
void hermites_open(hermites *h, size_t axes, size_t degree);
/* out[a * n + k] = He_a(t_k) for the first `terms` terms; t[i * n + k], axis after axis. */
void hermites_at(const hermites *h, size_t terms, size_t n, const double *t, double *out);
/* out = coefficients of the derivative of sum_a c_a He_a along an axis. */
void hermites_slope(const hermites *h, size_t axis, const double *c, double *out);
/* E He_a^2 */
double hermites_square(const hermites *h, size_t term);

#endif

/* Products of Hermite polynomials, He_a(t) = prod_i He_(a_i)(t_i), of total degree up to a limit, those of lower degree
 * first: orthogonal under the standard normal, E He_a^2 = prod_i a_i!, and d/dt_i He_a = a_i He_(a - e_i). */
#ifndef MODEL_HERMITES_H
#define MODEL_HERMITES_H

#include "model/mixed/effect_spread.h"

#define HERMITES_DEGREE ((size_t)8)
#define HERMITES_MAX    ((size_t)126) /* five axes, degree 4 */
#define NO_TERM         HERMITES_MAX

typedef struct {
    size_t axes, degree, terms;
    size_t upto[HERMITES_DEGREE + 1]; /* terms of at most this degree */
    size_t power[HERMITES_MAX][LEVEL_EFFECTS_MAX];
    size_t lower[HERMITES_MAX][LEVEL_EFFECTS_MAX]; /* the term less one power; NO_TERM */
} hermites;

void hermites_open(hermites *h, size_t axes, size_t degree);
/* out[a * n + k] = He_a(t_k), for the first `terms` of them; t[i * n + k] axis after axis. */
void hermites_at(const hermites *h, size_t terms, size_t n, const double *t, double *out);
/* Of sum_a c_a He_a: the coefficients of its derivative along an axis, as many of them. */
void hermites_slope(const hermites *h, size_t axis, const double *c, double *out);
double hermites_square(const hermites *h, size_t term); /* E He_a^2 */

#endif

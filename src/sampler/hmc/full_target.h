/* The full-data target of samplers with momentum, in coordinates z with unit mass:
 *
 *   w = centre + g(A z),   V(z) = U(w) - sum log g'(x_j),   x = A z,                        (1)
 *
 * where g is the identity but for warped coordinates (linalg/metric/metric.h). */
#ifndef SAMPLER_FULL_TARGET_H
#define SAMPLER_FULL_TARGET_H

#include "sampler/core/sampler.h"

/* p = w - centre at z; x (dim) receives A z. */
void full_position(const sampler *s, const double *z, double *x, double *p);
/* The z of a position p = w - centre; x (dim) receives A z. */
void full_coordinates(sampler *s, const double *p, double *x, double *z);
/* h = grad V at z and, unless energy is NULL, *energy = V. x (dim) receives A z; s->scratch
 * and s->gradient are overwritten. */
void full_gradient(sampler *s, const double *z, double *x, double *h, double *energy);

#endif

/* Names of coordinates, and what is reported in their place. */
#ifndef MODEL_SHRUNK_COORDINATES_H
#define MODEL_SHRUNK_COORDINATES_H

#include "model/shrinkage/scales.h"

/* shrink.c: the weights at w, `stride` numbers. */
void shrunk_weights(const shrunk *m, const double *w, double *beta);

/* As model_kind has them. */
void shrunk_name(const void *self, size_t j, size_t size, char *text);
bool shrunk_coordinate(const void *self, size_t j, model_coordinate *out);
bool shrunk_derived(const void *self, size_t j, model_derived *out);
void shrunk_derived_name(const void *self, size_t j, size_t size, char *text);
void shrunk_derive(const void *self, const double *w, size_t first, size_t count, double *out);
bool shrunk_intercept(const void *self, size_t j);
void shrunk_start(const void *self, double *w);

#endif

/* What models without a table share: coordinates w1, w2, ... and no prior. */
#ifndef MODEL_DENSITY_H
#define MODEL_DENSITY_H

#include <stddef.h>

void density_name(const void *self, size_t j, size_t size, char *text);
double density_flat(const void *self, size_t j);

#endif

/* The maps of diagonal metrics: the first d numbers of their data are the diagonal of A. */
#ifndef LINALG_DIAGONAL_MAPS_H
#define LINALG_DIAGONAL_MAPS_H

#include "linalg/metric/metric.h"

static inline void diagonal_map(const metric *m, const double *from, double *to)
{
    for (size_t j = 0; j < m->d; j++) to[j] = m->data[j] * from[j];
}

static inline void diagonal_precision(const metric *m, const double *x, double *y)
{
    for (size_t j = 0; j < m->d; j++) y[j] = x[j] / (m->data[j] * m->data[j]);
}

#endif

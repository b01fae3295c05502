/* Made-up tables: rows and targets that a model could have given. */
#include "model/likelihood/model.h"

#include <math.h>

bool model_simulates(const model_kind *kind)
{
    return kind->simulate || (kind->predictor && kind->predictor->simulate);
}

size_t model_columns(const model_kind *kind, size_t dim)
{
    return kind->columns ? kind->columns(dim) : dim;
}

/* Columns of a regression are standard normal, but the first, whose variance is 6 (section 7.1 of the
 * paper). */
void model_simulate(const model_kind *kind, rng *r, size_t columns, const double *w, double *x,
                    double *y)
{
    double eta = 0.0;
    if (kind->simulate) {
        kind->simulate(r, columns, x, y);
        return;
    }
    for (size_t j = 0; j < columns; j++) {
        double value = rng_normal(r) * (j == 0 ? sqrt(6.0) : 1.0);
        x[j] = nearbyint(value * MODEL_DECIMALS) / MODEL_DECIMALS;
        eta += w[j] * x[j];
    }
    *y = kind->predictor->simulate(r, eta, w + columns);
}

double model_reach(const model_kind *kind, size_t dim)
{
    bool small = kind->predictor && kind->predictor->small_weights;
    return small ? 0.5 * fmin(1.0, sqrt(20.0 / (double)dim)) : 5.0;
}

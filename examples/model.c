/* A model of your own: logistic regression, from nothing but its log-likelihood and gradient.
 *
 *   log p(y | x, w) = y eta - log(1 + e^eta),   eta = x.w
 *   grad            = (y - 1/(1 + e^-eta)) x
 *
 *   cc -O2 -shared -fPIC examples/model.c -Iinclude -o mine.so -lm
 *   sbps sample table.csv --model ./mine.so --target y --prior "normal(0,2.5)"
 */
#include "sbps_model.h"

#include <math.h>

static double predictor(size_t dim, const double *w, const double *x)
{
    double eta = 0.0;
    for (size_t j = 0; j < dim; j++) eta += x[j] * w[j];
    return eta;
}

/* One weight a column: parameters then have the columns' names. */
static size_t dim(size_t columns)
{
    return columns;
}

static double loglik(size_t dim, const double *w, size_t columns, const double *x, double y)
{
    (void)columns;
    double eta = predictor(dim, w, x);
    return y * eta - fmax(eta, 0.0) - log1p(exp(-fabs(eta)));
}

static void gradient(size_t dim, const double *w, size_t columns, const double *x, double y,
                     double *out)
{
    (void)columns;
    double residual = y - 1.0 / (1.0 + exp(-predictor(dim, w, x)));
    for (size_t j = 0; j < dim; j++) out[j] = residual * x[j];
}

static const char *check(size_t columns, const double *x, double y)
{
    (void)columns;
    (void)x;
    return y == 0.0 || y == 1.0 ? NULL : "expected 0 or 1";
}

const sbps_model_table sbps_model = {
    .abi = SBPS_MODEL_ABI,
    .struct_size = sizeof(sbps_model_table),
    .dim = dim,
    .loglik = loglik,
    .gradient = gradient,
    .check = check,
};

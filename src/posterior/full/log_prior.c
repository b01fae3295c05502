/* The log prior and its derivatives. With c_j the gradient of the argument of prior j,
 * s_j(w) = c_j.w,
 *
 *   log p(w) = sum_j f_j(s_j),   gradient sum_j f_j' c_j,   Hessian sum_j f_j'' c_j c_j'    (1)
 *
 * c_j is the j-th unit vector. For a centred intercept it is (1, m), with m the column
 * means, in the coordinates of that intercept and of the weights after it: s_j is the
 * predictor at x = m, in the middle of the data. So the slope of a column such as a year,
 * far from 0, does not push the intercept out of the range of its prior. */
#include "posterior/full/log_prior.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "model/prior/prior.h"
#include "posterior/full/posterior.h"
#include "table/rows.h"

#include <string.h>

double log_prior_argument(const posterior *u, const double *w, size_t j)
{
    const rows *data = u->data;
    if (!log_prior_centred(u, j)) return w[j];
    return w[j] + u->k->dot(data->d - 1, data->table.mean + 1, w + j + 1);
}

void log_prior_spread(const posterior *u, size_t j, double slope, double *out)
{
    const rows *data = u->data;
    out[j] += slope;
    u->k->axpy(data->d - 1, slope, data->table.mean + 1, out + j + 1);
}

double log_prior_value(const posterior *u, const double *w)
{
    double total =
        u->model->parameters.joint_prior ? u->model->parameters.joint_prior(u->self, w) : 0.0;
    for (size_t j = 0; j < u->dim; j++)
        total += prior_logpdf(&u->priors[j], u->scale[j], log_prior_argument(u, w, j));
    return total;
}

void log_prior_gradient(const posterior *u, const double *w, double factor, double *out)
{
    if (u->model->parameters.joint_prior_gradient)
        u->model->parameters.joint_prior_gradient(u->self, w, factor, out);
    for (size_t j = 0; j < u->dim; j++) {
        double argument = log_prior_argument(u, w, j);
        double slope = factor * prior_slope(&u->priors[j], u->scale[j], argument);
        if (log_prior_centred(u, j))
            log_prior_spread(u, j, slope, out);
        else
            out[j] += slope;
    }
}

/* out += curvature * c_j c_j' of a centred intercept. */
static void add_intercept_block(const posterior *u, size_t j, double curvature, double *out)
{
    size_t d = u->data->d, dim = u->dim;
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < d; b++) {
            double along =
                (a ? u->data->table.mean[a] : 1.0) * (b ? u->data->table.mean[b] : 1.0);
            out[(j + a) * dim + j + b] += curvature * along;
        }
}

void log_prior_hessian(const posterior *u, const double *w, double factor, double *out)
{
    for (size_t j = 0; j < u->dim; j++) {
        double argument = log_prior_argument(u, w, j);
        double curvature = factor * prior_curvature(&u->priors[j], u->scale[j], argument);
        if (log_prior_centred(u, j))
            add_intercept_block(u, j, curvature, out);
        else
            out[j * u->dim + j] += curvature;
    }
}

void log_prior_diagonal(const posterior *u, const double *w, double factor, double *out)
{
    const double *mean = u->data->table.mean;
    for (size_t j = 0; j < u->dim; j++) {
        double argument = log_prior_argument(u, w, j);
        double curvature = factor * prior_curvature(&u->priors[j], u->scale[j], argument);
        out[j] += curvature;
        for (size_t a = 1; log_prior_centred(u, j) && a < u->data->d; a++)
            out[j + a] += curvature * mean[a] * mean[a];
    }
}

void log_prior_product(const posterior *u, const double *w, const double *v, double factor,
                       double *out)
{
    for (size_t j = 0; j < u->dim; j++) {
        double curvature =
            factor * prior_curvature(&u->priors[j], u->scale[j], log_prior_argument(u, w, j));
        if (log_prior_centred(u, j))
            log_prior_spread(u, j, curvature * log_prior_argument(u, v, j), out);
        else
            out[j] += curvature * v[j];
    }
}

double log_prior_fraction(const posterior *u, const double *w, const double *factor, size_t j,
                          double *x, double *y)
{
    memset(x, 0, u->dim * sizeof *x);
    memset(y, 0, u->dim * sizeof *y);
    x[j] = 1.0;
    cholesky_solve(u->dim, factor, x);
    log_prior_product(u, w, x, -1.0, y);
    return dot(u->dim, x, y) / x[j];
}

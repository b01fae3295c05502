/* Activations and heads. With z the units of the last layer, z' their rates along a flight:
 *
 *   softmax    p_k = e^z_k / sum_l e^z_l,       log p(y) = z_y - log sum_l e^z_l             (1)
 *              d/dz_k = [y = k] - p_k,          (d/dz_k)' = -p_k (z_k' - sum_l p_l z_l')     (2)
 *   gaussian   log p(y) = -log(2 pi)/2 - (y - z)^2/2
 *              d/dz = y - z,                    (d/dz)' = -z'                                (3)
 *   tanh       f' = 1 - a^2,                    f'' z' = -2 a a'                             (4)
 *   relu       f' = [a > 0],                    f'' = 0                                      (5)
 *
 * Exponentials are taken of z less the largest, so that none overflows. */
#include "model/likelihood/layers.h"

#include <math.h>
#include <string.h>

/* ---- activations ---- */

/* tanh z = 2 / (1 + e^-2z) - 1, by the vector kernel: the error is absolute, as the sums' is. */
static void tanh_apply(const kernels *k, size_t n, double *z)
{
    for (size_t i = 0; i < n; i++) z[i] *= 2.0;
    k->sigmoid(n, z, z);
    for (size_t i = 0; i < n; i++) z[i] = 2.0 * z[i] - 1.0;
}

static void tanh_times_slope(size_t n, const double *a, double *e)
{
    for (size_t i = 0; i < n; i++) e[i] *= 1.0 - a[i] * a[i];
}

static void tanh_add_curvature(size_t n, const double *a, const double *da, const double *e,
                               double *de)
{
    for (size_t i = 0; i < n; i++) de[i] -= 2.0 * a[i] * da[i] * e[i];
}

static void relu_apply(const kernels *k, size_t n, double *z)
{
    (void)k;
    for (size_t i = 0; i < n; i++) z[i] = z[i] > 0.0 ? z[i] : 0.0;
}

static void relu_times_slope(size_t n, const double *a, double *e)
{
    for (size_t i = 0; i < n; i++) e[i] = a[i] > 0.0 ? e[i] : 0.0;
}

static const activation activation_tanh = {
    .name = "tanh",
    .apply = tanh_apply,
    .times_slope = tanh_times_slope,
    .add_curvature = tanh_add_curvature,
};

static const activation activation_relu = {
    .name = "relu",
    .apply = relu_apply,
    .times_slope = relu_times_slope,
};

const activation *const activations[] = {&activation_tanh, &activation_relu, NULL};

/* ---- softmax ---- */

/* z_k becomes e^(z_k - top), room[0] their sum; room[1] z_y - top, where it is asked for. */
static void exponentiate(const outputs *o, bool with_own)
{
    double *sum = o->buffer, *own = o->buffer + o->pitch, *top = sum;
    memcpy(top, o->z, o->n * sizeof *top);
    for (size_t u = 1; u < o->units; u++) {
        const double *z = o->z + u * o->pitch;
        for (size_t i = 0; i < o->n; i++) top[i] = z[i] > top[i] ? z[i] : top[i];
    }
    for (size_t i = 0; with_own && i < o->n; i++)
        own[i] = o->z[(size_t)o->y[i] * o->pitch + i] - top[i];
    for (size_t u = 0; u < o->units; u++) {
        double *z = o->z + u * o->pitch;
        for (size_t i = 0; i < o->n; i++) z[i] -= top[i];
        o->k->exp(o->n, z, z);
    }
    memcpy(sum, o->z, o->n * sizeof *sum);
    for (size_t u = 1; u < o->units; u++)
        for (size_t i = 0; i < o->n; i++) sum[i] += o->z[u * o->pitch + i];
}

static void softmax_loglik(const outputs *o, double *out)
{
    exponentiate(o, true);
    for (size_t i = 0; i < o->n; i++) out[i] = o->buffer[o->pitch + i] - log(o->buffer[i]);
}

/* sum_l e^z_l z_l' into room[1] */
static double *weighted_rates(const outputs *o)
{
    double *mean = o->buffer + o->pitch;
    memset(mean, 0, o->n * sizeof *mean);
    for (size_t u = 0; u < o->units; u++) {
        const double *z = o->z + u * o->pitch, *dz = o->dz + u * o->pitch;
        for (size_t i = 0; i < o->n; i++) mean[i] += z[i] * dz[i];
    }
    return mean;
}

static void softmax_slope(const outputs *o, double *out)
{
    exponentiate(o, false);
    const double *mean = weighted_rates(o), *sum = o->buffer;
    for (size_t i = 0; i < o->n; i++)
        out[i] = o->dz[(size_t)o->y[i] * o->pitch + i] - mean[i] / sum[i];
}

/* (2) */
static void softmax_pull(const outputs *o, const double *factor, double *e, double *de)
{
    exponentiate(o, false);
    double *sum = o->buffer, *mean = de ? weighted_rates(o) : NULL;
    for (size_t i = 0; i < o->n; i++) sum[i] = 1.0 / sum[i];
    for (size_t i = 0; de && i < o->n; i++) mean[i] *= sum[i];
    for (size_t u = 0; u < o->units; u++) {
        const double *z = o->z + u * o->pitch, *dz = de ? o->dz + u * o->pitch : NULL;
        double *pull = e + u * o->pitch, *rate = de ? de + u * o->pitch : NULL;
        for (size_t i = 0; i < o->n; i++)
            pull[i] = factor[i] * ((o->y[i] == (double)u ? 1.0 : 0.0) - z[i] * sum[i]);
        for (size_t i = 0; de && i < o->n; i++)
            rate[i] = -factor[i] * z[i] * sum[i] * (dz[i] - mean[i]);
    }
}

const head head_softmax = {
    .name = "softmax",
    .classes = true,
    .loglik = softmax_loglik,
    .slope = softmax_slope,
    .pull = softmax_pull,
};

/* ---- gaussian ---- */

static void gaussian_loglik(const outputs *o, double *out)
{
    for (size_t i = 0; i < o->n; i++) {
        double r = o->y[i] - o->z[i];
        out[i] = -0.5 * log(2.0 * M_PI) - 0.5 * r * r;
    }
}

static void gaussian_slope(const outputs *o, double *out)
{
    for (size_t i = 0; i < o->n; i++) out[i] = (o->y[i] - o->z[i]) * o->dz[i];
}

static void gaussian_pull(const outputs *o, const double *factor, double *e, double *de)
{
    for (size_t i = 0; i < o->n; i++) e[i] = factor[i] * (o->y[i] - o->z[i]);
    for (size_t i = 0; de && i < o->n; i++) de[i] = -factor[i] * o->dz[i];
}

static const head head_gaussian = {
    .name = "gaussian",
    .loglik = gaussian_loglik,
    .slope = gaussian_slope,
    .pull = gaussian_pull,
};

const head *const heads[] = {&head_softmax, &head_gaussian, NULL};

/* A model with two auxiliaries, for tests of what holds for any number of them: y is eta + sigma t, t of
 * Student's law with nu degrees of freedom. With a = log sigma, b = log nu, z = (y - eta)/sigma, q = nu + z^2
 * and psi the digamma function:
 *
 *   log p    = log Gamma((nu+1)/2) - log Gamma(nu/2) - log(nu pi)/2 - a - (nu+1)/2 log(1 + z^2/nu)      (1)
 *   d/d eta  = (nu+1) z / (q sigma)        d/da = (nu+1) z^2/q - 1                                      (2)
 *   d/db     = nu/2 (psi((nu+1)/2) - psi(nu/2) - log(1 + z^2/nu)) - 1/2 + (nu+1) z^2/2q                 (3)
 *
 * Not log-concave. Include once. */
#ifndef TESTS_MODEL_STUDENT_H
#define TESTS_MODEL_STUDENT_H

#include "base/real.h"
#include "model/model.h"

#include <math.h>

#define STUDENT_TAIL 10.0 /* where the asymptotic series have 1e-10 */

/* Derivatives of log Gamma: Abramowitz, Stegun (1964), 6.3.18 and 6.4.12 after 6.3.5 and 6.4.6. */
static inline double digamma(double x)
{
    double sum = 0.0;
    for (; x < STUDENT_TAIL; x += 1.0) sum -= 1.0 / x;
    double s = 1.0 / (x * x);
    return sum + log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s / 252));
}

static inline double trigamma(double x)
{
    double sum = 0.0;
    for (; x < STUDENT_TAIL; x += 1.0) sum += 1.0 / (x * x);
    double s = 1.0 / (x * x);
    return sum + 1.0 / x + 0.5 * s + s / x * (1.0 / 6 - s * (1.0 / 30 - s / 42));
}

static inline sbps_status student_check(const rows *r, sbps_error *err)
{
    (void)r;
    (void)err;
    return SBPS_OK;
}

static inline void student_loglik(const batch *b, double *out)
{
    double sigma = exp(b->aux[0]), nu = exp(b->aux[1]);
    double constant =
        log_gamma(0.5 * (nu + 1.0)) - log_gamma(0.5 * nu) - 0.5 * log(nu * M_PI) - b->aux[0];
    for (size_t i = 0; i < b->n; i++) {
        double z = (b->y[i] - b->eta[i]) / sigma;
        out[i] = constant - 0.5 * (nu + 1.0) * log1p(z * z / nu);
    }
}

/* What a call needs of the auxiliaries, once for all rows. */
typedef struct {
    double sigma, nu, psi;
} student_shape;

static inline student_shape student_shape_at(const batch *b)
{
    double nu = exp(b->aux[1]);
    return (student_shape){exp(b->aux[0]), nu, digamma(0.5 * (nu + 1.0)) - digamma(0.5 * nu)};
}

/* (2) and (3) of row i. */
static inline void student_row(const batch *b, const student_shape *s, size_t i, double out[3])
{
    double z = (b->y[i] - b->eta[i]) / s->sigma, w = (s->nu + 1.0) / (s->nu + z * z);
    out[0] = w * z / s->sigma;
    out[1] = w * z * z - 1.0;
    out[2] = 0.5 * (s->nu * (s->psi - log1p(z * z / s->nu)) - 1.0 + w * z * z);
}

static inline void student_gradient(const batch *b, double *d_eta, double *d_aux)
{
    student_shape s = student_shape_at(b);
    for (size_t i = 0; i < b->n; i++) {
        double each[3];
        student_row(b, &s, i, each);
        d_eta[i] = each[0];
        if (d_aux) d_aux[i] = each[1];
        if (d_aux) d_aux[b->pitch + i] = each[2];
    }
}

static inline void student_slope(const batch *b, double *out)
{
    student_shape s = student_shape_at(b);
    for (size_t i = 0; i < b->n; i++) {
        double each[3];
        student_row(b, &s, i, each);
        out[i] = each[0] * b->deta[i] + each[1] * b->daux[0] + each[2] * b->daux[1];
    }
}

static inline void student_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    student_shape s = student_shape_at(b);
    double sigma = s.sigma, nu = s.nu, psi = s.psi;
    double psi1 = 0.5 * (trigamma(0.5 * (nu + 1.0)) - trigamma(0.5 * nu));
    for (size_t i = 0; i < b->n; i++) {
        double z = (b->y[i] - b->eta[i]) / sigma, z2 = z * z, q = nu + z2, q2 = q * q;
        ee[i] = -(nu + 1.0) * (nu - z2) / (q2 * sigma * sigma);
        if (ea) ea[i] = -2.0 * nu * (nu + 1.0) * z / (q2 * sigma);
        if (ea) ea[b->pitch + i] = nu * z * (z2 - 1.0) / (q2 * sigma);
        if (!aa) continue;
        aa[i] = -2.0 * nu * (nu + 1.0) * z2 / q2;
        aa[b->pitch + i] = nu * z2 * (z2 - 1.0) / q2;
        aa[2 * b->pitch + i] =
            0.5 * nu *
            (psi - log1p(z2 / nu) + nu * (psi1 + z2 / (nu * q)) + z2 * (z2 - 1.0) / q2);
    }
}

/* Marsaglia, Tsang (2000), ACM Trans. Math. Software 26, 363-372; a shape below 1 by a power of a uniform. */
static inline double draw_gamma(rng *r, double shape)
{
    double boost = shape < 1.0 ? pow(rng_uniform(r), 1.0 / shape) : 1.0;
    double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        double x = rng_normal(r), v = pow(1.0 + c * x, 3.0);
        if (v > 0.0 && log(rng_uniform(r)) < 0.5 * x * x + d * (1.0 - v + log(v)))
            return boost * d * v;
    }
}

static inline double student_simulate(rng *r, double eta, const double *aux)
{
    double half = 0.5 * exp(aux[1]), normal = rng_normal(r);
    return eta + exp(aux[0]) * normal / sqrt(draw_gamma(r, half) / half);
}

static const model_auxiliary student_auxiliaries[] = {
    {AUXILIARY("sigma"), .scale = SCALE_LOG, .of_target = true, .start = 0.5,
     .prior = "exponential(1)", .perfect_fit = 1.0, .help = "Prior of the scale."},
    {AUXILIARY("nu"), .scale = SCALE_LOG, .start = 4.0, .prior = "exponential(0.1)",
     .help = "Prior of the degrees of freedom."},
};

static const predictor student_rows = {.check = student_check,
                                       .loglik = student_loglik,
                                       .slope = student_slope,
                                       .gradient = student_gradient,
                                       .curvature = student_curvature,
                                       .simulate = student_simulate};

static const model_kind model_student = {.name = "student",
                                         .summary = "Two auxiliaries.",
                                         .support = SUPPORT_REAL,
                                         .scales_with_target = true,
                                         AUXILIARIES(student_auxiliaries),
                                         PREDICTOR_MODEL(student_rows)};

/* Models that see the linear predictor, those listed and this one; general ones need tables of their own. */
static inline const model_kind *regression_model(size_t k)
{
    for (size_t i = 0; model_kinds[i]; i++)
        if (model_kinds[i]->predictor && k-- == 0) return model_kinds[i];
    return k == 0 ? &model_student : NULL;
}

#endif

/* Laplace's approximation: w ~ N(w_hat, H^-1) with H the Hessian of U at the mode w_hat.
 * Then U(w) - U(w_hat) is half a chi^2 of d degrees of freedom, and where the prior is weak
 * relative to the data so is the loss of log-likelihood:
 *
 *   -(1/N) sum_i log p_i(w)  ~  NLL(w_hat)/N + chi^2(d)/2N                                  (1)
 *
 * The paper compares its samplers with this distribution (section 7.1). chi^2(d)/2 is gamma
 * distributed with shape a = d/2; its distribution function is the regularised incomplete
 * gamma function
 *
 *   P(a,x) = e^-x x^a sum_k x^k / Gamma(a+k+1)                                              (2)
 *          = 1 - e^-x x^a / Gamma(a) * 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...)))       (3)
 *
 * Bickel, Doksum (2015), Mathematical Statistics; Abramowitz, Stegun (1964), 6.5.29 and
 * 6.5.31. */
#include "posterior/mode/laplace.h"
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "posterior/full/log_prior.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

sbps_status laplace_spread(size_t d, const mode *m, double *covariance, double *sd,
                           sbps_error *err)
{
    double *factor = new_doubles(d * d);
    if (!factor) return fail_memory(err);
    memcpy(factor, m->hessian, d * d * sizeof *factor);
    bool definite = cholesky(d, factor);
    if (definite) cholesky_inverse(d, factor, covariance);
    for (size_t j = 0; j < d && definite; j++) sd[j] = sqrt(covariance[j * d + j]);
    free(factor);
    if (definite) return SBPS_OK;
    return fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
}

sbps_status laplace_nll(const posterior *u, const mode *m, nll_distribution *out,
                        sbps_error *err)
{
    double value;
    sbps_status status = posterior_value(u, m->w, &value, err);
    *out = (nll_distribution){.nll = value + log_prior_value(u, m->w),
                              .rows = (double)total_rows(u->data),
                              .dim = (double)u->dim};
    return status;
}

double nll_mean(const nll_distribution *dist)
{
    return (dist->nll + 0.5 * dist->dim) / dist->rows;
}

double nll_sd(const nll_distribution *dist)
{
    return sqrt(0.5 * dist->dim) / dist->rows;
}

/* P(a,x) by the series (2), whose terms have the ratio x/(a+k). */
static double gamma_series(double a, double x)
{
    double term = 1.0 / a, sum = term;
    for (double k = 1.0; term > DBL_EPSILON * sum; k += 1.0) sum += term *= x / (a + k);
    return sum * exp(a * log(x) - x - log_gamma(a));
}

/* 1 - P(a,x) by the continued fraction (3), with Lentz's recursion. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1.0 - a, c = 1.0 / DBL_MIN, d = 1.0 / b, h = d, change = 0.0;
    for (double k = 1.0; fabs(change - 1.0) > DBL_EPSILON && k < 1e6; k += 1.0) {
        double top = -k * (k - a);
        b += 2.0;
        d = 1.0 / (top * d + b);
        c = b + top / c;
        h *= change = c * d;
    }
    return h * exp(a * log(x) - x - log_gamma(a));
}

/* P(a,x), by whichever of (2) and (3) converges faster. */
static double gamma_below(double a, double x)
{
    if (!(x > 0.0)) return 0.0;
    return x < a + 1.0 ? gamma_series(a, x) : 1.0 - gamma_fraction(a, x);
}

/* The x with P(a,x) = probability, by bisection until the ends of the interval are adjacent
 * doubles. */
static double gamma_quantile(double a, double probability)
{
    double low = 0.0, high = a + 1.0;
    while (gamma_below(a, high) < probability) high *= 2.0;
    for (;;) {
        double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high)) return middle;
        *(gamma_below(a, middle) < probability ? &low : &high) = middle;
    }
}

double nll_quantile(const nll_distribution *dist, double probability)
{
    return (dist->nll + gamma_quantile(0.5 * dist->dim, probability)) / dist->rows;
}

void laplace_draw(size_t dim, const double *centre, const double *factor, rng *random,
                  double *w)
{
    for (size_t j = 0; j < dim; j++) w[j] = rng_normal(random);
    cholesky_back(dim, factor, w);
    for (size_t j = 0; j < dim; j++) w[j] += centre[j];
}

double laplace_distance(size_t dim, const double *hessian, const double *x, double ess)
{
    double square = quadratic_terms(dim, hessian, x);
    return sqrt(fmax(square / (double)dim - 1.0 / fmax(ess, 1.0), 0.0));
}

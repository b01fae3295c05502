/* The model of the regression, with equation numbers of the paper:
 *
 *   G_i = b0 + b1 t_i + e_i,  e_i ~ N(0, unit/w_i),  b1 ~ N(mu, s2), b0 flat   (9), (11), (12)
 *
 * With the sums W = sum w, T = sum w t, ... the posterior precision of (b0, b1) is
 *
 *     [ W/unit          T/unit        ]
 *     [ T/unit   TT/unit + 1/s2       ].
 *
 * Integrating b0 out leaves the weighted least squares slope b = S_tg / S_tt as sufficient
 * statistic,
 *
 *     b ~ N(mu, V),   V = s2 + unit / S_tt,
 *
 * so that log p = -1/2 log V - (b - mu)^2 / (2 V) + const,
 *
 *     d/dmu = (b - mu)/V,     d/ds2 = ((b - mu)^2/V - 1) / (2 V). */
#include "sampler/band/regression.h"

#include "linalg/real.h"

#include <math.h>
#include <string.h>

void regression_clear(regression *r)
{
    *r = (regression){0};
}

void regression_scale(regression *r, double factor)
{
    r->w *= factor;
    r->t *= factor;
    r->tt *= factor;
    r->g *= factor;
    r->tg *= factor;
    r->gg *= factor;
}

void regression_shift(regression *r, double jump)
{
    r->gg += jump * (2.0 * r->g + jump * r->w);
    r->g += jump * r->w;
    r->tg += jump * r->t;
}

/* E[b0 | b1] = b0 + (v01 / v11) (b1 - E b1); the variances stay, which is conservative. */
void fit_repair_slope(regression_fit *fit)
{
    if (fit->b1 >= 0.0) return;
    fit->b0 -= fit->v01 / fit->v11 * fit->b1;
    fit->b1 = 0.0;
}

/* Least squares slope b and S_tt / unit, its precision; false without two distinct times. */
static bool slope_statistic(const regression *r, double unit, double *b, double *precision)
{
    if (r->count < 2) return false;
    double s_tt = r->tt - r->t * r->t / r->w, s_tg = r->tg - r->t * r->g / r->w;
    if (!(s_tt > 1e-12 * r->tt)) return false;
    *b = s_tg / s_tt;
    *precision = s_tt / unit;
    return true;
}

double slope_evidence(const regression *r, slope_prior prior, double unit)
{
    double b, precision;
    if (!slope_statistic(r, unit, &b, &precision)) return 0.0;
    double v = prior.variance + 1.0 / precision, z = b - prior.mean;
    return -0.5 * log(v) - 0.5 * z * z / v;
}

void slope_evidence_gradient(const regression *r, slope_prior prior, double unit,
                             double *d_mean, double *d_variance)
{
    double b, precision;
    *d_mean = *d_variance = 0.0;
    if (!slope_statistic(r, unit, &b, &precision)) return;
    double v = prior.variance + 1.0 / precision, z = b - prior.mean;
    *d_mean = z / v;
    *d_variance = 0.5 * (z * z / v - 1.0) / v;
}

void slope_prior_learn(slope_prior *prior, const regression *r, double unit, double rate)
{
    double d_mean, d_variance, s2 = prior->variance;
    slope_evidence_gradient(r, *prior, unit, &d_mean, &d_variance);
    /* d/d log s2 is bounded below by -1/2 but not above: limits the effect of one unusual
     * segment */
    double step = smaller(s2 * d_variance, 4.0);
    prior->mean += rate * larger(-4.0 * sqrt(s2), smaller(4.0 * sqrt(s2), s2 * d_mean));
    prior->variance = s2 * exp(rate * step);
}

/* ---- Gaussian process ----
 *
 * Equation numbers are of this section.
 *
 * Gaussian-process regression of G. The model is
 *
 *   G(t) = b0 + b1 t + f(t) + e,  b0 flat,  b1 ~ N(mu, s2),  e ~ N(0, c^2),
 *
 * f a Gaussian process with Matern kernel of order 3/2,
 *
 *     k(h) = s_f^2 (1 + a) exp(-a),   a = sqrt(3) |h| / length.                            (1)
 *
 * With K_ij = s2 t_i t_j + k(t_i - t_j) + c^2 [i = j] and k_i = s2 t t_i + k(t - t_i),
 *
 *     b0   = 1'K^-1 (g - mu t_i) / 1'K^-1 1                                                (2)
 *     mean = b0 + mu t + k' K^-1 (g - mu t_i - b0)                                         (3)
 *     var  = s2 t^2 + k(0) + c^2 - k'K^-1 k + (1 - 1'K^-1 k)^2 / 1'K^-1 1,                 (4)
 *
 * the last term being the contribution of the unknown level. Far ahead f is independent of
 * the data and k_i = s2 t t_i: of (3) and (4) the terms in t and t^2 remain. Rasmussen,
 * Williams (2006), section 2.7. */

#define JITTER 1e-10 /* least pivot, relative to K's diagonal, after rounding */

void process_clear(process *p)
{
    p->count = 0;
}

void process_add(process *p, double t, double g)
{
    if (p->count == PROCESS_MAX) {
        memmove(p->t, p->t + 1, (PROCESS_MAX - 1) * sizeof *p->t);
        memmove(p->g, p->g + 1, (PROCESS_MAX - 1) * sizeof *p->g);
        p->count--;
    }
    p->t[p->count] = t;
    p->g[p->count++] = g;
}

void process_shift(process *p, double jump)
{
    for (size_t i = 0; i < p->count; i++) p->g[i] += jump;
}

/* Prior covariance of b1 t + f(t) at times t and s. */
static double covariance(const process *p, double t, double s)
{
    double a = sqrt(3.0) * fabs(t - s) / p->scale.length;
    return p->prior.variance * t * s + p->scale.variance * (1.0 + a) * exp(-a);
}

/* p->factor = Cholesky factor of K. */
static void factorise(process *p)
{
    for (size_t i = 0; i < p->count; i++) {
        double *row = p->factor + i * PROCESS_MAX, own = covariance(p, p->t[i], p->t[i]);
        for (size_t j = 0; j <= i; j++) {
            const double *other = p->factor + j * PROCESS_MAX;
            double sum = j < i ? covariance(p, p->t[i], p->t[j]) : own + p->noise;
            for (size_t k = 0; k < j; k++) sum -= row[k] * other[k];
            row[j] = j < i ? sum / other[j] : sqrt(larger(sum, JITTER * (own + p->noise)));
        }
    }
}

/* x <- L^-1 x */
static void solve_lower(const process *p, double *x)
{
    for (size_t i = 0; i < p->count; i++) {
        const double *row = p->factor + i * PROCESS_MAX;
        for (size_t k = 0; k < i; k++) x[i] -= row[k] * x[k];
        x[i] /= row[i];
    }
}

/* x <- K^-1 x */
static void solve(const process *p, double *x)
{
    solve_lower(p, x);
    for (size_t i = p->count; i-- > 0;) {
        for (size_t k = i + 1; k < p->count; k++) x[i] -= p->factor[k * PROCESS_MAX + i] * x[k];
        x[i] /= p->factor[i * PROCESS_MAX + i];
    }
}

void process_fit(process *p, slope_prior prior, process_scale scale, double noise)
{
    double sum = 0.0;
    p->prior = prior;
    p->scale = scale;
    p->noise = noise;
    p->level = p->level_precision = 0.0;
    factorise(p);
    for (size_t i = 0; i < p->count; i++) p->ones[i] = 1.0;
    solve(p, p->ones);
    for (size_t i = 0; i < p->count; i++) {
        sum += p->ones[i] * (p->g[i] - prior.mean * p->t[i]);
        p->level_precision += p->ones[i];
    }
    p->level = sum / p->level_precision; /* (2) */
    for (size_t i = 0; i < p->count; i++)
        p->weight[i] = p->g[i] - prior.mean * p->t[i] - p->level;
    solve(p, p->weight);
}

void process_predict(const process *p, double t, double *mean, double *variance)
{
    double k[PROCESS_MAX], unknown = 1.0, known = 0.0;
    *mean = p->level + p->prior.mean * t;
    for (size_t i = 0; i < p->count; i++) {
        k[i] = covariance(p, t, p->t[i]);
        *mean += k[i] * p->weight[i]; /* (3) */
        unknown -= k[i] * p->ones[i];
    }
    solve_lower(p, k);
    for (size_t i = 0; i < p->count; i++) known += k[i] * k[i];
    double own = larger(covariance(p, t, t) - known, 0.0);
    *variance = own + p->noise + unknown * unknown / p->level_precision; /* (4) */
}

void process_slope(const process *p, double *mean, double *variance)
{
    double k[PROCESS_MAX], s2 = p->prior.variance, unknown = 0.0, known = 0.0;
    *mean = p->prior.mean;
    for (size_t i = 0; i < p->count; i++) {
        k[i] = s2 * p->t[i];
        *mean += k[i] * p->weight[i];
        unknown += k[i] * p->ones[i];
    }
    solve_lower(p, k);
    for (size_t i = 0; i < p->count; i++) known += k[i] * k[i];
    *variance = larger(s2 - known, 0.0) + unknown * unknown / p->level_precision;
}

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

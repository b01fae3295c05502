/* Logistic regression in two dimensions by quadrature, with the program's default priors:
 * intercept at mean(x) ~ normal(0, 10), slope ~ normal(0, 2.5 / sd(x)).
 *
 *   log p(a, b | y) = -(a + b mean(x))^2/200 - b^2 sd(x)^2/12.5
 *                     + sum_i [y_i eta_i - log(1 + e^eta_i)] + const,   eta = a + b x.
 *
 * The trapezium rule on a grid of +-8 sd about the mode, 4 steps per sd, has a negligible error
 * for so smooth a density. */
#ifndef TESTS_STAT_QUADRATURE_H
#define TESTS_STAT_QUADRATURE_H

#include "stat/sample.h"

#include "core/rng.h"
#include "model/prior/prior.h"

#define GRID  65  /* points a side */
#define REACH 8.0 /* sds */

typedef struct {
    size_t n;
    double *x, *y, mean, scale; /* scale: of the slope's prior */
    const prior *other; /* of both coefficients, in place of the defaults; NULL: those */
} table;

static table simulate(size_t n, double intercept, double slope)
{
    table t = {.n = n, .x = calloc(n, sizeof(double)), .y = calloc(n, sizeof(double))};
    rng random = rng_stream(n, 0, RNG_TEST);
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) {
        t.x[i] = 1.0 + 2.0 * rng_normal(&random);
        t.y[i] = rng_uniform(&random) < 1.0 / (1.0 + exp(-intercept - slope * t.x[i]));
        sum += t.x[i];
    }
    t.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) square += pow(t.x[i] - t.mean, 2.0);
    t.scale = 2.5 / sqrt(square / (double)n);
    return t;
}

static void table_free(table *t)
{
    free(t->x);
    free(t->y);
}

static double log_density(const table *t, double a, double b)
{
    double middle = a + b * t->mean,
           sum = -middle * middle / 200.0 - 0.5 * b * b / (t->scale * t->scale);
    if (t->other)
        sum = prior_logpdf(t->other, SCALE_PLAIN, a) + prior_logpdf(t->other, SCALE_PLAIN, b);
    for (size_t i = 0; i < t->n; i++) {
        double eta = a + b * t->x[i];
        sum += t->y[i] * eta - (eta > 0.0 ? eta + log1p(exp(-eta)) : log1p(exp(eta)));
    }
    return sum;
}

/* Newton on the 2-D posterior: mode into w, inverse Hessian into s (aa, ab, bb). */
static void laplace(const table *t, double w[2], double s[3])
{
    w[0] = w[1] = 0.0;
    for (int step = 0; step < 50; step++) {
        double m = t->mean, pull = -0.01 * (w[0] + w[1] * m), own = pow(t->scale, -2.0);
        double g[2] = {pull, pull * m - w[1] * own};
        double h[3] = {0.01, 0.01 * m, 0.01 * m * m + own};
        for (int c = 0; c < 2 && t->other && t->other->kind->quadratic; c++) {
            g[c] = t->other->kind->slope(t->other->theta, w[c]);
            h[2 * c] = -t->other->kind->curvature(t->other->theta, w[c]);
            h[1] = 0.0;
        }
        for (size_t i = 0; i < t->n; i++) {
            double x = t->x[i], p = 1.0 / (1.0 + exp(-w[0] - w[1] * x)), v = p * (1.0 - p);
            g[0] += t->y[i] - p;
            g[1] += (t->y[i] - p) * x;
            h[0] += v;
            h[1] += v * x;
            h[2] += v * x * x;
        }
        double det = h[0] * h[2] - h[1] * h[1];
        s[0] = h[2] / det;
        s[1] = -h[1] / det;
        s[2] = h[0] / det;
        w[0] += s[0] * g[0] + s[1] * g[1];
        w[1] += s[1] * g[0] + s[2] * g[1];
    }
}

/* The grid is along the axes of the Cholesky factor of the inverse Hessian, for priors that
 * are not quadratic of that under the default ones. */
static void integrate(const table *t, known out[2])
{
    double w[2], s[3], sums[2][5] = {{0}};
    laplace(t, w, s);
    double l00 = sqrt(s[0]), l10 = s[1] / l00, l11 = sqrt(s[2] - l10 * l10);
    double top = log_density(t, w[0], w[1]);
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++) {
            double u = REACH * (2.0 * i / (GRID - 1) - 1.0),
                   v = REACH * (2.0 * j / (GRID - 1) - 1.0);
            if (u * u + v * v > REACH * REACH) continue;
            double d[2] = {l00 * u, l10 * u + l11 * v};
            double p = exp(log_density(t, w[0] + d[0], w[1] + d[1]) - top);
            for (int c = 0; c < 2; c++)
                for (int k = 0; k < 5; k++) sums[c][k] += p * pow(d[c], k);
        }
    for (int c = 0; c < 2; c++) {
        double m = sums[c][1] / sums[c][0], m2 = sums[c][2] / sums[c][0];
        double m3 = sums[c][3] / sums[c][0], m4 = sums[c][4] / sums[c][0];
        out[c] = (known){w[c] + m, sqrt(m2 - m * m),
                         m4 - 4.0 * m * m3 + 6.0 * m * m * m2 - 3.0 * m * m * m * m};
    }
}

#endif

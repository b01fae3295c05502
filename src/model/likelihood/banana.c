/* A 2-D density that is not normal (Figure 1 of the paper): a model without rows. With s = 1.5,
 * b = 1,
 *
 *   w1 ~ N(0, s^2),   w2 | w1 ~ N(b (w1^2 - s^2), 1),   e = w2 - b (w1^2 - s^2)           (1)
 *   log p   = -log(2 pi) - log s - w1^2/(2 s^2) - e^2/2                                   (2)
 *   d/dw1   = -w1/s^2 + 2 b w1 e              d/dw2    = -e                               (3)
 *   d2/dw1^2 = -1/s^2 + 2 b e - 4 b^2 w1^2    d2/dw1dw2 = 2 b w1    d2/dw2^2 = -1         (4)
 *
 * Mode (0, -b s^2); mean 0; variances s^2 and 1 + 2 b^2 s^4; no correlation. */
#include "model/likelihood/model_kinds.h"

#include <math.h>

#define WIDTH2    (1.5 * 1.5) /* s^2 */
#define CURVATURE 1.0         /* b */

/* The density has no state: self is NULL. */
static sbps_status banana_open(const model_kind *kind, const rows *data,
                               const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    (void)data;
    (void)shape;
    (void)err;
    *self = NULL;
    return SBPS_OK;
}

/* There is nothing to free. */
static void banana_close(void *self)
{
    (void)self;
}

static size_t banana_dim(const void *self)
{
    (void)self;
    return 2;
}

static size_t banana_scratch(const void *self, size_t n)
{
    (void)self;
    (void)n;
    return 0;
}

/* e of (1). */
static double residual(const double *w)
{
    return w[1] - CURVATURE * (w[0] * w[0] - WIDTH2);
}

/* (2), the same for every pseudo-row of the range. */
static void banana_loglik(const void *self, row_range r, const double *w, double *scratch,
                          double *out)
{
    (void)self;
    (void)scratch;
    double e = residual(w), constant = -log(2.0 * M_PI) - 0.5 * log(WIDTH2);
    double value = constant - 0.5 * w[0] * w[0] / WIDTH2 - 0.5 * e * e;
    for (size_t i = 0; i < r.n; i++) out[i] = value;
}

/* The gradient (3), two numbers. */
static void score(const double *w, double *g)
{
    double e = residual(w);
    g[0] = w[0] * (2.0 * CURVATURE * e - 1.0 / WIDTH2);
    g[1] = -e;
}

/* (3) times u. */
static void banana_slope(const void *self, row_range r, const double *w, const double *u,
                         double *scratch, double *out)
{
    (void)self;
    (void)scratch;
    double g[2];
    score(w, g);
    for (size_t i = 0; i < r.n; i++) out[i] = g[0] * u[0] + g[1] * u[1];
}

/* Every pseudo-row has the same gradient (3). */
static void banana_gradient(const void *self, row_range r, const double *w,
                            const double *factor, double *scratch, double *out)
{
    (void)self;
    (void)scratch;
    double g[2];
    score(w, g);
    for (size_t i = 0; i < r.n; i++) {
        out[0] += factor[i] * g[0];
        out[1] += factor[i] * g[1];
    }
}

/* (4) times v. */
static void banana_hessian_vector(const void *self, row_range r, const double *w,
                                  const double *v, const double *factor, double *scratch,
                                  double *out)
{
    (void)self;
    (void)scratch;
    double e = residual(w), cross = 2.0 * CURVATURE * w[0];
    double own = -1.0 / WIDTH2 + 2.0 * CURVATURE * e - cross * cross;
    for (size_t i = 0; i < r.n; i++) {
        out[0] += factor[i] * (own * v[0] + cross * v[1]);
        out[1] += factor[i] * (cross * v[0] - v[1]);
    }
}

/* The mode. */
static void banana_start(const void *self, double *w)
{
    (void)self;
    w[0] = 0.0;
    w[1] = -CURVATURE * WIDTH2;
}

const model_kind model_banana = {
    .name = "banana",
    .summary = "Banana-shaped 2-D density with known marginals; needs no table.",
    .support = SUPPORT_NONE,
    .facts.mode_optional = true,
    .facts.no_rows = true,
    .open = banana_open,
    .close = banana_close,
    .parameters.dim = banana_dim,
    .parameters.name = density_name,
    .parameters.prior_sd = density_flat,
    .rows.scratch = banana_scratch,
    .rows.loglik = banana_loglik,
    .rows.slope = banana_slope,
    .rows.gradient = banana_gradient,
    .rows.hessian_vector = banana_hessian_vector,
    .parameters.start = banana_start,
};

/* Whole runs of families with one column and default priors, against quadrature of densities
 * that are implemented here again, as in textbooks: intercept (or none), slope and
 * auxiliaries on a grid of LOW to HIGH sds about the mode along the axes of the curvature
 * there, three steps per sd, beyond which the mass is negligible. Limit: MAX_Z standard
 * errors and the stated bias. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"
#include "model/likelihood/model.h"

#define ROWS    ((size_t)150)
#define MAX_DIM 3 /* coordinates */
#define SIDE    41
#define LOW     -6.0
#define HIGH    9.0

typedef struct {
    double x[ROWS], y[ROWS];
} table;

/* A family: log density of y, and of the prior of coordinate 2 (and 3) with its Jacobian. */
typedef struct {
    const char *name;
    size_t dim;      /* coordinates, of which the first two are weights unless `slope_only` */
    bool slope_only; /* the first is the slope's, and there is no intercept */
    double aux[2];   /* coordinates that made the table */
    double (*draw)(rng *r, double eta, const double *aux); /* NULL: the model does it */
    const char *more;                                      /* options of the run; NULL: none */
    double (*loglik)(double y, double eta, const double *aux);
    double (*log_prior)(const double *aux); /* NULL: no auxiliary */
    double (*value)(double w);              /* of a coordinate of an auxiliary */
} family;

static double weights_of(const family *f)
{
    return f->slope_only ? 1.0 : 2.0;
}

static table simulate(const family *f)
{
    table t;
    rng r = rng_stream(77, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        t.x[i] = rng_normal(&r);
        double eta = (f->slope_only ? 0.0 : 0.4) + 0.6 * t.x[i];
        t.y[i] = f->draw ? f->draw(&r, eta, f->aux)
                         : model_find(f->name)->predictor->simulate(&r, eta, f->aux);
    }
    return t;
}

/* Weights are normal(0, 2) at x = 0. */
static double log_density(const family *f, const table *t, const double w[MAX_DIM])
{
    size_t weights = (size_t)weights_of(f);
    const double *aux = w + weights;
    double total = f->log_prior ? f->log_prior(aux) : 0.0;
    for (size_t j = 0; j < weights; j++) total -= w[j] * w[j] / 8.0;
    for (size_t i = 0; i < ROWS; i++) {
        double eta = f->slope_only ? w[0] * t->x[i] : w[0] + w[1] * t->x[i];
        total += f->loglik(t->y[i], eta, aux);
    }
    return total;
}

/* Minus the Hessian by differences, and its Cholesky factor's inverse transposed: L with L
 * L' the covariance. */
static void curvature(const family *f, const table *t, const double *w,
                      double h[MAX_DIM][MAX_DIM])
{
    const double step = 1e-3;
    for (size_t i = 0; i < f->dim; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < 4; k++) {
                double at[MAX_DIM], a = k & 1 ? step : -step, b = k & 2 ? step : -step;
                memcpy(at, w, sizeof at);
                at[i] += a;
                at[j] += b;
                sum += (a > 0.0) == (b > 0.0) ? log_density(f, t, at) : -log_density(f, t, at);
            }
            h[i][j] = h[j][i] = -sum / (4.0 * step * step);
        }
}

/* Lower triangular l with l l' = a. */
static void factor(size_t d, double a[MAX_DIM][MAX_DIM], double l[MAX_DIM][MAX_DIM])
{
    memset(l, 0, sizeof(double[MAX_DIM][MAX_DIM]));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (size_t k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
}

/* x with l' x = u. */
static void solve_transposed(size_t d, double l[MAX_DIM][MAX_DIM], const double *u, double *x)
{
    for (size_t i = d; i-- > 0;) {
        x[i] = u[i];
        for (size_t k = i + 1; k < d; k++) x[i] -= l[k][i] * x[k];
        x[i] /= l[i][i];
    }
}

/* Ascent by coordinates, whose steps halve when neither side is better. */
static void climb(const family *f, const table *t, double *w)
{
    double step[MAX_DIM] = {0.5, 0.5, 0.5}, best = log_density(f, t, w);
    for (size_t k = 0; k < 400; k++)
        for (size_t j = 0; j < f->dim; j++) {
            double from = w[j];
            for (int side = -1; side <= 1 && w[j] == from; side += 2) {
                w[j] = from + side * step[j];
                double value = log_density(f, t, w);
                if (value > best)
                    best = value;
                else
                    w[j] = from;
            }
            if (w[j] == from && step[j] > 1e-4) step[j] *= 0.5;
        }
}

static double reported(const family *f, size_t j, double w)
{
    return j < (size_t)weights_of(f) ? w : f->value(w);
}

typedef struct {
    double mass, power[MAX_DIM][4], about[MAX_DIM]; /* sums of powers of what is reported */
} sums;

static void add_point(const family *f, const double *w, double density, sums *s)
{
    s->mass += density;
    for (size_t j = 0; j < f->dim; j++) {
        double off = reported(f, j, w[j]) - s->about[j], term = density;
        for (int k = 0; k < 4; k++) s->power[j][k] += term *= off;
    }
}

static void integrate(const family *f, const table *t, known out[MAX_DIM])
{
    double w[MAX_DIM] = {0}, h[MAX_DIM][MAX_DIM], l[MAX_DIM][MAX_DIM];
    climb(f, t, w);
    curvature(f, t, w, h);
    factor(f->dim, h, l);
    double top = log_density(f, t, w);
    sums s = {0};
    for (size_t j = 0; j < f->dim; j++) s.about[j] = reported(f, j, w[j]);
    size_t points = SIDE * SIDE * (f->dim == MAX_DIM ? SIDE : 1);
    for (size_t cell = 0; cell < points; cell++) {
        const size_t at[MAX_DIM] = {cell % SIDE, cell / SIDE % SIDE, cell / SIDE / SIDE};
        double u[MAX_DIM], v[MAX_DIM];
        for (size_t j = 0; j < f->dim; j++)
            u[j] = LOW + (HIGH - LOW) * (double)at[j] / (SIDE - 1);
        solve_transposed(f->dim, l, u, v);
        for (size_t j = 0; j < f->dim; j++) v[j] += w[j];
        add_point(f, v, exp(log_density(f, t, v) - top), &s);
    }
    for (size_t j = 0; j < f->dim; j++) {
        double m[4];
        for (int k = 0; k < 4; k++) m[k] = s.power[j][k] / s.mass;
        out[j] = (known){s.about[j] + m[0], sqrt(m[1] - m[0] * m[0]),
                         m[3] - 4 * m[0] * m[2] + 6 * m[0] * m[0] * m[1] - 3 * pow(m[0], 4)};
    }
}

static void compare(const family *f)
{
    static const char *const samplers[] = {"sbps", "hmc"};
    table t = simulate(f);
    known truth[MAX_DIM];
    integrate(f, &t, truth);
    for (size_t k = 0; k < 2; k++) {
        char settings[512];
        snprintf(settings, sizeof settings,
                 "model=%s sampler=%s ess=1500 seed=5 prior=normal(0,2) %s %s", f->name,
                 samplers[k], f->slope_only ? "no-intercept" : "prior-intercept=normal(0,2)",
                 f->more ? f->more : "");
        sbps_result *r = sample_arrays(ROWS, 1, t.x, t.y, settings);
        CHECK(r->dim == f->dim);
        for (size_t j = 0; j < f->dim; j++)
            check_moments(f->name, r, j, truth[j], r->info.bias_budget);
        sbps_result_destroy(r);
    }
}

static double binomial_loglik(double y, double eta, const double *aux)
{
    (void)aux;
    return y * eta - log1p(exp(eta));
}

TEST(binomial_agrees_with_quadrature)
{
    compare(&(family){.name = "binomial", .dim = 2, .loglik = binomial_loglik});
}

/* Probit: of a normal error, by its textbook. */
static double probit_loglik(double y, double eta, const double *aux)
{
    (void)aux;
    return log(0.5 * erfc(-(2.0 * y - 1.0) * eta / sqrt(2.0)));
}

TEST(probit_agrees_with_quadrature)
{
    compare(&(family){.name = "probit", .dim = 2, .loglik = probit_loglik});
}

/* k log rate - log Gamma(k) + (k - 1) log x - rate x of x = e^w, and the Jacobian. */
static double log_gamma_prior(double w, double shape, double rate)
{
    return shape * w - rate * exp(w);
}

static double student_t_loglik(double y, double eta, const double *aux)
{
    double sigma = exp(aux[0]), nu = exp(aux[1]), z = (y - eta) / sigma;
    return lgamma(0.5 * (nu + 1.0)) - lgamma(0.5 * nu) - 0.5 * log(nu * M_PI) - aux[0] -
           0.5 * (nu + 1.0) * log(1.0 + z * z / nu);
}

/* sigma ~ exponential(1), given as an option, and the default of nu. */
static double student_t_prior(const double *aux)
{
    return aux[0] - exp(aux[0]) + log_gamma_prior(aux[1], 2.0, 0.1);
}

TEST(student_t_agrees_with_quadrature)
{
    compare(&(family){.name = "student_t",
                      .dim = 3,
                      .slope_only = true,
                      .aux = {-0.3, 1.1},
                      .loglik = student_t_loglik,
                      .log_prior = student_t_prior,
                      .more = "prior-sigma=exponential(1)",
                      .value = exp});
}

/* The default of phi and of shape. */
static double wide_prior(const double *aux)
{
    return log_gamma_prior(aux[0], 0.01, 0.01);
}

static double negative_binomial_loglik(double y, double eta, const double *aux)
{
    double phi = exp(aux[0]), mu = exp(eta);
    return lgamma(y + phi) - lgamma(phi) - lgamma(y + 1.0) + phi * log(phi / (phi + mu)) +
           y * log(mu / (phi + mu));
}

TEST(negative_binomial_agrees_with_quadrature)
{
    compare(&(family){.name = "negative_binomial",
                      .dim = 3,
                      .aux = {0.4},
                      .loglik = negative_binomial_loglik,
                      .log_prior = wide_prior,
                      .value = exp});
}

static double zero_inflated_loglik(double y, double eta, const double *aux)
{
    double zi = 1.0 / (1.0 + exp(-aux[0])), mu = exp(eta);
    double poisson = exp(y * eta - mu - lgamma(y + 1.0));
    return log((y == 0.0 ? zi : 0.0) + (1.0 - zi) * poisson);
}

/* zi is uniform by default; its coordinate has the Jacobian zi (1 - zi). */
static double uniform_prior(const double *aux)
{
    return -aux[0] - 2.0 * log(1.0 + exp(-aux[0]));
}

static double probability(double w)
{
    return 1.0 / (1.0 + exp(-w));
}

TEST(zero_inflated_poisson_agrees_with_quadrature)
{
    compare(&(family){.name = "zero_inflated_poisson",
                      .dim = 3,
                      .aux = {-0.8},
                      .loglik = zero_inflated_loglik,
                      .log_prior = uniform_prior,
                      .value = probability});
}

static double gamma_loglik(double y, double eta, const double *aux)
{
    double alpha = exp(aux[0]), rate = alpha / exp(eta);
    return alpha * log(rate) - lgamma(alpha) + (alpha - 1.0) * log(y) - rate * y;
}

TEST(gamma_agrees_with_quadrature)
{
    compare(&(family){.name = "gamma",
                      .dim = 3,
                      .aux = {0.7},
                      .loglik = gamma_loglik,
                      .log_prior = wide_prior,
                      .value = exp});
}

static double beta_loglik(double y, double eta, const double *aux)
{
    double phi = exp(aux[0]), p = phi / (1.0 + exp(-eta)), q = phi - p;
    return lgamma(phi) - lgamma(p) - lgamma(q) + (p - 1.0) * log(y) + (q - 1.0) * log(1.0 - y);
}

TEST(beta_agrees_with_quadrature)
{
    compare(&(family){.name = "beta",
                      .dim = 3,
                      .aux = {1.8},
                      .loglik = beta_loglik,
                      .log_prior = wide_prior,
                      .value = exp});
}

/* The first cutpoint and the second, as they are reported. */
static double ordinal_loglik(double y, double eta, const double *cuts)
{
    double below = y > 0.0 ? probability(cuts[(size_t)y - 1] - eta) : 0.0;
    double p = (y < 2.0 ? probability(cuts[(size_t)y] - eta) : 1.0) - below;
    return p > 0.0 ? log(p) : -INFINITY;
}

static double ordinal_draw(rng *r, double eta, const double *cuts)
{
    double u = rng_uniform(r), at = eta + log(u / (1.0 - u));
    return (at > cuts[0]) + (at > cuts[1]);
}

static double identity(double w)
{
    return w;
}

TEST(ordinal_agrees_with_quadrature)
{
    compare(&(family){.name = "ordinal",
                      .dim = 3,
                      .slope_only = true,
                      .aux = {-0.5, 0.1},
                      .draw = ordinal_draw,
                      .loglik = ordinal_loglik,
                      .value = identity});
}

CHECK_MAIN

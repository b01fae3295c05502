/* p(w) p(v) is invariant under the bounces of the library, by quadrature (Supplement A,
 * Theorem 1). The process moves along w + t A v and bounces off noisy gradients; n is the
 * noise, of mean 0 and independent at each time. Its generator is
 *
 *   L f(w, v) = A v . grad_w f + E_n [v . h]+ (f(w, v_r) - f(w, v)),                       (1)
 *   h = A'(grad U + n),   v_r = v - 2 (v . h / h . h) h,
 *
 * and p(w) p(v), v uniform on the circle, is invariant if for every f
 *
 *   int p(w) p(v) L f = 0.                                                                 (2)
 *
 * Test functions are products phi_i(w) psi_j(v). A target is a map of the standard normal
 * x to w. The integrand of (2) is smooth but where h = 0 and where v . h = 0. Therefore x has
 * polar coordinates about the zero of each noisy gradient, and v runs over half circles on
 * both sides of h, with Gauss-Legendre nodes. The error of quadrature is then about 3e-13. */
#include "core/rng.h"
#include "linalg/dense_matrix.h"
#include "minibatch/fixture.h"
#include "model/general.h"
#include "sampler/core/sampler.h"

#define RADII     64
#define ANGLES    96
#define HALF      16 /* velocities in a half circle */
#define PHIS      5
#define PSIS      5
#define NOISE_MAX 6

/* ---- nodes ---- */

typedef struct {
    double x[RADII], weight[RADII];
} nodes;

/* Gauss-Legendre nodes in (0, 1): Newton's method on the Legendre polynomial. */
static nodes legendre(size_t n)
{
    nodes out;
    for (size_t i = 0; i < n; i++) {
        double x = cos(M_PI * ((double)i + 0.75) / ((double)n + 0.5)), slope = 1.0;
        for (int step = 0; step < 20; step++) {
            double p = 1.0, before = 0.0;
            for (size_t j = 0; j < n; j++) {
                double next =
                    ((2.0 * (double)j + 1.0) * x * p - (double)j * before) / ((double)j + 1.0);
                before = p;
                p = next;
            }
            slope = (double)n * (x * p - before) / (x * x - 1.0);
            x -= p / slope;
        }
        out.x[i] = 0.5 * (1.0 + x);
        out.weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
    return out;
}

/* ---- targets ---- */

typedef struct target target;

struct target {
    const char *name;
    size_t count;              /* of noisy gradients, all equally likely */
    double zero[NOISE_MAX][2]; /* the x at which each is 0 */
    /* w(x), of density p where x is a standard normal */
    void (*place)(const target *t, const double *x, double *w);
    void (*gradient)(const target *t, size_t k, const double *w, double *g);
    double noise[NOISE_MAX][2]; /* banana: added to the gradient */
    posterior *u;
    rows *data;
};

/* The library's banana: w0 = 1.5 x0, w1 = w0^2 - 1.5^2 + x1. */
static void place_banana(const target *t, const double *x, double *w)
{
    (void)t;
    w[0] = 1.5 * x[0];
    w[1] = w[0] * w[0] - 2.25 + x[1];
}

static void gradient_banana(const target *t, size_t k, const double *w, double *g)
{
    posterior_gradient(t->u, w, NULL, g, NULL);
    for (size_t j = 0; j < 2; j++) g[j] += t->noise[k][j];
}

/* grad U = (w0 (1/2.25 - 2 x1), x1). */
static void set_noise(target *t, size_t count, const double noise[][2])
{
    t->count = count;
    for (size_t k = 0; k < count; k++) {
        memcpy(t->noise[k], noise[k], sizeof *noise);
        t->zero[k][1] = -noise[k][1];
        t->zero[k][0] = -noise[k][0] / (1.0 / 2.25 + 2.0 * noise[k][1]) / 1.5;
    }
}

static target banana(const char *name, size_t count, const double noise[][2])
{
    target t = {.name = name, .place = place_banana, .gradient = gradient_banana};
    sbps_error err = {0};
    rows_none(&t.data, NULL);
    CHECK(posterior_open(t.data, model_find("banana"), NULL, &t.u, &err) == SBPS_OK);
    set_noise(&t, count, noise);
    return t;
}

static void target_close(target *t)
{
    posterior_destroy(t->u);
    rows_destroy(t->data);
}

/* Linear regression of four rows, w ~ N(0, 3^2), sigma = 1, and the six mini-batches of two
 * rows: here the noise depends on w. U = w'Pw/2 - w'r + const, P = C C'. */
static const double row_x[4][2] = {{1.0, 0.2}, {-0.3, 1.1}, {0.8, -0.7}, {0.4, 0.9}};
static const double row_y[4] = {0.7, -0.4, 1.5, 0.3};
static const size_t batch_rows[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

typedef struct {
    double p00, p01, p11, r[2];
} quadratic;

/* Prior and `count` rows that stand for all four. */
static quadratic quadratic_of(size_t count, const size_t *list)
{
    quadratic q = {.p00 = 1.0 / 9.0, .p11 = 1.0 / 9.0};
    double factor = 4.0 / (double)count;
    for (size_t i = 0; i < count; i++) {
        const double *x = row_x[list[i]];
        q.p00 += factor * x[0] * x[0];
        q.p01 += factor * x[0] * x[1];
        q.p11 += factor * x[1] * x[1];
        for (size_t j = 0; j < 2; j++) q.r[j] += factor * x[j] * row_y[list[i]];
    }
    return q;
}

static quadratic all_batches(void)
{
    return quadratic_of(4, (const size_t[]){0, 1, 2, 3});
}

static void minimum(const quadratic *q, double *w)
{
    double det = q->p00 * q->p11 - q->p01 * q->p01;
    w[0] = (q->p11 * q->r[0] - q->p01 * q->r[1]) / det;
    w[1] = (q->p00 * q->r[1] - q->p01 * q->r[0]) / det;
}

/* w = mean + C'^-1 x, C lower triangular. */
static void place_regression(const target *t, const double *x, double *w)
{
    (void)t;
    quadratic q = all_batches();
    double c00 = sqrt(q.p00), c10 = q.p01 / c00, c11 = sqrt(q.p11 - c10 * c10), mean[2];
    minimum(&q, mean);
    double z1 = x[1] / c11, z0 = (x[0] - c10 * z1) / c00;
    w[0] = mean[0] + z0;
    w[1] = mean[1] + z1;
}

static void gradient_batch(const target *t, size_t k, const double *w, double *g)
{
    (void)t;
    quadratic q = quadratic_of(2, batch_rows[k]);
    g[0] = q.p00 * w[0] + q.p01 * w[1] - q.r[0];
    g[1] = q.p01 * w[0] + q.p11 * w[1] - q.r[1];
}

static target regression_by_batches(void)
{
    target t = {.name = "mini-batches of two of four rows", .count = 6};
    quadratic all = all_batches();
    double c00 = sqrt(all.p00), c10 = all.p01 / c00, c11 = sqrt(all.p11 - c10 * c10), mean[2];
    t.place = place_regression;
    t.gradient = gradient_batch;
    minimum(&all, mean);
    for (size_t k = 0; k < t.count; k++) { /* x = C'(w - mean) */
        quadratic q = quadratic_of(2, batch_rows[k]);
        double w[2];
        minimum(&q, w);
        t.zero[k][0] = c00 * (w[0] - mean[0]) + c10 * (w[1] - mean[1]);
        t.zero[k][1] = c11 * (w[1] - mean[1]);
    }
    return t;
}

/* ---- test functions ---- */

/* The gradients of phi: w0, w1, w0^2, w0 w1, sin(w0 + w1/2). */
static void phi(const double *w, double *value, double (*slope)[2])
{
    double s = w[0] + 0.5 * w[1];
    const double values[PHIS] = {w[0], w[1], w[0] * w[0], w[0] * w[1], sin(s)};
    const double slopes[PHIS][2] = {
        {1.0, 0.0}, {0.0, 1.0}, {2.0 * w[0], 0.0}, {w[1], w[0]}, {cos(s), 0.5 * cos(s)}};
    memcpy(value, values, sizeof values);
    memcpy(slope, slopes, sizeof slopes);
}

static void psi(const double *v, double *value)
{
    const double values[PSIS] = {v[0], v[1], v[0] * v[0] * v[0], v[0] * v[1], exp(v[0])};
    memcpy(value, values, sizeof values);
}

/* ---- the process ---- */

typedef struct {
    const char *name;
    double (*rate)(double slope); /* of bounces */
    void (*reflect)(sampler *s);  /* v, from gradient */
    size_t other; /* reflected off the noisy gradient that is this many places on */
} process_rule;

static double positive_part(double slope)
{
    return fmax(slope, 0.0);
}

static double absolute(double slope)
{
    return fabs(slope);
}

static double twice(double slope)
{
    return 2.0 * fmax(slope, 0.0);
}

static void reflect_with_the_wrong_sign(sampler *s)
{
    sampler_reflect(s);
    for (size_t j = 0; j < s->dim; j++) s->v[j] = -s->v[j];
}

/* v - 2 (v.g / g.g) g: A' is missing. */
static void reflect_in_w(sampler *s)
{
    metric none = {.kind = metric_find("none"), .d = s->dim};
    const metric *a = s->a;
    s->a = &none;
    sampler_reflect(s);
    s->a = a;
}

static const process_rule library = {"library", positive_part, sampler_reflect, 0};

/* A sampler with velocities only. */
typedef struct {
    sampler s;
    double v[2], q[2], gradient[2], scratch[2];
} reflector;

static void reflector_make(reflector *r, const metric *a)
{
    *r = (reflector){.s = {.a = a, .dim = 2}};
    r->s.v = r->v;
    r->s.q_next = r->q;
    r->s.gradient = r->gradient;
    r->s.scratch = r->scratch;
}

/* out_j = E_v rate (psi_j(v_r) - psi_j(v)) for gradient g, reflected off `off`. */
static void jumps(reflector *r, const process_rule *rule, const nodes *half, const double *g,
                  const double *off, double *out)
{
    double h[2], u[2], before[PSIS], after[PSIS];
    const metric *a = r->s.a;
    a->kind->transpose(a, g, h);
    double middle = atan2(h[1], h[0]);
    memset(out, 0, PSIS * sizeof *out);
    for (size_t i = 0; i < 2 * HALF; i++) { /* uphill, then downhill */
        double angle = middle + M_PI * ((i < HALF ? -0.5 : 0.5) + half->x[i % HALF]);
        double v[2] = {cos(angle), sin(angle)};
        a->kind->forward(a, v, u);
        double rate = rule->rate(u[0] * g[0] + u[1] * g[1]);
        if (rate == 0.0) continue;
        memcpy(r->v, v, sizeof v);
        memcpy(r->gradient, off, sizeof r->gradient);
        rule->reflect(&r->s);
        psi(v, before);
        psi(r->v, after);
        for (size_t j = 0; j < PSIS; j++)
            out[j] += 0.5 * half->weight[i % HALF] * rate * (after[j] - before[j]);
    }
}

/* out_j = E_v A v psi_j(v) */
static void drifts(const metric *a, double (*out)[2])
{
    const double n = 64.0;
    double u[2], value[PSIS];
    memset(out, 0, PSIS * sizeof *out);
    for (double i = 0.0; i < n; i++) {
        double v[2] = {cos(2.0 * M_PI * i / n), sin(2.0 * M_PI * i / n)};
        a->kind->forward(a, v, u);
        psi(v, value);
        for (size_t j = 0; j < PSIS; j++)
            for (size_t l = 0; l < 2; l++) out[j][l] += value[j] * u[l] / n;
    }
}

typedef struct {
    double worst; /* largest |integral (2)| of all f */
    double drift; /* largest contribution of the motion alone */
} imbalance;

/* (2) for all test functions. */
static imbalance integrate(const target *t, const metric *a, const process_rule *rule)
{
    nodes radii = legendre(RADII), half = legendre(HALF);
    double drift[PSIS][2], moved[PHIS][PSIS] = {{0}}, total[PHIS][PSIS] = {{0}};
    reflector r;
    reflector_make(&r, a);
    drifts(a, drift);
    for (size_t k = 0; k < t->count; k++)
        for (size_t i = 0; i < RADII * ANGLES; i++) {
            const double *zero = t->zero[k];
            double reach = 8.5 + sqrt(dot(2, zero, zero)),
                   distance = reach * radii.x[i / ANGLES];
            double angle = 2.0 * M_PI * (double)(i % ANGLES) / ANGLES;
            double x[2] = {zero[0] + distance * cos(angle), zero[1] + distance * sin(angle)};
            double weight = reach * radii.weight[i / ANGLES] * distance / ANGLES *
                            exp(-0.5 * dot(2, x, x)) / (double)t->count;
            double w[2], g[2], off[2], value[PHIS], slope[PHIS][2], jump[PSIS];
            if (weight < 1e-18) continue;
            t->place(t, x, w);
            t->gradient(t, k, w, g);
            t->gradient(t, (k + rule->other) % t->count, w, off);
            jumps(&r, rule, &half, g, off, jump);
            phi(w, value, slope);
            for (size_t m = 0; m < PHIS; m++)
                for (size_t j = 0; j < PSIS; j++) {
                    double along = weight * dot(2, slope[m], drift[j]);
                    moved[m][j] += along;
                    total[m][j] += along + weight * value[m] * jump[j];
                }
        }
    imbalance out = {0};
    for (size_t m = 0; m < PHIS; m++)
        for (size_t j = 0; j < PSIS; j++) {
            out.worst = fmax(out.worst, fabs(total[m][j]));
            out.drift = fmax(out.drift, fabs(moved[m][j]));
        }
    return out;
}

/* ---- properties ---- */

static const double hessian[4] = {2.0, 0.9, 0.9, 1.0}; /* for metrics that need one */
static const double still[1][2] = {{0.0, 0.0}};
static const double skewed[3][2] = {{0.9, 0.3}, {-0.6, 0.5}, {-0.3, -0.8}};

/* The extremes over all metrics; `mapped`: without the identity. */
static void for_each_metric(const target *t, const process_rule *rule, bool mapped,
                            imbalance *least, imbalance *most)
{
    *least = (imbalance){INFINITY, INFINITY};
    *most = (imbalance){0};
    for (size_t k = 0; metric_kinds[k]; k++) {
        metric *a;
        if (mapped && metric_kinds[k] == metric_find("none")) continue;
        REQUIRE(metric_create(metric_kinds[k], 2, hessian, &a, NULL) == SBPS_OK);
        imbalance out = integrate(t, a, rule);
        printf("%-32s %-10s %-32s: %.1e, motion alone %.2f\n", t->name, metric_kinds[k]->name,
               rule->name, out.worst, out.drift);
        least->worst = fmin(least->worst, out.worst);
        least->drift = fmin(least->drift, out.drift);
        most->worst = fmax(most->worst, out.worst);
        metric_destroy(a);
    }
}

static void check_invariant(target t)
{
    imbalance least, most;
    for_each_metric(&t, &library, false, &least, &most);
    CHECK(least.drift > 0.1);
    CHECK_NEAR(most.worst, 0.0, TOL_DIFF);
    target_close(&t);
}

TEST(exact_gradients_leave_the_density_invariant)
{
    check_invariant(banana("banana", 1, still));
}

TEST(noise_of_mean_zero_leaves_the_density_invariant)
{
    check_invariant(banana("banana, noise", 3, skewed));
}

TEST(mini_batches_leave_the_density_invariant)
{
    check_invariant(regression_by_batches());
}

/* The integral is then far from 0, so that the properties above would fail. */
static void check_noticed(target t, process_rule rule)
{
    imbalance least, most;
    bool mapped = rule.reflect == reflect_in_w; /* right where A is the identity */
    for_each_metric(&t, &rule, mapped, &least, &most);
    CHECK(least.worst > 0.02);
    target_close(&t);
}

TEST(a_wrong_process_is_noticed)
{
    const process_rule sign = {"reflection with the wrong sign", positive_part,
                               reflect_with_the_wrong_sign, 0};
    const process_rule in_w = {"reflection in w", positive_part, reflect_in_w, 0};
    const process_rule both = {"rate |G|", absolute, sampler_reflect, 0};
    const process_rule often = {"rate 2 [G]+", twice, sampler_reflect, 0};
    const process_rule other = {"reflection off another batch", positive_part, sampler_reflect,
                                1};
    check_noticed(banana("banana", 1, still), sign);
    check_noticed(banana("banana", 1, still), in_w);
    check_noticed(banana("banana", 1, still), often);
    check_noticed(banana("banana, noise", 3, skewed), both);
    check_noticed(banana("banana, noise", 3, skewed), other);
    check_noticed(regression_by_batches(), sign);
    check_noticed(regression_by_batches(), other);
}

/* Thinning turns proposals of rate lambda into bounces of rate [G]+ where lambda >= [G]+. */
TEST(proposals_are_accepted_at_the_positive_part_of_the_slope)
{
    const double n = 1e6, lambda = 2.5, slopes[] = {-1.0, 0.0, 0.4, 1.7, 2.5};
    rng random = rng_stream(5, 0, RNG_TEST);
    event e = {0};
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        double accepted = 0.0, expected = fmax(slopes[i], 0.0) / lambda;
        for (double j = 0.0; j < n; j++)
            accepted += sampler_accept(slopes[i], lambda, &random, &e);
        CHECK_Z(accepted / n, expected, sqrt(expected * (1.0 - expected) / n), MAX_Z);
    }
    CHECK(e.violations == 0 && e.missing == 0.0);
}

CHECK_MAIN

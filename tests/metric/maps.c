/* Properties of every metric: two maps that are adjoint, a precision that inverts A A', and an
 * error message for an unsuitable Hessian. */
#include "check.h"
#include "core/rng.h"
#include "linalg/metric/metric.h"

#define DIM_MAX 20

static const size_t sizes[] = {1, 2, 7, DIM_MAX};

typedef struct {
    size_t d;
    double hessian[DIM_MAX * DIM_MAX], x[DIM_MAX], y[DIM_MAX];
} problem;

/* H = B B' + I/2 with scales over four decades, positive definite. */
static problem make_problem(size_t d)
{
    problem p = {.d = d};
    double b[DIM_MAX * DIM_MAX];
    rng r = rng_stream(5, d, RNG_TEST);
    for (size_t i = 0; i < d * d; i++) b[i] = rng_normal(&r);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double s = i == j ? 0.5 : 0.0;
            for (size_t k = 0; k < d; k++) s += b[i * d + k] * b[j * d + k];
            p.hessian[i * d + j] = s * pow(10.0, 0.1 * (double)(i + j));
        }
    for (size_t j = 0; j < d; j++) {
        p.x[j] = rng_normal(&r);
        p.y[j] = rng_normal(&r);
    }
    return p;
}

static double dot(size_t d, const double *x, const double *y)
{
    double s = 0.0;
    for (size_t j = 0; j < d; j++) s += x[j] * y[j];
    return s;
}

/* Runs a property for every kind and size. */
static void for_each_metric(void (*property)(const metric *m, const problem *p))
{
    for (size_t k = 0; metric_kinds[k]; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            problem p = make_problem(sizes[s]);
            metric *m = NULL;
            CHECK(metric_create(metric_kinds[k], p.d, p.hessian, &m, NULL) == SBPS_OK);
            if (m) property(m, &p);
            metric_destroy(m);
        }
}

static const metric_kind *find(const char *name)
{
    for (size_t k = 0; metric_kinds[k]; k++)
        if (!strcmp(metric_kinds[k]->name, name)) return metric_kinds[k];
    return NULL;
}

static void adjoint_property(const metric *m, const problem *p)
{
    double ax[DIM_MAX], aty[DIM_MAX];
    m->kind->forward(m, p->x, ax);
    m->kind->transpose(m, p->y, aty);
    CHECK_NEAR(dot(p->d, p->y, ax), dot(p->d, p->x, aty), TOL_SUM);
}

TEST(transpose_is_the_adjoint_of_forward)
{
    for_each_metric(adjoint_property);
}

static void precision_property(const metric *m, const problem *p)
{
    double t[DIM_MAX], aat[DIM_MAX], back[DIM_MAX];
    m->kind->transpose(m, p->x, t);
    m->kind->forward(m, t, aat);
    m->kind->precision(m, aat, back);
    for (size_t j = 0; j < p->d; j++) CHECK_NEAR(back[j], p->x[j], 1e-8);
}

TEST(precision_is_the_inverse_of_a_a_transposed)
{
    for_each_metric(precision_property);
}

static void linear_property(const metric *m, const problem *p)
{
    double sum[DIM_MAX], ax[DIM_MAX], ay[DIM_MAX], both[DIM_MAX];
    for (size_t j = 0; j < p->d; j++) sum[j] = p->x[j] - 3.0 * p->y[j];
    m->kind->forward(m, p->x, ax);
    m->kind->forward(m, p->y, ay);
    m->kind->forward(m, sum, both);
    for (size_t j = 0; j < p->d; j++) CHECK_NEAR(both[j], ax[j] - 3.0 * ay[j], TOL_SUM);
}

TEST(maps_are_linear)
{
    for_each_metric(linear_property);
}

static void whitening_property(const metric *m, const problem *p)
{
    double e[DIM_MAX] = {0}, u[DIM_MAX], hu[DIM_MAX], column[DIM_MAX];
    if (m->kind != find("dense")) return;
    for (size_t j = 0; j < p->d; j++) {
        e[j] = 1.0;
        m->kind->forward(m, e, u);
        for (size_t i = 0; i < p->d; i++) hu[i] = dot(p->d, p->hessian + i * p->d, u);
        m->kind->transpose(m, hu, column);
        for (size_t i = 0; i < p->d; i++) CHECK_NEAR(column[i], e[i], 1e-10);
        e[j] = 0.0;
    }
}

TEST(dense_makes_the_hessian_the_identity)
{
    for_each_metric(whitening_property);
}

static void plain_property(const metric *m, const problem *p)
{
    bool none = m->kind == find("none");
    if (!none && m->kind != find("diagonal")) return;
    double u[DIM_MAX], h[DIM_MAX];
    m->kind->forward(m, p->x, u);
    m->kind->transpose(m, p->x, h);
    for (size_t j = 0; j < p->d; j++) {
        double a = none ? 1.0 : 1.0 / sqrt(p->hessian[j * p->d + j]);
        CHECK_NEAR(u[j], a * p->x[j], TOL_ROUND);
        CHECK_NEAR(h[j], a * p->x[j], TOL_ROUND);
    }
}

TEST(none_is_the_identity_and_diagonal_the_curvatures)
{
    for_each_metric(plain_property);
}

TEST(none_needs_no_hessian)
{
    metric *m = NULL;
    CHECK(metric_create(find("none"), 3, NULL, &m, NULL) == SBPS_OK && m);
    metric_destroy(m);
    metric_destroy(NULL);
}

static void check_refused(const char *kind, const double *hessian)
{
    metric *m = (metric *)1;
    sbps_error err = {0};
    CHECK(metric_create(find(kind), 2, hessian, &m, &err) == SBPS_NO_MODE);
    CHECK(m == NULL);
    CHECK(err.status == SBPS_NO_MODE && strlen(err.text) > 20);
}

TEST(a_hessian_that_is_not_positive_definite_is_refused)
{
    check_refused("dense", (double[]){1, 2, 2, 1});
    check_refused("dense", (double[]){1, 1, 1, 1});
    check_refused("dense", (double[]){-1, 0, 0, 1});
    check_refused("dense", (double[]){1, NAN, NAN, 1});
    check_refused("dense", (double[]){1, 0, 0, INFINITY});
    check_refused("lowrank", (double[]){1, 2, 2, 1});
    check_refused("lowrank", (double[]){1, 1, 1, 1});
    check_refused("lowrank", (double[]){-1, 0, 0, 1});
    check_refused("lowrank", (double[]){1, NAN, NAN, 1});
    check_refused("lowrank", (double[]){1, 0, 0, INFINITY});
    check_refused("diagonal", (double[]){1, 0, 0, -1});
    check_refused("diagonal", (double[]){0, 0, 0, 1});
    check_refused("diagonal", (double[]){1, 0, 0, NAN});
    check_refused("diagonal", (double[]){INFINITY, 0, 0, 1});
}

/* Mean and standard error of u'Hu over drawn directions. */
static void mean_curvature_property(const metric *m, const problem *p)
{
    enum { draws = 4000 };
    double v[DIM_MAX], u[DIM_MAX], sum = 0.0, square = 0.0, reported = 0.0;
    rng r = rng_stream(6, p->d, RNG_TEST);
    CHECK(metric_mean_curvature(m, p->hessian, &reported, NULL) == SBPS_OK);
    for (size_t i = 0; i < draws; i++) {
        double x = 0.0;
        metric_draw_direction(m, &r, v, u);
        CHECK_NEAR(dot(p->d, v, v), 1.0, TOL_SUM);
        for (size_t j = 0; j < p->d; j++) x += u[j] * dot(p->d, p->hessian + j * p->d, u);
        sum += x / draws;
        square += x * x / draws;
    }
    double error = sqrt(fmax(square - sum * sum, 0.0) / draws);
    CHECK(fabs(sum - reported) <= MAX_Z * error + 1e-9 * reported);
    if (m->kind->white) CHECK_NEAR(reported, 1.0, 1e-9);
}

TEST(mean_curvature_is_that_of_drawn_directions)
{
    for_each_metric(mean_curvature_property);
}

CHECK_MAIN

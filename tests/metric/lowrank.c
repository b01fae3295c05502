/* Low rank plus diagonal: exact where the Hessian is of that shape, near where it almost is,
 * and cheap. Spikes are added along rows of a Walsh matrix, whose entries are all +-1: then
 * the diagonal is constant but for the scales, which D takes out. */
#include "check.h"
#include "core/rng.h"
#include "linalg/metric/metric.h"

#include <lapacke.h>

#define D 64

static double hessian[D * D], white[D * D]; /* H and A'HA */

static double walsh(size_t row, size_t column)
{
    return __builtin_parityll(row & column) ? -0.125 : 0.125; /* 1/sqrt(64) */
}

/* H = E (1 + sum_k (l_k - 1) x_k x_k') E, E = diag(e^(spread z)). */
static void make_spiked(size_t spikes, const double *l, double spread)
{
    double e[D];
    rng r = rng_stream(7, spikes, RNG_TEST);
    for (size_t j = 0; j < D; j++) e[j] = exp(spread * rng_normal(&r));
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double sum = i == j ? 1.0 : 0.0;
            for (size_t k = 0; k < spikes; k++)
                sum += (l[k] - 1.0) * walsh(k + 5, i) * walsh(k + 5, j);
            hessian[i * D + j] = e[i] * sum * e[j];
        }
}

static metric *make(const char *name, size_t d, const double *h)
{
    metric *m = NULL;
    sbps_error err = {0};
    for (size_t k = 0; metric_kinds[k]; k++)
        if (!strcmp(metric_kinds[k]->name, name))
            metric_create(metric_kinds[k], d, h, &m, &err);
    if (!m) printf("%s: %s\n", name, err.text);
    return m;
}

static void whiten(const metric *m)
{
    double e[D] = {0}, u[D], hu[D];
    for (size_t j = 0; j < D; j++) {
        e[j] = 1.0;
        m->kind->forward(m, e, u);
        for (size_t i = 0; i < D; i++) {
            hu[i] = 0.0;
            for (size_t k = 0; k < D; k++) hu[i] += hessian[i * D + k] * u[k];
        }
        m->kind->transpose(m, hu, white + j * D);
        e[j] = 0.0;
    }
}

static double rank_of(const metric *m)
{
    return 0.5 * (m->kind->cost(m) / (double)m->d - 1.0);
}

TEST(a_hessian_of_low_rank_plus_diagonal_becomes_the_identity)
{
    static const double spikes[] = {3e3, 1e-3, 80.0, 0.01, 9.0};
    for (size_t count = 0; count <= 5; count++) {
        make_spiked(count, spikes, 2.0);
        metric *m = make("lowrank", D, hessian);
        REQUIRE(m);
        whiten(m);
        for (size_t i = 0; i < D * D; i++) CHECK_NEAR(white[i], i % (D + 1) ? 0.0 : 1.0, 1e-10);
        CHECK_NEAR(rank_of(m), (double)count, TOL_ROUND);
        metric_destroy(m);
    }
}

/* Eigenvalues of A'HA into l, increasing. */
static void spectrum(const metric *m, double *l)
{
    whiten(m);
    CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', D, white, D, l) == 0);
}

/* Scales of columns that a factor shares in unequal parts: H's diagonal, or that of its
 * inverse, is not the one the rest is constant under. */
static void make_factors(bool inverse)
{
    double x[3][D];
    rng r = rng_stream(8, inverse, RNG_TEST);
    for (size_t k = 0; k < 3; k++)
        for (size_t j = 0; j < D; j++) x[k][j] = 2.0 * rng_normal(&r);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double sum = i == j ? 1.0 : 0.0;
            for (size_t k = 0; k < 3; k++) sum += x[k][i] * x[k][j];
            hessian[i * D + j] = sum;
        }
    if (!inverse) return;
    CHECK(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', D, hessian, D) == 0);
    CHECK(LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', D, hessian, D) == 0);
    for (size_t i = 0; i < D; i++)
        for (size_t j = i + 1; j < D; j++) hessian[i * D + j] = hessian[j * D + i];
}

TEST(factors_of_the_precision_and_of_the_covariance_are_both_found)
{
    for (int inverse = 0; inverse < 2; inverse++) {
        double l[D], sum = 0.0;
        make_factors(inverse);
        metric *m = make("lowrank", D, hessian);
        REQUIRE(m);
        spectrum(m, l);
        for (size_t j = 0; j < D; j++) sum += l[j];
        CHECK(rank_of(m) >= 2.5 && rank_of(m) <= 6.5);
        CHECK(l[D - 1] <= 4.0 * l[0]);
        CHECK_NEAR(sum, (double)D, 1e-10); /* u'Hu is 1 on average */
        metric_destroy(m);
    }
}

/* Eigenvalues over six decades, as many in each: no band of 4 holds more than a few. */
TEST(uncorrected_eigenvalues_are_reported)
{
    double l[D], all[D], sum = 0.0;
    for (size_t k = 0; k < D; k++) all[k] = pow(10.0, 6.0 * (double)k / (D - 1));
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            hessian[i * D + j] = 0.0;
            for (size_t k = 0; k < D; k++)
                hessian[i * D + j] += all[k] * walsh(k, i) * walsh(k, j);
        }
    metric *m = make("lowrank", D, hessian), *dense = make("dense", D, hessian);
    REQUIRE(m && dense);
    CHECK_NEAR(rank_of(m), D / 4.0, TOL_ROUND);
    CHECK(m->kind->cost(m) < 1.1 * dense->kind->cost(dense));
    spectrum(m, l);
    for (size_t j = 0; j < D; j++) sum += l[j];
    CHECK_NEAR(sum, (double)D, 1e-9);
    double ratio = pow(10.0, 6.0 * 47.0 / 63.0), reported = 0.0;
    CHECK_NEAR(l[D - 1] / l[0], ratio, 1e-6);
    char text[96] = "";
    m->kind->describe(m, sizeof text, text);
    CHECK(sscanf(text, "rank 16 of 64, the rest spread over a factor of %lf", &reported) == 1);
    CHECK_NEAR(reported / ratio, 1.0, 0.01);
    metric_destroy(dense);
    metric_destroy(m);
}

TEST(nothing_is_corrected_where_parameters_do_not_depend_on_each_other)
{
    make_spiked(0, NULL, 3.0);
    metric *m = make("lowrank", D, hessian);
    REQUIRE(m);
    CHECK(rank_of(m) == 0.0);
    metric_destroy(m);
}

CHECK_MAIN

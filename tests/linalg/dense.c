/* Small dense algebra, Cholesky factors and comparisons. */
#include "core/rng.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"

#include "check.h"

enum { D = 7 };

static void draw(double *x, size_t n, uint64_t seed)
{
    rng random = rng_stream(seed, 0, RNG_SIMULATE);
    for (size_t i = 0; i < n; i++) x[i] = rng_normal(&random);
}

/* B B' + 1 */
static void draw_definite(double *a)
{
    double b[D * D];
    draw(b, D * D, 2);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++)
            a[i * D + j] = dot(D, b + i * D, b + j * D) + (i == j ? 1.0 : 0.0);
}

/* 1 is lost when added to 1e16, but not after 1e16 was subtracted. */
TEST(terms_of_a_dot_product_are_added_in_their_order)
{
    const double x[] = {1e16, 1.0, -1e16, 1.0}, ones[] = {1.0, 1.0, 1.0, 1.0};
    const double y[] = {1e16, -1e16, 1.0, 1.0};
    CHECK(dot(4, x, ones) == 1.0);
    CHECK(dot(4, y, ones) == 2.0);
    CHECK(dot(0, x, ones) == 0.0);
}

TEST(a_quadratic_form_is_the_same_by_rows_and_by_terms)
{
    double a[D * D], x[D], ax[D];
    draw_definite(a);
    draw(x, D, 3);
    apply_matrix(D, a, x, ax);
    CHECK_NEAR(quadratic_form(D, a, x), dot(D, x, ax), TOL_ROUND);
    CHECK_NEAR(quadratic_form(D, a, x), quadratic_terms(D, a, x), TOL_SUM);
}

TEST(adding_a_multiple_is_undone_by_subtracting_it)
{
    const double x[] = {1.0, -2.0, 4.0};
    double y[] = {8.0, 0.5, -1.0};
    add_scaled(3, 2.0, x, y);
    CHECK(y[0] == 10.0 && y[1] == -3.5 && y[2] == 7.0);
    add_scaled(3, -2.0, x, y);
    CHECK(y[0] == 8.0 && y[1] == 0.5 && y[2] == -1.0);
    CHECK(norm(2, (const double[]){3.0, 4.0}) == 5.0);
}

TEST(the_inverse_of_a_factored_matrix_is_symmetric_and_inverts_it)
{
    double a[D * D], factor[D * D], inverse[D * D], column[D];
    draw_definite(a);
    memcpy(factor, a, sizeof a);
    REQUIRE(cholesky(D, factor));
    draw(inverse, D * D, 5); /* the previous contents do not matter */
    cholesky_inverse(D, factor, inverse);
    for (size_t i = 0; i < D; i++) {
        apply_matrix(D, a, inverse + i * D, column);
        for (size_t j = 0; j < D; j++) {
            CHECK(inverse[i * D + j] == inverse[j * D + i]);
            CHECK_NEAR(column[j], i == j ? 1.0 : 0.0, TOL_SUM);
        }
    }
}

TEST(back_substitution_solves_with_the_transposed_factor)
{
    double a[D * D], x[D], z[D];
    draw_definite(a);
    REQUIRE(cholesky(D, a));
    draw(z, D, 4);
    memcpy(x, z, sizeof x);
    cholesky_back(D, a, x);
    for (size_t j = 0; j < D; j++) {
        double sum = 0.0;
        for (size_t k = j; k < D; k++) sum += a[k * D + j] * x[k];
        CHECK_NEAR(sum, z[j], TOL_SUM);
    }
}

/* The vectors are orthonormal and the matrix is the sum of value v v'; also if values are equal
 * or 0. */
static void check_eigen(const double *a)
{
    double values[D * D], vectors[D * D], sum[D * D] = {0}, size = 1.0;
    memcpy(values, a, sizeof values);
    for (size_t i = 0; i < D; i++) size = larger(size, a[i * D + i]);
    symmetric_eigen(D, values, vectors);
    for (size_t k = 0; k < D; k++) {
        const double *v = vectors + k * D;
        for (size_t l = 0; l < D; l++)
            CHECK_NEAR(dot(D, v, vectors + l * D), k == l ? 1.0 : 0.0, TOL_SUM);
        for (size_t i = 0; i < D; i++) add_scaled(D, values[k * D + k] * v[i], v, sum + i * D);
    }
    for (size_t i = 0; i < D * D; i++) CHECK_NEAR(sum[i] / size, a[i] / size, TOL_SUM);
}

TEST(the_matrix_is_the_sum_over_its_eigenvectors)
{
    double a[D * D] = {0};
    check_eigen(a);
    for (size_t i = 0; i < D; i++) a[i * D + i] = i < 3 ? 2.0 : -1.0;
    check_eigen(a);
    for (size_t i = 0; i < D * D; i++) a[i] = 1.0;
    check_eigen(a);
    draw_definite(a);
    check_eigen(a);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) a[i * D + j] *= pow(10.0, (double)i + (double)j - D);
    check_eigen(a);
}

TEST(a_comparison_replaces_a_first_nan_and_ignores_a_second)
{
    CHECK(larger(1.0, 2.0) == 2.0 && larger(2.0, 1.0) == 2.0);
    CHECK(smaller(1.0, 2.0) == 1.0 && smaller(2.0, 1.0) == 1.0);
    CHECK(larger(NAN, 1.0) == 1.0 && smaller(NAN, 1.0) == 1.0);
    CHECK(isnan(larger(1.0, NAN)) && isnan(smaller(1.0, NAN)));
}

CHECK_MAIN

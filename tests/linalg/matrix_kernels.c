/* Products of matrices, and values between two numbers: every variant agrees with the scalar
 * definition. */
#include "linalg/dense_matrix.h"
#include "linalg/kernels.h"

#include "check.h"

#include "core/rng.h"

#define MAX_SIZE 200

static void fill(rng *r, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) x[i] = rng_normal(r) * exp2(20 * rng_uniform(r) - 10);
}

static bool same_bits(size_t n, const double *x, const double *y)
{
    return memcmp(x, y, n * sizeof *x) == 0;
}

TEST(products_of_matrices_are_sums_in_the_order_of_columns)
{
    enum { ROWS_MAX = 9, COLUMNS = 5, DRAWS_MAX = 70, PITCH = 75 };
    rng r = rng_stream(7, 0, RNG_SHUFFLE);
    double x[ROWS_MAX * COLUMNS], w[COLUMNS * PITCH], begin[ROWS_MAX * PITCH];
    fill(&r, ROWS_MAX * COLUMNS, x);
    fill(&r, COLUMNS * PITCH, w);
    fill(&r, ROWS_MAX * PITCH, begin);
    const kernels *k;
    for (size_t v = 0; (k = kernels_at(v)); v++)
        for (size_t n = 1; n <= ROWS_MAX; n++)
            for (size_t s = 1; s <= DRAWS_MAX; s++) {
                double out[ROWS_MAX * PITCH], want[ROWS_MAX * PITCH];
                memcpy(out, begin, sizeof out);
                memcpy(want, begin, sizeof want);
                k->matrix_products(n, COLUMNS, x, COLUMNS, s, w, PITCH, out, PITCH);
                for (size_t i = 0; i < n; i++)
                    for (size_t c = 0; c < s; c++)
                        for (size_t j = 0; j < COLUMNS; j++)
                            want[i * PITCH + c] =
                                fma(x[i * COLUMNS + j], w[j * PITCH + c], want[i * PITCH + c]);
                CHECK(same_bits(ROWS_MAX * PITCH, out, want));
            }
}

TEST(quadratic_forms_side_by_side_have_the_bits_of_one_after_another)
{
    enum { DIM = 7, POINTS_MAX = 60 };
    rng r = rng_stream(9, 0, RNG_SHUFFLE);
    double m[DIM * DIM], x[DIM * POINTS_MAX];
    fill(&r, DIM * DIM, m);
    fill(&r, DIM * POINTS_MAX, x);
    const kernels *k;
    for (size_t v = 0; (k = kernels_at(v)); v++)
        for (size_t d = 1; d <= DIM; d++)
            for (size_t n = 1; n <= POINTS_MAX; n++) {
                double out[POINTS_MAX], want[POINTS_MAX], point[DIM];
                for (size_t l = 0; l < n; l++) {
                    for (size_t j = 0; j < d; j++) point[j] = x[j * n + l];
                    want[l] = quadratic_form(d, m, point);
                }
                k->quadratic_forms(n, d, m, x, out);
                CHECK(same_bits(n, out, want));
            }
}

TEST(values_between_two_numbers_are_taken_in_order)
{
    rng r = rng_stream(8, 0, RNG_SHUFFLE);
    const kernels *k;
    for (size_t v = 0; (k = kernels_at(v)); v++)
        for (size_t n = 0; n <= MAX_SIZE; n++) {
            double x[MAX_SIZE], out[MAX_SIZE + TAKE_PADDING], want[MAX_SIZE];
            size_t below, under = 0, count = 0;
            for (size_t i = 0; i < n; i++) x[i] = floor(10.0 * rng_uniform(&r));
            if (n > 3) x[3] = NAN;
            for (size_t i = 0; i < n; i++) {
                under += x[i] < 3.0;
                if (x[i] >= 3.0 && x[i] <= 6.0) want[count++] = x[i];
            }
            CHECK(k->take_between(n, x, 3.0, 6.0, out, &below) == count && below == under);
            CHECK(same_bits(count, out, want));
        }
}

CHECK_MAIN

/* Products and combinations of rows over every length of row that has code of its own, every
 * remainder of a block, doubles and floats: every variant agrees with the definition to the
 * bit. */
#include "core/rng.h"
#include "linalg/kernels.h"

#include "check.h"

#include <math.h>

enum { ROWS = 300, STRIDE_MAX = 40, AT_A_TIME = 128 /* rows of an outer product */ };

static const size_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 65, AT_A_TIME, ROWS};

/* A table of both kinds of cell with the same numbers in them. */
static double doubles[ROWS * STRIDE_MAX], p[STRIDE_MAX], q[STRIDE_MAX], weights[ROWS];
static float floats[ROWS * STRIDE_MAX];
static size_t selected[ROWS];

static void fill_tables(rng *r)
{
    for (size_t i = 0; i < ROWS * STRIDE_MAX; i++)
        doubles[i] = floats[i] = (float)rng_normal(r);
    for (size_t j = 0; j < STRIDE_MAX; j++) {
        p[j] = rng_normal(r);
        q[j] = rng_normal(r);
    }
    for (size_t i = 0; i < ROWS; i++) {
        weights[i] = rng_normal(r);
        selected[i] = rng_below(r, ROWS);
    }
}

static const double *row_of(size_t stride, const size_t *rows, size_t first, size_t i)
{
    return doubles + (rows ? rows[i] : first + i) * stride;
}

static bool are_products(const double *got, const double *with, size_t stride,
                         const size_t *rows, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != kernels_at(0)->dot(stride, row_of(stride, rows, first, i), with))
            return false;
    return true;
}

static void check_products(const kernels *k, size_t stride, const size_t *rows, size_t n)
{
    double eta[ROWS + 1], deta[ROWS + 1];
    size_t first = (ROWS - n) / 2;
    eta[n] = deta[n] = 42.0; /* nothing is written after the last row */
    k->row_products(doubles, stride, rows, first, n, p, q, eta, deta);
    CHECK(are_products(eta, p, stride, rows, first, n));
    CHECK(are_products(deta, q, stride, rows, first, n));
    k->row_products(doubles, stride, rows, first, n, q, NULL, eta, NULL);
    CHECK(are_products(eta, q, stride, rows, first, n));
    k->row_products_float(floats, stride, rows, first, n, p, q, eta, deta);
    CHECK(are_products(eta, p, stride, rows, first, n));
    CHECK(are_products(deta, q, stride, rows, first, n));
    k->row_products_float(floats, stride, rows, first, n, q, NULL, eta, NULL);
    CHECK(are_products(eta, q, stride, rows, first, n));
    CHECK(eta[n] == 42.0 && deta[n] == 42.0);
}

static void check_combination(const kernels *k, size_t stride, const size_t *rows, size_t n)
{
    double want[STRIDE_MAX], got[STRIDE_MAX], of_floats[STRIDE_MAX];
    size_t first = (ROWS - n) / 2, bytes = stride * sizeof *want;
    for (size_t j = 0; j < stride; j++) want[j] = got[j] = of_floats[j] = (double)j;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < stride; j++)
            want[j] = fma(weights[i], row_of(stride, rows, first, i)[j], want[j]);
    k->row_combine(doubles, stride, rows, first, n, weights, got);
    CHECK(!memcmp(want, got, bytes));
    k->row_combine_float(floats, stride, rows, first, n, weights, of_floats);
    CHECK(!memcmp(want, of_floats, bytes));
}

static double outer_of(size_t stride, size_t first, size_t n, size_t j, size_t k)
{
    double total = 1.0;
    for (size_t i = 0; i < n;) {
        double part = 0.0;
        for (size_t end = i + AT_A_TIME; i < n && i < end; i++) {
            const double *x = row_of(stride, NULL, first, i);
            part = fma(weights[i] * x[j], x[k], part);
        }
        total += part;
    }
    return total;
}

/* Lower triangles of d columns, d being all or all but three. */
static void check_outer(const kernels *k, size_t stride, const size_t *rows, size_t n)
{
    static double out[STRIDE_MAX * STRIDE_MAX], of_floats[STRIDE_MAX * STRIDE_MAX];
    size_t first = (ROWS - n) / 2, d = stride - (n % 2 ? 3 : 0), wrong = 0;
    if (rows) return;
    for (size_t i = 0; i < d * d; i++) out[i] = of_floats[i] = 1.0;
    k->row_outer(doubles, stride, first, n, weights, d, d, out);
    k->row_outer_float(floats, stride, first, n, weights, d, d, of_floats);
    for (size_t j = 0; j < d; j++)
        for (size_t l = 0; l < d; l++) {
            double want = l <= j ? outer_of(stride, first, n, j, l) : 1.0;
            wrong += out[j * d + l] != want || of_floats[j * d + l] != want;
        }
    CHECK(wrong == 0);
}

static void check_all(void (*check)(const kernels *k, size_t stride, const size_t *rows,
                                    size_t n))
{
    const kernels *k;
    rng r = rng_stream(11, 0, RNG_TEST);
    fill_tables(&r);
    for (size_t v = 0; (k = kernels_at(v)); v++)
        for (size_t stride = KERNEL_LANES; stride <= STRIDE_MAX; stride += KERNEL_LANES)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                check(k, stride, NULL, counts[c]);
                check(k, stride, selected, counts[c]);
            }
}

TEST(products_are_dots_for_every_length_of_row)
{
    check_all(check_products);
}

TEST(combinations_add_rows_in_order_for_every_length_of_row)
{
    check_all(check_combination);
}

TEST(outer_products_add_rows_in_order_for_every_length_of_row)
{
    check_all(check_outer);
}

CHECK_MAIN

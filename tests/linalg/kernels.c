/* Vector kernels: all variants give the same bits, and the scalar one is right. */
#include "linalg/kernels.h"

#include "check.h"

#include "core/memory.h"
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

static bool same_value(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* Distance of `got` from the exact value in units in the last place of the double below it. */
static double ulps(double got, long double want)
{
    const double near = (double)fabsl(want);
    return (double)(fabsl(got - want) / (nextafter(near, INFINITY) - near));
}

static const double extremes[] = {
    0.0,    -0.0,   1.0,    -1.0,    INFINITY, -INFINITY, NAN,     -NAN,     745.0,    -745.0,
    800.0,  -800.0, 708.0,  -708.0,  -708.5,   709.5,     709.7,   709.78,   709.79,   1e-300,
    -1e300, 1e300,  5e-324, -5e-324, DBL_MAX,  0.3466,    -0.3466, -709.782, -709.783,
};
#define EXTREMES (sizeof extremes / sizeof *extremes)

TEST(scalar_comes_first_and_the_list_ends)
{
    REQUIRE(kernels_at(0) != NULL);
    CHECK(strcmp(kernels_at(0)->isa, "scalar") == 0);
    size_t count = 0;
    while (kernels_at(count)) count++;
    CHECK(count <= 3);
    CHECK(kernels_at(count + 100) == NULL);
}

TEST(the_environment_selects_the_variant)
{
    const char *before = getenv("SBPS_ISA");
    char *kept = copy_text(before);
    const kernels *k, *last = NULL;
    for (size_t v = 0; (k = kernels_at(v)); v++) {
        setenv("SBPS_ISA", k->isa, 1);
        CHECK(kernels_best() == k);
        last = k;
    }
    setenv("SBPS_ISA", "abacus", 1);
    CHECK(kernels_best() == last);
    unsetenv("SBPS_ISA");
    CHECK(kernels_best() == last);
    if (kept) setenv("SBPS_ISA", kept, 1);
    free(kept);
}

TEST(sums_and_axpy_give_the_same_bits_in_every_variant)
{
    rng r = rng_stream(1, 0, RNG_TEST);
    double x[MAX_SIZE + 3], y[MAX_SIZE + 3], one[MAX_SIZE], two[MAX_SIZE];
    const kernels *scalar = kernels_at(0), *k;
    for (size_t n = 0; n <= MAX_SIZE; n++) {
        const size_t off = rng_below(&r, 3); /* unaligned as well */
        fill(&r, n + off, x);
        fill(&r, n + off, y);
        const double a = rng_normal(&r), want = scalar->dot(n, x + off, y + off);
        double sums[2], other[2];
        scalar->sum_squares(n, x + off, a, sums);
        memcpy(one, y + off, n * sizeof *y);
        scalar->axpy(n, a, x + off, one);
        for (size_t v = 1; (k = kernels_at(v)); v++) {
            const double got = k->dot(n, x + off, y + off);
            CHECK(same_bits(1, &got, &want));
            k->sum_squares(n, x + off, a, other);
            CHECK(same_bits(2, sums, other));
            memcpy(two, y + off, n * sizeof *y);
            k->axpy(n, a, x + off, two);
            CHECK(same_bits(n, one, two));
        }
    }
}

TEST(exp_and_sigmoid_give_the_same_bits_in_every_variant)
{
    rng r = rng_stream(2, 0, RNG_TEST);
    double x[MAX_SIZE], one[MAX_SIZE + 1], two[MAX_SIZE + 1];
    const kernels *k;
    for (size_t n = 0; n <= MAX_SIZE; n++) {
        for (size_t i = 0; i < n; i++) x[i] = 760 * (2 * rng_uniform(&r) - 1);
        for (size_t i = 0; i < n; i += 11) x[i] = rng_normal(&r);
        for (size_t v = 1; (k = kernels_at(v)); v++) {
            one[n] = two[n] = 42; /* nothing is written past the end */
            kernels_at(0)->exp(n, x, one);
            k->exp(n, x, two);
            CHECK(same_bits(n + 1, one, two));
            kernels_at(0)->sigmoid(n, x, one);
            k->sigmoid(n, x, two);
            CHECK(same_bits(n + 1, one, two) && two[n] == 42);
            kernels_at(0)->softplus(n, x, one);
            k->softplus(n, x, two);
            CHECK(same_bits(n + 1, one, two) && two[n] == 42);
            kernels_at(0)->hermite_sums(n / 4, 3, x, x + 3 * (n / 4), one);
            k->hermite_sums(n / 4, 3, x, x + 3 * (n / 4), two);
            CHECK(same_bits(n + 1, one, two) && two[n] == 42);
        }
    }
}

TEST(an_element_does_not_depend_on_its_position)
{
    const kernels *k;
    double x[64], out[64], alone;
    for (size_t v = 0; (k = kernels_at(v)); v++)
        for (size_t e = 0; e < EXTREMES; e++)
            for (size_t n = 1; n < 20; n++) {
                for (size_t i = 0; i < n; i++) x[i] = extremes[(e + i) % EXTREMES];
                k->exp(n, x, out);
                for (size_t i = 0; i < n; i++) {
                    kernels_at(0)->exp(1, x + i, &alone);
                    CHECK(same_value(out[i], alone));
                }
                k->sigmoid(n, x, x); /* in place */
                for (size_t i = 0; i < n; i++) {
                    kernels_at(0)->sigmoid(1, &extremes[(e + i) % EXTREMES], &alone);
                    CHECK(same_value(x[i], alone));
                }
            }
}

TEST(row_products_give_the_same_bits_in_every_variant)
{
    enum { ROWS = 60 };
    rng r = rng_stream(3, 0, RNG_TEST);
    const kernels *scalar = kernels_at(0), *k;
    double *x = new_doubles(ROWS * 48);
    REQUIRE(x != NULL);
    for (size_t n = 0; n <= 40; n++) {
        const size_t stride = 4 * (1 + rng_below(&r, 12)), first = rng_below(&r, ROWS - n);
        double p[48], q[48], one[2][42] = {{0}}, two[2][42] = {{0}};
        size_t rows[40];
        fill(&r, ROWS * stride, x);
        fill(&r, stride, p);
        fill(&r, stride, q);
        for (size_t i = 0; i < n; i++) rows[i] = rng_below(&r, ROWS);
        for (size_t gathered = 0; gathered < 2; gathered++)
            for (size_t v = 1; (k = kernels_at(v)); v++) {
                const size_t *which = gathered ? rows : NULL;
                scalar->row_products(x, stride, which, first, n, p, q, one[0], one[1]);
                k->row_products(x, stride, which, first, n, p, q, two[0], two[1]);
                CHECK(same_bits(2 * 42, one[0], two[0]));
                k->row_products(x, stride, which, first, n, q, NULL, two[0], NULL);
                CHECK(same_bits(n, one[1], two[0]));
            }
    }
    free(x);
}

TEST(row_products_are_dots_with_the_requested_rows)
{
    enum { ROWS = 23, STRIDE = 20, FIRST = 5, N = 13 };
    rng r = rng_stream(4, 0, RNG_TEST);
    double x[ROWS * STRIDE], p[STRIDE], q[STRIDE], eta[N], deta[N];
    size_t rows[N];
    fill(&r, ROWS * STRIDE, x);
    fill(&r, STRIDE, p);
    fill(&r, STRIDE, q);
    for (size_t i = 0; i < N; i++) rows[i] = rng_below(&r, ROWS);
    const kernels *k;
    for (size_t v = 0; (k = kernels_at(v)); v++) {
        k->row_products(x, STRIDE, rows, 0, N, p, q, eta, deta);
        for (size_t i = 0; i < N; i++) {
            CHECK(eta[i] == k->dot(STRIDE, x + rows[i] * STRIDE, p));
            CHECK(deta[i] == k->dot(STRIDE, x + rows[i] * STRIDE, q));
        }
        k->row_products(x, STRIDE, NULL, FIRST, N, p, q, eta, deta);
        for (size_t i = 0; i < N; i++) {
            CHECK(eta[i] == k->dot(STRIDE, x + (FIRST + i) * STRIDE, p));
            CHECK(deta[i] == k->dot(STRIDE, x + (FIRST + i) * STRIDE, q));
        }
    }
}

TEST(row_combine_adds_each_row_in_order)
{
    enum { ROWS = 30, MAX_STRIDE = 60 };
    rng r = rng_stream(5, 0, RNG_TEST);
    double x[ROWS * MAX_STRIDE], weight[ROWS], want[MAX_STRIDE], got[MAX_STRIDE];
    size_t rows[ROWS];
    const kernels *k;
    for (size_t stride = 4; stride <= MAX_STRIDE; stride += 4) {
        const size_t n = rng_below(&r, ROWS), first = rng_below(&r, ROWS - n);
        fill(&r, ROWS * stride, x);
        fill(&r, ROWS, weight);
        for (size_t i = 0; i < n; i++) rows[i] = rng_below(&r, ROWS);
        for (size_t v = 0; (k = kernels_at(v)); v++)
            for (size_t gathered = 0; gathered < 2; gathered++) {
                for (size_t j = 0; j < stride; j++) want[j] = got[j] = (double)j;
                for (size_t i = 0; i < n; i++)
                    for (size_t j = 0; j < stride; j++)
                        want[j] =
                            fma(weight[i], x[(gathered ? rows[i] : first + i) * stride + j],
                                want[j]);
                k->row_combine(x, stride, gathered ? rows : NULL, first, n, weight, got);
                CHECK(same_bits(stride, want, got));
            }
    }
}

TEST(exp_is_within_two_ulp)
{
    enum { POINTS = 1000000, CHUNK = 1000 };
    rng r = rng_stream(6, 0, RNG_TEST);
    const kernels *k = kernels_best(); /* the bits are those of every variant */
    double x[CHUNK], out[CHUNK], worst = 0;
    for (size_t i = 0; i < POINTS; i += CHUNK) {
        for (size_t j = 0; j < CHUNK; j++)
            x[j] = j % 2 ? -708 + 1417.78 * rng_uniform(&r) : 4 * rng_normal(&r);
        k->exp(CHUNK, x, out);
        for (size_t j = 0; j < CHUNK; j++) worst = fmax(worst, ulps(out[j], expl(x[j])));
    }
    printf("exp: largest error %.3f ulp\n", worst);
    CHECK(worst <= 2);
}

TEST(softplus_is_within_three_ulp)
{
    enum { POINTS = 1000000, CHUNK = 1000 };
    rng r = rng_stream(8, 0, RNG_TEST);
    const kernels *k = kernels_best();
    double x[CHUNK], out[CHUNK], worst = 0;
    for (size_t i = 0; i < POINTS; i += CHUNK) {
        for (size_t j = 0; j < CHUNK; j++)
            x[j] = j % 2 ? 1416 * rng_uniform(&r) - 708 : 4 * rng_normal(&r);
        k->softplus(CHUNK, x, out);
        for (size_t j = 0; j < CHUNK; j++) {
            long double z = x[j];
            worst = fmax(worst, ulps(out[j], fmaxl(z, 0) + log1pl(expl(-fabsl(z)))));
        }
    }
    printf("softplus: largest error %.3f ulp\n", worst);
    CHECK(worst <= 3);
    const double limits[][2] = {{INFINITY, INFINITY}, {-INFINITY, 0}, {-750, 0}, {750, 750}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        k->softplus(1, limits[i], out);
        CHECK(out[0] == limits[i][1]);
    }
    k->softplus(1, &(double){NAN}, out);
    CHECK(isnan(out[0]));
}

/* He_0 to He_4 at t are 1, t, t^2 - 1, t^3 - 3t, t^4 - 6t^2 + 3. */
TEST(sums_of_hermite_polynomials_agree_with_their_definition)
{
    const double t[] = {-1.5, 0.0, 0.25, 2.0, 3.0}, c[] = {0.5, -1.0, 2.0, 0.25, -0.125};
    double by[25], out[5];
    for (size_t i = 0; i < 25; i++) by[i] = c[i / 5] * (double)(i % 5 + 1);
    kernels_best()->hermite_sums(5, 5, by, t, out);
    for (size_t i = 0; i < 5; i++) {
        double x = t[i], s = x * x;
        double sum = c[0] + c[1] * x + c[2] * (s - 1.0) + c[3] * x * (s - 3.0) +
                     c[4] * (s * s - 6.0 * s + 3.0);
        CHECK_NEAR(out[i], sum * (double)(i + 1), 64 * TOL_ROUND);
    }
}

TEST(sigmoid_is_within_four_ulp)
{
    enum { POINTS = 1000000, CHUNK = 1000 };
    rng r = rng_stream(7, 0, RNG_TEST);
    const kernels *k = kernels_best();
    double x[CHUNK], out[CHUNK], worst = 0;
    for (size_t i = 0; i < POINTS; i += CHUNK) {
        for (size_t j = 0; j < CHUNK; j++)
            x[j] = j % 2 ? 1416 * rng_uniform(&r) - 708 : 4 * rng_normal(&r);
        k->sigmoid(CHUNK, x, out);
        for (size_t j = 0; j < CHUNK; j++)
            worst = fmax(worst, ulps(out[j], 1 / (1 + expl(-(long double)x[j]))));
    }
    printf("sigmoid: largest error %.3f ulp\n", worst);
    CHECK(worst <= 4);
}

TEST(exp_and_sigmoid_keep_their_limits)
{
    static const struct {
        double x, exp, sigmoid;
    } limits[] = {
        {0.0, 1, 0.5},      {-0.0, 1, 0.5},     {INFINITY, INFINITY, 1}, {NAN, NAN, NAN},
        {745, INFINITY, 1}, {800, INFINITY, 1}, {709.79, INFINITY, 1},   {1e300, INFINITY, 1},
        {5e-324, 1, 0.5},   {-NAN, NAN, NAN},
    };
    static const double low[] = {-INFINITY, -745, -800, -708.01, -1e300};
    const double lowest = -708;
    double smallest;
    kernels_at(0)->sigmoid(1, &lowest, &smallest);
    CHECK(ulps(smallest, expl(-708)) <= 4);
    const kernels *k;
    for (size_t v = 0; (k = kernels_at(v)); v++)
        for (size_t i = 0; i < sizeof low / sizeof *low; i++) {
            double e, s;
            k->exp(1, &low[i], &e);
            k->sigmoid(1, &low[i], &s);
            CHECK(e == 0 && s == smallest);
        }
    for (size_t v = 0; (k = kernels_at(v)); v++)
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            double e, s;
            k->exp(1, &limits[i].x, &e);
            k->sigmoid(1, &limits[i].x, &s);
            CHECK(same_value(e, limits[i].exp));
            CHECK(same_value(s, limits[i].sigmoid));
        }
}

/* A NaN's payload must not leak into the exponent. */
TEST(any_nan_stays_nan)
{
    double x[9], out[9];
    for (size_t i = 0; i < 9; i++) {
        const uint64_t bits = 0x7ff8000000000001u + 0x35u * i;
        memcpy(&x[i], &bits, sizeof bits);
    }
    const kernels *k;
    for (size_t v = 0; (k = kernels_at(v)); v++) {
        k->exp(9, x, out);
        for (size_t i = 0; i < 9; i++) CHECK(isnan(out[i]));
        k->sigmoid(9, x, out);
        for (size_t i = 0; i < 9; i++) CHECK(isnan(out[i]));
    }
}

TEST(exp_is_finite_up_to_the_last_x_that_allows_it)
{
    const double last = log(DBL_MAX), past = nextafter(last, INFINITY);
    double out;
    kernels_best()->exp(1, &last, &out);
    CHECK(isfinite(out) && ulps(out, expl(last)) <= 2);
    kernels_best()->exp(1, &past, &out);
    CHECK(isinf(out));
}

/* Rows of a batch with all optional parts, with none, and with some. */
static slope_terms some_terms(size_t which, double *base, double *curvature, double *offset,
                              double *weight)
{
    return (slope_terms){.t = which % 2 ? 0.3 : 0.0,
                         .base = base,
                         .curvature = which & 2 ? curvature : NULL,
                         .offset = which & 4 ? offset : NULL,
                         .weight = which & 8 ? weight : NULL};
}

TEST(slope_sums_give_the_same_bits_in_every_variant_and_are_right)
{
    enum { MAX_ROWS = 70 };
    rng r = rng_stream(9, 0, RNG_TEST);
    double x[6][MAX_ROWS], one[MAX_ROWS + 1], two[MAX_ROWS + 1], sums[2], other[2];
    const kernels *scalar = kernels_at(0), *k;
    for (size_t n = 0; n <= MAX_ROWS; n++)
        for (size_t which = 0; which < 16; which++)
            for (mean_function f = MEAN_SIGMOID; f < MEAN_COUNT; f++) {
                for (size_t a = 0; a < 6; a++)
                    for (size_t i = 0; i < MAX_ROWS; i++) x[a][i] = rng_normal(&r);
                const slope_terms s = some_terms(which, x[2], x[3], x[4], x[5]);
                one[n] = two[n] = 42;
                scalar->slope_sums[f](n, &s, x[0], x[1], one, sums);
                for (size_t v = 1; (k = kernels_at(v)); v++) {
                    k->slope_sums[f](n, &s, x[0], x[1], two, other);
                    CHECK(same_bits(n + 1, one, two) && same_bits(2, sums, other));
                }
                double sum = 0, square = 0, size = 1;
                for (size_t i = 0; i < n; i++) {
                    double eta = x[0][i] + s.t * x[1][i] + (s.offset ? s.offset[i] : 0);
                    double mean = f == MEAN_EXP ? exp(eta) : 1 / (1 + exp(-eta));
                    double want = s.base[i] - mean - (s.curvature ? s.curvature[i] * eta : 0);
                    if (s.weight) want *= s.weight[i];
                    CHECK_NEAR(one[i], want, TOL_ROUND);
                    sum += want * x[1][i];
                    square += pow(want * x[1][i], 2);
                    size += fabs(want * x[1][i]);
                }
                CHECK(fabs(sum - sums[0]) <= TOL_ROUND * size);
                CHECK(fabs(square - sums[1]) <= TOL_SUM * (1 + square));
            }
}

TEST(slope_sums_keep_the_limits_of_the_means)
{
    const double eta[] = {INFINITY, -INFINITY, NAN, 400.0}, deta[] = {1, 1, 1, 1}, y[4] = {0};
    const slope_terms s = {.base = y};
    double r[4], sums[2];
    const kernels *k;
    for (size_t v = 0; (k = kernels_at(v)); v++) {
        k->slope_sums[MEAN_SIGMOID](4, &s, eta, deta, r, sums);
        CHECK(r[0] == -1 && fabs(r[1]) < 1e-307 && isnan(r[2]) && r[3] == -1);
        k->slope_sums[MEAN_EXP](4, &s, eta, deta, r, sums);
        CHECK(r[0] == r[3] && isfinite(r[3]) && r[1] == 0 && isnan(r[2]));
    }
}

TEST(dot_and_sums_are_those_of_long_double)
{
    rng r = rng_stream(8, 0, RNG_TEST);
    double x[MAX_SIZE], y[MAX_SIZE], sums[2];
    for (size_t n = 0; n <= MAX_SIZE; n++) {
        fill(&r, n, x);
        fill(&r, n, y);
        const double shift = rng_normal(&r);
        long double dot = 0, size = 0, sum = 0, all = 0, squares = 0;
        for (size_t i = 0; i < n; i++) {
            dot += (long double)x[i] * y[i];
            size += fabsl((long double)x[i] * y[i]);
            sum += x[i];
            all += fabs(x[i]);
            squares += ((long double)x[i] - shift) * ((long double)x[i] - shift);
        }
        kernels_best()->sum_squares(n, x, shift, sums);
        CHECK(fabsl(kernels_best()->dot(n, x, y) - dot) <= TOL_ROUND * size);
        CHECK(fabsl(sums[0] - sum) <= TOL_ROUND * all);
        CHECK(fabsl(sums[1] - squares) <= TOL_ROUND * squares);
    }
}

CHECK_MAIN

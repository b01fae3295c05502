/* Generated rows: the random words are those of Random123; every instruction set makes the same
 * rows, one at a time or many at once; columns and targets have the documented distributions.
 * */
#include "check.h"

#include "linalg/dense_matrix.h"
#include "model/likelihood/generated_targets.h"
#include "table/gathered_rows.h"
#include "table/row_sums.h"

#include <Random123/philox.h>
#include <math.h>
#include <string.h>

#define LIMIT 4.5 /* standard errors; some hundred are compared */

static rows *made(const char *model, size_t n, size_t features, bool intercept, uint64_t seed)
{
    rows *r = NULL;
    sbps_error err = {0};
    CHECK(generated_rows(model, n, features, intercept, seed, &r, &err) == SBPS_OK);
    return r;
}

static uint32_t word_of(uint64_t seed, uint64_t row, size_t index)
{
    const philox4x32_ctr_t counter = {
        {(uint32_t)row, (uint32_t)(row >> 32), (uint32_t)(index / 4), 0}};
    const philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    return philox4x32_R(10, counter, key).v[index % 4];
}

/* Also rows beyond 2^32, and any number of columns. Nothing is written before or after them. */
static void same_words(const kernels *k, uint64_t seed, uint64_t first, size_t n, size_t count)
{
    enum { STRIDE = 40, ROWS_MAX = 20 };
    double x[ROWS_MAX * STRIDE];
    uint32_t pairs[2 * ROWS_MAX];
    for (size_t i = 0; i < ROWS_MAX * STRIDE; i++) x[i] = 7.0;
    k->counter_rows(seed, first, n, count, x, STRIDE, pairs);
    for (size_t i = 0; i < ROWS_MAX; i++)
        for (size_t j = 0; j < STRIDE; j++) {
            uint32_t half = word_of(seed, first + i, j / 2) >> 16 * (j % 2) & 0xffff;
            double want = i < n && j < count ? ((double)half - 32767.5) / 16384.0 : 7.0;
            CHECK(x[i * STRIDE + j] == want);
        }
    for (size_t i = 0; i < 2 * n; i++)
        CHECK(pairs[i] == word_of(seed, first + i / 2, counter_pair(count) + i % 2));
}

TEST(words_are_those_of_random123)
{
    const kernels *k;
    for (size_t v = 0; (k = kernels_at(v)); v++)
        for (size_t count = 1; count <= 33; count++) {
            same_words(k, 1, 0, 20, count);
            same_words(k, UINT64_C(0x123456789abcdef), (UINT64_C(1) << 32) - 5, 13, count);
            same_words(k, 3, UINT64_C(99999999999), 1, count);
        }
}

/* Pairs come after the words of `count` numbers. */
TEST(pairs_come_after_the_words_of_numbers)
{
    for (size_t count = 1; count < 100; count++) {
        CHECK(2 * counter_pair(count) >= count && counter_pair(count) % 4 <= 2);
        CHECK(counter_pair(count) < count / 2 + 3);
    }
}

static void same_rows(const rows *r, row_range at)
{
    enum { MAX_ROWS = 40, WIDE = 24 };
    const kernels *k = kernels_best();
    double p[WIDE] = {0}, x[MAX_ROWS * WIDE], c[MAX_ROWS], eta[MAX_ROWS], deta[MAX_ROWS],
           sum[WIDE] = {0};
    double want[WIDE] = {0}, y[MAX_ROWS], scratch[MAX_ROWS];
    for (size_t j = 0; j < r->d; j++) p[j] = sin((double)j);
    for (size_t i = 0; i < at.n; i++) {
        r->storage.kind->decode(r, row_index(at, i), x + i * r->stride);
        for (size_t j = 0; j < r->d; j++)
            CHECK(x[i * r->stride + j] == r->storage.kind->cell(r, row_index(at, i), j));
        for (size_t j = r->d; j < r->stride; j++) CHECK(x[i * r->stride + j] == 0.0);
        c[i] = cos((double)i);
    }
    rows_products(r, k, at, p, p, eta, deta);
    rows_combine(r, k, at, c, sum);
    k->row_combine(x, r->stride, NULL, 0, at.n, c, want);
    CHECK(!memcmp(sum, want, sizeof sum));
    const double *targets = rows_targets(r, at, y);
    for (size_t i = 0; i < at.n; i++) {
        CHECK(eta[i] == k->dot(r->stride, x + i * r->stride, p) && deta[i] == eta[i]);
        CHECK(targets[i] == *rows_targets(r, rows_from(row_index(at, i), 1), scratch));
    }
}

TEST(products_are_those_of_the_rows)
{
    const char *const models[] = {"logistic", "linear", "poisson"};
    const size_t list[] = {8, 3, 3, 99999999998, 70};
    for (size_t m = 0; m < 3; m++) {
        rows *r = made(models[m], 100000000000, 19 + m, m != 1, 5);
        same_rows(r, rows_from(0, 33));
        same_rows(r, rows_from(99999999960, 40));
        same_rows(r, (row_range){list, 0, 5});
        rows_destroy(r);
    }
}

/* Copied for repeated reading: the rows and their targets. */
TEST(views_hold_rows_and_targets)
{
    double scratch[50 * 25], y[50];
    rows *r = made("logistic", 1000, 20, true, 5), view;
    gathered_view(r, rows_from(700, 50), scratch, &view);
    CHECK(view.local_rows == 50 && view.storage.x == scratch && !view.storage.recipe);
    rows_targets(r, rows_from(700, 50), y);
    CHECK(!memcmp(y, view.y, sizeof y));
    gathered_rows *l = gathered_open(r, 50);
    CHECK(l);
    for (size_t first = 690; l && first < 960; first += 7) {
        row_range at = rows_from(first, 20 + first % 3);
        const rows *from = gathered_take(l, r, &at);
        double x[24];
        r->storage.kind->decode(r, first, x);
        CHECK(from != r && !memcmp(x, from->storage.x + at.first * r->stride, 21 * sizeof *x));
    }
    gathered_close(l);
    rows_destroy(r);
}

/* Means, variances and correlations of columns, of one row with the next, and of a seed with
 * another. */
TEST(columns_are_uncorrelated_with_the_documented_sd)
{
    enum { N = 40000, D = 6 };
    rows *a = made("logistic", N, D, false, 1), *b = made("logistic", N, D, false, 2);
    double root = 1.0 / sqrt(N), sd = a->table.sd[0], square[D][D] = {{0}}, next[D] = {0},
           other[D] = {0}, mean[D] = {0};
    CHECK_NEAR(sd, 2.0 / sqrt(3.0), 1e-6);
    for (size_t i = 0; i < N; i++) {
        double x[8], y[8], z[8];
        a->storage.kind->decode(a, i, x);
        a->storage.kind->decode(a, i + 1, y);
        b->storage.kind->decode(b, i, z);
        for (size_t j = 0; j < D; j++) {
            mean[j] += x[j] / sd / N;
            next[j] += x[j] * y[(j + 1) % D] / (sd * sd) / N;
            other[j] += x[j] * z[j] / (sd * sd) / N;
            for (size_t k = 0; k < D; k++) square[j][k] += x[j] * x[k] / (sd * sd) / N;
        }
    }
    for (size_t j = 0; j < D; j++) {
        CHECK_NEAR(mean[j] / root, 0.0, LIMIT);
        CHECK_NEAR(next[j] / root, 0.0, LIMIT);
        CHECK_NEAR(other[j] / root, 0.0, LIMIT);
        CHECK_NEAR((square[j][j] - 1.0) / (sqrt(0.8) * root), 0.0, LIMIT);
        for (size_t k = 0; k < j; k++) CHECK_NEAR(square[j][k] / root, 0.0, LIMIT);
    }
    rows_destroy(a);
    rows_destroy(b);
}

/* The scores at the true weights, sum of d log p / d eta and with columns, are 0 on average,
 * and have the variance of the model. */
TEST(targets_have_the_distribution_of_the_model)
{
    enum { N = 20000, D = 4 };
    const char *const models[] = {"logistic", "linear", "poisson"};
    for (size_t m = 0; m < 3; m++) {
        rows *r = made(models[m], N, D, false, 11);
        double score[D + 1] = {0}, info[D + 1] = {0}, spread = 0.0;
        for (size_t i = 0; i < N; i++) {
            double x[D + 1] = {0}, scratch, y = *rows_targets(r, rows_from(i, 1), &scratch);
            r->storage.kind->decode(r, i, x);
            double eta = dot(D, x, r->storage.recipe->truth);
            double mean = m == 0 ? 1 / (1 + exp(-eta)) : m == 1 ? eta : exp(eta);
            double variance = m == 0 ? mean * (1 - mean) : m == 1 ? 1.0 : mean;
            x[D] = 1.0;
            for (size_t j = 0; j <= D; j++) {
                score[j] += x[j] * (y - mean);
                info[j] += x[j] * x[j] * variance;
            }
            spread += (y - mean) * (y - mean) / variance / N;
        }
        for (size_t j = 0; j <= D; j++) CHECK_NEAR(score[j] / sqrt(info[j]), 0.0, LIMIT);
        CHECK_NEAR(spread, 1.0, 0.05);
        rows_destroy(r);
    }
}

/* The hash covers the recipe: a recipe with another number is another table. */
TEST(the_hash_depends_on_the_recipe)
{
    rows *a = made("logistic", 5000, 5, true, 1), *b = made("logistic", 5000, 5, true, 1);
    rows *others[] = {made("linear", 5000, 5, true, 1), made("logistic", 5001, 5, true, 1),
                      made("logistic", 5000, 6, true, 1), made("logistic", 5000, 5, false, 1),
                      made("logistic", 5000, 5, true, 2)};
    CHECK(a->table.hash == b->table.hash);
    for (size_t i = 0; i < 5; i++) {
        CHECK(others[i]->table.hash != a->table.hash);
        rows_destroy(others[i]);
    }
    rows_destroy(a);
    rows_destroy(b);
    sbps_error err = {0};
    rows *none;
    CHECK(generated_rows("softmax", 10, 2, true, 1, &none, &err) == SBPS_BAD_ARG && !none);
    CHECK(strstr(err.text, "softmax"));
    CHECK(generated_rows("linear", 10, 5000, true, 1, &none, &err) == SBPS_BAD_ARG);
}

CHECK_MAIN

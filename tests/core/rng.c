/* Random numbers: the generator is the published one, and its numbers have the stated
 * distributions. */
#include "core/rng.h"

#include "check.h"

#define DRAWS 1000000

/* Mean and variance of DRAWS numbers against a distribution's mean, variance and fourth central
 * moment. */
static void check_moments(double (*draw)(rng *), double mean, double variance, double fourth)
{
    rng r = rng_stream(20, 1, RNG_TEST);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        const double centred = draw(&r) - mean;
        sum += centred;
        squares += centred * centred;
    }
    CHECK_Z(sum / DRAWS, 0, sqrt(variance / DRAWS), MAX_Z);
    CHECK_Z(squares / DRAWS, variance, sqrt((fourth - variance * variance) / DRAWS), MAX_Z);
}

/* Chi-square statistic of equal cells, as a z score. */
static double uniformity(size_t cells, const size_t *counts, size_t draws)
{
    const double want = (double)draws / (double)cells;
    double chi2 = 0;
    for (size_t i = 0; i < cells; i++)
        chi2 += ((double)counts[i] - want) * ((double)counts[i] - want) / want;
    const double freedom = (double)cells - 1;
    return (chi2 - freedom) / sqrt(2 * freedom);
}

TEST(philox_gives_its_published_words)
{
    static const uint64_t want[4] = {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                                     0x7e68b68aec7ba23b};
    rng r = rng_stream(0, 0, (rng_use)0); /* key and counter are zero */
    for (size_t i = 0; i < 4; i++) CHECK(rng_word(&r) == want[i]);
    CHECK(rng_word(&r) != want[0]);
}

TEST(the_counter_carries_into_its_next_word)
{
    rng r = rng_stream(1, 2, RNG_TEST), s = r;
    r.counter[0] = UINT64_MAX - RNG_BLOCK / 4 + 1;
    for (size_t i = 0; i < 4; i++) rng_word(&r);
    CHECK(r.counter[0] == 0 && r.counter[1] == 1 && r.counter[2] == 0);
    CHECK(rng_word(&r) != rng_word(&s));
}

TEST(a_copied_stream_continues_with_the_same_numbers)
{
    rng r = rng_stream(5, 6, RNG_TEST);
    for (size_t i = 0; i < 7; i++) rng_normal(&r);
    rng s = r;
    for (size_t i = 0; i < 100; i++) CHECK(rng_normal(&r) == rng_normal(&s));
}

TEST(streams_of_different_keys_differ)
{
    rng streams[] = {rng_stream(1, 0, RNG_PATH),  rng_stream(2, 0, RNG_PATH),
                     rng_stream(1, 1, RNG_PATH),  rng_stream(1, 2, RNG_PATH),
                     rng_stream(1, 0, RNG_BATCH), rng_stream(1, 0, RNG_SHUFFLE)};
    enum { STREAMS = sizeof streams / sizeof *streams, WORDS = 16 };
    uint64_t words[STREAMS][WORDS];
    for (size_t s = 0; s < STREAMS; s++)
        for (size_t i = 0; i < WORDS; i++) words[s][i] = rng_word(&streams[s]);
    for (size_t s = 0; s < STREAMS; s++)
        for (size_t t = 0; t < s; t++)
            for (size_t i = 0; i < WORDS; i++) CHECK(words[s][i] != words[t][i]);
}

TEST(uniform_has_its_moments)
{
    check_moments(rng_uniform, 0.5, 1.0 / 12, 1.0 / 80);
}

TEST(exponential_has_its_moments)
{
    check_moments(rng_exponential, 1, 1, 9);
}

TEST(normal_has_its_moments)
{
    check_moments(rng_normal, 0, 1, 3);
}

TEST(uniform_stays_inside_the_open_interval)
{
    rng r = {.block = {[RNG_BLOCK - 4] = 0, UINT64_MAX, 0, UINT64_MAX}, .left = 4};
    for (size_t i = 0; i < 4; i++) {
        const double u = rng_uniform(&r);
        CHECK(u > 0 && u < 1);
    }
}

TEST(uniform_fills_its_cells_evenly)
{
    rng r = rng_stream(3, 0, RNG_TEST);
    size_t counts[1000] = {0};
    for (size_t i = 0; i < DRAWS; i++) counts[(size_t)(1000 * rng_uniform(&r))]++;
    CHECK(fabs(uniformity(1000, counts, DRAWS)) < MAX_Z);
}

TEST(normal_has_its_tails)
{
    rng r = rng_stream(4, 0, RNG_TEST);
    double inside = 0, beyond = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        const double z = rng_normal(&r);
        inside += fabs(z) < 0.5;
        beyond += z > 3;
    }
    const double p = erf(0.5 / sqrt(2)), q = erfc(3 / sqrt(2)) / 2;
    CHECK_Z(inside / DRAWS, p, sqrt(p * (1 - p) / DRAWS), MAX_Z);
    CHECK_Z(beyond / DRAWS, q, sqrt(q * (1 - q) / DRAWS), MAX_Z);
}

TEST(below_is_uniform)
{
    static const size_t bounds[] = {1, 2, 3, 7, 64, 1000};
    rng r = rng_stream(7, 0, RNG_TEST);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        size_t counts[1000] = {0};
        for (size_t i = 0; i < DRAWS; i++) {
            const size_t k = rng_below(&r, bounds[b]);
            REQUIRE(k < bounds[b]);
            counts[k]++;
        }
        if (bounds[b] > 1) CHECK(fabs(uniformity(bounds[b], counts, DRAWS)) < MAX_Z);
    }
}

/* With bound 3 x 2^62 a plain multiplication gives every third number twice the mass. */
TEST(below_has_no_bias_for_huge_bounds)
{
    rng r = rng_stream(8, 0, RNG_TEST);
    const size_t bound = (size_t)3 << 62;
    size_t counts[3] = {0};
    for (size_t i = 0; i < DRAWS; i++) {
        const size_t k = rng_below(&r, bound);
        REQUIRE(k < bound);
        counts[k % 3]++;
    }
    CHECK(fabs(uniformity(3, counts, DRAWS)) < MAX_Z);
}

TEST(directions_have_unit_norm)
{
    rng r = rng_stream(9, 0, RNG_TEST);
    double v[50];
    for (size_t d = 1; d <= 50; d++) {
        rng_sphere(&r, d, v);
        double squares = 0;
        for (size_t j = 0; j < d; j++) squares += v[j] * v[j];
        CHECK_NEAR(squares, 1, TOL_ROUND);
    }
}

/* On the sphere E v = 0, E v_i v_j = [i = j]/d, E v_i^4 = 3/(d(d+2)), E v_i^2 v_j^2 =
 * 1/(d(d+2)). */
TEST(directions_have_no_preferred_one)
{
    enum { D = 5, TIMES = DRAWS / 5 };
    rng r = rng_stream(10, 0, RNG_TEST);
    double v[D], mean[D] = {0}, second[D][D] = {{0}};
    for (size_t i = 0; i < TIMES; i++) {
        rng_sphere(&r, D, v);
        for (size_t j = 0; j < D; j++) {
            mean[j] += v[j] / TIMES;
            for (size_t k = 0; k < D; k++) second[j][k] += v[j] * v[k] / TIMES;
        }
    }
    const double same = sqrt((3.0 / (D * (D + 2)) - 1.0 / (D * D)) / TIMES);
    const double cross = sqrt(1.0 / (D * (D + 2)) / TIMES);
    for (size_t j = 0; j < D; j++) {
        CHECK_Z(mean[j], 0, sqrt(1.0 / D / TIMES), MAX_Z);
        for (size_t k = 0; k < D; k++)
            CHECK_Z(second[j][k], j == k ? 1.0 / D : 0, j == k ? same : cross, MAX_Z);
    }
}

/* All 60 ordered choices of 3 from 5, whatever order the list is in. */
TEST(choose_gives_every_ordered_choice_equally_often)
{
    rng r = rng_stream(8, 0, RNG_TEST);
    size_t list[5] = {0, 1, 2, 3, 4}, counts[125] = {0}, seen[60], used = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        rng_choose(&r, 5, 3, list);
        counts[25 * list[0] + 5 * list[1] + list[2]]++;
    }
    for (size_t i = 0; i < 125; i++) {
        size_t a = i / 25, b = i / 5 % 5, c = i % 5;
        if (a == b || b == c || a == c)
            CHECK(counts[i] == 0);
        else
            seen[used++] = counts[i];
    }
    CHECK(fabs(uniformity(60, seen, DRAWS)) < MAX_Z);
}

/* Bounds too wide to share a word, and as many numbers as there are. */
TEST(choose_keeps_a_permutation)
{
    rng r = rng_stream(9, 0, RNG_TEST);
    size_t n = 70001, sum = 0;
    size_t *list = calloc(n, sizeof *list), *seen = calloc(n, sizeof *seen);
    for (size_t i = 0; i < n; i++) list[i] = i;
    rng_choose(&r, n, 100, list);
    rng_choose(&r, n, n, list);
    for (size_t i = 0; i < n; i++) sum += seen[list[i]]++ == 0;
    CHECK(sum == n);
    free(list);
    free(seen);
}

CHECK_MAIN

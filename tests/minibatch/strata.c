/* Strata: rows of similar influence, Neyman allocation, whole strata where that is cheapest. */
#include "minibatch/fixture.h"

#define ROWS 1000

/* 900 rows of small influence, 90 of large, 9 of very large and one of extreme influence, in a
 * fixed random order. */
static void make_influence(float influence[ROWS])
{
    for (size_t i = 0; i < ROWS; i++) {
        size_t place = i * 7 % ROWS;
        influence[i] = place < 1 ? 5e4F : place < 10 ? 300.0F : place < 100 ? 12.0F : 0.1F;
    }
}

static strata *make_strata(const float influence[ROWS], size_t count)
{
    strata_tally count_of;
    strata plan, *s = NULL;
    CHECK(strata_count(&(rows){.local_rows = ROWS}, influence, &count_of, NULL) == SBPS_OK);
    strata_divide(&count_of, count, &plan);
    CHECK(strata_create(&plan, ROWS, influence, &s, NULL) == SBPS_OK);
    return s;
}

TEST(every_row_is_in_one_stratum_with_similar_rows)
{
    float influence[ROWS];
    bool seen[ROWS] = {false};
    make_influence(influence);
    strata *s = make_strata(influence, STRATA_MAX);
    REQUIRE(s && s->count == 4);
    size_t all = 0;
    for (size_t k = 0; k < s->count; k++) {
        CHECK(s->first[k] == all);
        for (size_t i = 0; i < s->size[k]; i++) {
            size_t row = s->order[s->first[k] + i];
            CHECK(row < ROWS && !seen[row] && influence[row] >= s->from[k]);
            CHECK(influence[row] == influence[s->order[s->first[k]]]);
            seen[row] = true;
            if (i > 0) CHECK(s->order[s->first[k] + i - 1] < row);
        }
        all += s->size[k];
    }
    CHECK(all == ROWS);
    for (size_t k = 1; k < s->count; k++)
        CHECK_NEAR(s->spread[k], influence[s->order[s->first[k]]], 1e-6);
    double mean = (5e4 + 9.0 * 300.0 + 90.0 * 12.0 + 90.0) / ROWS;
    CHECK_NEAR(s->spread[0], 0.1 * mean, 1e-6); /* the smallest influence that is assumed */
    strata_destroy(s);
}

/* One row in a thousand dominates: it is in every batch, however small. */
TEST(a_single_influential_row_is_in_every_batch)
{
    float influence[ROWS];
    size_t taken[STRATA_MAX];
    make_influence(influence);
    for (size_t count = 2; count <= STRATA_MAX; count++) {
        strata *s = make_strata(influence, count);
        REQUIRE(s);
        CHECK(s->size[s->count - 1] == 1 && s->order[s->first[s->count - 1]] == 0);
        strata_allot(s, 2 * count, taken);
        CHECK(taken[s->count - 1] == 1);
        strata_destroy(s);
    }
}

/* Far from the mode a row's influence may be too large for its square, or for a float. */
TEST(influences_that_are_not_finite_are_in_the_last_strata)
{
    static const float large[] = {1e30F, 1e38F, INFINITY, NAN};
    for (size_t kind = 0; kind < sizeof large / sizeof *large; kind++) {
        float influence[ROWS];
        size_t taken[STRATA_MAX], all = 0;
        make_influence(influence);
        for (size_t i = 0; i < ROWS; i += 100) influence[i] = large[kind];
        strata *s = make_strata(influence, STRATA_MAX);
        REQUIRE(s && s->count > 1);
        for (size_t k = 0; k < s->count; k++) {
            CHECK(s->first[k] == all && s->size[k] > 0);
            all += s->size[k];
        }
        CHECK(all == ROWS);
        for (size_t i = 0; i < s->first[s->count - 1]; i++) CHECK(s->order[i] % 100 != 0);
        CHECK(strata_allot(s, 50, taken) <= ROWS);
        strata_destroy(s);
    }
}

/* More strata, less noise. */
TEST(boundaries_minimise_the_noise)
{
    float influence[ROWS];
    rng r = rng_stream(3, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) influence[i] = (float)exp(2.0 * rng_normal(&r));
    double last = INFINITY;
    for (size_t count = 1; count <= STRATA_MAX; count++) {
        strata *s = make_strata(influence, count);
        REQUIRE(s);
        double sum = 0.0;
        for (size_t k = 0; k < s->count; k++) sum += (double)s->size[k] * s->spread[k];
        CHECK(sum < last);
        last = sum;
        strata_destroy(s);
    }
}

/* Moving one row of a batch to another stratum does not reduce the noise. */
TEST(the_allocation_is_optimal)
{
    strata s = {.count = 3, .size = {900, 90, 10}, .spread = {0.1, 12.0, 300.0}};
    size_t taken[STRATA_MAX];
    CHECK(strata_allot(&s, 60, taken) == 60);
    CHECK(taken[2] == 10); /* whole */
    double best = strata_variance(&s, 60);
    for (size_t a = 0; a < 2; a++) {
        double sum = 0.0;
        for (size_t k = 0; k < 2; k++) {
            double n = (double)taken[k] + (k == a ? 1.0 : -1.0), size = (double)s.size[k];
            sum += size * size * s.spread[k] * s.spread[k] / n * (1.0 - n / size);
        }
        CHECK(sum > best * (1.0 - 1e-12));
    }
    CHECK(strata_allot(&s, 1000, taken) == 1000 && strata_variance(&s, 1000) == 0.0);
    CHECK(strata_allot(&s, 1, taken) >= 2 * STRATUM_ROWS_MIN);
}

/* Rows of equal influence form one stratum, and batches are as without strata. */
TEST(equal_rows_are_one_stratum)
{
    float influence[ROWS];
    size_t taken[STRATA_MAX];
    for (size_t i = 0; i < ROWS; i++) influence[i] = 2.0F;
    strata *s = make_strata(influence, STRATA_MAX);
    REQUIRE(s);
    CHECK(s->count == 1 && strata_allot(s, 50, taken) == 50);
    CHECK_NEAR(strata_variance(s, 50), 1e6 * 4.0 / 50.0 * 0.95, 1e-6);
    strata_destroy(s);
}

CHECK_MAIN

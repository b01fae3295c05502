/* Strata: loud rows together, allotted by Neyman, whole where that is cheapest. */
#include "potential/fixture.h"

#define ROWS 1000

/* Nine hundred quiet rows, ninety loud ones, ten very loud, in a fixed disorder. */
static void make_influence(double influence[ROWS])
{
    for (size_t i = 0; i < ROWS; i++) {
        size_t place = i * 7 % ROWS;
        influence[i] = place < 10 ? 300.0 : place < 100 ? 12.0 : 0.1;
    }
}

TEST(every_row_lies_in_one_stratum_with_its_likes)
{
    double influence[ROWS];
    bool seen[ROWS] = {false};
    strata *s = NULL;
    make_influence(influence);
    REQUIRE(strata_create(ROWS, influence, &s, NULL) == SBPS_OK);
    size_t all = 0;
    for (size_t k = 0; k < s->count; k++) {
        double squares = 0.0;
        CHECK(s->first[k] == all && s->size[k] >= STRATA_LEAST);
        for (size_t i = 0; i < s->size[k]; i++) {
            size_t row = s->order[s->first[k] + i];
            CHECK(row < ROWS && !seen[row]);
            seen[row] = true;
            squares += influence[row] * influence[row];
            if (i > 0) CHECK(s->order[s->first[k] + i - 1] < row);
        }
        CHECK_NEAR(s->spread[k], sqrt(squares / (double)s->size[k]), 1e-12 * s->spread[k]);
        all += s->size[k];
    }
    CHECK(all == ROWS && s->count >= 2);
    strata_destroy(s);
}

/* No batch of as many rows with one more here and one less there is quieter. */
TEST(allotment_is_the_best)
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
    CHECK(strata_allot(&s, 1, taken) >= 2 * STRATA_LEAST);
}

/* Rows all alike make one stratum, and a batch is then what it always was. */
TEST(equal_rows_are_one_stratum)
{
    double influence[ROWS];
    strata *s = NULL;
    size_t taken[STRATA_MAX];
    for (size_t i = 0; i < ROWS; i++) influence[i] = 2.0;
    REQUIRE(strata_create(ROWS, influence, &s, NULL) == SBPS_OK);
    CHECK(s->count == 1 && strata_allot(s, 50, taken) == 50);
    CHECK_NEAR(strata_variance(s, 50), 1e6 * 4.0 / 50.0 * 0.95, 1e-6);
    strata_destroy(s);
}

CHECK_MAIN

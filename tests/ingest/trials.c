/* --trials: successes become proportions, with the trials as weights. */
#include "check.h"

#include "fixture.h"
#include "ingest/ingest.h"

static const char table[] = "dead,n,w,dose\n1,4,2,7\n0,3,1,8\n5,5,3,9\n0,0,2,6\n";

/* Returns the weight of the row with this dose, and its proportion. */
static double weight_at(const rows *r, double dose, double *proportion)
{
    for (size_t i = 0; i < r->local_rows; i++)
        if (r->storage.kind->cell(r, i, 0) == dose) return *proportion = r->y[i], r->weight[i];
    return NAN;
}

static void check_rows(const rows *r, const double weights[4])
{
    static const double proportions[] = {0.25, 0.0, 1.0, 0.0}, doses[] = {7, 8, 9, 6};
    double proportion = NAN;
    REQUIRE(r && r->local_rows == 4 && r->d == 1);
    for (size_t i = 0; i < 4; i++) {
        CHECK(weight_at(r, doses[i], &proportion) == weights[i]);
        CHECK(proportion == proportions[i]);
    }
}

TEST(counts_become_proportions_and_trials_weights)
{
    const rows_spec spec = {.target = "dead", .trials = "n", .features = "dose", .seed = 1};
    rows *r = rows_from_text(table, &spec);
    check_rows(r, (double[]){4, 3, 5, 0});
    CHECK(r->table.notes && strstr(r->table.notes, "1 row of 0 trials: it has no information"));
    rows_destroy(r);
}

TEST(weights_multiply_trials)
{
    rows_spec spec = {.target = "dead", .trials = "n", .weights = "w", .seed = 1};
    rows *r = rows_from_text(table, &spec);
    check_rows(r, (double[]){8, 3, 15, 0});
    rows_destroy(r);
    spec.storage = "sparse";
    r = rows_from_text(table, &spec);
    check_rows(r, (double[]){8, 3, 15, 0});
    rows_destroy(r);
}

TEST(invalid_trials_are_reported_with_their_line)
{
    static const struct {
        const char *text;
        rows_spec spec;
        const char *sentence;
    } wrong[] = {
        {"y,n,a\n1,2,3\n3,2,4\n",
         {.target = "y", .trials = "n"},
         "t.csv:3: column 'y': 3 succ"},
        {"y,n,a\n1,2,3\n-1,2,4\n", {.target = "y", .trials = "n"}, "t.csv:3: column 'y': -1 "},
        {"y,n,a\n0.5,2,3\n1,2,4\n", {.target = "y", .trials = "n"}, "t.csv:2: column 'y': 0.5"},
        {"y,n,a\n1,2.5,3\n1,2,4\n", {.target = "y", .trials = "n"}, "t.csv:2: column 'n': 2.5"},
        {"y,n,a\n1,-2,3\n1,2,4\n", {.target = "y", .trials = "n"}, "column 'n': -2 is no"},
        {"y,n,a\n1,2,3\n1,2,4\n", {.target = "y", .trials = "m"}, "--trials: no column"},
        {"y,n,a\n1,2,3\n1,2,4\n",
         {.target = "y", .trials = "n", .features = "n"},
         "'n' is already the trials"},
        {"y,n,a\n0,0,3\n0,0,4\n", {.target = "y", .trials = "n"}, "every weight is 0"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rows *r = rows_from_text(wrong[i].text, &wrong[i].spec);
        CHECK(!r);
        if (!strstr(error.text, wrong[i].sentence)) printf("%s\n", error.text);
        CHECK(strstr(error.text, wrong[i].sentence));
        rows_destroy(r);
    }
}

TEST(arrays_have_no_column_names)
{
    const double x[] = {1, 2}, y[] = {1, 0};
    const rows_spec spec = {.target = "y", .trials = "n"};
    rows *r;
    CHECK(rows_copy(2, 1, x, NULL, y, NULL, NULL, &spec, &r, &error) == SBPS_BAD_ARG);
    CHECK(strstr(error.text, "--trials names columns of a file"));
}

CHECK_MAIN

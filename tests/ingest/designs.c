/* The design matrix is that of the options. */
#include "check.h"

#include "fixture.h"
#include "ingest/ingest.h"
#include "table/column_moments.h"

static const char table[] = "y,w,o,size,colour,day\n"
                            "1,2,0.1,1,red,10\n"
                            "2,0,0.2,2,green,9\n"
                            "3,1,0.3,4,blue,9\n"
                            "4,.5,0.4,8,red,100\n"
                            "5,3,0.5,16,red,9\n";

static bool names_are(const rows *r, const char *list)
{
    char joined[512] = "";
    for (size_t j = 0; j < r->d; j++) strcat(strcat(joined, j ? "|" : ""), r->table.names[j]);
    if (strcmp(joined, list) != 0) printf("names: %s\n", joined);
    return strcmp(joined, list) == 0;
}

TEST(features_are_in_the_requested_order)
{
    static const struct {
        rows_spec spec;
        const char *names;
    } cases[] = {
        {{.target = "y", .features = "size, w ,\to", .intercept = true}, "intercept|size|w|o"},
        {{.target = " y ", .features = "o,size"}, "o|size"},
        {{.target = "y", .weights = "w", .offset = "o", .categorical = "colour"},
         "size|colour=green|colour=red|day"},
        {{.target = "y", .features = "size", .categorical = "colour"},
         "size|colour=green|colour=red"},
        {{.target = "y", .features = "colour,size", .categorical = "colour"},
         "colour=green|colour=red|size"},
        {{.target = "y", .features = "w", .categorical = "day", .intercept = true},
         "intercept|w|day=10|day=100"},
        {{.target = "y", .features = "", .categorical = "colour", .weights = " ", .offset = ""},
         "w|o|size|colour=green|colour=red|day"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        rows *r = rows_from_text(table, &cases[k].spec);
        if (!r) printf("case %zu: %s\n", k, error.text);
        REQUIRE(r);
        CHECK(names_are(r, cases[k].names));
        CHECK(r->stride % 4 == 0 && r->stride >= r->d && r->stride < r->d + 4);
        rows_destroy(r);
    }
}

TEST(a_category_is_one_hot_without_its_first_level)
{
    const rows_spec spec = {.target = "y", .features = "size", .categorical = "colour"};
    static const double want[5][3] = {{1, 0, 1}, {2, 1, 0}, {4, 0, 0}, {8, 0, 1}, {16, 0, 1}};
    rows *r = rows_from_text(table, &spec);
    REQUIRE(r);
    for (size_t i = 0; i < 5; i++) {
        const double *x = row_with(r, (double)i + 1);
        REQUIRE(x);
        CHECK(memcmp(x, want[i], sizeof want[i]) == 0);
    }
    rows_destroy(r);
}

TEST(levels_sort_by_value_or_naturally)
{
    static const struct {
        const char *cells[6];
        const char *names;
    } cases[] = {
        {{"10", "9", "-2", "1e1"}, "c=9|c=10"},
        {{"b", "a", "B", "c"}, "c=a|c=b|c=c"},
        {{"a10", "a9", "a1", "b"}, "c=a9|c=a10|c=b"},
        {{"a10", "a9", "a01", "a1"}, "c=a1|c=a9|c=a10"},
        {{"10 to 19", "5 to 9", "1 to 4", "20+"}, "c=5 to 9|c=10 to 19|c=20+"},
        {{"\"x,\"\"1\"\"\"", "\" x\"", "y", "x"}, "c=x|c=x,\"1\"|c=y"},
        {{"1", "2", "1x", "10"}, "c=1x|c=2|c=10"},
    };
    const rows_spec spec = {.target = "y", .categorical = "c"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[512] = "y,c\n";
        for (int i = 0; i < 4; i++)
            sprintf(text + strlen(text), "%d,%s\n", i, cases[k].cells[i]);
        rows *r = rows_from_text(text, &spec);
        if (!r) printf("%s\n", error.text);
        REQUIRE(r);
        CHECK(names_are(r, cases[k].names));
        rows_destroy(r);
    }
}

TEST(weights_and_offsets_stay_with_their_rows)
{
    const rows_spec spec = {
        .target = "y", .features = "size", .weights = "w", .offset = "o", .seed = 5};
    static const double weight[] = {2, 0, 1, .5, 3};
    rows *r = rows_from_text(table, &spec);
    REQUIRE(r && r->weight && r->offset);
    for (size_t i = 0; i < r->local_rows; i++) {
        CHECK(r->weight[i] == weight[(size_t)r->y[i] - 1]);
        CHECK_NEAR(r->offset[i], r->y[i] / 10, TOL_ROUND);
        CHECK(r->storage.x[i * r->stride] == exp2(r->y[i] - 1));
    }
    rows_destroy(r);
}

TEST(rows_with_missing_cells_are_dropped_with_levels_that_only_they_have)
{
    const rows_spec spec = {
        .target = "y", .features = "a", .categorical = "c", .drop_missing = true};
    rows *r =
        rows_from_text("y,a,c,unused\n1,1,p,\n2,,p,1\n3,NA,q,1\nNaN,4,q,1\n5,5,,1\n6,6,r,abc\n"
                       "7,-nan,p,1\n8,\"\",p,1\n9,nan,s,1\n10,2,p,1\n",
                       &spec);
    REQUIRE(r);
    CHECK(r->local_rows == 3 && row_with(r, 1) && row_with(r, 6) && row_with(r, 10));
    CHECK(names_are(r, "a|c=r"));
    rows_destroy(r);
}

TEST(mean_and_sd_are_those_of_the_columns_as_stored)
{
    const rows_spec spec = {.target = "y", .intercept = true};
    rows *r = rows_from_text("y,a,b\n1,1e9,1\n2,1000000001,2\n3,1000000002,4\n4,1000000003,8\n",
                             &spec);
    REQUIRE(r);
    CHECK(r->table.mean[0] == 1 && r->table.sd[0] == 0);
    CHECK_NEAR(r->table.mean[1], 1e9 + 1.5, TOL_ROUND);
    CHECK_NEAR(r->table.sd[1], sqrt(1.25), TOL_ROUND);
    CHECK_NEAR(r->table.mean[2], 3.75, TOL_ROUND);
    CHECK_NEAR(r->table.sd[2], sqrt(85 / 4.0 - 3.75 * 3.75), TOL_ROUND);
    rows_destroy(r);
}

static bool moments_of(double *x, size_t n, double *mean, double *sd)
{
    const rows r = {
        .storage.kind = &storage_double, .local_rows = n, .d = 1, .stride = 1, .storage.x = x};
    const row_pass request = {.r = &r, .threads = 1};
    return column_moments(&request, mean, sd, NULL, &error) == SBPS_OK;
}

/* The first row is the shift of the first pass, so an outlier there is its worst case. */
TEST(moments_stay_accurate_when_the_first_row_is_an_outlier)
{
    enum { N = 100000 };
    double *x = malloc(N * sizeof *x), mean, sd;
    REQUIRE(x);
    for (size_t i = 0; i < N; i++) x[i] = i ? 0.3 : 1e15;
    CHECK(moments_of(x, N, &mean, &sd));
    long double m = (1e15L + (N - 1) * (long double)0.3) / N;
    long double s = sqrtl((powl(1e15L - m, 2) + (N - 1) * powl((long double)0.3 - m, 2)) / N);
    CHECK_NEAR(mean, (double)m, TOL_SUM);
    CHECK_NEAR(sd, (double)s, TOL_SUM);
    free(x);
}

TEST(equal_values_have_an_sd_of_exactly_zero)
{
    enum { MAX_ROWS = 3000 };
    double x[MAX_ROWS], mean, sd;
    for (size_t i = 0; i < MAX_ROWS; i++) x[i] = 0.1;
    for (size_t n = 1; n <= MAX_ROWS; n += 7) {
        CHECK(moments_of(x, n, &mean, &sd));
        CHECK(mean == 0.1 && sd == 0);
    }
}

TEST(standardised_columns_have_mean_zero_and_sd_one)
{
    rows_spec spec = {.target = "y", .categorical = "colour", .intercept = true, .seed = 4};
    rows *raw = rows_from_text(table, &spec);
    spec.standardize = true;
    rows *r = rows_from_text(table, &spec);
    REQUIRE(r && raw);
    CHECK(r->table.mean[0] == 1 && r->table.sd[0] == 0 && r->storage.x[0] == 1);
    for (size_t j = 1; j < r->d; j++) {
        CHECK_NEAR(r->table.mean[j], 0, TOL_ROUND);
        CHECK_NEAR(r->table.sd[j], 1, TOL_ROUND);
        for (size_t i = 0; i < r->local_rows; i++)
            CHECK_NEAR(r->storage.x[i * r->stride + j],
                       (raw->storage.x[i * raw->stride + j] - raw->table.mean[j]) /
                           raw->table.sd[j],
                       TOL_ROUND);
    }
    for (size_t i = 0; i < r->local_rows; i++)
        for (size_t j = r->d; j < r->stride; j++) CHECK(r->storage.x[i * r->stride + j] == 0);
    rows_destroy(r);
    rows_destroy(raw);
}

/* Chi-square of the place of the first of four rows, over seeds. */
TEST(the_shuffle_is_uniform_and_depends_on_the_seed_alone)
{
    static const double x[] = {1, 2, 3, 4}, y[] = {1, 2, 3, 4};
    enum { SEEDS = 2400 };
    double count[24] = {0}, chi = 0;
    for (size_t s = 0; s < SEEDS; s++) {
        rows_spec spec = {.seed = s};
        rows *r, *again;
        REQUIRE(rows_copy(4, 1, x, NULL, y, NULL, NULL, &spec, &r, &error) == SBPS_OK);
        REQUIRE(rows_copy(4, 1, x, NULL, y, NULL, NULL, &spec, &again, &error) == SBPS_OK);
        CHECK(same_rows(r, again));
        int rank = 0; /* the permutation's Lehmer code */
        for (int i = 0; i < 4; i++) {
            int below = 0;
            for (int j = i + 1; j < 4; j++) below += r->y[j] < r->y[i];
            rank = rank * (4 - i) + below;
            CHECK(r->storage.x[(size_t)i * r->stride] == r->y[i]);
        }
        count[rank]++;
        rows_destroy(r);
        rows_destroy(again);
    }
    for (int k = 0; k < 24; k++) chi += pow(count[k] - SEEDS / 24.0, 2) / (SEEDS / 24.0);
    CHECK_Z(chi, 23, sqrt(2 * 23), MAX_Z);
}

TEST(the_hash_depends_on_every_part)
{
    const rows_spec spec = {
        .target = "y", .features = "a", .intercept = true, .weights = "w", .offset = "o"};
    const rows_spec bare = {.target = "y", .features = "a"};
    static const char *const variants[] = {
        "y,a,w,o\n1,2,1,0\n2,4,1,0\n", "y,a,w,o\n1,2,1,0\n2,5,1,0\n",
        "y,a,w,o\n1,2,1,0\n3,4,1,0\n", "y,a,w,o\n1,2,1,0\n2,4,2,0\n",
        "y,a,w,o\n1,2,1,0\n2,4,1,1\n", "y,a,w,o\n1,2,1,0\n2,4,1,0\n2,4,1,0\n",
    };
    uint64_t hash[7];
    for (size_t k = 0; k < 7; k++) {
        rows *r = rows_from_text(variants[k % 6], k < 6 ? &spec : &bare);
        REQUIRE(r);
        hash[k] = r->table.hash;
        rows_destroy(r);
        for (size_t i = 0; i < k; i++) CHECK(hash[i] != hash[k]);
    }
}

TEST(numbers_in_memory_give_the_rows_of_a_file)
{
    static const double x[] = {.5, -2, 1.5, 1e3, -.25, .75}, y[] = {1, 2, 3};
    static const double weight[] = {1, 2, 3}, offset[] = {0, .5, 0};
    static const char *const names[] = {"a", "b"};
    rows_spec spec = {.target = "y", .intercept = true, .seed = 9, .standardize = true};
    rows *copied;
    REQUIRE(rows_copy(3, 2, x, names, y, weight, offset, &spec, &copied, &error) == SBPS_OK);
    spec.weights = "w";
    spec.offset = "o";
    rows *r = rows_from_text("y,a,b,w,o\n1,.5,-2,1,0\n2,1.5,1e3,2,.5\n3,-.25,.75,3,0\n", &spec);
    REQUIRE(r);
    CHECK(same_rows(r, copied));
    rows_destroy(r);
    rows_destroy(copied);
}

TEST(numbers_in_memory_are_checked)
{
    double x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 2, 3}, weight[] = {1, 1, 1};
    rows_spec spec = {.intercept = true};
    rows *r;
    x[3] = NAN;
    CHECK(rows_copy(3, 2, x, NULL, y, NULL, NULL, &spec, &r, &error) == SBPS_BAD_DATA && !r);
    CHECK(strstr(error.text, "row 2, column 'x2'"));
    spec.drop_missing = true;
    REQUIRE(rows_copy(3, 2, x, NULL, y, NULL, NULL, &spec, &r, &error) == SBPS_OK);
    CHECK(r->local_rows == 2 && row_with(r, 1) && row_with(r, 3));
    rows_destroy(r);
    x[3] = INFINITY;
    CHECK(rows_copy(3, 2, x, NULL, y, NULL, NULL, &spec, &r, &error) == SBPS_BAD_DATA && !r);
    x[3] = 4;
    weight[2] = -1;
    CHECK(rows_copy(3, 2, x, NULL, y, weight, NULL, &spec, &r, &error) == SBPS_BAD_DATA);
    CHECK(strstr(error.text, "row 3") && strstr(error.text, "negative"));
    y[1] = -INFINITY;
    CHECK(rows_copy(3, 2, x, NULL, y, NULL, NULL, &spec, &r, &error) == SBPS_BAD_DATA);
    CHECK(strstr(error.text, "row 2, column 'y'"));
    CHECK(rows_copy(1, 2, x, NULL, y, NULL, NULL, &spec, &r, &error) == SBPS_BAD_DATA);
    CHECK(strstr(error.text, "one row"));
    spec.features = "x1";
    CHECK(rows_copy(3, 2, x, NULL, y, NULL, NULL, &spec, &r, &error) == SBPS_BAD_ARG);
}

CHECK_MAIN

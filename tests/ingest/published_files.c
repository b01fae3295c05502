/* Real files, if they are available next to the source tree: sizes, counts and sums as
 * published. */
#include "check.h"

#include "fixture.h"
#include "ingest/ingest.h"

static const struct {
    const char *file, *target;
    size_t n, d; /* the intercept included */
    double counted;
    size_t count; /* targets equal to `counted` */
} files[] = {
    {"data/mnist7x7_0123_train.csv", "label", 8340, 48, 3, 2099},
    {"data/mnist7x7_0123_test.csv", "label", 4157, 48, 0, 980},
    {"data/a9a.libsvm", NULL, 32561, 124, 1, 7841},
    {"data/htru2_pulsar.csv", "y", 17898, 9, 1, 1639},
    {"data/german_credit_scaled.csv", "y", 1000, 25, 1, 300},
    {"data/concrete_regression.csv", "y", 1030, 9, 79.99, 1},
    {"reference/logistic_1000.csv", "y", 1000, 21, -1, 0},
    {"reference/logistic_10000.csv.gz", "y", 10000, 21, -1, 0},
};

TEST(published_files_have_their_published_size)
{
    const char *source = getenv("SBPS_SOURCE_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/../shared/%s", source ? source : ".", files[0].file);
    if (access(path, R_OK) != 0) SKIP("no ../shared/data");
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        const rows_spec spec = {.target = files[k].target, .intercept = true, .seed = 1};
        rows *r;
        snprintf(path, sizeof path, "%s/../shared/%s", source ? source : ".", files[k].file);
        if (rows_read(path, &spec, &r, &error) != SBPS_OK) printf("%s\n", error.text);
        REQUIRE(r);
        CHECK(r->local_rows == files[k].n && r->d == files[k].d);
        size_t count = 0;
        for (size_t i = 0; i < r->local_rows; i++) count += r->y[i] == files[k].counted;
        CHECK(count == files[k].count);
        if (!files[k].target) { /* a9a has 451592 ones */
            double ones = 0;
            for (size_t j = 1; j < r->d; j++) ones += r->table.mean[j] * (double)r->local_rows;
            CHECK_NEAR(ones, 451592, TOL_SUM);
        }
        rows_destroy(r);
    }
}

CHECK_MAIN

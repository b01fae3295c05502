/* Storage kinds: results do not depend on how rows are stored. */
#include "check.h"

#include "core/memory.h"
#include "core/rng.h"
#include "ingest/fixture.h"
#include "ingest/schema/chunks.h"

#define ROWS    157
#define COLUMNS 61
#define ENTRIES 5 /* per row */

typedef struct {
    double x[ROWS * COLUMNS], y[ROWS];
} numbers;

/* Few entries per row, all 1 with `ones`; none in row 3, all in row 5. */
static void fill(numbers *t, bool ones)
{
    rng r = rng_stream(31, ones, RNG_TEST);
    memset(t, 0, sizeof *t);
    for (size_t i = 0; i < ROWS; i++) {
        size_t count = i == 3 ? 0 : i == 5 ? COLUMNS : 1 + rng_below(&r, 2 * ENTRIES - 1);
        t->y[i] = (double)i;
        for (size_t k = 0; k < count; k++) {
            size_t j = i == 5 ? k : rng_below(&r, COLUMNS);
            t->x[i * COLUMNS + j] = ones ? 1.0 : rng_normal(&r) * exp2(8 * rng_uniform(&r));
        }
    }
}

static rows *stored(const numbers *t, const char *storage, bool intercept)
{
    rows *r = NULL;
    rows_spec spec = {.seed = 9, .intercept = intercept, .storage = storage};
    rows_copy(ROWS, COLUMNS, t->x, NULL, t->y, NULL, NULL, &spec, &r, &error);
    return r;
}

/* The same table as doubles, with values as stored. */
static rows *as_doubles(const rows *of, const numbers *t)
{
    rows *r = stored(t, "double", of->intercept);
    for (size_t i = 0; r && i < r->local_rows; i++)
        of->storage.kind->decode(of, i, r->storage.x + i * r->stride);
    return r;
}

typedef struct {
    const char *name;
    bool ones, intercept;
} storage_case;

static const storage_case cases[] = {
    {"double", false, true}, {"float", false, true},   {"float", false, false},
    {"sparse", false, true}, {"sparse", false, false}, {"sparse", true, true},
    {"sparse", true, false},
};
#define CASES (sizeof cases / sizeof *cases)

typedef void (*storage_property)(const rows *r, const rows *want, bool exact);

static void check_storage(storage_property property)
{
    static numbers t;
    for (size_t c = 0; c < CASES; c++) {
        fill(&t, cases[c].ones);
        rows *r = stored(&t, cases[c].name, cases[c].intercept), *want = NULL;
        if (r) want = as_doubles(r, &t);
        CHECK(r && want && strcmp(r->storage.kind->name, cases[c].name) == 0);
        if (r && want) property(r, want, r->storage.kind != &storage_sparse);
        rows_destroy(want);
        rows_destroy(r);
    }
}

static void decoded_cells(const rows *r, const rows *want, bool exact)
{
    static numbers t;
    fill(&t, r->storage.start && !r->storage.value);
    (void)exact;
    for (size_t i = 0; i < r->local_rows; i++) {
        const double *x = t.x + (size_t)r->y[i] * COLUMNS;
        for (size_t j = 0; j < COLUMNS; j++) {
            double value = r->storage.x_float ? (double)(float)x[j] : x[j];
            CHECK(want->storage.x[i * want->stride + r->intercept + j] == value);
            CHECK(r->storage.kind->cell(r, i, r->intercept + j) == value);
        }
        CHECK(!r->intercept ||
              (want->storage.x[i * want->stride] == 1 && r->storage.kind->cell(r, i, 0) == 1));
        for (size_t j = r->d; j < r->stride; j++)
            CHECK(want->storage.x[i * want->stride + j] == 0);
    }
}

TEST(decoded_rows_are_the_input)
{
    check_storage(decoded_cells);
}

/* Sums in another order for sparse rows, the same bits for floats. */
static void compare(const double *got, const double *want, size_t n, bool exact)
{
    for (size_t i = 0; i < n; i++)
        if (exact)
            CHECK(got[i] == want[i]);
        else
            CHECK_NEAR(got[i], want[i], 1e-12);
}

static void products_property(const rows *r, const rows *want, bool exact)
{
    rng random = rng_stream(32, 0, RNG_TEST);
    const kernels *k, *scalar = kernels_at(0);
    double *p = new_doubles(4 * r->stride), *q = p + r->stride;
    double eta[4][ROWS], deta[4][ROWS];
    size_t list[ROWS];
    for (size_t j = 0; j < r->d; j++) p[j] = rng_normal(&random), q[j] = rng_normal(&random);
    for (size_t n = 0; n < ROWS; n = 2 * n + 1) {
        for (size_t i = 0; i < n; i++) list[i] = rng_below(&random, ROWS);
        for (size_t v = 0; (k = kernels_at(v)); v++)
            for (size_t gathered = 0; gathered < 2; gathered++) {
                row_range range = gathered ? (row_range){list, 0, n}
                                           : rows_from(rng_below(&random, ROWS - n), n);
                rows_products(want, k, range, p, q, eta[0], deta[0]);
                rows_products(r, scalar, range, p, q, eta[1], deta[1]);
                rows_products(r, k, range, p, q, eta[2], deta[2]);
                rows_products(r, k, range, q, NULL, eta[3], NULL);
                compare(eta[2], eta[0], n, exact);
                compare(deta[2], deta[0], n, exact);
                CHECK(memcmp(eta[1], eta[2], n * sizeof **eta) == 0);
                CHECK(memcmp(deta[1], deta[2], n * sizeof **eta) == 0);
                CHECK(memcmp(eta[3], deta[2], n * sizeof **eta) == 0);
            }
    }
    free(p);
}

TEST(products_are_those_of_doubles_with_every_instruction_set)
{
    check_storage(products_property);
}

static void combine_property(const rows *r, const rows *want, bool exact)
{
    (void)exact;
    rng random = rng_stream(33, 0, RNG_TEST);
    const kernels *k;
    double *one = new_doubles(r->stride), *two = new_doubles(r->stride), c[ROWS];
    size_t list[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        c[i] = rng_normal(&random);
        list[i] = rng_below(&random, ROWS);
    }
    for (size_t v = 0; (k = kernels_at(v)); v++)
        for (size_t gathered = 0; gathered < 2; gathered++) {
            row_range range = gathered ? (row_range){list, 0, ROWS} : rows_from(2, ROWS - 2);
            for (size_t j = 0; j < r->stride; j++) one[j] = two[j] = (double)j;
            rows_combine(want, k, range, c, one);
            rows_combine(r, k, range, c, two);
            CHECK(memcmp(one, two, r->d * sizeof *one) == 0);
        }
    free(one);
    free(two);
}

TEST(combinations_have_the_bits_of_doubles_with_every_instruction_set)
{
    check_storage(combine_property);
}

static void moments_property(const rows *r, const rows *want, bool exact)
{
    (void)exact;
    for (size_t j = 0; j < r->d; j++) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < r->local_rows; i++)
            mean += want->storage.x[i * want->stride + j] / ROWS;
        for (size_t i = 0; i < r->local_rows; i++)
            square += pow(want->storage.x[i * want->stride + j] - mean, 2.0) / ROWS;
        CHECK_NEAR(r->table.mean[j], mean, 1e-12);
        CHECK_NEAR(r->table.sd[j], sqrt(square), 1e-12);
    }
    CHECK(!r->intercept || (r->table.mean[0] == 1 && r->table.sd[0] == 0));
}

TEST(moments_are_those_of_the_stored_values)
{
    check_storage(moments_property);
}

static void outer_property(const rows *r, const rows *want, bool exact)
{
    (void)exact;
    if (!r->storage.kind->outer) return;
    size_t d = r->d, pitch = d + 3;
    rng random = rng_stream(34, 0, RNG_TEST);
    double *out = new_doubles(d * pitch), c[ROWS];
    for (size_t i = 0; i < ROWS; i++) c[i] = rng_normal(&random);
    CHECK(r->storage.kind->outer(r, kernels_best(), 7, 50, c, pitch,
                                 out)); /* leaves out the full row */
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0.0;
            for (size_t i = 0; i < 50; i++) {
                const double *x = want->storage.x + (7 + i) * want->stride;
                sum += c[i] * x[a] * x[b];
            }
            CHECK_NEAR(out[a * pitch + b], sum, 1e-12);
        }
    free(out);
}

TEST(outer_products_are_those_of_the_rows)
{
    check_storage(outer_property);
}

static void bytes_property(const rows *r, const rows *want, bool exact)
{
    (void)want, (void)exact;
    double cells = (double)(ROWS * r->stride), starts = 8.0 * (ROWS + 1);
    if (r->storage.x) CHECK(r->storage.kind->bytes(r) == 8 * cells);
    if (r->storage.x_float) CHECK(r->storage.kind->bytes(r) == 4 * cells);
    if (!r->storage.start) return;
    double kept = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = r->intercept; j < r->d; j++)
            kept += r->storage.kind->cell(r, i, j) != 0;
    CHECK(r->storage.kind->bytes(r) == starts + kept * (r->storage.value ? 12 : 4));
    CHECK(rows_bytes(r) == r->storage.kind->bytes(r) + 8.0 * ROWS);
}

TEST(storage_takes_the_bytes_of_its_entries)
{
    check_storage(bytes_property);
}

/* ---- the choice of storage ---- */

static const storage_kind *chosen_storage(size_t width, size_t filled, rows_spec spec)
{
    enum { N = 40 };
    double *x = new_doubles(N * width), y[N];
    for (size_t i = 0; i < N; i++) {
        y[i] = (double)i;
        for (size_t k = 0; k < filled; k++)
            x[i * width + (i * filled + k) % width] = 1.5 + (double)(i % 3);
    }
    rows *r = NULL;
    rows_copy(N, width, x, NULL, y, NULL, NULL, &spec, &r, &error);
    const storage_kind *storage = r ? r->storage.kind : NULL;
    rows_destroy(r);
    free(x);
    return storage;
}

TEST(rows_are_sparse_if_that_is_cheaper)
{
    const rows_spec plain = {.seed = 1};
    CHECK(chosen_storage(64, 10, plain) == &storage_sparse); /* 4 (10 + 6) = 64 */
    CHECK(chosen_storage(64, 11, plain) == &storage_double);
    CHECK(chosen_storage(20, 1, plain) == &storage_double); /* too short to pay */
    rows_spec centred = plain, read = plain;
    centred.standardize = true; /* zeros do not stay zeros */
    CHECK(chosen_storage(64, 5, centred) == &storage_double);
    read.needs_doubles = true;
    CHECK(chosen_storage(64, 5, read) == &storage_double);
}

TEST(impossible_storages_are_refused_with_a_message)
{
    rows_spec spec = {.seed = 1, .storage = "sparse", .standardize = true};
    CHECK(chosen_storage(64, 5, spec) == NULL && strstr(error.text, "--standardize"));
    spec = (rows_spec){.seed = 1, .storage = "sparse", .needs_doubles = true};
    CHECK(chosen_storage(64, 5, spec) == NULL && strstr(error.text, "needs storage double"));
    spec.storage = "float";
    CHECK(chosen_storage(64, 5, spec) == NULL && strstr(error.text, "--storage float"));
    spec.storage = "double";
    CHECK(chosen_storage(64, 5, spec) == &storage_double);
}

TEST(values_beyond_floats_are_refused)
{
    numbers *t = malloc(sizeof *t);
    REQUIRE(t != NULL);
    fill(t, false);
    t->x[5] = 1e39;
    rows *r = stored(t, "float", true);
    CHECK(r == NULL && strstr(error.text, "power of ten"));
    rows_destroy(r);
    r = stored(t, "sparse", true);
    CHECK(r != NULL);
    rows_destroy(r);
    free(t);
}

TEST(the_hash_distinguishes_storages_and_values)
{
    numbers *t = malloc(sizeof *t);
    REQUIRE(t != NULL);
    uint64_t seen[5];
    const char *const names[] = {"double", "float", "sparse", "sparse"};
    for (size_t k = 0; k < 4; k++) {
        fill(t, false);
        if (k == 3) t->x[5 * COLUMNS] += 1e-12;
        rows *r = stored(t, names[k], true);
        REQUIRE(r != NULL);
        seen[k] = r->table.hash;
        for (size_t l = 0; l < k; l++) CHECK(seen[k] != seen[l]);
        rows_destroy(r);
    }
    free(t);
}

/* ---- files ---- */

/* Label, then entries of a few columns out of 80, in libsvm format. */
static char *sparse_text(size_t n, bool ones)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    rng r = rng_stream(35, 0, RNG_TEST);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%zu", i);
        for (size_t j = 1 + rng_below(&r, 20); j <= 80; j += 1 + rng_below(&r, 20))
            if (ones)
                fprintf(out, " %zu:1", j);
            else
                fprintf(out, " %zu:%.3f", j, rng_normal(&r));
        fprintf(out, "\n");
    }
    fclose(out);
    return text;
}

TEST(a_sparse_file_and_its_dense_reading_agree)
{
    for (int ones = 0; ones < 2; ones++) {
        char *text = sparse_text(3000, ones);
        rows_spec spec = {.seed = 4, .intercept = true};
        rows *sparse = rows_from_text(text, &spec);
        spec.storage = "double";
        rows *dense = rows_from_text(text, &spec);
        REQUIRE(sparse && dense);
        CHECK(sparse->storage.kind == &storage_sparse && !sparse->storage.x &&
              (sparse->storage.value == NULL) == (ones == 1));
        CHECK(dense->storage.kind == &storage_double && sparse->d == dense->d);
        double *line = new_doubles(dense->stride);
        for (size_t i = 0; i < dense->local_rows; i++) {
            sparse->storage.kind->decode(sparse, i, line);
            CHECK(memcmp(line, dense->storage.x + i * dense->stride,
                         dense->stride * sizeof *line) == 0);
        }
        CHECK(memcmp(sparse->y, dense->y, dense->local_rows * sizeof *dense->y) == 0);
        for (size_t j = 0; j < dense->d; j++) {
            CHECK_NEAR(sparse->table.mean[j], dense->table.mean[j], 1e-12);
            CHECK_NEAR(sparse->table.sd[j], dense->table.sd[j], 1e-12);
        }
        free(line);
        rows_destroy(sparse);
        rows_destroy(dense);
        free(text);
    }
}

TEST(rows_being_read_take_the_memory_of_their_entries)
{
    enum { N = 20000, WIDE = 1000 };
    chunks c;
    chunks_init(&c, WIDE, true);
    for (size_t i = 0; i < N; i++) {
        double *row = chunks_next(&c);
        REQUIRE(row != NULL);
        memset(row, 0, WIDE * sizeof *row);
        for (size_t k = 0; k < i % 7; k++) row[(i + 131 * k) % WIDE] = (double)(i + k + 1);
        CHECK(chunks_keep(&c));
    }
    CHECK(c.rows == N && chunks_bytes(&c) < 2.6e6); /* dense: 160 MB */
    double line[WIDE], *at = NULL;
    for (size_t i = 0, run = 0; i < N; i++) {
        while (run < c.runs && c.run[run].before == i) at = c.run[run++].first;
        const double *row = run_next(&c, &at, line);
        double sum = 0.0, want = 0.0;
        for (size_t j = 0; j < WIDE; j++) sum += row[j];
        for (size_t k = 0; k < i % 7; k++) {
            want += (double)(i + k + 1);
            CHECK(row[(i + 131 * k) % WIDE] == (double)(i + k + 1));
        }
        CHECK(sum == want);
    }
    chunks_clear(&c);
}

TEST(one_hot_columns_become_sparse)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "y,shop,day\n");
    for (size_t i = 0; i < 2000; i++)
        fprintf(out, "%zu,s%03zu,d%zu\n", i, (i * 7) % 100, i % 7);
    fclose(out);
    rows_spec spec = {.target = "y", .categorical = "shop,day", .intercept = true, .seed = 2};
    rows *r = rows_from_text(text, &spec);
    REQUIRE(r != NULL);
    CHECK(r->storage.kind == &storage_sparse && !r->storage.value && r->d == 1 + 99 + 6);
    for (size_t i = 0; i < r->local_rows; i++) {
        size_t shop = ((size_t)r->y[i] * 7) % 100, day = (size_t)r->y[i] % 7;
        for (size_t j = 1; j < r->d; j++) {
            bool one = j < 100 ? j == shop : j - 99 == day;
            CHECK(r->storage.kind->cell(r, i, j) == (one ? 1.0 : 0.0));
        }
    }
    rows_destroy(r);
    free(text);
}

CHECK_MAIN

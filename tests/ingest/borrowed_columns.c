/* Borrowed columns: the table, its products and the draws are those of a copy, bit for bit, for
 * any layout of the numbers. Columns that cannot be borrowed are refused with advice. */
#include "check.h"

#include "core/memory.h"
#include "fixture.h"
#include "linalg/kernels.h"

enum { FEATURES = 5, COLUMNS = FEATURES + 1 };

static const char *const names[COLUMNS] = {"y", "a", "b", "c", "d", "e"};

typedef struct {
    size_t n;
    double *matrix; /* row-major or column-major */
    sbps_column column[COLUMNS];
} borrowed_table;

typedef enum { BY_ROW, BY_COLUMN, BACKWARDS, LAYOUTS } layout;

static double number_at(size_t i, size_t c)
{
    double x = sin(1.7 * (double)i + 3.1 * (double)c * (double)(1 + i % 7));
    return c == 0 ? (double)(x + sin((double)i) > 0.1) : x;
}

static borrowed_table make_borrowed(size_t n, layout how)
{
    borrowed_table t = {.n = n, .matrix = malloc(n * COLUMNS * sizeof *t.matrix)};
    size_t from_row = how == BY_COLUMN ? 1 : COLUMNS, from_column = how == BY_COLUMN ? n : 1;
    for (size_t c = 0; c < COLUMNS; c++) {
        for (size_t i = 0; i < n; i++) {
            size_t row = how == BACKWARDS ? n - 1 - i : i;
            t.matrix[row * from_row + c * from_column] = number_at(i, c);
        }
        size_t first = how == BACKWARDS ? (n - 1) * from_row : 0;
        ptrdiff_t step = (ptrdiff_t)(from_row * sizeof(double));
        t.column[c] = (sbps_column){.struct_size = sizeof(sbps_column),
                                    .name = names[c],
                                    .type = SBPS_DOUBLE,
                                    .values = t.matrix + first + c * from_column,
                                    .stride = how == BACKWARDS ? -step : step};
    }
    return t;
}

static rows *rows_by(const borrowed_table *t, const char *storage, const char *formula)
{
    rows *r = NULL;
    const rows_spec spec = {.formula = formula,
                            .target = formula ? NULL : "y",
                            .intercept = true,
                            .seed = 11,
                            .threads = 3,
                            .storage = storage};
    memset(&error, 0, sizeof error);
    rows_from_columns(&(sbps_frame){.rows = t->n, .count = COLUMNS, .columns = t->column},
                      &spec, &r, &error);
    return r;
}

static void compare_products(const rows *a, const rows *b, row_range r)
{
    const kernels *k = kernels_best();
    double p[8], q[8], c[300], eta[2][300], deta[2][300], sum[2][8] = {{0}};
    for (size_t j = 0; j < 8; j++) p[j] = j < a->d ? cos((double)j) : 0.0, q[j] = 0.5 * p[j];
    for (size_t i = 0; i < r.n; i++) c[i] = sin((double)i);
    rows_products(a, k, r, p, q, eta[0], deta[0]);
    rows_products(b, k, r, p, q, eta[1], deta[1]);
    CHECK(!memcmp(eta[0], eta[1], r.n * sizeof **eta));
    CHECK(!memcmp(deta[0], deta[1], r.n * sizeof **deta));
    rows_combine(a, k, r, c, sum[0]);
    rows_combine(b, k, r, c, sum[1]);
    CHECK(!memcmp(sum[0], sum[1], sizeof sum[0]));
}

static void compare(const rows *a, const rows *b)
{
    static size_t list[300];
    double outer[2][8 * 8] = {{0}}, c[300];
    CHECK(a->local_rows == b->local_rows && a->d == b->d && a->stride == b->stride);
    CHECK(!memcmp(a->y, b->y, a->local_rows * sizeof *a->y));
    CHECK(!memcmp(a->table.mean, b->table.mean, a->d * sizeof *a->table.mean));
    CHECK(!memcmp(a->table.sd, b->table.sd, a->d * sizeof *a->table.sd));
    CHECK(!strcmp(a->table.design, b->table.design));
    for (size_t i = 0; i < 300; i++)
        list[i] = i * 7919 % a->local_rows, c[i] = 1.0 / (double)(i + 1);
    compare_products(a, b, rows_from(3, 300));
    compare_products(a, b, (row_range){list, 0, 299});
    a->storage.kind->outer(a, kernels_best(), 5, 257, c, a->d, outer[0]);
    b->storage.kind->outer(b, kernels_best(), 5, 257, c, b->d, outer[1]);
    CHECK(!memcmp(outer[0], outer[1], sizeof outer[0]));
    for (size_t j = 0; j < a->d; j++)
        CHECK(a->storage.kind->cell(a, 17, j) == b->storage.kind->cell(b, 17, j));
}

TEST(borrowed_columns_equal_a_copy)
{
    static const char *const formulas[] = {NULL, "y ~ e + a + c"};
    static const size_t sizes[] = {400, 70001};
    for (size_t k = 0; k < 2 * LAYOUTS * 2; k++) {
        borrowed_table t = make_borrowed(sizes[k / 2 % 2], (layout)(k / 4));
        rows *stays = rows_by(&t, "given", formulas[k % 2]);
        rows *copy = rows_by(&t, "double", formulas[k % 2]);
        if (!stays) printf("%s\n", error.text);
        CHECK(stays && copy && stays->storage.kind == &storage_borrowed && !stays->storage.x);
        if (stays && copy) compare(stays, copy);
        rows_destroy(stays);
        rows_destroy(copy);
        free(t.matrix);
    }
}

/* Returns the draws of a run; the caller frees them. */
static double *draws(const borrowed_table *t, const char *storage, const char *sampler,
                     size_t *size)
{
    sbps_options *o;
    sbps_table *table = NULL;
    sbps_run *run = NULL;
    sbps_result *result = NULL;
    bool finished = false;
    double *out = NULL;
    const char *const set[][2] = {{"model", "logistic"}, {"formula", "y ~ a + b + e"},
                                  {"seed", "5"},         {"ess", "20"},
                                  {"storage", storage},  {"sampler", sampler}};
    sbps_status status = sbps_options_create(&o, &error);
    for (size_t k = 0; k < sizeof set / sizeof *set; k++)
        if (status == SBPS_OK) status = sbps_options_set(o, set[k][0], set[k][1], &error);
    if (status == SBPS_OK)
        status =
            sbps_table_from_columns(t->n, COLUMNS, t->column, o, NULL, NULL, &table, &error);
    if (status == SBPS_OK) status = sbps_run_create(table, o, &run, &error);
    while (status == SBPS_OK && !finished) status = sbps_run_advance(run, &finished, &error);
    if (status == SBPS_OK) status = sbps_result_from_run(run, &result, &error);
    if (status == SBPS_OK) {
        *size = sbps_result_chains(result) * sbps_result_draws(result) *
                sbps_result_dim(result) * sizeof *out;
        out = memcpy(malloc(*size), sbps_result_values(result), *size);
    } else
        printf("%s\n", error.text);
    sbps_result_destroy(result);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
    return out;
}

TEST(draws_are_those_of_a_copy)
{
    static const char *const samplers[] = {"auto", "sbps", "hmc"};
    borrowed_table t = make_borrowed(1000, BY_COLUMN);
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        size_t size[2] = {0, 1};
        double *stays = draws(&t, "given", samplers[k], &size[0]);
        double *copy = draws(&t, "double", samplers[k], &size[1]);
        CHECK(stays && copy && size[0] == size[1] && !memcmp(stays, copy, size[0]));
        free(stays);
        free(copy);
    }
    free(t.matrix);
}

static void refused(const borrowed_table *t, const char *formula, const char *message)
{
    rows *r = rows_by(t, "given", formula);
    if (r || !strstr(error.text, message)) printf("%s\n", r ? "not refused" : error.text);
    CHECK(!r && strstr(error.text, message));
    rows_destroy(r);
}

TEST(columns_that_cannot_be_borrowed_are_refused)
{
    borrowed_table t = make_borrowed(50, BY_ROW);
    refused(&t, "y ~ log(a + 3) + b",
            "column 'log(a + 3)' of the design is not a column of doubles");
    refused(&t, "y ~ poly(a, 2)", "transforms of all rows");
    refused(&t, "y ~ a + (1 | b)", "--storage given");
    refused(&t, "log(y + 2) ~ a", "the target is not a column");
    t.matrix[17 * COLUMNS + 2] = NAN;
    refused(&t, "y ~ b", "table:18: column 'b'");
    t.matrix[17 * COLUMNS + 2] = INFINITY;
    refused(&t, NULL, "table:18: column 'b': 'inf' is not a finite number");
    t.column[2].type = SBPS_INT64;
    refused(
        &t, "y ~ b",
        "column 'b' of the design is not a column of doubles in memory; leave --storage out");
    rows *r = NULL;
    const rows_spec spec = {.target = "y", .storage = "given"};
    CHECK(!(r = rows_from_text("y,x\n1,2\n2,3\n", &spec)));
    CHECK(strstr(error.text, "--storage given is for columns in a program's memory"));
    free(t.matrix);
}

CHECK_MAIN

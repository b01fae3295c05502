/* A sparse matrix gives the table of its columns as dense columns. */
#include "check.h"
#include "fixture.h"

enum { N = 300, D = 40 };

static double full[D][N], target[N];
static char name_buffer[D][8];
static const char *names[D];

/* Entries by rows and by columns, in both widths. */
static int32_t start[2][N + D + 1], index_of[2][N * D];
static int64_t wide_start[2][N + D + 1], wide_index[2][N * D];
static double value[2][N * D];

static void put_run(bool by_columns, size_t run, size_t cells)
{
    size_t at = (size_t)start[by_columns][run];
    for (size_t k = 0; k < cells; k++) {
        double cell = by_columns ? full[run][k] : full[k][run];
        if (cell == 0.0) continue;
        index_of[by_columns][at] = (int32_t)k;
        wide_index[by_columns][at] = (int64_t)k;
        value[by_columns][at++] = cell;
    }
    start[by_columns][run + 1] = (int32_t)at;
    wide_start[by_columns][run + 1] = (int64_t)at;
}

/* One cell of `every` is not 0; column 0 has small whole numbers. */
static void fill(size_t every)
{
    for (size_t i = 0; i < N; i++) {
        target[i] = sin((double)i);
        for (size_t j = 0; j < D; j++) {
            size_t hash = i * 7919 + j * 104729 + i * j;
            full[j][i] = hash % every ? 0.0
                         : j == 0     ? (double)(hash / every % 3)
                                      : cos((double)hash);
        }
    }
    for (size_t j = 0; j < D; j++) {
        snprintf(name_buffer[j], sizeof *name_buffer, "c%zu", j);
        names[j] = name_buffer[j];
    }
    for (size_t i = 0; i < N; i++) put_run(false, i, D);
    for (size_t j = 0; j < D; j++) put_run(true, j, N);
}

static sbps_sparse matrix_by(bool by_columns, bool wide)
{
    return (sbps_sparse){.struct_size = sizeof(sbps_sparse),
                         .columns = D,
                         .names = names,
                         .by_columns = by_columns,
                         .wide_start = wide,
                         .wide_index = wide,
                         .start = wide ? (void *)wide_start[by_columns] : start[by_columns],
                         .index = wide ? (void *)wide_index[by_columns] : index_of[by_columns],
                         .values = value[by_columns]};
}

static sbps_column column(const char *name, const double *values)
{
    return (sbps_column){.struct_size = sizeof(sbps_column),
                         .name = name,
                         .type = SBPS_DOUBLE,
                         .values = values};
}

static rows *in_full(const rows_spec *spec)
{
    sbps_column all[D + 1];
    rows *r = NULL;
    for (size_t j = 0; j < D; j++) all[j] = column(names[j], full[j]);
    all[D] = column("y", target);
    CHECK(rows_from_columns(&(sbps_frame){.rows = N, .count = D + 1, .columns = all}, spec, &r,
                            &error) == SBPS_OK);
    return r;
}

static sbps_status read_sparse(const sbps_sparse *m, const rows_spec *spec, rows **out)
{
    const sbps_column y = column("y", target);
    memset(&error, 0, sizeof error);
    return rows_from_columns(&(sbps_frame){.rows = N, .count = 1, .columns = &y, .sparse = m},
                             spec, out, &error);
}

static void check_storage(const rows_spec *spec, const storage_kind *storage)
{
    rows *want = in_full(spec);
    for (int k = 0; want && k < 4; k++) {
        rows *got = NULL;
        const sbps_sparse m = matrix_by(k % 2, k / 2);
        CHECK(read_sparse(&m, spec, &got) == SBPS_OK);
        CHECK(got && same_rows(want, got) && got->storage.kind == storage);
        CHECK(got && want->table.dropped == got->table.dropped &&
              !strcmp(want->table.notes ? want->table.notes : "",
                      got->table.notes ? got->table.notes : ""));
        rows_destroy(got);
    }
    rows_destroy(want);
}

TEST(entries_give_the_table_of_dense_columns)
{
    const rows_spec plain = {.target = "y", .intercept = true, .seed = 5};
    rows_spec dense = plain, single = plain, threads = plain;
    dense.storage = "double";
    single.storage = "float";
    threads.threads = 3;
    fill(23);
    check_storage(&plain, &storage_sparse);
    check_storage(&threads, &storage_sparse);
    check_storage(&dense, &storage_double);
    check_storage(&single, &storage_float);
    fill(2);
    check_storage(&plain, &storage_double);
}

TEST(formulas_categories_and_missing_cells_equal_those_of_columns)
{
    const rows_spec formula = {.formula = "y ~ c1 * c2 + poly(c3, 2) + c5", .intercept = true};
    const rows_spec categories = {
        .target = "y", .categorical = "c0", .intercept = true, .storage = "sparse"};
    const rows_spec words = {
        .target = "c1", .na = "2", .drop_missing = true, .intercept = true};
    const rows_spec groups = {.formula = "y ~ c1 + (1 | c0)", .intercept = true};
    fill(3);
    check_storage(&formula, &storage_double);
    check_storage(&categories, &storage_sparse);
    check_storage(&words, &storage_double);
    check_storage(&groups, &storage_double);
    full[7][11] = NAN;
    for (size_t i = 0; i < N; i++) put_run(false, i, D);
    for (size_t j = 0; j < D; j++) put_run(true, j, N);
    check_storage(&(rows_spec){.target = "y", .drop_missing = true, .intercept = true},
                  &storage_double);
    rows *r = NULL;
    const sbps_sparse m = matrix_by(true, false);
    CHECK(read_sparse(&m, &(rows_spec){.target = "y"}, &r) == SBPS_BAD_DATA && !r);
    CHECK(strstr(error.text, "table:12: column 'c7': the value is missing"));
}

static void refuse(const sbps_sparse *m, const rows_spec *spec, const char *sentence)
{
    rows *r = NULL;
    CHECK(read_sparse(m, spec, &r) == SBPS_BAD_ARG && !r);
    CHECK(strstr(error.text, sentence));
}

TEST(invalid_matrices_are_refused)
{
    const rows_spec spec = {.target = "y"};
    for (int by = 0; by < 2; by++) {
        fill(5);
        sbps_sparse m = matrix_by(by, false);
        index_of[by][3] = index_of[by][2];
        refuse(&m, &spec, "entries are not in increasing order, or there are two for a cell");
        fill(5);
        index_of[by][start[by][4] - 1] = by ? N : D;
        refuse(&m, &spec, "an entry is outside it");
        index_of[by][start[by][4] - 1] = -1;
        refuse(&m, &spec, "an entry is outside it");
        fill(5);
        start[by][4] = start[by][3] - 1;
        refuse(&m, &spec, "its starts decrease");
        fill(5);
        m.names = NULL;
        refuse(&m, &spec, "its columns have no names");
        m = matrix_by(by, true);
        m.values = NULL;
        refuse(&m, &spec, "its entries are NULL");
        m = matrix_by(by, true);
        m.struct_size = 8;
        refuse(&m, &spec, "struct_size");
        m = matrix_by(by, true);
        refuse(&m, &(rows_spec){.target = "y", .storage = "given"}, "--storage given");
    }
}

CHECK_MAIN

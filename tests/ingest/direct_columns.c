/* Columns that are written directly to their places give the same table as rows that are
 * buffered, for all options. If they cannot be, the table is the same, too. */
#include "ingest/memory/field_reader.h"

#include "check.h"
#include "fixture.h"

enum { N = 40000, COLUMNS = 6 };

static double values[COLUMNS][N];

static const char *const names[COLUMNS] = {"y", "a", "b", "w", "rare", "o"};

static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        values[0][i] = sin((double)i);
        values[1][i] = cos(3.0 * (double)i);
        values[2][i] = (double)(i * i % 11);
        values[3][i] = 1.0 + (double)(i % 4);
        values[4][i] = i % 50 == 0;
        values[5][i] = 0.01 * (double)(i % 7);
    }
}

static rows *read_columns(rows_spec spec, size_t count, bool straight)
{
    sbps_column given[COLUMNS];
    rows *r = NULL;
    for (size_t k = 0; k < COLUMNS; k++)
        given[k] = (sbps_column){.struct_size = sizeof *given,
                                 .name = names[k],
                                 .type = SBPS_DOUBLE,
                                 .values = values[k]};
    spec.part_bytes = straight;
    CHECK(rows_from_columns(&(sbps_frame){.rows = count, .count = COLUMNS, .columns = given},
                            &spec, &r, &error) == SBPS_OK);
    return r;
}

/* Few columns: without part_bytes the table is too small to be written directly. */
static void check_storage(rows_spec spec, const storage_kind *storage)
{
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        spec.threads = threads;
        rows *want = read_columns(spec, N, false), *got = read_columns(spec, N, true);
        REQUIRE(want && got);
        CHECK(same_rows(want, got) && got->storage.kind == storage);
        CHECK(want->table.dropped == got->table.dropped && want->table.hash == got->table.hash);
        CHECK(!strcmp(want->table.notes ? want->table.notes : "",
                      got->table.notes ? got->table.notes : ""));
        CHECK(!strcmp(want->table.design, got->table.design));
        rows_destroy(want);
        rows_destroy(got);
    }
}

TEST(both_methods_give_the_same_rows)
{
    fill();
    check_storage((rows_spec){.target = "y", .intercept = true, .seed = 3}, &storage_double);
    check_storage((rows_spec){.target = "y", .storage = "float", .intercept = true},
                  &storage_float);
    check_storage((rows_spec){.target = "y", .standardize = true, .intercept = true},
                  &storage_double);
    check_storage((rows_spec){.target = "y", .weights = "w", .offset = "o", .in_order = true},
                  &storage_double);
    check_storage((rows_spec){.formula = "y ~ a * b + I(a^2) + offset(o)", .intercept = true},
                  &storage_double);
}

TEST(other_tables_are_buffered)
{
    fill();
    check_storage((rows_spec){.target = "y", .categorical = "b", .intercept = true},
                  &storage_double);
    check_storage((rows_spec){.formula = "y ~ poly(a, 3)", .intercept = true}, &storage_double);
    check_storage((rows_spec){.target = "y", .storage = "sparse", .features = "a,rare"},
                  &storage_sparse);
    values[1][N / 2] = values[2][9] = NAN;
    check_storage((rows_spec){.target = "y", .drop_missing = true, .intercept = true},
                  &storage_double);
}

/* 40 columns that are 0 except for one row of 50: the storage is chosen when all rows are read.
 * */
TEST(tables_with_few_entries_become_sparse)
{
    enum { WIDE = 40 };
    static char name_buffer[WIDE + 1][8];
    sbps_column given[WIDE + 1];
    rows *r[2] = {NULL, NULL};
    fill();
    for (size_t k = 0; k <= WIDE; k++) {
        snprintf(name_buffer[k], sizeof *name_buffer, "c%zu", k);
        given[k] = (sbps_column){.struct_size = sizeof *given,
                                 .name = name_buffer[k],
                                 .type = SBPS_DOUBLE,
                                 .values = values[k ? 4 : 0]};
    }
    for (size_t straight = 0; straight < 2; straight++) {
        const rows_spec spec = {.target = "c0", .intercept = true, .part_bytes = straight};
        CHECK(rows_from_columns(&(sbps_frame){.rows = N, .count = WIDE + 1, .columns = given},
                                &spec, &r[straight], &error) == SBPS_OK);
    }
    CHECK(r[0] && r[1] && r[1]->storage.kind == &storage_sparse && same_rows(r[0], r[1]));
    rows_destroy(r[0]);
    rows_destroy(r[1]);
}

TEST(the_first_invalid_cell_is_reported)
{
    rows *r = NULL;
    fill();
    values[1][30000] = INFINITY;
    values[2][20000] = NAN;
    sbps_column given[COLUMNS];
    for (size_t k = 0; k < COLUMNS; k++)
        given[k] = (sbps_column){.struct_size = sizeof *given,
                                 .name = names[k],
                                 .type = SBPS_DOUBLE,
                                 .values = values[k]};
    const rows_spec spec = {.target = "y", .part_bytes = 1, .threads = 3};
    CHECK(rows_from_columns(&(sbps_frame){.rows = N, .count = COLUMNS, .columns = given}, &spec,
                            &r, &error) == SBPS_BAD_DATA &&
          !r);
    CHECK(strstr(error.text, "table:20001: column 'b': the value is missing"));
}

/* Detected by the owner of the rows: the reader keeps none. */
TEST(rows_that_are_written_directly_are_not_buffered)
{
    field_info about[COLUMNS];
    field fields[COLUMNS];
    field_reader reader;
    rows *r = NULL;
    const rows_spec spec = {.target = "y", .part_bytes = 1};
    const field_request how = {.spec = &spec};
    fill();
    for (size_t k = 0; k < COLUMNS; k++) {
        about[k] = (field_info){.name = names[k], .type = TYPE_NUMBER};
        fields[k] = (field){.kind = &field_numbers,
                            .type = TYPE_NUMBER,
                            .value = &value_double,
                            .values = (const unsigned char *)values[k],
                            .stride = sizeof(double),
                            .unit = 1.0};
    }
    CHECK(field_reader_open(about, COLUMNS, &how, &reader, &error) == SBPS_OK);
    CHECK(direct_columns_create(&reader, fields, N, &r, &error) == SBPS_OK && r &&
          r->local_rows == N);
    CHECK(reader.seen == N && reader.read.rows == 0 && reader.read.held < 16e6);
    rows_destroy(r);
    field_reader_close(&reader);
}

CHECK_MAIN

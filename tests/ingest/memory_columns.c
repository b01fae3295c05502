/* Columns in memory give the table of a file with the same cells. */
#include "check.h"
#include "fixture.h"

enum { N = 200 };

static double numbers[N];
static float singles[N];
static int32_t counts[N], codes[N];
static uint8_t flags[N];
static const char *words[N];
static const char *const dose[] = {"low", "mid", "high"};
static char text[N * 80];

/* `missing`: count, word and dose are missing in every 17th row. */
static uint8_t valid[(N + 7) / 8];

static void fill(bool missing)
{
    static const char *const some[] = {"a", "b", "c"};
    char *to = text + sprintf(text, "y,single,count,flag,word,dose\n");
    memset(valid, 0xff, sizeof valid);
    for (int i = 0; i < N; i++) {
        bool gone = missing && i % 17 == 5;
        numbers[i] = sin(i);
        singles[i] = (float)i / 8;
        counts[i] = i * i % 37;
        flags[i] = i % 3 == 0;
        words[i] = gone ? NULL : some[i % 3];
        codes[i] = gone ? INT32_MIN : 1 + i * 5 % 7 % 3;
        if (gone) valid[i / 8] &= (uint8_t) ~(1 << i % 8);
        to += sprintf(to, "%.17g,%.9g,", numbers[i], singles[i]);
        to += gone ? sprintf(to, ",%s,,\n", flags[i] ? "TRUE" : "FALSE")
                   : sprintf(to, "%d,%s,%s,%s\n", counts[i], flags[i] ? "TRUE" : "FALSE",
                             words[i], dose[codes[i] - 1]);
    }
}

#define COLUMN(...)                                                                            \
    {                                                                                          \
        .struct_size = sizeof(sbps_column), __VA_ARGS__                                        \
    }

enum { COLUMNS = 6 };

static const sbps_column columns_given[COLUMNS] = {
    COLUMN(.name = "y", .type = SBPS_DOUBLE, .values = numbers),
    COLUMN(.name = "single", .type = SBPS_FLOAT, .values = singles),
    COLUMN(.name = "count", .type = SBPS_INT32, .values = counts, .validity = valid),
    COLUMN(.name = "flag", .type = SBPS_BOOL, .values = flags),
    COLUMN(.name = "word", .type = SBPS_STRING, .values = words),
    COLUMN(.name = "dose", .type = SBPS_LEVEL, .values = codes, .levels = dose,
           .level_count = 3, .first_level = 1),
};

static void compare_to_csv(const rows_spec *spec, bool missing)
{
    rows *got = NULL;
    fill(missing);
    rows *want = rows_from_text(text, spec);
    CHECK(
        rows_from_columns(&(sbps_frame){.rows = N, .count = COLUMNS, .columns = columns_given},
                          spec, &got, &error) == SBPS_OK);
    CHECK(want && got && same_rows(want, got));
    CHECK(want && got && want->table.dropped == got->table.dropped &&
          !strcmp(want->table.notes, got->table.notes));
    rows_destroy(want);
    rows_destroy(got);
}

TEST(columns_give_the_table_of_a_file)
{
    compare_to_csv(&(rows_spec){.target = "y", .intercept = true, .seed = 3}, false);
    compare_to_csv(&(rows_spec){.target = "y", .intercept = true, .drop_missing = true}, true);
    compare_to_csv(&(rows_spec){.target = "flag", .labels = LABELS_TWO, .intercept = true},
                   false);
}

TEST(formulas_and_groups_are_those_of_a_file)
{
    compare_to_csv(
        &(rows_spec){.formula = "y ~ log(single + 1) * dose + word", .intercept = true}, false);
    compare_to_csv(&(rows_spec){.formula = "y ~ single + (1 + single | count)",
                                .intercept = true,
                                .drop_missing = true},
                   true);
}

TEST(columns_may_be_strided_and_backwards)
{
    double pairs[N][2], turned[N];
    fill(false);
    for (int i = 0; i < N; i++) {
        pairs[i][0] = numbers[i];
        pairs[i][1] = singles[i];
        turned[N - 1 - i] = counts[i];
    }
    const sbps_column given[] = {
        COLUMN(.name = "y", .type = SBPS_DOUBLE, .values = pairs, .stride = sizeof *pairs),
        COLUMN(.name = "single", .type = SBPS_DOUBLE, .values = &pairs[0][1],
               .stride = sizeof *pairs),
        COLUMN(.name = "count", .type = SBPS_DOUBLE, .values = &turned[N - 1],
               .stride = -(ptrdiff_t)sizeof(double)),
    };
    const rows_spec spec = {.target = "y", .features = "single,count", .intercept = true};
    rows *got = NULL, *want = rows_from_text(text, &spec);
    CHECK(rows_from_columns(&(sbps_frame){.rows = N, .count = 3, .columns = given}, &spec, &got,
                            &error) == SBPS_OK);
    CHECK(want && got && same_rows(want, got));
    rows_destroy(want);
    rows_destroy(got);
}

TEST(ordered_levels_keep_their_order)
{
    sbps_column given[2] = {columns_given[0], columns_given[5]};
    rows *r = NULL;
    fill(false);
    given[1].ordered = true;
    CHECK(rows_from_columns(&(sbps_frame){.rows = N, .count = 2, .columns = given},
                            &(rows_spec){.target = "y", .intercept = true}, &r,
                            &error) == SBPS_OK);
    REQUIRE(r && r->d == 3);
    CHECK(!strcmp(r->table.names[1], "dose=mid") && !strcmp(r->table.names[2], "dose=high"));
    rows_destroy(r);
    const rows_spec classes = {.target = "dose", .labels = LABELS_CLASSES, .intercept = true};
    CHECK(rows_from_columns(&(sbps_frame){.rows = N, .count = 2, .columns = given}, &classes,
                            &r, &error) == SBPS_OK);
    REQUIRE(r && r->table.label_count == 3);
    CHECK(!strcmp(r->table.labels[0], "low") && !strcmp(r->table.labels[2], "high"));
    rows_destroy(r);
}

static void refuse(const sbps_column *given, size_t count, const char *sentence)
{
    rows *r = NULL;
    const rows_spec spec = {.target = "y", .intercept = true};
    memset(&error, 0, sizeof error);
    CHECK(rows_from_columns(&(sbps_frame){.rows = N, .count = count, .columns = given}, &spec,
                            &r, &error) != SBPS_OK &&
          !r);
    CHECK(strstr(error.text, sentence));
    if (!strstr(error.text, sentence)) fprintf(stderr, "message: %s\n", error.text);
}

TEST(errors_of_a_column_are_reported)
{
    fill(false);
    sbps_column given[2] = {columns_given[0], columns_given[5]};
    given[1].struct_size = 8;
    refuse(given, 2, "column 2 of the table: its struct_size");
    given[1] = columns_given[5];
    given[1].name = NULL;
    refuse(given, 2, "column 2 of the table: its name");
    given[1] = columns_given[5];
    given[1].type = (sbps_column_type)99;
    refuse(given, 2, "column 2 of the table: its type");
    given[1] = columns_given[5];
    given[1].values = NULL;
    refuse(given, 2, "column 2 of the table: its values");
    given[1] = columns_given[5];
    given[1].levels = NULL;
    refuse(given, 2, "column 2 of the table: its levels");
    given[1] = columns_given[5];
    given[1].level_count = 2;
    refuse(given, 2, "column 'dose': the cell is invalid");
    numbers[7] = INFINITY;
    refuse(columns_given, COLUMNS, "table:8: column 'y': 'inf' is not a finite number");
    numbers[7] = NAN;
    refuse(columns_given, COLUMNS, "table:8: column 'y': the value is missing");
    refuse(NULL, 2, "columns are NULL");
    refuse(columns_given, 0, "it has no columns");
}

CHECK_MAIN

/* The type of a column is inferred from all its cells: one text makes it a category, wherever
 * it is. */
#include "check.h"

#include "ingest/fixture.h"
#include "ingest/schema/types.h"

static const rows_spec plain = {.target = "y", .intercept = true};

static bool has_names(const rows *r, const char *const *names, size_t count)
{
    bool same = r && r->d == count;
    for (size_t j = 0; same && j < count; j++) same = !strcmp(r->table.names[j], names[j]);
    return same;
}

TEST(types_of_cells)
{
    static const struct {
        const char *cell;
        column_type type;
        bool flawed;
    } cases[] = {
        {"1", TYPE_NUMBER, false},
        {"-2.5e3", TYPE_NUMBER, false},
        {"inf", TYPE_NUMBER, false},
        {"$5", TYPE_NUMBER, true},
        {"5 €", TYPE_NUMBER, true},
        {"-$1,234.50", TYPE_NUMBER, true},
        {"1,234", TYPE_NUMBER, true},
        {"1 234 567", TYPE_NUMBER, true},
        {"1'234", TYPE_NUMBER, true},
        {"1.234,5", TYPE_NUMBER, true},
        {"2,5", TYPE_NUMBER, true},
        {"12%", TYPE_NUMBER, true},
        {"12 %", TYPE_NUMBER, true},
        {"1 2", TYPE_TEXT, false},
        {"%", TYPE_TEXT, false},
        {"$", TYPE_TEXT, false},
        {"1st", TYPE_TEXT, false},
        {"18-25", TYPE_TEXT, false},
        {"3+", TYPE_TEXT, false},
        {"a,b", TYPE_TEXT, false},
        {"1,2,3", TYPE_TEXT, false},
        {"2026-11-15", TYPE_DATE, false},
        {"2026/11/15", TYPE_DATE, false},
        {"2026-13-15", TYPE_TEXT, false},
        {"2025-02-29", TYPE_TEXT, false},
        {"2024-02-29", TYPE_DATE, false},
        {"2026-11-15 10:20", TYPE_TIME, false},
        {"2026-11-15T10:20:30Z", TYPE_TIME, false},
        {"2026-11-15 10:20:30.25+01:00", TYPE_TIME, false},
        {"2026-11-15 25:00", TYPE_TEXT, false},
        {"2026-11-15T", TYPE_TEXT, false},
    };
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *cell = cases[i].cell, *end = cell + strlen(cell);
        bool right = cell_type(cell, end, false, c_locale) == cases[i].type &&
                     !cell_flaw(cell, end, c_locale) == !cases[i].flawed;
        if (!right) printf("'%s'\n", cell);
        CHECK(right);
    }
    freelocale(c_locale);
}

TEST(dates_are_those_of_r)
{
    static const struct {
        const char *cell;
        double expected;
    } days[] = {{"1970-01-01", 0},     {"2026-11-15", 20772},  {"1969-12-31", -1},
                {"2000-02-29", 11016}, {"1900-03-01", -25508}, {"0001-01-01", -719162}},
      seconds[] = {{"1970-01-01T00:00Z", 0},
                   {"2026-11-15 10:20:30", 1794738030},
                   {"2026-11-15T10:20:30.5Z", 1794738030.5},
                   {"2026-11-15T10:20:30+01:30", 1794732630},
                   {"2026-11-15T10:20:30-0130", 1794743430}};
    double got;
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        const char *cell = days[i].cell;
        CHECK(date_read(cell, cell + strlen(cell), &got) && got == days[i].expected);
    }
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        const char *cell = seconds[i].cell;
        CHECK(time_read(cell, cell + strlen(cell), &got) && got == seconds[i].expected);
    }
}

TEST(text_is_a_category_with_a_note)
{
    static const char *const expected[] = {"intercept", "a", "sex=male", "class=2nd",
                                           "class=3rd"};
    rows *r = rows_from_text(
        "y,a,sex,class\n1,2,male,1st\n2,3,female,3rd\n3,5,female,2nd\n4,4,male,1st\n", &plain);
    REQUIRE(has_names(r, expected, 5));
    CHECK(strstr(r->table.notes,
                 "columns 'sex' (2 levels), 'class' (3 levels) hold text and are "
                 "categories"));
    const double *row = row_with(r, 3);
    CHECK(row[1] == 5 && row[2] == 0 && row[3] == 1 && row[4] == 0);
    rows_destroy(r);
}

TEST(a_reference_is_chosen_and_columns_are_left_out)
{
    static const char *const expected[] = {"intercept", "c=1=1", "c=p", "d=no"};
    rows_spec spec = plain;
    spec.reference = "c=q, d=yes";
    spec.exclude = "a,b";
    rows *r = rows_from_text(
        "y,a,b,c,d\n1,2,x,p,no\n2,3,x,q,yes\n3,5,z,q,no\n4,5,z,1=1,yes\n5,6,z,p,no\n", &spec);
    REQUIRE(has_names(r, expected, 4));
    CHECK(!strcmp(r->table.origin[1].reference, "q") &&
          !strcmp(r->table.origin[3].reference, "yes"));
    rows_destroy(r);
    spec.reference = "c=1=1";
    r = rows_from_text(
        "y,a,b,c,d\n1,2,x,p,no\n2,3,x,q,yes\n3,5,z,q,no\n4,5,z,1=1,yes\n5,6,z,p,no\n", &spec);
    REQUIRE(r);
    CHECK(!strcmp(r->table.origin[1].reference, "1=1"));
    rows_destroy(r);
}

TEST(dates_are_numbers)
{
    rows *r = rows_from_text("y,d,t,m\n1,2026-11-15,1970-01-02 00:00:10,1970-01-02\n"
                             "2,1970-01-02,1970-01-01,1970-01-01T01:00Z\n3,,1970-01-01,NA\n",
                             &(rows_spec){.target = "y", .drop_missing = true});
    REQUIRE(r && r->local_rows == 2 && r->d == 3);
    const double *row = row_with(r, 1), *other = row_with(r, 2);
    CHECK(row[0] == 20772 && row[1] == 86410 && row[2] == 86400);
    CHECK(other[0] == 1 && other[1] == 0 && other[2] == 3600);
    CHECK(strstr(r->table.notes, "column 'd' holds dates: days since 1970-01-01"));
    CHECK(strstr(r->table.notes, "columns 't', 'm' hold times: seconds since"));
    rows_destroy(r);
}

TEST(a_decimal_comma_is_read_if_cells_are_not_separated_by_commas)
{
    rows *r = rows_from_text("y;a;w;o\n1,5;-2,25;1;0,5\n2;3;2,5;1\n3;1,234e1;1;1\n",
                             &(rows_spec){.target = "y", .weights = "w", .offset = "o"});
    REQUIRE(r && r->local_rows == 3 && r->d == 1);
    CHECK(row_with(r, 1.5)[0] == -2.25 && row_with(r, 2)[0] == 3 && row_with(r, 3)[0] == 12.34);
    for (size_t i = 0; i < 3; i++) {
        CHECK(r->weight[i] == (r->y[i] == 2 ? 2.5 : 1));
        CHECK(r->offset[i] == (r->y[i] == 1.5 ? 0.5 : 1));
    }
    rows_destroy(r);
}

TEST(strings_for_missing_cells_can_be_given)
{
    static const char text[] =
        "y,a,c\n1,2,p\n2,?,q\n3,-999,p\n4,1,none\n5,3,\n6,.,N/A\n7,5,q\n8,6,q\n";
    rows_spec spec = {.target = "y", .drop_missing = true, .threads = 1};
    rows *r = rows_from_text(text, &spec);
    REQUIRE(r && r->local_rows == 5 && r->table.dropped == 3 && r->d == 3);
    CHECK(strstr(r->table.notes, "dropped 3 of 8 rows with missing values: 'a' (2), 'c' (2)"));
    rows_destroy(r);
    spec.na = "-999, none ,?,.,N/A";
    r = rows_from_text(text, &spec);
    REQUIRE(r && r->local_rows == 3 && r->d == 2);
    CHECK(strstr(r->table.notes, "dropped 5 of 8 rows with missing values: 'a' (3), 'c' (3)"));
    rows_destroy(r);
    spec.na = "";
    spec.drop_missing = false;
    r = rows_from_text("y,c\n1,NA\n2,na\n3,NA\n", &spec);
    REQUIRE(r && r->local_rows == 3 && !strcmp(r->table.names[0], "c=na"));
    rows_destroy(r);
}

TEST(counts_of_missing_cells_do_not_depend_on_parts)
{
    char *content = malloc(120000), *to = stpcpy(content, "y,a,c\n");
    for (int i = 0; i < 9000; i++)
        to += sprintf(to, "%d,%s,%s\n", i % 3, i % 11 ? "2.5" : "?", i % 7 ? "p" : "NULL");
    rows_spec spec = {.target = "y", .drop_missing = true, .threads = 1, .intercept = true};
    rows *expected = rows_from_text(content, &spec);
    spec.threads = 3;
    spec.part_bytes = 1000;
    rows *got = rows_from_text(content, &spec);
    free(content);
    REQUIRE(expected && got);
    CHECK(strstr(expected->table.notes, "'c' (1286), 'a' (819)"));
    CHECK(same_rows(expected, got) && !strcmp(expected->table.notes, got->table.notes));
    rows_destroy(expected);
    rows_destroy(got);
}

TEST(identifiers_are_left_out_unless_they_are_named)
{
    static const char text[] = "y,id,a\n1,p,1\n2,q,5\n3,r,2\n";
    rows *r = rows_from_text(text, &plain);
    REQUIRE(r && r->d == 2);
    CHECK(strstr(r->table.notes, "column 'id' (3 levels) holds nearly as many texts"));
    rows_destroy(r);
    r = rows_from_text(text,
                       &(rows_spec){.target = "y", .categorical = "id", .intercept = true});
    REQUIRE(r && r->d == 4);
    rows_destroy(r);
    r = rows_from_text(text, &(rows_spec){.target = "y", .features = "id"});
    CHECK(!r && strstr(error.text, "nothing to estimate"));
}

TEST(thousands_of_levels_get_a_hint)
{
    char *content = malloc(60000), *to = stpcpy(content, "y,c\n");
    for (int i = 0; i < 4000; i++) to += sprintf(to, "%d,l%d\n", i % 2, i % 1200);
    rows *r = rows_from_text(content, &plain);
    free(content);
    REQUIRE(r);
    CHECK(strstr(r->table.notes, "column 'c' has 1200 levels") &&
          strstr(r->table.notes, "(1 | c)"));
    rows_destroy(r);
}

/* Text late in the file, in several columns: for all threads and parts, the table is that of
 * the file read with these columns in --categorical. */
static char *late_text(size_t rows_count, size_t late, size_t later)
{
    char *content = malloc(40 * rows_count + 100), *to = stpcpy(content, "y,a,b,d,c\n");
    for (size_t i = 0; i < rows_count; i++) {
        char b[32], d[32];
        snprintf(b, sizeof b, i < late ? "%zu" : "b%zu", i % 7);
        snprintf(d, sizeof d, i == later ? "x" : "%zu", i % 5);
        to += sprintf(to, "%zu,%zu.5,%s,%s,%s\n", i % 3, i % 11, b, d, i % 2 ? "p" : "q");
    }
    return content;
}

static void check_late(size_t late, size_t later, unsigned threads, size_t part_bytes)
{
    char *content = late_text(6000, late, later);
    rows_spec spec = plain, named = plain;
    spec.threads = threads;
    spec.part_bytes = part_bytes;
    named.categorical = "b,d,c";
    rows *expected = rows_from_text(content, &named), *got = rows_from_text(content, &spec);
    REQUIRE(expected && got);
    CHECK(same_rows(expected, got));
    CHECK(strstr(got->table.notes,
                 "'d' (6 levels), 'c' (2 levels) hold text and are categories"));
    rows_destroy(expected);
    rows_destroy(got);
    free(content);
}

TEST(late_text_makes_the_whole_column_a_category)
{
    static const size_t lines[][2] = {{0, 1}, {5000, 5999}, {5999, 4500}, {5500, 5500}};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        for (unsigned threads = 1; threads <= 3; threads++) {
            check_late(lines[k][0], lines[k][1], threads, 0);
            check_late(lines[k][0], lines[k][1], threads, 3000);
        }
}

CHECK_MAIN

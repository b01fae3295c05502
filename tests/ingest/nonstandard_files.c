/* Files that deviate from standard CSV are read, with a note about what was done. */
#include "check.h"

#include "core/printable.h"
#include "fixture.h"
#include "ingest/ingest.h"
#include "ingest/schema/column_index.h"
#include "ingest/text/text_file.h"
#include "ingest/text/unpack.h"

static const rows_spec plain = {.target = "y"};

static void check_numbers(const char *content, const rows_spec *spec, const char *note)
{
    static const double expected[2][2] = {{2, 3}, {5, -6.5}};
    rows *r = rows_from_text(content, spec);
    REQUIRE(r);
    CHECK(r->local_rows == 2 && r->d == 2);
    for (size_t i = 0; i < 2 && r->d == 2; i++) {
        const double *x = row_with(r, i ? 4 : 1);
        CHECK(x && x[0] == expected[i][0] && x[1] == expected[i][1]);
    }
    CHECK(note ? r->table.notes && strstr(r->table.notes, note) : !r->table.notes);
    rows_destroy(r);
}

TEST(the_separator_is_found)
{
    check_numbers("y,a,b\n1,2,3\n4,5,-6.5\n", &plain, NULL);
    check_numbers("y\ta\tb\n1\t2\t3\n4\t5\t-6.5\n", &plain, "tabs");
    check_numbers("y;a;b\n1;2;3\n4; 5 ;-6.5", &plain, "semicolons");
    check_numbers("y a b\n1 2 3\n4 5 -6.5\n", &plain, "blanks");
    check_numbers("  y   a\tb \r\n 1  2   3\r\n 4  5 -6.5 ", &plain, "blanks");
    check_numbers("y;\"a, c; d\";b\n1;2;3\n4;5;-6.5\n", &plain, "semicolons");
    check_numbers("y;\"a\"\"\";b,c\n1;\"2\";3\n4;5;-6.5\n", &plain, "semicolons");
    check_numbers("y, net worth, b\n1, 2, 3\n4, 5, -6.5\n", &plain, NULL);
    check_numbers("\"y\" \"net worth\" \"b\"\n1 2 3\n4 5 -6.5\n", &plain, "blanks");
}

TEST(a_tab_file_may_have_empty_cells)
{
    rows *r = rows_from_text("y\ta\tb\n1\t2\t\n4\t\t6\n7\t8\t9\n1\t2\t4\n",
                             &(rows_spec){.target = "y", .drop_missing = true});
    REQUIRE(r);
    CHECK(r->local_rows == 2);
    rows_destroy(r);
}

TEST(a_file_without_a_header_has_numbered_columns)
{
    const rows_spec spec = {.target = "x1", .no_header = true};
    check_numbers("1,2,3\n4,5,-6.5\n", &spec, NULL);
    check_numbers(" 1 2 3\n 4 5 -6.5\n", &spec, "blanks");
    rows *r = rows_from_text("1,2,3\n4,5,-6.5\n", &spec);
    REQUIRE(r);
    CHECK(!strcmp(r->table.names[0], "x2") && !strcmp(r->table.target, "x1"));
    rows_destroy(r);
}

TEST(columns_of_one_name_are_renamed)
{
    rows *r = rows_from_text("y,a,a,a_2,a\n1,2,3,4,5\n2,3,5,1,7\n4,4,4,5,5\n", &plain);
    static const char *const expected[] = {"a", "a_3", "a_2", "a_4"};
    REQUIRE(r && r->d == 4);
    for (size_t j = 0; j < 4; j++) CHECK(!strcmp(r->table.names[j], expected[j]));
    CHECK(strstr(r->table.notes, "column 3 repeats the name 'a' and was renamed 'a_3'"));
    rows_destroy(r);
}

TEST(row_names_are_left_out)
{
    static const char *const files[] = {
        "\"\",\"y\",\"a\"\n\"1\",1,2\n\"2\",4,5\n\"3\",6,8\n", /* write.csv */
        "\"y\" \"a\"\n\"1\" 1 2\n\"2\" 4 5\n\"3\" 6 8\n",      /* write.table */
        "y,a\nMazda,1,2\nHonda,4,5\n\"Fiat, X1\",6,8\n",
        "y\ta\n1\t1\t2\n2\t4\t5\n3\t6\t8\n",
        "Unnamed: 0,y,a\n0,1,2\n1,4,5\n2,6,8\n",
        "|y|a\n1|1|2\n2|4|5\n3|6|8\n",
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        rows *r = rows_from_text(files[k], &(rows_spec){.target = "y"});
        REQUIRE(r);
        CHECK(r->local_rows == 3 && r->d == 1 && !strcmp(r->table.names[0], "a") &&
              row_with(r, 4)[0] == 5);
        CHECK(
            strstr(r->table.notes, "the first column has no name; it is taken for row names"));
        rows_destroy(r);
    }
}

TEST(names_may_be_of_any_script)
{
    static const char text[] = "\xe7\x9b\xae\xe6\xa8\x99,\"a, b\",my column\n1,2,\xe6\x9d\xb1\n"
                               "4,5,\xe8\xa5\xbf\n5,5,\xe8\xa5\xbf\n";
    rows *r = rows_from_text(text, &(rows_spec){.target = "\xe7\x9b\xae\xe6\xa8\x99"});
    REQUIRE(r && r->d == 2);
    CHECK(!strcmp(r->table.names[0], "a, b") &&
          !strcmp(r->table.names[1], "my column=\xe8\xa5\xbf"));
    rows_destroy(r);
}

TEST(names_with_commas_can_be_listed)
{
    const char *content = "y,\"a,b\",c,\"say \"\"x\"\"\"\n1,2,p,3\n4,5,q,-6.5\n";
    const rows_spec quoted = {.target = "y", .features = "\"a,b\", \"say \"\"x\"\"\""};
    const rows_spec slashed = {.target = "y", .features = " a\\,b ,say \"x\""};
    check_numbers(content, &quoted, NULL);
    check_numbers(content, &slashed, NULL);
    rows *r = rows_from_text(content, &(rows_spec){.target = "y", .features = "c,\"a,b\""});
    REQUIRE(r);
    CHECK(strstr(r->table.notes,
                 "column 'c' (2 levels) holds nearly as many texts as there are rows"));
    rows_destroy(r);
    r = rows_from_text(content, &(rows_spec){.target = "y", .features = "a,b"});
    CHECK(!r && strstr(error.text, "no column is named 'a'"));
}

TEST(a_category_of_many_levels_gets_a_note)
{
    char *content = malloc(60000), *to = stpcpy(content, "y,c\n");
    for (int i = 0; i < 4000; i++) to += sprintf(to, "%d,l%d\n", i % 2, i % 2500);
    rows *r = rows_from_text(
        content, &(rows_spec){.target = "y", .categorical = "c", .intercept = true});
    free(content);
    REQUIRE(r);
    CHECK(r->storage.kind == &storage_sparse);
    CHECK(strstr(r->table.notes,
                 "2500 coefficients, most of them levels of 'c' (2500): set-up makes "
                 "matrices of 2500 x 2500 numbers, 0.05 GB each"));
    rows_destroy(r);
}

TEST(latin_1_becomes_utf_8)
{
    rows *r = rows_from_text("y,h\xf6he,c\n1,2,gr\xfcn\n2,3,rot\n3,5,rot\n",
                             &(rows_spec){.target = "y", .categorical = "c"});
    REQUIRE(r && r->d == 2);
    CHECK(!strcmp(r->table.names[0], "h\xc3\xb6he"));
    CHECK(!strcmp(r->table.names[1], "c=rot"));
    CHECK(strstr(r->table.notes, "Latin-1"));
    rows_destroy(r);
    r = rows_from_text("h\xf6he,a,c\n1,2,rot\n2,3,gr\xfcn\n3,5,blau\n",
                       &(rows_spec){.target = "h\xc3\xb6he", .categorical = "c"});
    REQUIRE(r && r->d == 3);
    CHECK(!strcmp(r->table.names[1], "c=gr\xc3\xbcn"));
    rows_destroy(r);
}

TEST(utf_8_is_left_as_it_is)
{
    static const char *const good[] = {"", "a", "h\xc3\xb6he", "\xe5\xb9\xb4",
                                       "\xf0\x9f\x98\x80"};
    static const char *const bad[] = {"\xff",         "\xc3",         "\xc0\x80",
                                      "\xed\xa0\x80", "\xe0\x80\x80", "\xf5\x80\x80\x80"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(is_utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!is_utf8(bad[i], strlen(bad[i])));
    char *euro = utf8_copy("\x80\x81", 2);
    CHECK(euro && !strcmp(euro, "\xe2\x82\xac?"));
    free(euro);
}

/* y,a / 1,2 / 4,5 / 6,8 */
static const struct {
    const char *name, *bytes;
    size_t size;
} packed_tables[] = {
    {"zstd",
     "\x28\xb5\x2f\xfd\x04\x58\x81\x00\x00\x79\x2c\x61\x0a\x31\x2c\x32\x0a\x34\x2c\x35\x0a\x36"
     "\x2c\x38"
     "\x0a\x64\x47\xe5\xa5",
     29},
    {"xz",
     "\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f"
     "\xe5\xa3"
     "\x01\x00\x0f\x79\x2c\x61\x0a\x31\x2c\x32\x0a\x34\x2c\x35\x0a\x36\x2c\x38\x0a\x00\x5d\x67"
     "\x39\xbc"
     "\xa8\x69\xc1\x37\x00\x01\x28\x10\xe5\x0b\x6c\x60\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04"
     "\x59\x5a",
     72},
};

/* Without the library at build time they are refused by name. */
TEST(zstd_and_xz_are_read_and_damage_is_reported)
{
    rows *r;
    for (size_t i = 0; i < sizeof packed_tables / sizeof *packed_tables; i++) {
        const char *name = packed_tables[i].name, *bytes = packed_tables[i].bytes;
        size_t size = packed_tables[i].size;
        rows_read(put("t.packed", bytes, size), &plain, &r, &error);
        if (!unpack_kind_of(bytes, size)) {
            CHECK(!r && strstr(error.text, name) &&
                  strstr(error.text, "which sbps cannot read"));
            printf("%s: built without it\n", name);
            continue;
        }
        REQUIRE(r);
        CHECK(r->local_rows == 3 && row_with(r, 4)[0] == 5);
        rows_destroy(r);
        for (size_t cut = 6; cut < size; cut++) {
            CHECK(rows_read(put("t.packed", bytes, cut), &plain, &r, &error) == SBPS_BAD_FILE &&
                  !r);
            CHECK(strstr(error.text, name) && strstr(error.text, "end too early"));
        }
    }
}

TEST(lines_may_end_as_on_old_macs)
{
    rows *r = rows_from_text("y,a,c\r1,2,p\r4,5,q\r6,8,\"q\"\r", &(rows_spec){.target = "y"});
    REQUIRE(r);
    CHECK(r->local_rows == 3 && r->d == 2 && row_with(r, 4)[0] == 5 && row_with(r, 1)[1] == 0);
    rows_destroy(r);
    r = rows_from_text("y,a\r1,2\r4,$5\r", &plain);
    CHECK(!r && strstr(error.text, "t.csv:3: column 'a'"));
}

TEST(other_formats_are_refused_by_name)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *sentence;
    } files[] = {
        {"\x93NUMPY\x01", 7, "a numpy array (npy)"},
        {"PAR1\x15\x04", 6, "a Parquet file"},
        {"ARROW1\0\0", 8, "a Feather file"},
        {"PK\x03\x04\x14\0\0\0xl/workbook.xml", 23, "an Excel sheet (xlsx)"},
        {"PK\x03\x04\x14\0\0\0a.csv", 13, "a zip archive"},
        {"BZh91AY&SY\x01", 11, "packed by bzip2"},
        {"\x89HDF\r\n\x1a\n", 8, "an HDF5 or NetCDF file"},
        {"\xff\xfey\0,\0", 6, "UTF-16"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        rows *r;
        const char *path = put("f.csv", files[i].bytes, files[i].size);
        CHECK(rows_read(path, &plain, &r, &error) == SBPS_BAD_FILE && !r);
        CHECK(strstr(error.text, files[i].sentence) &&
              strstr(error.text, "which sbps cannot read"));
    }
    rows *r;
    const char *path = put_gzip("f.rds", "X\n\0\0\0\3", 6);
    CHECK(rows_read(path, &plain, &r, &error) == SBPS_BAD_FILE);
    CHECK(strstr(error.text, "an R object (rds)"));
}

CHECK_MAIN

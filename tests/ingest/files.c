/* Rows have the values of the file, whatever its notation. */
#include "check.h"

#include "fixture.h"
#include "ingest/ingest.h"
#include <sys/stat.h>

static const rows_spec plain = {.target = "y", .intercept = true, .seed = 7};

static const char table[] = "y,a,b\n"
                            "1,0.5,-2\n"
                            "2,1.5,1e3\n"
                            "3,-0.25,.75\n"
                            "4,7,12345678.901234567\n";

TEST(cells_are_in_their_row_and_column)
{
    rows *r = rows_from_text(table, &plain);
    REQUIRE(r);
    CHECK(r->local_rows == 4 && r->d == 3 && r->stride == 4 && r->intercept);
    CHECK(strcmp(r->table.names[0], "intercept") == 0 && strcmp(r->table.names[1], "a") == 0);
    CHECK(strcmp(r->table.names[2], "b") == 0 && strcmp(r->table.target, "y") == 0);
    CHECK(!r->weight && !r->offset);
    static const double expected[4][3] = {
        {1, 0.5, -2}, {1, 1.5, 1e3}, {1, -0.25, .75}, {1, 7, 12345678.901234567}};
    for (size_t i = 0; i < 4; i++) {
        const double *x = row_with(r, (double)i + 1);
        REQUIRE(x);
        CHECK(memcmp(x, expected[i], sizeof expected[i]) == 0 && x[3] == 0);
    }
    CHECK((uintptr_t)r->storage.x % 64 == 0);
    rows_destroy(r);
    rows_destroy(NULL);
}

/* All are the table above. */
TEST(every_way_to_write_a_table_gives_the_same_bits)
{
    static const char *const ways[] = {
        "\xef\xbb\xbfy,a,b\n1,0.5,-2\n2,1.5,1e3\n3,-0.25,.75\n4,7,12345678.901234567\n",
        "y,a,b\r\n1,0.5,-2\r\n2,1.5,1e3\r\n3,-0.25,.75\r\n4,7,12345678.901234567\r\n",
        "y,a,b\r\n1,0.5,-2\r\n2,1.5,1e3\r\n3,-0.25,.75\r\n4,7,12345678.901234567",
        "y,a,b\n1,0.5,-2\n2,1.5,1e3\n3,-0.25,.75\n4,7,12345678.901234567",
        "y,a,b\n1,0.5,-2\n2,1.5,1e3\n3,-0.25,.75\n4,7,12345678.901234567\n\n\n",
        "y,a,b\n1,0.5,-2\n2,1.5,1e3\n3,-0.25,.75\n4,7,12345678.901234567\r\n\r\n  \n ",
        "\"y\",\"a\",\"b\"\n\"1\",\"0.5\",\"-2\"\n2,\"1.5\",1e3\n3,-0.25,\".75\"\n4,7,12345678."
        "901234567\n",
        " y , a,b \n 1 ,0.50 ,\t-2.0\n2, 1.5,1000 \n3, \"-0.25\" "
        ",0.75\n4,7,12345678.901234567\n",
        "y,a,b\n1,+0.5,-2\n02,1.5,1.0E+3\n3,-0.25,.75\n4,7.,12345678.901234567\n",
    };
    rows *expected = rows_from_text(table, &plain);
    REQUIRE(expected);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        rows *got = rows_from_text(ways[i], &plain);
        if (!got) printf("%s\n", error.text);
        REQUIRE(got);
        CHECK(same_rows(expected, got));
        rows_destroy(got);
    }
    rows_destroy(expected);
}

TEST(gzip_gives_the_same_bits_in_one_member_or_two)
{
    rows *expected = rows_from_text(table, &plain), *got;
    REQUIRE(expected);
    REQUIRE(rows_read(put_gzip("t.gz", table, strlen(table)), &plain, &got, &error) == SBPS_OK);
    CHECK(same_rows(expected, got));
    rows_destroy(got);

    char bytes[1024];
    size_t size = 0;
    const char *halves[] = {table, table + 10};
    for (int k = 0; k < 2; k++) {
        FILE *file = fopen(put_gzip("half.gz", halves[k], k ? strlen(table) - 10 : 10), "r");
        size += fread(bytes + size, 1, sizeof bytes - size, file);
        fclose(file);
    }
    memset(bytes + size, 0, 5); /* tar and tapes pad with zeros */
    REQUIRE(rows_read(put("two.gz", bytes, size + 5), &plain, &got, &error) == SBPS_OK);
    CHECK(same_rows(expected, got));
    rows_destroy(got);
    rows_destroy(expected);
}

/* A table of several megabytes, whose rows cross the reader's blocks at many places. */
static char *long_table(const char *newline, size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    fprintf(file, "y,a,\"the \"\"b\"\"\",note%s", newline);
    for (int i = 0; i < 60000; i++)
        fprintf(file, "%d,%.17g,%d,\"said \"\"%d\"\",%snot more\"%s", i, sin(i), i % 1009, i,
                "\n", newline);
    fclose(file);
    return text;
}

TEST(rows_that_cross_block_boundaries_are_whole)
{
    const rows_spec spec = {.target = "y", .features = "a, the \"b\"", .intercept = true};
    rows *r[3];
    size_t size;
    char *text = long_table("\n", &size);
    CHECK(rows_read(put("lf.csv", text, size), &spec, &r[0], &error) == SBPS_OK);
    CHECK(rows_read(put_gzip("lf.csv.gz", text, size), &spec, &r[1], &error) == SBPS_OK);
    free(text);
    text = long_table("\r\n", &size);
    CHECK(rows_read(put("crlf.csv", text, size), &spec, &r[2], &error) == SBPS_OK);
    free(text);
    REQUIRE(r[0] && r[1] && r[2]);
    CHECK(r[0]->local_rows == 60000 && same_rows(r[0], r[1]) && same_rows(r[0], r[2]));
    size_t wrong = 0;
    for (size_t i = 0; i < r[0]->local_rows; i++) {
        const double *x = r[0]->storage.x + i * r[0]->stride;
        int y = (int)r[0]->y[i];
        wrong += x[0] != 1 || x[1] != sin(y) || x[2] != y % 1009 || x[3] != 0;
    }
    CHECK(wrong == 0);
    for (int k = 0; k < 3; k++) rows_destroy(r[k]);
}

TEST(a_pipe_is_read_like_a_file)
{
    rows *expected = rows_from_text(table, &plain), *got = NULL;
    char path[600];
    snprintf(path, sizeof path, "%s/pipe", folder);
    REQUIRE(expected && mkfifo(path, 0600) == 0);
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen(path, "w");
        for (const char *p = table; *p; p++) {
            fputc(*p, file);
            fflush(file);
        }
        fclose(file);
        _exit(0);
    }
    CHECK(rows_read(path, &plain, &got, &error) == SBPS_OK);
    CHECK(got && same_rows(expected, got));
    rows_destroy(got);
    rows_destroy(expected);
}

TEST(libsvm_text_is_made_dense)
{
    const rows_spec spec = {.intercept = true, .seed = 3};
    rows *r = rows_from_text("# a comment\n\n10 1:0.5 3:2 # and one here\n20 3:-1e-2\r\n30\n"
                             "40 1:1 3:3 7:4",
                             &spec);
    REQUIRE(r);
    CHECK(r->local_rows == 4 && r->d == 4 && strcmp(r->table.target, "label") == 0);
    CHECK(strcmp(r->table.names[1], "f1") == 0 && strcmp(r->table.names[2], "f3") == 0);
    CHECK(strcmp(r->table.names[3], "f7") == 0);
    static const double expected[4][4] = {
        {1, .5, 2, 0}, {1, 0, -.01, 0}, {1, 0, 0, 0}, {1, 1, 3, 4}};
    for (size_t i = 0; i < 4; i++) {
        const double *x = row_with(r, 10.0 * (double)(i + 1));
        REQUIRE(x);
        CHECK(memcmp(x, expected[i], sizeof expected[i]) == 0);
    }
    rows_destroy(r);
}

TEST(libsvm_indices_that_do_not_occur_have_no_columns)
{
    const rows_spec spec = {.intercept = true};
    rows *r = rows_from_text("1 64:1 2147483647:2\n2 63:3 64:4\n3 65:1 128:1\n", &spec);
    REQUIRE(r);
    CHECK(r->local_rows == 3 && r->d == 6 && strcmp(r->table.names[1], "f63") == 0);
    CHECK(strcmp(r->table.names[2], "f64") == 0 &&
          strcmp(r->table.names[5], "f2147483647") == 0);
    const double *x = row_with(r, 1);
    REQUIRE(x);
    CHECK(x[1] == 0 && x[2] == 1 && x[3] == 0 && x[4] == 0 && x[5] == 2);
    rows_destroy(r);
}

TEST(libsvm_signs_become_zero_and_one_only_when_both_and_nothing_else_occur)
{
    static const struct {
        const char *text;
        double lowest, highest;
    } cases[] = {
        {"-1 1:1\n+1 1:2\n1.0 1:3\n", 0, 1},
        {"-1 1:1\n-1 1:2\n", -1, -1},
        {"1 1:1\n1 1:2\n", 1, 1},
        {"-1 1:1\n0 1:2\n1 1:4\n", -1, 1},
        {"-1 1:1\n2 1:2\n", -1, 2},
    };
    const rows_spec spec = {.intercept = true};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        rows *r = rows_from_text(cases[k].text, &spec);
        REQUIRE(r);
        double lowest = INFINITY, highest = -INFINITY;
        for (size_t i = 0; i < r->local_rows; i++) {
            lowest = fmin(lowest, r->y[i]);
            highest = fmax(highest, r->y[i]);
        }
        CHECK(lowest == cases[k].lowest && highest == cases[k].highest);
        rows_destroy(r);
    }
    rows *csv = rows_from_text("y,a\n-1,1\n1,2\n", &plain); /* in CSV, -1 and 1 are numbers */
    REQUIRE(csv);
    CHECK(row_with(csv, -1) != NULL);
    rows_destroy(csv);
}

/* Levels, types and missing cells are combined over all files. */
TEST(several_files_are_one_table)
{
    static const char head[] = "y,a,c,d\n", *const parts[] = {"1,2,p,1\n2,3,q,2\n",
                                                              "3,NA,r,1\n4,5,q,x\n",
                                                              "5,6,r,2\n6,1,p,1\n7,5,p,x\n"};
    const rows_spec spec = {.target = "y", .intercept = true, .drop_missing = true, .seed = 3};
    char text[400] = "", names[1200] = "", *to = names;
    strcat(text, head);
    for (size_t k = 0; k < 3; k++) {
        char one[200], name[32];
        strcat(text, parts[k]);
        snprintf(one, sizeof one, "%s%s", head, parts[k]);
        snprintf(name, sizeof name, "part-%zu.csv", k);
        to += sprintf(to, "%s%s", k ? "\n" : "", put(name, one, strlen(one)));
    }
    rows *expected = rows_from_text(text, &spec), *got;
    REQUIRE(expected);
    rows_read(names, &spec, &got, &error);
    REQUIRE(got);
    CHECK(same_rows(expected, got) && got->table.dropped == 1 &&
          !strcmp(got->table.notes, expected->table.notes));
    rows_destroy(got);
    snprintf(names, sizeof names, "%s/part-?.csv", folder);
    rows_read(names, &spec, &got, &error);
    REQUIRE(got);
    CHECK(same_rows(expected, got));
    rows_destroy(got);
    rows_destroy(expected);
}

TEST(several_inconsistent_files_are_refused)
{
    static const struct {
        const char *text, *sentence;
    } others[] = {{"y,a\n1,2\n", "1.csv:1: found 2 columns, expected 3 as read before"},
                  {"y,a,b\n1,2,3\n", "1.csv:1: column 3 is 'b', but in"},
                  {"y,a,c\n1,$2,p\n", "1.csv:2: column 'a': '$2' has a currency sign"}};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        char names[1200], *to = names;
        rows *r;
        to += sprintf(to, "%s\n", put("0.csv", "y,a,c\n1,2,p\n2,2,p\n", 18));
        sprintf(to, "%s", put("1.csv", others[k].text, strlen(others[k].text)));
        CHECK(rows_read(names, &(rows_spec){.target = "y"}, &r, &error) == SBPS_BAD_FILE && !r);
        CHECK(strstr(error.text, others[k].sentence));
    }
    rows *r;
    CHECK(rows_read("/nowhere/*.csv", &(rows_spec){.target = "y"}, &r, &error) == SBPS_NO_FILE);
    CHECK(strstr(error.text, "no file matches this pattern"));
}

CHECK_MAIN

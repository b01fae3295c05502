/* Threads read a file in parts. The table, or the message for a file that is refused, does not
 * depend on the size of parts and the number of threads. A gzip file is read by one thread and
 * serves as the reference. */
#include "check.h"

#include "ingest/convert_text.h"
#include "ingest/design/direct_text.h"
#include "ingest/fixture.h"
#include <fcntl.h>
#include <math.h>

static const unsigned thread_counts[] = {1, 2, 3, 16};
#define THREAD_COUNTS (sizeof thread_counts / sizeof *thread_counts)

typedef struct {
    rows *table; /* NULL: refused */
    sbps_error err;
} outcome;

static outcome read_with(const char *path, rows_spec spec, unsigned threads, size_t part_bytes)
{
    outcome got = {0};
    spec.threads = threads;
    spec.part_bytes = part_bytes;
    rows_read(path, &spec, &got.table, &got.err);
    return got;
}

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same_outcome(const outcome *a, const outcome *b)
{
    if (!a->table || !b->table)
        return !a->table && !b->table && a->err.status == b->err.status &&
               strcmp(a->err.text, b->err.text) == 0;
    return same_rows(a->table, b->table) &&
           a->table->table.dropped == b->table->table.dropped &&
           same_text(a->table->table.notes, b->table->table.notes);
}

/* Reads the text with every number of threads and these sizes of parts; 0 ends the list. */
static void check_file(const char *text, size_t size, const rows_spec *spec,
                       const size_t *sizes)
{
    outcome expected = read_with(put_gzip("t.csv", text, size), *spec, 1, 0);
    const char *path = put("t.csv", text, size);
    for (; *sizes; sizes++)
        for (size_t k = 0; k < THREAD_COUNTS; k++) {
            outcome got = read_with(path, *spec, thread_counts[k], *sizes);
            bool same = same_outcome(&got, &expected);
            if (!same)
                printf("%zu bytes a part, %u threads, got '%s', expected '%s' of\n%.200s\n",
                       *sizes, thread_counts[k], got.table ? "a table" : got.err.text,
                       expected.table ? "a table" : expected.err.text, text);
            CHECK(same);
            rows_destroy(got.table);
        }
    rows_destroy(expected.table);
}

typedef struct {
    const char *text;
    rows_spec spec;
} file_case;

#define NUMBERS                                                                                \
    {                                                                                          \
        .target = "y", .intercept = true                                                       \
    }
#define CATEGORY                                                                               \
    {                                                                                          \
        .target = "y", .categorical = "c", .intercept = true                                   \
    }
#define DROPPING                                                                               \
    {                                                                                          \
        .target = "y", .categorical = "c", .intercept = true, .drop_missing = true             \
    }
#define WEIGHTED                                                                               \
    {                                                                                          \
        .target = "y", .weights = "w", .offset = "o", .intercept = true                        \
    }

static const file_case cases[] = {
    {"y,a,b\n1,0.5,-2\n2,1.5,1e3\n3,-0.25,.75\n4,7,12345678.901234567\n", NUMBERS},
    {"y,a,b\n1,0.5,-2\n2,1.5,1e3\n3,-0.25,.75\n4,7,12.9", NUMBERS},
    {"y,a\r\n1,0.5\r\n2,1.5\r\n3,-0.25\r\n4,7\r\n\r\n \r\n", NUMBERS},
    {"\xef\xbb\xbfy;a\n1;0.5\n2;1.5\n3;-0.25\n4;7\n", NUMBERS},
    {"y a\n1  0.5\n 2 1.5\n3 -0.25 \n4 7\n", NUMBERS},
    {"\"y\",\"a\nb\"\n1,0.5\n\"2\",1.5\n3,\"-0.25\"\n4,7\n", NUMBERS},
    {"y,c\n1,red\n2,\"a\n\n\"\"b\"\"\n,1\n2,3\n\"\n3,blue\n4,\"a\n\n\"\"b\"\"\n,1\n2,3\n\"\n5,"
     "red\n",
     CATEGORY},
    {"y,c\n1,\"\n2,x\n\"\n2,\"\n1,y\n\"\n3,\"\n2,x\n\"\n4,z\n5,\"\n\"\n", CATEGORY},
    {"y,c\n1,d\n2,c\n3,b\n4,a\n5,b\n6,c\n7,d\n8,it's 5\" wide\n9,a\n", CATEGORY},
    {"y,c,a\n1,z,1\n2,y,NA\n3,x,2\n,w,3\n4,v,5\n5,NA,4\n6,x,8\n7,y,\n8,z,1\n", DROPPING},
    {"y,c,a\n1,z,1\n2,y,NA\n3,x,2\n", CATEGORY},
    {"y,a,w,o\n1,2,1,0\n2,3,0,1\n3,4,2,-1\n4,1,1,3\n", WEIGHTED},
    {"y,a,w,o\n1,2,1,0\n2,3,0,1\n3,4,-2,-1\n4,1,x,3\n", WEIGHTED},
    {"y,a\n1,2\n2,3\n3,x\n4,5\n5,y\n", NUMBERS},
    {"y,a\n1,2\n2,3\n3,4,5\n4,5\n5\n", NUMBERS},
    {"y,a\n1,2\n2,3\n\n3,4\n4,5\n", NUMBERS},
    {"y,a\n1,2\n2,3\n3,\"4\n4,5\n6,7\n", NUMBERS},
    {"y,a\n1,2\n2,3\n3,\"4\"x\n4,5\n6,7\n", NUMBERS},
    {"y,a\n1,2\n2,3\n3,1e400\n4,inf\n6,7\n", NUMBERS},
    {"y,a\n1,2\n", NUMBERS},
    {"y,a\n", NUMBERS},
    {"y,a", NUMBERS},
    {"-1 1:0.5 3:2 # note\n+1 2:1 3:-1e-2\n# a line\n\n1\n-1 1:1 2:2 3:3\n# end\n",
     {.intercept = true}},
    {"1 1:2 9:1\n2 1:3\n3 1:1 7:7 40:12\n0 3:4\n5 1:2\n2 2:2\n",
     {.intercept = true, .storage = "sparse"}},
    {"1 1:2 9:1\n2 1:3\n3 1:1 7:7 40:12\n0 3:4\n5 1:2\n2 2:2\n",
     {.intercept = true, .categorical = "f1"}},
    {"1 1:2 2:1\n2 1:3\n3 2:1 1:7\n0 3:4\n", {.intercept = true}},
};

TEST(parts_may_begin_at_any_byte)
{
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        size_t size = strlen(cases[k].text), *sizes = calloc(size + 2, sizeof *sizes);
        REQUIRE(sizes);
        for (size_t i = 0; i <= size; i++) sizes[i] = i + 1;
        check_file(cases[k].text, size, &cases[k].spec, sizes);
        free(sizes);
    }
}

static const size_t few_sizes[] = {1000, 4096, 65536, 1 << 20, 0};

/* Numbers, text with line breaks and quotes, and a category whose levels appear throughout. */
static char *long_table(const char *newline, size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    fprintf(file, "y,a,note,c%s", newline);
    for (int i = 0; i < 20000; i++)
        fprintf(file, "%d,%.17g,\"said \"\"%d\"\",\n%d,2,3,x\n\",level%d%s", i, sin(i), i, i,
                (i * i) % (17 + i / 1000), newline);
    fclose(file);
    return text;
}

static const rows_spec long_spec = {
    .target = "y", .features = "a", .categorical = "c", .intercept = true};

TEST(long_files_give_the_same_table)
{
    static const char *const newlines[] = {"\n", "\r\n"};
    for (size_t k = 0; k < 2; k++) {
        size_t size;
        char *text = long_table(newlines[k], &size);
        check_file(text, size, &long_spec, few_sizes);
        check_file(text, size - 1, &long_spec, few_sizes); /* without the last byte */
        free(text);
    }
}

/* Inserts a line before row `row`. */
static char *put_in(const char *text, const char *row, const char *line, size_t *size)
{
    size_t before = (size_t)(strstr(text, row) - text) + 1, length = strlen(line);
    *size = strlen(text) + length;
    char *all = malloc(*size + 1);
    if (!all) exit(EXIT_FAILURE);
    memcpy(all, text, before);
    memcpy(all + before, line, length);
    memcpy(all + before + length, text + before, *size + 1 - before - length);
    return all;
}

/* The first of two errors is reported, and its line number counts line breaks in quotes. */
TEST(errors_deep_in_a_file_are_reported_the_same)
{
    static const char *const wrong[] = {"1,x,n,c\n",      "1,2,n\n",     "\n1,2,n,c\n",
                                        "1,2,\"n\"m,c\n", "1,2,\"n,c\n", "1,NA,n,c\n"};
    size_t size;
    char *text = long_table("\n", &size), *twice = put_in(text, "\n19000,", wrong[0], &size);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        char *whole = put_in(twice, "\n15000,", wrong[k], &size);
        check_file(whole, size, &long_spec, few_sizes);
        free(whole);
    }
    free(twice);
    free(text);
}

TEST(a_zero_byte_is_reported_after_an_earlier_error)
{
    size_t size;
    char *text = long_table("\n", &size);
    char *zero = strstr(text, "\n18000,");
    REQUIRE(zero);
    zero[1] = '\0';
    check_file(text, size, &long_spec, few_sizes);
    memcpy(strstr(text, "\n17900,") + 1, "x", 1);
    check_file(text, size, &long_spec, few_sizes);
    free(text);
}

/* More rows than a block of memory holds, and so many parts that some wait for others. */
TEST(many_rows_of_numbers_give_the_same_table)
{
    size_t size;
    char *text = NULL;
    FILE *file = open_memstream(&text, &size);
    fprintf(file, "y,a,b,c\n");
    for (int i = 0; i < 100000; i++)
        fprintf(file, "%d,%.6f,%.3f,%d\n", i % 2, sin(i), 1e3 * cos(i), i % 7);
    fclose(file);
    check_file(text, size, &(rows_spec){.target = "y", .intercept = true},
               (const size_t[]){30000, 1 << 18, 0});
    free(text);
}

static char *file_bytes(const char *path, size_t *size)
{
    char *bytes = NULL;
    FILE *file = fopen(path, "r"), *copy = open_memstream(&bytes, size);
    for (int c; file && (c = fgetc(file)) != EOF;) fputc(c, copy);
    if (file) fclose(file);
    fclose(copy);
    return bytes;
}

TEST(a_converted_table_is_the_same_file)
{
    size_t size, expected_size = 0, got_size;
    char *text = long_table("\n", &size), *expected = NULL, to[600];
    put("t.csv", text, size);
    snprintf(to, sizeof to, "%s/t.tbl", folder);
    for (size_t k = 0; k < THREAD_COUNTS; k++) {
        rows_spec spec = long_spec;
        table_job job = {.from = file_path,
                         .to = to,
                         .temp_near = to,
                         .memory = 1 << 20,
                         .file = open(to, O_RDWR | O_CREAT | O_TRUNC, 0600)};
        spec.threads = thread_counts[k];
        spec.part_bytes = k ? 10000 : 0;
        CHECK(table_write(&job, &spec, &error) == SBPS_OK);
        close(job.file);
        char *got = file_bytes(to, &got_size);
        if (k == 0)
            expected = got, expected_size = got_size;
        else
            CHECK(got_size == expected_size && memcmp(got, expected, got_size) == 0);
        if (k > 0) free(got);
    }
    free(expected);
    free(text);
}

/* Returns whether direct_read can read the text; the tests above check its result. */
static bool is_read_directly(const char *text, rows_spec spec)
{
    row_source s;
    column_types found = {0};
    rows *table = NULL;
    bool done = false;
    spec.part_bytes = 20;
    spec.threads = 2;
    CHECK(source_open(&(text_input){put("t.csv", text, strlen(text)), -1}, &spec, &found, &s,
                      &error) == SBPS_OK);
    CHECK(direct_read(&s, &spec, &table, &done, &error) == SBPS_OK && done == (table != NULL));
    rows_destroy(table);
    source_close(&s);
    column_types_clear(&found);
    return done;
}

TEST(rows_are_read_directly_if_records_are_lines)
{
    const rows_spec numbers = {.target = "y", .intercept = true};
    rows_spec other = numbers;
    static const char plain[] = "y,a,b\n1,2,3\n2,3,5.5\n3,4,1e3\n4,\"5\",-1\n5,6,.5\n";
    CHECK(is_read_directly(plain, numbers));
    CHECK(is_read_directly("y,a\r\n1,2\r\n2,3\r\n3,4\r\n4,5\r\n5,6", numbers));
    other.storage = "float";
    CHECK(is_read_directly(plain, other));
    other.storage = "sparse";
    CHECK(!is_read_directly(plain, other));
    other = numbers;
    other.categorical = "a";
    CHECK(!is_read_directly(plain, other));
    CHECK(is_read_directly("y,a\n1,2\n2,3\n3,4\n4,5\n5,6\n\n \t\n", numbers));
    CHECK(!is_read_directly("y,a\n1,2\n2,3\n3,4\n\n4,5\n5,6\n", numbers));
    CHECK(!is_read_directly("y,a\n1,2\n2,3\n3,4\n4,x\n5,6\n1,2\n", numbers));
    other = (rows_spec){.target = "y", .features = "a", .intercept = true};
    CHECK(!is_read_directly("y,a,c\n1,2,\"\n\"\n2,3,d\n3,4,d\n4,1,d\n", other));
    /* as many line breaks as records, but inside quotes */
    CHECK(!is_read_directly("y,a,c\n1,2,\"\n3,4,d\n3,5,\"\n1,1,e\n", other));
}

typedef struct {
    size_t calls, stop_after, rows;
    double fraction;
} watcher;

static bool record_stage(void *self, const char *stage, size_t rows_done, double fraction)
{
    watcher *w = self;
    CHECK(strcmp(stage, "reading") == 0 && rows_done >= w->rows && fraction >= w->fraction);
    CHECK(fraction <= 1.0);
    w->rows = rows_done;
    w->fraction = fraction;
    return ++w->calls != w->stop_after;
}

TEST(reading_reports_progress_and_stops_on_request)
{
    size_t size;
    char *text = long_table("\n", &size);
    const char *path = put("t.csv", text, size);
    for (size_t stop = 0; stop < 4; stop++)
        for (size_t k = 0; k < THREAD_COUNTS; k++) {
            watcher w = {.stop_after = stop};
            rows_spec spec = long_spec;
            spec.watch = record_stage;
            spec.watcher = &w;
            outcome got = read_with(path, spec, thread_counts[k], 4096);
            CHECK((got.table != NULL) == (stop == 0 || w.calls < stop));
            if (!got.table) CHECK(strstr(got.err.text, "stopped on request"));
            rows_destroy(got.table);
        }
    free(text);
}

CHECK_MAIN

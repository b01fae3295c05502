/* Tables on disk hold what their text holds, and other files are not accepted as tables. */
#include "check.h"
#include "core/rng.h"
#include "table/convert_text.h"

#define N 3000

/* y is the row's number, by which rows are identified. */
static const char *many_rows(void)
{
    static char path[600];
    char *content = malloc(N * 80), *at = content;
    rng r = rng_stream(1, 0, RNG_TEST);
    at += sprintf(at, "y,a,b,c,w,o\n");
    for (size_t i = 0; i < N; i++)
        at += sprintf(at, "%zu,%.6f,%.6f,%s,%zu,%.3f\n", i, rng_normal(&r), rng_uniform(&r),
                      (const char *[]){"red", "green", "blue"}[i % 3], 1 + i % 2,
                      rng_uniform(&r));
    put("many.csv", content, (size_t)(at - content));
    free(content);
    return strcpy(path, file_path);
}

static const rows_spec plain = {.target = "y", .features = "a,b", .intercept = true, .seed = 5};
static const rows_spec rich = {.target = "y",
                               .categorical = "c",
                               .weights = "w",
                               .offset = "o",
                               .intercept = true,
                               .standardize = true,
                               .seed = 5};

/* ---- contents ---- */

static size_t find_row(const rows *r, double y)
{
    size_t i = 0;
    while (i < r->local_rows && r->y[i] != y) i++;
    return i;
}

/* The same rows in another order; moments agree up to the order of summation. */
static void check_same_content(const rows *a, const rows *b)
{
    REQUIRE(a && b);
    REQUIRE(a->local_rows == b->local_rows && a->d == b->d && a->stride == b->stride);
    CHECK(a->intercept == b->intercept && strcmp(a->table.target, b->table.target) == 0);
    CHECK(!a->weight == !b->weight && !a->offset == !b->offset);
    for (size_t j = 0; j < a->d; j++) {
        CHECK(strcmp(a->table.names[j], b->table.names[j]) == 0);
        CHECK_NEAR(a->table.mean[j], b->table.mean[j], TOL_SUM);
        CHECK_NEAR(a->table.sd[j], b->table.sd[j], TOL_SUM);
    }
    for (size_t i = 0; i < a->local_rows; i++) {
        size_t k = find_row(b, a->y[i]);
        REQUIRE(k < b->local_rows);
        for (size_t j = 0; j < a->stride; j++)
            CHECK_NEAR(a->storage.x[i * a->stride + j], b->storage.x[k * b->stride + j],
                       TOL_SUM);
        if (a->weight) CHECK(a->weight[i] == b->weight[k]);
        if (a->offset) CHECK(a->offset[i] == b->offset[k]);
    }
}

TEST(a_table_holds_the_rows_of_its_text)
{
    const rows_spec specs[] = {plain, rich};
    const char *from = many_rows();
    for (size_t k = 0; k < 2; k++) {
        rows *text_rows = NULL,
             *mapped = map_table(convert(from, &specs[k], MEMORY, "t"), &specs[k]);
        rows_read(from, &specs[k], &text_rows, &error);
        check_same_content(text_rows, mapped);
        if (mapped) CHECK(mapped->storage.mapped && mapped->table.hash == rows_hash(mapped));
        rows_destroy(text_rows);
        rows_destroy(mapped);
    }
}

typedef struct {
    uint64_t key;
    double row;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *p = a, *q = b;
    return (p->key > q->key) - (p->key < q->key);
}

TEST(rows_are_in_the_order_of_their_keys)
{
    static keyed order[N];
    rng keys = rng_stream(plain.seed, 0, RNG_SHUFFLE);
    rows *r = map_table(convert(many_rows(), &plain, MEMORY, "t"), &plain);
    REQUIRE(r);
    for (size_t i = 0; i < N; i++) order[i] = (keyed){rng_word(&keys), (double)i};
    qsort(order, N, sizeof *order, by_key);
    for (size_t i = 0; i < N; i++) CHECK(r->y[i] == order[i].row);
    rows_destroy(r);
}

TEST(the_same_text_gives_the_same_bytes_whatever_the_memory)
{
    const size_t memories[] = {(size_t)128 * 4096, (size_t)1 << 20, (size_t)64 << 20};
    size_t size, other;
    const char *from = many_rows();
    REQUIRE(convert(from, &rich, memories[0], "first"));
    char *first = bytes_of(table_path, &size);
    for (size_t m = 0; m < 3; m++) {
        REQUIRE(convert(from, &rich, memories[m], "again"));
        char *again = bytes_of(table_path, &other);
        CHECK(size == other && memcmp(first, again, size) == 0);
        free(again);
    }
    rows_spec seeded = rich;
    seeded.seed++;
    REQUIRE(convert(from, &seeded, MEMORY, "again"));
    char *again = bytes_of(table_path, &other);
    CHECK(size == other && memcmp(first, again, size) != 0);
    free(again);
    free(first);
}

TEST(floats_take_half_the_space_and_lose_only_digits)
{
    rows_spec single = plain;
    size_t whole, half;
    const char *from = many_rows();
    single.storage = "float";
    rows *doubles = map_table(convert(from, &plain, MEMORY, "d"), &plain);
    free(bytes_of(table_path, &whole));
    rows *floats = map_table(convert(from, &single, MEMORY, "f"), &single);
    free(bytes_of(table_path, &half));
    REQUIRE(doubles && floats);
    CHECK(floats->storage.kind == &storage_float && !floats->storage.x);
    CHECK(half < whole && whole - half >= N * floats->stride * sizeof(float) - TABLE_PAGE);
    for (size_t i = 0; i < N * floats->stride; i++)
        CHECK(floats->storage.x_float[i] == (float)doubles->storage.x[i]);
    CHECK(same_doubles(floats->y, doubles->y, N));
    CHECK(floats->table.hash == rows_hash(floats) && floats->table.hash != doubles->table.hash);
    rows_destroy(doubles);
    rows_destroy(floats);
}

TEST(gzip_and_libsvm_become_tables_too)
{
    static const char csv[] = "y,a\n0,1\n1,2\n2,4\n";
    static const char svm[] = "+1 1:2.5 3:1\n-1 3:4\n+1 1:-1\n";
    rows_spec spec = {.target = "y", .intercept = true}, label = {.intercept = true};
    rows *r = map_table(convert(put_gzip("t.gz", csv, strlen(csv)), &spec, MEMORY, "t"), &spec);
    REQUIRE(r && r->local_rows == 3 && r->d == 2);
    CHECK(row_with(r, 2)[1] == 4);
    rows_destroy(r);
    r = map_table(convert(put("t.svm", svm, strlen(svm)), &label, MEMORY, "t"), &label);
    REQUIRE(r && r->local_rows == 3 && r->d == 3);
    CHECK(row_with(r, 0)[2] == 4); /* -1 and +1 became 0 and 1 */
    CHECK(strcmp(r->table.target, "label") == 0 && strcmp(r->table.names[2], "f3") == 0);
    rows_destroy(r);
}

/* ---- invalid files ---- */

static const char *small_table(void)
{
    static const char csv[] = "y,a,b\n0,1,5\n1,2,3\n2,4,4\n";
    rows_spec spec = {.target = "y", .intercept = true};
    return convert(put("s.csv", csv, strlen(csv)), &spec, MEMORY, "small");
}

TEST(a_table_cut_anywhere_is_refused)
{
    size_t size;
    REQUIRE(small_table());
    char *bytes = bytes_of(table_path, &size);
    for (size_t kept = 8; kept < size; kept += kept < 400 ? 1 : 97)
        CHECK(refused(bytes, kept, "truncated"));
    CHECK(refused(bytes, size - 1, "truncated"));
    bytes[size] = 0;
    CHECK(refused(bytes, size + 1, "bytes follow its end"));
    free(bytes);
}

TEST(a_flipped_bit_in_header_names_or_means_is_detected)
{
    size_t size;
    REQUIRE(small_table());
    char *bytes = bytes_of(table_path, &size);
    table_header h;
    memcpy(&h, bytes, sizeof h);
    CHECK(h.version == TABLE_VERSION_DESIGN);
    for (size_t at = 8; at < sizeof h; at++) {
        bytes[at] ^= 4;
        rows *r = map_table(put("bad", bytes, size), &no_wish);
        CHECK(!r && error.status == SBPS_BAD_FILE && strlen(error.text) > 20);
        rows_destroy(r);
        bytes[at] ^= 4;
    }
    for (section_name k = SECTION_MEAN; k <= SECTION_TEXT; k++) {
        bytes[h.section[k].at] ^= 1;
        CHECK(refused(bytes, size, "the checksum of its names and means is wrong"));
        bytes[h.section[k].at] ^= 1;
    }
    bytes[h.design.at] ^= 1;
    CHECK(refused(bytes, size, "the checksum of its design is wrong"));
    free(bytes);
}

/* Earlier versions have no design. */
TEST(a_table_of_an_earlier_version_is_read)
{
    size_t size;
    REQUIRE(small_table());
    char *bytes = bytes_of(table_path, &size);
    table_header h;
    memcpy(&h, bytes, sizeof h);
    rows *now = map_table(put("now", bytes, size), &no_wish);
    h.version = TABLE_VERSION_NOTES;
    h.design = (table_section){0};
    h.crc = table_crc(&h);
    memcpy(bytes, &h, sizeof h);
    rows *then = map_table(put("then", bytes, size), &no_wish);
    REQUIRE(now && then);
    CHECK(now->table.design && !then->table.design && now->local_rows == then->local_rows &&
          now->table.hash == then->table.hash);
    rows_destroy(now);
    rows_destroy(then);
    free(bytes);
}

/* Headers with a good checksum that point outside the file. */
TEST(sections_outside_the_file_are_refused)
{
    size_t size;
    REQUIRE(small_table());
    char *bytes = bytes_of(table_path, &size);
    table_header good, h;
    memcpy(&good, bytes, sizeof good);
    uint64_t *const fields[] = {&h.rows,
                                &h.columns,
                                &h.stride,
                                &h.section[SECTION_X].at,
                                &h.section[SECTION_X].size,
                                &h.section[SECTION_Y].at,
                                &h.section[SECTION_WEIGHT].size,
                                &h.section[SECTION_MEAN].size,
                                &h.section[SECTION_TEXT].at,
                                &h.section[SECTION_TEXT].size};
    const uint64_t values[] = {0, 1, 5, 4097, 1 << 20, UINT64_MAX / 8, UINT64_MAX};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            h = good;
            if (*fields[f] == values[v]) continue;
            *fields[f] = values[v];
            h.crc = table_crc(&h);
            memcpy(bytes, &h, sizeof h);
            rows *r = map_table(put("bad", bytes, size), &no_wish);
            CHECK(!r && error.status == SBPS_BAD_FILE);
            rows_destroy(r);
        }
    h = good;
    h.version = TABLE_VERSION + 1;
    memcpy(bytes, &h, sizeof h);
    CHECK(refused(bytes, size, "format version 6, and this program reads up to version 5"));
    h = good;
    strcpy(h.storage, "quad");
    h.crc = table_crc(&h);
    memcpy(bytes, &h, sizeof h);
    CHECK(refused(bytes, size, "unknown storage 'quad'"));
    free(bytes);
}

/* The text of a table, with valid checksums. Each note ends with its line: the code that prints
 * them relies on it. */
TEST(notes_that_do_not_end_with_their_line_are_refused)
{
    size_t size;
    static const char csv[] = "y,a,b\n1,u,2\n2,v,3\n3,u,5\n4,v,1\n";
    const char *from = put("notes.csv", csv, sizeof csv - 1);
    const char *path = convert(from, &plain, MEMORY, "t");
    REQUIRE(path);
    char *bytes = bytes_of(path, &size);
    table_header h;
    memcpy(&h, bytes, sizeof h);
    char *text = bytes + h.section[SECTION_TEXT].at, *notes = text;
    for (size_t i = 0; i < TEXTS + h.columns; i++) notes += strlen(notes) + 1;
    REQUIRE(*notes && notes[strlen(notes) - 1] == '\n');
    notes[strlen(notes) - 1] = '.';
    h.tail_crc = table_tail_crc(&h, (const unsigned char *)bytes);
    h.crc = table_crc(&h);
    memcpy(bytes, &h, sizeof h);
    CHECK(refused(bytes, size, "its text section is incomplete"));
    free(bytes);
}

TEST(options_that_contradict_the_table_are_refused)
{
    const char *from = many_rows(), *path = convert(from, &plain, MEMORY, "t");
    REQUIRE(path);
    rows_spec bad[] = {{.target = "a", .intercept = true},
                       {.features = "a", .intercept = true},
                       {.categorical = "c", .intercept = true},
                       {.weights = "w", .intercept = true},
                       {.offset = "o", .intercept = true},
                       {.standardize = true, .intercept = true},
                       {.intercept = false},
                       {.storage = "float", .intercept = true},
                       {.no_target = true, .intercept = true}};
    const char *const messages[] = {"--target: the table was converted with 'y'",
                                    "--features: the table was converted with 'a,b'",
                                    "converted without --categorical",
                                    "converted without --weights",
                                    "converted without --offset",
                                    "converted without --standardize",
                                    "converted without --no-intercept",
                                    "--storage: the table was converted with 'double'",
                                    "use the text file"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rows *r = map_table(path, &bad[i]);
        CHECK(!r && error.status == SBPS_BAD_ARG && strstr(error.text, messages[i]));
        rows_destroy(r);
    }
    rows_spec good[] = {plain, no_wish, {.features = " a , b", .intercept = true}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        rows *r = map_table(path, &good[i]);
        CHECK(r);
        rows_destroy(r);
    }
}

TEST(notes_and_labels_come_with_the_table)
{
    static const char text[] = "y,c\nyes,p\nno,q\nno,p\nno,NA\n";
    rows_spec spec = {
        .target = "y", .intercept = true, .labels = LABELS_TEXT, .drop_missing = true};
    const char *path = convert(put("t.csv", text, strlen(text)), &spec, MEMORY, "t");
    rows *r = path ? map_table(path, &no_wish) : NULL;
    REQUIRE(r);
    CHECK(r->table.label_count == 2 && !strcmp(r->table.labels[0], "no") &&
          !strcmp(r->table.labels[1], "yes"));
    CHECK(strstr(r->table.notes, "column 'c' (2 levels) holds text and is a category"));
    CHECK(strstr(r->table.notes, "target 'y': 'yes' is 1 and 'no' is 0"));
    CHECK(strstr(r->table.notes, "dropped 1 of 4 rows"));
    rows_destroy(r);
}

TEST(conversion_refuses_the_text_that_reading_refuses)
{
    static const char bad[] = "y,a\n1,2\n2,$3\n", one[] = "y,a\n1,2\n";
    rows_spec spec = {.target = "y", .intercept = true};
    CHECK(!convert(put("t.csv", bad, strlen(bad)), &spec, MEMORY, "t"));
    CHECK(strstr(error.text, "t.csv:3: column 'a': '$3' has a currency sign"));
    CHECK(!convert(put("t.csv", one, strlen(one)), &spec, MEMORY, "t"));
    CHECK(strstr(error.text, "needs at least two"));
    spec.storage = "sparse";
    spec.standardize = true;
    CHECK(!convert(put("t.csv", bad, strlen(bad)), &spec, MEMORY, "t"));
    CHECK(strstr(error.text, "standardised columns have no zeros"));
}

CHECK_MAIN

/* Tables on disk with sparse rows equal the rows read from the same text, and forged entries
 * are refused. */
#include "check.h"
#include "core/rng.h"
#include "table/convert_text.h"
#include "table/row_origin.h"

#define N    ((size_t)700)
#define LINE 1000 /* bytes */

static char lines[N][LINE];

/* ---- texts: lines, and files of them in any order ---- */

typedef struct {
    const char *name, *head;
    rows_spec spec;
    void (*line)(rng *r, size_t i, char *to);
} source_text;

/* Every seventh row is empty. */
static void libsvm_line(rng *r, size_t i, char *to)
{
    to += sprintf(to, "%d", rng_below(r, 2) ? 1 : -1);
    for (size_t j = 1; j <= 400 && i % 7; j++)
        if (rng_uniform(r) < 0.02) to += sprintf(to, " %zu:%.4f", j, rng_normal(r));
    sprintf(to, "\n");
}

static void ones_line(rng *r, size_t i, char *to)
{
    to += sprintf(to, "%zu", i % 2);
    for (size_t j = 1; j <= 300; j++)
        if (rng_uniform(r) < 0.02) to += sprintf(to, " %zu:1", j);
    sprintf(to, "\n");
}

/* Two categories of many levels, weights, an offset, and a column that is mostly 0. */
static void category_line(rng *r, size_t i, char *to)
{
    double rare = rng_uniform(r) < 0.1 ? rng_normal(r) : 0.0;
    sprintf(to, "%zu,l%zu,%zu,%zu,%.3f,%.4f\n", i % 2, rng_below(r, 70), rng_below(r, 50),
            1 + i % 3, rng_uniform(r), rare);
}

static const source_text texts[] = {
    {"libsvm", "", {.intercept = true, .seed = 5}, libsvm_line},
    {"ones", "", {.seed = 6}, ones_line},
    {"categories",
     "y,c,k,w,o,x\n",
     {.target = "y",
      .categorical = "c,k",
      .weights = "w",
      .offset = "o",
      .intercept = true,
      .seed = 7},
     category_line},
};
#define TEXTS_MADE (sizeof texts / sizeof *texts)

static void make_lines(const source_text *t)
{
    rng r = rng_stream(3, (uint64_t)(t - texts), RNG_TEST);
    for (size_t i = 0; i < N; i++) t->line(&r, i, lines[i]);
}

/* Lines order[0], order[1], ...; NULL: in their order. */
static const char *put_lines(const source_text *t, const size_t *order)
{
    char *content = malloc(N * LINE), *at = stpcpy(content, t->head);
    for (size_t i = 0; i < N; i++) at = stpcpy(at, lines[order ? order[i] : i]);
    put("lines", content, (size_t)(at - content));
    free(content);
    return file_path;
}

/* ---- contents ---- */

static bool same_entries(const rows *a, const rows *b)
{
    size_t count = a->storage.start[a->local_rows];
    return memcmp(a->storage.start, b->storage.start,
                  (a->local_rows + 1) * sizeof *a->storage.start) == 0 &&
           memcmp(a->storage.column, b->storage.column, count * sizeof *a->storage.column) ==
               0 &&
           same_doubles(a->storage.value, b->storage.value, count);
}

/* Reads the text with its lines in an order that the shuffle turns into that of the table. */
static rows *read_in_the_order_of(const rows *table, const source_text *t)
{
    size_t order[N], *to = shuffled_places(t->spec.seed, N, 1);
    rows *out = NULL;
    for (size_t i = 0; i < N; i++)
        CHECK(rows_origin(table, to[i], &order[i], &error) == SBPS_OK);
    free(to);
    rows_read(put_lines(t, order), &t->spec, &out, &error);
    return out;
}

TEST(a_table_has_the_bits_of_the_rows_read_in_its_order)
{
    for (size_t k = 0; k < TEXTS_MADE; k++) {
        make_lines(&texts[k]);
        const char *path = convert(put_lines(&texts[k], NULL), &texts[k].spec, MEMORY, "t");
        rows *table = map_table(path, &texts[k].spec);
        REQUIRE(table && table->storage.mapped && table->storage.kind == &storage_sparse);
        rows *text = read_in_the_order_of(table, &texts[k]);
        REQUIRE(text && text->storage.kind == &storage_sparse);
        CHECK(same_rows(table, text) && same_entries(table, text));
        CHECK(table->table.hash == rows_hash(table));
        CHECK(!table->storage.value == !strcmp(texts[k].name, "ones"));
        rows_destroy(text);
        rows_destroy(table);
    }
}

TEST(the_same_bytes_whatever_the_memory)
{
    const size_t memories[] = {(size_t)128 * 4096, (size_t)64 << 20};
    for (size_t k = 0; k < TEXTS_MADE; k++) {
        size_t size[2];
        char *bytes[2];
        make_lines(&texts[k]);
        for (size_t m = 0; m < 2; m++) {
            REQUIRE(convert(put_lines(&texts[k], NULL), &texts[k].spec, memories[m], "t"));
            bytes[m] = bytes_of(table_path, &size[m]);
        }
        CHECK(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
        free(bytes[0]);
        free(bytes[1]);
    }
}

/* 40 columns, `each` entries per row on average: the choice changes at 4. */
static const char *put_density(double each)
{
    char *content = malloc(N * LINE), *at = content;
    rng r = rng_stream(4, 0, RNG_TEST);
    for (size_t i = 0; i < N; i++) {
        at += sprintf(at, "%zu", i % 2);
        for (size_t j = 1; j <= 40; j++)
            if (rng_uniform(&r) < each / 40) at += sprintf(at, " %zu:2", j);
        at += sprintf(at, "\n");
    }
    put("density", content, (size_t)(at - content));
    free(content);
    return file_path;
}

TEST(auto_chooses_the_storage_of_reading)
{
    const char *const storages[] = {"auto", "double", "float", "sparse"};
    size_t sparse = 0;
    for (double each = 1.0; each < 8.0; each += 0.5)
        for (size_t k = 0; k < sizeof storages / sizeof *storages; k++) {
            rows *text = NULL;
            rows_spec spec = {.intercept = true, .storage = storages[k]};
            const char *from = put_density(each);
            rows *table = map_table(convert(from, &spec, MEMORY, "t"), &spec);
            rows_read(from, &spec, &text, &error);
            REQUIRE(table && text);
            CHECK(table->storage.kind == text->storage.kind);
            sparse += k == 0 && table->storage.start;
            rows_destroy(text);
            rows_destroy(table);
        }
    CHECK(sparse > 2 && sparse < 12);
}

TEST(a_table_may_have_no_entries)
{
    static const char csv[] = "y,a\n0,0\n1,0\n1,0\n";
    rows_spec spec = {.target = "y", .intercept = true, .storage = "sparse"};
    rows *r = map_table(convert(put("t.csv", csv, strlen(csv)), &spec, MEMORY, "t"), &spec);
    REQUIRE(r && r->storage.start && r->local_rows == 3 && r->d == 2);
    CHECK(r->storage.start[3] == 0 && !r->storage.value &&
          r->storage.kind->cell(r, 2, 1) == 0.0);
    rows_destroy(r);
}

/* Rows as read would be 20000 numbers: 128 blocks of one such row are more than the memory. */
TEST(wide_rows_are_shuffled_without_their_zeros)
{
    char *content = malloc(N * 200), *at = content;
    rng r = rng_stream(8, 0, RNG_TEST);
    for (size_t i = 0; i < N; i++) {
        at += sprintf(at, "%zu", i % 2);
        for (size_t j = 0; j < 9; j++)
            at += sprintf(at, " %zu:1", 1 + j * 2222 + rng_below(&r, 2222));
        at += sprintf(at, " 20000:2\n");
    }
    rows *table = map_table(
        convert(put("wide", content, (size_t)(at - content)), &no_wish, MEMORY, "t"), &no_wish);
    REQUIRE(table && table->storage.start);
    CHECK(table->storage.start[N] == 10 * N && table->storage.value);
    rows_destroy(table);
    free(content);
}

/* ---- invalid files ---- */

/* Rows of the entries 1, 3 | none | 2 | 1, 2, 3, with an intercept. */
static char *small_table(size_t *size, table_header *h)
{
    static const char svm[] = "1 1:2 3:5\n0\n1 2:3\n0 1:1 2:1 3:4\n";
    rows_spec spec = {.intercept = true, .storage = "sparse"};
    if (!convert(put("s.svm", svm, strlen(svm)), &spec, MEMORY, "small")) return NULL;
    char *bytes = bytes_of(table_path, size);
    memcpy(h, bytes, sizeof *h);
    return bytes;
}

TEST(a_table_cut_or_with_a_flipped_bit_is_refused)
{
    size_t size;
    table_header h;
    char *bytes = small_table(&size, &h);
    REQUIRE(bytes && h.version == TABLE_VERSION_DESIGN);
    for (size_t kept = 8; kept < size; kept += kept < 400 ? 1 : 97)
        CHECK(refused(bytes, kept, "truncated"));
    for (size_t at = 8; at < sizeof h; at++) {
        bytes[at] ^= 4;
        rows *r = map_table(put("bad", bytes, size), &no_wish);
        CHECK(!r && error.status == SBPS_BAD_FILE && strlen(error.text) > 20);
        rows_destroy(r);
        bytes[at] ^= 4;
    }
    free(bytes);
}

TEST(sections_of_inconsistent_size_are_refused)
{
    const uint64_t values[] = {1, 5, 8, 4097, 1 << 20, UINT64_MAX / 8, UINT64_MAX};
    size_t size;
    table_header good, h;
    char *bytes = small_table(&size, &good);
    REQUIRE(bytes);
    for (size_t k = 0; k < ENTRIES; k++)
        for (size_t v = 0; v < 2 * sizeof values / sizeof *values; v++) {
            h = good;
            uint64_t *field = v % 2 ? &h.entries[k].at : &h.entries[k].size;
            *field = values[v / 2];
            h.crc = table_crc(&h);
            memcpy(bytes, &h, sizeof h);
            CHECK(refused(bytes, size, "the table is damaged: "));
        }
    h = good;
    h.entries[ENTRIES_START].size = 0;
    h.crc = table_crc(&h);
    memcpy(bytes, &h, sizeof h);
    CHECK(refused(bytes, size, "a section is outside the file"));
    h = good;
    h.version = 1; /* which has no sparse rows */
    h.crc = table_crc(&h);
    memcpy(bytes, &h, sizeof h);
    CHECK(refused(bytes, size, "a section is outside the file"));
    free(bytes);
}

TEST(entries_outside_the_table_are_refused)
{
    size_t size;
    table_header h;
    char *bytes = small_table(&size, &h);
    REQUIRE(bytes);
    uint64_t *start = (uint64_t *)(void *)(bytes + h.entries[ENTRIES_START].at);
    uint32_t *column = (uint32_t *)(void *)(bytes + h.entries[ENTRIES_COLUMN].at);
    const uint64_t starts[] = {7, 1 << 20, UINT64_MAX / 8, UINT64_MAX};
    for (size_t i = 0; i <= 4; i++)
        for (size_t v = 0; v < sizeof starts / sizeof *starts; v++) {
            uint64_t kept = start[i];
            start[i] = starts[v];
            CHECK(refused(bytes, size, i % 4 ? "end before they begin" : "do not add up"));
            start[i] = kept;
        }
    const uint32_t columns[] = {4, 1 << 20, UINT32_MAX, 0 /* the intercept's */};
    for (size_t k = 0; k < 6; k++)
        for (size_t v = 0; v < sizeof columns / sizeof *columns; v++) {
            uint32_t kept = column[k];
            column[k] = columns[v];
            CHECK(refused(bytes, size, "the columns of a row do not increase, or are not"));
            column[k] = kept;
        }
    free(bytes);
}

CHECK_MAIN

/* Tables passed in memory as Arrow streams equal those read from a CSV file with the same
 * cells. */
#include "check.h"
#include "fixture.h"

#include "arrow_stream.h"
#include "table/row_groups.h"

enum { ROWS = 503, COLUMNS = 9 };

/* Numbers of every type, strings of each layout, dictionaries, dates and times, with missing
 * cells. */
static const produced_column all[COLUMNS] = {
    {.name = "y", .format = "g"},
    {.name = "x", .format = "l"},
    {.name = "small", .format = "c"},
    {.name = "word", .format = "u"},
    {.name = "coded", .format = "U", .codes = "c"},
    {.name = "long", .format = "vu"},
    {.name = "day", .format = "tdD"},
    {.name = "moment", .format = "tsm:UTC"},
    {.name = "yes", .format = "b"},
};

static char store[ROWS * COLUMNS][40];
static const char *cells[ROWS * COLUMNS];

static void fill_cells(bool gaps)
{
    static const char *const words[] = {"a", "b", "ce", "d, f", "été"};
    static const char *const longs[] = {"short", "a text of more than twelve bytes",
                                        "another long text that lies elsewhere",
                                        "twelve bytes"};
    for (size_t i = 0; i < ROWS; i++) {
        char(*at)[40] = &store[i * COLUMNS];
        double noise = (double)(i * 7919 % 1009) / 1009.0;
        snprintf(at[0], 40, "%.17g", 3 * noise - 1);
        snprintf(at[1], 40, "%zu", i * i * 1000003);
        snprintf(at[2], 40, "%d", (int)(i % 200) - 100);
        snprintf(at[3], 40, i % 5 == 3 ? "\"%s\"" : "%s", words[i % 5]);
        snprintf(at[4], 40, "%s", words[(i / 3) % 3]);
        snprintf(at[5], 40, "%s", longs[(i / 2) % 4]);
        snprintf(at[6], 40, "20%02zu-%02zu-%02zu", i % 80 + 10, i % 12 + 1, i % 28 + 1);
        snprintf(at[7], 40, "2026-11-%02zu %02zu:%02zu:%02zu", i % 28 + 1, i % 24, i % 60,
                 i % 59);
        snprintf(at[8], 40, "%s", i % 3 ? "TRUE" : "FALSE");
        for (size_t c = 0; c < COLUMNS; c++)
            cells[i * COLUMNS + c] = gaps && (i + 3 * c) % 41 == 7 ? NULL : at[c];
    }
}

static producer table_of(const produced_column *columns, size_t count, const char *const *cell,
                         size_t row_count, size_t batch, size_t pad)
{
    producer p = {
        .columns = count, .rows = row_count, .cell = cell, .batch = batch, .pad = pad};
    memcpy(p.column, columns, count * sizeof *columns);
    return p;
}

static rows *from_stream(producer *p, const rows_spec *spec)
{
    rows *r;
    struct ArrowArrayStream stream = stream_of(p);
    memset(&error, 0, sizeof error);
    sbps_status status = rows_from_arrow(&stream, spec, &r, &error);
    CHECK(all_released(p) && !stream.release && (status == SBPS_OK) == (r != NULL));
    return r;
}

/* The file has quotes; the stream has the text itself. */
static void unquote(const char **cell)
{
    static char plain[ROWS * COLUMNS][40];
    for (size_t k = 0; k < (size_t)ROWS * COLUMNS; k++)
        if (cell[k] && cell[k][0] == '"') {
            snprintf(plain[k], 40, "%.*s", (int)strlen(cell[k]) - 2, cell[k] + 1);
            cell[k] = plain[k];
        }
}

static bool same_notes(const rows *a, const rows *b)
{
    return !strcmp(a->table.notes ? a->table.notes : "", b->table.notes ? b->table.notes : "");
}

/* In batches of any size, with any offsets in their arrays, on any number of threads. */
static void compare_to_csv(const rows_spec *spec, bool gaps)
{
    static const size_t batches[] = {ROWS, 100, 1}, pads[] = {0, 3, 13};
    fill_cells(gaps);
    producer p = table_of(all, COLUMNS, cells, ROWS, ROWS, 0);
    rows *want = rows_from_text(csv_of(&p), spec);
    REQUIRE(want);
    unquote(cells);
    for (size_t k = 0; k < 3; k++) {
        rows_spec several = *spec;
        several.threads = (unsigned)k + 1;
        p.batch = batches[k];
        p.pad = pads[k];
        p.batch_pad = pads[2 - k];
        rows *got = from_stream(&p, &several);
        CHECK(got && same_rows(want, got) && same_notes(want, got));
        CHECK(got && got->table.dropped == want->table.dropped &&
              got->table.label_count == want->table.label_count);
        rows_destroy(got);
    }
    rows_destroy(want);
}

TEST(a_stream_gives_the_table_of_a_file)
{
    compare_to_csv(&(rows_spec){.target = "y", .intercept = true, .seed = 5}, false);
}

TEST(nulls_are_missing_cells)
{
    compare_to_csv(&(rows_spec){.target = "y", .intercept = true, .drop_missing = true}, true);
}

TEST(a_formula_is_evaluated_on_a_stream)
{
    compare_to_csv(&(rows_spec){.formula = "y ~ poly(x, 2) * word + I(small^2) + day + long",
                                .intercept = true,
                                .drop_missing = true},
                   true);
}

TEST(labels_of_a_stream_are_those_of_a_file)
{
    compare_to_csv(&(rows_spec){.target = "yes", .labels = LABELS_TWO, .intercept = true},
                   false);
    compare_to_csv(&(rows_spec){.target = "word", .labels = LABELS_CLASSES, .intercept = true},
                   false);
}

TEST(numbers_may_be_categories_or_stand_for_missing_cells)
{
    compare_to_csv(&(rows_spec){.target = "y",
                                .features = "x",
                                .categorical = "small,day,moment",
                                .na = "-99,17,2026-11-03 02:02:02",
                                .drop_missing = true,
                                .intercept = true},
                   false);
}

TEST(groups_of_a_stream_are_those_of_a_file)
{
    fill_cells(false);
    producer p = table_of(all, COLUMNS, cells, ROWS, 37, 5);
    const rows_spec one = {.formula = "y ~ x + (1 + moment | small)", .intercept = true};
    rows *want = rows_from_text(csv_of(&p), &one);
    unquote(cells);
    rows *got = from_stream(&p, &one);
    REQUIRE(want && got && want->groups && got->groups);
    CHECK(same_rows(want, got));
    rows_destroy(want);
    rows_destroy(got);
}

/* ---- numbers of every kind ---- */

TEST(numbers_of_every_width_are_read)
{
    static const char *const formats[] = {"c", "C", "s", "S", "i",      "I",          "l",
                                          "L", "e", "f", "g", "d:10,2", "d:10,2,128", "tDs"};
    const char *cell[] = {"1", "100", "2", "3", "3", "0", "4", "77"};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const produced_column columns[] = {{.name = "y", .format = "g"},
                                           {.name = "x", .format = formats[k]}};
        producer p = table_of(columns, 2, cell, 4, 3, k % 4);
        rows *want = rows_from_text(csv_of(&p), &(rows_spec){.target = "y", .intercept = true});
        rows *got = from_stream(&p, &(rows_spec){.target = "y", .intercept = true});
        CHECK(want && got && same_rows(want, got));
        rows_destroy(want);
        rows_destroy(got);
    }
}

TEST(negative_and_broken_numbers_are_those_of_their_text)
{
    static const char *const formats[] = {"e", "f", "g", "d:10,2", "tDm", "tDu", "tDn"};
    const char *cell[] = {"1", "-0.5", "2", "3.25", "3", "0", "4", "-77.75"};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const produced_column columns[] = {{.name = "y", .format = "g"},
                                           {.name = "x", .format = formats[k]}};
        producer p = table_of(columns, 2, cell, 4, 2, k % 3);
        rows *want = rows_from_text(csv_of(&p), &(rows_spec){.target = "y", .intercept = true});
        rows *got = from_stream(&p, &(rows_spec){.target = "y", .intercept = true});
        CHECK(want && got && same_rows(want, got));
        rows_destroy(want);
        rows_destroy(got);
    }
}

TEST(times_of_every_unit_are_seconds)
{
    static const char *const formats[] = {"tss:", "tsm:", "tsu:Europe/Rome", "tsn:UTC", "tdm"};
    const char *moments[] = {"1", "2026-11-16 12:00:01", "2", "1969-12-31 23:59:59",
                             "3", "2000-02-29 00:00:00"};
    const char *days[] = {"1", "2026-11-16", "2", "1969-12-31", "3", "2000-02-29"};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const produced_column columns[] = {{.name = "y", .format = "i"},
                                           {.name = "at", .format = formats[k]}};
        producer p = table_of(columns, 2, formats[k][1] == 'd' ? days : moments, 3, 3, 1);
        rows *want = rows_from_text(csv_of(&p), &(rows_spec){.target = "y", .intercept = true});
        rows *got = from_stream(&p, &(rows_spec){.target = "y", .intercept = true});
        CHECK(want && got && same_rows(want, got) && same_notes(want, got));
        rows_destroy(want);
        rows_destroy(got);
    }
}

TEST(large_whole_numbers_are_levels_to_the_last_digit)
{
    const char *cell[] = {"1", "9007199254740993",     "2", "9007199254740992",
                          "3", "18446744073709551615", "4", "9007199254740993"};
    const produced_column columns[] = {{.name = "y", .format = "g"},
                                       {.name = "id", .format = "L"}};
    const rows_spec spec = {.target = "y", .categorical = "id", .intercept = true};
    producer p = table_of(columns, 2, cell, 4, 4, 0);
    rows *r = from_stream(&p, &spec);
    REQUIRE(r);
    CHECK(r->d == 3 && !strcmp(r->table.names[1], "id=9007199254740993"));
    CHECK(!strcmp(r->table.names[2], "id=18446744073709551615"));
    rows_destroy(r);
}

/* ---- types stated by the stream ---- */

TEST(text_that_looks_like_numbers_stays_text)
{
    const char *cell[] = {"1", "02134", "2", "10001", "3", "02134", "4", "10001", "5", "10001"};
    const produced_column columns[] = {{.name = "y", .format = "g"},
                                       {.name = "zip", .format = "u"}};
    producer p = table_of(columns, 2, cell, 5, 5, 0);
    rows *r = from_stream(&p, &(rows_spec){.target = "y", .intercept = true});
    REQUIRE(r);
    CHECK(r->d == 2 && !strcmp(r->table.names[1], "zip=10001"));
    rows_destroy(r);
}

TEST(ordered_dictionaries_keep_their_order)
{
    const char *cell[] = {"1", "low", "2", "high", "3", "mid", "4", "low", "5", "high"};
    produced_column columns[] = {
        {.name = "y", .format = "g"},
        {.name = "dose", .format = "u", .codes = "i", .ordered = true}};
    producer p = table_of(columns, 2, cell, 5, 2, 1);
    rows *r = from_stream(&p, &(rows_spec){.target = "y", .intercept = true});
    REQUIRE(r);
    CHECK(r->d == 3 && !strcmp(r->table.names[1], "dose=high") &&
          !strcmp(r->table.names[2], "dose=mid"));
    rows_destroy(r);
    p.column[1].ordered = false;
    r = from_stream(&p, &(rows_spec){.target = "y", .intercept = true});
    REQUIRE(r);
    CHECK(r->d == 3 && !strcmp(r->table.names[1], "dose=low") &&
          !strcmp(r->table.names[2], "dose=mid"));
    rows_destroy(r);
}

TEST(dictionaries_of_numbers_are_numbers)
{
    const char *cell[] = {"1", "2.5", "2", "-1", "3", "2.5", "4", "7"};
    const produced_column columns[] = {{.name = "y", .format = "g"},
                                       {.name = "x", .format = "g", .codes = "S"}};
    producer p = table_of(columns, 2, cell, 4, 3, 2);
    rows *want = rows_from_text(csv_of(&p), &(rows_spec){.target = "y", .intercept = true});
    rows *got = from_stream(&p, &(rows_spec){.target = "y", .intercept = true});
    CHECK(want && got && same_rows(want, got));
    rows_destroy(want);
    rows_destroy(got);
}

/* ---- invalid streams ---- */

static void refuse(producer *p, const rows_spec *spec, const char *sentence)
{
    rows *r = from_stream(p, spec);
    CHECK(!r && strstr(error.text, sentence));
    if (!strstr(error.text, sentence)) fprintf(stderr, "message: %s\n", error.text);
    rows_destroy(r);
}

TEST(types_that_are_not_read_are_named_with_their_column)
{
    static const struct {
        const char *format, *name;
    } of[] = {{"+l", "lists"},
              {"+L", "lists"},
              {"+w:3", "lists"},
              {"+s", "structures"},
              {"+m", "maps"},
              {"+us:0", "unions"},
              {"z", "binary"},
              {"Z", "binary"},
              {"w:16", "binary"},
              {"tts", "times of day"},
              {"tiD", "calendar intervals"},
              {"d:50,2,256", "decimals"},
              {"d:99999,2", "decimals of other than 1 to 38 digits"},
              {"d:39,2,128", "decimals"},
              {"d:10,99999", "decimals"},
              {"d:99999999999999999999,2", "decimals"},
              {"d:10", "decimals"},
              {"d:10,2,128x", "decimals"},
              {"+r", "run-end"},
              {"?", "values of an unknown"}};
    const char *cell[] = {"1", NULL, "2", NULL, "3", NULL};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const produced_column columns[] = {{.name = "y", .format = "g"},
                                           {.name = "odd", .format = of[k].format}};
        char sentence[80];
        producer p = table_of(columns, 2, cell, 3, 3, 0);
        snprintf(sentence, sizeof sentence, "table: column 'odd' holds %s", of[k].name);
        refuse(&p, &(rows_spec){.target = "y", .intercept = true}, sentence);
        p.column[1].format = "n";
        refuse(&p, &(rows_spec){.target = "y", .intercept = true},
               "table:1: column 'odd': the value is missing");
    }
}

TEST(unused_columns_may_be_of_any_type)
{
    const char *cell[] = {"1", NULL, "2", NULL, "3", NULL};
    const produced_column columns[] = {{.name = "y", .format = "g"},
                                       {.name = "odd", .format = "n"}};
    producer p = table_of(columns, 2, cell, 3, 3, 0);
    rows *r = from_stream(&p, &(rows_spec){.target = "y", .exclude = "odd", .intercept = true});
    CHECK(r && r->d == 1 && r->local_rows == 3);
    rows_destroy(r);
    r = from_stream(&p, &(rows_spec){.formula = "y ~ 1", .intercept = true});
    CHECK(r && r->d == 1);
    rows_destroy(r);
}

TEST(streams_that_fail_are_released_once)
{
    fill_cells(false);
    unquote(cells);
    producer p = table_of(all, COLUMNS, cells, ROWS, 100, 1);
    const rows_spec spec = {.target = "y", .intercept = true};
    for (p.fails_at = 1; p.fails_at < 5; p.fails_at++)
        refuse(&p, &spec, "cannot be read: the disk is on fire");
    p.fails_at = 0;
    refuse(&p, &(rows_spec){.target = "none"}, "no column is named 'none'");
    refuse(&p, &(rows_spec){.target = "word", .intercept = true}, "'a' is not a number");
    p.rows = 1;
    refuse(&p, &spec, "the table has one row");
    p.rows = 0;
    refuse(&p, &spec, "the table has no rows");
    p.columns = 0;
    refuse(&p, &spec, "it has no columns");
    rows *r;
    CHECK(rows_from_arrow(NULL, &spec, &r, &error) == SBPS_BAD_ARG && !r);
    CHECK(rows_from_arrow(&(struct ArrowArrayStream){0}, &spec, &r, &error) == SBPS_BAD_ARG);
}

TEST(the_first_invalid_row_is_named)
{
    fill_cells(false);
    unquote(cells);
    cells[300 * COLUMNS + 1] = NULL;
    cells[400 * COLUMNS] = NULL;
    producer p = table_of(all, COLUMNS, cells, ROWS, 70, 1);
    for (unsigned threads = 1; threads < 4; threads++)
        refuse(&p, &(rows_spec){.target = "y", .intercept = true, .threads = threads},
               "table:301: column 'x': the value is missing");
    cells[200 * COLUMNS] = "inf";
    refuse(&p, &(rows_spec){.target = "y", .intercept = true},
           "table:201: column 'y': 'inf' is not a finite number");
}

/* A producer whose arrays do not match its schema. */
static size_t damage;

static void count_without_bitmap(struct ArrowArray *a)
{
    a->null_count = 1;
    free(own(a->buffers[0]));
    a->buffers[0] = NULL;
}

static int get_damaged(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    int code = get_next(stream, out);
    if (!out->release) return code;
    struct ArrowArray *x = out->children[1], *word = out->children[3],
                      *coded = out->children[4];
    struct ArrowArray *const counted[] = {x, word, coded->dictionary};
    int64_t *const far[] = {&x->offset, &coded->dictionary->offset, &out->offset,
                            &word->length};
    if (damage >= 8 && damage < 11) count_without_bitmap(counted[damage - 8]);
    if (damage >= 12 && damage < 16) *far[damage - 12] = (int64_t)1 << 62;
    switch (damage) {
    case 0:
        x->length--;
        break;
    case 1:
        x->n_buffers = 1, free(own(x->buffers[1]));
        break;
    case 2:
        out->null_count = 3;
        break;
    case 3:
        x->offset = -1;
        break;
    case 4:
        ((int32_t *)own(word->buffers[1]))[3] = -5;
        break;
    case 5:
        ((char *)own(word->buffers[2]))[0] = '\0';
        break;
    case 6:
        ((int8_t *)own(coded->buffers[1]))[2] = 99;
        break;
    case 7:
        coded->dictionary->length = -1;
        break;
    case 11:
        x->null_count = x->length + 1;
        break;
    case 16: /* missing cells that are not counted */
        free(own(out->buffers[0]));
        out->buffers[0] = calloc(64, 1);
        out->null_count = -1;
        break;
    }
    return code;
}

TEST(invalid_batches_are_refused)
{
    static const char *const sentences[] = {"a column is too short",
                                            "not have the buffers of its type",
                                            "whole rows are missing",
                                            "an array is missing",
                                            "the cell is invalid",
                                            "the cell is invalid",
                                            "the cell is invalid",
                                            "a dictionary is missing",
                                            "no validity bitmap",
                                            "no validity bitmap",
                                            "no validity bitmap",
                                            "exceeds its length",
                                            "length of a column",
                                            "length of a column",
                                            "too large",
                                            "offset and length",
                                            "whole rows are missing"};
    fill_cells(false);
    unquote(cells);
    for (damage = 0; damage < sizeof sentences / sizeof *sentences; damage++) {
        producer p = table_of(all, COLUMNS, cells, 40, 40, 0);
        struct ArrowArrayStream stream = stream_of(&p);
        rows *r;
        stream.get_next = get_damaged;
        CHECK(rows_from_arrow(&stream, &(rows_spec){.target = "y", .intercept = true}, &r,
                              &error) == SBPS_BAD_DATA);
        CHECK(!r && strstr(error.text, sentences[damage]) && all_released(&p));
        if (!strstr(error.text, sentences[damage]))
            fprintf(stderr, "%zu: message: %s\n", damage, error.text);
    }
}

CHECK_MAIN

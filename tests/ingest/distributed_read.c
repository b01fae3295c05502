/* Distributed reading: every rank has the rows, names, notes, moments and hash that it would
 * have if one process had read all rows and then distributed them, and all ranks report the
 * error that one process would. */
#include "check.h"

#include "core/rng.h"
#include "core/text.h"
#include "ingest/distributed_fixture.h"

#define ROWS ((size_t)9000)

/* ---- texts ---- */

static double number(size_t i, size_t j)
{
    return sin((double)(i * 31 + j * 7)) * 3.0;
}

/* Writes rows first, first + 1, ... by `line`. */
static void write_rows(text *to, size_t first, size_t count, void (*line)(text *, size_t))
{
    for (size_t i = first; i < first + count; i++) line(to, i);
}

static void check_text(const char *names, void (*line)(text *, size_t), const char *end,
                       rows_spec spec)
{
    text all = {0};
    text_add(&all, "%s", names);
    write_rows(&all, 0, ROWS, line);
    text_add(&all, "%s", end);
    check_path(put("t.csv", all.data, all.length), spec, true);
    text_free(&all);
}

static void plain_line(text *to, size_t i)
{
    text_add(to, "%d,%.6f,%.17g\n", number(i, 1) > 0, number(i, 2), number(i, 3));
}

static void long_line(text *to, size_t i) /* lines of very different lengths */
{
    text_add(to, "%zu,%.*f,%.3g\r\n", i % 3, (int)(i % 300), number(i, 2), number(i, 3));
}

#define NAMES "y,a,b\n"

TEST(numbers)
{
    rows_spec spec = {.target = "y", .intercept = true};
    check_text(NAMES, plain_line, "", spec);
    check_text(NAMES, plain_line, "1,2,3", spec); /* no line break at the end */
    check_text(NAMES, plain_line, "\n  \n\r\n", spec);
    check_text("\xef\xbb\xbfy,a,b\r\n", long_line, "", spec);
    spec.in_order = true;
    check_text(NAMES, plain_line, "", spec);
}

TEST(other_storage)
{
    rows_spec spec = {.target = "y", .intercept = true, .storage = "float"};
    check_text(NAMES, plain_line, "", spec);
    spec.standardize = true;
    check_text(NAMES, plain_line, "", spec);
    spec.storage = "double";
    check_text(NAMES, plain_line, "", spec);
    spec.standardize = false;
    spec.storage = "sparse";
    check_text(NAMES, plain_line, "", spec);
}

/* Sorted by the target, with missing cells, and levels that occur on one rank only, not in
 * their order. */
static void factor_line(text *to, size_t i)
{
    text_add(to, "%s,%s%zu,%s,%.5f\n", i < ROWS / 3 ? "no" : "yes", i % 2 ? "b" : "a",
             9 - i / 1000,
             i % 97 == 3 ? "NA"
             : i % 5     ? "red"
                         : "\"blue, or \"\"so\"\"\"",
             number(i, 1));
}

TEST(levels_that_occur_on_some_ranks_only)
{
    rows_spec spec = {
        .target = "y", .intercept = true, .labels = LABELS_TWO, .drop_missing = true};
    check_text("y,c,f,a\n", factor_line, "", spec);
    spec.reference = "f=red,c=a5";
    check_text("y,c,f,a\n", factor_line, "yes,zz,red,1", spec);
    spec.in_order = true;
    check_text("y,c,f,a\n", factor_line, "", spec);
}

/* So many levels that sparse storage is chosen. */
static void many_line(text *to, size_t i)
{
    text_add(to, "%d,l%zu,m%zu,%d\n", number(i, 1) > 0, i * i % 101, i / 300,
             i % 4   ? 0
             : i % 3 ? 1
                     : 2);
}

static void ones_line(text *to, size_t i)
{
    text_add(to, "%d,l%zu,m%zu\n", number(i, 1) > 0, i * i % 101, i / 300);
}

TEST(sparse_storage_is_chosen)
{
    const rows_spec spec = {.target = "y", .intercept = true};
    check_text("y,c,f,a\n", many_line, "", spec);
    check_text("y,c,f\n", ones_line, "", spec); /* no values are kept */
}

static void weight_line(text *to, size_t i)
{
    text_add(to, "%d,%.5f,%zu,%.4f\n", i % 7 ? -1 : 1, number(i, 1),
             i < ROWS / 2 ? 0 : 1 + i % 3, number(i, 2));
}

static void trial_line(text *to, size_t i)
{
    text_add(to, "%zu,%.5f,%zu\n", i % 4, number(i, 1), i % 4 + (i > 7000 ? i % 2 : 0));
}

static void class_line(text *to, size_t i)
{
    text_add(to, "%zu,%.5f\n", 10 + i / 2000 * 10, number(i, 1));
}

/* Targets whose properties are visible on one rank only. */
TEST(targets_weights_and_constants)
{
    check_text("y,a,w,o\n", weight_line, "",
               (rows_spec){.target = "y", .weights = "w", .offset = "o", .intercept = true});
    check_text("y,a,n\n", trial_line, "",
               (rows_spec){.target = "y", .trials = "n", .intercept = true});
    check_text("y,a\n", class_line, "",
               (rows_spec){.target = "y", .labels = LABELS_CLASSES, .intercept = true});
    check_text("y,a\n", class_line, "",
               (rows_spec){.target = "y", .labels = LABELS_TWO, .intercept = true});
    check_text("a,y\n", class_line, "", (rows_spec){.target = "y"});
}

static void constant_line(text *to, size_t i)
{
    text_add(to, "%zu,%d,%zu,2\n", i % 2, i < 5000 ? 1 : 3, i);
}

TEST(columns_that_are_the_same_in_all_rows_or_only_on_a_rank)
{
    check_text("y,a,b,c\n", constant_line, "", (rows_spec){.target = "y", .intercept = true});
    check_text("y,a,b,c\n", constant_line, "",
               (rows_spec){.target = "y", .intercept = true, .in_order = true});
}

/* Numbers, except for a few cells near the end. */
static void late_text_line(text *to, size_t i)
{
    if (i == 8900)
        text_add(to, "1,x,0.5,2020-01-01\n");
    else if (i == 5000 || i == 8990)
        text_add(to, "0,%zu,odd,\n", i % 4);
    else
        text_add(to, "%zu,%zu,%zu,\n", i % 2, i % 4, i % 3);
}

TEST(types_that_the_last_rows_decide)
{
    check_text(
        "y,a,b,d\n", late_text_line, "",
        (rows_spec){.target = "y", .intercept = true, .drop_missing = true, .exclude = "d"});
    check_text("y,a,b,d\n", late_text_line, "1,2,\"a \"\"word\"\"\",2020-01-02\n",
               (rows_spec){.target = "y", .intercept = true, .exclude = "d"});
}

static void mixed_line(text *to,
                       size_t i) /* a text among many numbers: refused, with its line */
{
    text_add(to, "%zu,%s%zu\n", i % 2, i == 6100 ? "x" : "", i);
}

TEST(a_text_among_numbers)
{
    check_text("y,a\n", mixed_line, "", (rows_spec){.target = "y", .intercept = true});
}

TEST(formulas)
{
    rows_spec spec = {.formula = "y ~ a * b + I(a^2) + log(abs(b) + 1)", .intercept = true};
    check_text(NAMES, plain_line, "", spec);
    spec = (rows_spec){.formula = "y ~ f * c + a",
                       .intercept = true,
                       .labels = LABELS_TWO,
                       .drop_missing = true};
    check_text("y,c,f,a\n", factor_line, "", spec);
    spec = (rows_spec){.formula = "y ~ c + f:a", .intercept = true};
    check_text("y,c,f,a\n", many_line, "", spec);
}

/* ---- several files ---- */

/* Writes files of count[k] rows and returns their paths, one per line. */
static char *put_files(const size_t *count, size_t files, const char *names,
                       void (*line)(text *, size_t))
{
    text list = {0};
    size_t first = 0;
    for (size_t k = 0; k < files; first += count[k++]) {
        char name[32];
        text all = {0};
        text_add(&all, "%s", names);
        write_rows(&all, first, count[k], line);
        if (k % 3 == 1) text_cut(&all, all.length - 1); /* without the last line break */
        snprintf(name, sizeof name, "part-%02zu.csv", k);
        text_add(&list, "%s%s", k ? "\n" : "", put(name, all.data, all.length));
        text_free(&all);
    }
    return text_take(&list);
}

TEST(several_files_of_any_lengths)
{
    static const size_t few[] = {200, 8000, 800}, empty[] = {0, 3000, 0, 0, 6000, 0},
                        many[] = {900, 800, 700, 1000, 600, 1500, 1, 499, 2000, 1000};
    const rows_spec numbers = {.target = "y", .intercept = true};
    const rows_spec factors = {
        .target = "y", .intercept = true, .labels = LABELS_TWO, .drop_missing = true};
    char *path = put_files(few, 3, NAMES, plain_line);
    check_path(path, numbers, true);
    free(path);
    check_path(path = put_files(many, 10, "y,c,f,a\n", factor_line), factors, true);
    free(path);
    check_path(path = put_files(empty, 6, NAMES, plain_line), numbers, true);
    free(path);
    check_path(path = put_files(few, 3, "y,a,b,d\n", late_text_line),
               (rows_spec){.target = "y", .intercept = true, .exclude = "d"}, true);
    free(path);
}

/* ---- errors ---- */

static size_t bad_row, worse_row;
static const char *bad_text;

static void bad_line(text *to, size_t i)
{
    if (i == bad_row || i == worse_row)
        text_add(to, "%s\n", bad_text);
    else
        plain_line(to, i);
}

static void check_bad(const char *what, rows_spec spec)
{
    static const size_t three[] = {3000, 1000, 5000}, rows_of_it[] = {5, 3100, 8999};
    bad_text = what;
    for (size_t k = 0; k < 3; k++) {
        bad_row = rows_of_it[k];
        worse_row = k ? 8998 : 4000;
        if (k == 0) check_text(NAMES, bad_line, "", spec);
        if (k == 0) continue;
        char *path = put_files(three, 3, NAMES, bad_line);
        check_path(path, spec, true);
        free(path);
    }
}

TEST(the_first_error_is_reported)
{
    const rows_spec spec = {.target = "y", .intercept = true};
    check_bad("1,$5,2", spec);
    check_bad("1,,2", spec);
    check_bad("1,1e999,2", spec);
    check_bad("1,2,3,4", spec);
    check_bad("1,2", spec);
    check_bad("", spec);
    check_bad("1,\"2,3", spec);
    check_bad("word,2,3", spec);
    check_bad("1,-2,3", (rows_spec){.target = "y", .weights = "a", .intercept = true});
}

/* ---- text that every rank reads whole ---- */

static void
quoted_line(text *to,
            size_t i) /* a record of many lines, so that no stretch begins at its first line */
{
    text_add(to, "%zu,\"", i);
    for (size_t k = 0; k < 40; k++) text_add(to, "0,%zu\n", k);
    text_add(to, "%zu\",%zu\n", i % 3, i % 7);
}

TEST(text_divided_inside_quotes_is_read_whole)
{
    text all = {0};
    text_add(&all, "y,c,a\n");
    write_rows(&all, 0, ROWS, quoted_line);
    const rows_spec spec = {.target = "y", .intercept = true};
    check_path(put("t.csv", all.data, all.length), spec, false);
    text_free(&all);
}

TEST(files_that_cannot_be_divided_are_read_whole)
{
    text all = {0};
    text_add(&all, NAMES);
    write_rows(&all, 0, ROWS, plain_line);
    rows_spec spec = {.target = "y", .intercept = true};
    check_path(put_gzip("t.csv.gz", all.data, all.length), spec, false);
    const rows_spec waits = {.formula = "y ~ poly(a, 2)", .intercept = true};
    check_path(put("t.csv", all.data, all.length), waits, false);
    text_free(&all);
}

/* Inserts or changes bytes, more often near the boundaries of stretches. The result must be
 * that of one process. */
static void damage(text *all, rng *random, size_t cuts)
{
    static const char bytes[] = "\"\"\"\n\n\r,,x-.9 \t;\0";
    size_t count = 1 + rng_below(random, 3);
    for (size_t k = 0; k < count; k++) {
        size_t at = rng_below(random, all->length);
        size_t near = all->length * (1 + rng_below(random, cuts)) / cuts;
        if (rng_below(random, 3) == 0 && near + 40 < all->length)
            at = near - 20 + rng_below(random, 40);
        all->data[at] = bytes[rng_below(random, sizeof bytes - 1)];
    }
}

TEST(random_damage_gives_the_result_of_one_process)
{
    text all = {0};
    rng random = rng_stream(3, 0, RNG_TEST);
    rows_spec spec = {.target = "y", .intercept = true, .threads = 2, .seed = 1};
    text_add(&all, "y,c,f,a\n");
    write_rows(&all, 0, 3200, many_line);
    char *clean = malloc(all.length);
    memcpy(clean, all.data, all.length);
    for (size_t k = 0; k < 150; k++) {
        trial t = {.spec = spec, .either = true};
        memcpy(all.data, clean, all.length);
        damage(&all, &random, 3);
        t.path = put("t.csv", all.data, all.length);
        t.spec.drop_missing = k % 2;
        t.spec.part_bytes = k % 3 ? 5000 : 0;
        team_run(3, read_both, &t);
        for (size_t r = 0; r < 3; r++) CHECK(t.wrong[r] == 0);
    }
    free(clean);
    text_free(&all);
}

/* More rows than are shuffled at a time. */
static void short_line(text *to, size_t i)
{
    text_add(to, "%zu,%zu\n", i % 5, i);
}

TEST(rows_shuffled_in_buckets)
{
    text all = {0};
    text_add(&all, "y,a\n");
    write_rows(&all, 0, 100000, short_line);
    const rows_spec spec = {.target = "y", .intercept = true};
    check_path(put("t.csv", all.data, all.length), spec, true);
    text_free(&all);
}

CHECK_MAIN

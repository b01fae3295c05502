/* Targets that are labels: which label is 1 is fixed and noted. */
#include "check.h"

#include "ingest/fixture.h"

/* y of the row whose first column holds x. */
static double y_at(const rows *r, double x)
{
    for (size_t i = 0; i < r->local_rows; i++)
        if (r->storage.x[i * r->stride] == x) return r->y[i];
    return NAN;
}

typedef struct {
    const char *first, *second; /* labels of rows 1 and 2 */
    const char *success;
    double y; /* of row 1 */
    const char *note;
} pair;

TEST(of_two_labels_the_second_in_order_is_one)
{
    static const pair pairs[] = {
        {"no", "yes", NULL, 0, "target 'y': 'yes' is 1 and 'no' is 0 (--success chooses)"},
        {"Yes", "no", NULL, 1, "'Yes' is 1 and 'no' is 0"},
        {"TRUE", "FALSE", NULL, 1, "'TRUE' is 1"},
        {"1", "2", NULL, 0, "'2' is 1 and '1' is 0"},
        {"1", "-1", NULL, 1, "'1' is 1 and '-1' is 0"},
        {"10", "9", NULL, 1, "'10' is 1"},
        {"0", "1", NULL, 0, NULL},
        {"1", "0", "0", 0, "'0' is 1 and '1' is 0"},
        {"yes", "no", "no", 0, "'no' is 1 and 'yes' is 0"},
        {"2", "1", "2", 1, "'2' is 1"},
        {"\"a \"\"b\"\"\"", "z", NULL, 0, "'z' is 1 and 'a \"b\"' is 0"},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        char text[256];
        snprintf(text, sizeof text, "y,x\n%s,1\n%s,2\n%s,3\n", pairs[k].first, pairs[k].second,
                 pairs[k].second);
        rows *r = rows_from_text(
            text,
            &(rows_spec){.target = "y", .labels = LABELS_TWO, .success = pairs[k].success});
        REQUIRE(r);
        CHECK(y_at(r, 1) == pairs[k].y && y_at(r, 2) == 1 - pairs[k].y &&
              y_at(r, 3) == y_at(r, 2));
        CHECK(pairs[k].note ? r->table.notes && strstr(r->table.notes, pairs[k].note)
                            : !r->table.notes);
        rows_destroy(r);
    }
}

TEST(classes_are_numbered_in_their_order_and_keep_their_names)
{
    static const char *const expected[] = {"blue", "Green", "red"};
    const rows_spec spec = {.target = "y", .labels = LABELS_CLASSES};
    rows *r = rows_from_text("y,x\nred,1\nblue,2\nGreen,3\nred,4\n", &spec);
    REQUIRE(r && r->table.label_count == 3);
    for (size_t k = 0; k < 3; k++) CHECK(!strcmp(r->table.labels[k], expected[k]));
    CHECK(y_at(r, 1) == 2 && y_at(r, 2) == 0 && y_at(r, 3) == 1);
    CHECK(strstr(r->table.notes, "the classes 0, 1, ... are 'blue', 'Green', 'red'"));
    rows_destroy(r);
    r = rows_from_text("y,x\n7,1\n3,2\n5,3\n5,4\n", &spec);
    REQUIRE(r && r->table.label_count == 3);
    CHECK(y_at(r, 1) == 2 && y_at(r, 2) == 0 && !strcmp(r->table.labels[2], "7"));
    rows_destroy(r);
    r = rows_from_text("y,x\n0,1\n1,2\n2,3\n", &spec);
    REQUIRE(r && !r->table.labels && !r->table.notes);
    rows_destroy(r);
}

TEST(unsuitable_labels_are_refused)
{
    static const struct {
        const char *text;
        rows_spec spec;
        const char *sentence;
    } cases[] = {
        {"y,x\na,1\nb,2\nc,3\n",
         {.target = "y", .labels = LABELS_TWO},
         "t.csv: target 'y' holds 'a', 'b', 'c'; models of two outcomes need two labels"},
        {"y,x\na,1\nb,2\n",
         {.target = "y", .labels = LABELS_TWO, .success = "yes"},
         "--success: target 'y' has no label 'yes'; there are a, b"},
        {"y,x\n0,1\n1,2\n",
         {.target = "y", .labels = LABELS_TWO, .success = "2"},
         "no label '2'"},
        {"y,x\na,1\nb,2\nc,3\n",
         {.target = "y", .labels = LABELS_CLASSES, .success = "a"},
         "--success is for a target with two labels; 'y' has 3"},
        {"y,x\n1,1\n2,2\n", {.target = "y", .success = "1"}, "--success is for models of two"},
        {"y,x\na,1\nb,2\n",
         {.target = "y"},
         "t.csv:2: column 'y': 'a' is not a number; text labels need a model of classes"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        rows *r = rows_from_text(cases[k].text, &cases[k].spec);
        bool right = !r && strstr(error.text, cases[k].sentence);
        if (!right) printf("'%s'\n", error.text);
        CHECK(right);
        rows_destroy(r);
    }
}

TEST(labels_are_the_same_on_any_number_of_threads)
{
    char *content = malloc(100000), *to = stpcpy(content, "y,x\n");
    for (int i = 0; i < 9000; i++)
        to += sprintf(to, "%s,%d\n", i < 8000 ? i % 2 ? "0" : "1" : i % 3 ? "one" : "none", i);
    rows_spec spec = {.target = "y", .labels = LABELS_CLASSES, .threads = 1};
    rows *expected = rows_from_text(content, &spec);
    spec.threads = 3;
    spec.part_bytes = 2000;
    rows *got = rows_from_text(content, &spec);
    free(content);
    REQUIRE(expected && got);
    CHECK(expected->table.label_count == 4 && same_rows(expected, got) &&
          !strcmp(expected->table.notes, got->table.notes));
    rows_destroy(expected);
    rows_destroy(got);
}

CHECK_MAIN

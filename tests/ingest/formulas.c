/* Tables by a formula, which is evaluated while rows are read. */
#include "check.h"

#include "fixture.h"

enum { ROWS = 3000 };

static char *long_table; /* y,x,z,n,c,k */

/* Numbers, a category of text with 40 levels, one of numbers; some cells are missing. */
static const char *make_table(void)
{
    static char text[ROWS * 80];
    size_t at = (size_t)sprintf(text, "y,x,z,n,c,k\n");
    for (int i = 0; i < ROWS; i++)
        at += (size_t)sprintf(text + at, "%d,%.3f,%.2f,%d,l%d,%d\n", i % 3 == 0,
                              2.0 + sin(7.0 * i), 1.5 + cos(3.0 * i), 1 + i % 5, (i * 7) % 40,
                              i % 4);
    return long_table = text;
}

static rows *read_formula(const char *text, rows_spec spec)
{
    spec.formula = text;
    spec.intercept = true;
    if (!long_table) make_table();
    return rows_from_text(long_table, &spec);
}

TEST(a_sum_of_columns_is_those_features)
{
    rows *a = read_formula("y ~ x + z + n", (rows_spec){.seed = 4});
    const rows_spec spec = {.target = "y", .features = "x,z,n", .intercept = true, .seed = 4};
    rows *b = rows_from_text(long_table, &spec);
    REQUIRE(a && b);
    CHECK(!strcmp(a->table.names[0], "(Intercept)") && !strcmp(b->table.names[0], "intercept"));
    strcpy(a->table.names[0], "intercept"); /* the only difference, and not in the hash */
    CHECK(same_rows(a, b));
    rows_destroy(a);
    rows_destroy(b);
}

/* Except for names, which are those of R. */
TEST(a_category_is_its_levels_but_the_first)
{
    rows *a = read_formula("y ~ c + x", (rows_spec){.seed = 2});
    const rows_spec spec = {.target = "y", .features = "c,x", .intercept = true, .seed = 2};
    rows *b = rows_from_text(long_table, &spec);
    REQUIRE(a && b && a->d == b->d && a->local_rows == b->local_rows && a->storage.start &&
            b->storage.start);
    CHECK(memcmp(a->storage.column, b->storage.column,
                 a->storage.start[a->local_rows] * sizeof *a->storage.column) == 0);
    CHECK(same_doubles(a->storage.value, b->storage.value, a->storage.start[a->local_rows]));
    CHECK(strcmp(a->table.names[1], "cl1") == 0 && strcmp(b->table.names[1], "c=l1") == 0);
    CHECK(strcmp(a->table.names[40], "x") == 0);
    rows_destroy(a);
    rows_destroy(b);
}

TEST(any_number_of_threads_and_parts_gives_the_same_table)
{
    const char *text = "y ~ c:x + poly(z, 3)*factor(k) + log(n) + offset(z) + ns(x, df = 3) + "
                       "I(c == \"l7\" | c %in% c(\"l8\", \"l9\") & x > 2)";
    rows *a = read_formula(text, (rows_spec){.seed = 3, .threads = 1});
    rows *b = read_formula(text, (rows_spec){.seed = 3, .threads = 4, .part_bytes = 5000});
    REQUIRE(a && b);
    CHECK(same_rows(a, b));
    CHECK(a->d == 1 + 40 + 3 + 3 + 9 + 1 + 3 + 1);
    rows_destroy(a);
    rows_destroy(b);
}

/* Levels of c and k that never occur together, a constant column, and one that varies. */
TEST(constant_columns_of_a_sparse_table_are_noted)
{
    rows *r = read_formula("y ~ c:factor(k) + I(x/x) + x", (rows_spec){.storage = "sparse"});
    REQUIRE(r && r->storage.start && r->table.notes);
    CHECK(r->d == 1 + 40 * 4 + 2);
    CHECK(strstr(r->table.notes, "'I(x/x)'") ||
          strstr(r->table.notes, "more: the same in all rows"));
    CHECK(strstr(r->table.notes, "columns 'I(x/x)', 'cl1:factor(k)0'"));
    CHECK(strstr(r->table.notes, "and 116 more: the same in all rows"));
    rows_destroy(r);
}

/* A formula that needs no statistics of all rows is evaluated while they are read. */
TEST(rows_that_are_written_directly_are_the_same)
{
    const char *text = "y ~ x*z + log(n) + I(k^2):x + offset(z)";
    rows *a = read_formula(text, (rows_spec){.seed = 3, .threads = 3, .drop_missing = true});
    rows *b = read_formula(text, (rows_spec){.seed = 3, .threads = 3, .part_bytes = 5000});
    REQUIRE(a && b);
    CHECK(same_rows(a, b));
    rows_destroy(a);
    rows_destroy(b);
}

TEST(sparse_rows_equal_dense_rows)
{
    const char *text = "y ~ c*poly(x, 2) + k:c";
    rows *a = read_formula(text, (rows_spec){.seed = 3, .storage = "double"});
    rows *b = read_formula(text, (rows_spec){.seed = 3, .storage = "sparse"});
    REQUIRE(a && b && a->local_rows == b->local_rows && a->d == b->d && b->storage.start);
    bool same = true;
    for (size_t i = 0; i < a->local_rows; i++)
        for (size_t j = 0; j < a->d; j++)
            same = same && a->storage.kind->cell(a, i, j) == b->storage.kind->cell(b, i, j);
    CHECK(same);
    rows_destroy(a);
    rows_destroy(b);
}

TEST(response_weights_and_offset_are_calculated)
{
    static const char text[] = "s,f,w,x\n1,3,2,5\n0,4,1,6\n2,0,3,7\n0,0,1,8\n";
    const rows_spec spec = {.formula = "cbind(s, f) ~ 0 + x + offset(2 * x)",
                            .intercept = true};
    const rows_spec other = {.formula = "s | trials(s + f) + weights(w) ~ 0 + x",
                             .intercept = true};
    rows *r = rows_from_text(text, &spec), *q = rows_from_text(text, &other);
    REQUIRE(r && r->local_rows == 4 && r->d == 1 && q && q->local_rows == 4);
    for (size_t i = 0; i < 4; i++) {
        double x = r->storage.x[i * r->stride];
        double n = x == 5 || x == 6 ? 4 : x == 7 ? 2 : 0;
        CHECK(r->weight[i] == n && r->offset[i] == 2 * x);
        CHECK(r->y[i] == (x == 5 ? 0.25 : x == 7 ? 1.0 : 0.0));
        CHECK(q->y[i] == r->y[i] && q->weight[i] == n * (x == 5 ? 2 : x == 7 ? 3 : 1));
    }
    CHECK(strcmp(r->table.target, "cbind(s, f)") == 0);
    rows_destroy(r);
    rows_destroy(q);
}

TEST(errors_are_reported_with_their_position)
{
    static const struct {
        const char *text;
        rows_spec spec;
        const char *sentence;
    } wrong[] = {
        {"y,x\n1,2\n0,-1\n1,3\n",
         {.formula = "y ~ log(x)"},
         "t.csv:3: 'log(x)' is not a number"},
        {"y,x\n1,2\n0,0\n1,3\n", {.formula = "y ~ log(x)"}, "t.csv:3: 'log(x)' is minus inf"},
        {"y,x\n1,2\n0,0\n1,3\n", {.formula = "log(y) ~ x"}, "t.csv:3: 'log(y)' is minus inf"},
        {"y,x\n1,2\n0,0\n1,3\n", {.formula = "y ~ cut(x, c(0, 2, 3))"}, "t.csv:3: 'cut(x, c"},
        {"y,x\n1,a\n0,b\n", {.formula = "y ~ log(x)"}, "column 9: column 'x' is a category"},
        {"y,x\n1,2\n0,0\n", {.formula = "y ~ z"}, "formula, column 5: no column is named 'z'"},
        {"y,x\n1,2\n0,0\n", {.formula = "y ~ y + x"}, "the response also appears on the right"},
        {"y,x\n1,2\n0,0\n",
         {.formula = "y ~ x", .target = "y"},
         "--target cannot be combined with --formula"},
        {"y,x\n1,2\n0,0\n",
         {.formula = "y ~ x", .features = "x"},
         "--features cannot be combined"},
        {"y,x\n1,2\n0,2\n", {.formula = "y ~ 0"}, "nothing to estimate"},
        {"y,x\n1,2\n0,2\n", {.formula = "y ~ x ~ x"}, "a formula has one ~"},
        {"y,x\n1,2\n0,2\n", {.formula = "y ~ scale(x)"}, "scale(): all values are the same"},
        {"y,x\n1,2\n0,3\n", {.formula = "y ~ poly(x, 2)"}, "less than the number of distinct"},
        {"y,x\n1,u\n0,v\n",
         {.formula = "y ~ I(x == \"w\")"},
         "column 12: column 'x' has a value of its own"},
        {"y,x\n1,u\n0,v\n0,v\n1,u\n", {.formula = "y ~ I(x == \"w\")"}, "'x' has no such"},
        {"y,x\n1,u\n0,v\n", {.formula = "y ~ I(x > \"u\")"}, "compared with a text by =="},
        {"y,x\n1,u\n0,v\n", {.formula = "I(x == \"u\") ~ y"}, "only in a term of their own"},
        {"y,x\n1,2\n0,3\n", {.formula = "y ~ I(x == \"2\")"}, "'x' holds numbers, not texts"},
        {"y,x\n1,2\n0,3\n", {.formula = "y ~ I(1 < x < 3)"}, "comparisons cannot be chained"},
        {"y,x\n1,2\n0,-3\n",
         {.formula = "y ~ I(log(x) > 1)"},
         "t.csv:3: 'I(log(x) > 1)' is not"},
        {"y,x\n1,2\n0,3\n", {.formula = "y ~ factor(x, levels = c(2, 4))"}, "3 is outside its"},
        {"y,x\n1,u\n0,v\n0,v\n1,u\n",
         {.formula = "y ~ factor(x, levels = c(\"v\", \"w\"))"},
         "has the level 'u', which is not listed"},
        {"y,x\n1,u\n0,v\n0,v\n1,u\n",
         {.formula = "y ~ factor(x, levels = c(\"v\", \"u\", \"v\"))"},
         "a level appears twice"},
        {"y,n,x\n3,2,1\n0,3,2\n",
         {.formula = "y | trials(n) ~ x"},
         "t.csv:2: 3 successes in 2"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        rows_spec spec = wrong[k].spec;
        spec.intercept = true;
        rows *r = rows_from_text(wrong[k].text, &spec);
        CHECK(!r);
        if (!strstr(error.text, wrong[k].sentence)) printf("%zu: %s\n", k, error.text);
        CHECK(strstr(error.text, wrong[k].sentence));
        rows_destroy(r);
    }
}

CHECK_MAIN

/* Groups of a formula: the design of lme4::lFormula, on a table that is ordered by group. */
#include "check.h"

#include "fixture.h"
#include "table/row_groups.h"

enum { ROWS = 4000 };

static char text[ROWS * 64];

/* y,x,z,g,h,k: 300 groups g, of which some have one row, 7 h, k numbers. The row's number is y. */
static void make_table(void)
{
    size_t at = (size_t)sprintf(text, "y,x,z,g,h,k\n");
    for (int i = 0; i < ROWS; i++)
        at += (size_t)sprintf(text + at, "%d,%.3f,%.2f,g%d,h%d,%d\n", i, 2.0 + sin(7.0 * i),
                              1.5 + cos(3.0 * i), i < 20 ? 280 + i : (i * 13) % 280, i % 7,
                              10 * (i % 4));
}

static rows *read_formula(const char *formula_text, rows_spec spec)
{
    if (!*text) make_table();
    spec.formula = formula_text;
    spec.intercept = true;
    return rows_from_text(text, &spec);
}

static void name_of_g(int i, char *name)
{
    sprintf(name, "g%d", i < 20 ? 280 + i : (i * 13) % 280);
}

TEST(rows_of_a_group_are_consecutive)
{
    rows *r = read_formula("y ~ x + (1 | g) + (1 | h)", (rows_spec){.seed = 5});
    REQUIRE(r && r->groups);
    const row_groups *g = r->groups;
    REQUIRE(g->factors == 2 && g->terms == 2 && g->by == 0 && g->count == 300);
    CHECK(g->start[0] == 0 && g->start[300] == ROWS);
    bool *visited = calloc(g->count, sizeof *visited);
    for (size_t k = 0; k < g->count; k++) {
        uint32_t level = g->factor[0].of[g->start[k]];
        CHECK(g->start[k + 1] > g->start[k] && !visited[level]);
        visited[level] = true;
        for (size_t i = g->start[k]; i < g->start[k + 1]; i++)
            CHECK(g->factor[0].of[i] == level);
    }
    free(visited);
    rows_destroy(r);
}

TEST(every_row_keeps_its_levels_and_effects)
{
    rows *r = read_formula("y ~ x + (1 + x + log(z) | g) + (0 + x || h) + (1 | k)",
                           (rows_spec){.seed = 5});
    REQUIRE(r && r->groups && r->groups->width == 2 && r->groups->terms == 3);
    const row_groups *g = r->groups;
    const group_term *t = g->term;
    CHECK(t[0].count == 3 && t[0].correlated && !strcmp(t[0].names[0], "Intercept"));
    CHECK(t[0].column[0] == GROUP_CONSTANT && !strcmp(t[0].names[2], "log(z)"));
    CHECK(t[1].count == 1 && !t[1].correlated && t[1].column[0] == t[0].column[1]);
    CHECK(g->factor[2].levels == 4 && !strcmp(g->factor[2].level[3], "30"));
    for (size_t i = 0; i < r->local_rows; i++) {
        char name[16];
        int source = (int)r->y[i];
        name_of_g(source, name);
        CHECK(!strcmp(g->factor[0].level[g->factor[0].of[i]], name));
        CHECK(g->factor[1].level[g->factor[1].of[i]][1] == '0' + source % 7);
        CHECK(g->z[i * 2 + t[0].column[1]] == r->storage.x[i * r->stride + 1]);
        CHECK_NEAR(g->z[i * 2 + t[0].column[2]],
                   log(round(100 * (1.5 + cos(3.0 * source))) / 100), 1e-12);
    }
    rows_destroy(r);
}

TEST(nested_groups_are_two_factors)
{
    rows *r = read_formula("y ~ x + (1 | h/g) + (1 | k:h)", (rows_spec){.seed = 5});
    REQUIRE(r && r->groups && r->groups->factors == 3);
    const row_groups *g = r->groups;
    CHECK(!strcmp(g->factor[0].name, "h") && !strcmp(g->factor[1].name, "h:g"));
    CHECK(!strcmp(g->factor[2].name, "k:h") && g->factor[2].levels == 28 && g->by == 1);
    for (size_t i = 0; i < r->local_rows; i++) {
        char name[32], want[40];
        name_of_g((int)r->y[i], name);
        sprintf(want, "h%d:%s", (int)r->y[i] % 7, name);
        CHECK(!strcmp(g->factor[1].level[g->factor[1].of[i]], want));
    }
    rows_destroy(r);
}

/* A numeric column may also be a grouping column: its values are the levels. */
TEST(numbers_may_be_groups_and_numbers)
{
    rows *r = read_formula("y ~ log(k + 1) + (1 | k) + (1 | g)", (rows_spec){.seed = 5});
    REQUIRE(r && r->groups);
    CHECK(r->groups->factor[0].levels == 4 && !strcmp(r->groups->factor[0].level[2], "20"));
    rows_destroy(r);
}

static bool same_groups(const row_groups *a, const row_groups *b, size_t n)
{
    bool same = a->factors == b->factors && a->count == b->count && a->width == b->width;
    for (size_t k = 0; same && k < a->factors; k++)
        same = !memcmp(a->factor[k].of, b->factor[k].of, n * sizeof *a->factor[k].of);
    return same && !memcmp(a->start, b->start, (a->count + 1) * sizeof *a->start) &&
           same_doubles(a->z, b->z, n * a->width);
}

TEST(any_number_of_threads_and_parts_gives_the_same_groups)
{
    const char *formula_text = "y ~ poly(x, 2) + (x | g) + (1 | h)";
    rows *a = read_formula(formula_text, (rows_spec){.seed = 3, .threads = 1});
    rows *b =
        read_formula(formula_text, (rows_spec){.seed = 3, .threads = 4, .part_bytes = 3000});
    rows *c = read_formula(formula_text, (rows_spec){.seed = 4, .threads = 2});
    REQUIRE(a && b && c && a->groups && b->groups);
    CHECK(same_rows(a, b) && same_groups(a->groups, b->groups, a->local_rows));
    CHECK(a->table.hash != c->table.hash);
    rows_destroy(a);
    rows_destroy(b);
    rows_destroy(c);
}

/* The same rows in the same order, but another level of one of them. */
TEST(the_hash_covers_groups)
{
    const rows_spec spec = {.formula = "y ~ x + (1 | g)", .intercept = true};
    rows *a = rows_from_text("y,x,g\n1,2,a\n0,3,a\n1,1,b\n0,5,b\n1,4,b\n", &spec);
    rows *b = rows_from_text("y,x,g\n1,2,a\n0,3,a\n1,1,c\n0,5,c\n1,4,c\n", &spec);
    REQUIRE(a && b && same_doubles(a->storage.x, b->storage.x, a->local_rows * a->stride));
    CHECK(a->table.hash != b->table.hash);
    rows_destroy(a);
    rows_destroy(b);
}

TEST(invalid_groups_are_reported)
{
    static const struct {
        const char *formula, *sentence;
    } wrong[] = {
        {"y ~ x + (1 | q)", "column 14: no column is named 'q'"},
        {"y ~ x + (0 | g)", "no effect varies with 'g'"},
        {"y ~ x + (1 | log(z))", "column 14: after the bar goes the column"},
        {"y ~ x - (1 | g)", "a group term cannot be removed"},
        {"y ~ x:(1 | g)", "a group term needs parentheses of its own between +"},
        {"y ~ x + 1 | g", "a group term needs parentheses of its own between +"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        rows *r = read_formula(wrong[k].formula, (rows_spec){.seed = 1});
        CHECK(!r);
        if (!strstr(error.text, wrong[k].sentence))
            printf("%s: %s\n", wrong[k].formula, error.text);
        CHECK(strstr(error.text, wrong[k].sentence));
        rows_destroy(r);
    }
}

CHECK_MAIN

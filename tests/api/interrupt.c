/* Set-up of a run can be interrupted through its table, also from another thread; runs that
 * exist continue. */
#include "check.h"

#include "sbps.h"

#define ROWS ((size_t)100000)
#define PART                                                                                   \
    ((size_t)16384)      /* rows of a sum that are evaluated between two checks of the flag */
#define EACH ((size_t)6) /* evaluations of one row of two columns by Newton's method */

static double x[ROWS], y[ROWS];

static sbps_table *make_table(const sbps_options *options)
{
    sbps_table *table = NULL;
    sbps_error err;
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = sin((double)i);
        y[i] = sin(17.0 * (double)i * (double)i) < 0.5 * x[i];
    }
    const sbps_column columns[] = {
        {.struct_size = sizeof(sbps_column), .name = "x", .values = x},
        {.struct_size = sizeof(sbps_column), .name = "y", .values = y}};
    CHECK(sbps_table_from_columns(ROWS, 2, columns, options, NULL, NULL, &table, &err) ==
          SBPS_OK);
    return table;
}

static sbps_options *make_options(const char *model)
{
    sbps_options *options = NULL;
    sbps_error err;
    const char *set[][2] = {{"target", "y"}, {"ess", "50"}, {"threads", "2"}, {"model", model}};
    CHECK(sbps_options_create(&options, &err) == SBPS_OK);
    for (size_t k = 0; k < sizeof set / sizeof *set; k++)
        CHECK(sbps_options_set(options, set[k][0], set[k][1], &err) == SBPS_OK);
    return options;
}

static void refuse(const sbps_table *table, const sbps_options *options)
{
    sbps_run *run = NULL;
    sbps_error err = {0};
    CHECK(sbps_run_create(table, options, &run, &err) == SBPS_INTERRUPTED && !run);
    CHECK(strstr(err.text, "stopped on request"));
}

TEST(the_rows_of_an_interrupted_table_are_not_evaluated)
{
    sbps_options *options = make_options("logistic");
    sbps_table *table = make_table(options);
    sbps_mode *mode = NULL;
    sbps_error err = {0};
    sbps_table_interrupt(table);
    refuse(table, options);
    refuse(table, options);
    CHECK(sbps_mode_find(table, options, &mode, &err) == SBPS_INTERRUPTED && !mode);
    CHECK(sbps_table_passes(table) == 0.0);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
}

TEST(an_existing_run_continues)
{
    sbps_options *options = make_options("logistic");
    sbps_table *table = make_table(options);
    sbps_run *run = NULL;
    sbps_error err = {0};
    CHECK(sbps_options_set(options, "sampler", "hmc", &err) == SBPS_OK);
    CHECK(sbps_run_create(table, options, &run, &err) == SBPS_OK);
    double before = sbps_table_passes(table);
    sbps_table_interrupt(table);
    bool finished = false;
    while (run && !finished) REQUIRE(sbps_run_advance(run, &finished, &err) == SBPS_OK);
    CHECK(sbps_table_passes(table) > before);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
}

typedef struct {
    sbps_table *table;
    size_t evaluated, until; /* rows */
} counter;

/* Interrupts the table after `until` rows have been evaluated. */
static bool count_rows(void *self, const sbps_batch *b)
{
    counter *c = self;
    c->evaluated += b->n;
    if (c->evaluated >= c->until) sbps_table_interrupt(c->table);
    for (size_t i = 0; i < b->n; i++) {
        double eta = b->w[0] + b->x[2 * i + 1] * b->w[1], left = b->y[i] - 1 / (1 + exp(-eta));
        if (b->loglik) b->loglik[i] = b->y[i] * eta - log1p(exp(eta));
        if (b->gradient) b->gradient[2 * i] = left;
        if (b->gradient) b->gradient[2 * i + 1] = left * b->x[2 * i + 1];
    }
    return true;
}

TEST(a_sum_ends_at_its_next_part)
{
    sbps_options *options = make_options("logistic");
    counter c = {.table = make_table(options), .until = ROWS};
    const sbps_model_function model = {
        .struct_size = sizeof model, .name = "counted", .data = &c, .rows = count_rows};
    sbps_error err = {0};
    CHECK(sbps_options_set_model(options, &model, &err) == SBPS_OK);
    refuse(c.table, options);
    CHECK(c.evaluated >= c.until && c.evaluated <= c.until + EACH * PART);
    sbps_table_destroy(c.table);
    sbps_options_destroy(options);
}

CHECK_MAIN

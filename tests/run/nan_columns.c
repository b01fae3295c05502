/* Borrowed columns are changed during the run: if a number becomes NaN, the run of any sampler
 * ends with a message and keeps its draws. */
#include "check.h"

#include "sbps.h"

enum { ROWS = 1000, FEATURES = 3, COLUMNS = FEATURES + 1, ROUNDS_MAX = 2000 };

static const char *const names[COLUMNS] = {"y", "a", "b", "c"};
static double numbers[COLUMNS][ROWS];
static sbps_error error;

static void fill(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t c = 1; c < COLUMNS; c++)
            numbers[c][i] = sin(1.7 * (double)i + 3.1 * (double)c * (double)(1 + i % 7));
        numbers[0][i] = numbers[1][i] + sin((double)i * (double)i) > 0.1;
    }
}

static sbps_table *open_table(const sbps_options *options)
{
    sbps_column column[COLUMNS];
    sbps_table *table = NULL;
    for (size_t c = 0; c < COLUMNS; c++)
        column[c] = (sbps_column){.struct_size = sizeof *column,
                                  .name = names[c],
                                  .type = SBPS_DOUBLE,
                                  .values = numbers[c],
                                  .stride = sizeof(double)};
    fill();
    sbps_table_from_columns(ROWS, COLUMNS, column, options, NULL, NULL, &table, &error);
    return table;
}

static sbps_options *make_options(const char *sampler)
{
    const char *const set[][2] = {{"model", "logistic"}, {"target", "y"}, {"storage", "given"},
                                  {"sampler", sampler},  {"chains", "2"}, {"seed", "5"},
                                  {"ess", "1e9"},        {"threads", "1"}};
    sbps_options *options = NULL;
    sbps_status status = sbps_options_create(&options, &error);
    for (size_t i = 0; status == SBPS_OK && i < sizeof set / sizeof *set; i++)
        status = sbps_options_set(options, set[i][0], set[i][1], &error);
    return status == SBPS_OK ? options : NULL;
}

static size_t draws_of(const sbps_run *run, bool *finite)
{
    sbps_result *result = NULL;
    size_t draws = 0;
    *finite = true;
    if (sbps_result_from_run(run, &result, &error) == SBPS_OK) {
        draws = sbps_result_draws(result);
        size_t count = draws * sbps_result_chains(result) * sbps_result_dim(result);
        const double *w = sbps_result_values(result);
        for (size_t i = 0; i < count; i++) *finite = *finite && isfinite(w[i]);
    }
    sbps_result_destroy(result);
    return draws;
}

/* Advances the run until it has draws. */
static bool reach_draws(sbps_run *run)
{
    bool finished = false, finite = false;
    for (size_t i = 0; i < ROUNDS_MAX && !finished; i++) {
        if (sbps_run_advance(run, &finished, &error) != SBPS_OK) return false;
        if (draws_of(run, &finite) > 0) return !finished && finite;
    }
    return false;
}

/* `rows`: how many of them lose the number in column a. */
static void check_loss(const char *sampler, size_t rows)
{
    sbps_options *options = make_options(sampler);
    sbps_table *table = options ? open_table(options) : NULL;
    sbps_run *run = NULL;
    bool finished = false, finite = false;
    if (table) sbps_run_create(table, options, &run, &error);
    REQUIRE(run);
    REQUIRE(reach_draws(run));
    for (size_t i = 0; i < rows; i++) numbers[1][i * (ROWS / rows)] = NAN;
    sbps_status status = SBPS_OK;
    for (size_t i = 0; i < ROUNDS_MAX && !finished && status == SBPS_OK; i++)
        status = sbps_run_advance(run, &finished, &error);
    CHECK(status == SBPS_BAD_DATA);
    CHECK(strstr(error.text, "column 'a' became NaN during the run"));
    CHECK(draws_of(run, &finite) > 0 && finite);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
}

static const char *const samplers[] = {"sbps",      "boomerang", "zigzag-cv",
                                       "local-bps", "hmc",       "surrogate"};

TEST(a_run_ends_when_a_column_becomes_nan)
{
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++)
        check_loss(samplers[i], ROWS);
}

TEST(a_run_ends_when_one_number_becomes_nan)
{
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++) check_loss(samplers[i], 1);
}

CHECK_MAIN

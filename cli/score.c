/* sbps score, sbps loo, sbps check, sbps compare: how well stored runs fit and predict rows. */
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/run_rows.h"
#include <stdint.h>
#include <stdlib.h>

enum { DRAWS_USUAL = 4000 }; /* default of --max-draws */

/* What the child process needs. */
typedef struct {
    const arguments *args;
    sbps_scoring how;
    sbps_format format;
    size_t runs; /* among the operands */
} score_request;

/* Reads a run, makes its report on the data, and prints it. */
static sbps_status do_one(const score_request *r, sbps_error *err,
                          sbps_status (*report)(const sbps_result *result, const char *run,
                                                const char *data, const sbps_scoring *how,
                                                sbps_format format, char **out,
                                                sbps_error *err))
{
    const char *run = r->args->operands[0];
    sbps_result *result = NULL;
    const char *data = NULL;
    char *text = NULL;
    sbps_status status = sbps_result_read(run, &result, err);
    if (status == SBPS_OK) status = run_rows(r->args, 1, result, &data, err);
    if (status == SBPS_OK) status = report(result, run, data, &r->how, r->format, &text, err);
    sbps_result_destroy(result);
    return print_report(status, r->format, text);
}

static sbps_status do_score(const void *self, sbps_error *err)
{
    return do_one(self, err, sbps_score);
}

static sbps_status do_loo(const void *self, sbps_error *err)
{
    return do_one(self, err, sbps_loo);
}

static sbps_status do_check(const void *self, sbps_error *err)
{
    return do_one(self, err, sbps_check);
}

/* Reads all runs and compares them on one table, for guard(). */
static sbps_status do_compare(const void *self, sbps_error *err)
{
    const score_request *r = self;
    size_t count = r->runs, read = 0;
    sbps_result **results = calloc(count, sizeof *results);
    const sbps_result **borrowed = calloc(count, sizeof *borrowed);
    const char *data = NULL;
    char *text = NULL;
    sbps_status status =
        results && borrowed ? SBPS_OK : set_error(err, SBPS_NO_MEM, "out of memory");
    for (; status == SBPS_OK && read < count; read++) {
        status = sbps_result_read(r->args->operands[read], &results[read], err);
        borrowed[read] = results[read];
    }
    if (status == SBPS_OK) status = run_rows(r->args, count, results[0], &data, err);
    if (status == SBPS_OK)
        status = sbps_compare(borrowed, r->args->operands, count, data, &r->how, r->format,
                              &text, err);
    for (size_t k = 0; k < read; k++) sbps_result_destroy(results[k]);
    free(results);
    free(borrowed);
    return print_report(status, r->format, text);
}

/* Parses the flags and runs `work` in a child process; returns the exit code. */
static int run(const arguments *args, size_t max_runs,
               sbps_status (*work)(const void *self, sbps_error *err))
{
    size_t rows, max_draws, seed, threads, runs;
    sbps_error err = {0};
    if (!flag_count_value(args, "rows", SIZE_MAX, 0, &rows) ||
        !flag_count_value(args, "max-draws", DRAWS_USUAL, 0, &max_draws) ||
        !flag_count_value(args, "seed", 1, 0, &seed) ||
        !flag_count_value(args, "threads", 0, 0, &threads))
        return CODE_USAGE;
    sbps_status status = run_operands(args, max_runs, &runs, &err);
    const score_request r = {args,
                             {.struct_size = sizeof r.how,
                              .rows = rows,
                              .max_draws = max_draws,
                              .seed = seed,
                              .threads = (unsigned)threads,
                              .encoding = flag_value(args, "encoding", NULL),
                              .group = flag_value(args, "group", NULL)},
                             flag_is_on(args, "json") ? SBPS_JSON : SBPS_TEXT,
                             runs};
    if (status == SBPS_OK && max_runs > 1 && runs < 2)
        status = set_error(&err, SBPS_BAD_ARG, "compare: %s", args->command->missing);
    if (status == SBPS_OK) status = guard(args->operands[0], work, &r, &err);
    return report_status(status, &err);
}

/* ---- the subcommands ---- */

static int score_run(const arguments *args)
{
    return run(args, 1, do_score);
}

static int loo_run(const arguments *args)
{
    return run(args, 1, do_loo);
}

static int check_run(const arguments *args)
{
    return run(args, 1, do_check);
}

static int compare_run(const arguments *args)
{
    return run(args, SIZE_MAX, do_compare);
}

/* Flags that several subcommands share. */
#define JSON_FLAG                                                                              \
    {                                                                                          \
        .name = "json", .fallback = "", .group = "Options",                                    \
        .help = "Print JSON with full precision."                                              \
    }
#define DRAWS_FLAG                                                                             \
    {                                                                                          \
        "max-draws", "N", "4000", "Options",                                                   \
            "Number of draws to use, evenly spaced if the run has more. 0: all."               \
    }
#define SEED_FLAG                                                                              \
    {                                                                                          \
        "seed", "S", "1", "Options", "Seed of the random rows and replicated responses."       \
    }
#define THREADS_FLAG                                                                           \
    {                                                                                          \
        "threads", "N", "0", "Options", "Number of threads; 0: one per processor."             \
    }
#define ENCODING_FLAG                                                                          \
    {                                                                                          \
        "encoding", "utf-8|latin1|windows-1252", "utf-8", "Options",                           \
            "Character encoding of the table."                                                 \
    }
#define ROWS_FLAG                                                                              \
    {                                                                                          \
        "rows", "M", "", "Options",                                                            \
            "Number of random rows to use; 0: all. Default: all if that is fast, else 1000."   \
    }

#define GROUP_FLAG                                                                             \
    {                                                                                          \
        "group", "FACTOR", "", "Options",                                                      \
            "Leave out the groups of a grouping factor one by one, instead of rows. The "      \
            "effects of the group are integrated out, as those of a new group."                \
    }

static const sbps_option_info score_flags[] = {JSON_FLAG, DRAWS_FLAG, SEED_FLAG, THREADS_FLAG,
                                               ENCODING_FLAG};
static const sbps_option_info loo_flags[] = {JSON_FLAG, GROUP_FLAG,   ROWS_FLAG,    DRAWS_FLAG,
                                             SEED_FLAG, THREADS_FLAG, ENCODING_FLAG};
static const sbps_option_info check_flags[] = {
    JSON_FLAG,
    {"rows", "M", "", "Options",
     "Number of random rows to use; 0: all. Default: all if that is fast, else 5000."},
    DRAWS_FLAG,
    SEED_FLAG,
    THREADS_FLAG,
    ENCODING_FLAG};
static const sbps_option_info compare_flags[] = {
    {"data", "FILE", "", "Options", "The same as DATA.csv."},
    JSON_FLAG,
    GROUP_FLAG,
    ROWS_FLAG,
    DRAWS_FLAG,
    SEED_FLAG,
    THREADS_FLAG,
    ENCODING_FLAG};

const command command_score = {
    .name = "score",
    .operands = "RUN.nc [HELDOUT.csv] [--json]",
    .summary = "Measure how well a run predicts new rows.",
    .detail =
        "HELDOUT.csv has the columns of the run's table, including the target; without it "
        "the file that the run records, whose scores are too good. Prints the expected "
        "log predictive density and, depending on the model, Brier score, AUC and "
        "calibration slope, "
        "or root mean square error, R2 and CRPS, each with a standard error.",
    .min_operands = 1,
    .max_operands = 2,
    .missing = "the run file is missing; usage: sbps score RUN.nc [HELDOUT.csv]",
    .flags = score_flags,
    .flag_count = sizeof score_flags / sizeof *score_flags,
    .run = score_run,
};

const command command_loo = {
    .name = "loo",
    .operands = "RUN.nc [DATA.csv] [--json]",
    .summary = "Estimate how well a run would predict each row without having seen it.",
    .detail = "DATA.csv is the run's own table; without it the file that the run records. "
              "Leave-one-out by Pareto-smoothed importance "
              "sampling, as "
              "in R's package loo. Of a long table a sample of rows is used, and the sampling "
              "error is "
              "reported.",
    .min_operands = 1,
    .max_operands = 2,
    .missing = "the run file is missing; usage: sbps loo RUN.nc [DATA.csv]",
    .flags = loo_flags,
    .flag_count = sizeof loo_flags / sizeof *loo_flags,
    .run = loo_run,
};

const command command_check = {
    .name = "check",
    .operands = "RUN.nc [DATA.csv] [--json]",
    .summary = "Check whether a model fits its rows; print what differs and what to do.",
    .detail =
        "DATA.csv is the run's own table, or new rows; without it the file that the run "
        "records. "
        "It is compared with tables that are "
        "replicated "
        "from the run's draws: calibration of probabilities, rootogram of counts, density of "
        "numbers, statistics, residuals along each column, leave-one-out PIT. Power scaling "
        "shows how "
        "strongly prior and likelihood each affect the result, as R's priorsense does.",
    .min_operands = 1,
    .max_operands = 2,
    .missing = "the run file is missing; usage: sbps check RUN.nc [DATA.csv]",
    .flags = check_flags,
    .flag_count = sizeof check_flags / sizeof *check_flags,
    .run = check_run,
};

const command command_compare = {
    .name = "compare",
    .operands = "A.nc B.nc ... [DATA.csv] [--json]",
    .summary = "Compare runs on one table by leave-one-out, the best first.",
    .detail =
        "DATA.csv is the table of all runs; without it the file that the first run records. "
        "Prints differences of the expected log predictive density and their standard "
        "errors, computed "
        "row by row, as R's loo_compare does.",
    .min_operands = 2,
    .max_operands = 65,
    .missing = "name at least two runs; usage: sbps compare A.nc B.nc [DATA.csv]",
    .flags = compare_flags,
    .flag_count = sizeof compare_flags / sizeof *compare_flags,
    .run = compare_run,
};

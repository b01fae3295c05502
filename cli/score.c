/* sbps score, sbps loo, sbps check, sbps compare: how well stored runs predict. */
#include "cli/cli.h"
#include "cli/guard.h"
#include <stdint.h>
#include <stdlib.h>

enum { DRAWS_USUAL = 4000 };

typedef struct {
    const arguments *args;
    sbps_scoring how;
    sbps_format format;
} request;

static sbps_status do_one(const request *r, sbps_error *err,
                          sbps_status (*report)(const sbps_result *result, const char *run,
                                                const char *data, const sbps_scoring *how,
                                                sbps_format format, char **out,
                                                sbps_error *err))
{
    const char *run = r->args->operands[0];
    sbps_result *result = NULL;
    char *text = NULL;
    sbps_status status = sbps_result_read(run, &result, err);
    if (status == SBPS_OK)
        status = report(result, run, r->args->operands[1], &r->how, r->format, &text, err);
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

static sbps_status find_data(const request *r, const sbps_result *first, const char **out,
                             sbps_error *err)
{
    *out = flag_value(r->args, "data", sbps_result_data(first));
    return *out ? SBPS_OK
                : refuse(err, SBPS_BAD_ARG, "compare: which rows? --data FILE names the table");
}

static sbps_status do_compare(const void *self, sbps_error *err)
{
    const request *r = self;
    size_t count = r->args->operand_count, read = 0;
    sbps_result **results = calloc(count, sizeof *results);
    const sbps_result **borrowed = calloc(count, sizeof *borrowed);
    const char *data = NULL;
    char *text = NULL;
    sbps_status status =
        results && borrowed ? SBPS_OK : refuse(err, SBPS_NO_MEM, "out of memory");
    for (; status == SBPS_OK && read < count; read++) {
        status = sbps_result_read(r->args->operands[read], &results[read], err);
        borrowed[read] = results[read];
    }
    if (status == SBPS_OK) status = find_data(r, results[0], &data, err);
    if (status == SBPS_OK)
        status = sbps_compare(borrowed, r->args->operands, count, data, &r->how, r->format,
                              &text, err);
    for (size_t k = 0; k < read; k++) sbps_result_destroy(results[k]);
    free(results);
    free(borrowed);
    return print_report(status, r->format, text);
}

static int run(const arguments *args, sbps_status (*work)(const void *self, sbps_error *err))
{
    size_t rows, max_draws, seed, threads;
    sbps_error err = {0};
    if (!flag_count_value(args, "rows", SIZE_MAX, 0, &rows) ||
        !flag_count_value(args, "max-draws", DRAWS_USUAL, 0, &max_draws) ||
        !flag_count_value(args, "seed", 1, 0, &seed) ||
        !flag_count_value(args, "threads", 0, 0, &threads))
        return CODE_USAGE;
    const request r = {args,
                       {.struct_size = sizeof r.how,
                        .rows = rows,
                        .max_draws = max_draws,
                        .seed = seed,
                        .threads = (unsigned)threads,
                        .encoding = flag_value(args, "encoding", NULL)},
                       flag_is_on(args, "json") ? SBPS_JSON : SBPS_TEXT};
    return report_status(guard(args->operands[0], work, &r, &err), &err);
}

static int score_run(const arguments *args)
{
    return run(args, do_score);
}

static int loo_run(const arguments *args)
{
    return run(args, do_loo);
}

static int check_run(const arguments *args)
{
    return run(args, do_check);
}

static int compare_run(const arguments *args)
{
    return run(args, do_compare);
}

#define JSON_FLAG                                                                              \
    {                                                                                          \
        .name = "json", .fallback = "", .group = "Options", .help = "JSON, full precision."    \
    }
#define DRAWS_FLAG                                                                             \
    {                                                                                          \
        "max-draws", "N", "4000", "Options",                                                   \
            "Draws to look by: evenly spaced ones, where the run has more. 0: all."            \
    }
#define SEED_FLAG                                                                              \
    {                                                                                          \
        "seed", "S", "1", "Options", "Seed of rows and of responses that are drawn."           \
    }
#define THREADS_FLAG                                                                           \
    {                                                                                          \
        "threads", "N", "0", "Options", "Threads; 0: as many as there are processors."         \
    }
#define ENCODING_FLAG                                                                          \
    {                                                                                          \
        "encoding", "utf-8|latin1|windows-1252", "utf-8", "Options",                           \
            "What the table is written in."                                                    \
    }
#define ROWS_FLAG                                                                              \
    {                                                                                          \
        "rows", "M", "", "Options",                                                            \
            "Rows to look at, drawn at random; 0: all. Without it: all where that is cheap, "  \
            "else 1000."                                                                       \
    }

static const sbps_option_info score_flags[] = {JSON_FLAG, DRAWS_FLAG, SEED_FLAG, THREADS_FLAG,
                                               ENCODING_FLAG};
static const sbps_option_info loo_flags[] = {JSON_FLAG, ROWS_FLAG,    DRAWS_FLAG,
                                             SEED_FLAG, THREADS_FLAG, ENCODING_FLAG};
static const sbps_option_info check_flags[] = {
    JSON_FLAG,
    {"rows", "M", "", "Options",
     "Rows to look at, drawn at random; 0: all. Without it: all where that is cheap, else "
     "5000."},
    DRAWS_FLAG,
    SEED_FLAG,
    THREADS_FLAG,
    ENCODING_FLAG};
static const sbps_option_info compare_flags[] = {
    {"data", "FILE", "", "Options", "The table. Without it: that of the first run."},
    JSON_FLAG,
    ROWS_FLAG,
    DRAWS_FLAG,
    SEED_FLAG,
    THREADS_FLAG,
    ENCODING_FLAG};

const command command_score = {
    .name = "score",
    .operands = "RUN.nc HELDOUT.csv [--json]",
    .summary = "Say how well a run predicts rows that it has not seen.",
    .detail =
        "HELDOUT.csv has the columns of the run's table, the target among them. Told are the "
        "expected log predictive density and what the model asks for: Brier score, AUC and "
        "calibration slope; root mean square error, R2 and CRPS; each with a standard error.",
    .min_operands = 2,
    .max_operands = 2,
    .why = "a file is missing: want `sbps score RUN.nc HELDOUT.csv`",
    .flags = score_flags,
    .flag_count = sizeof score_flags / sizeof *score_flags,
    .run = score_run,
};

const command command_loo = {
    .name = "loo",
    .operands = "RUN.nc DATA.csv [--json]",
    .summary = "Estimate how well a run would predict each row without having seen it.",
    .detail =
        "DATA.csv is the run's own table. Leave-one-out by Pareto-smoothed importance "
        "sampling, as R's package loo; of many rows a sample is looked at, and the error that "
        "this makes is told.",
    .min_operands = 2,
    .max_operands = 2,
    .why = "a file is missing: want `sbps loo RUN.nc DATA.csv`",
    .flags = loo_flags,
    .flag_count = sizeof loo_flags / sizeof *loo_flags,
    .run = loo_run,
};

const command command_check = {
    .name = "check",
    .operands = "RUN.nc DATA.csv [--json]",
    .summary = "Say what is off between a run and its rows, and what to do.",
    .detail =
        "DATA.csv is the run's own table, or rows that it has not seen. Tables that the run's "
        "draws replicate are held against it: calibration of probabilities, rootogram of "
        "counts, density of numbers, statistics, residuals along each column, leave-one-out "
        "PIT. Power scaling says how far prior and likelihood each move the answer, as R's "
        "priorsense.",
    .min_operands = 2,
    .max_operands = 2,
    .why = "a file is missing: want `sbps check RUN.nc DATA.csv`",
    .flags = check_flags,
    .flag_count = sizeof check_flags / sizeof *check_flags,
    .run = check_run,
};

const command command_compare = {
    .name = "compare",
    .operands = "A.nc B.nc ... [--data FILE] [--json]",
    .summary = "Compare runs on one table by leave-one-out, the best first.",
    .detail =
        "Differences of the expected log predictive density with their standard errors, row by "
        "row, as R's loo_compare.",
    .min_operands = 2,
    .max_operands = 64,
    .why = "want two runs at least: `sbps compare A.nc B.nc`",
    .flags = compare_flags,
    .flag_count = sizeof compare_flags / sizeof *compare_flags,
    .run = compare_run,
};

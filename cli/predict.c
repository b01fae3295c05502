/* sbps predict: predictions of a stored run for new rows. */
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/run_rows.h"
#include <errno.h>
#include <string.h>

enum { DRAWS_USUAL = 1000 }; /* default of --max-draws */

/* What the child process needs. */
typedef struct {
    const arguments *args;
    const char *run; /* its file name */
    sbps_prediction how;
} predict_request;

/* Called by the library with CSV for standard output. */
static bool write_out(void *self, const char *bytes, size_t count)
{
    (void)self;
    if (fwrite(bytes, 1, count, stdout) == count) return true;
    if (errno == EPIPE) broken_pipe(); /* the reader has gone */
    return false;
}

/* Prints how many rows were predicted, how fast, and which were not. */
static void print_prediction_counts(const predict_request *r, const sbps_predicted *done)
{
    char rows[32], rate[32], time[32];
    size_t empty = done->lacking + done->not_finite;
    format_count((double)done->rows, sizeof rows, rows);
    format_count((double)done->rows / (done->seconds > 0.0 ? done->seconds : 1e-9), sizeof rate,
                 rate);
    format_duration(done->seconds, sizeof time, time);
    if (done->all_levels_new)
        print_message("%s has no group effects: every level was treated as a new one", r->run);
    if (empty > 0)
        print_message(
            "%zu of %zu rows have no prediction, the first because of column '%s': %s", empty,
            done->rows, done->column,
            done->lacking > 0 && done->not_finite > 0
                ? "cells are missing or terms are not finite"
            : done->lacking > 0 ? "cells are missing"
                                : "terms are not finite");
    print_message("%s rows with %zu of %zu draws in %s: %s rows/s", rows, done->draws,
                  done->all_draws, time, rate);
}

/* Reads the run and predicts, for guard(). */
static sbps_status predict(const void *self, sbps_error *err)
{
    const predict_request *r = self;
    sbps_result *result = NULL;
    sbps_predicted done = {.struct_size = sizeof done};
    const char *data = NULL;
    sbps_status status = sbps_result_read(r->run, &result, err);
    if (status == SBPS_OK) status = run_rows(r->args, 1, result, &data, err);
    if (status == SBPS_OK) status = files_check(r->args, NULL, data, err);
    if (status == SBPS_OK) status = sbps_predict(result, r->run, data, &r->how, &done, err);
    if (status == SBPS_OK) print_prediction_counts(r, &done);
    sbps_result_destroy(result);
    return status;
}

static int predict_run(const arguments *args)
{
    size_t seed, threads, max_draws, runs;
    double interval;
    sbps_error err = {0};
    const char *path = flag_value(args, "output", NULL);
    if (!flag_count_value(args, "seed", 1, 0, &seed) ||
        !flag_count_value(args, "max-draws", DRAWS_USUAL, 0, &max_draws) ||
        !flag_count_value(args, "threads", 0, 0, &threads) ||
        !flag_fraction_value(args, "interval", 0.9, &interval))
        return CODE_USAGE;
    predict_request r = {.args = args, .run = args->operands[0]};
    const char *named = args->operand_count > 1 ? args->operands[1] : NULL;
    r.how = (sbps_prediction){.struct_size = sizeof r.how,
                              .kind = flag_value(args, "kind", "mean"),
                              .new_levels = flag_value(args, "new-levels", "error"),
                              .draws = flag_is_on(args, "draws"),
                              .interval = interval,
                              .max_draws = max_draws,
                              .seed = seed,
                              .threads = (unsigned)threads,
                              .path = path && strcmp(path, "-") ? path : NULL,
                              .take = write_out,
                              .encoding = flag_value(args, "encoding", NULL)};
    sbps_status status = run_operands(args, 1, &runs, &err);
    if (status == SBPS_OK) status = files_check(args, NULL, named, &err);
    if (status == SBPS_OK) status = guard(r.run, predict, &r, &err);
    return report_status(status, &err);
}

static const sbps_option_info predict_flags[] = {
    {"kind", "linear|mean|outcome|density|response", "mean", "Options",
     "What to predict: the linear predictor, the mean of the response, a new response "
     "(outcome), "
     "the log density of the observed response, or the observed response as the model reads "
     "it."},
    {.name = "draws",
     .fallback = "",
     .group = "Options",
     .help = "Write all draws of each row instead of their summary; as NetCDF if FILE ends in "
             ".nc."},
    {"interval", "P", "0.9", "Options",
     "Probability of the interval between the two outer quantiles, 0 < P < 1: 0.9 gives q5 and "
     "q95, 0.95 gives q2.5 and q97.5."},
    {"new-levels", "error|prior", "error", "Options",
     "Groups that were not in the run: an error, or effects drawn from their prior for each "
     "draw."},
    {"max-draws", "N", "1000", "Options",
     "Number of draws to use, evenly spaced if the run has more. 0: all."},
    {"encoding", "utf-8|latin1|windows-1252", "utf-8", "Options",
     "Character encoding of NEW.csv."},
    {"output", "FILE", "", "Options",
     "Write the CSV, or with --draws a .nc, to FILE. -: standard output."},
    {"seed", "S", "1", "Options", "Seed of new responses and of effects of new levels."},
    {"threads", "N", "0", "Options", "Number of threads; 0: one per processor."},
};

const command command_predict = {
    .name = "predict",
    .operands = "RUN.nc [NEW.csv] [--kind KIND] [-o FILE]",
    .summary = "Predict new rows: mean, sd and quantiles of each.",
    .detail =
        "RUN.nc was written by `sbps sample -o RUN.nc` and records how its columns were coded: "
        "NEW.csv needs the columns that the model uses, in any order, and may have others; "
        "without it the rows of the file that the run records are predicted. -: standard "
        "input. Each row gives a line `row,mean,sd,q5,q50,q95`; models of classes give a line "
        "for "
        "each class.\n\n"
        "Tables of any length are processed as a stream, on all processors.",
    .min_operands = 1,
    .max_operands = 2,
    .missing = "the run file is missing; usage: sbps predict RUN.nc [NEW.csv]",
    .flags = predict_flags,
    .flag_count = sizeof predict_flags / sizeof *predict_flags,
    .outputs = (const char *const[]){"output", NULL},
    .reads_run = true,
    .run = predict_run,
};

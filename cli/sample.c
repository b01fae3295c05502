/* sbps sample: creates a run from a table and options, advances it until it is done, and writes
 * its draws. Whatever fails after the first draw, the draws are saved. */
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/rank_output.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUND "sampling"

/* Whether a switch is on. */
static bool is_on(const sbps_options *options, const char *name)
{
    return !strcmp(sbps_options_get(options, name), "true");
}

/* Prints the settings that the run has chosen. */
static sbps_status print_description(const sbps_run *run, FILE *to, sbps_error *err)
{
    char *text = NULL;
    sbps_status status = sbps_run_describe(run, &text, err);
    if (status == SBPS_OK) print_plain(to, text);
    sbps_free(text);
    return status;
}

/* What a run needs, from the command line. */
typedef struct {
    sbps_options *options;
    char *data;
    char *command;       /* the command line; NULL: out of memory */
    sbps_watch *watch;   /* the page of --watch; NULL: none */
    sbps_ranks *ranks;   /* NULL: one process */
    bool json;           /* print the summary as JSON */
    char warnings[1024]; /* of the run so far, joined by "; " */
} task;

/* Shows a message on the page of --watch, if there is one. */
static void notify_watch(const task *of, const char *message)
{
    if (of->watch) sbps_watch_notify(of->watch, message);
}

/* Starts the page of --watch; its address is printed even without progress. */
static sbps_status open_watch(task *of, sbps_error *err)
{
    if (!is_on(of->options, "watch") || is_on(of->options, "dry-run")) return SBPS_OK;
    if (of->ranks) {
        snprintf(err->text, sizeof err->text, "--watch: not available on several ranks");
        return SBPS_BAD_ARG;
    }
    sbps_status status = sbps_watch_create(&of->watch, err);
    if (status == SBPS_OK) print_message("to watch: %s", sbps_watch_address(of->watch));
    return status;
}

/* Keeps a warning of the run for its end. A failure, as of a checkpoint, is reported at once,
 * too, since the run may take days. */
static void add_warning(task *of, progress *p, const sbps_error *warning)
{
    size_t used = strlen(of->warnings), left = sizeof of->warnings - used;
    if (strstr(of->warnings, warning->text)) return;
    snprintf(of->warnings + used, left, "%s%s", used ? "; " : "", warning->text);
    if (warning->status == SBPS_MISMATCH) return;
    if (p->drawn) fputs("\r\033[K", stderr); /* a line of its own */
    p->drawn = false;
    print_message("%s", warning->text);
}

/* Advances the run to its end and shows the progress. */
static sbps_status advance_run(sbps_run *run, task *of, sbps_error *err)
{
    const sbps_options *options = of->options;
    sbps_status status = SBPS_OK;
    bool finished = false;
    progress p = progress_open(sbps_options_get(options, "progress"));
    /* without a bar a thread prints lines during long rounds */
    status_line *w =
        status_line_begin(p.bar ? "off" : sbps_options_get(options, "progress"), ROUND);
    status = print_description(run, stderr, err); /* printed even without progress */
    while (status == SBPS_OK && !finished) {
        status = sbps_run_advance(run, &finished, err);
        status_line_set(w, ROUND, NULL);
        sbps_error warning;
        if (sbps_run_warning(run, &warning)) add_warning(of, &p, &warning);
        if (of->watch && status == SBPS_OK) sbps_watch_show(of->watch, run, of->command);
        if (status == SBPS_OK && !finished) progress_tick(&p, run);
    }
    status_line_end(w);
    progress_close(&p, run);
    return status;
}

/* The numbers of the last line, the same as in `sbps summary`. */
typedef struct {
    double min_ess;  /* over all parameters and their squares, from the path */
    double rows;     /* row evaluations per effective sample; NAN: unknown */
    double max_rhat; /* NAN: unknown */
    double bias,
        se; /* largest stated bias, posterior sd, and its standard error; NAN: unknown */
} verdict;

/* Computes the numbers of the last line. */
static sbps_status assess_result(const sbps_run *run, const sbps_result *result, verdict *out,
                                 sbps_error *err)
{
    sbps_progress state = {.struct_size = sizeof state};
    sbps_parameter w = {.struct_size = sizeof w};
    sbps_run_progress(run, &state);
    *out = (verdict){.min_ess = state.min_ess,
                     .rows = state.rows_per_ess,
                     .max_rhat = NAN,
                     .bias = NAN,
                     .se = NAN};
    for (size_t j = 0; j < sbps_result_dim(result); j++) {
        const char *part;
        /* effects come last, and need the limits of many: `sbps diagnose` checks them */
        if (sbps_result_name(result, j, &part) && !strcmp(part, "effect")) break;
        sbps_status status = sbps_result_parameter(result, j, &w, err);
        if (status != SBPS_OK) return status;
        out->max_rhat = fmax(out->max_rhat, w.rhat); /* fmax skips NAN */
        if (fabs(w.bias) <= out->bias || isnan(w.bias)) continue;
        out->bias = fabs(w.bias);
        out->se = w.bias_se;
    }
    return SBPS_OK;
}

/* Prints the last line. */
static void print_verdict(const verdict *v)
{
    char rhat[32] = "unknown", bias[64] = "unknown", rows[64] = "";
    if (!isnan(v->max_rhat)) snprintf(rhat, sizeof rhat, "%.3f", v->max_rhat);
    if (v->se > 0.0)
        snprintf(bias, sizeof bias, "%.4f +- %.4f posterior sd", v->bias, v->se);
    else if (!isnan(v->bias))
        snprintf(bias, sizeof bias, "%.4f posterior sd", v->bias);
    if (!isnan(v->rows))
        snprintf(rows, sizeof rows, "; %.3g rows per effective sample", v->rows);
    print_message("smallest ESS %.0f, largest R-hat %s, stated bias %s%s", v->min_ess, rhat,
                  bias, rows);
}

/* Prints the warning after a run, if there is one. `where`: the file with the draws; `sbps
 * diagnose` reads only NetCDF. */
static sbps_status warn_about_result(const sbps_result *result, const task *of,
                                     const char *where, sbps_error *err)
{
    char more[PATH_MAX + 64] = "", *warning = NULL;
    if (output_is_netcdf(where)) snprintf(more, sizeof more, "; see `sbps diagnose %s`", where);
    sbps_status status = sbps_result_warning(result, of->warnings, &warning, err);
    if (status == SBPS_OK && *warning) print_message("warning: %s%s", warning, more);
    sbps_free(warning);
    return status;
}

/* Prints where the group effects are, and the error of their approximation. */
static void report_effects(const char *path, const sbps_effects *written)
{
    print_message("group effects: %s, %zu draws of each", path, written->draws);
    if (written->by_polynomials > 0)
        print_message("the effects of %zu of %zu groups were drawn from polynomial "
                      "approximations; this shifts "
                      "their means by %.2g sd, at most %.2g",
                      written->by_polynomials, written->groups, written->error, written->worst);
}

/* Whether a value of --ranef names a file. */
static bool ranef_is_file(const char *value)
{
    return strcmp(value, "auto") != 0 && strcmp(value, "all") != 0 &&
           strcmp(value, "none") != 0;
}

/* Writes the file of --ranef, if one is named. */
static sbps_status keep_effects(const sbps_run *run, const sbps_options *options, bool quiet,
                                sbps_error *err)
{
    const char *path = sbps_options_get(options, "ranef");
    if (!ranef_is_file(path)) return SBPS_OK;
    sbps_effects written = {.struct_size = sizeof written};
    sbps_status status = sbps_run_effects(run, path, &written, err);
    if (status == SBPS_OK && !quiet) report_effects(path, &written);
    return status;
}

/* Writes the draws, and prints how good they are. */
static sbps_status save_result(const sbps_run *run, const task *of, sbps_error *err)
{
    const sbps_options *options = of->options;
    char where[PATH_MAX];
    verdict v;
    sbps_error unjudged = {0};
    sbps_result *result = NULL;
    bool quiet = !strcmp(sbps_options_get(options, "progress"), "off");
    sbps_status status = sbps_result_from_run(run, &result, err);
    if (status != SBPS_OK) return status;
    bool first = is_first_rank(of->ranks); /* all ranks have the same result */
    if (sbps_result_draws(result) == 0 || !first) {
        if (first) {
            /* The file of an earlier run is not replaced by an empty one. */
            const char *path = sbps_options_get(options, "output");
            print_message("there are no draws yet: %s was %s", path,
                          access(path, F_OK) == 0 ? "not changed" : "not written");
        }
        sbps_result_destroy(result);
        return SBPS_OK;
    }
    /* without memory for the command line the draws are written all the same */
    if (of->command) sbps_result_set_command(result, of->command, &unjudged);
    status =
        output_write(result, sbps_options_get(options, "output"), sizeof where, where, err);
    if (!quiet && status == SBPS_OK) output_report(where);
    if (assess_result(run, result, &v, &unjudged) == SBPS_OK) {
        if (!quiet) print_verdict(&v);
        if (*where) unjudged.status = warn_about_result(result, of, where, &unjudged);
    }
    if (unjudged.status != SBPS_OK)
        print_message("warning: the draws could not be judged: %s", unjudged.text);
    if (of->json && status == SBPS_OK) {
        char *text = NULL;
        status = sbps_result_summary(result, SBPS_JSON, &text, err);
        status = print_report(status, SBPS_JSON, text);
    }
    sbps_result_destroy(result);
    return status == SBPS_OK ? keep_effects(run, options, quiet, err) : status;
}

/* Samples and saves the draws, also of a run that was interrupted; returns the exit code. */
static int sample_and_keep(sbps_run *run, task *of)
{
    sbps_error err = {0}, kept = {0};
    interrupt_watch(run);
    sbps_status run_status = advance_run(run, of, &err);
    int code = report_status(run_status, &err);
    if (run_status == SBPS_DIVERGED) { /* its draws are useless */
        interrupt_watch(NULL);
        return code;
    }
    bool interrupted = interrupt_came();
    if (interrupted) print_message("interrupted: writing the draws so far");
    sbps_status status = save_result(run, of, &kept);
    interrupt_watch(NULL);
    if (status != SBPS_OK) print_message("%s", kept.text);
    interrupted = interrupt_came();
    if (interrupted && !strcmp(sbps_options_get(of->options, "ranef"), "all"))
        print_message("interrupted: group effects that were not drawn yet are omitted");
    if (interrupted) return CODE_INTERRUPTED;
    if (code != CODE_OK) return code;
    return status == SBPS_OK ? CODE_OK : CODE_FAILED;
}

/* Reads the table and creates the run, with a status line. */
static sbps_status set_up(const task *of, sbps_table **table, sbps_run **run, sbps_error *err)
{
    char reading[PATH_MAX + 16];
    snprintf(reading, sizeof reading, "reading %s", of->data ? of->data : "nothing");
    notify_watch(of, "Reading the table.");
    status_line *w = status_line_begin(sbps_options_get(of->options, "progress"), reading);
    sbps_status status = inputs_open(of->ranks, of->data, of->options, w, table, err);
    notify_watch(of, "Setting up: mode, control variates, automatic choices.");
    status_line_set(w, "setting up: mode, control variates, automatic choices",
                    status == SBPS_OK ? *table : NULL);
    if (status == SBPS_OK) status = sbps_run_create(*table, of->options, run, err);
    status_line_end(w);
    notify_watch(of, "The first round has started.");
    return status;
}

/* The last message on the page of --watch. */
static const char *final_message(int code)
{
    if (code == CODE_OK) return "The run is finished. This is its last state.";
    if (code == CODE_INTERRUPTED) return "The run was interrupted. This is its last state.";
    return "The run failed; see its terminal for the reason.";
}

/* Reads, samples and saves; returns the exit code. */
static int sample_table(task *of)
{
    int code = CODE_OK;
    sbps_error err = {0};
    sbps_table *table = NULL;
    sbps_run *run = NULL;
    sbps_status status = open_watch(of, &err);
    if (status == SBPS_OK) status = set_up(of, &table, &run, &err);
    if (status != SBPS_OK)
        code = report_status(status, &err);
    else if (is_on(of->options, "dry-run"))
        code = report_status(print_description(run, stdout, &err), &err);
    else
        code = sample_and_keep(run, of);
    sbps_watch_end(of->watch, run, of->command, final_message(code));
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    return code;
}

static int sample_run(const arguments *args)
{
    sbps_error err = {0};
    task of = {
        .command = command_line(args), .ranks = args->ranks, .json = flag_is_on(args, "json")};
    output_lock lock = {.file = -1};
    interrupt_catch();
    sbps_status status = sbps_options_create(&of.options, &err);
    if (status == SBPS_OK) status = inputs_data(args, &of.data, &err);
    if (status == SBPS_OK) status = inputs_take(args, of.options, &err);
    if (status == SBPS_OK) {
        status = inputs_check("sample", of.options, of.data, &err);
        if (status == SBPS_OK)
            status = inputs_check_kind(of.options, "sampler", "samplers", &err);
    }
    bool writes = status == SBPS_OK && is_first_rank(of.ranks) && !is_on(of.options, "dry-run");
    if (writes) {
        /* Before sampling, so that hours of work are not lost. */
        const char *output = sbps_options_get(of.options, "output");
        size_t chains = strtoul(sbps_options_get(of.options, "chains"), NULL, 10);
        status = output_check_ending(output, &err);
        if (status == SBPS_OK) status = files_check(args, of.options, of.data, &err);
        if (status == SBPS_OK) status = output_check_earlier(output, chains, &err);
    }
    if (writes && status == SBPS_OK)
        status = output_lock_take(sbps_options_get(of.options, "output"), &lock, &err);
    if (status == SBPS_OK && !is_first_rank(of.ranks))
        status = sbps_options_set(of.options, "progress", "off", &err);
    int code = status == SBPS_OK ? sample_table(&of) : report_status(status, &err);
    output_lock_release(&lock);
    sbps_options_destroy(of.options);
    free(of.data);
    free(of.command);
    return code;
}

static const sbps_option_info sample_flags[] = {
    {.name = "json",
     .fallback = "",
     .group = "Output",
     .help = "Also print the summary of the run as JSON, as `sbps summary --json` does."},
};

const command command_sample = {
    .name = "sample",
    .operands = "DATA... [FORMULA] --model NAME [-o RUN.nc] [options]",
    .summary = "Sample from the posterior of a model given a table.",
    .detail =
        "DATA is CSV with a header or libsvm text, which may be compressed; - is standard "
        "input. "
        "Several CSV files with the same header, or a pattern such as 'part-*.csv', are one "
        "table. "
        "Models without data, such as gaussian, take no file. Nothing needs tuning: options "
        "with the "
        "value auto are chosen by the program, and `--dry-run` prints the choice. Ctrl-C ends "
        "the "
        "run early and saves the draws so far.\n\n"
        "  sbps sample flights.csv --model logistic --target delayed\n\n"
        "  sbps sample flights.csv 'delayed ~ carrier*distance + log(seats)' --model logistic",
    .max_operands = SIZE_MAX,
    .flags = sample_flags,
    .flag_count = sizeof sample_flags / sizeof *sample_flags,
    .library_options = true,
    .by_ranks = true,
    .run = sample_run,
};

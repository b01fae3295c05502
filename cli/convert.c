/* sbps convert: writes a text table as a binary file that `sample` maps into memory instead of
 * reading. */
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR_SECONDS  0.2
#define LINE_SECONDS 10.0

/* The progress display. */
typedef struct {
    bool bar, drawn;    /* a line that is redrawn; it is on the terminal */
    double begun, next; /* monotonic seconds */
    double bytes;       /* of the text file; NAN: unknown */
} display;

/* Seconds between two updates of the display. */
static double pause_of(const display *d)
{
    return d->bar ? BAR_SECONDS : LINE_SECONDS;
}

/* Called by the library with its progress; returns false to stop. */
static bool show_conversion(void *self, const char *stage, size_t rows, double share)
{
    display *d = self;
    double now = clock_seconds(), done = strcmp(stage, "reading") ? NAN : share * d->bytes;
    char count[32], part[16] = "", far[128];
    if (now < d->next) return !interrupt_came();
    format_count((double)rows, sizeof count, count);
    if (isfinite(share)) snprintf(part, sizeof part, "%3.0f%%  ", floor(100 * share));
    format_bytes_done(done, d->bytes, now - d->begun, sizeof far, far);
    if (d->bar)
        fprintf(stderr, "\r%s  %s%s rows%s\033[K", stage, part, count, far);
    else
        print_message("%s  %s%s rows%s", stage, part, count, far);
    fflush(stderr);
    d->drawn = d->bar;
    d->next = now + pause_of(d);
    return !interrupt_came();
}

/* Reads a size in bytes with a unit of 1024: 500M, 1.5G. */
static bool read_memory(const char *text, size_t *out)
{
    static const char units[] = "KMGT";
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value > 0)) return false;
    for (size_t i = 0; *end && units[i]; i++)
        if ((*end & ~0x20) == units[i]) {
            value = ldexp(value, 10 * (int)(i + 1));
            end++;
            break;
        }
    if (*end == 'B' || *end == 'b') end++;
    if (*end || value >= 0x1p60 || value < 1) return false;
    *out = (size_t)value;
    return true;
}

/* The output must not be one of the inputs, and must be writable. */
static sbps_status check_paths(const char *from, const char *to, sbps_error *err)
{
    sbps_status status = output_check("convert", to, err);
    if (status == SBPS_OK && is_data(to, from))
        status =
            set_error(err, SBPS_BAD_ARG, "convert: the output %s is %s: choose another name",
                      to, strchr(from, '\n') ? "one of the data files" : "the data file");
    return status;
}

/* All operands but the last, one per line, malloced; NULL when memory runs out. */
static char *join_inputs(const arguments *args)
{
    size_t count = args->operand_count - 1, size = 0;
    for (size_t i = 0; i < count; i++) size += strlen(args->operands[i]) + 1;
    char *all = malloc(size), *to = all;
    for (size_t i = 0; all && i < count; i++) {
        if (i > 0) *to++ = '\n';
        to = stpcpy(to, args->operands[i]);
    }
    return all;
}

/* Prints notes, one per line, as strings of a JSON array. */
static void print_notes(const char *notes)
{
    for (size_t printed = 0; notes && *notes; printed++) {
        int length = (int)strcspn(notes, "\n");
        char line[1024];
        snprintf(line, sizeof line, "%.*s", length, notes);
        fputs(printed ? ", " : "", stdout);
        print_json_string(line);
        notes += length + (notes[length] == '\n');
    }
}

/* Prints what was decided about the data: the notes that the new table reports whenever it is
 * used. */
static sbps_status report_notes(const char *from, const char *to, bool json, sbps_error *err)
{
    sbps_options *none = NULL;
    sbps_table *table = NULL;
    sbps_status status = sbps_options_create(&none, err);
    if (status == SBPS_OK) status = sbps_table_read(to, none, NULL, &table, err);
    if (status == SBPS_OK && json) {
        fputs("{\"file\": ", stdout);
        print_json_string(to);
        printf(", \"rows\": %zu, \"notes\": [", sbps_table_rows(table));
        print_notes(sbps_table_notes(table));
        puts("]}");
    }
    if (status == SBPS_OK && !json) inputs_report(from, table);
    sbps_table_destroy(table);
    sbps_options_destroy(none);
    return status;
}

/* Converts, prints the notes, and returns the exit code. SIGINT stops the conversion without an
 * output. */
static int convert_files(const arguments *args, const char *from, size_t memory)
{
    const char *to = args->operands[args->operand_count - 1];
    sbps_error err = {0};
    sbps_options *options = NULL;
    display shown = {.bar = isatty(STDERR_FILENO), .begun = clock_seconds()};
    shown.next = shown.begun + pause_of(&shown);
    shown.bytes = file_bytes(from);
    interrupt_defer();
    sbps_status status = sbps_options_create(&options, &err);
    /* All flags but --memory and --json are options of the library. */
    for (size_t i = 0; i < args->flag_count && status == SBPS_OK; i++)
        if (strcmp(args->flags[i].name, "memory") && strcmp(args->flags[i].name, "json"))
            status = sbps_options_set(options, args->flags[i].name, args->flags[i].value, &err);
    if (status == SBPS_OK) status = check_paths(from, to, &err);
    if (status == SBPS_OK)
        status = sbps_table_convert(from, to, options, memory, show_conversion, &shown, &err);
    if (shown.drawn) fputs("\r\033[K", stderr);
    if (status == SBPS_OK) status = report_notes(from, to, flag_is_on(args, "json"), &err);
    sbps_options_destroy(options);
    if (status != SBPS_OK && interrupt_came()) {
        print_message("interrupted: no table was written");
        return CODE_INTERRUPTED;
    }
    return report_status(status, &err);
}

static int convert_run(const arguments *args)
{
    const char *memory_text = flag_value(args, "memory", NULL);
    size_t memory = 0;
    if (memory_text && !read_memory(memory_text, &memory)) {
        print_message("convert: --memory: '%s' is not a size such as 500M or 1G", memory_text);
        return CODE_USAGE;
    }
    char *from = join_inputs(args);
    if (!from) return print_message("out of memory"), CODE_FAILED;
    int code = convert_files(args, from, memory);
    free(from);
    return code;
}

/* A flag without a group is the library's option of that name. */
static const sbps_option_info convert_flags[] = {
    {.name = "formula"},
    {.name = "target"},
    {.name = "features"},
    {.name = "categorical"},
    {.name = "exclude"},
    {.name = "reference"},
    {.name = "success"},
    {.name = "levels"},
    {.name = "weights"},
    {.name = "offset"},
    {.name = "missing"},
    {.name = "na"},
    {.name = "header"},
    {.name = "encoding"},
    {.name = "no-intercept"},
    {.name = "standardize"},
    {.name = "threads"},
    {"storage", "auto|double|float|sparse", "auto", "Options",
     "How numbers are stored. float: half the size, rounded to 7 digits. sparse: only nonzero "
     "values. auto: sparse if that is smaller, else double."},
    {"seed", "S", "1", "Options", "Seed of the shuffle: the same seed gives the same file."},
    {"memory", "SIZE", "", "Options",
     "Memory for the shuffle, such as 500M or 1G; the file does not depend on it. Default: a "
     "quarter of the machine's memory, at most 1G."},
    {"json", NULL, "", "Options", "Print the file, its rows and the notes about it as JSON."},
};

const command command_convert = {
    .name = "convert",
    .operands = "IN... OUT --target COLUMN [options]",
    .summary = "Convert a text table to a binary file that is mapped instead of read, for data "
               "larger than "
               "memory.",
    .detail =
        "IN is CSV with a header or libsvm text, which may be compressed; - is standard input. "
        "Several "
        "CSV files, or a pattern in quotes, are one table. OUT is a binary file with shuffled "
        "rows. "
        "`sbps sample OUT --model NAME` opens it at once and reads only the parts that it "
        "needs. "
        "Target, features and the other choices about the data are fixed here.\n\n"
        "During the conversion the folder of OUT needs free space for twice the table.\n\n"
        "  sbps convert flights.csv.gz flights.tbl --target delayed\n\n"
        "  sbps convert 2025.csv 2026.csv flights.tbl --target delayed\n\n"
        "  sbps sample flights.tbl --model logistic",
    .min_operands = 2,
    .max_operands = SIZE_MAX,
    .missing = "a file name is missing; usage: sbps convert IN OUT --target COLUMN",
    .flags = convert_flags,
    .flag_count = sizeof convert_flags / sizeof *convert_flags,
    .run = convert_run,
};

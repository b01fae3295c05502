/* The command line: argv -> options -> library. All printing and all exit codes are in this
 * folder, which uses the library through sbps.h alone.
 *
 * Messages go to standard error as `sbps: sentence`, results to standard output or to a
 * file. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "sbps.h"
#include <stdio.h>

/* Exit codes: done; failed; wrong usage; ended by a signal. */
enum { CODE_OK = 0, CODE_FAILED = 1, CODE_USAGE = 2, CODE_INTERRUPTED = 130 };

typedef struct command command;

typedef struct {
    const char *name;  /* as in the table of options */
    const char *value; /* NULL: a switch that is on */
} parsed_flag;

/* A parsed command line. Strings are borrowed from argv. */
typedef struct {
    const command *command;
    size_t operand_count, flag_count;
    const char **operands;
    parsed_flag *flags;  /* in the order of the command line */
    bool help;           /* --help was given */
    struct ranks *ranks; /* the ranks this process belongs to; NULL: it runs alone */
    size_t argc;         /* what follows the subcommand, unparsed */
    char **argv;
} arguments;

/* A subcommand. */
struct command {
    const char *name, *operands, *summary;
    const char *detail; /* paragraphs of its help page, separated by \n\n; NULL: none */
    const char *kinds;  /* a family of names that the help page lists after them; NULL: none */
    size_t min_operands, max_operands;
    const char *missing; /* the message when there are fewer than min_operands */
    /* Its own flags. One without a group is the option of that name in the library's table. */
    const sbps_option_info *flags;
    size_t flag_count;
    /* Names of those flags whose files it writes, ending with NULL; NULL: none. files_check
     * (output.h) protects other files from them. */
    const char *const *outputs;
    bool reads_run; /* the first operand is a run file */
    bool
        library_options; /* it also takes all options of the library's table that apply to it */
    bool by_ranks;       /* all ranks run it together; otherwise only the first does */
    int (*run)(const arguments *args); /* returns the exit code */
};

/* ---- main.c ---- */

/* The subcommands in the order of the help page; NULL past the end. */
const command *command_at(size_t index);

/* The subcommand of this name, or NULL after printing a message. */
const command *command_find(const char *name);

/* ---- arguments.c ---- */

/* All flags of a subcommand: its own, then those of the library. index < flag_count(c). */
size_t flag_count(const command *c);
sbps_option_info flag_at(const command *c, size_t index);

/* Parses what follows the subcommand. Returns CODE_OK, or prints a message and returns an exit
 * code. Release *out if it is CODE_OK. */
int arguments_parse(const command *c, int argc, char **argv, arguments *out);
void arguments_release(arguments *args);

/* The last value of a flag ("true" for a switch), or `fallback`. */
const char *flag_value(const arguments *args, const char *name, const char *fallback);
bool flag_is_on(const arguments *args, const char *name);

/* Reads a count from `minimum` to SIZE_MAX; prints a message and returns false if it is
 * none. */
bool flag_count_value(const arguments *args, const char *name, size_t fallback, size_t minimum,
                      size_t *out);

/* Reads a number between 0 and 1, both excluded; prints a message and returns false if it is
 * none. */
bool flag_fraction_value(const arguments *args, const char *name, double fallback, double *out);

/* The format of --csv or --json; prints a message and returns false if both are given. */
bool flags_format(const arguments *args, sbps_format *out);

/* The whole command as it could be typed into a shell, malloced; NULL when memory runs out. */
char *command_line(const arguments *args);

/* ---- help.c ---- */

/* The help page of the program, and of a subcommand. */
void help_overview(FILE *to);
void help_command(FILE *to, const command *c);

/* The names of a family (models, samplers, ...) and their summaries, one per line. */
void print_kinds(FILE *to, const char *family, int indent);

/* The same as entries of a man page; the table of options in Markdown and as a section of a man
 * page; the man page of a subcommand. */
void reference_kinds(FILE *to, const char *family);
void reference_markdown(FILE *to);
void reference_manual(FILE *to);
void reference_page(FILE *to, const command *c);

/* ---- text.c ---- */

/* Columns of the terminal, else of the variable COLUMNS, else 80. */
size_t terminal_width(FILE *to);

/* Prints words wrapped to `width` columns and a newline. The first line starts at `column`,
 * later ones are indented by `indent`. A tab prints as a space that does not break. */
void print_wrapped(FILE *to, const char *text, size_t column, size_t indent, size_t width);

/* The end of a sentence on an unknown name. */
typedef struct {
    char text[160];
} name_hint;

/* Names that could have been meant: at(of, index) is NULL past the end. */
typedef struct {
    const char *(*at)(const void *of, size_t index);
    const void *of;
    const char *before; /* printed before a name: "--" */
} name_list;

/* ", did you mean 'sample'?", or the formatted text if no name is similar. */
name_hint suggest_name(const char *input, name_list from, const char *otherwise, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints text, control characters as '?'. print_coloured adds colours on a terminal. */
void print_plain(FILE *to, const char *text);
void print_coloured(FILE *to, const char *text);

/* Prints a JSON string on standard output, a tab as a space. */
void print_json_string(const char *text);

/* Prints a text of the library on standard output, unless `status` is a failure, and frees it.
 * In the text format, or on a terminal, control characters are '?'. Returns `status`. */
sbps_status print_report(sbps_status status, sbps_format format, char *text);

/* Prints `sbps: sentence` on standard error, control characters as '?'. */
void print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fills *err and returns `status`. */
sbps_status set_error(sbps_error *err, sbps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the message of a failure, and returns the exit code for the status. */
int report_status(sbps_status status, const sbps_error *err);

/* ---- the subcommands, each at the end of its file ---- */

extern const command command_sample, command_summary, command_diagnose, command_contrast,
    command_report, command_completion, command_predict, command_convert, command_map,
    command_laplace, command_simulate, command_list, command_help, command_score, command_loo,
    command_check, command_compare;

#endif

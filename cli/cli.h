/* The command line: argv -> options -> library. All printing and exit codes live in this
 * folder; it knows the library by sbps.h alone.
 *
 * Messages go to standard error as `sbps: sentence`, results to standard output or to a file.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "sbps.h"
#include <stdio.h>

enum { CODE_OK = 0, CODE_FAILED = 1, CODE_USAGE = 2, CODE_INTERRUPTED = 130 };

typedef struct command command;

typedef struct {
    const char *name;  /* as in the table */
    const char *value; /* NULL: a switch, on */
} parsed_flag;

typedef struct {
    const command *command;
    size_t operand_count, flag_count;
    const char **operands;
    parsed_flag *flags;  /* in the order given */
    bool help;           /* --help was among them */
    struct ranks *ranks; /* that this process is one of; NULL: it is by itself */
    size_t argc;         /* of what was typed behind the subcommand */
    char **argv;
} arguments;

/* A subcommand. */
struct command {
    const char *name, *operands, *summary;
    const char *detail; /* paragraphs of its help page, split by \n\n; NULL: none */
    const char *kinds;  /* a family that the page lists behind them; NULL: none */
    size_t min_operands, max_operands; /* operands */
    const char *why;                   /* what is missing when there are fewer than `least` */
    /* Of its own; one without a group is that of its name in the library's option table. */
    const sbps_option_info *flags;
    size_t flag_count;
    /* Names of those of its own flags whose files it writes, NULL behind the last; NULL: none. The
     * overwrite guard (apart.h) checks them. */
    const char *const *outputs;
    bool reads_run;       /* its first operand is a run file */
    bool library_options; /* it also takes all of that table that serve it */
    bool by_ranks;        /* several can do it together; else the first does it alone */
    int (*run)(const arguments *args); /* the exit code */
};

/* main.c: walks the subcommands; NULL past the end. */
const command *command_at(size_t index);
const command *command_find(const char *name);

/* arguments.c */
size_t flag_count(const command *c);
sbps_option_info flag_at(const command *c, size_t index);
/* Complains and returns CODE_USAGE when argv (after the subcommand) does not fit. */
int arguments_parse(const command *c, int argc, char **argv, arguments *out);
void arguments_release(arguments *args);
/* The last value given, or `fallback`. */
const char *flag_value(const arguments *args, const char *name, const char *fallback);
bool flag_is_on(const arguments *args, const char *name);
/* Reads a count between `least` and SIZE_MAX; complains and returns false otherwise. */
bool flag_count_value(const arguments *args, const char *name, size_t fallback, size_t minimum,
                      size_t *out);

/* The whole command as it could be typed again into a shell; NULL: out of memory. */
char *command_line(const arguments *args);

/* help.c */
void help_overview(FILE *to);
void help_command(FILE *to, const command *c);
/* The names of a family and their sentences, one a line. */
void print_kinds(FILE *to, const char *family, int indent);

/* reference.c: the option table as a page, and a family as entries of the man page. */
void reference_kinds(FILE *to, const char *family);
void reference_markdown(FILE *to);
void reference_manual(FILE *to);
/* The man page of a subcommand. */
void reference_page(FILE *to, const command *c);

/* Which of --csv and --json was given; complains and returns false when both are. */
bool flags_format(const arguments *args, sbps_format *out);

/* text.c */
size_t terminal_width(FILE *to); /* columns; 80 when it is none and COLUMNS does not say */
/* Prints words wrapped to `width`, the first line already standing at `column`, later lines
 * indented by `indent`; a tab is a blank that does not break; ends with a newline. */
void print_wrapped(FILE *to, const char *text, size_t column, size_t indent, size_t width);
/* How a sentence goes on that began with an unknown word. */
typedef struct {
    char text[160];
} name_hint;

/* The names a word could have been: `at(of, index)` is NULL past the end. */
typedef struct {
    const char *(*at)(const void *of, size_t index);
    const void *of;
    const char *before; /* put before each name: "--" */
} name_list;

/* ", did you mean 'sample'?", or what is said otherwise when no name is near. */
name_hint suggest_name(const char *input, name_list names, const char *otherwise, ...)
    __attribute__((format(printf, 3, 4)));
/* colour.c: likewise, with colours where `to` is a terminal that wants them. */
bool wants_colour(FILE *to);
void print_coloured(FILE *to, const char *text);
/* Prints a text of several lines, control characters as '?'. */
void print_plain(FILE *to, const char *text);
/* As a string of JSON, on standard output; a tab is a blank, as in help texts. */
void print_json_string(const char *text);
/* Prints a text of the library's unless the status is a failure, and gives it back. For people, or on a
 * terminal, control characters are '?'. */
sbps_status print_report(sbps_status status, sbps_format format, char *text);
/* Prints `sbps: sentence`, likewise, on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Fills err like the library does. */
sbps_status refuse(sbps_error *err, sbps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Complains unless the status is SBPS_OK; the exit code that goes with it. */
int report_status(sbps_status status, const sbps_error *err);

/* The subcommands, each at the foot of its file. */
extern const command command_sample, command_summary, command_diagnose, command_contrast,
    command_report, command_completion, command_predict, command_convert, command_map,
    command_laplace, command_simulate, command_list, command_help, command_score, command_loo,
    command_check, command_compare;

#endif

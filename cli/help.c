/* Help pages and reference pages, generated from the tables of subcommands and options: text
 * for --help, Markdown for docs/options.md, roff for the man pages. A test compares the files
 * with what is printed here. */
#include "cli/cli.h"
#include <string.h>

/* Columns of the layout. */
enum { NAME_COLUMN = 12, FLAG_INDENT = 2, HELP_INDENT = 28 };

static void print_commands(FILE *to)
{
    size_t width = terminal_width(to);
    for (size_t i = 0; command_at(i); i++) {
        const command *c = command_at(i);
        fprintf(to, "  %-*s", NAME_COLUMN, c->name);
        print_wrapped(to, c->summary, 2 + NAME_COLUMN, 2 + NAME_COLUMN, width);
    }
}

void help_overview(FILE *to)
{
    fputs("sbps: posterior sampling for big tables\n\n", to);
    fputs("Usage: sbps SUBCOMMAND ...\n\n", to);
    print_commands(to);
    fputs("\n`sbps SUBCOMMAND --help` explains a subcommand, `sbps list options` lists all\n"
          "options, `sbps --version` prints the version.\n\n",
          to);
    fputs("Example:\n"
          "  sbps simulate logistic --rows 10000 --dim 20 -o data.csv\n"
          "  sbps sample data.csv --model logistic --target y\n"
          "  sbps summary run.nc\n",
          to);
}

/* Prints a flag, its help and its default, if it has one. */
static void print_flag(FILE *to, const sbps_option_info *flag, size_t width)
{
    char text[1024];
    bool shows_default = flag->argument && *flag->fallback;
    snprintf(text, sizeof text, "%s%s%s%s", flag->help, shows_default ? " [default:\t" : "",
             shows_default ? flag->fallback : "", shows_default ? "]" : "");
    const char *brief = strcmp(flag->name, "output") ? "" : "-o, ";
    int written = fprintf(to, "%*s%s--%s", FLAG_INDENT, "", brief, flag->name);
    if (flag->argument) written += fprintf(to, " %s", flag->argument);
    size_t column = (size_t)written;
    if (column + 2 > HELP_INDENT) {
        fputc('\n', to);
        column = 0;
    }
    fprintf(to, "%*s", (int)(HELP_INDENT - column), "");
    print_wrapped(to, text, HELP_INDENT, HELP_INDENT, width);
}

/* All flags of a subcommand by group, without hidden ones. */
static void print_flags(FILE *to, const command *c, size_t width)
{
    const char *group = "";
    for (size_t i = 0; i < flag_count(c); i++) {
        sbps_option_info flag = flag_at(c, i);
        if (!flag.help) continue; /* hidden */
        if (strcmp(group, flag.group)) fprintf(to, "\n%s:\n", flag.group);
        group = flag.group;
        print_flag(to, &flag, width);
    }
}

/* Prints paragraphs separated by empty lines; one that begins with a space is not wrapped. */
static void print_detail(FILE *to, const char *text, size_t width)
{
    char paragraph[1024];
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, text);
        fputc('\n', to);
        if (*paragraph == ' ')
            fprintf(to, "%s\n", paragraph);
        else
            print_wrapped(to, paragraph, 0, 0, width);
        text += end ? length + 2 : length;
    }
}

void print_kinds(FILE *to, const char *family, int indent)
{
    sbps_kind_info kind = {.struct_size = sizeof kind};
    size_t longest = 0;
    for (size_t i = 0; sbps_kind_at(family, i, &kind); i++)
        if (strlen(kind.name) > longest) longest = strlen(kind.name);
    for (size_t i = 0; sbps_kind_at(family, i, &kind); i++)
        fprintf(to, "%*s%-*s  %s\n", indent, "", (int)longest, kind.name, kind.summary);
}

void help_command(FILE *to, const command *c)
{
    size_t width = terminal_width(to);
    fprintf(to, "Usage: sbps %s %s\n\n", c->name, c->operands);
    print_wrapped(to, c->summary, 0, 0, width);
    if (c->detail) print_detail(to, c->detail, width);
    if (c->kinds) {
        fputc('\n', to);
        print_kinds(to, c->kinds, FLAG_INDENT);
    }
    print_flags(to, c, width);
}

/* ---- reference pages: Markdown and roff ---- */

/* Prints a cell of a Markdown table, in which | is escaped. */
static void print_cell(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') fputc('\\', to);
        fputc(*text, to);
    }
}

/* A row of the table of options in Markdown. */
static void print_row(FILE *to, const sbps_option_info *flag)
{
    bool brief = !strcmp(flag->name, "output");
    fprintf(to, "| %s`--%s` | ", brief ? "`-o`, " : "", flag->name);
    print_cell(to, flag->argument ? flag->argument : "");
    fprintf(to, " | %s | ", flag->argument ? flag->fallback : "");
    print_cell(to, flag->help);
    fputs(" |\n", to);
}

void reference_markdown(FILE *to)
{
    const char *group = "";
    fputs("# Options of `sbps sample`, `sbps map` and `sbps laplace`\n\n"
          "Generated from the option table by `sbps list options`; do not edit. The same names "
          "are the\n"
          "keys of a config file (`name = value`, one per line) and of `sbps_options_set`. "
          "`map` and\n"
          "`laplace` take the groups Data and model and Mode, `--seed` and `--config`; "
          "`sample` takes\n"
          "all options except those whose text excludes it.\n",
          to);
    for (size_t i = 0; i < sbps_option_count(); i++) {
        sbps_option_info flag = sbps_option_at(i);
        if (strcmp(group, flag.group))
            fprintf(to, "\n## %s\n\n| option | value | default | |\n|---|---|---|---|\n",
                    flag.group);
        group = flag.group;
        print_row(to, &flag);
    }
}

/* Prints text for roff: hyphens as minus signs, upright quotes, and no dot at the start of a
 * line. */
static void print_roff(FILE *to, const char *text)
{
    if (*text == '.') fputs("\\&", to);
    for (; *text; text++) {
        if (*text == '`')
            fputs("\\(ga", to);
        else if (*text == '\'')
            fputs("\\(aq", to);
        else if (*text == '-')
            fputs("\\-", to);
        else if (*text == '\\')
            fputs("\\e", to);
        else
            fputc(*text, to);
    }
}

/* An entry of a man page for a flag. */
static void print_entry(FILE *to, const sbps_option_info *flag)
{
    fputs(".TP\n", to);
    fputs(strcmp(flag->name, "output") ? "\\fB" : "\\fB\\-o\\fR, \\fB", to);
    print_roff(to, "--");
    print_roff(to, flag->name);
    fputs("\\fR", to);
    if (flag->argument) fprintf(to, " \\fI%s\\fR", flag->argument);
    fputc('\n', to);
    print_roff(to, flag->help);
    fputc('\n', to);
    if (flag->argument && *flag->fallback) fprintf(to, "Default: %s.\n", flag->fallback);
}

void reference_manual(FILE *to)
{
    const char *group = "";
    for (size_t i = 0; i < sbps_option_count(); i++) {
        sbps_option_info flag = sbps_option_at(i);
        if (strcmp(group, flag.group)) fprintf(to, ".SS %s\n", flag.group);
        group = flag.group;
        print_entry(to, &flag);
    }
}

/* Prints paragraphs separated by empty lines; one that begins with a space is not filled. */
static void print_paragraphs(FILE *to, const char *text)
{
    char paragraph[1024];
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, text);
        fputs(*paragraph == ' ' ? ".PP\n.nf\n" : ".PP\n", to);
        for (char *c = paragraph; *c; c++)
            if (*c == '\t') *c = ' ';
        print_roff(to, paragraph);
        fputs(*paragraph == ' ' ? "\n.fi\n" : "\n", to);
        text += end ? length + 2 : length;
    }
}

/* The section OPTIONS of a man page. */
static void print_options(FILE *to, const command *c)
{
    const char *group = "";
    fputs(".SH OPTIONS\n", to);
    for (size_t i = 0; i < flag_count(c); i++) {
        sbps_option_info flag = flag_at(c, i);
        if (!flag.help) continue; /* hidden */
        if (strcmp(group, flag.group) && strcmp(flag.group, "Options"))
            fprintf(to, ".SS %s\n", flag.group);
        group = flag.group;
        print_entry(to, &flag);
    }
    fputs(".TP\n\\fB\\-\\-help\\fR\nPrint help and exit.\n", to);
}

void reference_page(FILE *to, const command *c)
{
    fputs(".\\\" generated by tests/cli/docs.sh --update, do not edit\n.TH SBPS-", to);
    for (const char *p = c->name; *p; p++) fputc(*p - 'a' + 'A', to);
    fprintf(to, " 1 \"\" \"sbps %s\" \"User Commands\"\n.SH NAME\nsbps\\-%s \\- ", SBPS_VERSION,
            c->name);
    print_roff(to, c->summary);
    fprintf(to, "\n.SH SYNOPSIS\n.B sbps %s\n", c->name);
    print_roff(to, c->operands);
    fputs("\n.SH DESCRIPTION\n", to);
    print_roff(to, c->summary);
    fputc('\n', to);
    if (c->detail) print_paragraphs(to, c->detail);
    if (c->kinds) reference_kinds(to, c->kinds);
    print_options(to, c);
    fputs(".SH \"SEE ALSO\"\n.BR sbps (1)\n", to);
}

void reference_kinds(FILE *to, const char *family)
{
    sbps_kind_info kind = {.struct_size = sizeof kind};
    for (size_t i = 0; sbps_kind_at(family, i, &kind); i++) {
        fprintf(to, ".TP\n.B %s\n", kind.name);
        print_roff(to, kind.summary);
        fputc('\n', to);
    }
}

/* ---- the command ---- */

static int help_run(const arguments *args)
{
    const command *c = args->operand_count ? command_find(args->operands[0]) : NULL;
    if (args->operand_count && !c) return CODE_USAGE;
    if (c && flag_is_on(args, "manual"))
        reference_page(stdout, c);
    else if (c)
        help_command(stdout, c);
    else
        help_overview(stdout);
    return CODE_OK;
}

const command command_help = {
    .name = "help",
    .operands = "[SUBCOMMAND]",
    .summary = "Print help on sbps or on a subcommand.",
    .max_operands = 1,
    .flags = (const sbps_option_info[]){{.name = "manual"}}, /* hidden: roff */
    .flag_count = 1,
    .run = help_run,
};

/* Help pages, made from the table of subcommands and the tables of options. */
#include "cli/cli.h"
#include <string.h>

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
    fputs(
        "\n`sbps SUBCOMMAND --help` says more; `sbps list options` tells all options at once;\n"
        "`sbps --version` tells the version.\n\n",
        to);
    fputs("Example:\n"
          "  sbps simulate logistic --rows 10000 --dim 20 -o data.csv\n"
          "  sbps sample data.csv --model logistic --target y\n"
          "  sbps summary run.nc\n",
          to);
}

/* "  -o, --output FILE" */
static size_t print_flag_name(FILE *to, const sbps_option_info *flag)
{
    const char *brief = strcmp(flag->name, "output") ? "" : "-o, ";
    int written = fprintf(to, "%*s%s--%s", FLAG_INDENT, "", brief, flag->name);
    if (flag->argument) written += fprintf(to, " %s", flag->argument);
    return (size_t)written;
}

/* The default is worth a word unless there is none or the option is a switch. */
static void print_flag(FILE *to, const sbps_option_info *flag, size_t width)
{
    char text[1024];
    bool shows_default = flag->argument && *flag->fallback;
    snprintf(text, sizeof text, "%s%s%s%s", flag->help, shows_default ? " [default:\t" : "",
             shows_default ? flag->fallback : "", shows_default ? "]" : "");
    size_t column = print_flag_name(to, flag);
    if (column + 2 > HELP_INDENT) {
        fputc('\n', to);
        column = 0;
    }
    fprintf(to, "%*s", (int)(HELP_INDENT - column), "");
    print_wrapped(to, text, HELP_INDENT, HELP_INDENT, width);
}

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

/* Paragraphs split by an empty line; one that opens with a blank is printed as it is. */
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
    .summary = "Explain sbps or one of its subcommands.",
    .max_operands = 1,
    .flags = (const sbps_option_info[]){{.name = "manual"}}, /* hidden: roff */
    .flag_count = 1,
    .run = help_run,
};

/* The option table as a page: Markdown for docs/options.md, roff for the OPTIONS section of the
 * man page. A test holds both files to what is printed here. */
#include "cli/cli.h"
#include <string.h>

/* A | would end a cell. */
static void print_cell(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') fputc('\\', to);
        fputc(*text, to);
    }
}

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
          "Made from the option table by `sbps list options`; do not edit. The same names are "
          "the\n"
          "keys of a config file (`name = value` a line) and of `sbps_options_set`. `map` and "
          "`laplace` "
          "take\n"
          "the groups Data and model and Mode, `--seed` and `--config`; `sample` takes all but "
          "those "
          "that say so.\n",
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

/* Hyphens are minus signs, quotes are upright, and a dot may not open a line. */
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

/* Paragraphs split by an empty line; one that opens with a blank is printed as it is. */
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
    fputs(".TP\n\\fB\\-\\-help\\fR\nHelp, and nothing else.\n", to);
}

void reference_page(FILE *to, const command *c)
{
    fputs(".\\\" made by tests/cli/docs.sh --update, do not edit\n.TH SBPS-", to);
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

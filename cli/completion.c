/* sbps completion: scripts that make a shell complete subcommands, options and their values,
 * generated from the tables of subcommands and options. */
#include "cli/cli.h"
#include <string.h>

/* Options whose values are the names of a family. */
static const struct {
    const char *flag, *family;
} listed[] = {{"model", "models"}, {"family", "families"}, {"sampler", "samplers"}};

/* The family whose names are the values of this flag, or NULL. */
static const char *family_of(const char *flag)
{
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        if (!strcmp(listed[i].flag, flag)) return listed[i].family;
    return NULL;
}

/* Whether the values of a flag are a list of words. */
static bool has_values(const sbps_option_info *flag)
{
    return flag->argument && (family_of(flag->name) || strchr(flag->argument, '|'));
}

/* Prints the values, separated by spaces: the names of a family, or the words between bars. */
static void print_values(const sbps_option_info *flag)
{
    sbps_kind_info kind = {.struct_size = sizeof kind};
    const char *family = family_of(flag->name);
    for (size_t i = 0; family && sbps_kind_at(family, i, &kind); i++)
        printf("%s%s", i ? " " : "", kind.name);
    for (const char *c = flag->argument; !family && *c;) {
        size_t length = strcspn(c, "|");
        if (!(*c >= 'A' && *c <= 'Z'))
            printf("%.*s ", (int)length, c); /* capitals stand for a value: FILE */
        c += length + (c[length] == '|');
    }
}

/* Prints text for use within single quotes; characters of `escaped` get a backslash. */
static void print_quoted(const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            printf(strchr(escaped, *text) ? "\\%c" : "%c", *text);
    }
}

/* Flags without help are hidden. */
static bool is_shown(const sbps_option_info *flag)
{
    return flag->help != NULL;
}

typedef void flag_printer(const sbps_option_info *flag);

/* Whether an earlier subcommand has a flag of this name. */
static bool had_before(size_t command_index, const char *name)
{
    for (size_t i = 0; i < command_index; i++)
        for (size_t k = 0; k < command_at(i)->flag_count; k++)
            if (!strcmp(command_at(i)->flags[k].name, name)) return true;
    return false;
}

/* A subcommand's own flags, in each_flag_with_values. */
static void print_own(size_t command_index, flag_printer *print)
{
    const command *c = command_at(command_index);
    for (size_t k = 0; k < c->flag_count; k++) {
        const sbps_option_info *flag = &c->flags[k];
        bool own = flag->group && is_shown(flag) && has_values(flag);
        if (own && !had_before(command_index, flag->name)) print(flag);
    }
}

/* Calls `print` once for each flag with a list of values. */
static void each_flag_with_values(flag_printer *print)
{
    for (size_t i = 0; i < sbps_option_count(); i++) {
        sbps_option_info flag = sbps_option_at(i);
        if (has_values(&flag) && is_shown(&flag)) print(&flag);
    }
    for (size_t i = 0; command_at(i); i++) print_own(i, print);
}

/* bash: the values of a flag as a branch of a case. */
static void print_case(const sbps_option_info *flag)
{
    printf("    --%s) values='", flag->name);
    print_values(flag);
    puts("' ;;");
}

static void print_bash(void)
{
    puts("# bash completion of sbps: eval \"$(sbps completion bash)\"\n"
         "_sbps() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} "
         "values= flags=\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        COMPREPLY=($(compgen -W '", stdout);
    for (size_t i = 0; command_at(i); i++) printf("%s%s", i ? " " : "", command_at(i)->name);
    puts(" --help --version' -- \"$word\"))\n        return\n    fi\n    case $before in");
    each_flag_with_values(print_case);
    puts("    esac\n    case ${COMP_WORDS[1]} in");
    for (size_t i = 0; command_at(i); i++) {
        printf("    %s) flags='", command_at(i)->name);
        const command *c = command_at(i);
        for (size_t k = 0; k < flag_count(c); k++) {
            sbps_option_info flag = flag_at(c, k);
            if (is_shown(&flag)) printf("--%s ", flag.name);
        }
        fputs("--help", stdout);
        puts("' ;;");
    }
    puts("    esac\n"
         "    if [ -n \"$values\" ]; then COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
         "    elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
         "    else COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
         "}\n"
         "complete -o filenames -F _sbps sbps");
}

/* zsh: the same. */
static void print_zsh_case(const sbps_option_info *flag)
{
    printf("    --%s) compadd -- ", flag->name);
    print_values(flag);
    puts("; return ;;");
}

/* zsh: the flags of a subcommand with their help. */
static void print_zsh_flags(const command *c)
{
    printf("    %s) flags=(", c->name);
    for (size_t k = 0; k < flag_count(c); k++) {
        sbps_option_info flag = flag_at(c, k);
        if (!is_shown(&flag)) continue;
        printf("'--%s:", flag.name);
        print_quoted(flag.help, ":\\");
        fputs("' ", stdout);
    }
    puts("'--help:print help') ;;");
}

static void print_zsh(void)
{
    puts("#compdef sbps\n# zsh completion of sbps: eval \"$(sbps completion zsh)\"\n_sbps() {\n"
         "    local -a commands flags\n    commands=(");
    for (size_t i = 0; command_at(i); i++) {
        printf("        '%s:", command_at(i)->name);
        print_quoted(command_at(i)->summary, ":\\");
        puts("'");
    }
    puts("    )\n    if (( CURRENT == 2 )); then _describe subcommand commands; return; fi\n"
         "    case $words[CURRENT-1] in");
    each_flag_with_values(print_zsh_case);
    puts("    esac\n    case $words[2] in");
    for (size_t i = 0; command_at(i); i++) print_zsh_flags(command_at(i));
    puts("    esac\n    if [[ $PREFIX == -* ]]; then _describe -o option flags; else _files; "
         "fi\n}\n"
         "if [ \"$funcstack[1]\" = _sbps ]; then _sbps \"$@\"; else compdef _sbps sbps; fi");
}

/* fish: one line for a flag of a subcommand. */
static void print_fish_flag(const command *c, const sbps_option_info *flag)
{
    printf("complete -c sbps -n '__fish_seen_subcommand_from %s' -l %s%s%s", c->name,
           flag->name, strcmp(flag->name, "output") ? "" : " -s o",
           flag->argument ? " -r" : "");
    if (has_values(flag)) {
        fputs(" -f -a '", stdout);
        print_values(flag);
        fputs("'", stdout);
    }
    fputs(" -d '", stdout);
    print_quoted(flag->help, "\\");
    puts("'");
}

static void print_fish(void)
{
    puts("# fish completion of sbps: sbps completion fish | source");
    for (size_t i = 0; command_at(i); i++) {
        const command *c = command_at(i);
        printf("complete -c sbps -n __fish_use_subcommand -f -a %s -d '", c->name);
        print_quoted(c->summary, "\\");
        puts("'");
        for (size_t k = 0; k < flag_count(c); k++) {
            sbps_option_info flag = flag_at(c, k);
            if (is_shown(&flag)) print_fish_flag(c, &flag);
        }
    }
}

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

static int completion_run(const arguments *args)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, args->operands[0])) continue;
        shells[i].print();
        return CODE_OK;
    }
    print_message("completion: unknown shell '%s': use bash, zsh or fish", args->operands[0]);
    return CODE_USAGE;
}

const command command_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .summary =
        "Print a script that lets a shell complete subcommands, options and their values.",
    .detail = "  eval \"$(sbps completion bash)\"",
    .min_operands = 1,
    .max_operands = 1,
    .missing = "name a shell: bash, zsh or fish",
    .flags = (const sbps_option_info[]){{0}}, /* none */
    .run = completion_run,
};

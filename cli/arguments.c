/* GNU long options: --name value, --name=value, switches --name or --name=true|false; -o for
 * --output and -h for --help; -- ends options. Abbreviations are not accepted, since an option
 * added later could change their meaning. */
#include "cli/cli.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a subcommand takes this option of the library. */
static bool serves(const command *c, size_t option)
{
    return c->library_options && sbps_option_serves(option, c->name);
}

size_t flag_count(const command *c)
{
    size_t count = c->flag_count, options = sbps_option_count();
    for (size_t i = 0; i < options; i++) count += serves(c, i);
    return count;
}

/* The index of the name text[0..length) in the table of the library; the number of options if
 * it is not there. */
static size_t library_place(const char *text, size_t length, sbps_option_info *out)
{
    size_t count = sbps_option_count();
    for (size_t i = 0; i < count; i++) {
        *out = sbps_option_at(i);
        if (!strncmp(out->name, text, length) && !out->name[length]) return i;
    }
    return count;
}

/* The option of this name in the table of the library; without a group if there is none. */
static sbps_option_info library_flag(const char *name)
{
    sbps_option_info flag;
    bool found = library_place(name, strlen(name), &flag) < sbps_option_count();
    return found ? flag : (sbps_option_info){.name = name};
}

sbps_option_info flag_at(const command *c, size_t index)
{
    if (index < c->flag_count)
        return c->flags[index].group ? c->flags[index] : library_flag(c->flags[index].name);
    size_t option = 0;
    for (index -= c->flag_count; !serves(c, option) || index > 0; option++)
        index -= serves(c, option);
    return sbps_option_at(option);
}

/* For suggest_name: the names of the flags of a command. */
static const char *flag_name(const void *of, size_t index)
{
    const command *c = of;
    return index < flag_count(c) ? flag_at(c, index).name : NULL;
}

/* Prints that there is no such flag, with a suggestion. */
static int unknown_flag(const command *c, const char *text, size_t length)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    const name_list flags = {flag_name, c, "--"};
    name_hint hint = suggest_name(name, flags, "; `sbps %s --help` lists all options", c->name);
    print_message("%s: unknown option '--%s'%s", c->name, name, hint.text);
    return CODE_USAGE;
}

/* Finds the flag of the name text[0..length); false if the subcommand has none. */
static bool find_flag(const command *c, const char *text, size_t length, sbps_option_info *out)
{
    for (size_t i = 0; i < c->flag_count; i++) {
        if (strncmp(c->flags[i].name, text, length) || c->flags[i].name[length]) continue;
        *out = flag_at(c, i);
        return true;
    }
    size_t place = library_place(text, length, out);
    return place < sbps_option_count() && serves(c, place);
}

/* Checks a flag and its value (NULL: none) and appends it. */
static int keep_flag(arguments *args, const sbps_option_info *flag, const char *value)
{
    bool on_or_off = !value || !strcmp(value, "true") || !strcmp(value, "false");
    if (flag->argument && !value) {
        print_message("%s: --%s needs a value: %s", args->command->name, flag->name,
                      flag->argument);
        return CODE_USAGE;
    }
    if (!flag->argument && !on_or_off) {
        print_message("%s: --%s is a switch: its value is true or false, not '%s'",
                      args->command->name, flag->name, value);
        return CODE_USAGE;
    }
    args->flags[args->flag_count++] = (parsed_flag){flag->name, value};
    return CODE_OK;
}

/* Parses argv[*at], which begins with --; advances *at if the value is the next argument. */
static int take_long(arguments *args, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    sbps_option_info flag;
    if (length == 4 && !strncmp(name, "help", 4)) {
        args->help = true;
        return CODE_OK;
    }
    if (!find_flag(args->command, name, length, &flag))
        return unknown_flag(args->command, name, length);
    const char *value = equals ? equals + 1 : NULL;
    if (!value && flag.argument && *at + 1 < argc) value = argv[++*at];
    return keep_flag(args, &flag, value);
}

/* Parses -o FILE, -oFILE or -h. */
static int take_short(arguments *args, int argc, char **argv, int *at)
{
    const char *text = argv[*at];
    sbps_option_info flag;
    if (!strcmp(text, "-h")) {
        args->help = true;
        return CODE_OK;
    }
    if (text[1] != 'o' || !find_flag(args->command, "output", 6, &flag)) {
        print_message("%s: unknown option '%s'; `sbps %s --help` lists all options",
                      args->command->name, text, args->command->name);
        return CODE_USAGE;
    }
    const char *value = text[2] ? text + 2 : *at + 1 < argc ? argv[++*at] : NULL;
    return keep_flag(args, &flag, value);
}

/* Checks the number of operands. */
static int check_operands(const arguments *args)
{
    const command *c = args->command;
    if (args->help) return CODE_OK;
    if (args->operand_count < c->min_operands) {
        print_message("%s: %s", c->name, c->missing);
        return CODE_USAGE;
    }
    if (args->operand_count > c->max_operands) {
        print_message("%s: unexpected argument '%s'; usage: sbps %s %s", c->name,
                      args->operands[c->max_operands], c->name, c->operands);
        return CODE_USAGE;
    }
    return CODE_OK;
}

int arguments_parse(const command *c, int argc, char **argv, arguments *out)
{
    int code = CODE_OK;
    bool options_ended = false;
    size_t capacity = argc > 0 ? (size_t)argc : 1;
    *out = (arguments){.command = c, .argc = argc > 0 ? (size_t)argc : 0, .argv = argv};
    out->operands = calloc(capacity, sizeof *out->operands);
    out->flags = calloc(capacity, sizeof *out->flags);
    if (!out->operands || !out->flags) {
        print_message("%s", sbps_status_text(SBPS_NO_MEM));
        code = CODE_FAILED;
    }
    for (int i = 0; i < argc && code == CODE_OK && !out->help; i++) {
        if (!options_ended && !strcmp(argv[i], "--"))
            options_ended = true;
        else if (!options_ended && !strncmp(argv[i], "--", 2))
            code = take_long(out, argc, argv, &i);
        else if (!options_ended && argv[i][0] == '-' && argv[i][1])
            code = take_short(out, argc, argv, &i);
        else
            out->operands[out->operand_count++] = argv[i];
    }
    if (code == CODE_OK) code = check_operands(out);
    if (code != CODE_OK) arguments_release(out);
    return code;
}

/* Whether a shell gives none of the characters a meaning. */
static bool is_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=:,./@%^";
    return *text && strspn(text, plain) == strlen(text);
}

/* Copies text, in quotes if it needs them; returns the end of the copy. */
static char *quote(char *to, const char *text)
{
    bool plain = is_plain(text);
    if (!plain) *to++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') to = stpcpy(to, "'\\'");
        *to++ = *text;
    }
    if (!plain) *to++ = '\'';
    return to;
}

char *command_line(const arguments *args)
{
    size_t size = sizeof "sbps " + strlen(args->command->name);
    for (size_t i = 0; i < args->argc; i++) size += 3 + 4 * strlen(args->argv[i]);
    char *line = malloc(size), *end = line;
    if (!line) return NULL;
    end = stpcpy(stpcpy(end, "sbps "), args->command->name);
    for (size_t i = 0; i < args->argc; i++) {
        *end++ = ' ';
        end = quote(end, args->argv[i]);
    }
    *end = '\0';
    return line;
}

void arguments_release(arguments *args)
{
    free(args->operands);
    free(args->flags);
    *args = (arguments){0};
}

const char *flag_value(const arguments *args, const char *name, const char *fallback)
{
    for (size_t i = args->flag_count; i-- > 0;)
        if (!strcmp(args->flags[i].name, name))
            return args->flags[i].value ? args->flags[i].value : "true";
    return fallback;
}

bool flag_is_on(const arguments *args, const char *name)
{
    return !strcmp(flag_value(args, name, "false"), "true");
}

/* Reads digits up to 2^64 - 1, or a float such as 1e6 that is whole and at most 2^53. */
static bool read_count(const char *text, size_t *out)
{
    char *end;
    if (*text && strspn(text, "0123456789") == strlen(text)) {
        errno = 0;
        *out = strtoull(text, &end, 10);
        return errno == 0;
    }
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value <= 0x1p53) || value != floor(value))
        return false;
    *out = (size_t)value;
    return true;
}

bool flag_count_value(const arguments *args, const char *name, size_t fallback, size_t minimum,
                      size_t *out)
{
    const char *text = flag_value(args, name, NULL);
    *out = fallback;
    if (!text || (read_count(text, out) && *out >= minimum)) return true;
    print_message("%s: --%s: '%s' is not a whole number >= %zu", args->command->name, name,
                  text, minimum);
    return false;
}

bool flag_fraction_value(const arguments *args, const char *name, double fallback, double *out)
{
    const char *text = flag_value(args, name, NULL);
    char *end = NULL;
    *out = text ? strtod(text, &end) : fallback;
    if (!text || (end != text && !*end && *out > 0.0 && *out < 1.0)) return true;
    print_message("%s: --%s: '%s' is not a number between 0 and 1", args->command->name, name,
                  text);
    return false;
}

bool flags_format(const arguments *args, sbps_format *out)
{
    bool csv = flag_is_on(args, "csv"), json = flag_is_on(args, "json");
    *out = csv ? SBPS_CSV : json ? SBPS_JSON : SBPS_TEXT;
    if (csv && json) print_message("%s: use --csv or --json, not both", args->command->name);
    return !(csv && json);
}

/* sbps list: the names of models, samplers and so on, with a sentence each. */
#include "cli/cli.h"
#include <string.h>

/* What can be listed: families of kinds, and the options. */
static const char *const families[] = {"models", "families", "samplers",
                                       "priors", "columns",  "options"};

/* For suggest_name: the names of the lists. */
static const char *family_name(const void *of, size_t index)
{
    (void)of;
    return index < sizeof families / sizeof *families ? families[index] : NULL;
}

static bool is_family(const char *name)
{
    for (size_t i = 0; family_name(NULL, i); i++)
        if (!strcmp(name, family_name(NULL, i))) return true;
    return false;
}

/* ---- JSON ---- */

/* A JSON member; NULL is null. */
static void print_member(const char *before, const char *key, const char *value)
{
    printf("%s\"%s\": ", before, key);
    if (value)
        print_json_string(value);
    else
        fputs("null", stdout);
}

/* A family as JSON. */
static void json_kinds(const char *family)
{
    sbps_kind_info kind = {.struct_size = sizeof kind};
    for (size_t i = 0; sbps_kind_at(family, i, &kind); i++) {
        print_member(i ? ",\n {" : "[{", "name", kind.name);
        print_member(", ", "summary", kind.summary);
        putchar('}');
    }
    puts("]");
}

/* The table of options as JSON. */
static void json_options(void)
{
    for (size_t i = 0; i < sbps_option_count(); i++) {
        sbps_option_info flag = sbps_option_at(i);
        print_member(i ? ",\n {" : "[{", "name", flag.name);
        print_member(", ", "value", flag.argument);
        print_member(", ", "default", flag.argument ? flag.fallback : NULL);
        print_member(", ", "group", flag.group);
        print_member(", ", "help", flag.help);
        putchar('}');
    }
    puts("]");
}

static int list_run(const arguments *args)
{
    const char *family = args->operands[0];
    if (!strcmp(family, "options")) {
        if (flag_is_on(args, "manual"))
            reference_manual(stdout);
        else if (flag_is_on(args, "json"))
            json_options();
        else
            reference_markdown(stdout);
        return CODE_OK;
    }
    if (is_family(family)) {
        if (flag_is_on(args, "manual"))
            reference_kinds(stdout, family);
        else if (flag_is_on(args, "json"))
            json_kinds(family);
        else
            print_kinds(stdout, family, 0);
        return CODE_OK;
    }
    const name_list names = {family_name, NULL, ""};
    name_hint hint = suggest_name(
        family, names, ": use models, families, samplers, priors, columns or options");
    print_message("list: unknown list '%s'%s", family, hint.text);
    return CODE_USAGE;
}

/* A flag without a help text is hidden. */
static const sbps_option_info list_flags[] = {{.name = "json",
                                               .fallback = "",
                                               .group = "Options",
                                               .help = "Print JSON: an array of objects."},
                                              {.name = "manual"}};

const command command_list = {
    .name = "list",
    .operands = "models|families|samplers|priors|columns|options [--json]",
    .summary =
        "List the models, their families in R, the samplers, priors or columns of a summary, "
        "one per line, or all options.",
    .min_operands = 1,
    .max_operands = 1,
    .missing = "name a list: models, families, samplers, priors, columns or options",
    .flags = list_flags,
    .flag_count = 2,
    .run = list_run,
};

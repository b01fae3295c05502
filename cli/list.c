/* sbps list: names that can be asked for, each with its sentence. */
#include "cli/cli.h"
#include <string.h>

static const char *const families[] = {"models", "samplers", "priors", "columns", "options"};

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

static int list_run(const arguments *given)
{
    const char *family = given->operands[0];
    if (!strcmp(family, "options")) {
        if (flag_is_on(given, "manual"))
            reference_manual(stdout);
        else
            reference_markdown(stdout);
        return CODE_OK;
    }
    if (is_family(family)) {
        if (flag_is_on(given, "manual"))
            reference_kinds(stdout, family);
        else
            print_kinds(stdout, family, 0);
        return CODE_OK;
    }
    const name_list names = {family_name, NULL, ""};
    name_hint hint =
        suggest_name(family, names, ": want models, samplers, priors, columns or options");
    complain("list: unknown family '%s'%s", family, hint.text);
    return CODE_USAGE;
}

/* Without help text: not shown to users. */
static const sbps_option_info list_flags[] = {{.name = "manual"}};

const command command_list = {
    .name = "list",
    .operands = "models|samplers|priors|columns|options",
    .summary = "Name the models, samplers, priors or columns of a summary there are, one a "
               "line, or tell "
               "all options.",
    .least = 1,
    .most = 1,
    .why = "what shall be listed? Want models, samplers, priors, columns or options",
    .flags = list_flags,
    .flag_count = 1,
    .run = list_run,
};

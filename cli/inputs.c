/* Options and data of the subcommands that fit a model. */
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a flag is one of the subcommand's own. */
static bool is_own(const command *c, const char *name)
{
    for (size_t i = 0; i < c->flag_count; i++)
        if (!strcmp(c->flags[i].name, name)) return true;
    return false;
}

/* Whether an operand after the first names a file or a pattern, not a formula. */
static bool is_file(const char *operand)
{
    bool pattern = !strchr(operand, '~') && strpbrk(operand, "*?[");
    return pattern || access(operand, F_OK) == 0;
}

/* Sets the option formula from the operands after the first. */
static sbps_status take_formula(const arguments *args, sbps_options *options, sbps_error *err)
{
    const char *formula = NULL;
    for (size_t i = 1; i < args->operand_count; i++) {
        const char *text = args->operands[i];
        if (is_file(text)) continue;
        if (formula || !strchr(text, '~'))
            return set_error(
                err, SBPS_BAD_ARG,
                "%s: '%s' is neither a file nor a formula with a ~, such as 'y ~ x'",
                args->command->name, text);
        formula = text;
    }
    return formula ? sbps_options_set(options, "formula", formula, err) : SBPS_OK;
}

sbps_status inputs_data(const arguments *args, char **out, sbps_error *err)
{
    size_t size = 1;
    *out = NULL;
    if (args->operand_count == 0) return SBPS_OK;
    for (size_t i = 0; i < args->operand_count; i++) size += strlen(args->operands[i]) + 1;
    char *to = *out = malloc(size);
    if (!to) return set_error(err, SBPS_NO_MEM, "out of memory");
    for (size_t i = 0; i < args->operand_count; i++) {
        if (i > 0 && !is_file(args->operands[i])) continue;
        if (i > 0) *to++ = '\n';
        to = stpcpy(to, args->operands[i]);
    }
    return SBPS_OK;
}

/* The command line goes first: a config file does not override it. */
sbps_status inputs_take(const arguments *args, sbps_options *options, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    if (args->operand_count > 1) status = take_formula(args, options, err);
    for (size_t i = 0; i < args->flag_count && status == SBPS_OK; i++)
        if (!is_own(args->command, args->flags[i].name))
            status = sbps_options_set(options, args->flags[i].name, args->flags[i].value, err);
    if (status != SBPS_OK) return status;
    const char *config = sbps_options_get(options, "config");
    return *config ? sbps_options_read(options, config, err) : SBPS_OK;
}

/* For suggest_name: the names of a family. */
static const char *kind_name(const void *of, size_t index)
{
    sbps_kind_info kind = {.struct_size = sizeof kind};
    return sbps_kind_at(of, index, &kind) ? kind.name : NULL;
}

sbps_status inputs_check_kind(const sbps_options *options, const char *option,
                              const char *family, sbps_error *err)
{
    const char *name = sbps_options_get(options, option), *known;
    if (!strcmp(name, "auto")) return SBPS_OK;
    if (!strcmp(option, "model") && strchr(name, '/')) return SBPS_OK; /* a shared library */
    for (size_t i = 0; (known = kind_name(family, i)); i++)
        if (!strcmp(known, name)) return SBPS_OK;
    const name_list kinds = {kind_name, family, ""};
    name_hint hint = suggest_name(name, kinds, "; `sbps list %s` lists all", family);
    return set_error(err, SBPS_BAD_ARG, "--%s: unknown %s '%s'%s", option, option, name,
                     hint.text);
}

/* Whether a model needs data; unknown names count as needing it. */
static bool needs_table(const char *model)
{
    sbps_kind_info kind = {.struct_size = sizeof kind};
    for (size_t i = 0; sbps_kind_at("models", i, &kind); i++)
        if (!strcmp(kind.name, model)) return kind.needs_table;
    return true;
}

/* Checks that there is data if and only if the model needs it. */
static sbps_status check_data(const char *who, const char *model, const char *data,
                              sbps_error *err)
{
    if (needs_table(model) && !data)
        return set_error(
            err, SBPS_BAD_ARG,
            "%s: the data file is missing; usage: sbps %s DATA --model %s --target COLUMN", who,
            who, *model ? model : "NAME");
    if (!needs_table(model) && data && !strcmp(model, "gaussian"))
        return set_error(err, SBPS_BAD_ARG,
                         "%s: model gaussian is a density without data; did you mean --family "
                         "gaussian, the linear regression of '%s'?",
                         who, data);
    if (!needs_table(model) && data)
        return set_error(
            err, SBPS_BAD_ARG,
            "%s: model %s is a density without data; usage: sbps %s --model %s, without '%s'",
            who, model, who, model, data);
    return SBPS_OK;
}

bool inputs_generated(const sbps_options *options)
{
    return strcmp(sbps_options_get(options, "generate"), "0") != 0;
}

sbps_status inputs_check(const char *who, const sbps_options *options, const char *data,
                         sbps_error *err)
{
    const char *model = sbps_options_get(options, "model");
    if (inputs_generated(options) && *model)
        return data ? set_error(err, SBPS_BAD_ARG,
                                "%s: --generate makes the rows: omit either it or '%.200s'",
                                who, data)
                    : inputs_check_kind(options, "model", "models", err);
    if (!*model && data) return SBPS_OK; /* the library chooses a family by the target */
    sbps_status status = check_data(who, model, data, err);
    return status == SBPS_OK ? inputs_check_kind(options, "model", "models", err) : status;
}

void inputs_report(const char *data, const sbps_table *table)
{
    const char *notes = sbps_table_notes(table);
    int label = (int)strcspn(data, "\n");
    for (size_t length; *notes; notes += length + (notes[length] == '\n')) {
        length = strcspn(notes, "\n");
        print_message("%.*s%s: %.*s", label, data, data[label] ? ", ..." : "", (int)length,
                      notes);
    }
}

/* State of the callback below. */
typedef struct {
    status_line *shown;
    double bytes;
} reading;

/* Called by the library with the fraction of the file that is read. */
static bool report_reading(void *self, const char *stage, size_t row_count, double share)
{
    const reading *r = self;
    (void)stage, (void)row_count;
    status_line_bytes(r->shown, share * r->bytes, r->bytes);
    return true;
}

double file_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? (double)about.st_size : NAN;
}

/* An empty table for a density; several ranks would have nothing to divide. */
static sbps_status open_none(const sbps_ranks *ranks, sbps_table **out, sbps_error *err)
{
    if (sbps_ranks_size(ranks) == 1) return sbps_table_none(out, err);
    err->status = SBPS_BAD_ARG;
    snprintf(
        err->text, sizeof err->text,
        "a density without a table has no rows to divide among %zu ranks: start one process",
        sbps_ranks_size(ranks));
    return SBPS_BAD_ARG;
}

sbps_status inputs_open(sbps_ranks *ranks, const char *data, const sbps_options *options,
                        status_line *shown, sbps_table **out, sbps_error *err)
{
    reading r = {shown, data ? file_bytes(data) : NAN};
    sbps_reading how = {.struct_size = sizeof how, .ranks = ranks};
    if (!data && inputs_generated(options))
        return sbps_table_read(NULL, options, &how, out, err);
    if (!data) return open_none(ranks, out, err);
    interrupt_mapped(data);
    how.watch = report_reading;
    how.self = &r;
    sbps_status status = sbps_table_read(data, options, &how, out, err);
    if (status == SBPS_OK) inputs_report(data, *out);
    return status;
}

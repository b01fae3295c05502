/* Options by name, families, config files, models passed as functions. The table of options is
 * in option_table.c: no function here knows a particular option, except --family, --model and
 * --config. Values are checked one by one when they are set; what depends on several options is
 * checked where they are used. */
#include "inference/options/options.h"
#include "core/printable.h"
#include "inference/options/option_table.h"
#include "model/likelihood/model_kinds.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- families ----
 *
 * The first line of a family is its default link. R's default for Gamma is 1/mean, which allows
 * negative means; here it is the logarithm. */

#define NAME_SIZE    48 /* bytes of the name of a family or link; longer ones are unknown */
#define FAMILIES_MAX 32 /* families, or links of one */

/* A family and link of R, rstanarm or brms, and the model it stands for. The lines of a family
 * are neighbours, its default link first. */
typedef struct {
    const char *name, *link, *model;
} family_line;

static const family_line family_lines[] = {
    {"gaussian", "identity", "linear"},
    {"linear", "identity", "linear"},
    {"student", "identity", "student_t"},
    {"student_t", "identity", "student_t"},
    {"bernoulli", "logit", "logistic"},
    {"bernoulli", "probit", "probit"},
    {"logistic", "logit", "logistic"},
    {"binomial", "logit", "binomial"},
    {"binomial", "probit", "probit"},
    {"probit", "probit", "probit"},
    {"categorical", "logit", "categorical"},
    {"multinomial", "logit", "categorical"},
    {"softmax", "logit", "softmax"},
    {"cumulative", "logit", "ordinal"},
    {"ordinal", "logit", "ordinal"},
    {"poisson", "log", "poisson"},
    {"zero_inflated_poisson", "log", "zero_inflated_poisson"},
    {"negbinomial", "log", "negative_binomial"},
    {"negative_binomial", "log", "negative_binomial"},
    {"neg_binomial_2", "log", "negative_binomial"},
    {"nbinom2", "log", "negative_binomial"},
    {"Gamma", "log", "gamma"},
    {"gamma", "log", "gamma"},
    {"Beta", "logit", "beta"},
    {"beta", "logit", "beta"},
};
#define FAMILY_LINES (sizeof family_lines / sizeof *family_lines)

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

/* Copies a word of letters, digits and underscores; returns the position after it. */
static const char *take_identifier(const char *at, char identifier[NAME_SIZE])
{
    size_t length = 0;
    at = skip_blanks(at);
    while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
    snprintf(identifier, NAME_SIZE, "%.*s", length < NAME_SIZE ? (int)length : NAME_SIZE - 1,
             at);
    return skip_blanks(at + length);
}

/* Reads "probit)", "link = probit)" or the same in quotes, to the end of the text. */
static bool take_link(const char *at, char link[NAME_SIZE])
{
    const char *after = take_identifier(at, link);
    if (!strcmp(link, "link") && *after == '=') at = skip_blanks(after + 1);
    char quote = *at == '"' || *at == '\'' ? *at : '\0';
    at = take_identifier(at + (quote != '\0'), link);
    if (quote && *at++ != quote) return false;
    at = skip_blanks(at);
    return *link && *at == ')' && !*skip_blanks(at + 1);
}

const char *family_at(size_t index, const char **model)
{
    for (size_t i = 0; i < FAMILY_LINES; i++) {
        if (i > 0 && !strcmp(family_lines[i].name, family_lines[i - 1].name)) continue;
        if (index-- > 0) continue;
        *model = family_lines[i].model;
        return family_lines[i].name;
    }
    return NULL;
}

/* Fails, suggesting the nearest family. */
static sbps_status unknown_family(const char *label, const char *text, const char *name,
                                  sbps_error *err)
{
    const char *names[FAMILIES_MAX], *model;
    size_t count = 0;
    while ((names[count] = family_at(count, &model))) count++;
    return fail(err, SBPS_BAD_ARG, "%s: there is no family '%s'%s", label,
                show_name(*name ? name : text).text, nearest_or_all(name, names, count).text);
}

/* Fails, listing the links of the family. */
static sbps_status unknown_link(const char *label, const char *name, const char *link,
                                sbps_error *err)
{
    const char *links[FAMILIES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < FAMILY_LINES; i++)
        if (!strcmp(family_lines[i].name, name)) links[count++] = family_lines[i].link;
    return fail(err, SBPS_BAD_ARG, "%s: family %s has no link '%s'%s", label, name, link,
                nearest_or_all(link, links, count).text);
}

/* The model, a constant, of a family as R writes it: "gaussian", "binomial(probit)" or
 * "binomial(link = \"probit\")". `label` begins the error message. */
static sbps_status family_model(const char *label, const char *text, const char **model,
                                sbps_error *err)
{
    char name[NAME_SIZE], link[NAME_SIZE] = "";
    const char *rest = take_identifier(text, name);
    bool known = false;
    if (*rest && (*rest != '(' || !take_link(rest + 1, link)))
        return fail(err, SBPS_BAD_ARG, "%s: '%s': expected a family, or family(link)", label,
                    show_name(text).text);
    for (size_t i = 0; i < FAMILY_LINES; i++) {
        if (strcmp(family_lines[i].name, name)) continue;
        known = true;
        if (*link && strcmp(family_lines[i].link, link)) continue;
        *model = family_lines[i].model;
        return SBPS_OK;
    }
    return known ? unknown_link(label, name, link, err)
                 : unknown_family(label, text, name, err);
}

#define LABEL_SIZE 64

/* Fails and suggests the nearest name. */
static sbps_status option_unknown(const char *label, const char *name, sbps_error *err)
{
    const char *names[OPTION_MAX];
    size_t count = option_count();
    for (size_t i = 0; i < count; i++) names[i] = option_at(i).name;
    return fail(err, SBPS_BAD_ARG, "%sunknown option '%s'%s", label, name,
                did_you_mean(",", name, names, count).text);
}

/* The member of the struct that the line of the table describes. */
static void *field_of(sbps_options *options, const option_spec *spec)
{
    return (char *)options + spec->field;
}

/* The model of --family, into *model; NULL if no family is given. Fails if it differs from
 * --model. */
static sbps_status resolve_model(const sbps_options *options, const option_spec *spec,
                                 const char *label, const char *text, const char **model,
                                 sbps_error *err)
{
    bool is_family = !strcmp(spec->name, "family"), is_model = !strcmp(spec->name, "model");
    const char *family = is_family ? text : options->family;
    const char *given = option_given(options, "model") ? options->model : "";
    *model = NULL;
    if ((!is_family && !is_model) || !family || !*family) return SBPS_OK;
    if (is_model) given = text;
    sbps_status status = family_model(label, family, model, err);
    if (status != SBPS_OK || !*given || !strcmp(given, *model)) return status;
    return fail(err, SBPS_BAD_ARG, "%s: family %s is model %s, but --model is %s", label,
                family, *model, given);
}

/* Parses `text` into the member of `options` and marks the option as given. --family also sets
 * the model. */
static sbps_status option_store(sbps_options *options, size_t index, const char *label,
                                const char *text, sbps_error *err)
{
    const option_spec spec = option_at(index);
    const char *model;
    sbps_status status = resolve_model(options, &spec, label, text, &model, err);
    if (status != SBPS_OK) return status;
    status = spec.type->parse(&spec, label, text, field_of(options, &spec), err);
    if (status != SBPS_OK) return status;
    options->given[index] = true;
    if (model || !strcmp(spec.name, "model")) options->function = (sbps_model_function){0};
    if (!model) return SBPS_OK;
    const option_spec other = option_at(option_find("model"));
    return other.type->parse(&other, label, model, field_of(options, &other), err);
}

/* Sets all options to their defaults. */
static sbps_status set_defaults(sbps_options *options, sbps_error *err)
{
    size_t count = option_count();
    for (size_t i = 0; i < count; i++) {
        const option_spec spec = option_at(i);
        if (!*spec.fallback) continue;
        sbps_status status =
            spec.type->parse(&spec, spec.name, spec.fallback, field_of(options, &spec), err);
        if (status != SBPS_OK) return status;
    }
    return SBPS_OK;
}

sbps_status options_create(sbps_options **out, sbps_error *err)
{
    sbps_status status;
    size_t count = option_count();
    *out = NULL;
    /* with room for a prior per auxiliary parameter, which are fewer than options */
    sbps_options *options = calloc(1, sizeof *options + count * sizeof *options->prior_of);
    if (!options) return fail_memory(err);
    options->given = calloc(count, sizeof *options->given);
    options->number = calloc(count, sizeof *options->number);
    status = options->given && options->number ? set_defaults(options, err) : fail_memory(err);
    if (status == SBPS_OK)
        *out = options;
    else
        options_destroy(options);
    return status;
}

sbps_status options_set(sbps_options *options, const char *name, const char *value,
                        sbps_error *err)
{
    size_t index = option_find(name);
    if (index == option_count()) return option_unknown("", name, err);
    char label[LABEL_SIZE];
    snprintf(label, sizeof label, "--%s", name);
    if (!value && option_at(index).argument)
        return fail(err, SBPS_BAD_ARG, "%s: a value is missing: expected %s", label,
                    option_at(index).argument);
    return option_store(options, index, label, value ? value : "true", err);
}

/* True if the option's member is an allocated text. */
static bool owns_text(const option_spec *spec)
{
    return spec->type == &option_text_type || spec->type == &option_choice_type;
}

/* Numbers are printed into a buffer per option, so that the texts of several options can be
 * used at the same time. */
const char *options_get(const sbps_options *options, const char *name)
{
    size_t index = option_find(name);
    if (index == option_count()) return NULL;
    const option_spec spec = option_at(index);
    const void *field = (const char *)options + spec.field;
    if (owns_text(&spec)) {
        const char *text = *(char *const *)field;
        return text ? text : "";
    }
    spec.type->print(&spec, field, sizeof options->number[index], options->number[index]);
    return options->number[index];
}

void options_destroy(sbps_options *options)
{
    if (!options) return;
    size_t count = option_count();
    for (size_t i = 0; i < count; i++) {
        const option_spec spec = option_at(i);
        if (owns_text(&spec)) free(*(char **)field_of(options, &spec));
    }
    free(options->number);
    free(options->given);
    free(options);
}

bool option_text(const sbps_options *options, size_t index, const char **name,
                 bool *affects_path, size_t size, char *text)
{
    if (index >= option_count()) return false;
    const option_spec spec = option_at(index);
    *name = spec.name;
    *affects_path = spec.affects_path;
    spec.type->print(&spec, (const char *)options + spec.field, size, text);
    return true;
}

bool is_auto(const char *text)
{
    return !text || !strcmp(text, "auto");
}

bool option_given(const sbps_options *options, const char *name)
{
    size_t index = option_find(name);
    return index < option_count() && options->given[index];
}

sbps_status options_copy(const sbps_options *from, sbps_options **out, sbps_error *err)
{
    sbps_status status = options_create(out, err);
    size_t count = option_count();
    for (size_t i = 0; status == SBPS_OK && i < count; i++) {
        const char *name = option_at(i).name;
        if (option_given(from, name))
            status = options_set(*out, name, options_get(from, name), err);
    }
    if (status == SBPS_OK) (*out)->function = from->function;
    return status;
}

/* ---- config files: one `name = value` per line ----
 *
 *   # comment            to the end of the line, outside quotes
 *   band = 4.5
 *   target = "late #2"   quotes, single or double, protect blanks and #
 *   standardize = true
 *
 * Options given before the file is read take precedence; the file's values are checked all the
 * same. */

#define FILE_LABEL_SIZE 300     /* bytes of "FILE:LINE: NAME" */
#define LINE_SIZE       65536   /* bytes of a line; longer ones are refused */
#define FILE_LINES_MAX  1000000 /* lines; devices have no end */

/* A config file being read. */
typedef struct {
    sbps_options *options;
    const char *path;
    size_t line;
    unsigned char before[OPTION_MAX]; /* given before the file was opened */
    size_t seen[OPTION_MAX];          /* line that set it; 0: none */
} reader;

static char *skip_space(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    return text;
}

static void trim_end(char *text)
{
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
}

/* True if only blanks and a comment follow. */
static bool is_rest_empty(char *text)
{
    text = skip_space(text);
    return !*text || *text == '#';
}

/* Removes quotes or a comment in place; NULL: a quote is not closed, or text follows it. */
static char *take_value(char *text)
{
    text = skip_space(text);
    if (*text == '"' || *text == '\'') {
        char *close = strchr(text + 1, *text);
        if (!close || !is_rest_empty(close + 1)) return NULL;
        *close = '\0';
        return text + 1;
    }
    text[strcspn(text, "#")] = '\0';
    trim_end(text);
    return text;
}

/* Sets one option of the file. */
static sbps_status take_option(reader *r, const char *name, const char *value, sbps_error *err)
{
    char label[FILE_LABEL_SIZE];
    snprintf(label, sizeof label, "%.200s:%zu: ", r->path, r->line);
    size_t index = option_find(name);
    if (index == option_count()) return option_unknown(label, name, err);
    if (!strcmp(name, "config"))
        return fail(err, SBPS_BAD_ARG, "%sa config file cannot include another one", label);
    if (r->seen[index])
        return fail(err, SBPS_BAD_ARG, "%s'%s' was already set on line %zu", label, name,
                    r->seen[index]);
    if (!strcmp(name, "model") && strchr(value, '/'))
        return fail(err, SBPS_BAD_ARG,
                    "%sa config file cannot load code: use --model %.80s on the command line",
                    label, value);
    r->seen[index] = r->line;
    snprintf(label, sizeof label, "%.200s:%zu: %s", r->path, r->line, name);
    const option_spec spec = option_at(index);
    if (r->before[index]) return spec.type->parse(&spec, label, value, NULL, err);
    return option_store(r->options, index, label, value, err);
}

/* Parses a line of the file. */
static sbps_status take_line(reader *r, char *line, sbps_error *err)
{
    char *name = skip_space(line);
    if (is_rest_empty(name)) return SBPS_OK;
    char *equals = strchr(name, '=');
    if (!equals || equals == name)
        return fail(err, SBPS_BAD_ARG, "%s:%zu: expected `name = value`", r->path, r->line);
    *equals = '\0';
    trim_end(name);
    char *value = take_value(equals + 1);
    if (!value)
        return fail(err, SBPS_BAD_ARG, "%s:%zu: %s: a quote is not closed, or text follows it",
                    r->path, r->line, name);
    return take_option(r, name, value, err);
}

/* Reads the next line without its end; *ended: it is the last. Endless files such as devices
 * are refused before they fill the memory. */
static sbps_status read_line(const reader *r, FILE *file, char line[LINE_SIZE], bool *ended,
                             sbps_error *err)
{
    size_t length = 0;
    int c;
    while ((c = getc(file)) != EOF && c != '\n') {
        if (c == '\0')
            return fail(err, SBPS_BAD_FILE,
                        "%s:%zu: contains a zero byte: is this a text file?", r->path, r->line);
        if (length == LINE_SIZE - 1 || r->line > FILE_LINES_MAX)
            return fail(err, SBPS_BAD_FILE, "%s:%zu: too long: is this a text file?", r->path,
                        r->line);
        line[length++] = (char)c;
    }
    line[length] = '\0';
    *ended = c == EOF;
    if (ferror(file)) return fail(err, SBPS_NO_FILE, "%s: %s", r->path, strerror(errno));
    return SBPS_OK;
}

sbps_status options_read(sbps_options *options, const char *path, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    bool ended = false;
    reader r = {.options = options, .path = path};
    memcpy(r.before, options->given, option_count());
    char *line = malloc(LINE_SIZE); /* too large for a small stack */
    if (!line) return fail_memory(err);
    FILE *file = fopen(path, "r");
    if (!file) {
        free(line);
        return fail(err, SBPS_NO_FILE, "%s: %s", path, strerror(errno));
    }
    errno = 0;
    while (status == SBPS_OK && !ended) {
        r.line++;
        status = read_line(&r, file, line, &ended, err);
        if (status == SBPS_OK) status = take_line(&r, line, err);
    }
    fclose(file);
    free(line);
    return status;
}

/* ---- models passed as functions ----
 *
 * The option --model is then "function" or "function NAME", which no listed model is called. */

#define FUNCTION "function"

/* Refuses a struct of another version, or without required members. */
static sbps_status check_function(const sbps_model_function *model, sbps_error *err)
{
    if (model->struct_size < offsetof(sbps_model_function, dim))
        return fail(err, SBPS_BAD_ARG,
                    "the model's struct_size is %zu: expected sizeof(sbps_model_function)",
                    model->struct_size);
    if (model->struct_size > sizeof *model)
        return fail(err, SBPS_BAD_ARG,
                    "the model's struct_size is %zu, but this library supports %zu bytes: the "
                    "model was compiled for a later version",
                    model->struct_size, sizeof *model);
    if (!model->rows) return fail(err, SBPS_BAD_ARG, "the model has no function `rows`");
    if (model->name && strchr(model->name, '/'))
        return fail(err, SBPS_BAD_ARG,
                    "the model's name '%s' contains a slash, which is reserved for files",
                    model->name);
    return SBPS_OK;
}

/* Refuses members per parameter that do not match dim. */
static sbps_status check_names(const sbps_model_function *model, sbps_error *err)
{
    if (model->dim == 0 && (model->names || model->start || model->prior_sd))
        return fail(err, SBPS_BAD_ARG,
                    "the model has names, start or prior_sd per parameter, but its dim is 0: "
                    "set the number of parameters");
    for (size_t j = 0; model->names && j < model->dim; j++)
        if (!model->names[j] || !*model->names[j])
            return fail(err, SBPS_BAD_ARG, "parameter %zu of the model has no name", j + 1);
    return SBPS_OK;
}

sbps_status options_set_model(sbps_options *options, const sbps_model_function *model,
                              sbps_error *err)
{
    sbps_status status = check_function(model, err);
    if (status != SBPS_OK) return status;
    sbps_model_function own = {0}; /* `model` may be of an older version, and shorter */
    memcpy(&own, model, model->struct_size);
    if ((status = check_names(&own, err)) != SBPS_OK) return status;
    const char *name = own.name ? own.name : "";
    size_t size = sizeof FUNCTION + 1 + strlen(name);
    char *full_name = malloc(size);
    if (!full_name) return fail_memory(err);
    snprintf(full_name, size, *name ? "%s %s" : "%s%s", FUNCTION, name);
    status = options_set(options, "model", full_name, err);
    free(full_name);
    if (status == SBPS_OK) options->function = own;
    return status;
}

const model_kind *options_model(const sbps_options *options)
{
    if (options->function.rows) return &model_function;
    return options->model && *options->model ? model_find(options->model) : NULL;
}

/* Options set, read and told by name. The table is in option_table.c, what a value may be in
 * option_types.c. */
#include "core/printable.h"
#include "inference/options/family.h"
#include "inference/options/option_spec.h"
#include <stdlib.h>
#include <string.h>

#define LABEL_SIZE 64

sbps_status option_unknown(const char *label, const char *name, sbps_error *err)
{
    const char *names[OPTION_MAX];
    size_t count = option_count();
    for (size_t i = 0; i < count; i++) names[i] = option_at(i).name;
    return fail(err, SBPS_BAD_ARG, "%sunknown option '%s'%s", label, name,
                did_you_mean(",", name, names, count).text);
}

static void *field_of(sbps_options *options, const option_spec *spec)
{
    return (char *)options + spec->field;
}

/* A family names the model, as does --model; where both are given they must agree. *model is NULL where no family is. */
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
    return fail(err, SBPS_BAD_ARG, "%s: family %s is model %s, and --model says %s", label,
                family, *model, given);
}

sbps_status option_store(sbps_options *options, size_t index, const char *label,
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
    /* with a slot for every auxiliary, of which there are fewer than options */
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
        return fail(err, SBPS_BAD_ARG, "%s: a value is missing: want %s", label,
                    option_at(index).argument);
    return option_store(options, index, label, value ? value : "true", err);
}

static bool owns_text(const option_spec *spec)
{
    return spec->type == &option_text_type || spec->type == &option_choice_type;
}

/* Numbers are printed into a slot of their own, so that the texts of several options can be
 * held side by side. */
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

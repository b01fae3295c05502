/* Options for a caller. */
#include "api/arguments.h"
#include "core/decimal.h"
#include "inference/options/option_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t sbps_option_count(void)
{
    return option_count();
}

sbps_option_info sbps_option_at(size_t index)
{
    if (index >= option_count()) return (sbps_option_info){0};
    const option_spec spec = option_at(index);
    return (sbps_option_info){.name = spec.name,
                              .argument = spec.argument,
                              .fallback = spec.fallback,
                              .group = spec.group,
                              .help = spec.help};
}

bool sbps_option_serves(size_t index, const char *command)
{
    if (index >= option_count() || !command) return false;
    const option_spec spec = option_at(index);
    if (!strcmp(command, "sample")) return !spec.not_for_sample;
    return spec.for_mode && (!strcmp(command, "map") || !strcmp(command, "laplace"));
}

sbps_file_use sbps_option_file(size_t index)
{
    return index < option_count() ? option_at(index).file : SBPS_FILE_NONE;
}

sbps_status sbps_options_create(sbps_options **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    return options_create(out, err);
}

sbps_status sbps_options_set(sbps_options *options, const char *name, const char *value,
                             sbps_error *err)
{
    REQUIRE(options);
    REQUIRE(name);
    return options_set(options, name, value, err);
}

sbps_status sbps_options_set_real(sbps_options *options, const char *name, double value,
                                  sbps_error *err)
{
    char text[64];
    decimal_print(text, sizeof text, "%.17g", value);
    return sbps_options_set(options, name, text, err);
}

sbps_status sbps_options_set_size(sbps_options *options, const char *name, uint64_t value,
                                  sbps_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return sbps_options_set(options, name, text, err);
}

sbps_status sbps_options_set_switch(sbps_options *options, const char *name, bool on,
                                    sbps_error *err)
{
    return sbps_options_set(options, name, on ? "true" : "false", err);
}

sbps_status sbps_options_set_model(sbps_options *options, const sbps_model_function *model,
                                   sbps_error *err)
{
    REQUIRE(options);
    REQUIRE(model);
    return options_set_model(options, model, err);
}

const char *sbps_options_get(const sbps_options *options, const char *name)
{
    return options && name ? options_get(options, name) : NULL;
}

sbps_status sbps_options_read(sbps_options *options, const char *path, sbps_error *err)
{
    REQUIRE(options);
    REQUIRE(path);
    return options_read(options, path, err);
}

void sbps_options_destroy(sbps_options *options)
{
    options_destroy(options);
}

/* Format strings of Arrow's C data interface. One that is not known here is told by what it begins with. */
#include "ingest/memory/arrow_schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL_DIGITS 38 /* of 128 bits */

typedef struct {
    const char *format;
    const field_kind *kind;
    const value_kind *value;
    column_type type;
    double unit;
} arrow_format;

static const arrow_format formats[] = {
    {"n", &field_nothing, NULL, TYPE_NUMBER, 1},
    {"b", &field_bits, NULL, TYPE_TEXT, 1},
    {"c", &field_numbers, &value_int8, TYPE_NUMBER, 1},
    {"C", &field_numbers, &value_uint8, TYPE_NUMBER, 1},
    {"s", &field_numbers, &value_int16, TYPE_NUMBER, 1},
    {"S", &field_numbers, &value_uint16, TYPE_NUMBER, 1},
    {"i", &field_numbers, &value_int32, TYPE_NUMBER, 1},
    {"I", &field_numbers, &value_uint32, TYPE_NUMBER, 1},
    {"l", &field_numbers, &value_int64, TYPE_NUMBER, 1},
    {"L", &field_numbers, &value_uint64, TYPE_NUMBER, 1},
    {"e", &field_numbers, &value_half, TYPE_NUMBER, 1},
    {"f", &field_numbers, &value_float, TYPE_NUMBER, 1},
    {"g", &field_numbers, &value_double, TYPE_NUMBER, 1},
    {"u", &field_texts, NULL, TYPE_TEXT, 1},
    {"U", &field_large_texts, NULL, TYPE_TEXT, 1},
    {"vu", &field_views, NULL, TYPE_TEXT, 1},
    {"tdD", &field_numbers, &value_int32, TYPE_DATE, 1},
    {"tdm", &field_numbers, &value_int64, TYPE_DATE, 86400e3},
    {"tDs", &field_numbers, &value_int64, TYPE_NUMBER, 1},
    {"tDm", &field_numbers, &value_int64, TYPE_NUMBER, 1e3},
    {"tDu", &field_numbers, &value_int64, TYPE_NUMBER, 1e6},
    {"tDn", &field_numbers, &value_int64, TYPE_NUMBER, 1e9},
};

/* The zone behind the colon is how a clock would show it. */
static const arrow_format timestamps[] = {
    {"tss:", &field_numbers, &value_int64, TYPE_TIME, 1},
    {"tsm:", &field_numbers, &value_int64, TYPE_TIME, 1e3},
    {"tsu:", &field_numbers, &value_int64, TYPE_TIME, 1e6},
    {"tsn:", &field_numbers, &value_int64, TYPE_TIME, 1e9},
};

static const struct {
    const char *prefix, *name;
} refusals[] = {
    {"+s", "structures"},
    {"+u", "unions"},
    {"+m", "maps"},
    {"+r", "run-end encoded values"},
    {"+", "lists"},
    {"z", "binary data"},
    {"Z", "binary data"},
    {"vz", "binary data"},
    {"w:", "binary data"},
    {"tt", "times of day"},
    {"ti", "calendar intervals"},
    {"d:", "decimals of other than 1 to 38 digits in 128 bits"},
    {"", "values of an unknown type"},
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const arrow_format *find_format(const char *format)
{
    for (size_t k = 0; k < COUNT(formats); k++)
        if (!strcmp(formats[k].format, format)) return &formats[k];
    for (size_t k = 0; k < COUNT(timestamps); k++)
        if (!strncmp(timestamps[k].format, format, strlen(timestamps[k].format)))
            return &timestamps[k];
    return NULL;
}

static const char *refusal_of(const char *format)
{
    size_t k = 0;
    while (strncmp(refusals[k].prefix, format, strlen(refusals[k].prefix)) != 0) k++;
    return refusals[k].name;
}

/* A whole number of a few digits, so that none overflows; moves *at behind it. */
static bool take_number(const char **at, long *out)
{
    const char *digits = *at + (**at == '-');
    char *end;
    *out = strtol(*at, &end, 10);
    bool taken = *digits >= '0' && *digits <= '9' && end - digits <= 5;
    *at = end;
    return taken;
}

/* d:precision,scale or d:precision,scale,128. */
static bool find_decimal(const char *format, field *out)
{
    long precision, scale, bits = 128;
    const char *at = format + 2;
    if (strncmp(format, "d:", 2) || !take_number(&at, &precision) || *at++ != ',' ||
        !take_number(&at, &scale) || (*at == ',' && (at++, !take_number(&at, &bits))) || *at)
        return false;
    if (precision < 1 || precision > DECIMAL_DIGITS || labs(scale) > DECIMAL_DIGITS ||
        bits != 128)
        return false;
    *out = (field){.kind = &field_numbers,
                   .type = TYPE_NUMBER,
                   .value = &value_decimal,
                   .unit = pow(10.0, (double)scale)};
    return true;
}

/* The kind of the values; the reason why there is none, or NULL. */
static const char *describe_values(const char *format, field *out)
{
    const arrow_format *known = find_format(format);
    *out = (field){.kind = &field_nothing, .type = TYPE_NUMBER, .unit = 1.0};
    if (!known) return find_decimal(format, out) ? NULL : refusal_of(format);
    *out = (field){
        .kind = known->kind, .type = known->type, .value = known->value, .unit = known->unit};
    return NULL;
}

void arrow_describe(const struct ArrowSchema *schema, arrow_column *column, field_about *about)
{
    const struct ArrowSchema *list = schema->dictionary;
    *column = (arrow_column){.coded = list != NULL};
    *about = (field_about){.name = schema->name};
    about->refused = describe_values(schema->format, &column->model);
    if (list) {
        const value_kind *codes = column->model.value;
        about->refused = list->dictionary ? "dictionaries of dictionaries"
                         : codes          ? describe_values(list->format, &column->levels)
                                          : "codes that are no numbers";
        about->ordered = schema->flags & ARROW_FLAG_DICTIONARY_ORDERED;
        column->model = (field){
            .kind = &field_coded, .type = column->levels.type, .value = codes, .unit = 1.0};
    }
    about->type = column->model.type;
}

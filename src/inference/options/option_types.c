/* The five types of option value: text, choice, real, size, switch.
 *
 * Every sentence has the form "label: what is wrong: what is wanted", so that a user can mend
 * the value without opening the manual. */
#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "inference/options/option_spec.h"
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WANT_SIZE   128
#define CHOICES_MAX 8

/* A seed (uint64_t) is parsed as a size. */
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes have 64 bits");

/* ---- text ---- */

static sbps_status store_copy(const char *text, void *field, sbps_error *err)
{
    if (!field) return SBPS_OK;
    char **slot = field;
    char *copy = copy_text(text);
    if (!copy) return fail_memory(err);
    free(*slot);
    *slot = copy;
    return SBPS_OK;
}

static sbps_status text_parse(const option_spec *spec, const char *label, const char *text,
                              void *field, sbps_error *err)
{
    if (!*text)
        return fail(err, SBPS_BAD_ARG, "%s: the value is empty: want %s", label,
                    spec->argument);
    return store_copy(text, field, err);
}

static void text_print(const option_spec *spec, const void *field, size_t size, char *text)
{
    (void)spec;
    const char *value = *(char *const *)field;
    snprintf(text, size, "%s", value ? value : "");
}

const option_type option_text_type = {.parse = text_parse, .print = text_print};

/* ---- choice: the words stand in `argument`, split by | ---- */

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *item = choices; item;
         item = strchr(item, '|') ? strchr(item, '|') + 1 : NULL)
        if (strcspn(item, "|") == length && !strncmp(item, text, length)) return true;
    return false;
}

/* Fails with the nearest of the words, when one is near. */
static sbps_status choice_unknown(const option_spec *spec, const char *label, const char *text,
                                  sbps_error *err)
{
    char choices[WANT_SIZE], *rest = NULL;
    const char *names[CHOICES_MAX];
    size_t count = 0;
    snprintf(choices, sizeof choices, "%s", spec->argument);
    for (char *w = strtok_r(choices, "|", &rest); w && count < CHOICES_MAX;
         w = strtok_r(NULL, "|", &rest))
        names[count++] = w;
    name_hint hint = did_you_mean(",", text, names, count);
    return fail(err, SBPS_BAD_ARG, "%s: unknown choice '%s'%s %s %s", label, text,
                *hint.text ? hint.text : ":", *hint.text ? "Want" : "want", spec->argument);
}

static sbps_status choice_parse(const option_spec *spec, const char *label, const char *text,
                                void *field, sbps_error *err)
{
    if (!is_choice(spec->argument, text)) return choice_unknown(spec, label, text, err);
    return store_copy(text, field, err);
}

const option_type option_choice_type = {.parse = choice_parse, .print = text_print};

/* ---- real ---- */

static bool is_auto_text(const option_spec *spec, const char *text)
{
    return spec->auto_text && !strcmp(text, spec->auto_text);
}

/* "0 < K <= 100 or auto" */
static void real_want(const option_spec *spec, char want[WANT_SIZE])
{
    const char * or = spec->auto_text ? " or " : "",
                 *auto_text = spec->auto_text ? spec->auto_text : "";
    const char *name = spec->argument;
    if (spec->high >= DBL_MAX)
        decimal_print(want, WANT_SIZE, "%s %s %g%s%s", name, spec->closed ? ">=" : ">",
                      spec->low, or, auto_text);
    else
        decimal_print(want, WANT_SIZE, "%g %s %s <= %g%s%s", spec->low,
                      spec->closed ? "<=" : "<", name, spec->high, or, auto_text);
}

/* A decimal number, whole: neither blanks around it nor 0x10, which strtod would take. */
static bool read_decimal(const char *text, double *value)
{
    char *end;
    size_t sign = *text == '-' || *text == '+';
    if (isspace((unsigned char)*text) || !strncasecmp(text + sign, "0x", 2)) return false;
    *value = decimal_read(text, &end);
    return end != text && !*end && !isnan(*value);
}

static sbps_status real_parse(const option_spec *spec, const char *label, const char *text,
                              void *field, sbps_error *err)
{
    double *slot = field;
    if (is_auto_text(spec, text)) {
        if (slot) *slot = REAL_AUTO;
        return SBPS_OK;
    }
    char want[WANT_SIZE];
    double value;
    real_want(spec, want);
    if (!read_decimal(text, &value))
        return fail(err, SBPS_BAD_ARG, "%s: '%s' is not a number: want %s", label, text, want);
    bool above = spec->closed ? value >= spec->low : value > spec->low;
    if (!above || value > spec->high)
        return fail(err, SBPS_BAD_ARG, "%s: %s is out of range: want %s", label, text, want);
    if (slot) *slot = value;
    return SBPS_OK;
}

/* The shortest text that reads back to the same bits. */
static void real_print(const option_spec *spec, const void *field, size_t size, char *text)
{
    double value = *(const double *)field;
    char digits[32];
    if (isnan(value)) {
        snprintf(text, size, "%s", spec->auto_text ? spec->auto_text : "nan");
        return;
    }
    for (int precision = 6; precision <= 17; precision++) {
        decimal_print(digits, sizeof digits, "%.*g", precision, value);
        if (decimal_read(digits, NULL) == value) break;
    }
    snprintf(text, size, "%s", digits);
}

const option_type option_real_type = {.parse = real_parse, .print = real_print};

/* ---- size ---- */

static void size_want(const option_spec *spec, char want[WANT_SIZE])
{
    const char * or = spec->auto_text ? " or " : "",
                 *auto_text = spec->auto_text ? spec->auto_text : "";
    if (spec->max == SIZE_MAX)
        snprintf(want, WANT_SIZE, "a whole number %s >= %zu%s%s", spec->argument, spec->min, or,
                 auto_text);
    else
        snprintf(want, WANT_SIZE, "a whole number %zu <= %s <= %zu%s%s", spec->min,
                 spec->argument, spec->max, or, auto_text);
}

typedef enum { COUNT_READ, COUNT_NO_NUMBER, COUNT_OUT_OF_RANGE } count_reading;

/* Digits, or a float such as 1e6 that is whole and exact in a double (<= 2^53). */
static count_reading read_count(const char *text, size_t *out)
{
    if (strspn(text, "0123456789") == strlen(text) && *text) {
        errno = 0;
        *out = strtoull(text, NULL, 10);
        return errno == ERANGE ? COUNT_OUT_OF_RANGE : COUNT_READ;
    }
    double value;
    if (!read_decimal(text, &value)) return COUNT_NO_NUMBER;
    if (value < 0 || value > 0x1p53) return COUNT_OUT_OF_RANGE;
    if (value != floor(value)) return COUNT_NO_NUMBER;
    *out = (size_t)value;
    return COUNT_READ;
}

/* Where a word stands for SIZE_AUTO, the number behind it cannot be asked for. */
static size_t largest_size(const option_spec *spec)
{
    return spec->auto_text && spec->max == SIZE_AUTO ? SIZE_AUTO - 1 : spec->max;
}

static sbps_status size_parse(const option_spec *spec, const char *label, const char *text,
                              void *field, sbps_error *err)
{
    size_t value = SIZE_AUTO, *slot = field;
    if (!is_auto_text(spec, text)) {
        char want[WANT_SIZE];
        size_want(spec, want);
        count_reading reading = read_count(text, &value);
        if (reading == COUNT_NO_NUMBER)
            return fail(err, SBPS_BAD_ARG, "%s: '%s' is not a whole number: want %s", label,
                        text, want);
        if (reading == COUNT_OUT_OF_RANGE || value < spec->min || value > largest_size(spec))
            return fail(err, SBPS_BAD_ARG, "%s: %s is out of range: want %s", label, text,
                        want);
    }
    if (slot) *slot = value;
    return SBPS_OK;
}

static void size_print(const option_spec *spec, const void *field, size_t size, char *text)
{
    size_t value = *(const size_t *)field;
    if (value == SIZE_AUTO && spec->auto_text)
        snprintf(text, size, "%s", spec->auto_text);
    else
        snprintf(text, size, "%zu", value);
}

const option_type option_size_type = {.parse = size_parse, .print = size_print};

/* ---- switch ---- */

static sbps_status switch_parse(const option_spec *spec, const char *label, const char *text,
                                void *field, sbps_error *err)
{
    (void)spec;
    bool on = !strcmp(text, "true"), *slot = field;
    if (!on && strcmp(text, "false"))
        return fail(err, SBPS_BAD_ARG, "%s: '%s' is neither true nor false", label, text);
    if (slot) *slot = on;
    return SBPS_OK;
}

static void switch_print(const option_spec *spec, const void *field, size_t size, char *text)
{
    (void)spec;
    snprintf(text, size, "%s", *(const bool *)field ? "true" : "false");
}

const option_type option_switch_type = {.parse = switch_parse, .print = switch_print};

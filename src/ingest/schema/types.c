/* Types of columns. They only ever grow,
 *
 *   unknown < number < decimal < text,   unknown < date < time < text,
 *
 * so that reading once more whenever a cell contradicts ends, and ends with the same types wherever it was
 * that the cells were met. */
#include "ingest/schema/types.h"

#include "ingest/schema/dates.h"
#include "ingest/schema/number.h"
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES_MAX 40 /* bytes, where it is looked at twice */

sbps_status column_types_fit(column_types *t, size_t count, const char *path, sbps_error *err)
{
    if (t->of)
        return t->count == count
                   ? SBPS_OK
                   : fail(err, SBPS_BAD_FILE, "%s:1: %zu columns, where there were %zu before",
                          path, count, t->count);
    t->of = calloc(count + 1, sizeof *t->of);
    t->line = calloc(count + 1, sizeof *t->line);
    t->count = count;
    return t->of && t->line ? SBPS_OK : fail_memory(err);
}

void column_types_clear(column_types *t)
{
    free(t->of);
    free(t->line);
    *t = (column_types){0};
}

static column_type join_types(column_type a, column_type b)
{
    if (a == b || b == TYPE_UNKNOWN) return a;
    if (a == TYPE_UNKNOWN) return b;
    column_type low = a < b ? a : b, high = a < b ? b : a;
    bool kin =
        (low == TYPE_DATE && high == TYPE_TIME) || (low == TYPE_NUMBER && high == TYPE_DECIMAL);
    return kin ? high : TYPE_TEXT;
}

bool column_types_join(column_types *t, size_t column, column_type cell, size_t line)
{
    column_type before = t->of[column];
    t->of[column] = join_types(before, cell);
    if (cell != TYPE_NUMBER && t->line[column] == 0) t->line[column] = line;
    return t->of[column] != before;
}

bool column_types_again(column_types *t)
{
    bool again = t->changed;
    t->changed = false;
    return again;
}

/* ---- cells ---- */

static bool is_digit(char c)
{
    return '0' <= c && c <= '9';
}

/* Bytes of the currency sign at `p`; 0: none. */
static size_t currency_length(const char *p, const char *end)
{
    static const char *const signs[] = {"$", "€", "£", "¥", "₹"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i]);
        if ((size_t)(end - p) >= length && memcmp(p, signs[i], length) == 0) return length;
    }
    return 0;
}

/* Whether three digits and then none follow the separator of thousands at `p`. */
static bool is_group(const char *p, const char *end)
{
    if (end - p < 4) return false;
    for (size_t i = 1; i <= 3; i++)
        if (!is_digit(p[i])) return false;
    return end - p == 4 || !is_digit(p[4]);
}

/* Of thousands, by its look; a point is where a comma follows. */
static bool is_separator(const char *p, const char *end)
{
    return *p == '.' ? memchr(p, ',', (size_t)(end - p)) != NULL : strchr(",' _", *p) != NULL;
}

/* The number without what does not belong to it, and what that was. */
static const char *strip(const char *p, const char *end, char *to)
{
    const char *flaw = NULL, *begin = p;
    for (size_t length; p < end; p += length) {
        length = 1;
        size_t currency = currency_length(p, end);
        bool inside = p > begin && is_digit(p[-1]);
        if (currency > 0) {
            flaw = "a currency sign";
            length = currency;
        } else if (*p == '%' && p + 1 == end)
            flaw = "a per cent sign";
        else if (inside && is_separator(p, end) && is_group(p, end))
            flaw = "a separator of thousands";
        else if (inside && *p == ',') {
            flaw = "a decimal comma";
            *to++ = '.';
        } else if (*p != ' ')
            *to++ = *p;
        else if (inside && p + 1 < end && is_digit(p[1]))
            return NULL; /* two numbers */
    }
    *to = '\0';
    return flaw;
}

const char *cell_flaw(const char *begin, const char *end, locale_t c_locale)
{
    char plain[NUMBER_BYTES_MAX + 1];
    double value;
    if (begin == end || (size_t)(end - begin) > NUMBER_BYTES_MAX) return NULL;
    const char *flaw = strip(begin, end, plain);
    const char *stop = flaw ? number_read(plain, c_locale, &value) : NULL;
    return stop && !*stop ? flaw : NULL;
}

bool comma_read(const char *begin, const char *end, locale_t c_locale, double *out)
{
    char plain[NUMBER_BYTES_MAX + 1];
    size_t length = (size_t)(end - begin);
    if (length > NUMBER_BYTES_MAX || memchr(begin, '.', length)) return false;
    memcpy(plain, begin, length);
    plain[length] = '\0';
    char *comma = memchr(plain, ',', length);
    if (comma) *comma = '.';
    return number_read(plain, c_locale, out) == plain + length;
}

column_type cell_type(const char *begin, const char *end, bool comma, locale_t c_locale)
{
    double value;
    if (number_read(begin, c_locale, &value) == end || text_is_infinite(begin, end))
        return TYPE_NUMBER;
    if (comma && comma_read(begin, end, c_locale, &value)) return TYPE_DECIMAL;
    if (date_read(begin, end, &value)) return TYPE_DATE;
    if (time_read(begin, end, &value)) return TYPE_TIME;
    return cell_flaw(begin, end, c_locale) ? TYPE_NUMBER : TYPE_TEXT;
}

/* Types of cells and columns.
 *
 * The types of a column form a lattice; a column's type is the least upper bound of its cells:
 *
 *   unknown < number < decimal < text,   unknown < date < time < text.
 *
 * Types only widen, so reading a file again after every contradicting cell ends. The result
 * does not depend on the order of the cells.
 *
 * The day number of a date in the Gregorian calendar, with years that begin in March so that
 * the leap day is the last day:
 *
 *   365 y + y/4 - y/100 + y/400 + (153 m + 2)/5 + d - 1,   m = 0 for March, integer division.
 * (1) */
#include "ingest/schema/types.h"

#include "core/memory.h"
#include "ingest/schema/column_index.h"
#include "ingest/schema/number.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NUMBER_BYTES_MAX 40 /* longer texts are not checked for currency signs or commas */

sbps_status column_types_fit(column_types *t, size_t count, const char *path, sbps_error *err)
{
    if (t->of)
        return t->count == count ? SBPS_OK
                                 : fail(err, SBPS_BAD_FILE,
                                        "%s:1: found %zu columns, expected %zu as read before",
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

/* Returns the least upper bound of two types. */
static column_type join_types(column_type a, column_type b)
{
    if (a == b || b == TYPE_UNKNOWN) return a;
    if (a == TYPE_UNKNOWN) return b;
    column_type low = a < b ? a : b, high = a < b ? b : a;
    bool ordered =
        (low == TYPE_DATE && high == TYPE_TIME) || (low == TYPE_NUMBER && high == TYPE_DECIMAL);
    return ordered ? high : TYPE_TEXT;
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

/* Returns the bytes of the currency sign at `p`; 0: none. */
static size_t currency_length(const char *p, const char *end)
{
    static const char *const signs[] = {"$", "€", "£", "¥", "₹"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i]);
        if ((size_t)(end - p) >= length && memcmp(p, signs[i], length) == 0) return length;
    }
    return 0;
}

/* Returns whether exactly three digits follow the separator of thousands at `p`. */
static bool is_group(const char *p, const char *end)
{
    if (end - p < 4) return false;
    for (size_t i = 1; i <= 3; i++)
        if (!is_digit(p[i])) return false;
    return end - p == 4 || !is_digit(p[4]);
}

/* Returns whether the byte may separate thousands; a point does if a comma follows later. */
static bool is_separator(const char *p, const char *end)
{
    return *p == '.' ? memchr(p, ',', (size_t)(end - p)) != NULL : strchr(",' _", *p) != NULL;
}

/* Copies the text to `to` without currency signs, separators of thousands and the like. Returns
 * what was removed last, or NULL if nothing was or the text is two numbers. */
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
    /* From the narrowest type to the widest. */
    if (comma && comma_read(begin, end, c_locale, &value)) return TYPE_DECIMAL;
    if (date_read(begin, end, &value)) return TYPE_DATE;
    if (time_read(begin, end, &value)) return TYPE_TIME;
    return cell_flaw(begin, end, c_locale) ? TYPE_NUMBER : TYPE_TEXT;
}

/* ---- dates and times: take_* functions parse at *at and move it on, and return whether they
 * could ---- */

/* Takes exactly `count` digits. */
static bool take_digits(const char **at, const char *end, size_t count, int *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++, ++*at) {
        if (*at == end || !is_digit(**at)) return false;
        *out = 10 * *out + (**at - '0');
    }
    return true;
}

/* Takes one byte. */
static bool take_byte(const char **at, const char *end, char byte)
{
    if (*at == end || **at != byte) return false;
    ++*at;
    return true;
}

/* Returns the number of days of a month, 1 to 12. */
static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Returns the days since 1970-01-01: (1). */
static double day_number(int year, int month, int day)
{
    int y = month > 2 ? year : year - 1, m = (month + 9) % 12;
    const int epoch = 719468; /* (1) for 1970-01-01 */
    return (double)(365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - epoch);
}

/* Takes YYYY-MM-DD or YYYY/MM/DD. */
static bool take_date(const char **at, const char *end, double *days)
{
    int year, month, day;
    if (!take_digits(at, end, 4, &year) || *at == end) return false;
    char separator = **at;
    if ((separator != '-' && separator != '/') || !take_byte(at, end, separator)) return false;
    if (!take_digits(at, end, 2, &month) || !take_byte(at, end, separator)) return false;
    if (!take_digits(at, end, 2, &day)) return false;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return false;
    *days = day_number(year, month, day);
    return true;
}

/* Takes two digits of seconds and their decimals; 60 is a leap second. */
static bool take_seconds(const char **at, const char *end, double *out)
{
    int whole;
    double unit = 1;
    if (!take_digits(at, end, 2, &whole) || whole > 60) return false;
    *out = whole;
    if (!take_byte(at, end, '.')) return true;
    for (; *at < end && is_digit(**at); ++*at) *out += (unit /= 10) * (**at - '0');
    return unit < 1;
}

/* Takes HH:MM or HH:MM:SS with decimals, as seconds since midnight. */
static bool take_clock(const char **at, const char *end, double *seconds)
{
    int hour, minute;
    double rest = 0;
    if (!take_digits(at, end, 2, &hour) || !take_byte(at, end, ':')) return false;
    if (!take_digits(at, end, 2, &minute) || hour > 24 || minute > 59) return false;
    if (take_byte(at, end, ':') && !take_seconds(at, end, &rest)) return false;
    *seconds = 3600.0 * hour + 60.0 * minute + rest;
    return true;
}

/* Takes the offset from UTC, in seconds: nothing, Z, +01, +0100 or +01:00. */
static bool take_zone(const char **at, const char *end, double *seconds)
{
    int hours, minutes = 0;
    *seconds = 0;
    if (*at == end || take_byte(at, end, 'Z')) return true;
    double sign = **at == '-' ? -1 : 1;
    if (!take_byte(at, end, '+') && !take_byte(at, end, '-')) return false;
    if (!take_digits(at, end, 2, &hours)) return false;
    take_byte(at, end, ':');
    if (*at < end && !take_digits(at, end, 2, &minutes)) return false;
    *seconds = sign * (3600.0 * hours + 60.0 * minutes);
    return true;
}

bool date_read(const char *begin, const char *end, double *days)
{
    return take_date(&begin, end, days) && begin == end;
}

bool time_read(const char *begin, const char *end, double *seconds)
{
    double days, clock, zone;
    if (!take_date(&begin, end, &days)) return false;
    if (!take_byte(&begin, end, 'T') && !take_byte(&begin, end, ' ')) return false;
    if (!take_clock(&begin, end, &clock) || !take_zone(&begin, end, &zone)) return false;
    *seconds = DAY_SECONDS * days + clock - zone;
    return begin == end;
}

/* ---- missing cells ---- */

/* Adds a string to the list. */
static sbps_status add_na_string(na_strings *w, const char *string, locale_t c_locale,
                                 sbps_error *err)
{
    char **all = realloc(w->string, (w->count + 1) * sizeof *all);
    if (!all) return fail_memory(err);
    w->string = all;
    if (!(all[w->count] = copy_text(string))) return fail_memory(err);
    w->count++;
    w->begins[(unsigned char)*string] = true;
    if (cell_type(string, string + strlen(string), false, c_locale) == TYPE_NUMBER)
        w->numbers = true;
    return SBPS_OK;
}

sbps_status na_strings_create(const char *list, na_strings *out, sbps_error *err)
{
    *out = (na_strings){0};
    const char *rest = list ? nonblank_text(list) : NA_STRINGS;
    if (!rest) return SBPS_OK;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *string = malloc(strlen(rest) + 1);
    sbps_status status = string && c_locale ? SBPS_OK : fail_memory(err);
    while (status == SBPS_OK && next_in_list(&rest, string))
        if (*string) status = add_na_string(out, string, c_locale, err);
    free(string);
    if (c_locale) freelocale(c_locale);
    return status;
}

void na_strings_clear(na_strings *w)
{
    free_texts(w->string, w->count);
    *w = (na_strings){0};
}

static bool equals_string(const char *begin, size_t length, const char *string)
{
    return strncmp(begin, string, length) == 0 && !string[length];
}

/* Returns whether the text is nan in any case and sign. */
static bool is_nan(const char *begin, size_t length)
{
    size_t sign = *begin == '-' || *begin == '+';
    return length == sign + 3 && strncasecmp(begin + sign, "nan", 3) == 0;
}

bool is_missing(const na_strings *w, const char *begin, const char *end)
{
    size_t length = (size_t)(end - begin);
    if (length == 0 || is_nan(begin, length)) return true;
    if (!w) return equals_string(begin, length, "NA");
    if (!w->begins[(unsigned char)*begin]) return false; /* decides for nearly all cells */
    for (size_t k = 0; k < w->count; k++)
        if (equals_string(begin, length, w->string[k])) return true;
    return false;
}

/* Days from a date of the Gregorian calendar, its year begun in March so that the leap day is the last:
 *
 *   365 y + y/4 - y/100 + y/400 + (153 m + 2)/5 + d - 1,   m = 0 for March. */
#include "ingest/schema/dates.h"

#include <stddef.h>

static bool is_digit(char c)
{
    return '0' <= c && c <= '9';
}

/* `count` digits at *at, which moves behind them. */
static bool take_digits(const char **at, const char *end, size_t count, int *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++, ++*at) {
        if (*at == end || !is_digit(**at)) return false;
        *out = 10 * *out + (**at - '0');
    }
    return true;
}

static bool take_byte(const char **at, const char *end, char byte)
{
    if (*at == end || **at != byte) return false;
    ++*at;
    return true;
}

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

static double day_number(int year, int month, int day)
{
    int y = month > 2 ? year : year - 1, m = (month + 9) % 12;
    const int epoch = 719468; /* of 1970-01-01 */
    return (double)(365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - epoch);
}

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

/* Seconds with their decimals. */
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

/* Nothing, Z, +01, +0100 or +01:00. */
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

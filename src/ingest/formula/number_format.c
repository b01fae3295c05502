/* Numbers as R prints them: fixed notation unless it is wider than scientific notation (scipen
 * = 0). */
#include "ingest/formula/number_format.h"

#include "core/decimal.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the significant digits needed, at most `digits`, and the exponent of the first. */
static int needed_digits(double value, int digits, int *exponent)
{
    char full[40];
    decimal_print(full, sizeof full, "%.*e", digits - 1, value);
    char *e = strchr(full, 'e');
    *exponent = atoi(e + 1);
    int needed = digits;
    for (char *c = e - 1; needed > 1 && *c == '0'; c--) needed--;
    return needed;
}

number_shown number_as_written(double value, int digits)
{
    number_shown s;
    int exponent;
    if (!isfinite(value)) {
        decimal_print(s.text, sizeof s.text, "%s",
                      isnan(value) ? "NaN"
                      : value > 0  ? "Inf"
                                   : "-Inf");
        return s;
    }
    int needed = needed_digits(value, digits, &exponent);
    int decimals = needed - 1 - exponent > 0 ? needed - 1 - exponent : 0;
    int fixed = (exponent >= 0 ? exponent + 1 : 1) + (decimals ? decimals + 1 : 0);
    int scientific = needed + (needed > 1) + (abs(exponent) >= 100 ? 5 : 4);
    if (fixed <= scientific)
        decimal_print(s.text, sizeof s.text, "%.*f", decimals, value);
    else
        decimal_print(s.text, sizeof s.text, "%.*e", needed - 1, value);
    return s;
}

number_shown number_as_level(double value)
{
    number_shown s = number_as_written(value, 15);
    bool whole = value == floor(value) && fabs(value) < 1e18;
    if (whole && decimal_read(s.text, NULL) != value)
        decimal_print(s.text, sizeof s.text, "%.0f", value);
    return s;
}

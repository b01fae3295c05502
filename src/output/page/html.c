/* Text and numbers in HTML. */
#include "output/page/html.h"

#include "core/json.h"
#include "core/printable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The entity of a character with a meaning in HTML; NULL: it has none. */
static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_text(text *t, const char *bytes)
{
    while (*bytes) {
        size_t control, count = utf8_length(bytes, SIZE_MAX);
        const char *escaped = entity(*bytes);
        if (is_control(bytes, &control) && *bytes != '\n') {
            text_bytes(t, "?", 1);
            count = control;
        } else if (escaped)
            text_bytes(t, escaped, strlen(escaped));
        else if (count)
            text_bytes(t, bytes, count);
        else
            text_add(t, "\xef\xbf\xbd");
        bytes += count ? count : 1;
    }
}

void html_measure(text *t, double value)
{
    if (isnan(value))
        text_add(t, "unknown");
    else
        text_add(t, "%.3g", value);
}

void html_count(text *t, double count)
{
    char digits[32];
    if (isnan(count) || fabs(count) >= 1e9) {
        html_measure(t, count);
        return;
    }
    int length = snprintf(digits, sizeof digits, "%.0f", fabs(count));
    if (count < 0.0) text_add(t, "-");
    for (int i = 0; i < length; i++)
        text_add(t, i > 0 && (length - i) % 3 == 0 ? ",%c" : "%c", digits[i]);
}

/* The column of the summary with this name; NULL: none. */
static const column *column_named(const char *name)
{
    size_t k = 0;
    for (const column *c; (c = column_at(k)); k++)
        if (!strcmp(c->name, name)) return c;
    return NULL;
}

void html_cell(text *t, const sbps_parameter *p, const char *column_name)
{
    char cell[GRID_CELL];
    grid_cell(column_named(column_name), p, p->sd, cell);
    text_add(t, "%s", cell);
}

void html_number(text *t, const sbps_parameter *p, const char *column_name)
{
    text_add(t, "<td>");
    html_cell(t, p, column_name);
    text_add(t, "</td>");
}

void html_row_name(text *t, const char *name)
{
    text_add(t, "<th scope=\"row\">");
    html_text(t, name);
    text_add(t, "</th>");
}

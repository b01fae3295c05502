/* Text, numbers and charts in HTML. */
#include "output/page/html.h"

#include "core/json.h"
#include "core/printable.h"

#include <math.h>
#include <stdarg.h>
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

/* ---- charts ----
 *
 * Places are written with one decimal. */

/* The value on the scale of the axis. */
static double on_scale(const axis *a, double value)
{
    return a->unit > 0.0 ? asinh(value / a->unit) : value;
}

double axis_place(const axis *a, double value)
{
    double low = on_scale(a, a->low), high = on_scale(a, a->high);
    double fraction = high > low ? (on_scale(a, value) - low) / (high - low) : 0.5;
    fraction = fmax(-0.05, fmin(1.05, fraction));
    return a->from + fraction * (a->to - a->from);
}

/* Ticks at multiples of a round step; returns their number. */
static size_t linear_ticks(const axis *a, size_t max_ticks, double *ticks)
{
    /* the step: 1, 2 or 5 times a power of ten, so that about max_ticks fit */
    double rough = (a->high - a->low) / (double)(max_ticks > 1 ? max_ticks - 1 : 1),
           power = pow(10.0, floor(log10(rough)));
    double leading = rough / power;
    double step = power * (leading <= 1.0   ? 1.0
                           : leading <= 2.0 ? 2.0
                           : leading <= 5.0 ? 5.0
                                            : 10.0);
    size_t count = 0;
    for (double k = ceil(a->low / step - 1e-9); k * step <= a->high + 1e-9 * step; k++)
        if (count < max_ticks) ticks[count++] = k * step;
    return count;
}

/* Ticks of an asinh scale: 0 and powers of ten on both sides. */
static size_t asinh_ticks(const axis *a, size_t max_ticks, double *ticks)
{
    size_t count = 0;
    double reach = fmax(fabs(a->low), fabs(a->high));
    double first = ceil(log10(a->unit)), last = floor(log10(reach));
    double by = fmax(1.0, ceil(2.0 * (last - first + 1.0) / (double)(max_ticks - 1)));
    for (double k = last; k >= first && count < max_ticks; k -= by)
        if (-pow(10.0, k) >= a->low) ticks[count++] = -pow(10.0, k);
    if (count < max_ticks && a->low <= 0.0 && a->high >= 0.0) ticks[count++] = 0.0;
    for (double k = last; k >= first && count < max_ticks; k -= by)
        if (pow(10.0, k) <= a->high) ticks[count++] = pow(10.0, k);
    return count;
}

size_t axis_ticks(const axis *a, size_t max_ticks, double *ticks)
{
    if (max_ticks > MAX_TICKS) max_ticks = MAX_TICKS;
    if (!(a->high > a->low) || max_ticks < 2) return 0;
    return (a->unit > 0.0 ? asinh_ticks : linear_ticks)(a, max_ticks, ticks);
}

/* Attributes from which the script converts places back to values. */
static void add_scale_attributes(const plot *p, const char *name, const axis *a)
{
    text_add(p->t, " data-%s=\"%.6g %.6g %.6g %.6g\"", name, a->low, a->high, a->from, a->to);
}

void plot_open(const plot *p, const char *kind, const char *format, ...)
{
    text line = {0}, title = {0};
    va_list values;
    va_start(values, format);
    text_add_list(&line, format, values);
    va_end(values);
    html_text(&title, line.data ? line.data : "");
    if (line.failed || title.failed) p->t->failed = true;
    text_free(&line);
    text_add(p->t, "<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\"", kind, p->width,
             p->height);
    add_scale_attributes(p, "x", &p->x);
    add_scale_attributes(p, "y", &p->y);
    text_add(p->t, "><title>%s</title>", title.data ? title.data : "");
    text_free(&title);
}

void plot_close(const plot *p)
{
    text_add(p->t, "</svg>");
}

/* Removes the sign of zero, and rounding errors around it. */
static double without_minus(double x)
{
    return fabs(x) < 1e-12 ? 0.0 : x;
}

void plot_x_axis(const plot *p, size_t max_ticks, const char *label)
{
    double ticks[MAX_TICKS];
    size_t count = axis_ticks(&p->x, max_ticks, ticks);
    text_add(p->t, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f", p->x.from, p->y.from, p->x.to);
    for (size_t i = 0; i < count; i++)
        text_add(p->t, "M%.1f %.1fv3", axis_place(&p->x, ticks[i]), p->y.from);
    text_add(p->t, "\"/>");
    for (size_t i = 0; i < count; i++)
        text_add(p->t, "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">%.5g</text>",
                 axis_place(&p->x, ticks[i]), p->y.from + 13.0, without_minus(ticks[i]));
    if (label)
        text_add(p->t, "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">%s</text>",
                 0.5 * (p->x.from + p->x.to), p->y.from + 26.0, label);
}

void plot_y_axis(const plot *p, size_t max_ticks)
{
    double ticks[MAX_TICKS];
    size_t count = axis_ticks(&p->y, max_ticks, ticks);
    text_add(p->t, "<path class=\"grid\" d=\"");
    for (size_t i = 0; i < count; i++)
        text_add(p->t, "M%.1f %.1fH%.1f", p->x.from, axis_place(&p->y, ticks[i]), p->x.to);
    text_add(p->t, "\"/>");
    for (size_t i = 0; i < count; i++)
        text_add(p->t, "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%.5g</text>", p->x.from - 4.0,
                 axis_place(&p->y, ticks[i]) + 3.5, without_minus(ticks[i]));
}

/* Places of points, separated by spaces. */
static void add_points(const plot *p, size_t count, const double *x, const double *y)
{
    for (size_t i = 0; i < count; i++)
        text_add(p->t, "%s%.1f %.1f", i ? " " : "", axis_place(&p->x, x[i]),
                 axis_place(&p->y, y[i]));
}

void plot_curve(const plot *p, const char *kind, size_t count, const double *x, const double *y)
{
    text_add(p->t, "<path class=\"%s\" d=\"M", kind);
    add_points(p, count, x, y);
    text_add(p->t, "\"/>");
}

void plot_area(const plot *p, const char *kind, size_t count, const double *x, const double *y)
{
    if (count == 0) return;
    text_add(p->t, "<path class=\"%s\" d=\"M", kind);
    add_points(p, count, x, y);
    text_add(p->t, "V%.1fH%.1fz\"/>", p->y.from, axis_place(&p->x, x[0]));
}

/* Dots are lines of length 0 with round ends. */
void plot_dots(const plot *p, const char *kind, size_t count, const double *x, const double *y,
               size_t stride)
{
    text_add(p->t, "<path class=\"%s\" d=\"", kind);
    for (size_t i = 0; i < count; i += stride)
        text_add(p->t, "M%.1f %.1fh0", axis_place(&p->x, x[i]), axis_place(&p->y, y[i]));
    text_add(p->t, "\"/>");
}

void plot_level(const plot *p, const char *kind, double y)
{
    text_add(p->t, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>", kind, p->x.from,
             axis_place(&p->y, y), p->x.to);
}

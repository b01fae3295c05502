/* Text, numbers, table cells and charts in HTML, and the style sheet and scripts of a page. */
#ifndef OUTPUT_HTML_H
#define OUTPUT_HTML_H

#include "core/text.h"
#include "output/summary/summary.h"

/* Appends any bytes as text: characters with a meaning in HTML are escaped, control characters
 * become '?', and bytes that are not UTF-8 become U+FFFD. */
void html_text(text *t, const char *bytes);
/* Appends a number with three digits; "unknown" for NAN. */
void html_measure(text *t, double value);
/* Appends 1234567 as 1,234,567; with three digits from 1e9 on. */
void html_count(text *t, double count);
/* Appends a value of the summary, with the digits of the summary table. */
void html_cell(text *t, const sbps_parameter *p, const char *column);
/* The same in a <td>. */
void html_number(text *t, const sbps_parameter *p, const char *column);
/* Appends <th scope="row"> with the name. */
void html_row_name(text *t, const char *name);

/* Files of this folder and of uPlot, which the build embeds as zero-terminated text
 * (cmake/Embed.cmake). Those of uPlot are empty in a build without it (cmake/Uplot.cmake). */
extern const char page_css[], page_js[], live_js[], uplot_js[], uplot_css[];

/* ---- charts ----
 *
 * Self-contained SVG, with a title for screen readers, axes and lines. `kind` is a class of
 * page.css. */

/* Maps values from low..high to places in from..to. */
typedef struct {
    double low, high, from, to;
    double unit; /* > 0: by asinh(value / unit), for small and large values; 0: linearly */
} axis;

/* Returns the place of a value, at most 5 % outside the axis. */
double axis_place(const axis *a, double value);
/* Finds round values on the axis, at most min(max_ticks, MAX_TICKS); returns their number. */
size_t axis_ticks(const axis *a, size_t max_ticks, double *ticks);
enum { MAX_TICKS = 12 };

typedef struct {
    text *t;
    double width, height; /* of the picture; places are in the same units */
    axis x, y;
} plot;

/* Opens the chart; the formatted text is its title. */
void plot_open(const plot *p, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void plot_close(const plot *p);
/* Draw an axis with at most max_ticks numbered ticks; 0: none. */
void plot_x_axis(const plot *p, size_t max_ticks, const char *label);
void plot_y_axis(const plot *p, size_t max_ticks);
/* Draws a line through `count` points. */
void plot_curve(const plot *p, const char *kind, size_t count, const double *x,
                const double *y);
/* The same, closed down to the x axis. */
void plot_area(const plot *p, const char *kind, size_t count, const double *x, const double *y);
/* Draws every stride-th point. */
void plot_dots(const plot *p, const char *kind, size_t count, const double *x, const double *y,
               size_t stride);
/* Draws a horizontal line. */
void plot_level(const plot *p, const char *kind, double y);

#endif

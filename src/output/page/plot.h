/* Pictures as SVG that needs nothing else: a title for who cannot see it, axes, lines. */
#ifndef OUTPUT_PLOT_H
#define OUTPUT_PLOT_H

#include "core/text.h"

/* Values from low to high lie at places from `from` to `to`. */
typedef struct {
    double low, high, from, to;
    double
        unit; /* > 0: as asinh(value / unit), which shows small and large at once; 0: as they are */
} axis;

/* Where a value lies, at most a little outside. */
double axis_place(const axis *a, double value);
/* Round values within, at most `most` and never more than 12; their number. */
size_t axis_ticks(const axis *a, size_t max_ticks, double *ticks);
enum { MAX_TICKS = 12 };

typedef struct {
    text *t;
    double width, height; /* of the picture; places are in the same units */
    axis x, y;
} plot;

/* `words` say what is to be seen. */
void plot_open(const plot *p, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void plot_close(const plot *p);
/* Ticks with their numbers below and at the left; `most` 0: none. */
void plot_x_axis(const plot *p, size_t max_ticks, const char *label);
void plot_y_axis(const plot *p, size_t max_ticks);
void plot_curve(const plot *p, const char *kind, size_t count, const double *x,
                const double *y);
/* The same down to the x axis. */
void plot_area(const plot *p, const char *kind, size_t count, const double *x, const double *y);
void plot_dots(const plot *p, const char *kind, size_t count, const double *x, const double *y,
               size_t stride);
void plot_level(const plot *p, const char *kind, double y);

#endif

/* Padded names, numbers, wrapped paragraphs and tables of reports. */
#include "output/summary/report_text.h"

#include "core/decimal.h"
#include "core/json.h"
#include "core/printable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void text_padded_name(text *t, const char *name, size_t columns)
{
    size_t own = text_columns(name);
    text_name(t, name);
    if (own < columns) text_spaces(t, columns - own);
}

size_t text_columns(const char *bytes)
{
    return display_columns(bytes, strlen(bytes));
}

void text_count(text *t, double count)
{
    if (isnan(count))
        text_add(t, "unknown");
    else
        text_add(t, fabs(count) < 1e9 ? "%.0f" : "%.3g", count);
}

void text_measure(text *t, double value)
{
    if (isnan(value))
        text_add(t, "unknown");
    else
        text_add(t, "%.3g", value);
}

void text_estimate(text *t, double value, double error)
{
    text_measure(t, value);
    if (error > 0.0) text_add(t, " +- %.2g", error);
}

void text_paragraph(text *t, size_t columns, size_t indent, const char *words)
{
    size_t start = t->length; /* of the current line */
    while (start > 0 && t->data[start - 1] != '\n') start--;
    size_t used = display_columns(t->data ? t->data + start : "", t->length - start);
    bool first = true; /* word of its line */
    while (*words) {
        size_t length = strcspn(words, " "), width = display_columns(words, length);
        if (!first && used + 1 + width > columns) {
            text_bytes(t, "\n", 1);
            text_spaces(t, indent);
            used = indent;
            first = true;
        }
        if (!first) text_bytes(t, " ", 1);
        text_bytes(t, words, length);
        used += width + !first;
        first = false;
        words += length;
        words += strspn(words, " ");
    }
    text_bytes(t, "\n", 1);
}

/* ---- tables of numbers ----
 *
 * In text an sd is shown to three significant digits and values to as many
 * decimals, since further digits are noise; errors get two significant digits. CSV and JSON
 * have full precision. */

/* Beyond these limits numbers are printed with an exponent. */
#define MAX_DECIMALS 7
#define MAX_FIXED    1e8

double column_value(const column *c, const void *row)
{
    return *(const double *)((const char *)row + c->offset);
}

const void *grid_row(const grid *g, size_t index)
{
    return (const char *)g->rows + index * g->stride;
}

const char *grid_name(const grid *g, size_t index)
{
    return *(const char *const *)((const char *)grid_row(g, index) + g->name);
}

static double grid_sd(const grid *g, size_t index)
{
    return *(const double *)((const char *)grid_row(g, index) + g->sd);
}

/* Number of decimals that show `digits` significant digits of x; -1 where x is 0, NaN or
 * infinite. */
static int decimals_for(double x, int digits)
{
    if (!isfinite(x) || x == 0.0) return -1;
    int decimals = digits - 1 - (int)floor(log10(fabs(x)));
    return decimals > 0 ? decimals : 0;
}

/* Writes x with this many decimals, or %.4g where that is not possible; never "-0". */
static void print_fixed(double x, int decimals, char *cell)
{
    bool fixed = decimals >= 0 && decimals <= MAX_DECIMALS && fabs(x) < MAX_FIXED;
    snprintf(cell, GRID_CELL, fixed ? "%.*f" : "%.*g", fixed ? decimals : 4, x);
    if (cell[0] == '-' && decimal_read(cell, NULL) == 0.0)
        memmove(cell, cell + 1, strlen(cell));
}

void grid_cell(const column *c, const void *row, double sd, char *cell)
{
    double x = column_value(c, row);
    const int decimals[] = {
        [CELL_VALUE] = decimals_for(sd, 3),
        [CELL_ERROR] = decimals_for(x, 2),
        [CELL_COUNT] = 0,
        [CELL_RATIO] = 3,
    };
    if (isnan(x))
        snprintf(cell, GRID_CELL, "-");
    else
        print_fixed(x, decimals[c->kind], cell);
}

static size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Characters of the widest cell of the column, its heading included. */
static size_t column_width(const grid *g, const column *c)
{
    char cell[GRID_CELL];
    size_t width = strlen(c->name);
    for (size_t i = 0; i < g->count; i++) {
        grid_cell(c, grid_row(g, i), grid_sd(g, i), cell);
        width = larger_of(width, strlen(cell));
    }
    return width;
}

/* Adds the cells of a row and a line end, two spaces between columns. index SIZE_MAX: the
 * headings. */
static void add_cells(text *t, const grid *g, const size_t *widths, size_t index)
{
    for (size_t k = 0; g->columns[k].name; k++) {
        char cell[GRID_CELL];
        if (index != SIZE_MAX)
            grid_cell(&g->columns[k], grid_row(g, index), grid_sd(g, index), cell);
        else
            snprintf(cell, GRID_CELL, "%s", g->columns[k].name);
        text_add(t, "  %*s", (int)widths[k], cell);
    }
    text_add(t, "\n");
}

grid_widths grid_measure(const grid *g)
{
    grid_widths w = {.name = strlen(g->heading)};
    for (size_t i = 0; i < g->count; i++)
        w.name = larger_of(w.name, text_columns(grid_name(g, i)));
    for (size_t k = 0; g->columns[k].name; k++) w.cell[k] = column_width(g, &g->columns[k]);
    return w;
}

void grid_part(text *t, const grid *g, const grid_widths *w)
{
    text_padded_name(t, g->heading, w->name);
    add_cells(t, g, w->cell, SIZE_MAX);
    for (size_t i = 0; i < g->count; i++) {
        text_padded_name(t, grid_name(g, i), w->name);
        add_cells(t, g, w->cell, i);
    }
}

void grid_table(text *t, const grid *g)
{
    const grid_widths w = grid_measure(g);
    grid_part(t, g, &w);
}

/* Adds a comma and a number of CSV. */
static void add_csv_number(text *t, double value)
{
    if (isnan(value))
        text_add(t, ",NaN");
    else if (isinf(value))
        text_add(t, value > 0.0 ? ",Inf" : ",-Inf");
    else
        text_add(t, ",%.10g", value + 0.0); /* -0 becomes 0 */
}

void grid_csv(text *t, const grid *g)
{
    text_add(t, "%s", g->heading);
    for (const column *c = g->columns; c->name; c++) text_add(t, ",%s", c->name);
    text_add(t, "\n");
    for (size_t i = 0; i < g->count; i++) {
        text_csv_field(t, grid_name(g, i));
        for (const column *c = g->columns; c->name; c++)
            add_csv_number(t, column_value(c, grid_row(g, i)));
        text_add(t, "\n");
    }
}

void grid_json_row(text *t, const grid *g, size_t index)
{
    for (const column *c = g->columns; c->name; c++) {
        text_add(t, ", \"%s\": ", c->name);
        json_number(t, column_value(c, grid_row(g, index)));
    }
}

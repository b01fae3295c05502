/* The summary for people: some lines about the run, then a table.
 *
 * Digits: a parameter's sd is shown to three significant digits and its mean and quantiles to
 * as many decimals, since more would be noise to a reader; errors to two significant digits. */
#include "base/decimal.h"
#include "report/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL 32 /* bytes */

/* Beyond these a fixed point makes unreadable numbers. */
#define MOST_DECIMALS 7
#define MOST_FIXED    1e8

/* Decimals that show `digits` significant digits of x; negative when x has none. */
static int decimals_for(double x, int digits)
{
    if (!isfinite(x) || x == 0.0) return -1;
    int decimals = digits - 1 - (int)floor(log10(fabs(x)));
    return decimals > 0 ? decimals : 0;
}

static void print_fixed(double x, int decimals, char *cell)
{
    bool fixed = decimals >= 0 && decimals <= MOST_DECIMALS && fabs(x) < MOST_FIXED;
    snprintf(cell, CELL, fixed ? "%.*f" : "%.*g", fixed ? decimals : 4, x);
    if (cell[0] == '-' && decimal_read(cell, NULL) == 0.0)
        memmove(cell, cell + 1, strlen(cell));
}

static void print_cell(const column *c, const sbps_parameter *p, char *cell)
{
    double x = column_value(c, p);
    const int decimals[] = {
        [CELL_VALUE] = decimals_for(p->sd, 3),
        [CELL_ERROR] = decimals_for(x, 2),
        [CELL_COUNT] = 0,
        [CELL_RATIO] = 3,
    };
    if (isnan(x))
        snprintf(cell, CELL, "-");
    else
        print_fixed(x, decimals[c->kind], cell);
}

static size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t column_width(const column *c, size_t dim, const sbps_parameter *parameters)
{
    char cell[CELL];
    size_t width = strlen(c->name);
    for (size_t j = 0; j < dim; j++) {
        print_cell(c, &parameters[j], cell);
        width = larger_of(width, strlen(cell));
    }
    return width;
}

/* Numbers flush right, two spaces between columns. */
static void add_cells(text *t, const size_t *widths, const sbps_parameter *p)
{
    for (size_t k = 0; table_columns[k].name; k++) {
        char cell[CELL];
        if (p)
            print_cell(&table_columns[k], p, cell);
        else
            snprintf(cell, CELL, "%s", table_columns[k].name);
        text_add(t, "  %*s", (int)widths[k], cell);
    }
    text_add(t, "\n");
}

static void add_parameters(text *t, size_t dim, const sbps_parameter *parameters)
{
    size_t name_width = strlen("name"), widths[MOST_COLUMNS];
    for (size_t j = 0; j < dim; j++)
        name_width = larger_of(name_width, text_columns(parameters[j].name));
    for (size_t k = 0; table_columns[k].name; k++)
        widths[k] = column_width(&table_columns[k], dim, parameters);
    text_padded_name(t, "name", name_width);
    add_cells(t, widths, NULL);
    for (size_t j = 0; j < dim; j++) {
        text_padded_name(t, parameters[j].name, name_width);
        add_cells(t, widths, &parameters[j]);
    }
}

static const char *or_unknown(const char *word)
{
    return word ? word : "unknown";
}

static void add_setting(text *t, const result *r)
{
    const result_info *info = &r->info;
    text_add(t, "model         ");
    text_name(t, or_unknown(info->model));
    if (info->target && *info->target) {
        text_add(t, ", target ");
        text_name(t, info->target);
    }
    text_add(t, "\nrows          ");
    text_count(t, info->rows);
    text_add(t, "\nparameters    %zu\nsampler       %s", r->dim, or_unknown(info->sampler));
    if (info->paper) text_add(t, " as published");
    text_add(t, ", control variate %s, metric %s\n", or_unknown(info->control_variate),
             or_unknown(info->metric));
    text_add(t, "chains        %zu x %zu draws, seed %.0f\n", r->chains, r->draws, info->seed);
    text_add(t, "batch size    ");
    text_count(t, info->batch_size);
    text_add(t, " rows (%s)\n", or_unknown(info->minibatch));
    if (isnan(info->band)) return; /* the sampler has none */
    text_add(t, "band k        ");
    text_measure(t, info->band);
    text_add(t, "\n");
}

static void add_outcome(text *t, const result_info *info)
{
    text_add(t, "stated bias   ");
    text_estimate(t, info->bias_estimate, info->bias_estimate_se);
    text_add(t, " posterior sd (budget ");
    text_measure(t, info->bias_budget);
    text_add(t, ")\nmin ESS       ");
    text_count(t, info->min_ess);
    if (info->ess_goal > 0.0) text_add(t, " (goal %.0f)", info->ess_goal);
    if (!isnan(info->pareto_k))
        text_add(t, "\nPareto k-hat  %.2f (above 0.7 weights are not to be trusted)",
                 info->pareto_k);
    text_add(t, "\nrows touched  ");
    text_count(t, info->rows_touched);
    text_add(t, ", per effective sample ");
    text_count(t, rows_per_sample(info));
    text_add(t, "\nseconds       set-up %.3g, warm-up %.3g, sampling %.3g\n",
             info->seconds_setup, info->seconds_warmup, info->seconds_sampling);
    if (info->interrupted) text_add(t, "note          the run was interrupted\n");
}

void write_table(text *t, const result *r, const sbps_parameter *parameters)
{
    add_setting(t, r);
    add_outcome(t, &r->info);
    text_add(t, "\n");
    add_parameters(t, r->dim, parameters);
}

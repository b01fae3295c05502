/* Prints texts of the library that contain numbers. The argument is the decimal point that the
 * locale of the environment must have. */
#include "sbps.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 200, COLUMNS = 2 };

static void need(sbps_status status, const sbps_error *err)
{
    if (status == SBPS_OK) return;
    printf("failed: %s\n", err->text);
    exit(1);
}

static void show(char *text)
{
    /* seconds and the date differ between any two runs */
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (!strstr(line, "seconds") && !strstr(line, "created_at")) puts(line);
    sbps_free(text);
}

static sbps_table *make_table(const sbps_options *options)
{
    sbps_error err;
    sbps_table *table;
    double x[ROWS * COLUMNS], y[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = sin((double)i);
        x[2 * i + 1] = cos(1.7 * (double)i);
        y[i] = sin(3.1 * (double)i) + 0.5 * x[2 * i] > 0.0;
    }
    need(sbps_table_copy(ROWS, COLUMNS, x, NULL, y, options, &table, &err), &err);
    return table;
}

static void set(sbps_options *options, const char *name, const char *value)
{
    sbps_error err;
    need(sbps_options_set(options, name, value, &err), &err);
}

int main(int argc, char **argv)
{
    sbps_error err;
    sbps_options *options;
    sbps_run *run;
    sbps_result *result;
    char *text, number[8];
    bool finished = false;
    if (!setlocale(LC_ALL, "")) return 1;
    snprintf(number, sizeof number, "%.1f", 2.5);
    if (argc < 2 || (number[1] == ',') != !strcmp(argv[1], "comma")) {
        printf("the locale writes %s\n", number);
        return 1;
    }
    need(sbps_options_create(&options, &err), &err);
    puts(sbps_options_get(options, "bias-budget"));
    set(options, "model", "logistic");
    set(options, "prior", "normal(0,2.5)");
    set(options, "band", "4.25");
    set(options, "ess", "1e2");
    if (sbps_options_set(options, "band", "-0.5", &err) != SBPS_OK) puts(err.text);
    sbps_table *table = make_table(options);
    need(sbps_run_create(table, options, &run, &err), &err);
    need(sbps_run_describe(run, &text, &err), &err);
    show(text);
    while (!finished) need(sbps_run_advance(run, &finished, &err), &err);
    need(sbps_result_from_run(run, &result, &err), &err);
    need(sbps_result_summary(result, SBPS_JSON, &text, &err), &err);
    show(text);
    need(sbps_result_summary(result, SBPS_TEXT, &text, &err), &err);
    show(text);
    sbps_result_destroy(result);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return 0;
}

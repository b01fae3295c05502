/* A program of a user of the installed library: options, a table, and the library's description
 * of both. */
#include <math.h>
#include <sbps.h>
#include <stdio.h>
#include <string.h>

#define ROWS 40

static int print_error(const char *what, const sbps_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    return 1;
}

int main(void)
{
    double x[ROWS], y[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = sin(1.0 + (double)i);
        y[i] = i % 3 == 0;
    }

    sbps_error err = {SBPS_OK, ""};
    sbps_options *options = NULL;
    sbps_table *table = NULL;
    if (sbps_options_create(&options, &err) != SBPS_OK) return print_error("create", &err);
    if (sbps_options_set(options, "seed", "7", &err) != SBPS_OK)
        return print_error("set", &err);
    if (sbps_options_set(options, "no-such-option", "7", &err) == SBPS_OK) return 1;
    if (sbps_table_copy(ROWS, 1, x, NULL, y, options, &table, &err) != SBPS_OK)
        return print_error("copy", &err);

    printf("sbps %s: %zu options, seed %s, %zu rows\n", SBPS_VERSION, sbps_option_count(),
           sbps_options_get(options, "seed"), sbps_table_rows(table));
    int wrong = sbps_option_count() == 0 ||
                strcmp(sbps_options_get(options, "seed"), "7") != 0 ||
                sbps_table_rows(table) != ROWS;
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return wrong;
}

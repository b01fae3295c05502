/* A run by the C library, for comparison: by_c TABLE FORMULA FAMILY SEED ESS OUT. Writes the
 * draws to OUT as raw doubles and the summary as CSV to standard output. */
#include <sbps.h>

#include <stdio.h>
#include <stdlib.h>

static sbps_error error;

static void good(sbps_status status)
{
    if (status == SBPS_OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

static void write_draws(const sbps_result *result, const char *path)
{
    size_t count =
        sbps_result_chains(result) * sbps_result_draws(result) * sbps_result_dim(result);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(sbps_result_values(result), sizeof(double), count, file) != count ||
        fclose(file) != 0)
        exit(1);
}

int main(int count, char **arguments)
{
    static const char *const names[] = {"formula", "family", "seed", "ess"};
    sbps_options *options;
    sbps_table *table;
    sbps_run *run;
    sbps_result *result;
    char *text;
    bool finished = false;
    if (count != 7) return 2;
    good(sbps_options_create(&options, &error));
    for (int k = 0; k < 4; k++)
        good(sbps_options_set(options, names[k], arguments[2 + k], &error));
    good(sbps_table_read(arguments[1], options, NULL, &table, &error));
    good(sbps_run_create(table, options, &run, &error));
    while (!finished) good(sbps_run_advance(run, &finished, &error));
    good(sbps_result_from_run(run, &result, &error));
    good(sbps_result_summary(result, SBPS_CSV, &text, &error));
    write_draws(result, arguments[6]);
    fputs(text, stdout);
    sbps_free(text);
    sbps_result_destroy(result);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return 0;
}

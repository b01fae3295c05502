/* Writes a synthetic run of many parameters: report_run FILE.nc PARAMETERS. */
#include "output/fixture.h"
#include "store/result.h"

#include <stdio.h>

/* Draws of the first parameter, in another order for each. */
static void spread(result *r)
{
    size_t n = r->chains * r->draws;
    for (size_t j = 1; j < r->dim; j++)
        for (size_t i = 0; i < n; i++)
            r->w[i * r->dim + j] = r->mean[j] + r->w[(7 * i + 13 * j) % n * r->dim];
}

int main(int argc, char **argv)
{
    sbps_error err;
    if (argc != 3) return 2;
    result *r = make_result(4, 50, strtoul(argv[2], NULL, 10));
    for (size_t j = 0; j < r->dim; j++) {
        char name[40];
        snprintf(name, sizeof name, "coefficient %zu", j);
        free(r->names[j]);
        r->names[j] = copy_text(name);
        r->sd[j] = 1.0;
        r->mean[j] = (double)(j % 40) / 10.0 - 2.0;
    }
    spread(r);
    sbps_status status = result_write_netcdf(r, argv[1], &err);
    if (status != SBPS_OK) fprintf(stderr, "%s\n", err.text);
    result_destroy(r);
    return status == SBPS_OK ? 0 : 1;
}

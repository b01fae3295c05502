/* Which classes a target holds. */
#include "model/likelihood/classes.h"

#include "core/printable.h"
#include "table/row_partition.h"

#include <math.h>
#include <stdlib.h>

static void find_last(const rows *data, double *last)
{
    for (size_t i = 0; i < data->n; i++) *last = fmax(*last, data->y[i]);
}

static sbps_status check_labels(const rows *data, const char *model, double *last,
                                sbps_error *err)
{
    *last = 0.0;
    for (size_t i = 0; i < data->n; i++) {
        double y = data->y[i];
        if (!(isfinite(y) && y >= 0.0 && y == floor(y)))
            return fail(err, SBPS_BAD_DATA,
                        "target '%s' holds %g; %s wants classes numbered 0, 1, 2, ...",
                        show_name(data->target ? data->target : "y").text, y, model);
    }
    row_relay(data, find_last, last, 1);
    return SBPS_OK;
}

/* The first of the classes 0..count-1 that no row holds; count when all occur. */
static size_t first_missing(const rows *data, size_t count, bool *seen)
{
    size_t k = 0;
    for (size_t i = 0; i < data->n; i++)
        if (data->y[i] < (double)count) seen[(size_t)data->y[i]] = true;
    while (k < count && rows_any(data, seen[k])) k++;
    return k;
}

sbps_status classes_count(const rows *data, const char *model, size_t *count, sbps_error *err)
{
    const char *target = data->target ? data->target : "y";
    double last;
    sbps_status status = check_labels(data, model, &last, err);
    if (status != SBPS_OK) return status;
    /* n rows cannot hold more than n classes: whatever the last is, one of the first n + 1 lacks */
    *count = last < (double)rows_all(data) ? (size_t)last + 1 : rows_all(data) + 1;
    bool *seen = calloc(*count, sizeof *seen);
    if (!seen) return fail_memory(err);
    size_t missing = first_missing(data, *count, seen);
    free(seen);
    if (missing < *count)
        return fail(err, SBPS_BAD_DATA,
                    "target '%s' holds class %.0f but never class %zu; %s wants classes "
                    "numbered 0, 1, 2, ... without gaps",
                    show_name(target).text, last, missing, model);
    if (*count == 1)
        return fail(err, SBPS_BAD_DATA,
                    "target '%s' is 0 in every row: only one class; %s wants at least two",
                    show_name(target).text, model);
    return SBPS_OK;
}

#include "posterior/row_sums.h"
#include "base/memory.h"

#include <stdlib.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void add_part(const row_sum *what, size_t first, size_t end, double *scratch,
                     double *total)
{
    for (size_t n; first < end; first += n) {
        n = least(end - first, ROW_BLOCK);
        what->add(what->self, rows_from(first, n), scratch, total);
    }
}

static void merge(const row_sum *what, double *total, const double *part)
{
    if (what->merge) {
        what->merge(total, part);
        return;
    }
    for (size_t j = 0; j < what->width; j++) total[j] += part[j];
}

static void begin(const row_sum *what, double *part)
{
    for (size_t j = 0; j < what->width; j++) part[j] = what->begin ? what->begin[j] : 0.0;
}

/* The first part adds to the total itself. */
sbps_status row_sums(const rows *data, const row_sum *what, double *total, sbps_error *err)
{
    size_t n = data->n, wide = (what->scratch + 7) / 8 * 8;
    double *scratch = new_doubles(wide + (n > PART_ROWS ? what->width : 0) + 1);
    if (!scratch) return fail_memory(err);
    double *part = scratch + wide;
    add_part(what, 0, least(n, PART_ROWS), scratch, total);
    for (size_t first = PART_ROWS; first < n; first += PART_ROWS) {
        begin(what, part);
        add_part(what, first, least(n, first + PART_ROWS), scratch, part);
        merge(what, total, part);
    }
    free(scratch);
    return SBPS_OK;
}

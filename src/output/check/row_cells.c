/* Rows in cells. */
#include "output/check/check_parts.h"

#include <stdlib.h>

typedef struct {
    double value;
    size_t row;
} ordered;

static int compare_by_value_and_row(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static size_t count_different(size_t n, const ordered *o)
{
    size_t count = n > 0;
    for (size_t i = 1; i < n && count <= CELLS_USUAL; i++)
        count += o[i].value != o[i - 1].value;
    return count;
}

/* A cell ends with its tenth of the rows, and with the last of equal numbers. */
static void assign_cells(size_t n, const ordered *o, partition *p)
{
    bool few = count_different(n, o) <= CELLS_USUAL;
    size_t last_due = 0;
    for (size_t i = 0; i < n; i++) {
        bool other = i == 0 || o[i].value != o[i - 1].value;
        size_t due = i * CELLS_USUAL / n;
        if (other && (i == 0 || few || due > last_due)) {
            p->from[p->cells++] = o[i].value;
            last_due = due;
        }
        p->to[p->cells - 1] = o[i].value;
        p->cell[o[i].row] = p->cells - 1;
    }
}

sbps_status cut_evenly(size_t n, const double *value, partition *out, sbps_error *err)
{
    ordered *o = malloc((n + 1) * sizeof *o);
    *out = (partition){.cell = calloc(n + 1, sizeof *out->cell),
                       .from = calloc(CELLS_USUAL + 1, sizeof *out->from),
                       .to = calloc(CELLS_USUAL + 1, sizeof *out->to)};
    bool ready = o && out->cell && out->from && out->to;
    for (size_t i = 0; ready && i < n; i++) o[i] = (ordered){value[i], i};
    if (ready) {
        qsort(o, n, sizeof *o, compare_by_value_and_row);
        assign_cells(n, o, out);
    }
    free(o);
    return ready ? SBPS_OK : fail_memory(err);
}

void partition_clear(partition *p)
{
    free(p->cell);
    free(p->from);
    free(p->to);
    *p = (partition){0};
}

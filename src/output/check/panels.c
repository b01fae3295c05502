/* Cells of rows, compared with those of replicated tables. With o_c the statistic of the rows
 * in cell c, e_c its expectation and s_c the standard deviation of replicated tables,
 *
 *   z_c = (o_c - e_c) / s_c,  p = (1 + tables with as large a max_c |z_c|) / (1 + tables)  (1)
 *
 * Gelman, Meng, Stern (1996), Posterior predictive assessment of model fitness, Statistica
 * Sinica 6, 733-807. */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantile of type 7 in R. */
static double quantile(size_t n, const double *sorted, double p)
{
    double h = (double)(n - 1) * p;
    size_t k = (size_t)h;
    return k + 1 < n ? sorted[k] + (h - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[k];
}

interval_summary sort_and_summarise(size_t n, double *x)
{
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    qsort(x, n, sizeof *x, compare_doubles);
    return (interval_summary){mean, n > 1 ? sqrt(square / (double)(n - 1)) : 0.0,
                              quantile(n, x, 0.025), quantile(n, x, 0.975)};
}

double normal_tails(double z)
{
    return erfc(fabs(z) * M_SQRT1_2);
}

/* ---- partitions ---- */

typedef struct {
    double value;
    size_t row;
} ordered;

/* For qsort: by value, equal values by row, so that the order is unique. */
static int compare_by_value_and_row(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Number of different values, or CELLS_USUAL + 1 if there are more. */
static size_t count_different(size_t n, const ordered *o)
{
    size_t count = n > 0;
    for (size_t i = 1; i < n && count <= CELLS_USUAL; i++)
        count += o[i].value != o[i - 1].value;
    return count;
}

/* Assigns rows in order; a new cell begins after a tenth of the rows, at the next different
 * number. */
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

sbps_status partition_evenly(size_t n, const double *value, partition *out, sbps_error *err)
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

/* ---- tallies ---- */

sbps_status tally_open(size_t cells, size_t replicates, tally *out, sbps_error *err)
{
    *out = (tally){.cells = cells,
                   .replicates = replicates,
                   .observed = new_doubles(cells + 1),
                   .replicated = new_doubles(cells * replicates + 1),
                   .unit = new_doubles(cells + 1)};
    for (size_t c = 0; out->unit && c < cells; c++) out->unit[c] = 1.0;
    return out->observed && out->replicated && out->unit ? SBPS_OK : fail_memory(err);
}

void tally_close(tally *t)
{
    free(t->observed);
    free(t->replicated);
    free(t->unit);
}

/* ---- panels ---- */

sbps_status panel_open(check_panels *to, const char *of, const char *class, size_t cells,
                       check_panel **out, sbps_error *err)
{
    check_panel *grown = realloc(to->panel, (to->count + 1) * sizeof *grown);
    *out = NULL;
    if (!grown) return fail_memory(err);
    to->panel = grown;
    check_panel *p = *out = &grown[to->count++];
    *p = (check_panel){.of = copy_text(of),
                       .class = copy_text(class),
                       .cell = calloc(cells + 1, sizeof *p->cell),
                       .p = NAN,
                       .trend_z = NAN};
    if (!p->cell || (of && !p->of) || (class && !p->class)) return fail_memory(err);
    p->count = cells;
    for (size_t c = 0; c < cells; c++) p->cell[c].expected = NAN;
    return SBPS_OK;
}

void panels_clear(check_panels *p)
{
    for (size_t k = 0; k < p->count; k++) {
        check_panel *of = &p->panel[k];
        for (size_t c = 0; c < of->count; c++) free(of->cell[c].label);
        free(of->cell);
        free(of->of);
        free(of->class);
    }
    free(p->panel);
    *p = (check_panels){0};
}

void panel_find_worst(check_panel *p)
{
    p->worst = 0;
    for (size_t c = 1; c < p->count; c++)
        if (fabs(p->cell[c].z) > fabs(p->cell[p->worst].z)) p->worst = c;
}

/* Fills one cell, and raises farthest[k], the largest |z| of replicate k. Where no replicate
 * has such rows the sd would be 0: it is at least that of one row in one of the tables. */
static void compare_cell(check_cell *to, const tally *t, size_t c, double *farthest)
{
    double *replicated = t->replicated + c * t->replicates, n = (double)t->replicates;
    double sum = 0.0, square = 0.0;
    for (size_t k = 0; k < t->replicates; k++) sum += replicated[k];
    if (isnan(to->expected)) to->expected = sum / n;
    for (size_t k = 0; k < t->replicates; k++)
        square += (replicated[k] - sum / n) * (replicated[k] - sum / n);
    double sd = fmax(sqrt(square / fmax(n - 1.0, 1.0)), t->unit[c] / sqrt(n));
    to->observed = t->observed[c];
    to->z = (to->observed - to->expected) / sd;
    for (size_t k = 0; k < t->replicates; k++)
        farthest[k] = fmax(farthest[k], fabs(replicated[k] - to->expected) / sd);
    interval_summary of = sort_and_summarise(t->replicates, replicated);
    to->low = of.low;
    to->high = of.high;
}

/* (1) */
sbps_status panel_compare(check_panel *p, tally *t, sbps_error *err)
{
    double *farthest = new_doubles(t->replicates + 1), worst;
    size_t beyond = 0;
    if (!farthest) return fail_memory(err);
    for (size_t c = 0; c < p->count; c++) compare_cell(&p->cell[c], t, c, farthest);
    panel_find_worst(p);
    worst = p->count ? fabs(p->cell[p->worst].z) : 0.0;
    for (size_t k = 0; k < t->replicates; k++) beyond += farthest[k] >= worst;
    p->p = (1.0 + (double)beyond) / (1.0 + (double)t->replicates);
    free(farthest);
    return SBPS_OK;
}

/* Is the spread of rows what it should be wherever they are predicted? Squares of scaled residuals in cells of predictions;
 * and of numbers the rank correlation of |y_i - mean_i|/sd_i with mean_i, times sqrt(n - 1): a normal law's where the spread
 * is the same everywhere, however heavy its tails. */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include <math.h>
#include <stdlib.h>

static double scaled_square(const sampled_row *row, double y)
{
    double r = row->sd > 0.0 ? (y - row->mean) / row->sd : 0.0;
    return r * r;
}

static void tally_squares(const row_sample *s, size_t c, const partition *cut, tally *t,
                          check_cell *cell)
{
    (void)c;
    for (size_t i = 0; i < s->rows; i++) cell[cut->cell[i]].rows++;
    for (size_t i = 0; i < s->rows; i++) {
        size_t at = cut->cell[i];
        double *made = t->made + at * t->replicates, share = 1.0 / (double)cell[at].rows;
        const double *drawn = replicates_of(s, i);
        t->seen[at] += share * scaled_square(s->row[i], s->row[i]->y);
        for (size_t k = 0; k < t->replicates; k++)
            made[k] += share * scaled_square(s->row[i], drawn[k]);
        t->unit[at] = share;
    }
}

/* ---- ranks ---- */

typedef struct {
    double value;
    size_t row;
} ordered;

static int compare_ordered_values(const void *a, const void *b)
{
    double x = ((const ordered *)a)->value, y = ((const ordered *)b)->value;
    return (x > y) - (x < y);
}

/* Around their mean, equal values having the mean of theirs. */
static void rank_values(size_t n, ordered *o, double *rank)
{
    qsort(o, n, sizeof *o, compare_ordered_values);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && o[k].value == o[i].value;) k++;
        for (size_t l = i; l < k; l++)
            rank[o[l].row] = 0.5 * ((double)i + (double)k - (double)n);
    }
}

static double correlation(size_t n, const double *a, const double *b)
{
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (size_t i = 0; i < n; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : 0.0;
}

static sbps_status measure_trend(const row_sample *s, double *out, sbps_error *err)
{
    size_t n = s->rows;
    ordered *o = malloc((n + 1) * sizeof *o);
    double *size = new_doubles(2 * n + 1), *place = size ? size + n : NULL;
    bool ready = o && size;
    for (size_t i = 0; ready && i < n; i++)
        o[i] = (ordered){scaled_square(s->row[i], s->row[i]->y), i};
    if (ready) rank_values(n, o, size);
    for (size_t i = 0; ready && i < n; i++) o[i] = (ordered){s->row[i]->mean, i};
    if (ready) {
        rank_values(n, o, place);
        *out = correlation(n, size, place) * sqrt((double)n - 1.0);
    }
    free(o);
    free(size);
    return ready ? SBPS_OK : fail_memory(err);
}

sbps_status compare_spread(const row_sample *s, check_panels *out, sbps_error *err)
{
    sbps_status status = by_prediction(s, 0, tally_squares, out, err);
    if (status != SBPS_OK || s->f->model->support != SUPPORT_REAL) return status;
    return measure_trend(s, &out->panel[0].trend_z, err);
}

/* The distribution of the response: calibration of probabilities, rootogram of counts (Kleiber,
 * Zeileis 2016, American Statistician 70, 296-303), histogram of numbers; and the spread of
 * standardised residuals r_i = (y_i - mean_i)/sd_i: mean r^2 in cells of predictions, and for
 * real targets the rank correlation of |r_i| with mean_i, times sqrt(n - 1), which is standard
 * normal if the spread is constant, however heavy the tails. */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- calibration ---- */

/* The predicted probability of class c, or the mean per trial. */
static double predicted(const row_sample *s, size_t i, size_t c)
{
    return s->classes ? probabilities_of(s, i)[c] : s->row[i]->mean / s->row[i]->trials;
}

/* 1 or 0 for class c, or the response itself. */
static double hit(const row_sample *s, double y, size_t c)
{
    return s->classes ? (y == (double)c) : y;
}

/* Mean hits per trial of each cell. */
static void tally_hits(const row_sample *s, size_t c, const partition *cut, tally *t,
                       check_cell *cell)
{
    for (size_t k = 0; k < t->cells; k++)
        cell[k].expected = t->unit[k] =
            0.0; /* sums over the rows first; divided by the trials below */
    for (size_t i = 0; i < s->rows; i++) {
        size_t at = cut->cell[i];
        double *replicated = t->replicated + at * t->replicates, trials = s->row[i]->trials;
        const double *drawn = replicates_of(s, i);
        t->observed[at] += hit(s, s->row[i]->y, c);
        for (size_t k = 0; k < t->replicates; k++) replicated[k] += hit(s, drawn[k], c);
        cell[at].expected += predicted(s, i, c) * trials;
        cell[at].rows++;
        t->unit[at] += trials;
    }
    for (size_t k = 0; k < t->cells; k++) {
        t->unit[k] = t->unit[k] > 0.0 ? 1.0 / t->unit[k] : 0.0;
        t->observed[k] *= t->unit[k];
        cell[k].expected *= t->unit[k];
        for (size_t r = 0; r < t->replicates; r++)
            t->replicated[k * t->replicates + r] *= t->unit[k];
    }
}

/* Fills a tally, and the rows and, where it is known, the expectation of each cell. */
typedef void tally_function(const row_sample *s, size_t c, const partition *cut, tally *t,
                            check_cell *cell);

/* Appends a panel with cells by the prediction of class c. */
static sbps_status compare_by_prediction(const row_sample *s, size_t c, tally_function *fill,
                                         check_panels *out, sbps_error *err)
{
    partition cut = {0};
    tally t = {0};
    check_panel *p = NULL;
    double *value = new_doubles(s->rows + 1);
    sbps_status status = value ? SBPS_OK : fail_memory(err);
    for (size_t i = 0; value && i < s->rows; i++) value[i] = predicted(s, i, c);
    if (status == SBPS_OK) status = partition_evenly(s->rows, value, &cut, err);
    if (status == SBPS_OK) status = tally_open(cut.cells, s->replicates, &t, err);
    if (status == SBPS_OK)
        status = panel_open(out, s->classes ? s->f->class[c] : NULL, NULL, cut.cells, &p, err);
    if (status == SBPS_OK) {
        fill(s, c, &cut, &t, p->cell);
        for (size_t k = 0; k < cut.cells; k++) {
            p->cell[k].from = cut.from[k];
            p->cell[k].to = cut.to[k];
        }
        status = panel_compare(p, &t, err);
    }
    tally_close(&t);
    partition_clear(&cut);
    free(value);
    return status;
}

sbps_status compare_calibration(const row_sample *s, check_panels *out, sbps_error *err)
{
    size_t panels = s->classes ? s->classes : 1;
    sbps_status status = SBPS_OK;
    for (size_t c = 0; status == SBPS_OK && c < panels; c++)
        status = compare_by_prediction(s, c, tally_hits, out, err);
    return status;
}

/* ---- cells along y ---- */

/* Cells of equal width from `first` on; the last is open above, the first open below unless
 * `floor`. */
typedef struct {
    double first, width;
    size_t cells;
    bool floor;
} ruler;

/* The cell of a response. */
static size_t find_cell(const ruler *r, double y)
{
    double at = floor((y - r->first) / r->width) + (r->floor ? 0.0 : 1.0);
    return at < 0.0 ? 0 : at >= (double)r->cells ? r->cells - 1 : (size_t)at;
}

/* The responses of all rows, malloced. */
static double *responses(const row_sample *s)
{
    double *y = new_doubles(s->rows + 1);
    for (size_t i = 0; y && i < s->rows; i++) y[i] = s->row[i]->y;
    return y;
}

/* Counts rows per cell. */
static void count_rows(const row_sample *s, const ruler *r, tally *t, check_cell *cell)
{
    for (size_t i = 0; i < s->rows; i++) {
        const double *drawn = replicates_of(s, i);
        size_t at = find_cell(r, s->row[i]->y);
        t->observed[at]++;
        cell[at].rows++;
        for (size_t k = 0; k < t->replicates; k++)
            t->replicated[find_cell(r, drawn[k]) * t->replicates + k]++;
    }
}

/* Sets the limits of the cells; open ones end at the smallest and largest response. */
static void bound_cells(const ruler *r, double low, double high, check_cell *cell)
{
    size_t last = r->cells - 1;
    for (size_t c = 0; c < r->cells; c++) {
        cell[c].from = r->first + r->width * ((double)c - (r->floor ? 0.0 : 1.0));
        cell[c].to = cell[c].from + r->width;
    }
    if (!r->floor) cell[0].from = fmin(low, cell[0].to);
    cell[last].to = fmax(high, cell[last].from);
}

/* Appends a panel of counts per cell. */
static sbps_status compare_histogram(const row_sample *s, const ruler *r, double low,
                                     double high, check_panels *out, sbps_error *err)
{
    tally t = {0};
    check_panel *p = NULL;
    sbps_status status = tally_open(r->cells, s->replicates, &t, err);
    if (status == SBPS_OK) status = panel_open(out, NULL, NULL, r->cells, &p, err);
    if (status == SBPS_OK) {
        bound_cells(r, low, high, p->cell);
        count_rows(s, r, &t, p->cell);
        status = panel_compare(p, &t, err);
    }
    tally_close(&t);
    return status;
}

#define BARS_MAX      30
#define DENSITY_CELLS 20
#define EDGE          0.01 /* of the rows are beyond the bars on either side */

/* The sorted value nearest to this quantile. */
static double quantile_at(const row_sample *s, const double *sorted, double share)
{
    return sorted[(size_t)(share * (double)(s->rows - 1) + 0.5)];
}

static sbps_status sorted_responses(const row_sample *s, double **out, sbps_error *err)
{
    *out = responses(s);
    if (!*out) return fail_memory(err);
    sort_and_summarise(s->rows, *out);
    return SBPS_OK;
}

sbps_status compare_rootogram(const row_sample *s, check_panels *out, sbps_error *err)
{
    double *y;
    sbps_status status = sorted_responses(s, &y, err);
    if (status != SBPS_OK) return status;
    double upper = quantile_at(s, y, 1.0 - EDGE) + 1.0, width = ceil((upper + 1.0) / BARS_MAX);
    const ruler r = {0.0, width, (size_t)ceil(upper / width) + 1, true};
    double high = y[s->rows - 1] + 1.0;
    free(y);
    return compare_histogram(s, &r, 0.0, high, out, err);
}

sbps_status compare_density(const row_sample *s, check_panels *out, sbps_error *err)
{
    double *y;
    sbps_status status = sorted_responses(s, &y, err);
    if (status != SBPS_OK) return status;
    double low = quantile_at(s, y, EDGE), high = quantile_at(s, y, 1.0 - EDGE);
    double smallest = y[0], largest = y[s->rows - 1];
    free(y);
    if (!(high > low)) return SBPS_OK; /* nearly all responses are equal */
    const ruler r = {low, (high - low) / DENSITY_CELLS, DENSITY_CELLS + 2, false};
    return compare_histogram(s, &r, smallest, largest, out, err);
}

/* ---- spread of residuals ---- */

/* r^2 of a response. */
static double scaled_square(const sampled_row *row, double y)
{
    double r = row->sd > 0.0 ? (y - row->mean) / row->sd : 0.0;
    return r * r;
}

/* Mean r^2 of each cell. */
static void tally_squares(const row_sample *s, size_t c, const partition *cut, tally *t,
                          check_cell *cell)
{
    (void)c;
    for (size_t i = 0; i < s->rows; i++) cell[cut->cell[i]].rows++;
    for (size_t i = 0; i < s->rows; i++) {
        size_t at = cut->cell[i];
        double *replicated = t->replicated + at * t->replicates,
               share = 1.0 / (double)cell[at].rows;
        const double *drawn = replicates_of(s, i);
        t->observed[at] += share * scaled_square(s->row[i], s->row[i]->y);
        for (size_t k = 0; k < t->replicates; k++)
            replicated[k] += share * scaled_square(s->row[i], drawn[k]);
        t->unit[at] = share;
    }
}

typedef struct {
    double value;
    size_t row;
} ranked_value;

static int compare_ranked_values(const void *a, const void *b)
{
    double x = ((const ranked_value *)a)->value, y = ((const ranked_value *)b)->value;
    return (x > y) - (x < y);
}

/* rank[row]: ranks minus their mean; equal values get their mean rank. */
static void rank_values(size_t n, ranked_value *o, double *rank)
{
    qsort(o, n, sizeof *o, compare_ranked_values);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && o[k].value == o[i].value;) k++;
        for (size_t l = i; l < k; l++)
            rank[o[l].row] = 0.5 * ((double)i + (double)k - (double)n);
    }
}

/* Correlation of two centred vectors; 0 if one is constant. */
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

/* The rank correlation of |r| with the prediction, as z. */
static sbps_status measure_trend(const row_sample *s, double *out, sbps_error *err)
{
    size_t n = s->rows;
    ranked_value *o = malloc((n + 1) * sizeof *o);
    double *size = new_doubles(2 * n + 1), *place = size ? size + n : NULL;
    bool ready = o && size;
    for (size_t i = 0; ready && i < n; i++)
        o[i] = (ranked_value){scaled_square(s->row[i], s->row[i]->y), i};
    if (ready) rank_values(n, o, size);
    for (size_t i = 0; ready && i < n; i++) o[i] = (ranked_value){s->row[i]->mean, i};
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
    sbps_status status = compare_by_prediction(s, 0, tally_squares, out, err);
    if (status != SBPS_OK || s->f->model->support != SUPPORT_REAL) return status;
    return measure_trend(s, &out->panel[0].trend_z, err);
}

/* What the response looks like: calibration of what was predicted, rootogram of counts (Kleiber, Zeileis 2016, American
 * Statistician 70, 296-303), density of numbers. */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- calibration ---- */

/* What was predicted of a row, and what it and replicate k are: of class c, or of the response. */
static double predicted(const row_sample *s, size_t i, size_t c)
{
    return s->classes ? probabilities_of(s, i)[c] : s->row[i]->mean / s->row[i]->trials;
}

static double hit(const row_sample *s, double y, size_t c)
{
    return s->classes ? (y == (double)c) : y;
}

static void tally_hits(const row_sample *s, size_t c, const partition *cut, tally *t,
                       check_cell *cell)
{
    for (size_t k = 0; k < t->cells; k++)
        cell[k].expected = t->unit[k] = 0.0; /* for now: sums, and trials */
    for (size_t i = 0; i < s->rows; i++) {
        size_t at = cut->cell[i];
        double *made = t->made + at * t->replicates, trials = s->row[i]->trials;
        const double *drawn = replicates_of(s, i);
        t->seen[at] += hit(s, s->row[i]->y, c);
        for (size_t k = 0; k < t->replicates; k++) made[k] += hit(s, drawn[k], c);
        cell[at].expected += predicted(s, i, c) * trials;
        cell[at].rows++;
        t->unit[at] += trials;
    }
    for (size_t k = 0; k < t->cells; k++) {
        t->unit[k] = t->unit[k] > 0.0 ? 1.0 / t->unit[k] : 0.0;
        t->seen[k] *= t->unit[k];
        cell[k].expected *= t->unit[k];
        for (size_t r = 0; r < t->replicates; r++) t->made[k * t->replicates + r] *= t->unit[k];
    }
}

sbps_status by_prediction(const row_sample *s, size_t c, tally_function *fill,
                          check_panels *out, sbps_error *err)
{
    partition cut = {0};
    tally t = {0};
    check_panel *p = NULL;
    double *value = new_doubles(s->rows + 1);
    sbps_status status = value ? SBPS_OK : fail_memory(err);
    for (size_t i = 0; value && i < s->rows; i++) value[i] = predicted(s, i, c);
    if (status == SBPS_OK) status = cut_evenly(s->rows, value, &cut, err);
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

sbps_status calibrate(const row_sample *s, check_panels *out, sbps_error *err)
{
    size_t panels = s->classes ? s->classes : 1;
    sbps_status status = SBPS_OK;
    for (size_t c = 0; status == SBPS_OK && c < panels; c++)
        status = by_prediction(s, c, tally_hits, out, err);
    return status;
}

/* ---- cells along y ---- */

/* Cells of equal width from `first` on, one open below (unless `floor`) and one above. */
typedef struct {
    double first, width;
    size_t cells;
    bool floor;
} ruler;

static size_t find_cell(const ruler *r, double y)
{
    double at = floor((y - r->first) / r->width) + (r->floor ? 0.0 : 1.0);
    return at < 0.0 ? 0 : at >= (double)r->cells ? r->cells - 1 : (size_t)at;
}

static double *responses(const row_sample *s)
{
    double *y = new_doubles(s->rows + 1);
    for (size_t i = 0; y && i < s->rows; i++) y[i] = s->row[i]->y;
    return y;
}

static void count_rows(const row_sample *s, const ruler *r, tally *t, check_cell *cell)
{
    for (size_t i = 0; i < s->rows; i++) {
        const double *drawn = replicates_of(s, i);
        size_t at = find_cell(r, s->row[i]->y);
        t->seen[at]++;
        cell[at].rows++;
        for (size_t k = 0; k < t->replicates; k++)
            t->made[find_cell(r, drawn[k]) * t->replicates + k]++;
    }
}

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
#define EDGE          0.01 /* of the rows lie beyond the last bars on either side */

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

sbps_status hang_rootogram(const row_sample *s, check_panels *out, sbps_error *err)
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
    if (!(high > low)) return SBPS_OK; /* nearly all the same: there is no shape */
    const ruler r = {low, (high - low) / DENSITY_CELLS, DENSITY_CELLS + 2, false};
    return compare_histogram(s, &r, smallest, largest, out, err);
}

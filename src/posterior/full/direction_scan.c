#include "posterior/full/direction_scan.h"
#include "posterior/full/predictors.h"
#include "table/row_sums.h"

#include <math.h>
#include <stdlib.h>

/* Of a walk through the rows. */
typedef struct {
    const posterior *u;
    padded_line line;
    double rounding;
} scan;

/* A block's predictors, how these move along v, and what pulls. */
typedef struct {
    double *eta, *along, *pull, *row;
} block_arrays;

static block_arrays carve_strip(double *scratch)
{
    return (block_arrays){scratch, scratch + ROW_BLOCK, scratch + 2 * ROW_BLOCK,
                          scratch + 3 * ROW_BLOCK};
}

static block_arrays scan_block(const scan *k, row_range r, double *scratch)
{
    const rows *data = k->u->data;
    block_arrays s = carve_strip(scratch);
    batch b = predictors_of(k->u, r, &k->line, s.eta, s.along);
    k->u->model->predictor->gradient(&b, s.pull, NULL);
    for (size_t i = 0; i < r.n; i++)
        if (data->weight && data->weight[r.first + i] == 0.0) s.along[i] = s.pull[i] = 0.0;
    return s;
}

/* How far row i of the block would rather go the other way. */
static double opposing_slope(const block_arrays *s, size_t i)
{
    if (s->pull[i] == 0.0) return -INFINITY;
    return s->pull[i] > 0.0 ? -s->along[i] : s->along[i];
}

static void scan_rows(const void *self, row_range r, double *scratch, double *total)
{
    const scan *k = self;
    block_arrays s = scan_block(k, r, scratch);
    for (size_t i = 0; i < r.n; i++) {
        total[0] = fmax(total[0], fabs(s.along[i]));
        total[1] = fmax(total[1], opposing_slope(&s, i));
        total[2] += s.along[i] * s.along[i] / (double)rows_all(k->u->data);
    }
}

static void merge_totals(double *total, const double *part)
{
    total[0] = fmax(total[0], part[0]);
    total[1] = fmax(total[1], part[1]);
    total[2] += part[2];
}

static const double empty_totals[3] = {0.0, -INFINITY, 0.0};

sbps_status direction_scan_run(const posterior *u, const double *w, const double *v,
                               direction_scan *out, sbps_error *err)
{
    scan k = {.u = u};
    double total[3] = {empty_totals[0], empty_totals[1], empty_totals[2]};
    sbps_status status = padded_line_open(&k.line, u, w, v, err);
    if (status != SBPS_OK) return status;
    const row_sum what = {.self = &k,
                          .width = 3,
                          .scratch = 3 * ROW_BLOCK,
                          .add = scan_rows,
                          .begin = empty_totals,
                          .merge = merge_totals};
    status = row_sums(u->data, &what, total, err);
    *out = (direction_scan){total[0], total[1], total[2]};
    free(k.line.p);
    return status;
}

/* Sum of |x_ij v_j|: what the row's predictor is rounded against. */
static double row_magnitude(const scan *k, size_t row, double *x)
{
    double sum = 0.0;
    k->u->data->storage->decode(k->u->data, row, x);
    for (size_t j = 0; j < k->u->data->d; j++) sum += fabs(x[j] * k->line.q[j]);
    return sum;
}

/* total[0]: rows that do */
static void find_opposed(const void *self, row_range r, double *scratch, double *total)
{
    const scan *k = self;
    block_arrays s = scan_block(k, r, scratch);
    for (size_t i = 0; i < r.n && *total == 0.0; i++) {
        double against = opposing_slope(&s, i);
        if (against > 0.0 && against > k->rounding * row_magnitude(k, r.first + i, s.row))
            *total = 1.0;
    }
}

sbps_status direction_scan_opposed(const posterior *u, const double *w, const double *v,
                                   double rounding, bool *out, sbps_error *err)
{
    scan k = {.u = u, .rounding = rounding};
    double total = 0.0;
    sbps_status status = padded_line_open(&k.line, u, w, v, err);
    if (status != SBPS_OK) return status;
    const row_sum what = {.self = &k,
                          .width = 1,
                          .scratch = 3 * ROW_BLOCK + u->data->stride,
                          .add = find_opposed,
                          .any = true};
    status = row_sums(u->data, &what, &total, err);
    *out = total > 0.0;
    free(k.line.p);
    return status;
}

#include "posterior/journey.h"
#include "data/row_sums.h"
#include "posterior/predictors.h"

#include <math.h>
#include <stdlib.h>

/* Of a walk through the rows. */
typedef struct {
    const posterior *u;
    padded_line line;
    double rounding;
} walk;

/* A block's predictors, how these move along v, and what pulls. */
typedef struct {
    double *eta, *along, *pull, *row;
} strip;

static strip divide(double *scratch)
{
    return (strip){scratch, scratch + ROW_BLOCK, scratch + 2 * ROW_BLOCK,
                   scratch + 3 * ROW_BLOCK};
}

static strip look(const walk *k, row_range r, double *scratch)
{
    const rows *data = k->u->data;
    strip s = divide(scratch);
    batch b = predictors_of(k->u, r, &k->line, s.eta, s.along);
    k->u->model->predictor->gradient(&b, s.pull, NULL);
    for (size_t i = 0; i < r.n; i++)
        if (data->weight && data->weight[r.first + i] == 0.0) s.along[i] = s.pull[i] = 0.0;
    return s;
}

/* How far row i of the block would rather go the other way. */
static double objection(const strip *s, size_t i)
{
    if (s->pull[i] == 0.0) return -INFINITY;
    return s->pull[i] > 0.0 ? -s->along[i] : s->along[i];
}

static void travel(const void *self, row_range r, double *scratch, double *total)
{
    const walk *k = self;
    strip s = look(k, r, scratch);
    for (size_t i = 0; i < r.n; i++) {
        total[0] = fmax(total[0], fabs(s.along[i]));
        total[1] = fmax(total[1], objection(&s, i));
        total[2] += s.along[i] * s.along[i] / (double)rows_all(k->u->data);
    }
}

static void join(double *total, const double *part)
{
    total[0] = fmax(total[0], part[0]);
    total[1] = fmax(total[1], part[1]);
    total[2] += part[2];
}

static const double nowhere[3] = {0.0, -INFINITY, 0.0};

sbps_status journey_take(const posterior *u, const double *w, const double *v, journey *out,
                         sbps_error *err)
{
    walk k = {.u = u};
    double total[3] = {nowhere[0], nowhere[1], nowhere[2]};
    sbps_status status = padded_line_open(&k.line, u, w, v, err);
    if (status != SBPS_OK) return status;
    const row_sum what = {.self = &k,
                          .width = 3,
                          .scratch = 3 * ROW_BLOCK,
                          .add = travel,
                          .begin = nowhere,
                          .merge = join};
    status = row_sums(u->data, &what, total, err);
    *out = (journey){total[0], total[1], total[2]};
    free(k.line.p);
    return status;
}

/* Sum of |x_ij v_j|: what the row's predictor is rounded against. */
static double magnitude(const walk *k, size_t row, double *x)
{
    double sum = 0.0;
    k->u->data->storage->decode(k->u->data, row, x);
    for (size_t j = 0; j < k->u->data->d; j++) sum += fabs(x[j] * k->line.q[j]);
    return sum;
}

/* total[0]: rows that do */
static void ask(const void *self, row_range r, double *scratch, double *total)
{
    const walk *k = self;
    strip s = look(k, r, scratch);
    for (size_t i = 0; i < r.n && *total == 0.0; i++) {
        double against = objection(&s, i);
        if (against > 0.0 && against > k->rounding * magnitude(k, r.first + i, s.row))
            *total = 1.0;
    }
}

sbps_status journey_objected(const posterior *u, const double *w, const double *v,
                             double rounding, bool *out, sbps_error *err)
{
    walk k = {.u = u, .rounding = rounding};
    double total = 0.0;
    sbps_status status = padded_line_open(&k.line, u, w, v, err);
    if (status != SBPS_OK) return status;
    const row_sum what = {.self = &k,
                          .width = 1,
                          .scratch = 3 * ROW_BLOCK + u->data->stride,
                          .add = ask,
                          .any = true};
    status = row_sums(u->data, &what, &total, err);
    *out = total > 0.0;
    free(k.line.p);
    return status;
}

/* Where a search begins of itself. */
#include "posterior/mode/search.h"
#include "table/generated_rows.h"
#include "table/row_sums.h"

#include <math.h>
#include <string.h>

/* Of the table's first row. */
static double first_target(const rows *data)
{
    double y;
    if (data->partition) return data->partition->origin;
    return *rows_targets(data, rows_from(0, 1), &y) - (data->offset ? data->offset[0] : 0.0);
}

/* Sums of weights, and of (y - y_0) and its square with them. */
static void add_moments(const void *self, row_range r, double *scratch, double *total)
{
    const rows *data = self;
    double from = first_target(data);
    const double *target = rows_targets(data, r, scratch);
    for (size_t i = 0; i < r.n; i++) {
        size_t row = r.first + i;
        double c = data->weight ? data->weight[row] : 1.0,
               y = target[i] - (data->offset ? data->offset[row] : 0.0) - from;
        total[0] += c;
        total[1] += c * y;
        total[2] += c * y * y;
    }
}

/* Weighted mean and sd of the target less its offset. */
static sbps_status target_moments(const rows *data, double *mean, double *sd, sbps_error *err)
{
    double sums[3] = {0};
    rows few = *data; /* of rows made on the fly few are enough */
    if (data->recipe) few = generated_sample(data, GENERATED_FEW);
    data = &few;
    const row_sum what = {.self = data,
                          .width = 3,
                          .scratch = data->recipe ? ROW_BLOCK : 0,
                          .add = add_moments,
                          .beside = true};
    sbps_status status = row_sums(data, &what, sums, err);
    double m = sums[0] > 0.0 ? sums[1] / sums[0] : 0.0;
    double variance = sums[0] > 0.0 ? sums[2] / sums[0] - m * m : 0.0;
    *mean = first_target(data) + m;
    *sd = variance > 0.0 ? sqrt(variance) : 1.0;
    return status;
}

/* Where auxiliaries start, those that have the target's unit in terms of its spread. */
static void place_auxiliaries(search *s, double spread)
{
    for (size_t i = 0; i < s->u->auxiliaries; i++) {
        const model_auxiliary *each = &s->u->model->auxiliaries[i];
        double unit = each->of_target ? spread : 1.0;
        s->w[s->u->columns + i] = scale_coordinate(each->scale, each->start * unit);
    }
}

/* Zeros; where the target has a scale, the intercept at its mean and sigma at its spread. */
sbps_status search_initial_point(search *s, sbps_error *err)
{
    const rows *data = s->u->data;
    bool scaled = s->u->model->facts.scales_with_target;
    double mean = 0.0, sd = 1.0;
    memset(s->w, 0, s->dim * sizeof *s->w);
    if (s->u->model->parameters.start) {
        s->u->model->parameters.start(s->u->self, s->w);
        return SBPS_OK;
    }
    if (scaled || s->u->auxiliaries) {
        sbps_status status = target_moments(data, &mean, &sd, err);
        if (status != SBPS_OK) return status;
    }
    s->log_spread = log(sd);
    place_auxiliaries(s, data->intercept ? sd : hypot(mean, sd));
    if (scaled && data->intercept) s->w[0] = mean;
    return SBPS_OK;
}

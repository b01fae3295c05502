/* With |d log p/d eta| <= L and |d^2 log p/d eta^2| <= K for every row,
 *
 *   |d log p_i along A v|                 <= L |x~_i| |v|                  x~ = A'x
 *   |d_j log p_i(w) - d_j log p_i(w_hat)| <= K |x~_ij| |x~_i| |A^-1 (w - w_hat)|
 *                                         <= (L + |d log p_i/d eta(w_hat)|) |x~_ij|
 *   0 <= Hessian of -log p                <= K sum_i x~_i x~_i'            (log-concave rows)
 *
 * each times the row's weight. Bierkens, Fearnhead, Roberts (2019), Annals of Statistics 47. */
#include "potential/bounds.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

sbps_status bounds_check_priors(const posterior *target, const char *sampler, sbps_error *err)
{
    for (size_t j = 0; j < target->dim; j++) {
        const prior *of = &target->priors[j];
        if (target->scale[j] == SCALE_PLAIN && (of->kind->quadratic || of->kind->slope_bound))
            continue;
        return fail(
            err, SBPS_BAD_ARG,
            "--sampler: %s needs an exact bound on the prior's slope, which %s has not; "
            "sbps takes any prior",
            sampler, of->kind->name);
    }
    return SBPS_OK;
}

sbps_status bounds_check(const posterior *target, const char *sampler, sbps_error *err)
{
    const model_kind *m = target->model;
    bool bounded = m->slope_bound > 0.0 && m->curvature_bound > 0.0 && m->log_concave;
    if (!bounded || m->general || m->aux_name)
        return fail(
            err, SBPS_BAD_ARG,
            "--sampler: %s needs an exact bound on every row's slope, which logistic has "
            "and %s has not; sbps takes any model",
            sampler, m->name);
    return bounds_check_priors(target, sampler, err);
}

size_t bounds_row_count(const posterior *target)
{
    return target->data->n;
}

/* ---- over all rows ---- */

static double row_weight(const posterior *target, size_t i)
{
    return target->data->weight ? target->data->weight[i] : 1.0;
}

static void map_row(const posterior *target, row_map map, size_t i, double *out)
{
    const rows *data = target->data;
    const double *x = data->x ? data->x + i * data->stride : out + target->dim;
    if (!data->x) data->storage->decode(data, i, out + target->dim);
    map.transpose(map.self, x, out);
}

static double length(size_t d, const double *x)
{
    double sum = 0.0;
    for (size_t j = 0; j < d; j++) sum += x[j] * x[j];
    return sqrt(sum);
}

double bounds_norms(const posterior *target, row_map map, double *scratch, double *each)
{
    double most = 0.0;
    for (size_t i = 0; i < target->data->n; i++) {
        map_row(target, map, i, scratch);
        double b =
            row_weight(target, i) * target->model->slope_bound * length(target->dim, scratch);
        if (each) each[i] = b;
        most = larger(b, most);
    }
    return most;
}

void bounds_columns(const potential *u, row_map map, double *scratch, column_bounds out)
{
    const posterior *target = u->target;
    const model_kind *m = target->model;
    size_t d = target->dim;
    memset(out.largest, 0, d * sizeof *out.largest);
    memset(out.total, 0, d * sizeof *out.total);
    memset(out.lever, 0, d * sizeof *out.lever);
    for (size_t i = 0; i < target->data->n; i++) {
        map_row(target, map, i, scratch);
        double weight = row_weight(target, i), steep = weight * m->slope_bound;
        double apart = steep + (u->cv ? weight * fabs(u->cv->d_eta[i]) : 0.0);
        double curved = weight * m->curvature_bound * length(d, scratch);
        for (size_t j = 0; j < d; j++) {
            double x = fabs(scratch[j]);
            out.largest[j] = larger(apart * x, out.largest[j]);
            out.lever[j] = larger(curved * x, out.lever[j]);
            out.total[j] += steep * x;
        }
    }
}

void bounds_hessian(const posterior *target, row_map map, double *scratch, double *out)
{
    size_t d = target->dim;
    memset(out, 0, d * d * sizeof *out);
    for (size_t i = 0; i < target->data->n; i++) {
        map_row(target, map, i, scratch);
        double k = row_weight(target, i) * target->model->curvature_bound;
        for (size_t j = 0; j < d; j++)
            for (size_t l = 0; l < d; l++) out[j * d + l] += k * scratch[j] * scratch[l];
    }
}

/* ---- the prior along the line ---- */

static double curved_bound(const potential *u, size_t j)
{
    const prior *of = &u->target->priors[j];
    return of->kind->slope_bound(of->theta);
}

double bounds_curved_slope(const potential *u, const double *a)
{
    double sum = 0.0;
    for (size_t c = 0; c < u->curved_count; c++)
        sum += fabs(potential_seen(u, a, u->curved[c])) * curved_bound(u, u->curved[c]);
    return sum;
}

prior_line bounds_prior_line(const potential *u)
{
    return (prior_line){.slope = u->state->prior_slope,
                        .rate = u->state->prior_rate,
                        .rest = bounds_curved_slope(u, u->q)};
}

void bounds_exact_gradient(const potential *u, double *slope, double *rate)
{
    for (size_t j = 0; j < u->target->dim; j++) {
        const prior *of = &u->target->priors[j];
        bool exact = of->kind->quadratic && !log_prior_leans(u->target, j);
        slope[j] = exact ? -of->kind->slope(of->theta, u->p[j]) : 0.0;
        rate[j] = exact ? -of->kind->curvature(of->theta, u->p[j]) * u->q[j] : 0.0;
        if (u->cv) slope[j] -= u->cv->gradient[j];
    }
    for (size_t i = 0; i < u->target->centred; i++) {
        const prior_lead *lead = &u->leads[i];
        size_t j = i * u->target->data->d;
        log_prior_spread(u->target, j, -lead->bend * (lead->p - lead->centre), slope);
        log_prior_spread(u->target, j, -lead->bend * lead->q, rate);
    }
}

bool bounds_curved_gradient(const potential *u, double t, double *out)
{
    if (!u->curved_count) return false;
    memset(out, 0, u->target->dim * sizeof *out);
    for (size_t c = 0; c < u->curved_count; c++) {
        size_t j = u->curved[c];
        double w = potential_seen(u, u->p, j) + t * potential_seen(u, u->q, j);
        potential_spread(u, j, -prior_slope(&u->target->priors[j], SCALE_PLAIN, w), out);
    }
    return true;
}

/* ---- one row ---- */

void bounds_look_at(potential *u, size_t row)
{
    u->state->kept = u->state->turned = false;
    if (u->kind->uses_list)
        u->list[0] = row;
    else
        u->state->first = row;
}

double bounds_row_partial(potential *u, size_t row, double t, const double *a)
{
    const posterior *target = u->target;
    const rows *data = target->data;
    const double *x = data->x ? data->x + row * data->stride : u->point;
    double eta, deta, d_eta, along = 0.0;
    rows_products(data, target->k, rows_from(row, 1), u->p, u->q, &eta, &deta);
    eta += t * deta + (data->offset ? data->offset[row] : 0.0);
    batch b = {.k = target->k, .n = 1, .eta = &eta, .y = data->y + row};
    target->model->gradient(&b, &d_eta, NULL);
    if (u->cv) d_eta -= u->cv->d_eta[row];
    if (!data->x) data->storage->decode(data, row, u->point);
    for (size_t j = 0; j < data->d; j++) along += x[j] * a[j];
    return -(double)data->n * row_weight(target, row) * d_eta * along;
}

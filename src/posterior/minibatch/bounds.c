/* With |d log p/d eta| <= L and |d^2 log p/d eta^2| <= K for every row,
 *
 *   |d log p_i along A v|                 <= L |x~_i| |v|                  x~ = A'x
 *   |d_j log p_i(w) - d_j log p_i(w_hat)| <= K |x~_ij| |x~_i| |A^-1 (w - w_hat)|
 *                                         <= (L + |d log p_i/d eta(w_hat)|) |x~_ij|
 *   0 <= Hessian of -log p                <= K sum_i x~_i x~_i'            (log-concave rows)
 *
 * each times the row's weight. Bierkens, Fearnhead, Roberts (2019), Annals of Statistics 47. */
#include "posterior/minibatch/bounds.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "posterior/minibatch/minibatch.h"

#include <math.h>
#include <string.h>

sbps_status bounds_check_priors(const potential_facts *facts, const char *sampler,
                                sbps_error *err)
{
    if (!facts->unbounded_prior) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG,
                "--sampler: %s needs an exact bound on the prior's slope, which %s has not; "
                "sbps takes any prior",
                sampler, facts->unbounded_prior);
}

sbps_status bounds_check(const potential_facts *facts, const char *sampler, sbps_error *err)
{
    if (facts->bounded) return bounds_check_priors(facts, sampler, err);
    return fail(err, SBPS_BAD_ARG,
                "--sampler: %s needs an exact bound on every row's slope, which logistic has "
                "and %s has not; sbps takes any model",
                sampler, facts->model);
}

/* ---- over all rows ---- */

static double row_weight(const posterior *target, size_t i)
{
    return target->data->weight ? target->data->weight[i] : 1.0;
}

static void map_row(const posterior *target, row_map map, size_t i, double *out)
{
    const rows *data = target->data;
    const double *x = data->storage.x ? data->storage.x + i * data->stride : out + target->dim;
    if (!data->storage.x) data->storage.kind->decode(data, i, out + target->dim);
    map.transpose(map.self, x, out);
}

double bounds_norms(const potential *of, row_map map, double *scratch, double *each)
{
    const posterior *target = minibatch_const(of)->target;
    double largest = 0.0;
    for (size_t i = 0; i < target->data->local_rows; i++) {
        map_row(target, map, i, scratch);
        double b = row_weight(target, i) * target->model->predictor->slope_bound *
                   norm(target->dim, scratch);
        if (each) each[i] = b;
        largest = larger(b, largest);
    }
    return largest;
}

void bounds_columns(const potential *of, row_map map, double *scratch, column_bounds out)
{
    const minibatch *u = minibatch_const(of);
    const posterior *target = u->target;
    const predictor *m = target->model->predictor;
    size_t d = target->dim;
    memset(out.largest, 0, d * sizeof *out.largest);
    memset(out.total, 0, d * sizeof *out.total);
    memset(out.leverage, 0, d * sizeof *out.leverage);
    for (size_t i = 0; i < target->data->local_rows; i++) {
        map_row(target, map, i, scratch);
        double weight = row_weight(target, i), steep = weight * m->slope_bound;
        double apart = steep + (u->cv ? weight * fabs(u->cv->d_eta[i]) : 0.0);
        double curved = weight * m->curvature_bound * norm(d, scratch);
        for (size_t j = 0; j < d; j++) {
            double x = fabs(scratch[j]);
            out.largest[j] = larger(apart * x, out.largest[j]);
            out.leverage[j] = larger(curved * x, out.leverage[j]);
            out.total[j] += steep * x;
        }
    }
}

void bounds_hessian(const potential *of, row_map map, double *scratch, double *out)
{
    const posterior *target = minibatch_const(of)->target;
    size_t d = target->dim;
    memset(out, 0, d * d * sizeof *out);
    for (size_t i = 0; i < target->data->local_rows; i++) {
        map_row(target, map, i, scratch);
        double k = row_weight(target, i) * target->model->predictor->curvature_bound;
        for (size_t j = 0; j < d; j++)
            for (size_t l = 0; l < d; l++) out[j * d + l] += k * scratch[j] * scratch[l];
    }
}

void bounds_curvature(potential *of, const double *at, const double *a, double *out)
{
    const minibatch *u = minibatch_of(of);
    const posterior *target = u->target;
    const double minus = -1.0; /* U = -log p */
    memset(out, 0, target->dim * sizeof *out);
    for (size_t i = 0; i < target->data->local_rows; i++)
        target->model->rows.hessian_vector(target->self, rows_from(i, 1), at, a, &minus,
                                           u->scratch, out);
}

/* ---- the prior along the line ---- */

static double curved_bound(const minibatch *u, size_t j)
{
    const prior *of = &u->target->priors[j];
    return of->kind->slope_bound(of->theta);
}

double bounds_curved_slope(const potential *of, const double *a)
{
    const minibatch *u = minibatch_const(of);
    double sum = 0.0;
    for (size_t c = 0; c < u->curved_count; c++)
        sum +=
            fabs(minibatch_prior_argument(u, a, u->curved[c])) * curved_bound(u, u->curved[c]);
    return sum;
}

prior_line bounds_prior_line(const potential *of)
{
    const minibatch *u = minibatch_const(of);
    return (prior_line){.slope = u->state->prior_slope,
                        .rate = u->state->prior_rate,
                        .rest = bounds_curved_slope(of, u->q)};
}

void bounds_exact_gradient(const potential *of, double *slope, double *rate)
{
    const minibatch *u = minibatch_const(of);
    for (size_t j = 0; j < u->target->dim; j++) {
        const prior *own = &u->target->priors[j];
        bool exact = own->kind->quadratic && !log_prior_centred(u->target, j);
        slope[j] = exact ? -own->kind->slope(own->theta, u->p[j]) : 0.0;
        rate[j] = exact ? -own->kind->curvature(own->theta, u->p[j]) * u->q[j] : 0.0;
        if (u->cv) slope[j] -= u->cv->gradient[j];
    }
    for (size_t i = 0; i < u->target->centred; i++) {
        const centred_prior *centred = &u->centred_priors[i];
        size_t j = i * u->target->data->d;
        log_prior_spread(u->target, j, -centred->curvature * (centred->p - centred->centre),
                         slope);
        log_prior_spread(u->target, j, -centred->curvature * centred->q, rate);
    }
}

bool bounds_curved_gradient(const potential *of, double t, double *out)
{
    const minibatch *u = minibatch_const(of);
    if (!u->curved_count) return false;
    memset(out, 0, u->target->dim * sizeof *out);
    for (size_t c = 0; c < u->curved_count; c++) {
        size_t j = u->curved[c];
        double w =
            minibatch_prior_argument(u, u->p, j) + t * minibatch_prior_argument(u, u->q, j);
        minibatch_spread(u, j, -prior_slope(&u->target->priors[j], SCALE_PLAIN, w), out);
    }
    return true;
}

/* ---- one row ---- */

void bounds_select_row(potential *of, size_t row)
{
    minibatch *u = minibatch_of(of);
    u->state->residuals_kept = u->state->line_reversed = false;
    if (u->kind->uses_list)
        u->list[0] = row;
    else
        u->state->first = row;
}

double bounds_row_partial(potential *of, size_t row, double t, const double *a)
{
    minibatch *u = minibatch_of(of);
    const posterior *target = u->target;
    const rows *data = target->data;
    const double *x = data->storage.x ? data->storage.x + row * data->stride : u->point;
    double eta, deta, d_eta;
    rows_products(data, target->k, rows_from(row, 1), u->p, u->q, &eta, &deta);
    eta += t * deta + (data->offset ? data->offset[row] : 0.0);
    batch b = {.k = target->k, .n = 1, .eta = &eta, .y = data->y + row};
    target->model->predictor->gradient(&b, &d_eta, NULL);
    if (u->cv) d_eta -= u->cv->d_eta[row];
    if (!data->storage.x) data->storage.kind->decode(data, row, u->point);
    double partial =
        -(double)data->local_rows * row_weight(target, row) * d_eta * dot(data->d, x, a);
    u->is.had_nan = u->is.had_nan || isnan(partial);
    return partial;
}

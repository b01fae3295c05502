/* The bias that is stated of coordinates, carried on to a function f of them to first order: with m the mean of w and
 * s the shift stated of it, in units of w,
 *
 *   shift of f = (f(m + s) - f(m - s)) / 2.                                                         (1)
 *
 * The errors of the stated shifts are taken for independent. Their part in (1) has the variance
 * sum (df/dw_k error_k)^2, which is the mean square of (1) over shifts by one error each with random signs; some of
 * these are looked at, the same for all functions, and no derivative is needed. */
#include "core/memory.h"
#include "inference/run/derived_quantities.h"

#include <math.h>
#include <string.h>

#define PROBES ((size_t)32)
#define POINTS (2 * (1 + PROBES))

/* Mean and sd of every coordinate over the draws of a result. */
static void measure_draws(const sbps_run *run, const result *r, propagated_bias *c)
{
    size_t d = c->u->dim;
    double count = (double)(r->chains * r->draws);
    for (size_t i = 0; i < r->chains * r->draws; i++) {
        const double *w = run->chains[i / r->draws].d.w + i % r->draws * d;
        for (size_t k = 0; k < d; k++) {
            double off = w[k] - run->reference->w[k];
            c->mean[k] += off / count;
            c->sd[k] += off * off / count;
        }
    }
    for (size_t k = 0; k < d; k++) {
        c->sd[k] = sqrt(fmax(c->sd[k] - c->mean[k] * c->mean[k], 0.0));
        c->mean[k] += run->reference->w[k];
    }
}

static void put_pair(const propagated_bias *c, size_t pair, size_t k, double shift)
{
    size_t d = c->u->dim;
    c->points[2 * pair * d + k] = c->mean[k] - shift;
    c->points[(2 * pair + 1) * d + k] = c->mean[k] + shift;
}

static void place_points(const sbps_run *run, const result *r, const propagated_bias *c)
{
    rng random = rng_stream(run->options->seed, 0, RNG_DERIVED);
    for (size_t k = 0; k < c->u->dim; k++) {
        put_pair(c, 0, k, r->bias[k] * c->sd[k]);
        for (size_t p = 1; p <= PROBES; p++) {
            double sign = rng_uniform(&random) < 0.5 ? -1.0 : 1.0;
            put_pair(c, p, k, sign * r->bias_se[k] * c->sd[k]);
        }
    }
}

sbps_status propagated_open(const sbps_run *run, const result *r, propagated_bias *c,
                            sbps_error *err)
{
    size_t d = run->target->dim;
    *c = (propagated_bias){.u = run->target,
                           .mean = new_doubles(d),
                           .sd = new_doubles(d),
                           .points = new_doubles(POINTS * d),
                           .values = new_doubles(POINTS * DERIVED_AT_A_TIME)};
    if (!c->mean || !c->sd || !c->points || !c->values) return fail_memory(err);
    measure_draws(run, r, c);
    place_points(run, r, c);
    return SBPS_OK;
}

void propagated_close(propagated_bias *c)
{
    free(c->mean);
    free(c->sd);
    free(c->points);
    free(c->values);
}

void propagated_evaluate(propagated_bias *c, size_t first, size_t count)
{
    const posterior *u = c->u;
    for (size_t i = 0; i < POINTS; i++)
        u->model->reported.values(u->self, c->points + i * u->dim, first, count,
                                  c->values + i * count);
}

/* (1), with the shift of that pair. */
static double shift(const propagated_bias *c, size_t pair, size_t count, size_t i)
{
    const double *values = c->values + 2 * pair * count + i;
    return 0.5 * (values[count] - values[0]);
}

void propagated_shift(const propagated_bias *c, size_t count, size_t i, double sd,
                      double *of_mean, double *error)
{
    double square = 0.0;
    for (size_t p = 1; p <= PROBES; p++)
        square += shift(c, p, count, i) * shift(c, p, count, i) / (double)PROBES;
    *of_mean = sd > 0.0 ? shift(c, 0, count, i) / sd : NAN;
    *error = sd > 0.0 ? sqrt(square) / sd : NAN;
}

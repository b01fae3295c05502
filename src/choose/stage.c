/* The noise of a row's slope, measured where the posterior is, along directions u = A v with v uniform
 * on the sphere, in units of the posterior's own curvature u'Hu. */
#include "choose/stage.h"
#include "base/cholesky.h"
#include "base/dense.h"

#include <math.h>
#include <string.h>

#define POINT_ROWS      ((size_t)512) /* at each point: rare rows must be met */
#define INFLUENCE_ROWS  1e7           /* rows looked at to tell their influence, */
#define INFLUENCE_LEAST ((size_t)4)   /* but each so often */

static void carve(stage *s)
{
    const sbps_run *run = s->run;
    size_t n = run->target->data->n < POINT_ROWS ? run->target->data->n : POINT_ROWS;
    size_t d = run->target->dim;
    s->memory.used = 0;
    minibatch_carve(&s->u, n < run->target->data->n ? &batch_window : &batch_full, run->target,
                    n, &s->memory);
    s->points = arena_doubles(&s->memory, STAGE_POINTS * d);
    s->z = arena_doubles(&s->memory, d);
    s->q = arena_doubles(&s->memory, d);
}

sbps_status stage_open(stage *s, const sbps_run *run, sbps_error *err)
{
    *s = (stage){.run = run};
    carve(s);
    s->memory = (arena){.base = aligned_zeroed(s->memory.used), .size = s->memory.used};
    if (!s->memory.base) return fail_memory(err);
    carve(s);
    s->random = rng_stream(run->options->seed, 0, RNG_AUTO);
    return SBPS_OK;
}

static double curvature(const sbps_run *run, const double *q)
{
    return quadratic_terms(run->target->dim, run->reference->hessian, q);
}

/* A direction of the metric into s->q; returns u'Hu. */
static double draw_direction(stage *s, rng *random)
{
    const sbps_run *run = s->run;
    size_t d = run->target->dim;
    double norm = 0.0;
    for (size_t j = 0; j < d; j++) {
        s->z[j] = rng_normal(random);
        norm += s->z[j] * s->z[j];
    }
    for (size_t j = 0; j < d; j++) s->z[j] /= sqrt(norm);
    run->a->kind->forward(run->a, s->z, s->q);
    return curvature(run, s->q);
}

double stage_noise(stage *s, const control *cv)
{
    const sbps_run *run = s->run;
    size_t d = run->target->dim;
    double sum = 0.0;
    rng random = s->random;
    minibatch_start(&s->u, rng_stream(run->options->seed, 1, RNG_AUTO));
    s->u.cv = cv;
    for (size_t i = 0; i < STAGE_POINTS; i++) {
        double natural = draw_direction(s, &random);
        potential_aim(&s->u.is, s->points + i * d, s->q);
        sum += minibatch_row_variance(&s->u) / natural;
    }
    return sum / (double)STAGE_POINTS;
}

sbps_status stage_influence(stage *s, const control *cv, float *influence, sbps_error *err)
{
    const sbps_run *run = s->run;
    size_t d = run->target->dim, n = run->target->data->n;
    size_t points = (size_t)(INFLUENCE_ROWS / (double)n);
    if (points < INFLUENCE_LEAST) points = INFLUENCE_LEAST;
    if (points > STAGE_POINTS) points = STAGE_POINTS;
    double *squares = new_doubles(n);
    if (!squares) return fail_memory(err);
    rng random = s->random;
    minibatch_start(&s->u, random);
    s->u.cv = cv;
    for (size_t i = 0; i < points; i++) {
        double natural = draw_direction(s, &random);
        potential_aim(&s->u.is, s->points + i * d, s->q);
        minibatch_add_squares(&s->u, 1.0 / natural / (double)points, squares);
    }
    for (size_t i = 0; i < n; i++) influence[i] = (float)sqrt(squares[i]);
    free(squares);
    return SBPS_OK;
}

/* Draws of the normal at the mode: L'(w - w_hat) = z with H = L L'. */
void stage_normal(stage *s)
{
    const sbps_run *run = s->run;
    size_t d = run->target->dim;
    for (size_t i = 0; i < STAGE_POINTS; i++) {
        double *w = s->points + i * d;
        for (size_t j = 0; j < d; j++) w[j] = rng_normal(&s->random);
        cholesky_back(d, run->factor, w);
        for (size_t j = 0; j < d; j++) w[j] += run->reference->w[j];
    }
}

/* Evenly, the same number of each chain. */
bool stage_draws(stage *s)
{
    const sbps_run *run = s->run;
    size_t d = run->target->dim, each = STAGE_POINTS / run->chain_count, at = 0;
    for (size_t c = 0; each > 0 && c < run->chain_count; c++) {
        const draws *from = &run->chains[c].d;
        if (from->state->count < each) return false;
        for (size_t i = 0; i < each; i++) {
            size_t pick = i * from->state->count / each;
            memcpy(s->points + at++ * d, from->w + pick * d, d * sizeof(double));
        }
    }
    for (size_t i = at; at > 0 && i < STAGE_POINTS; i++)
        memcpy(s->points + i * d, s->points + (i - at) * d, d * sizeof(double));
    return at > 0;
}

void stage_close(stage *s)
{
    minibatch_release(&s->u);
    free(s->memory.base);
}

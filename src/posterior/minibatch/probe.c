/* Measures mini-batch noise at points of the posterior, see probe.h. */
#include "posterior/minibatch/probe.h"

#include "linalg/real.h"

#include <math.h>
#include <stdlib.h>

#define POINT_ROWS     ((size_t)512) /* at each point: rare rows must be included */
#define POINT_ROWS_MIN ((size_t)32)
/* row evaluations to measure the influence of rows with, ... */
#define INFLUENCE_ROWS       1e7
#define INFLUENCE_POINTS_MIN ((size_t)4) /* but at least this many per row */

/* Cost of a row relative to one that is evaluated through its columns. */
static double relative_row_cost(const posterior *u)
{
    return u->model->rows.cost ? larger(u->model->rows.cost(u->self) / (double)u->dim, 1.0)
                               : 1.0;
}

/* Rows per batch: fewer where rows are expensive. */
static size_t rows_at_a_point(const posterior *u)
{
    size_t all = u->data->local_rows, n = (size_t)((double)POINT_ROWS / relative_row_cost(u));
    if (n < POINT_ROWS_MIN) n = POINT_ROWS_MIN;
    return n < all ? n : all;
}

/* Carves the potential and the arrays; called twice, first to count. */
static void carve_probe(probe *p, const posterior *target)
{
    size_t all = target->data->local_rows, n = rows_at_a_point(target);
    p->memory.used = 0;
    minibatch_carve(&p->u, n < all ? &batch_window : &batch_full, target, n, &p->memory);
    p->points = arena_doubles(&p->memory, PROBE_POINTS * target->dim);
    p->directions = arena_doubles(&p->memory, PROBE_POINTS * target->dim);
    p->natural = arena_doubles(&p->memory, PROBE_POINTS);
    p->scratch = arena_doubles(&p->memory, target->dim);
}

sbps_status probe_open(probe *p, const posterior *target, sbps_error *err)
{
    *p = (probe){0};
    carve_probe(p, target);
    p->memory = (arena){.base = aligned_zeroed(p->memory.used), .size = p->memory.used};
    if (!p->memory.base) return fail_memory(err);
    carve_probe(p, target);
    return SBPS_OK;
}

void probe_close(probe *p)
{
    minibatch_release(&p->u);
    free(p->memory.base);
}

static void set_line_at(probe *p, size_t i)
{
    size_t d = p->u.target->dim;
    potential_set_line(&p->u.is, p->points + i * d, p->directions + i * d);
}

double probe_noise(probe *p, const control *cv, rng batches)
{
    double sum = 0.0;
    minibatch_start(&p->u, batches);
    minibatch_equip(&p->u, cv, 0.0);
    for (size_t i = 0; i < PROBE_POINTS; i++) {
        set_line_at(p, i);
        sum += minibatch_row_variance(&p->u) / p->natural[i];
    }
    return sum / (double)PROBE_POINTS;
}

sbps_status probe_influence(probe *p, const control *cv, rng batches, float *influence,
                            sbps_error *err)
{
    const posterior *target = p->u.target;
    size_t n = target->data->local_rows,
           points = (size_t)(INFLUENCE_ROWS / ((double)n * relative_row_cost(target)));
    if (points < INFLUENCE_POINTS_MIN) points = INFLUENCE_POINTS_MIN;
    if (points > PROBE_POINTS) points = PROBE_POINTS;
    double *squares = new_doubles(n);
    if (!squares) return fail_memory(err);
    minibatch_start(&p->u, batches);
    minibatch_equip(&p->u, cv, 0.0);
    for (size_t i = 0; i < points; i++) {
        set_line_at(p, i);
        minibatch_add_squares(&p->u, 1.0 / p->natural[i] / (double)points, squares);
    }
    for (size_t i = 0; i < n; i++) influence[i] = (float)sqrt(squares[i]);
    free(squares);
    return SBPS_OK;
}

/* How many nodes are enough, and where a group's search begins: both by what groups say at points of the
 * posterior.
 *
 * With D the difference that more nodes make to the gradient of log p, means move by H^-1 D; in posterior sds that
 * is (H^-1 D)_j / sqrt((H^-1)_jj). */
#include "base/cholesky.h"
#include "base/memory.h"
#include "data/row_sums.h"
#include "mixed/marginal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOAL        0.005 /* posterior sds */
#define POINTS_MOST 4096.0
#define LOOKS       ((size_t)3) /* points of the posterior */
/* Groups lie in random order: what the first say stands for all. */
#define ROWS_ENOUGH  1e5
#define GROUPS_LEAST ((size_t)64)

static const size_t ladder[] = {3, 4, 5, 6, 7, 9, 11, 15, 21, 31, 45, 63};
#define RUNGS (sizeof ladder / sizeof *ladder)

typedef struct {
    mixed *m;
    const double *w;
} question;

static void add_gradient(const void *self, row_range r, double *scratch, double *total)
{
    const question *q = self;
    group_view v;
    group_begin(&v, q->m, q->w, NULL, false, scratch);
    for (size_t i = 0; i < r.n; i++) {
        group_value(&v, row_index(r, i));
        group_gradient(&v, 1.0, total);
    }
}

static void keep_centres(const void *self, row_range r, double *scratch, double *total)
{
    const question *q = self;
    size_t effects = q->m->shape.effects;
    group_view v;
    (void)total;
    group_begin(&v, q->m, q->w, NULL, false, scratch);
    for (size_t i = 0; i < r.n; i++) {
        size_t g = row_index(r, i);
        group_value(&v, g);
        memcpy(q->m->centre + g * effects, v.mode, effects * sizeof *v.mode);
    }
}

static sbps_status ask(const rows *groups, const question *q,
                       void (*add)(const void *, row_range, double *, double *), double *total,
                       sbps_error *err)
{
    const row_sum what = {
        .self = q, .width = total ? q->m->dim : 0, .scratch = group_scratch(q->m), .add = add};
    return row_sums(groups, &what, total, err);
}

/* w itself, and points a posterior sd away in every direction: w +- F'^-1 (1, -1, 1, ...). */
static void place(const mixed *m, const double *w, const double *factor, size_t look,
                  double *out)
{
    size_t d = m->dim;
    for (size_t j = 0; j < d; j++) out[j] = look == 0 ? 0.0 : (j % 2 == look % 2) ? 1.0 : -1.0;
    cholesky_back(d, factor, out);
    for (size_t j = 0; j < d; j++) out[j] += w[j];
}

/* The gradients at all points with so many nodes, one behind another. */
static sbps_status look(mixed *m, const rows *groups, const double *points, size_t nodes,
                        double *gradients, sbps_error *err)
{
    sbps_status status = mixed_set_nodes(m, nodes, err);
    memset(gradients, 0, LOOKS * m->dim * sizeof *gradients);
    for (size_t i = 0; i < LOOKS && status == SBPS_OK; i++) {
        const question q = {m, points + i * m->dim};
        status = ask(groups, &q, add_gradient, gradients + i * m->dim, err);
    }
    return status;
}

/* Largest move of a mean between two sets of gradients, which `room` has one behind another. */
static double largest_move(const mixed *m, double stands_for, const double *factor,
                           const double *covariance, const double *less, double *more)
{
    size_t d = m->dim;
    double worst = 0.0;
    for (size_t i = 0; i < LOOKS; i++) {
        double *x = more + (LOOKS + i) * d;
        for (size_t j = 0; j < d; j++) x[j] = stands_for * (more[i * d + j] - less[i * d + j]);
        cholesky_solve(d, factor, x);
        for (size_t j = 0; j < d; j++)
            worst = fmax(worst, fabs(x[j]) / sqrt(covariance[j * d + j]));
    }
    return worst;
}

static bool affordable(const mixed *m, size_t nodes)
{
    return pow((double)nodes, (double)m->shape.effects) <= POINTS_MOST;
}

static sbps_status climb(mixed *m, const rows *groups, const double *factor, double *room,
                         quadrature *out, sbps_error *err)
{
    rows first = *groups;
    size_t enough = (size_t)(ROWS_ENOUGH * (double)groups->n / (double)m->data->n);
    if (enough < GROUPS_LEAST) enough = GROUPS_LEAST;
    if (first.n > enough) first.n = enough;
    double stands_for = (double)groups->n / (double)first.n;
    size_t d = m->dim, rung = 0;
    double *points = room, *less = points + LOOKS * d, *more = less + LOOKS * d;
    double *covariance = more + 2 * LOOKS * d;
    cholesky_inverse(d, factor, covariance);
    sbps_status status = look(m, &first, points, ladder[0], less, err);
    for (; status == SBPS_OK && rung + 1 < RUNGS && affordable(m, ladder[rung + 1]); rung++) {
        status = look(m, &first, points, ladder[rung + 1], more, err);
        if (status != SBPS_OK) return status;
        out->error = largest_move(m, stands_for, factor, covariance, less, more);
        if (out->error <= GOAL) break;
        memcpy(less, more, LOOKS * d * sizeof *less);
    }
    out->nodes = ladder[rung];
    return status == SBPS_OK ? mixed_set_nodes(m, out->nodes, err) : status;
}

sbps_status mixed_settle(void *self, const rows *groups, const double *w, const double *factor,
                         quadrature *out, sbps_error *err)
{
    mixed *m = self;
    *out = (quadrature){.error = NAN};
    const question here = {m, w};
    double *room = new_doubles(4 * LOOKS * m->dim + m->dim * m->dim);
    if (!room) return fail_memory(err);
    for (size_t i = 0; i < LOOKS; i++) place(m, w, factor, i, room + i * m->dim);
    sbps_status status = ask(groups, &here, keep_centres, NULL, err);
    if (status == SBPS_OK) status = climb(m, groups, factor, room, out, err);
    free(room);
    return status;
}

/* Chooses how many quadrature nodes are enough and whether polynomials can replace rows, and
 * stores where searches for modes begin, by gradients at points of the posterior.
 *
 * If a finer rule changes the gradient of log p by D, posterior means move by H^-1 D; in
 * posterior sds that is (H^-1 D)_j / sqrt((H^-1)_jj). */
#include "core/memory.h"
#include "core/status.h"
#include "linalg/cholesky.h"
#include "model/mixed/group_polynomial_fit.h"
#include "model/mixed/group_view.h"
#include "model/mixed/nested.h"
#include "table/row_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOAL             0.005       /* largest move, in posterior sds */
#define GOAL_POLYNOMIAL  0.01        /* of rule and polynomials together */
#define POINTS_MAX       4096.0      /* of all levels' grids together */
#define POSTERIOR_POINTS ((size_t)3) /* where gradients are compared */
/* Groups are in random order: the first ones represent all. As many as have ROWS_ENOUGH rows
 * together are evaluated, but at least GROUPS_MIN. */
#define ROWS_ENOUGH 1e5
#define GROUPS_MIN  ((size_t)64)

/* Odd numbers only: with 3 and 4 nodes, as with 5 and 6, gradients may agree and both be
 * wrong. */
static const size_t ladder[] = {3, 5, 7, 9, 11, 15, 21, 31, 45, 63};
#define RUNGS (sizeof ladder / sizeof *ladder)

/* The point of a sum over groups. */
typedef struct {
    mixed *m;
    const double *w;
} evaluation;

/* Adds the gradients of some groups. */
static void add_group_gradients(const void *self, row_range r, double *scratch, double *total)
{
    const evaluation *q = self;
    group_view v;
    group_begin(&v, q->m, q->w, NULL, false, scratch);
    for (size_t i = 0; i < r.n; i++) {
        group_value(&v, row_index(r, i));
        group_gradient(&v, 1.0, total);
    }
}

/* Stores the modes of some groups, where later searches begin. */
static void keep_centres(const void *self, row_range r, double *scratch, double *total)
{
    const evaluation *q = self;
    size_t effects = q->m->shape.effects;
    group_view v;
    (void)total;
    group_begin(&v, q->m, q->w, NULL, false, scratch);
    for (size_t i = 0; i < r.n; i++) {
        size_t g = row_index(r, i);
        if (q->m->levels > 1) {
            group_load_rows(&v, g);
            nested_store_modes(&v);
            continue;
        }
        group_locate(&v, g);
        memcpy(q->m->centre + g * effects, v.mode, effects * sizeof *v.mode);
    }
}

/* Calls `add` for all groups; total NULL: nothing is summed. */
static sbps_status sum_groups(const rows *groups, const evaluation *q,
                              void (*add)(const void *, row_range, double *, double *),
                              double *total, sbps_error *err)
{
    const row_sum what = {
        .self = q, .width = total ? q->m->dim : 0, .scratch = group_scratch(q->m), .add = add};
    return row_sums(groups, &what, total, err);
}

/* Point 0 is w; the others are a posterior sd away in every direction: w +- F'^-1
 * (1, -1, 1, ...). */
static void set_posterior_point(const mixed *m, const double *w, const double *factor,
                                size_t point, double *out)
{
    size_t d = m->dim;
    for (size_t j = 0; j < d; j++)
        out[j] = point == 0 ? 0.0 : (j % 2 == point % 2) ? 1.0 : -1.0;
    cholesky_back(d, factor, out);
    for (size_t j = 0; j < d; j++) out[j] += w[j];
}

/* Computes the gradients at all points with this rule, one after another. */
static sbps_status evaluate_gradients(mixed *m, const rows *groups, const double *points,
                                      size_t nodes, double *gradients, sbps_error *err)
{
    sbps_status status = mixed_set_nodes(m, nodes, err);
    memset(gradients, 0, POSTERIOR_POINTS * m->dim * sizeof *gradients);
    for (size_t i = 0; i < POSTERIOR_POINTS && status == SBPS_OK; i++) {
        const evaluation q = {m, points + i * m->dim};
        status = sum_groups(groups, &q, add_group_gradients, gradients + i * m->dim, err);
    }
    return status;
}

/* Gradients by two rules, and what is needed to compare them. `scale` is the number of all
 * groups over that of the groups evaluated. */
typedef struct {
    rows first; /* the groups that are evaluated */
    double scale;
    const double *factor;
    double *points, *less, *more, *covariance;
} comparison;

/* The largest move of a mean between the two rules, in posterior sds. */
static double largest_move(const mixed *m, const comparison *c)
{
    size_t d = m->dim;
    double worst = 0.0;
    for (size_t i = 0; i < POSTERIOR_POINTS; i++) {
        double *x = c->more + (POSTERIOR_POINTS + i) * d;
        for (size_t j = 0; j < d; j++)
            x[j] = c->scale * (c->more[i * d + j] - c->less[i * d + j]);
        cholesky_solve(d, c->factor, x);
        for (size_t j = 0; j < d; j++)
            worst = fmax(worst, fabs(x[j]) / sqrt(c->covariance[j * d + j]));
    }
    return worst;
}

/* Points of the grids of all levels together. */
static double grid_points(const mixed *m, size_t nodes)
{
    double points = 1.0;
    for (size_t l = 0; l < m->levels; l++)
        points *= pow((double)nested_nodes(m, l, nodes), (double)m->level[l].shape.effects);
    return points;
}

/* The next rule with more nodes in all nested levels; RUNGS: its grid would be too large. */
static size_t rung_above(const mixed *m, size_t rung)
{
    size_t above = rung + 1;
    while (above < RUNGS && m->levels > 1 &&
           nested_nodes(m, 0, ladder[above]) <= nested_nodes(m, 0, ladder[rung]))
        above++;
    return above < RUNGS && grid_points(m, ladder[above]) <= POINTS_MAX ? above : RUNGS;
}

/* Takes the first groups, enough for ROWS_ENOUGH rows. */
static void first_groups(const mixed *m, const rows *groups, comparison *c)
{
    size_t enough =
        (size_t)(ROWS_ENOUGH * (double)groups->local_rows / (double)m->data->local_rows);
    if (enough < GROUPS_MIN) enough = GROUPS_MIN;
    c->first = *groups;
    if (c->first.local_rows > enough) c->first.local_rows = enough;
    c->scale = (double)groups->local_rows / (double)c->first.local_rows;
}

/* The next finer rule. */
static size_t next_rung(size_t nodes)
{
    size_t rung = 0;
    while (rung + 1 < RUNGS && ladder[rung] <= nodes) rung++;
    return ladder[rung];
}

/* Climbs the ladder until the next rule moves no mean by more than `goal`, and leaves the
 * gradients by the chosen rule in c->less. A grid of more than points_max points is of no use
 * to the caller: the search ends there. */
static sbps_status climb_ladder(mixed *m, const comparison *c, double goal, double points_max,
                                quadrature *out, sbps_error *err)
{
    size_t d = m->dim, rung = 0, above;
    sbps_status status = evaluate_gradients(m, &c->first, c->points, ladder[0], c->less, err);
    for (; status == SBPS_OK && grid_points(m, ladder[rung]) <= points_max; rung++) {
        if ((above = rung_above(m, rung)) == RUNGS) break;
        status = evaluate_gradients(m, &c->first, c->points, ladder[above], c->more, err);
        if (status != SBPS_OK) return status;
        out->error = largest_move(m, c);
        if (out->error <= goal) break;
        if (above == rung + 1)
            memcpy(c->less, c->more, POSTERIOR_POINTS * d * sizeof *c->less);
        else
            status =
                evaluate_gradients(m, &c->first, c->points, ladder[rung + 1], c->less, err);
    }
    out->nodes = ladder[rung];
    return status == SBPS_OK ? mixed_set_nodes(m, out->nodes, err) : status;
}

/* Chooses a rule for polynomials, and compares it with a finer rule by rows: the error is that
 * of both together. If it is too large, the polynomials are destroyed. */
static sbps_status try_polynomials(mixed *m, const comparison *c, quadrature *out,
                                   sbps_error *err)
{
    sbps_status status = climb_ladder(m, c, 0.5 * GOAL, (double)POLYNOMIAL_POINTS, out,
                                      err); /* nodes are cheap */
    if (status != SBPS_OK) return status;
    if (m->points <= POLYNOMIAL_POINTS) {
        m->by_rows = true;
        status =
            evaluate_gradients(m, &c->first, c->points, next_rung(out->nodes), c->more, err);
        m->by_rows = false;
        if (status == SBPS_OK) status = mixed_set_nodes(m, out->nodes, err);
        out->error = largest_move(m, c);
        if (status != SBPS_OK || out->error <= GOAL_POLYNOMIAL) return status;
    }
    polynomials_destroy(m->polynomials);
    m->polynomials = NULL;
    return status;
}

/* Fits polynomials around w, with the posterior sds of this covariance. */
static sbps_status fit_polynomials(mixed *m, const rows *groups, const double *w,
                                   const double *covariance, sbps_error *err)
{
    double *sd = new_doubles(m->dim);
    if (!sd) return fail_memory(err);
    for (size_t j = 0; j < m->dim; j++) sd[j] = sqrt(covariance[j * m->dim + j]);
    sbps_status status = polynomials_fit(m, groups, w, sd, err);
    free(sd);
    return status;
}

sbps_status mixed_fit_polynomials(void *self, const rows *groups, const double *w,
                                  const double *factor, sbps_error *err)
{
    mixed *m = self;
    double *covariance = new_doubles(m->dim * m->dim);
    if (!covariance) return fail_memory(err);
    cholesky_inverse(m->dim, factor, covariance);
    sbps_status status = fit_polynomials(m, groups, w, covariance, err);
    free(covariance);
    return status;
}

/* Tries the polynomials that there are (fitted by the caller at another point), then new ones,
 * then rows. */
static sbps_status choose_nodes(mixed *m, const rows *groups, const double *w,
                                const comparison *c, quadrature *out, sbps_error *err)
{
    const evaluation here = {m, w};
    sbps_status status = SBPS_OK;
    if (m->polynomials) status = try_polynomials(m, c, out, err);
    if (status != SBPS_OK || m->polynomials) return status;
    status = fit_polynomials(m, groups, w, c->covariance, err);
    if (status == SBPS_OK && m->polynomials) status = try_polynomials(m, c, out, err);
    if (status != SBPS_OK || m->polynomials) return status;
    status = sum_groups(groups, &here, keep_centres, NULL, err);
    if (m->levels > 1) nested_store_sds(m, w);
    return status == SBPS_OK ? climb_ladder(m, c, GOAL, POINTS_MAX, out, err) : status;
}

sbps_status mixed_choose_nodes(void *self, const rows *groups, const double *w,
                               const double *factor, quadrature *out, sbps_error *err)
{
    mixed *m = self;
    *out = (quadrature){.error = NAN};
    size_t d = m->dim;
    double *scratch = new_doubles(4 * POSTERIOR_POINTS * d + d * d);
    if (!scratch) return fail_memory(err);
    comparison c = {.factor = factor,
                    .points = scratch,
                    .less = scratch + POSTERIOR_POINTS * d,
                    .more = scratch + 2 * POSTERIOR_POINTS * d,
                    .covariance = scratch + 4 * POSTERIOR_POINTS * d};
    first_groups(m, groups, &c);
    for (size_t i = 0; i < POSTERIOR_POINTS; i++)
        set_posterior_point(m, w, factor, i, c.points + i * d);
    cholesky_inverse(d, factor, c.covariance);
    sbps_status status = choose_nodes(m, groups, w, &c, out, err);
    out->by_polynomial = m->polynomials;
    free(scratch);
    return status;
}

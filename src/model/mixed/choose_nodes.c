/* Chooses how many quadrature nodes are enough and whether polynomials can replace rows, and
 * stores where searches for modes begin, by gradients at points of the posterior.
 *
 * If a finer rule changes the gradient of log p by D, posterior means move by H^-1 D; in
 * posterior sds that is (H^-1 D)_j / sqrt((H^-1)_jj).
 *
 * Errors of single groups add up, so that many groups need fine rules. But then the posterior is
 * narrow, and D hardly changes across it. A coarse rule is therefore corrected,
 *
 *   sum_g log m_g(w) + c.(w - w_0),   c = D(w_0),                                           (1)
 *
 * where D(w_0), the difference between the gradients by a fine and by the coarse rule, is
 * computed once, near the mode. D(w) - D(w_0) remains. Its linear part is a relative error of
 * the Hessian, which moves no mean if w_0 is the mode, and a posterior sd by half of itself. */
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
#define SAME_SIGN        POSTERIOR_POINTS
/* Groups are in random order: the first ones represent all. As many as have ROWS_ENOUGH rows
 * together are evaluated, but at least GROUPS_MIN. */
#define ROWS_ENOUGH 5e4
#define GROUPS_MIN  ((size_t)64)

/* Correction of a coarse rule. */
#define CORRECTED_GROUPS ((size_t)100) /* least number of groups */
#define CORRECTED_MOVE   0.01  /* what it may leave one posterior sd away, in posterior sds */
#define NEAR             0.3   /* distance of w_0 from the mode, in posterior sds */
#define FINEST_ERROR     0.004 /* of the rule that counts as exact, in posterior sds */
#define CORRECTION_MAX   1.0   /* largest correction of a mean, in posterior sds */
#define NO_CORRECTION    1e-4  /* move of a mean that needs no correction, in posterior sds */
#define CORRECTION_ERROR                                                                       \
    0.0015 /* its standard error, in posterior sds, if some groups are evaluated */
/* Errors of successive rules are taken to fall by this factor at most, and not to fall if they
 * fall by less than the other. */
#define CONVERGENCE_MIN (1.0 / 3.0)
#define CONVERGENCE_MAX 0.5

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
 * (1, -1, 1, ...), and SAME_SIGN w + F'^-1 (1, 1, 1, ...). */
static void set_posterior_point(const mixed *m, const double *w, const double *factor,
                                size_t point, double *out)
{
    size_t d = m->dim;
    for (size_t j = 0; j < d; j++)
        out[j] = point == 0 ? 0.0 : j % 2 == point % 2 || point == SAME_SIGN ? 1.0 : -1.0;
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

/* ---- a coarse rule with a correction ---- */

/* Gradients of the groups in c->first at all points, by every rule up to the finest one that was
 * needed. */
typedef struct {
    double *of[RUNGS]; /* POSTERIOR_POINTS * dim each; NULL: not known */
    size_t finest;     /* rung whose gradients count as exact */
    double error;      /* of the finest rule: largest move of a mean, in posterior sds */
} rung_gradients;

/* Computes the gradients of a rung unless they are known. */
static sbps_status evaluate_rung(mixed *m, const comparison *c, size_t rung, rung_gradients *g,
                                 sbps_error *err)
{
    if (g->of[rung]) return SBPS_OK;
    g->of[rung] = new_doubles(POSTERIOR_POINTS * m->dim);
    if (!g->of[rung]) return fail_memory(err);
    return evaluate_gradients(m, &c->first, c->points, ladder[rung], g->of[rung], err);
}

/* The largest move of a mean between two rules at any point. */
static double move_between(const mixed *m, const comparison *c, const rung_gradients *g,
                           size_t coarse, size_t fine)
{
    size_t d = m->dim;
    memcpy(c->less, g->of[coarse], POSTERIOR_POINTS * d * sizeof *c->less);
    memcpy(c->more, g->of[fine], POSTERIOR_POINTS * d * sizeof *c->more);
    return largest_move(m, c);
}

/* The same if the coarse rule is corrected. */
static double move_left(const mixed *m, const comparison *c, const rung_gradients *g,
                        size_t coarse, size_t fine)
{
    size_t d = m->dim;
    memcpy(c->less, g->of[coarse], POSTERIOR_POINTS * d * sizeof *c->less);
    memcpy(c->more, g->of[fine], POSTERIOR_POINTS * d * sizeof *c->more);
    for (size_t i = 0; i < POSTERIOR_POINTS; i++)
        for (size_t j = 0; j < d; j++) c->more[i * d + j] -= g->of[fine][j] - g->of[coarse][j];
    return largest_move(m, c);
}

/* Climbs the ladder until the next rule is exact enough, extrapolating its error from the moves
 * that rules make. */
static sbps_status find_finest(mixed *m, const comparison *c, rung_gradients *g,
                               sbps_error *err)
{
    double before = 0.0, moved;
    sbps_status status = evaluate_rung(m, c, 0, g, err);
    for (size_t rung = 0, above; status == SBPS_OK; rung++) {
        if ((above = rung_above(m, rung)) == RUNGS) return SBPS_OK;
        status = evaluate_rung(m, c, rung, g, err);
        if (status == SBPS_OK) status = evaluate_rung(m, c, above, g, err);
        if (status != SBPS_OK) break;
        moved = move_between(m, c, g, rung, above);
        double ratio = before > 0.0 ? fmax(moved / before, CONVERGENCE_MIN) : 1.0;
        double next = ratio <= CONVERGENCE_MAX ? ratio * moved : moved;
        g->finest = above;
        g->error = next;
        if (next <= FINEST_ERROR) break;
        before = moved;
    }
    return status;
}

/* Gradients of single groups by two rules. */
typedef struct {
    evaluation at;
    const comparison *c;
    double *coarse; /* dim for each group */
} difference;

/* Stores the gradients of some groups. */
static void keep_gradients(const void *self, row_range r, double *scratch, double *total)
{
    const difference *q = self;
    size_t d = q->at.m->dim;
    group_view v;
    (void)total;
    group_begin(&v, q->at.m, q->at.w, NULL, false, scratch);
    for (size_t i = 0; i < r.n; i++) {
        size_t g = row_index(r, i);
        memset(q->coarse + g * d, 0, d * sizeof *q->coarse);
        group_value(&v, g);
        group_gradient(&v, 1.0, q->coarse + g * d);
    }
}

/* total: differences from the stored gradients (dim), and the squares of the moves of means that
 * each of them makes, in posterior sds (dim). */
static void add_differences(const void *self, row_range r, double *scratch, double *total)
{
    const difference *q = self;
    size_t d = q->at.m->dim;
    double *x = scratch, *moved = scratch + d;
    group_view v;
    group_begin(&v, q->at.m, q->at.w, NULL, false, scratch + 2 * d);
    for (size_t i = 0; i < r.n; i++) {
        size_t g = row_index(r, i);
        for (size_t j = 0; j < d; j++) x[j] = -q->coarse[g * d + j];
        group_value(&v, g);
        group_gradient(&v, 1.0, x);
        memcpy(moved, x, d * sizeof *x);
        cholesky_solve(d, q->c->factor, moved);
        for (size_t j = 0; j < d; j++) {
            total[j] += x[j];
            total[d + j] += moved[j] * moved[j] / q->c->covariance[j * d + j];
        }
    }
}

/* Computes the differences of the first n groups; total: 2 * dim. */
static sbps_status sum_differences(mixed *m, const rows *groups, const comparison *c, size_t n,
                                   size_t coarse, size_t fine, double *total, sbps_error *err)
{
    rows some = *groups;
    size_t d = m->dim;
    some.local_rows = n;
    difference q = {{m, c->points}, c, unset_doubles(n * d)};
    if (!q.coarse) return fail_memory(err);
    memset(total, 0, 2 * d * sizeof *total);
    sbps_status status = mixed_set_nodes(m, ladder[coarse], err);
    const row_sum keep = {.self = &q, .scratch = group_scratch(m), .add = keep_gradients};
    if (status == SBPS_OK) status = row_sums(&some, &keep, NULL, err);
    if (status == SBPS_OK) status = mixed_set_nodes(m, ladder[fine], err);
    const row_sum add = {.self = &q,
                         .width = 2 * d,
                         .scratch = 2 * d + group_scratch(m),
                         .add = add_differences};
    if (status == SBPS_OK) status = row_sums(&some, &add, total, err);
    free(q.coarse);
    return status;
}

/* The largest standard error of a move, in posterior sds, if the differences of n groups stand
 * for all. */
static double correction_error(const mixed *m, size_t all, size_t n, const double *total)
{
    double worst = 0.0, share = (double)n / (double)all;
    for (size_t j = 0; j < m->dim; j++) worst = fmax(worst, total[m->dim + j]);
    return sqrt(worst * (1.0 - share)) / share;
}

/* Sets the correction of (1) from as many groups as it takes; *error: its standard error. */
static sbps_status set_correction(mixed *m, const rows *groups, const comparison *c,
                                  size_t coarse, const rung_gradients *g, double *error,
                                  sbps_error *err)
{
    size_t d = m->dim, all = groups->local_rows, n = c->first.local_rows;
    double *total = new_doubles(2 * d);
    if (!total) return fail_memory(err);
    sbps_status status = sum_differences(m, groups, c, n, coarse, g->finest, total, err);
    *error = correction_error(m, all, n, total);
    if (status == SBPS_OK && *error > CORRECTION_ERROR) {
        double ratio = *error / CORRECTION_ERROR, enough = ratio * ratio * (double)n;
        /* of n of N groups, the variance is proportional to 1/n - 1/N */
        enough = enough / (1.0 + (ratio * ratio - 1.0) * (double)n / (double)all);
        n = 1.2 * enough < (double)all ? (size_t)(1.2 * enough) : all;
        status = sum_differences(m, groups, c, n, coarse, g->finest, total, err);
        *error = correction_error(m, all, n, total);
    }
    m->correction = new_doubles(2 * d);
    if (status == SBPS_OK && !m->correction) status = fail_memory(err);
    for (size_t j = 0; j < d && status == SBPS_OK; j++) {
        m->correction[j] = total[j] / (double)n;
        m->correction[d + j] = c->points[j];
    }
    free(total);
    return status;
}

/* Chooses the coarsest rule whose correction leaves a small error, and corrects it. */
static sbps_status choose_corrected(mixed *m, const rows *groups, const comparison *c,
                                    quadrature *out, sbps_error *err)
{
    rung_gradients g = {.error = NAN};
    double left = 0.0, noise = 0.0;
    size_t coarse = 0;
    /* the two points apart from w_0 lie in different directions */
    set_posterior_point(m, c->points, c->factor, SAME_SIGN, c->points + 2 * m->dim);
    sbps_status status = find_finest(m, c, &g, err);
    for (; status == SBPS_OK && coarse < g.finest; coarse++) {
        if (!g.of[coarse] || move_between(m, c, &g, coarse, g.finest) > CORRECTION_MAX)
            continue;
        left = move_left(m, c, &g, coarse, g.finest);
        if (left <= CORRECTED_MOVE) break;
        left = 0.0;
    }
    bool corrected =
        coarse < g.finest && move_between(m, c, &g, coarse, g.finest) > NO_CORRECTION;
    if (status == SBPS_OK && corrected)
        status = set_correction(m, groups, c, coarse, &g, &noise, err);
    for (size_t i = 0; i < RUNGS; i++) free(g.of[i]);
    out->nodes = ladder[coarse];
    out->error = g.error + NEAR * left + 2.0 * noise;
    return status == SBPS_OK ? mixed_set_nodes(m, out->nodes, err) : status;
}

/* ---- choosing ---- */

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
static sbps_status choose_nodes(mixed *m, const rows *groups, const double *w, bool correct,
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
    if (status != SBPS_OK) return status;
    if (correct && m->others == 0 && groups->local_rows >= CORRECTED_GROUPS)
        return choose_corrected(m, groups, c, out, err);
    return climb_ladder(m, c, GOAL, POINTS_MAX, out, err);
}

sbps_status mixed_choose_nodes(void *self, const rows *groups, const double *w,
                               const double *factor, bool correct, quadrature *out,
                               sbps_error *err)
{
    mixed *m = self;
    free(m->correction);
    m->correction = NULL;
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
    sbps_status status = choose_nodes(m, groups, w, correct, &c, out, err);
    out->by_polynomial = m->polynomials;
    free(scratch);
    return status;
}

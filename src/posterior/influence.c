/* For points w ~ N(centre, H^-1), H = L L', and directions u = L'^-1 v, |v| = 1, all that row i sees of
 * either comes through z_i = L^-1 x_i: its predictor moves by e ~ N(x_i.(centre - reference), |z_i|^2),
 * the row's leverage, and x_i.u has the mean square |z_i|^2 / d. So with r(e) what the control variate leaves of
 * d log p/d eta there
 *
 *   influence_i^2 = E[r(e)^2] |z_i|^2 / d                                                            (1)
 *
 * is an integral over one dimension. With auxiliary coordinates a, last of w, M the inverse of their part of
 * L, L^-1 (0, r_a) = (0, M r_a), z_a the last of z_i and r_a what is left of d log p/da, it is one over two or
 * more:
 *
 *   influence_i^2 = E[r^2 |z_i|^2 + 2 r z_a'M r_a + |M r_a|^2] / d,                                  (2)
 *   a = centre_a + M's,  e = x_i.(centre - reference) + z_a.s + sqrt(|z_i|^2 - |z_a|^2) t,  s, t ~ N(0, 1).
 *
 * Gauss-Hermite nodes do t, and s of one auxiliary; s of k > 1 is left to 2k^2 + 1 points, which are right for
 * polynomials of degree 5 (Stroud 1971, Approximate Calculation of Multiple Integrals, E_n^(r^2) 5-2):
 *
 *   0 with weight 2/(k+2),   +-sqrt(k+2) e_i with (4-k)/2(k+2)^2,   sqrt((k+2)/2)(+-e_i +-e_j) with 1/(k+2)^2. (3)
 *
 * Removing row i moves the mode by about
 *
 *   H^-1 x_i l_e / (1 + l_ee |z_i|^2),   at most |z_i l_e| / (1 + l_ee |z_i|^2) posterior sds          (4)
 *
 * (Cook, Weisberg 1982, Residuals and Influence in Regression, sections 3.5 and 5.6). */
#include "posterior/influence.h"
#include "base/cholesky.h"
#include "base/dense.h"
#include "base/memory.h"
#include "base/real.h"
#include "data/row_sums.h"
#include "posterior/whitened.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_LEAST 0.01 /* of the curvature, without a row: the first order knows no more */

/* Abramowitz, Stegun (1964), table 25.10, for the standard normal. */
typedef struct {
    size_t count;
    double at[7], weight[7];
} nodes;

static const nodes five_nodes = {
    5,
    {-2.856970013872806, -1.355626179974266, 0.0, 1.355626179974266, 2.856970013872806},
    {0.011257411327721, 0.222075922005613, 0.533333333333333, 0.222075922005613,
     0.011257411327721},
};
static const nodes seven_nodes = {
    7,
    {-3.750439717725742, -2.366759410734541, -1.154405394739968, 0.0, 1.154405394739968,
     2.366759410734541, 3.750439717725742},
    {0.000548268855972, 0.030757123967586, 0.240123178605013, 0.457142857142857,
     0.240123178605013, 0.030757123967586, 0.000548268855972},
};

bool influence_applies(const posterior *u)
{
    return u->model->predictor && u->dim <= INFLUENCE_DIM;
}

/* ---- (1) and (2) ---- */

/* What the control variate of this order takes out of the derivatives at a node, beside what the order before
 * has taken. */
static void leave(whitened *b, size_t order)
{
    size_t k = b->auxiliaries;
    if (order == 1) {
        for (size_t i = 0; i < b->n; i++) b->g[i] -= b->g0[i];
        for (size_t i = 0; i < k * WHITENED_ROWS; i++) b->ga[i] -= b->ga0[i];
    }
    for (size_t i = 0; order == 2 && i < b->n; i++) {
        double e = b->moved[i] - b->eta[i], along = b->ee[i] * e;
        for (size_t j = 0; j < k; j++) {
            double own = b->ea[j * WHITENED_ROWS + i] * e;
            along += b->ea[j * WHITENED_ROWS + i] * b->off[j];
            for (size_t l = 0; l < k; l++)
                own += b->aa[packed_index(j, l) * WHITENED_ROWS + i] * b->off[l];
            b->ga[j * WHITENED_ROWS + i] -= own;
        }
        b->g[i] -= along;
    }
}

/* (2) of what is left at a node. */
static void add_squares(whitened *b, double weight, double *total)
{
    size_t k = b->auxiliaries;
    for (size_t i = 0; i < b->n; i++) {
        double r = b->g[i], square = r * r * b->lever[i];
        for (size_t j = 0; j < k; j++) {
            double own = r * b->beside[j * WHITENED_ROWS + i];
            for (size_t l = 0; l < k; l++)
                own += b->ga[l * WHITENED_ROWS + i] * b->square[j * k + l];
            square += b->ga[j * WHITENED_ROWS + i] * own;
        }
        total[i] += weight * larger(square, 0.0);
    }
}

/* The auxiliaries at the node s, and the predictors at s and t. */
static void move(whitened *b, double t)
{
    size_t k = b->auxiliaries, first = b->u->columns;
    for (size_t j = 0; j < k; j++) {
        double along = 0.0;
        for (size_t l = j; l < k; l++) along += b->node[l] * b->inverse[l * k + j];
        b->off[j] = b->at->centre[first + j] - b->at->reference[first + j] + along;
        b->at_node[j] = b->at->reference[first + j] + b->off[j];
    }
    for (size_t i = 0; i < b->n; i++) b->moved[i] = b->eta[i] + b->shift[i];
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < b->n; i++)
            b->moved[i] += b->z_aux[j * WHITENED_ROWS + i] * b->node[j];
    for (size_t i = 0; i < b->n; i++) b->moved[i] += sqrt(b->rest[i]) * t;
}

/* Squares at a node, for every order of control variate. */
static void visit_node(whitened *b, double t, double weight)
{
    move(b, t);
    batch there = whitened_look(b, b->moved, b->at_node);
    b->u->model->predictor->gradient(&there, b->g, b->auxiliaries ? b->ga : NULL);
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++) {
        leave(b, order);
        add_squares(b, weight, b->sum[order]);
    }
}

/* ---- (4) ---- */

/* In order, the largest first. */
static void keep_effect(row_effects *kept, row_effect e)
{
    size_t at = kept->count;
    while (at > 0 && fabs(kept->list[at - 1].shift) < fabs(e.shift)) at--;
    if (at == kept->most) return;
    if (kept->count < kept->most) kept->count++;
    for (size_t i = kept->count - 1; i > at; i--) kept->list[i] = kept->list[i - 1];
    kept->list[at] = e;
}

/* sd_j = |L^-1 e_j|, the posterior's at the mode. `room`: dim. */
static void marginal_sds(size_t d, const double *factor, double *room, double *sd)
{
    for (size_t j = 0; j < d; j++) {
        memset(room, 0, d * sizeof *room);
        room[j] = 1.0;
        cholesky_solve(d, factor, room);
        sd[j] = sqrt(room[j]);
    }
}

/* Component j of M r_a of row i at the reference. */
static double auxiliary_pull(const whitened *b, size_t i, size_t j)
{
    double pull = 0.0;
    for (size_t l = 0; l <= j; l++)
        pull += b->ga0[l * WHITENED_ROWS + i] * b->inverse[j * b->auxiliaries + l];
    return pull;
}

/* The parameter that row i of the block moves most. `move`: dim. */
static row_effect effect_of(const whitened *b, size_t i, double scale, const double *sd,
                            double *move)
{
    size_t dim = b->u->dim;
    const double *factor = b->at->factor, *z = b->z + i * b->pitch;
    for (size_t j = 0; j < dim; j++) move[j] = b->g0[i] * z[j] * scale;
    for (size_t j = 0; j < b->auxiliaries; j++)
        move[b->u->columns + j] += auxiliary_pull(b, i, j) * scale;
    cholesky_back(dim, factor, move);
    row_effect e = {.row = b->first + i};
    for (size_t j = 0; j < dim; j++)
        if (fabs(move[j]) > fabs(e.shift) * sd[j])
            e = (row_effect){b->first + i, j, move[j] / sd[j]};
    return e;
}

/* Rows of the block that may be among them. `room`: dim. */
static void add_effects(const whitened *b, const double *sd, double *room, row_effects *kept)
{
    for (size_t i = 0; i < b->n; i++) {
        double weight = whitened_weight(b, i);
        double left = larger(1.0 + weight * b->ee[i] * b->lever[i], LEFT_LEAST);
        double most = fabs(b->g0[i]) * sqrt(b->lever[i]);
        for (size_t j = 0; j < b->auxiliaries; j++) most += fabs(auxiliary_pull(b, i, j));
        if (!(weight * most >= kept->least * left)) continue;
        row_effect e = effect_of(b, i, weight / left, sd, room);
        if (fabs(e.shift) >= kept->least) keep_effect(kept, e);
    }
}

/* ---- all rows ---- */

static void integrate_predictor(whitened *b, const nodes *of_eta, double weight)
{
    for (size_t i = 0; i < of_eta->count; i++)
        visit_node(b, of_eta->at[i], weight * of_eta->weight[i]);
}

/* One auxiliary. */
static void integrate_line(whitened *b)
{
    for (size_t i = 0; i < five_nodes.count; i++) {
        b->node[0] = five_nodes.at[i];
        integrate_predictor(b, &five_nodes, five_nodes.weight[i]);
    }
}

/* The points of (3) on the axis of i, or with i and j in all four quadrants. */
static void integrate_signs(whitened *b, size_t i, size_t j, double at, double weight)
{
    for (int sign = 0; sign < (i == j ? 2 : 4); sign++) {
        b->node[j] = sign & 2 ? -at : at;
        b->node[i] = sign & 1 ? -at : at;
        integrate_predictor(b, &five_nodes, weight);
    }
    b->node[i] = b->node[j] = 0.0;
}

/* (3) */
static void integrate_space(whitened *b)
{
    size_t count = b->auxiliaries;
    double k = (double)count, k2 = k + 2.0;
    memset(b->node, 0, count * sizeof *b->node);
    integrate_predictor(b, &five_nodes, 2.0 / k2);
    for (size_t i = 0; i < count; i++) {
        integrate_signs(b, i, i, sqrt(k2), (4.0 - k) / (2.0 * k2 * k2));
        for (size_t j = 0; j < i; j++)
            integrate_signs(b, i, j, sqrt(0.5 * k2), 1.0 / (k2 * k2));
    }
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++) /* k > 4 has weights below 0 */
        for (size_t i = 0; i < b->n; i++) b->sum[order][i] = larger(b->sum[order][i], 0.0);
}

static void integrate(whitened *b)
{
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++)
        memset(b->sum[order], 0, b->n * sizeof(double));
    if (b->auxiliaries == 0) integrate_predictor(b, &seven_nodes, 1.0);
    if (b->auxiliaries == 1) integrate_line(b);
    if (b->auxiliaries > 1) integrate_space(b);
}

/* What is wanted of every row. */
typedef struct {
    whitened *b;
    float *const *out;
    row_effects *effects; /* NULL: not wanted */
    double *sd, *room;    /* dim each, of those */
} measuring;

static void measure_rows(const void *self, row_range r, double *scratch, double *total)
{
    const measuring *m = self;
    whitened *b = m->b;
    (void)scratch;
    (void)total;
    for (size_t done = 0; done < r.n; done += WHITENED_ROWS) {
        whitened_take(b, r.first + done,
                      r.n - done < WHITENED_ROWS ? r.n - done : WHITENED_ROWS);
        integrate(b);
        for (size_t order = 0; order < INFLUENCE_ORDERS; order++)
            for (size_t i = 0; m->out[order] && i < b->n; i++)
                m->out[order][b->first + i] =
                    (float)(whitened_weight(b, i) * sqrt(b->sum[order][i] / (double)b->u->dim));
        if (m->effects) add_effects(b, m->sd, m->room, m->effects);
    }
}

sbps_status influence_measure(const posterior *u, const influence_place *at,
                              float *const out[INFLUENCE_ORDERS], row_effects *effects,
                              sbps_error *err)
{
    whitened b;
    double *room = new_doubles(2 * u->dim), *sd = room + u->dim;
    if (!room) return fail_memory(err);
    sbps_status status = whitened_open(&b, u, at, err);
    if (status == SBPS_OK && effects) marginal_sds(u->dim, at->factor, room, sd);
    const measuring m = {&b, out, effects, sd, room};
    const row_sum what = {.self = &m, .add = measure_rows};
    if (status == SBPS_OK) status = row_sums(u->data, &what, NULL, err);
    free(b.memory);
    free(room);
    return status;
}

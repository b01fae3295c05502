/* Influence of rows. For points w ~ N(centre, H^-1), H = L L', and directions u = L'^-1 v,
 * |v| = 1, row i depends on both only through z_i = L^-1 x_i. Its predictor moves by e ~
 * N(x_i.(centre - reference), |z_i|^2), where |z_i|^2 is the row's leverage, and x_i.u has
 * the mean square |z_i|^2 / d. So with r(e) what the control variate leaves of d log p/d eta
 * there
 *
 *   influence_i^2 = E[r(e)^2] |z_i|^2 / d                                                   (1)
 *
 * is an integral over one dimension. With auxiliary coordinates a (the last of w), M the
 * inverse of their part of L, L^-1 (0, r_a) = (0, M r_a), z_a the last part of z_i and r_a
 * what is left of d log p/da, it is an integral over two or more:
 *
 *   influence_i^2 = E[r^2 |z_i|^2 + 2 r z_a'M r_a + |M r_a|^2] / d,                         (2)
 *   a = centre_a + M's,  e = x_i.(centre - reference) + z_a.s + sqrt(|z_i|^2 - |z_a|^2) t,
 *   s, t ~ N(0, 1).
 *
 * Gauss-Hermite nodes integrate over t, and over s of one auxiliary. For s of k > 1
 * auxiliaries there are 2k^2 + 1 points, exact for polynomials of degree 5 (Stroud
 * 1971, Approximate Calculation of Multiple Integrals, E_n^(r^2) 5-2):
 *
 *   0 with weight 2/(k+2),   +-sqrt(k+2) e_i with (4-k)/2(k+2)^2,                           (3)
 *   sqrt((k+2)/2)(+-e_i +-e_j) with 1/(k+2)^2.
 *
 * Removing row i moves the mode by about
 *
 *   H^-1 x_i l_e / (1 + l_ee |z_i|^2),                                                    (4)
 *   at most |z_i l_e| / (1 + l_ee |z_i|^2) posterior sds
 *
 * (Cook, Weisberg 1982, Residuals and Influence in Regression, sections 3.5 and 5.6).
 *
 * At w = centre + s L'^-1 v, v standard normal, the predictor is moved by e ~ N(0, s^2
 * |z_i|^2). Where the curvature of a row changes by a factor of exp(|e|) at most, as in
 * logistic and Poisson regression, the mean of w'Hw with each row's curvature there
 * exceeds that of the normal, s^2 d, by at most
 *
 *   s^2 sum_i c_i |l_ee| |z_i|^2 ((1 + s^2 |z_i|^2) exp(s^2 |z_i|^2 / 2) - 1).              (5)
 *
 * The steepness is 1 plus its ratio to s^2 d. With auxiliaries, which give the predictor a
 * scale, e is measured in that scale: |l_ee| |z_i|^2 replaces |z_i|^2 in the exponent. */
#include "posterior/full/influence.h"
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "posterior/full/whitened.h"
#include "table/row_partition.h"
#include "table/row_sums.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEEP_MAX    60.0 /* largest exponent in (5): as good as infinity */
#define STEEP_SUM    1e4  /* largest sum of a block, likewise */
#define STEEP_UNIT   0x1p20
#define EFFECTS_SENT ((size_t)8) /* rows sent by one rank, at most */
/* smallest part of the curvature that (4) leaves; below, first order is not accurate */
#define LEFT_MIN 0.01

/* Gauss-Hermite nodes and weights for the standard normal: Abramowitz, Stegun (1964), table
 * 25.10. */
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

bool influence_has_reach(const posterior *u)
{
    return influence_applies(u) && u->model->predictor->third_bound && !u->auxiliaries;
}

/* ---- (1) and (2) ---- */

/* k: number of auxiliaries. visit_node passes a small k as a constant, so that loops over it
 * unroll. */

/* What the control variate of this order removes from row i's derivatives at a node, beyond
 * what the previous order removed. Returns the part of d log p/d eta; the auxiliaries' part
 * is subtracted from b->ga. */
static inline double removed_slope(whitened *b, size_t k, size_t i, size_t order)
{
    if (order == 0) return 0.0;
    if (order == 1) {
        for (size_t j = 0; j < k; j++)
            b->ga[j * WHITENED_ROWS + i] -= b->ga0[j * WHITENED_ROWS + i];
        return b->g0[i];
    }
    double e = b->moved[i] - b->eta[i], along = b->ee[i] * e;
    for (size_t j = 0; j < k; j++) {
        double own = b->ea[j * WHITENED_ROWS + i] * e;
        along += b->ea[j * WHITENED_ROWS + i] * b->off[j];
        for (size_t l = 0; l < k; l++)
            own += b->aa[packed_index(j, l) * WHITENED_ROWS + i] * b->off[l];
        b->ga[j * WHITENED_ROWS + i] -= own;
    }
    return along;
}

/* The expectand of (2) for row i; r: what is left of d log p/d eta. */
static inline double square_of(const whitened *b, size_t k, size_t i, double r)
{
    double square = r * r * b->leverage[i];
    for (size_t j = 0; j < k; j++) {
        double own = r * b->cross[j * WHITENED_ROWS + i];
        for (size_t l = 0; l < k; l++)
            own += b->ga[l * WHITENED_ROWS + i] * b->in->square[j * k + l];
        square += b->ga[j * WHITENED_ROWS + i] * own;
    }
    return larger(square, 0.0);
}

/* Adds the expectand of every order of control variate to b->sum. */
static inline void add_squared_slopes(whitened *b, size_t k, double weight)
{
    for (size_t i = 0; i < b->n; i++) {
        double r = b->g[i];
        for (size_t order = 0; order < INFLUENCE_ORDERS; order++) {
            r -= removed_slope(b, k, i, order);
            b->sum[order][i] += weight * square_of(b, k, i, r);
        }
    }
}

/* Sets the auxiliary coordinates at the node s. */
static void move_auxiliaries(whitened *b)
{
    size_t k = b->in->auxiliaries, first = b->in->u->columns;
    for (size_t j = 0; j < k; j++) {
        double along = 0.0;
        for (size_t l = j; l < k; l++) along += b->node[l] * b->in->inverse[l * k + j];
        b->off[j] = b->in->centre[first + j] - b->in->reference[first + j] + along;
        b->at_node[j] = b->in->reference[first + j] + b->off[j];
    }
}

/* Evaluates the model at a node, with predictor offset t, and adds it with this weight. */
static inline void visit_at(whitened *b, size_t k, double t, double weight)
{
    for (size_t i = 0; i < b->n; i++) {
        double moved = b->eta[i] + b->shift[i];
        for (size_t j = 0; j < k; j++) moved += b->z_aux[j * WHITENED_ROWS + i] * b->node[j];
        b->moved[i] = moved + b->rest[i] * t;
    }
    batch moved_batch = whitened_batch(b, b->moved, b->at_node);
    b->in->u->model->predictor->gradient(&moved_batch, b->g, k ? b->ga : NULL);
    add_squared_slopes(b, k, weight);
}

static void visit_node(whitened *b, double t, double weight)
{
    move_auxiliaries(b);
    if (b->in->auxiliaries == 0)
        visit_at(b, 0, t, weight);
    else if (b->in->auxiliaries == 1)
        visit_at(b, 1, t, weight);
    else
        visit_at(b, b->in->auxiliaries, t, weight);
}

/* ---- a block of rows ---- */

/* Integrates over t, at the current node of the auxiliaries. */
static void integrate_predictor(whitened *b, const nodes *of_eta, double weight)
{
    for (size_t i = 0; i < of_eta->count; i++)
        visit_node(b, of_eta->at[i], weight * of_eta->weight[i]);
}

/* The points of (3) on the axis of i (i == j), or with i and j in all four quadrants. */
static void integrate_signs(whitened *b, size_t i, size_t j, double at, double weight)
{
    for (int sign = 0; sign < (i == j ? 2 : 4); sign++) {
        b->node[j] = sign & 2 ? -at : at;
        b->node[i] = sign & 1 ? -at : at;
        integrate_predictor(b, &five_nodes, weight);
    }
    b->node[i] = b->node[j] = 0.0;
}

/* The rule (3). */
static void integrate_space(whitened *b)
{
    size_t count = b->in->auxiliaries;
    double k = (double)count, k2 = k + 2.0;
    memset(b->node, 0, count * sizeof *b->node);
    integrate_predictor(b, &five_nodes, 2.0 / k2);
    for (size_t i = 0; i < count; i++) {
        integrate_signs(b, i, i, sqrt(k2), (4.0 - k) / (2.0 * k2 * k2));
        for (size_t j = 0; j < i; j++)
            integrate_signs(b, i, j, sqrt(0.5 * k2), 1.0 / (k2 * k2));
    }
    /* for k > 4 some weights are negative */
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++)
        for (size_t i = 0; i < b->n; i++) b->sum[order][i] = larger(b->sum[order][i], 0.0);
}

/* (1) or (2), the mean squares, of every row and order into b->sum. */
static void integrate(whitened *b)
{
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++)
        memset(b->sum[order], 0, b->n * sizeof(double));
    if (b->in->auxiliaries == 0) integrate_predictor(b, &seven_nodes, 1.0);
    if (b->in->auxiliaries == 1) {
        for (size_t i = 0; i < five_nodes.count; i++) {
            b->node[0] = five_nodes.at[i];
            integrate_predictor(b, &five_nodes, five_nodes.weight[i]);
        }
    }
    if (b->in->auxiliaries > 1) integrate_space(b);
}

/* Sums as integers, so that the result does not depend on the order of the threads. */
static void add_steepness(const whitened *b, influence_meter *in)
{
    double s2 = in->to.spread * in->to.spread, sum = 0.0;
    for (size_t i = 0; i < b->n; i++) {
        double curvature = whitened_weight(b, i) * fabs(b->ee[i]) * b->leverage[i];
        double e2 = s2 * (in->auxiliaries ? fabs(b->ee[i]) * b->leverage[i] : b->leverage[i]);
        sum += curvature * ((1.0 + e2) * exp(0.5 * smaller(e2, STEEP_MAX)) - 1.0);
    }
    atomic_fetch_add(&in->steepness, (uint64_t)(smaller(sum, STEEP_SUM) * STEEP_UNIT + 0.5));
}

static bool rows_requested(const influence_target *to)
{
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++)
        if (to->rows[i] || to->counts[i]) return true;
    return false;
}

/* sum: where the histograms begin. */
static void keep_influence(const whitened *b, const influence_target *to, double *sum)
{
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++) {
        float buffer[WHITENED_ROWS],
            *out = to->rows[order] ? to->rows[order] + b->first : buffer;
        if (!to->rows[order] && !to->counts[order]) continue;
        for (size_t i = 0; i < b->n; i++)
            out[i] =
                (float)(whitened_weight(b, i) * sqrt(b->sum[order][i] / (double)b->in->u->dim));
        if (!to->counts[order]) continue;
        to->count(b->n, out, sum);
        sum += to->width;
    }
}

/* ---- (4): rows whose removal moves the mode ---- */

/* Order of effects: larger first, then by row. */
static bool larger_effect(row_effect a, row_effect b)
{
    double x = fabs(a.shift), y = fabs(b.shift);
    return x > y || (x == y && a.row < b.row);
}

/* Inserts e in order of size; ties go to the lower row. */
static void keep_effect(row_effects *kept, row_effect e)
{
    size_t at = kept->count;
    while (at > 0 && larger_effect(e, kept->list[at - 1])) at--;
    if (at == kept->capacity) return;
    if (kept->count < kept->capacity) kept->count++;
    for (size_t i = kept->count - 1; i > at; i--) kept->list[i] = kept->list[i - 1];
    kept->list[at] = e;
}

static void row_effects_scale(size_t d, const double *factor, double *scratch, double *sd)
{
    for (size_t j = 0; j < d; j++) {
        /* sd_j = |L^-1 e_j|: the posterior sds at the mode. scratch: dim. */
        memset(scratch, 0, d * sizeof *scratch);
        scratch[j] = 1.0;
        cholesky_solve(d, factor, scratch);
        sd[j] = sqrt(scratch[j]);
    }
}

/* Component j of M r_a of row i at the reference, see (2). */
static double auxiliary_step(const whitened *b, size_t i, size_t j)
{
    double step = 0.0;
    for (size_t l = 0; l <= j; l++)
        step += b->ga0[l * WHITENED_ROWS + i] * b->in->inverse[j * b->in->auxiliaries + l];
    return step;
}

/* The parameter that row i of the block moves effects, and by how much. */
static row_effect effect_of(const whitened *b, size_t i, double scale)
{
    size_t dim = b->in->u->dim;
    const double *factor = b->in->factor, *sd = b->in->sd, *z = b->z + i * b->in->pitch;
    double *move = b->move;
    for (size_t j = 0; j < dim; j++) move[j] = b->g0[i] * z[j] * scale;
    for (size_t j = 0; j < b->in->auxiliaries; j++)
        move[b->in->u->columns + j] += auxiliary_step(b, i, j) * scale;
    cholesky_back(dim, factor, move);
    row_effect e = {.row = b->first + i};
    for (size_t j = 0; j < dim; j++)
        if (fabs(move[j]) > fabs(e.shift) * sd[j])
            e = (row_effect){b->first + i, j, move[j] / sd[j]};
    return e;
}

/* Adds the rows of the block whose effect is large enough. */
static void row_effects_add(const whitened *b, influence_meter *in)
{
    row_effects *kept = in->to.effects;
    for (size_t i = 0; i < b->n; i++) {
        double weight = whitened_weight(b, i);
        double left = larger(1.0 + weight * b->ee[i] * b->leverage[i], LEFT_MIN);
        double largest = fabs(b->g0[i]) * sqrt(b->leverage[i]);
        for (size_t j = 0; j < in->auxiliaries; j++) largest += fabs(auxiliary_step(b, i, j));
        if (!(weight * largest >= kept->min_shift * left)) continue;
        row_effect e = effect_of(b, i, weight / left);
        if (!(fabs(e.shift) >= kept->min_shift)) continue;
        pthread_mutex_lock(&in->lock);
        keep_effect(kept, e);
        pthread_mutex_unlock(&in->lock);
    }
}

/* Merges the lists of all ranks; rows are numbered in the whole table. */
static void row_effects_merge(const row_partition *partition, row_effects *kept)
{
    ranks *among = partition->among;
    for (size_t i = 0; i < kept->count; i++) kept->list[i].row += partition->first_row;
    row_effects own = *kept;
    row_effect sent[EFFECTS_SENT];
    own.count = own.count < EFFECTS_SENT ? own.count : EFFECTS_SENT;
    memcpy(sent, kept->list, own.count * sizeof *sent);
    kept->count = 0;
    for (size_t from = 0; from < among->size; from++) {
        row_effect received[EFFECTS_SENT] = {0};
        size_t count = own.count;
        ranks_broadcast(among, from, &count, sizeof count);
        if (from == among->rank) memcpy(received, sent, own.count * sizeof *sent);
        ranks_broadcast(among, from, received, count * sizeof *received);
        for (size_t i = 0; i < count; i++) keep_effect(kept, received[i]);
    }
}

/* ---- reach: numbers for the bounds of exact samplers ---- */

static void reach_add(const whitened *b, const row_reach *to, double *third_sum)
{
    size_t dim = b->in->u->dim;
    for (size_t i = 0; i < b->n; i++) {
        double third = whitened_weight(b, i) * b->in->u->model->predictor->third(b->eta[i]);
        to->norm[b->first + i] = nextafterf((float)sqrt(b->leverage[i]), INFINITY);
        add_scaled(dim, 0.5 * third * b->leverage[i], b->z + i * b->in->pitch, third_sum);
    }
}

void influence_visit(influence_meter *in, row_range r, double *scratch, double *sum)
{
    whitened b = {.in = in};
    whitened_carve(in, &b, scratch);
    for (size_t done = 0; done < r.n; done += WHITENED_ROWS) {
        whitened_load(&b, r.first + done,
                      r.n - done < WHITENED_ROWS ? r.n - done : WHITENED_ROWS);
        if (rows_requested(&in->to)) {
            integrate(&b);
            keep_influence(&b, &in->to, sum + (in->to.reach ? in->u->dim : 0));
        }
        if (in->to.effects) row_effects_add(&b, in);
        if (in->to.steepness) add_steepness(&b, in);
        if (in->to.reach) reach_add(&b, in->to.reach, sum);
    }
}

/* ---- all rows ---- */

/* Length of the sum: a reach's numbers, then the histograms. */
static size_t sum_width(const posterior *u, const influence_target *to)
{
    size_t width = to->reach ? u->dim : 0;
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++)
        if (to->counts[i]) width += to->width;
    return width;
}

size_t influence_width(const influence_meter *in)
{
    return sum_width(in->u, &in->to);
}

sbps_status influence_create(const posterior *u, const influence_target *to,
                             influence_meter **out, sbps_error *err)
{
    size_t dim = u->dim, k = u->auxiliaries;
    influence_meter *in = *out = calloc(1, sizeof *in);
    if (!in) return fail_memory(err);
    *in = (influence_meter){.u = u, .auxiliaries = k, .to = *to};
    in->pitch = ((dim > u->data->stride ? dim : u->data->stride) + 7) / 8 * 8;
    pthread_mutex_init(&in->lock, NULL);
    in->memory = new_doubles(4 * dim + dim * dim + 2 * k * k + sum_width(u, to) + 1);
    if (!in->memory) return fail_memory(err);
    in->reference = in->memory;
    in->centre = in->reference + dim;
    in->sd = in->centre + 2 * dim; /* and dim numbers of scratch before it */
    in->factor = in->sd + dim;
    in->inverse = in->factor + dim * dim;
    in->square = in->inverse + k * k;
    in->sum = in->square + k * k;
    openblas_set_num_threads(1);
    return SBPS_OK;
}

void influence_destroy(influence_meter *in)
{
    if (!in) return;
    free(in->line.p);
    free(in->memory);
    pthread_mutex_destroy(&in->lock);
    free(in);
}

size_t influence_scratch(const influence_meter *in)
{
    whitened unused;
    return whitened_carve(in, &unused, NULL);
}

sbps_status influence_set_point(influence_meter *in, const influence_point *at, sbps_error *err)
{
    size_t dim = in->u->dim;
    double *offset = in->sd - dim;
    memcpy(in->reference, at->reference, dim * sizeof *in->reference);
    memcpy(in->centre, at->centre, dim * sizeof *in->centre);
    memcpy(in->factor, at->factor, dim * dim * sizeof *in->factor);
    in->apart = memcmp(in->reference, in->centre, dim * sizeof *in->centre);
    for (size_t j = 0; j < dim; j++) offset[j] = in->centre[j] - in->reference[j];
    free(in->line.p);
    sbps_status status =
        padded_line_open(&in->line, in->u, in->reference, in->apart ? offset : NULL, err);
    if (status != SBPS_OK) return status;
    whitened_invert(in);
    atomic_store(&in->steepness, 0);
    if (in->to.effects) in->to.effects->count = 0;
    if (in->to.effects) row_effects_scale(dim, in->factor, offset, in->sd);
    return SBPS_OK;
}

static void measure_rows(const void *self, row_range r, double *scratch, double *total)
{
    influence_visit(*(influence_meter *const *)self, r, scratch, total);
}

void influence_finish(influence_meter *in, const double *sum)
{
    const rows *data = in->u->data;
    double steep = sum_over_ranks(data, (double)atomic_load(&in->steepness)) / STEEP_UNIT;
    if (in->to.effects && data->partition) row_effects_merge(data->partition, in->to.effects);
    if (in->to.steepness) *in->to.steepness = 1.0 + steep / (double)in->u->dim;
    if (in->to.reach) {
        /* Transforms the sum from z back to x: L z. */
        size_t dim = in->u->dim;
        const row_reach *to = in->to.reach;
        memcpy(to->factor, in->factor, dim * dim * sizeof *to->factor);
        for (size_t i = 0; i < dim; i++)
            to->third_sum[i] = dot(i + 1, in->factor + i * dim, sum);
    }
    if (in->to.reach) sum += in->u->dim;
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) {
        if (!in->to.counts[i]) continue;
        memcpy(in->to.counts[i], sum, in->to.width * sizeof *sum);
        sum += in->to.width;
    }
}

sbps_status influence_measure(const posterior *u, const influence_point *at,
                              const influence_target *to, sbps_error *err)
{
    influence_meter *in;
    sbps_status status = influence_create(u, to, &in, err);
    if (status == SBPS_OK) status = influence_set_point(in, at, err);
    if (status == SBPS_OK) {
        const row_sum what = {.self = &in,
                              .width = influence_width(in),
                              .scratch = influence_scratch(in),
                              .add = measure_rows};
        status = row_sums(u->data, &what, in->sum, err);
        influence_finish(in, in->sum);
    }
    influence_destroy(in);
    return status;
}

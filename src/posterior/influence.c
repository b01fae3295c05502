/* For points w ~ N(centre, H^-1), H = L L', and directions u = L'^-1 v, |v| = 1, all that row i sees of
 * either comes through z_i = L^-1 x_i: its predictor moves by e ~ N(x_i.(centre - reference), |z_i|^2),
 * the row's leverage, and x_i.u has the mean square |z_i|^2 / d. So with r(e) what the control variate leaves of
 * d log p/d eta there
 *
 *   influence_i^2 = E[r(e)^2] |z_i|^2 / d                                                            (1)
 *
 * is an integral over one dimension. With an auxiliary coordinate a, last of w, L^-1 (0, 1) = (0, 1/L_aa), z_a
 * the last of z_i and r_a what is left of d log p/da, it is one over two:
 *
 *   influence_i^2 = E[r^2 |z_i|^2 + 2 r r_a z_a/L_aa + r_a^2/L_aa^2] / d,                            (2)
 *   a = centre_a + s/L_aa,  e = x_i.(centre - reference) + z_a s + sqrt(|z_i|^2 - z_a^2) t,  s, t ~ N(0, 1).
 *
 * Gauss-Hermite nodes do both. Removing row i moves the mode by about
 *
 *   H^-1 x_i l_e / (1 + l_ee |z_i|^2),   at most |z_i l_e| / (1 + l_ee |z_i|^2) posterior sds          (3)
 *
 * (Cook, Weisberg 1982, Residuals and Influence in Regression, sections 3.5 and 5.6). */
#include "posterior/influence.h"
#include "base/cholesky.h"
#include "base/memory.h"
#include "base/real.h"
#include "data/row_sums.h"
#include "posterior/predictors.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK      ((size_t)256)
#define LEFT_LEAST 0.01 /* of the curvature, without a row: the first order knows no more */

/* Abramowitz, Stegun (1964), table 25.10, for the standard normal. */
typedef struct {
    size_t count;
    double at[7], weight[7];
} nodes;

static const nodes one_node = {1, {0.0}, {1.0}};
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

/* ---- a block of rows ---- */

typedef struct {
    const posterior *u;
    const influence_place *at;
    bool aux;
    double aux_unit; /* 1/L_aa */
    size_t pitch;    /* of z */
    size_t first, n;
    double *memory;
    double *z;             /* BLOCK * pitch */
    double *reference;     /* padded to the stride */
    double *away;          /* centre - reference, likewise */
    double *eta, *shift;   /* predictors at the reference, and how far off the centre's are */
    double *moved;         /* predictors at a node */
    double *lever, *z_aux; /* |z|^2 and the last of z */
    double *g, *ga;        /* d log p/d eta and /d aux at a node */
    double *g0, *ga0;      /* at the reference */
    double *ee, *ea, *aa;  /* second derivatives there */
    double *sum[INFLUENCE_ORDERS];
} block;

static size_t carve(block *b, double *base)
{
    double **const parts[] = {&b->reference, &b->away,  &b->eta, &b->shift, &b->moved,
                              &b->lever,     &b->z_aux, &b->g,   &b->ga,    &b->g0,
                              &b->ga0,       &b->ee,    &b->ea,  &b->aa,    &b->sum[0],
                              &b->sum[1],    &b->sum[2]};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (base) *parts[i] = base + used;
        used += i < 2 ? b->pitch : BLOCK;
    }
    if (base) b->z = base + used;
    return used + BLOCK * b->pitch;
}

static sbps_status block_open(block *b, const posterior *u, const influence_place *at,
                              sbps_error *err)
{
    size_t d = u->data->d, dim = u->dim;
    *b = (block){.u = u, .at = at, .aux = dim > d};
    b->pitch = ((dim > u->data->stride ? dim : u->data->stride) + 7) / 8 * 8;
    b->memory = new_doubles(carve(b, NULL));
    if (!b->memory) return fail_memory(err);
    carve(b, b->memory);
    for (size_t j = 0; j < d; j++) {
        b->reference[j] = at->reference[j];
        b->away[j] = at->centre[j] - at->reference[j];
    }
    if (b->aux) b->aux_unit = 1.0 / at->factor[dim * dim - 1];
    openblas_set_num_threads(1);
    return SBPS_OK;
}

/* z of every row: X L'^-1. */
static void whiten(block *b)
{
    const rows *data = b->u->data;
    size_t dim = b->u->dim;
    for (size_t i = 0; i < b->n; i++) {
        double *z = b->z + i * b->pitch;
        data->storage->decode(data, b->first + i, z);
        if (b->aux) z[dim - 1] = 0.0;
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)b->n,
                (int)dim, 1.0, b->at->factor, (int)dim, b->z, (int)b->pitch);
    for (size_t i = 0; i < b->n; i++) {
        const double *z = b->z + i * b->pitch;
        b->lever[i] = b->u->k->dot(dim, z, z);
        b->z_aux[i] = b->aux ? z[dim - 1] : 0.0;
    }
}

/* The block's predictors with the auxiliary coordinate so far from the reference's. */
static batch look(const block *b, const double *eta, double aux)
{
    return (batch){.k = b->u->k,
                   .n = b->n,
                   .eta = eta,
                   .y = b->u->data->y + b->first,
                   .aux = b->aux ? b->at->reference[b->u->dim - 1] + aux : 0.0};
}

/* A block of rows, and the model's derivatives at the reference. */
static void block_take(block *b, size_t first, size_t n)
{
    const padded_line line = {.p = b->reference, .q = b->away};
    b->first = first;
    b->n = n;
    predictors_of(b->u, rows_from(first, n), &line, b->eta, b->shift);
    whiten(b);
    batch here = look(b, b->eta, 0.0);
    b->u->model->predictor->gradient(&here, b->g0, b->aux ? b->ga0 : NULL);
    b->u->model->predictor->curvature(&here, b->ee, b->aux ? b->ea : NULL,
                                      b->aux ? b->aa : NULL);
}

static double row_weight(const block *b, size_t i)
{
    return b->u->data->weight ? b->u->data->weight[b->first + i] : 1.0;
}

/* ---- (1) and (2) ---- */

/* Squares at a node, for every order of control variate. e: how far the predictor is from the
 * reference's, a: the auxiliary. */
static void add_squares(block *b, size_t i, double e, double a, double weight)
{
    double lever = b->lever[i], beside = 2.0 * b->z_aux[i] * b->aux_unit;
    double unit2 = b->aux_unit * b->aux_unit;
    double r = b->g[i], ra = b->aux ? b->ga[i] : 0.0;
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++) {
        if (order == 1) {
            r -= b->g0[i];
            ra -= b->aux ? b->ga0[i] : 0.0;
        }
        if (order == 2) {
            r -= b->ee[i] * e + (b->aux ? b->ea[i] * a : 0.0);
            ra -= b->aux ? b->ea[i] * e + b->aa[i] * a : 0.0;
        }
        double square = r * r * lever + ra * (r * beside + ra * unit2);
        b->sum[order][i] += weight * larger(square, 0.0);
    }
}

static void visit_node(block *b, double s, double t, double weight)
{
    double off = b->aux ? b->at->centre[b->u->dim - 1] - b->at->reference[b->u->dim - 1] : 0.0;
    double a = off + s * b->aux_unit;
    for (size_t i = 0; i < b->n; i++) {
        double rest = larger(b->lever[i] - b->z_aux[i] * b->z_aux[i], 0.0);
        b->moved[i] = b->eta[i] + b->shift[i] + b->z_aux[i] * s + sqrt(rest) * t;
    }
    batch there = look(b, b->moved, a);
    b->u->model->predictor->gradient(&there, b->g, b->aux ? b->ga : NULL);
    for (size_t i = 0; i < b->n; i++) add_squares(b, i, b->moved[i] - b->eta[i], a, weight);
}

/* ---- (3) ---- */

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

/* The parameter that row i of the block moves most. `move`: dim. */
static row_effect effect_of(const block *b, size_t i, double scale, const double *sd,
                            double *move)
{
    size_t dim = b->u->dim;
    const double *factor = b->at->factor, *z = b->z + i * b->pitch;
    for (size_t j = 0; j < dim; j++) move[j] = b->g0[i] * z[j] * scale;
    if (b->aux) move[dim - 1] += b->ga0[i] * b->aux_unit * scale;
    cholesky_back(dim, factor, move);
    row_effect e = {.row = b->first + i};
    for (size_t j = 0; j < dim; j++)
        if (fabs(move[j]) > fabs(e.shift) * sd[j])
            e = (row_effect){b->first + i, j, move[j] / sd[j]};
    return e;
}

/* Rows of the block that may be among them. `room`: dim. */
static void add_effects(const block *b, const double *sd, double *room, row_effects *kept)
{
    for (size_t i = 0; i < b->n; i++) {
        double weight = row_weight(b, i);
        double left = larger(1.0 + weight * b->ee[i] * b->lever[i], LEFT_LEAST);
        double most =
            fabs(b->g0[i]) * sqrt(b->lever[i]) + (b->aux ? fabs(b->ga0[i]) * b->aux_unit : 0.0);
        if (!(weight * most >= kept->least * left)) continue;
        row_effect e = effect_of(b, i, weight / left, sd, room);
        if (fabs(e.shift) >= kept->least) keep_effect(kept, e);
    }
}

/* ---- all rows ---- */

static void integrate(block *b)
{
    const nodes *of_aux = b->aux ? &five_nodes : &one_node;
    const nodes *of_eta = b->aux ? &five_nodes : &seven_nodes;
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++)
        memset(b->sum[order], 0, b->n * sizeof(double));
    for (size_t k = 0; k < of_aux->count; k++)
        for (size_t l = 0; l < of_eta->count; l++)
            visit_node(b, of_aux->at[k], of_eta->at[l], of_aux->weight[k] * of_eta->weight[l]);
}

/* What is wanted of every row. */
typedef struct {
    block *b;
    float *const *out;
    row_effects *effects; /* NULL: not wanted */
    double *sd, *room;    /* dim each, of those */
} measuring;

static void measure_rows(const void *self, row_range r, double *scratch, double *total)
{
    const measuring *m = self;
    block *b = m->b;
    (void)scratch;
    (void)total;
    for (size_t done = 0; done < r.n; done += BLOCK) {
        block_take(b, r.first + done, r.n - done < BLOCK ? r.n - done : BLOCK);
        integrate(b);
        for (size_t order = 0; order < INFLUENCE_ORDERS; order++)
            for (size_t i = 0; m->out[order] && i < b->n; i++)
                m->out[order][b->first + i] =
                    (float)(row_weight(b, i) * sqrt(b->sum[order][i] / (double)b->u->dim));
        if (m->effects) add_effects(b, m->sd, m->room, m->effects);
    }
}

sbps_status influence_measure(const posterior *u, const influence_place *at,
                              float *const out[INFLUENCE_ORDERS], row_effects *effects,
                              sbps_error *err)
{
    block b;
    double *room = new_doubles(2 * u->dim), *sd = room + u->dim;
    if (!room) return fail_memory(err);
    sbps_status status = block_open(&b, u, at, err);
    if (status == SBPS_OK && effects) marginal_sds(u->dim, at->factor, room, sd);
    const measuring m = {&b, out, effects, sd, room};
    const row_sum what = {.self = &m, .add = measure_rows};
    if (status == SBPS_OK) status = row_sums(u->data, &what, NULL, err);
    free(b.memory);
    free(room);
    return status;
}

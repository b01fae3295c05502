/* Likelihoods other than the normal one. The predictors eta of all rows are kept; an update of a
 * block sums values, slopes g and curvatures h = max(0, -d^2 log p/d eta^2) of the rows by
 * level and proposes a Newton step with normal noise,
 *
 *   u' = u + P^-1 (G - S^-1 u) + P^-1/2 n,   G = sum g z,   P = S^-1 + sum h z z'           (1)
 *
 * which is accepted with the ratio of Metropolis and Hastings; all levels of a factor are
 * proposed in one pass and accepted one by one. The step is shortened where it is long in the
 * norm of P, which keeps (1) defined far from the mode:
 *
 *   step <- step min(1, (3 + sqrt(q)) / |step|_P).                                         (2)
 *
 * beta is proposed likewise, with a matrix P that is fixed after warm-up. Spreads and auxiliary
 * parameters are drawn by slices. */
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "posterior/sweep/sweep_parts.h"

#include <string.h>

#define Q LEVEL_EFFECTS_MAX
#define RECOMPUTED                                                                             \
    64               /* sweeps after which eta is computed anew, so that errors do not add up */
#define CLIMBS   30  /* passes over all blocks at the start of a chain */
#define HALVINGS 12  /* of a step of beta in one of them */
#define SETTLED  0.1 /* log units per block: the climb ends */

/* ---- rows ---- */

/* Where the numbers of PASS_ROWS rows are. */
typedef struct {
    double *eta, *value, *slope, *curve, *change, *x;
} row_block;

static row_block block_of(const sweep_run *r)
{
    double *base = r->st.row;
    return (row_block){base,
                       base + PASS_ROWS,
                       base + 2 * PASS_ROWS,
                       base + 3 * PASS_ROWS,
                       base + 4 * PASS_ROWS,
                       base + 8 * PASS_ROWS};
}

static const double *auxiliaries(const sweep_run *r)
{
    return r->st.at + r->s->m->aux;
}

/* Values and derivatives of log p for likelihoods with the slope y - mean(eta); constants
 * are left out. */
static void evaluate_by_mean(const sweep_run *r, size_t n, const double *y, const row_block *b,
                             bool derivatives)
{
    const kernels *k = r->s->u->k;
    bool logistic = r->s->family->mean == MEAN_SIGMOID;
    if (logistic) k->softplus(n, b->eta, b->value);
    if (logistic && derivatives) k->sigmoid(n, b->eta, b->curve);
    if (!logistic) {
        for (size_t i = 0; i < n; i++)
            b->value[i] = b->eta[i] > MEAN_EXP_TOP ? MEAN_EXP_TOP : b->eta[i];
        k->exp(n, b->value, b->curve);
        for (size_t i = 0; i < n; i++)
            b->value[i] = b->curve[i] * (1.0 + b->eta[i] - b->value[i]);
    }
    for (size_t i = 0; i < n; i++) b->value[i] = y[i] * b->eta[i] - b->value[i];
    for (size_t i = 0; derivatives && i < n; i++) b->slope[i] = y[i] - b->curve[i];
    for (size_t i = 0; derivatives && logistic && i < n; i++) b->curve[i] *= 1.0 - b->curve[i];
}

/* Sets values, and slopes and curvatures if requested, of n rows from `first` on at b->eta. */
static void evaluate(const sweep_run *r, size_t first, size_t n, const row_block *b,
                     bool derivatives)
{
    const sweep *s = r->s;
    const double *y = s->data->y + first;
    const batch hand = {
        .k = s->u->k, .n = n, .eta = b->eta, .y = y, .aux = auxiliaries(r), .pitch = PASS_ROWS};
    if (s->family->mean != MEAN_OTHER)
        evaluate_by_mean(r, n, y, b, derivatives);
    else {
        s->family->loglik(&hand, b->value);
        if (derivatives) s->family->gradient(&hand, b->slope, NULL);
        if (derivatives) s->family->curvature(&hand, b->curve, NULL, NULL);
        for (size_t i = 0; derivatives && i < n; i++)
            b->curve[i] = b->curve[i] < 0.0 ? -b->curve[i] : 0.0;
    }
    if (!s->data->weight) return;
    const double *weight = s->data->weight + first;
    for (size_t i = 0; i < n; i++) b->value[i] *= weight[i];
    for (size_t i = 0; derivatives && i < n; i++) b->slope[i] *= weight[i];
    for (size_t i = 0; derivatives && i < n; i++) b->curve[i] *= weight[i];
}

/* eta[i] += z_i.u[level of row i] for n rows from `first` on; u: q numbers per level. */
static void add_effects(const sweep *s, const sweep_factor *f, size_t first, size_t n,
                        const double *u, double *eta)
{
    const uint32_t *level = f->level + first;
    if (f->q == 1 && f->of->column[0].of == GROUP_CONSTANT) {
        for (size_t i = 0; i < n; i++) eta[i] += u[level[i]];
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < f->q; a++)
            eta[i] += mixed_z(s->m, first + i, f->of->column[a]) * u[level[i] * f->q + a];
}

/* eta of all rows from beta and the effects. */
static void set_predictors(const sweep_run *r)
{
    const sweep *s = r->s;
    row_block b = block_of(r);
    memset(b.x, 0, s->data->stride * sizeof *b.x);
    memcpy(b.x, r->st.at, s->d * sizeof *b.x);
    for (size_t first = 0; first < s->n; first += PASS_ROWS) {
        size_t n = s->n - first < PASS_ROWS ? s->n - first : PASS_ROWS;
        double *eta = r->st.eta + first;
        rows_products(s->data, s->u->k, rows_from(first, n), b.x, NULL, eta, NULL);
        for (size_t i = 0; s->data->offset && i < n; i++) eta[i] += s->data->offset[first + i];
        for (size_t f = 0; f < s->factors; f++)
            add_effects(s, &s->factor[f], first, n, r->st.at + s->factor[f].of->first, eta);
    }
}

/* ---- the levels of a factor ---- */

/* Adds the rows at hand to the sums of their levels. */
static void add_to_levels(const sweep *s, const sweep_factor *f, size_t first, size_t n,
                          const row_block *b, double *value, double *slope, double *curve)
{
    const uint32_t *level = f->level + first;
    size_t q = f->q;
    if (q == 1 && f->of->column[0].of == GROUP_CONSTANT) {
        for (size_t i = 0; i < n; i++) {
            size_t l = level[i];
            value[l] += b->value[i];
            slope[l] += b->slope[i];
            curve[l] += b->curve[i];
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double z[Q];
        size_t l = level[i];
        for (size_t a = 0; a < q; a++) z[a] = mixed_z(s->m, first + i, f->of->column[a]);
        value[l] += b->value[i];
        for (size_t a = 0; a < q; a++) {
            slope[l * q + a] += b->slope[i] * z[a];
            for (size_t c = 0; c < q; c++)
                curve[(l * q + a) * q + c] += b->curve[i] * z[a] * z[c];
        }
    }
}

void rows_sum_levels(sweep_run *r, const sweep_factor *f, const double *step, double *value,
                     double *slope, double *curve)
{
    const sweep *s = r->s;
    row_block b = block_of(r);
    size_t q = f->q;
    memset(value, 0, f->levels * sizeof *value);
    memset(slope, 0, f->levels * q * sizeof *slope);
    memset(curve, 0, f->levels * q * q * sizeof *curve);
    for (size_t first = 0; first < s->n; first += PASS_ROWS) {
        size_t n = s->n - first < PASS_ROWS ? s->n - first : PASS_ROWS;
        memcpy(b.eta, r->st.eta + first, n * sizeof *b.eta);
        if (step) add_effects(s, f, first, n, step, b.eta);
        evaluate(r, first, n, &b, true);
        add_to_levels(s, f, first, n, &b, value, slope, curve);
    }
    r->passes += 1.0;
}

/* A Newton step of one level: (1) and (2). */
typedef struct {
    double value; /* log density: rows and N(0, S) */
    double root[Q * Q],
        log_size; /* Cholesky factor of P and the logarithm of its determinant */
    double step[Q];
} newton;

/* The step of n numbers from x; slope and curve: of the rows; precision: S^-1. */
static void set_newton(size_t q, const double *precision, double value, const double *slope,
                       const double *curve, const double *u, newton *out)
{
    double pull[Q], size = 0.0;
    out->value = value;
    for (size_t a = 0; a < q; a++) {
        double by_prior = dot(q, precision + a * q, u);
        out->value -= 0.5 * u[a] * by_prior;
        out->step[a] = pull[a] = slope[a] - by_prior;
        for (size_t c = 0; c < q; c++)
            out->root[a * q + c] = precision[a * q + c] + curve[a * q + c];
    }
    if (q == 1) {
        out->root[0] = sqrt(out->root[0]);
        out->step[0] /= out->root[0] * out->root[0];
    } else {
        cholesky(q, out->root);
        cholesky_solve(q, out->root, out->step);
    }
    out->log_size = 0.0;
    for (size_t a = 0; a < q; a++) {
        out->log_size += log(out->root[a * q + a]);
        size += pull[a] * out->step[a];
    }
    double most = 3.0 + sqrt((double)q);
    if (size > most * most)
        for (size_t a = 0; a < q; a++) out->step[a] *= most / sqrt(size);
}

/* log density of proposing the move `e` by this step; R'(e - step) is the noise. */
static double log_proposal(size_t q, const newton *at, const double *e)
{
    double square = 0.0;
    for (size_t a = 0; a < q; a++) {
        double n = 0.0;
        for (size_t c = a; c < q; c++) n += at->root[c * q + a] * (e[c] - at->step[c]);
        square += n * n;
    }
    return at->log_size - 0.5 * square;
}

/* S^-1 of a factor. */
static void set_precision(const sweep_run *r, const sweep_factor *f, double *out)
{
    effect_spread at;
    double lower[Q * Q];
    size_t q = f->q;
    spread_at(&f->of->shape, r->st.at + f->of->spread, false, &at);
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) lower[a * q + b] = at.factor[a][b];
    cholesky_inverse(q, lower, out);
}

/* st.step = proposed changes of all levels of a factor. noise: false for a climb, where st.v
 * has the fraction of each level's step to take. */
static void propose_levels(const sweep_run *r, const sweep_factor *f, const double *precision,
                           bool noise)
{
    size_t q = f->q;
    double z[PASS_LEVELS * Q];
    for (size_t from = 0; from < f->levels; from += PASS_LEVELS) {
        size_t n = f->levels - from < PASS_LEVELS ? f->levels - from : PASS_LEVELS;
        rng random = sweep_stream(r, 2 * from);
        if (noise) rng_normals(&random, n * q, z);
        for (size_t i = 0; i < n; i++) {
            size_t l = from + i;
            newton at;
            set_newton(q, precision, 0.0, r->st.first + l * q, r->st.curve + l * q * q,
                       sweep_effects(r, f, l), &at);
            double *e = r->st.step + l * q;
            memcpy(e, z + i * q, q * sizeof *e);
            if (noise) cholesky_back(q, at.root, e);
            for (size_t a = 0; a < q; a++)
                e[a] = noise ? e[a] + at.step[a] : r->st.v[l] * at.step[a];
        }
    }
}

/* log of the ratio by which the move of level l is accepted; with noise false the gain of log
 * density. */
static double level_gain(const sweep_run *r, const sweep_factor *f, const double *precision,
                         size_t l, bool noise)
{
    size_t q = f->q;
    const double *e = r->st.step + l * q, *u = sweep_effects(r, f, l);
    double to[Q], back[Q];
    newton at, there;
    for (size_t a = 0; a < q; a++) {
        to[a] = u[a] + e[a];
        back[a] = -e[a];
    }
    set_newton(q, precision, r->st.value[l], r->st.first + l * q, r->st.curve + l * q * q, u,
               &at);
    set_newton(q, precision, r->st.value2[l], r->st.second + l * q, r->st.curve2 + l * q * q,
               to, &there);
    double gain = there.value - at.value;
    return noise ? gain + log_proposal(q, &there, back) - log_proposal(q, &at, e) : gain;
}

/* Accepts or rejects the move of each level; rejected ones become 0 in st.step. In a climb a
 * level whose density fell gets half of its fraction. Returns the gain of log density. */
static double accept_levels(sweep_run *r, const sweep_factor *f, const double *precision,
                            bool noise)
{
    size_t q = f->q;
    double total = 0.0;
    r->loglik = 0.0;
    for (size_t from = 0; from < f->levels; from += PASS_LEVELS) {
        size_t end = f->levels - from < PASS_LEVELS ? f->levels : from + PASS_LEVELS;
        rng random = sweep_stream(r, 2 * from + 1);
        for (size_t l = from; l < end; l++) {
            double gain = level_gain(r, f, precision, l, noise), *e = r->st.step + l * q;
            double least = noise ? -rng_exponential(&random) : 0.0;
            bool accepted = gain >= least; /* not if it is NaN */
            r->loglik += accepted ? r->st.value2[l] : r->st.value[l];
            if (accepted) {
                add_scaled(q, 1.0, e, sweep_effects(r, f, l));
                total += gain;
                if (!noise) r->st.v[l] = fmin(1.0, 2.0 * r->st.v[l]);
            } else {
                memset(e, 0, q * sizeof *e);
                if (!noise) r->st.v[l] *= 0.5;
            }
        }
    }
    return total;
}

void rows_move(const sweep_run *r, const sweep_factor *f, const double *step)
{
    const sweep *s = r->s;
    add_effects(s, f, 0, s->n, step, r->st.eta);
}

/* All levels of a factor. Returns the gain of log density in a climb. */
static double draw_levels(sweep_run *r, const sweep_factor *f, bool noise)
{
    double precision[Q * Q];
    sweep_state *st = &r->st;
    set_precision(r, f, precision);
    rows_sum_levels(r, f, NULL, st->value, st->first, st->curve);
    propose_levels(r, f, precision, noise);
    rows_sum_levels(r, f, st->step, st->value2, st->second, st->curve2);
    double gain = accept_levels(r, f, precision, noise);
    rows_move(r, f, st->step);
    r->update++;
    return gain;
}

/* ---- values along moves of effects: for sweep_along.c ---- */

double rows_value(sweep_run *r, const sweep_factor *f, const double *step)
{
    row_block b = block_of(r);
    double total = 0.0;
    for (size_t first = 0; first < r->s->n; first += PASS_ROWS) {
        size_t n = r->s->n - first < PASS_ROWS ? r->s->n - first : PASS_ROWS;
        memcpy(b.eta, r->st.eta + first, n * sizeof *b.eta);
        add_effects(r->s, f, first, n, step, b.eta);
        evaluate(r, first, n, &b, false);
        total += sum(n, b.value);
    }
    r->passes += 0.5;
    return total;
}

/* ---- beta ---- */

/* Sums over all rows at the predictors plus x.step: returns the log likelihood; slope (d)
 * receives its gradient, curve (d * d, unless NULL) minus the sum of x x' times the
 * curvature. */
static double sum_fixed(sweep_run *r, const double *step, double *slope, double *curve)
{
    const sweep *s = r->s;
    row_block b = block_of(r);
    size_t d = s->d, stride = s->data->stride;
    double total = 0.0, *padded = b.x, *sums = b.x + stride, *x = sums + stride;
    memset(padded, 0, 2 * stride * sizeof *padded);
    if (step) memcpy(padded, step, d * sizeof *step);
    if (curve) memset(curve, 0, d * d * sizeof *curve);
    for (size_t first = 0; first < s->n; first += PASS_ROWS) {
        size_t n = s->n - first < PASS_ROWS ? s->n - first : PASS_ROWS;
        memcpy(b.eta, r->st.eta + first, n * sizeof *b.eta);
        if (step)
            rows_products(s->data, s->u->k, rows_from(first, n), padded, NULL, b.change, NULL);
        for (size_t i = 0; step && i < n; i++) b.eta[i] += b.change[i];
        evaluate(r, first, n, &b, true);
        total += sum(n, b.value);
        rows_combine(s->data, s->u->k, rows_from(first, n), b.slope, sums);
        for (size_t i = 0; curve && i < n; i++) {
            s->data->storage.kind->decode(s->data, first + i, x);
            for (size_t j = 0; j < d; j++)
                add_scaled(j + 1, b.curve[i] * x[j], x, curve + j * d);
        }
    }
    memcpy(slope, sums, d * sizeof *slope);
    r->passes += 1.0;
    return total;
}

/* st.root = the Cholesky factor of the curvature of rows and quadratic priors at the present
 * point; the former one stays where that is not positive definite. slope: d, receives the
 * gradient of rows and priors. Returns the log density. */
static double set_fixed_root(sweep_run *r, double *slope)
{
    const sweep *s = r->s;
    size_t d = s->d;
    double *curve = r->st.fixed, *by_prior = curve + d * d;
    double total = sum_fixed(r, NULL, slope, curve) + sweep_fixed_prior(s, r->st.at, false);
    for (size_t i = 0; i < d * d; i++) curve[i] += s->prior_precision[i];
    if (cholesky(d, curve)) memcpy(r->st.root, curve, d * d * sizeof *curve);
    sweep_fixed_slope(s, r->st.at, false, by_prior);
    add_scaled(d, 1.0, by_prior, slope);
    return total;
}

/* eta += x.step, beta += step */
static void move_fixed(const sweep_run *r, const double *step)
{
    const sweep *s = r->s;
    row_block b = block_of(r);
    memset(b.x, 0, s->data->stride * sizeof *b.x);
    memcpy(b.x, step, s->d * sizeof *step);
    for (size_t first = 0; first < s->n; first += PASS_ROWS) {
        size_t n = s->n - first < PASS_ROWS ? s->n - first : PASS_ROWS;
        rows_products(s->data, s->u->k, rows_from(first, n), b.x, NULL, b.change, NULL);
        for (size_t i = 0; i < n; i++) r->st.eta[first + i] += b.change[i];
    }
    add_scaled(s->d, 1.0, step, r->st.at);
}

/* |root'(e - P^-1 slope)|^2 / 2, minus the log density of a proposal up to a constant. scratch:
 * d. */
static double proposal_distance(const sweep *s, const double *root, const double *slope,
                                const double *e, double *scratch)
{
    double square = 0.0;
    size_t d = s->d;
    memcpy(scratch, slope, d * sizeof *slope);
    cholesky_solve(d, root, scratch);
    for (size_t a = 0; a < d; a++) {
        double n = 0.0;
        for (size_t c = a; c < d; c++) n += root[c * d + a] * (e[c] - scratch[c]);
        square += n * n;
    }
    return 0.5 * square;
}

/* beta by (1) with the matrix st.root, without (2). */
static void draw_fixed(sweep_run *r)
{
    const sweep *s = r->s;
    size_t d = s->d;
    double *slope = r->st.fixed + d * d, *by_prior = slope + d, *e = by_prior + d,
           *there = e + d, *scratch = there + d;
    rng random = sweep_stream(r, 0);
    if (d == 0) return;
    double before = sum_fixed(r, NULL, slope, NULL) + sweep_fixed_prior(s, r->st.at, false);
    sweep_fixed_slope(s, r->st.at, false, by_prior);
    add_scaled(d, 1.0, by_prior, slope);
    memcpy(scratch, slope, d * sizeof *slope);
    cholesky_solve(d, r->st.root, scratch);
    rng_normals(&random, d, e);
    cholesky_back(d, r->st.root, e);
    add_scaled(d, 1.0, scratch, e);
    double after = sum_fixed(r, e, there, NULL);
    add_scaled(d, 1.0, e, r->st.at); /* for the prior; undone below */
    after += sweep_fixed_prior(s, r->st.at, false);
    sweep_fixed_slope(s, r->st.at, false, by_prior);
    add_scaled(d, -1.0, e, r->st.at);
    add_scaled(d, 1.0, by_prior, there);
    double gain = after - before + proposal_distance(s, r->st.root, slope, e, scratch);
    for (size_t j = 0; j < d; j++) e[j] = -e[j];
    gain -= proposal_distance(s, r->st.root, there, e, scratch);
    for (size_t j = 0; j < d; j++) e[j] = -e[j];
    if (gain >= -rng_exponential(&random)) move_fixed(r, e);
    r->update++;
}

/* ---- auxiliary parameters ---- */

typedef struct {
    sweep_run *r;
    size_t j;
} aux_line;

/* log density of auxiliary coordinate j given all else */
static double aux_density(void *self, double x)
{
    const aux_line *line = self;
    sweep_run *r = line->r;
    row_block b = block_of(r);
    double was = r->st.at[line->j];
    r->st.at[line->j] = x;
    double total = sweep_log_prior(r->s, r->st.at, line->j);
    for (size_t first = 0; first < r->s->n; first += PASS_ROWS) {
        size_t n = r->s->n - first < PASS_ROWS ? r->s->n - first : PASS_ROWS;
        memcpy(b.eta, r->st.eta + first, n * sizeof *b.eta);
        evaluate(r, first, n, &b, false);
        total += sum(n, b.value);
    }
    r->passes += 0.5;
    r->st.at[line->j] = was;
    return total;
}

static void draw_auxiliaries(sweep_run *r)
{
    const mixed *m = r->s->m;
    for (size_t a = 0; a < m->row_model->auxiliary_count; a++, r->update++) {
        aux_line line = {r, m->aux + a};
        sweep_density density = {&line, aux_density};
        rng random = sweep_stream(r, 0);
        double *width = r->st.width + r->s->lines - m->row_model->auxiliary_count + a;
        double x = r->st.at[line.j], fx = aux_density(&line, x);
        double to = sweep_slice(&random, x, fx, *width, 0, density);
        sweep_adapt_width(r, width, to - x);
        r->st.at[line.j] = to;
    }
}

/* ---- start and sweeps ---- */

/* One damped Newton step of beta; returns the gain of log density. */
static double climb_fixed(sweep_run *r)
{
    const sweep *s = r->s;
    size_t d = s->d;
    double *slope = r->st.fixed + d * d + d, *e = slope + d, *there = e + d;
    if (d == 0) return 0.0;
    double before = set_fixed_root(r, slope);
    memcpy(e, slope, d * sizeof *e);
    cholesky_solve(d, r->st.root, e);
    for (int i = 0; i < HALVINGS; i++) {
        add_scaled(d, 1.0, e, r->st.at);
        double by_prior = sweep_fixed_prior(s, r->st.at, false);
        add_scaled(d, -1.0, e, r->st.at);
        double gain = sum_fixed(r, e, there, NULL) + by_prior - before;
        if (gain >= 0.0) {
            move_fixed(r, e);
            return gain;
        }
        for (size_t j = 0; j < d; j++) e[j] *= 0.5;
    }
    return 0.0;
}

void rows_begin(sweep_run *r)
{
    const sweep *s = r->s;
    double gain = INFINITY;
    for (size_t i = 0; i < s->d; i++) r->st.root[i * s->d + i] = 1.0;
    set_predictors(r);
    for (int i = 0; i < CLIMBS && gain > SETTLED * (double)(s->factors + 1); i++) {
        gain = climb_fixed(r);
        for (size_t f = 0; f < s->factors; f++) {
            for (size_t l = 0; l < s->factor[f].levels; l++) r->st.v[l] = 1.0;
            gain += draw_levels(r, &s->factor[f], false);
        }
    }
    memcpy(r->st.centre, r->st.at, s->dim * sizeof *r->st.at);
    if (s->d > 0) set_fixed_root(r, r->st.fixed + s->d * s->d + s->d);
}

/* In warm-up the matrix of beta is set anew in sweeps 8, 16, 32, ... */
static bool renews_root(const sweep_run *r)
{
    return r->adapting && r->s->d > 0 && r->count >= 8 && (r->count & (r->count - 1)) == 0;
}

void rows_sweep_all(sweep_run *r)
{
    const sweep *s = r->s;
    if (r->count % RECOMPUTED == 0) set_predictors(r);
    if (renews_root(r)) set_fixed_root(r, r->st.fixed + s->d * s->d + s->d);
    for (size_t f = 0; f < s->factors; f++) {
        draw_levels(r, &s->factor[f], true);
        along_draw(r, &s->factor[f]);
        sweep_draw_spread(r, &s->factor[f]);
        shift_draw(r, &s->factor[f]);
    }
    draw_fixed(r);
    draw_auxiliaries(r);
    along_adapt(r);
}

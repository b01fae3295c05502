/* Stochastic average gradient. The rows lie in m blocks; with F_k minus the log-likelihood of block
 * k and P minus the log prior, a step looks at one block k, drawn at random, and
 *
 *   y_k <- grad F_k(w),     w <- w - D^-2 (m/s sum_k y_k + grad P(w)) / c(L + 1)             (1)
 *
 * s the number of blocks seen so far. A row's part in y_k is d log p/d eta times the row, so one
 * number a row is all that is kept (and one more for each auxiliary). D^2 is the diagonal
 * of the Hessian, of which P has at most 1 after scaling; L the curvature of m F_k, doubled until
 *
 *   m F_k(w - q/L) <= m F_k(w) - q'D^2 q / 2L,    q = m D^-2 grad F_k(w)                       (2)
 *
 * and let down by 2^(-1/m) a step. c = 16 is enough where L is a bound, but (2) sees the curvature
 * along one direction only, and a smaller c can be faster. So every few epochs all rows are surveyed at
 * w: value, gradient and D become exact there; c is doubled when the gradient swings about instead of
 * falling and halved when it falls slowly; and a path that has risen above its beginning starts again
 * from its best point.
 *
 * Le Roux, Schmidt, Bach (2012), A stochastic gradient method with an exponential convergence rate
 * for finite training sets, NIPS. Line search and s: Schmidt, Le Roux, Bach (2017), Minimizing
 * finite sums with the stochastic average gradient, Math. Program. 162, 83-112, section 4. */
#include "posterior/full/sag.h"
#include "core/memory.h"
#include "core/rng.h"
#include "linalg/dense_matrix.h"
#include "posterior/full/log_prior.h"
#include "posterior/full/predictors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK   ((size_t)8) /* rows a step */
#define SURVEY  5           /* epochs between surveys */
#define CAUTION 16.0        /* c at first */
#define SLOW    0.5 /* a gradient that keeps more than this between surveys has too large a c */
#define MIN_L   1e-3
#define MAX_L   0x1p100

typedef struct {
    sag_point *s;
    const posterior *u;
    const rows *data;
    size_t d, blocks, seen;
    double *memory;
    size_t auxiliaries;
    double *p;       /* stride: the weights, padded; auxiliaries are s->w[d] and on */
    double *q;       /* stride: of (2) */
    double *sum;     /* stride: of r x over the rows */
    double *own;     /* stride: the same of one block */
    double *row;     /* stride */
    double *r, *ra;  /* n: what each row last said, its weight included; n more an auxiliary */
    double *inverse; /* dim: D^-2 */
    double *best;    /* dim */
    double *prior;   /* dim: what the log prior says, its gradient or its curvatures */
    unsigned char *visited;              /* blocks: has it been looked at? */
    double *sum_aux, *q_aux, *trial_aux; /* auxiliaries: of ra, of (2) and where (2) is tried */
    double *ra_block, *ea, *aa; /* a block an auxiliary, the same, and one for each two */
    double lipschitz, decay;    /* L and its factor a step */
    double caution;             /* c */
    double first, best_value;   /* U at the beginning and at best */
    double smallest_size;       /* |D^-1 g| surveyed */
    rng random;
} sag;

/* What a block says at w. */
typedef struct {
    row_range range;
    double eta[BLOCK], r[BLOCK];
    double *ra; /* a block an auxiliary */
} block_terms;

/* What auxiliaries need from `at` on, beside what every row said; NULL: counts. Returns how much that is. */
static size_t carve_auxiliaries(sag *g, double *at)
{
    size_t count = g->auxiliaries, used = 0;
    double **const parts[] = {&g->sum_aux,  &g->q_aux, &g->trial_aux,
                              &g->ra_block, &g->ea,    &g->aa};
    const size_t sizes[] = {count,         count,         count,
                            count * BLOCK, count * BLOCK, packed_size(count) * BLOCK};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (at) *parts[i] = at + used;
        used += sizes[i];
    }
    return used;
}

static sbps_status sag_open(sag *g, const posterior *u, sag_point *s, uint64_t seed,
                            sbps_error *err)
{
    const rows *data = u->data;
    size_t n = data->n, wide = (data->stride + 7) / 8 * 8;
    *g = (sag){.s = s,
               .u = u,
               .data = data,
               .d = data->d,
               .auxiliaries = u->auxiliaries,
               .lipschitz = 1.0,
               .caution = CAUTION};
    g->blocks = (n + BLOCK - 1) / BLOCK;
    g->decay = exp2(-1.0 / (double)g->blocks);
    g->random = rng_stream(seed, 0, RNG_MODE);
    g->memory = new_doubles(5 * wide + (1 + g->auxiliaries) * n + 3 * u->dim +
                            carve_auxiliaries(g, NULL));
    g->visited = calloc(g->blocks, 1);
    if (!g->memory || !g->visited) {
        free(g->memory);
        free(g->visited);
        return fail_memory(err);
    }
    double **const parts[] = {&g->p, &g->q, &g->sum, &g->own, &g->row};
    for (size_t i = 0; i < 5; i++) *parts[i] = g->memory + i * wide;
    g->inverse = g->memory + 5 * wide;
    g->best = g->inverse + u->dim;
    g->prior = g->best + u->dim;
    g->r = g->prior + u->dim;
    g->ra = g->r + n;
    carve_auxiliaries(g, g->ra + g->auxiliaries * n);
    memcpy(g->p, s->w, g->d * sizeof *g->p);
    return SBPS_OK;
}

static const double *aux_of(const sag *g)
{
    return g->s->w + g->d;
}

static batch batch_of(const sag *g, const block_terms *b, const double *eta, const double *aux)
{
    return (batch){.k = g->u->k,
                   .n = b->range.n,
                   .eta = eta,
                   .y = g->data->y + b->range.first,
                   .aux = aux,
                   .pitch = BLOCK};
}

static void evaluate_block(const sag *g, size_t block, block_terms *b)
{
    size_t first = block * BLOCK, left = g->data->n - first;
    b->range = rows_from(first, left < BLOCK ? left : BLOCK);
    const padded_line line = {.p = g->p, .aux = aux_of(g)};
    batch at = predictors_of(g->u, b->range, &line, b->eta, NULL);
    at.pitch = BLOCK;
    b->ra = g->ra_block;
    g->u->model->predictor->gradient(&at, b->r, g->auxiliaries ? b->ra : NULL);
    predictors_weigh(g->u, b->range, b->r);
    for (size_t j = 0; j < g->auxiliaries; j++)
        predictors_weigh(g->u, b->range, b->ra + j * BLOCK);
}

/* The rows' table and its sum take what the block says now. */
static void update_table(sag *g, const block_terms *b)
{
    double change[BLOCK], *r = g->r + b->range.first;
    for (size_t i = 0; i < b->range.n; i++) change[i] = b->r[i] - r[i];
    rows_combine(g->data, g->u->k, b->range, change, g->sum);
    memcpy(r, b->r, b->range.n * sizeof *r);
    for (size_t j = 0; j < g->auxiliaries; j++) {
        double *kept = g->ra + j * g->data->n + b->range.first, *current = b->ra + j * BLOCK;
        for (size_t i = 0; i < b->range.n; i++) {
            g->sum_aux[j] += current[i] - kept[i];
            kept[i] = current[i];
        }
    }
}

static double block_loglik(const sag *g, const block_terms *b, const double *eta,
                           const double *aux)
{
    double value[BLOCK], total = 0.0;
    batch at = batch_of(g, b, eta, aux);
    g->u->model->predictor->loglik(&at, value);
    predictors_weigh(g->u, b->range, value);
    for (size_t i = 0; i < b->range.n; i++) total += value[i];
    return total;
}

/* q of (2); returns q'D^2 q. */
static double set_trial_step(sag *g, const block_terms *b)
{
    double m = (double)g->blocks, size = 0.0;
    memset(g->own, 0, g->d * sizeof *g->own);
    rows_combine(g->data, g->u->k, b->range, b->r, g->own);
    for (size_t j = 0; j < g->d; j++) {
        g->q[j] = m * g->own[j] * g->inverse[j];
        size += g->q[j] * m * g->own[j];
    }
    for (size_t j = 0; j < g->auxiliaries; j++) {
        double own = sum(b->range.n, b->ra + j * BLOCK);
        g->q_aux[j] = m * own * g->inverse[g->d + j];
        size += g->q_aux[j] * m * own;
    }
    return size;
}

/* (2) */
static void learn_curvature(sag *g, const block_terms *b)
{
    double m = (double)g->blocks, size = set_trial_step(g, b), deta[BLOCK], eta[BLOCK];
    rows_products(g->data, g->u->k, b->range, g->q, NULL, deta, NULL);
    double before = block_loglik(g, b, b->eta, aux_of(g));
    for (; g->lipschitz < MAX_L; g->lipschitz *= 2.0) {
        for (size_t i = 0; i < b->range.n; i++) eta[i] = b->eta[i] + deta[i] / g->lipschitz;
        for (size_t j = 0; j < g->auxiliaries; j++)
            g->trial_aux[j] = aux_of(g)[j] + g->q_aux[j] / g->lipschitz;
        double after = block_loglik(g, b, eta, g->trial_aux);
        double want = size / (2.0 * g->lipschitz), rounding = 1e-12 * m * fabs(before);
        if (want <= rounding || m * (after - before) >= want - rounding) break;
    }
}

static void evaluate_prior(sag *g)
{
    memcpy(g->s->w, g->p, g->d * sizeof *g->p);
    memset(g->prior, 0, g->u->dim * sizeof *g->prior);
    log_prior_gradient(g->u, g->s->w, 1.0, g->prior);
}

/* Minus the j-th component of the gradient as the table has it, priors having been asked. */
static double downhill(const sag *g, size_t j)
{
    double factor = (double)g->blocks / (double)g->seen;
    return factor * (j < g->d ? g->sum[j] : g->sum_aux[j - g->d]) + g->prior[j];
}

/* (1) */
static void step(sag *g)
{
    size_t k = rng_below(&g->random, g->blocks);
    block_terms b;
    evaluate_block(g, k, &b);
    g->seen += !g->visited[k];
    g->visited[k] = 1;
    update_table(g, &b);
    learn_curvature(g, &b);
    evaluate_prior(g);
    for (size_t j = 0; j < g->u->dim; j++) {
        double move = downhill(g, j) * g->inverse[j] / (g->caution * (g->lipschitz + 1.0));
        *(j < g->d ? &g->p[j] : &g->s->w[j]) += move;
    }
    g->lipschitz = fmax(MIN_L, g->lipschitz * g->decay);
}

/* Adds the block's part of D^2 to `diagonal`. */
static void add_diagonal(sag *g, const block_terms *b, double *diagonal)
{
    double ee[BLOCK];
    bool aux = g->auxiliaries;
    batch at = batch_of(g, b, b->eta, aux_of(g));
    g->u->model->predictor->curvature(&at, ee, aux ? g->ea : NULL, aux ? g->aa : NULL);
    predictors_weigh(g->u, b->range, ee);
    for (size_t i = 0; i < b->range.n; i++) {
        g->data->storage->decode(g->data, b->range.first + i, g->row);
        for (size_t j = 0; j < g->d; j++) diagonal[j] -= ee[i] * g->row[j] * g->row[j];
    }
    for (size_t j = 0; j < g->auxiliaries; j++) {
        double *own = g->aa + packed_index(j, j) * BLOCK;
        predictors_weigh(g->u, b->range, own);
        for (size_t i = 0; i < b->range.n; i++) diagonal[g->d + j] -= own[i];
    }
}

/* D^-2 from the likelihood's part of D^2. A prior that is not log-concave may take some away. */
static void invert_diagonal(sag *g)
{
    memset(g->prior, 0, g->u->dim * sizeof *g->prior);
    log_prior_diagonal(g->u, g->s->w, -1.0, g->prior);
    for (size_t j = 0; j < g->u->dim; j++) {
        double size = fmax(g->inverse[j], 0.0) + fmax(g->prior[j], 0.0);
        g->inverse[j] = size > 0.0 && isfinite(size) ? 1.0 / size : 1.0;
    }
}

/* All rows at w: s->value and D; with `store` the table of what they say too. */
static void survey(sag *g, bool store)
{
    block_terms b;
    double loglik = 0.0;
    memcpy(g->s->w, g->p, g->d * sizeof *g->p);
    memset(g->inverse, 0, g->u->dim * sizeof *g->inverse);
    if (store) {
        memset(g->r, 0, g->data->n * sizeof *g->r);
        memset(g->ra, 0, g->auxiliaries * g->data->n * sizeof *g->ra);
        memset(g->sum, 0, g->d * sizeof *g->sum);
        memset(g->sum_aux, 0, g->auxiliaries * sizeof *g->sum_aux);
        memset(g->visited, 1, g->blocks);
        g->seen = g->blocks;
    }
    for (size_t k = 0; k < g->blocks; k++) {
        evaluate_block(g, k, &b);
        if (store) update_table(g, &b);
        add_diagonal(g, &b, g->inverse);
        loglik += block_loglik(g, &b, b.eta, aux_of(g));
    }
    invert_diagonal(g);
    g->s->value = -log_prior_value(g->u, g->s->w) - loglik;
    g->s->epochs += 1.0;
}

/* |D^-1 g| by the table. */
static double gradient_size(sag *g)
{
    double total = 0.0;
    evaluate_prior(g);
    for (size_t j = 0; j < g->u->dim; j++) {
        double slope = downhill(g, j);
        total += slope * slope * g->inverse[j];
    }
    return sqrt(total);
}

/* Keeps the best point, and goes back to it when the path has run away. */
static void check_progress(sag *g)
{
    sag_point *s = g->s;
    double rounding = 1e-12 * fmax(1.0, fabs(g->first)), size = gradient_size(g);
    if (!isfinite(size) || !(s->value <= g->first + rounding)) {
        memcpy(s->w, g->best, g->u->dim * sizeof *s->w);
        memcpy(g->p, g->best, g->d * sizeof *g->p);
        g->caution *= 4.0;
        survey(g, true);
        return;
    }
    if (s->value <= g->best_value) {
        g->best_value = s->value;
        memcpy(g->best, s->w, g->u->dim * sizeof *g->best);
    }
    if (size >= g->smallest_size)
        g->caution *= 2.0;
    else if (size > SLOW * g->smallest_size)
        g->caution = fmax(1.0, 0.5 * g->caution);
    g->smallest_size = fmin(g->smallest_size, size);
}

/* From a start the table fills as blocks are seen, so that the first gradients, soon out of date, do
 * not push for a whole epoch; a search that goes on has a point worth a whole table. */
static void begin_descent(sag *g)
{
    block_terms b;
    bool goes_on = g->s->epochs > 0.0;
    survey(g, goes_on);
    g->first = g->best_value = g->s->value;
    g->smallest_size = INFINITY;
    memcpy(g->best, g->s->w, g->u->dim * sizeof *g->best);
    if (!goes_on) return;
    for (size_t k = 0; k < g->blocks; k++) {
        evaluate_block(g, k, &b);
        learn_curvature(g, &b);
    }
    g->s->epochs += 1.0;
}

static void run(sag *g, double goal, double max_epochs)
{
    sag_point *s = g->s;
    begin_descent(g);
    for (size_t epoch = 1;; epoch++) {
        for (size_t k = 0; k < g->blocks; k++) step(g);
        s->epochs += 1.0;
        if (epoch % SURVEY && gradient_size(g) > goal && s->epochs < max_epochs) continue;
        survey(g, true);
        check_progress(g);
        if (gradient_size(g) <= goal || s->epochs >= max_epochs) return;
    }
}

bool sag_applies(const posterior *u)
{
    return u->model->predictor;
}

sbps_status sag_descend(const posterior *u, sag_point *at, double goal, double max_epochs,
                        uint64_t seed, sbps_error *err)
{
    sag g;
    sbps_status status = sag_open(&g, u, at, seed, err);
    if (status != SBPS_OK) return status;
    run(&g, goal, max_epochs);
    free(g.memory);
    free(g.visited);
    return SBPS_OK;
}

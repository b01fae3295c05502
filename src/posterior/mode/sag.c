/* The mode by stochastic average gradients (SAG). The rows are cut into m blocks. With F_k
 * minus the log-likelihood of block k and P minus the log prior, a step evaluates one block
 * k, drawn at random, and
 *
 *   y_k <- grad F_k(w),     w <- w - D^-2 (m/s sum_k y_k + grad P(w)) / c(L + 1)            (1)
 *
 * where s is the number of blocks evaluated so far. A row's part in y_k is d log p/d eta
 * times the row, so one number per row is stored (and one more per auxiliary). D^2 is the
 * diagonal of the Hessian, to which P contributes at most 1 after scaling; L is the
 * curvature of m F_k, doubled until
 *
 *   m F_k(w - q/L) <= m F_k(w) - q'D^2 q / 2L,    q = m D^-2 grad F_k(w)                    (2)
 *
 * and reduced by 2^(-1/m) per step. c = 16 is enough where L is a bound, but (2) measures
 * the curvature along one direction only, and a smaller c can be faster. So every few epochs
 * all rows are evaluated at w (a survey): value, gradient and D become exact there. c is
 * doubled when the gradient oscillates instead of falling and halved when it falls slowly; a
 * path that has risen above its beginning restarts from its best point.
 *
 * Le Roux, Schmidt, Bach (2012), A stochastic gradient method with an exponential
 * convergence rate for finite training sets, NIPS. Line search and s: Schmidt, Le Roux, Bach
 * (2017), Minimizing finite sums with the stochastic average gradient, Math. Program. 162,
 * 83-112, section 4. */
#include "core/memory.h"
#include "core/rng.h"
#include "linalg/dense_matrix.h"
#include "posterior/full/log_prior.h"
#include "posterior/mode/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK   ((size_t)8) /* rows per step */
#define SURVEY  5           /* epochs between surveys */
#define CAUTION 16.0        /* initial c */
/* c is too large if the gradient keeps more than this between surveys */
#define SLOW  0.5
#define MIN_L 1e-3
#define MAX_L 0x1p100

typedef struct {
    sag_point *s;
    const posterior *u;
    const rows *data;
    size_t d, blocks, seen;
    double *memory;
    size_t auxiliaries;
    double *p;         /* stride: the weights, padded; the auxiliaries are s->w[d] and on */
    double *q;         /* stride: of (2) */
    double *sum;       /* stride: sum of r x over the rows */
    double *block_sum; /* stride: the same of one block */
    double *row;       /* stride */
    /* n: last derivative of each row, times its weight; n more per auxiliary */
    double *r, *ra;
    double *inverse;        /* dim: D^-2 */
    double *best;           /* dim */
    double *prior;          /* dim: gradient or curvatures of the log prior */
    unsigned char *visited; /* blocks: 1 once the block has been evaluated */
    /* auxiliaries: sums of ra, q of (2), and the trial point of (2) */
    double *sum_aux, *q_aux, *trial_aux;
    /* BLOCK numbers per auxiliary, the same, and per pair of auxiliaries */
    double *ra_block, *ea, *aa;
    double lipschitz, decay;  /* L and its factor per step */
    double caution;           /* c */
    double first, best_value; /* U at the beginning and at best */
    double smallest_size;     /* smallest |D^-1 g| of the surveys */
    rng random;
} sag;

/* Derivatives of a block at w. */
typedef struct {
    row_range range;
    double eta[BLOCK], r[BLOCK];
    double *ra; /* BLOCK numbers per auxiliary */
} block_terms;

/* Points the auxiliaries' arrays into `at`, except ra; NULL only counts. Returns their size
 * in doubles. */
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

/* Allocates the tables; the caller frees g->memory and g->visited. */
static sbps_status sag_open(sag *g, const posterior *u, sag_point *s, uint64_t seed,
                            sbps_error *err)
{
    const rows *data = u->data;
    size_t n = data->local_rows, padded = (data->stride + 7) / 8 * 8;
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
    g->memory = new_doubles(5 * padded + (1 + g->auxiliaries) * n + 3 * u->dim +
                            carve_auxiliaries(g, NULL));
    g->visited = calloc(g->blocks, 1);
    if (!g->memory || !g->visited) {
        free(g->memory);
        free(g->visited);
        return fail_memory(err);
    }
    double **const parts[] = {&g->p, &g->q, &g->sum, &g->block_sum, &g->row};
    for (size_t i = 0; i < 5; i++) *parts[i] = g->memory + i * padded;
    g->inverse = g->memory + 5 * padded;
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

/* The block as a batch with these predictors and auxiliary coordinates. */
static batch make_batch(const sag *g, const block_terms *b, const double *eta,
                        const double *aux)
{
    return (batch){.k = g->u->k,
                   .n = b->range.n,
                   .eta = eta,
                   .y = g->data->y + b->range.first,
                   .aux = aux,
                   .pitch = BLOCK};
}

/* Predictors and derivatives of a block at the current point. */
static void evaluate_block(const sag *g, size_t block, block_terms *b)
{
    size_t first = block * BLOCK, left = g->data->local_rows - first;
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

/* Replaces the block's entries of the table of derivatives, and updates its sums. */
static void update_table(sag *g, const block_terms *b)
{
    double change[BLOCK], *r = g->r + b->range.first;
    for (size_t i = 0; i < b->range.n; i++) change[i] = b->r[i] - r[i];
    rows_combine(g->data, g->u->k, b->range, change, g->sum);
    memcpy(r, b->r, b->range.n * sizeof *r);
    for (size_t j = 0; j < g->auxiliaries; j++) {
        double *kept = g->ra + j * g->data->local_rows + b->range.first,
               *current = b->ra + j * BLOCK;
        for (size_t i = 0; i < b->range.n; i++) {
            g->sum_aux[j] += current[i] - kept[i];
            kept[i] = current[i];
        }
    }
}

/* Weighted log-likelihood of a block. */
static double block_loglik(const sag *g, const block_terms *b, const double *eta,
                           const double *aux)
{
    double value[BLOCK], total = 0.0;
    batch at = make_batch(g, b, eta, aux);
    g->u->model->predictor->loglik(&at, value);
    predictors_weigh(g->u, b->range, value);
    for (size_t i = 0; i < b->range.n; i++) total += value[i];
    return total;
}

/* Sets q of (2); returns q'D^2 q. */
static double set_trial_step(sag *g, const block_terms *b)
{
    double m = (double)g->blocks, size = 0.0;
    memset(g->block_sum, 0, g->d * sizeof *g->block_sum);
    rows_combine(g->data, g->u->k, b->range, b->r, g->block_sum);
    for (size_t j = 0; j < g->d; j++) {
        g->q[j] = m * g->block_sum[j] * g->inverse[j];
        size += g->q[j] * m * g->block_sum[j];
    }
    for (size_t j = 0; j < g->auxiliaries; j++) {
        double block_sum = sum(b->range.n, b->ra + j * BLOCK);
        g->q_aux[j] = m * block_sum * g->inverse[g->d + j];
        size += g->q_aux[j] * m * block_sum;
    }
    return size;
}

/* Doubles L until (2) holds for the block. */
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
        double required = size / (2.0 * g->lipschitz), rounding = 1e-12 * m * fabs(before);
        if (required <= rounding || m * (after - before) >= required - rounding) break;
    }
}

/* Gradient of the log prior at the current point into g->prior. */
static void evaluate_prior(sag *g)
{
    memcpy(g->s->w, g->p, g->d * sizeof *g->p);
    memset(g->prior, 0, g->u->dim * sizeof *g->prior);
    log_prior_gradient(g->u, g->s->w, 1.0, g->prior);
}

/* Minus the j-th component of the gradient by the table; evaluate_prior has been called. */
static double descent(const sag *g, size_t j)
{
    double factor = (double)g->blocks / (double)g->seen;
    return factor * (j < g->d ? g->sum[j] : g->sum_aux[j - g->d]) + g->prior[j];
}

/* One step (1). */
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
        double move = descent(g, j) * g->inverse[j] / (g->caution * (g->lipschitz + 1.0));
        *(j < g->d ? &g->p[j] : &g->s->w[j]) += move;
    }
    g->lipschitz = fmax(MIN_L, g->lipschitz * g->decay);
}

/* Adds the block's part of D^2 to `diagonal`. */
static void add_diagonal(sag *g, const block_terms *b, double *diagonal)
{
    double ee[BLOCK];
    bool aux = g->auxiliaries;
    batch at = make_batch(g, b, b->eta, aux_of(g));
    g->u->model->predictor->curvature(&at, ee, aux ? g->ea : NULL, aux ? g->aa : NULL);
    predictors_weigh(g->u, b->range, ee);
    for (size_t i = 0; i < b->range.n; i++) {
        g->data->storage.kind->decode(g->data, b->range.first + i, g->row);
        for (size_t j = 0; j < g->d; j++) diagonal[j] -= ee[i] * g->row[j] * g->row[j];
    }
    for (size_t j = 0; j < g->auxiliaries; j++) {
        double *block_sum = g->aa + packed_index(j, j) * BLOCK;
        predictors_weigh(g->u, b->range, block_sum);
        for (size_t i = 0; i < b->range.n; i++) diagonal[g->d + j] -= block_sum[i];
    }
}

/* D^-2 from the likelihood's part of D^2, in g->inverse. A prior that is not log-concave may
 * subtract. */
static void invert_diagonal(sag *g)
{
    memset(g->prior, 0, g->u->dim * sizeof *g->prior);
    log_prior_diagonal(g->u, g->s->w, -1.0, g->prior);
    for (size_t j = 0; j < g->u->dim; j++) {
        double size = fmax(g->inverse[j], 0.0) + fmax(g->prior[j], 0.0);
        g->inverse[j] = size > 0.0 && isfinite(size) ? 1.0 / size : 1.0;
    }
}

/* Evaluates all rows at w: sets s->value and D; with `store` also the table of derivatives. */
static void survey(sag *g, bool store)
{
    block_terms b;
    double loglik = 0.0;
    memcpy(g->s->w, g->p, g->d * sizeof *g->p);
    memset(g->inverse, 0, g->u->dim * sizeof *g->inverse);
    if (store) {
        memset(g->r, 0, g->data->local_rows * sizeof *g->r);
        memset(g->ra, 0, g->auxiliaries * g->data->local_rows * sizeof *g->ra);
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

/* |D^-1 g| by the table of derivatives. */
static double gradient_size(sag *g)
{
    double total = 0.0;
    evaluate_prior(g);
    for (size_t j = 0; j < g->u->dim; j++) {
        double slope = descent(g, j);
        total += slope * slope * g->inverse[j];
    }
    return sqrt(total);
}

/* Stores the best point, returns to it when the path has diverged, and adapts c. */
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

/* From a start point the table fills as blocks are evaluated, so that the first gradients,
 * soon out of date, do not act for a whole epoch. A search that is resumed has a point worth
 * a complete table. */
static void begin_descent(sag *g)
{
    block_terms b;
    bool resumed = g->s->epochs > 0.0;
    survey(g, resumed);
    g->first = g->best_value = g->s->value;
    g->smallest_size = INFINITY;
    memcpy(g->best, g->s->w, g->u->dim * sizeof *g->best);
    if (!resumed) return;
    for (size_t k = 0; k < g->blocks; k++) {
        evaluate_block(g, k, &b);
        learn_curvature(g, &b);
    }
    g->s->epochs += 1.0;
}

/* Epochs of steps, with surveys, until the gradient is small or max_epochs is reached. */
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

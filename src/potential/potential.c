/* Mini-batch estimates of the slope and gradient of U along a line.
 *
 *   U~(w) = -log prior(w) - (N/n) sum_{i in batch} log p_i(w)
 *   G~    = dU~/dt = -d/dt log prior - (N/n) sum_i g_i,      g_i = d/dt log p_i
 *   c^2   = (N^2/n) (1 - n/N) Var_i g_i                                        (10)
 *
 * Var_i is the sample variance (n - 1). Rows are without replacement within a batch and batches
 * are independent, as Theorem 1 of the paper needs. */
#include "potential/potential.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

/* ---- which rows ---- */

static void pick_all(potential *u)
{
    u->state->first = 0;
}

/* A window of consecutive shuffled rows at a uniform start, wrapping round: without the wrap the
 * rows at the ends would be seen less often. */
static void pick_window(potential *u)
{
    u->state->first = rng_below(&u->state->random, u->target->data->n);
}

/* The permutation is kept from batch to batch: any order is as good as another to choose from. */
static void pick_random(potential *u)
{
    rng_choose(&u->state->random, u->target->data->n, u->n, u->list);
}

const potential_kind potential_full = {
    .name = "full",
    .summary = "every row, no noise",
    .pick = pick_all,
};

const potential_kind potential_window = {
    .name = "window",
    .summary = "consecutive shuffled rows from a random start, wrapping round",
    .pick = pick_window,
};

const potential_kind potential_random = {
    .name = "random",
    .summary = "random rows without replacement",
    .pick = pick_random,
    .uses_list = true,
};

const potential_kind *const potential_kinds[] = {&potential_full, &potential_window,
                                                 &potential_random, NULL};

/* ---- memory ---- */

void potential_carve(potential *u, const potential_kind *kind, const posterior *target,
                     size_t n, arena *memory)
{
    size_t total = target->data->n, wide = target->data->stride + 1;
    size_t block = n < POTENTIAL_BLOCK ? n : POTENTIAL_BLOCK;
    u->kind = kind;
    u->target = target;
    u->n = n;
    u->state = arena_take(memory, sizeof *u->state);
    u->p = arena_doubles(memory, wide);
    u->q = arena_doubles(memory, wide);
    u->list = kind->uses_list ? arena_take(memory, total * sizeof(size_t)) : NULL;
    u->curved = arena_take(memory, target->dim * sizeof(size_t));
    u->curved_count = 0;
    u->eta = arena_doubles(memory, block);
    u->deta = arena_doubles(memory, block);
    u->y = arena_doubles(memory, block);
    u->out = arena_doubles(memory, block);
    u->aux = arena_doubles(memory, block);
    u->point = arena_doubles(memory, wide);
    for (size_t j = 0; j < target->dim; j++) {
        if (target->scale[j] == SCALE_PLAIN && target->priors[j].kind->quadratic) continue;
        if (u->curved) u->curved[u->curved_count] = j;
        u->curved_count++;
    }
}

void potential_start(potential *u, rng random)
{
    *u->state = (potential_state){.random = random};
    for (size_t i = 0; u->list && i < u->target->data->n; i++) u->list[i] = i;
}

/* ---- rows of the batch, block by block ---- */

/* The auxiliary coordinate follows the coefficients; the row kernels want zeros behind those. */
static void spread(const potential *u, const double *from, double *to)
{
    const rows *data = u->target->data;
    memset(to, 0, (data->stride + 1) * sizeof *to);
    memcpy(to, from, data->d * sizeof *to);
    if (u->target->dim > data->d) to[data->stride] = from[data->d];
}

typedef struct {
    const size_t *list; /* NULL: consecutive */
    size_t first, n;
} stretch;

/* The rows done..done+block of the batch, cut where a window wraps round. */
static stretch next_stretch(const potential *u, size_t done)
{
    size_t left = u->n - done, total = u->target->data->n;
    size_t n = left < POTENTIAL_BLOCK ? left : POTENTIAL_BLOCK;
    if (u->list) return (stretch){u->list + done, 0, n};
    size_t first = u->state->first + done;
    if (first >= total) first -= total;
    return (stretch){NULL, first, n < total - first ? n : total - first};
}

static size_t row_of(const stretch *s, size_t i)
{
    return s->list ? s->list[i] : s->first + i;
}

/* eta, deta and y of a stretch at time t into the scratch at `at`. */
static void predict(potential *u, const stretch *s, double t, size_t at)
{
    const rows *data = u->target->data;
    double *eta = u->eta + at, *deta = u->deta + at;
    u->target->k->row_products(data->x, data->stride, s->list, s->first, s->n, u->p, u->q, eta,
                               deta);
    if (t != 0.0) u->target->k->axpy(s->n, t, deta, eta);
    if (s->list)
        for (size_t i = 0; i < s->n; i++) u->y[at + i] = data->y[s->list[i]];
    else
        memcpy(u->y + at, data->y + s->first, s->n * sizeof *u->y);
    if (data->offset)
        for (size_t i = 0; i < s->n; i++) eta[i] += data->offset[row_of(s, i)];
}

static void weigh(const potential *u, const stretch *s, double *values)
{
    const double *weight = u->target->data->weight;
    if (!weight) return;
    for (size_t i = 0; i < s->n; i++) values[i] *= weight[row_of(s, i)];
}

static batch batch_of(const potential *u, size_t at, size_t n, double t)
{
    size_t stride = u->target->data->stride;
    return (batch){.k = u->target->k,
                   .n = n,
                   .eta = u->eta + at,
                   .deta = u->deta + at,
                   .y = u->y + at,
                   .aux = u->p[stride] + t * u->q[stride],
                   .daux = u->q[stride]};
}

/* ---- the line ---- */

static double coordinate(const potential *u, const double *x, size_t j)
{
    const rows *data = u->target->data;
    return x[j < data->d ? j : data->stride];
}

void potential_aim(potential *u, const double *p, const double *q)
{
    const posterior *target = u->target;
    spread(u, p, u->p);
    spread(u, q, u->q);
    u->state->prior_slope = u->state->prior_rate = 0.0;
    for (size_t j = 0; j < target->dim; j++) {
        const prior *of = &target->priors[j];
        if (target->scale[j] != SCALE_PLAIN || !of->kind->quadratic) continue;
        u->state->prior_slope -= q[j] * of->kind->slope(of->theta, p[j]);
        u->state->prior_rate -= q[j] * q[j] * of->kind->curvature(of->theta, p[j]);
    }
}

/* -d/dt log prior at time t. */
static double prior_part(const potential *u, double t)
{
    const posterior *target = u->target;
    double slope = u->state->prior_slope + t * u->state->prior_rate;
    for (size_t c = 0; c < u->curved_count; c++) {
        size_t j = u->curved[c];
        double q = coordinate(u, u->q, j), w = coordinate(u, u->p, j) + t * q;
        slope -= q * prior_slope(&target->priors[j], target->scale[j], w);
    }
    return slope;
}

/* ---- observe ---- */

/* sums of `u->out` over the batch: 0 the values, 1 their squares. */
typedef void (*row_values)(const batch *b, double *out);

static void sum_rows(potential *u, double t, row_values values, double sums[2])
{
    sums[0] = sums[1] = 0.0;
    for (size_t done = 0; done < u->n;) {
        size_t filled = 0, room = u->n < POTENTIAL_BLOCK ? u->n : POTENTIAL_BLOCK;
        while (filled < room &&
               done < u->n) { /* a wrapped window fills the block in two goes */
            stretch s = next_stretch(u, done);
            if (s.n > room - filled) s.n = room - filled;
            predict(u, &s, t, filled);
            batch b = batch_of(u, filled, s.n, t);
            values(&b, u->out + filled);
            weigh(u, &s, u->out + filled);
            filled += s.n;
            done += s.n;
        }
        double part[2];
        u->target->k->sum_squares(filled, u->out, 0.0, part);
        sums[0] += part[0];
        sums[1] += part[1];
    }
}

/* (N^2/n) (1 - n/N) Var_i, eq. (10). */
static double batch_variance(const potential *u, const double sums[2])
{
    double total = (double)u->target->data->n, n = (double)u->n;
    if (u->n >= u->target->data->n || u->n < 2) return 0.0;
    double scatter = sums[1] - sums[0] * sums[0] / n;
    return larger(scatter, 0.0) / (n - 1.0) * (total * total / n) * (1.0 - n / total);
}

observation potential_observe_again(potential *u, double t)
{
    double sums[2];
    sum_rows(u, t, u->target->model->slope, sums);
    u->state->time = t;
    double scale = (double)u->target->data->n / (double)u->n;
    return (observation){.slope = prior_part(u, t) - scale * sums[0],
                         .variance = batch_variance(u, sums),
                         .rows = u->n};
}

observation potential_observe(potential *u, double t)
{
    u->kind->pick(u);
    return potential_observe_again(u, t);
}

/* ---- gradient and value ---- */

void potential_gradient(potential *u, double *gradient)
{
    const posterior *target = u->target;
    const rows *data = target->data;
    double t = u->state->time, aux = 0.0, scale = (double)data->n / (double)u->n;
    memset(u->point, 0, (data->stride + 1) * sizeof *u->point);
    for (size_t done = 0; done < u->n;) {
        stretch s = next_stretch(u, done);
        predict(u, &s, t, 0);
        batch b = batch_of(u, 0, s.n, t);
        target->model->gradient(&b, u->out, target->model->aux_name ? u->aux : NULL);
        weigh(u, &s, u->out);
        target->k->row_combine(data->x, data->stride, s.list, s.first, s.n, u->out, u->point);
        if (target->model->aux_name) {
            weigh(u, &s, u->aux);
            for (size_t i = 0; i < s.n; i++) aux += u->aux[i];
        }
        done += s.n;
    }
    u->point[data->stride] = aux;
    for (size_t j = 0; j < target->dim; j++) {
        double w = coordinate(u, u->p, j) + t * coordinate(u, u->q, j);
        gradient[j] = -scale * coordinate(u, u->point, j) -
                      prior_slope(&target->priors[j], target->scale[j], w);
    }
}

void potential_value(potential *u, const double *w, double *value, double *sd)
{
    const posterior *target = u->target;
    double sums[2], logprior = 0.0, scale = (double)target->data->n / (double)u->n;
    spread(u, w, u->p);
    memset(u->q, 0, (target->data->stride + 1) * sizeof *u->q);
    u->kind->pick(u);
    sum_rows(u, 0.0, target->model->loglik, sums);
    for (size_t j = 0; j < target->dim; j++)
        logprior += prior_logpdf(&target->priors[j], target->scale[j], w[j]);
    *value = -logprior - scale * sums[0];
    *sd = sqrt(batch_variance(u, sums));
}

/* Mini-batch estimates of the slope and gradient of U along a line.
 *
 *   U~(w) = -log prior(w) - (N/n) sum_{i in batch} log p_i(w)
 *   G~    = dU~/dt = -d/dt log prior - (N/n) sum_i g_i,      g_i = d/dt log p_i
 *   c^2   = (N^2/n) (1 - n/N) Var_i g_i                                        (10)
 *
 * Var_i is the sample variance (n - 1). A control variate takes its Taylor polynomial out of each g_i
 * and adds the exact sum of it, known from p and q alone (control.c). Gaussian noise of sd s on each
 * component of the gradient, where it is asked for, adds s^2 |u|^2 to c^2. What a range of rows says
 * is in terms.c. */
#include "potential/potential.h"
#include "base/real.h"
#include "potential/slopes.h"
#include "potential/terms.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

void potential_carve(potential *u, const potential_kind *kind, const posterior *target,
                     size_t n, arena *memory)
{
    const general_model *general = target->model->general;
    size_t total = target->data->n, wide = general ? target->dim : target->data->stride + 1;
    size_t block = total < POTENTIAL_BLOCK ? total : POTENTIAL_BLOCK;
    *u = (potential){.kind = kind, .target = target, .n = n, .factor = 1.0};
    u->state = arena_take(memory, sizeof *u->state);
    u->p = arena_doubles(memory, wide);
    u->q = arena_doubles(memory, wide);
    u->centre = arena_doubles(memory, target->dim);
    u->bend = arena_doubles(memory, target->dim);
    u->leads = arena_take(memory, target->centred * sizeof *u->leads);
    u->shake = arena_doubles(memory, target->dim);
    u->list = kind->uses_list ? arena_take(memory, total * sizeof(size_t)) : NULL;
    u->curved = arena_take(memory, target->dim * sizeof(size_t));
    double **blocks[] = {&u->eta, &u->deta, &u->y, &u->out, &u->aux, &u->room[0], &u->room[1]};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        *blocks[i] = arena_doubles(memory, block);
    u->point = arena_doubles(memory, wide);
    u->aside = arena_doubles(memory, wide);
    u->total = arena_doubles(memory, wide);
    u->scratch = arena_doubles(memory, general ? general->scratch(target->self, block) : 0);
    u->taylor.stride = (target->dim + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    double **parts[] = {&u->taylor.p, &u->taylor.q, &u->taylor.hp, &u->taylor.hq};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = arena_doubles(memory, u->taylor.stride);
    for (size_t j = 0; j < target->dim; j++) {
        if (target->scale[j] == SCALE_PLAIN && target->priors[j].kind->quadratic) continue;
        if (u->curved) u->curved[u->curved_count] = j;
        u->curved_count++;
    }
}

void potential_resize(potential *u, const potential_kind *kind, size_t n)
{
    u->state->n = n;
    u->state->kept = u->state->turned = false;
    for (u->state->kind = 0; potential_kinds[u->state->kind] != kind;) u->state->kind++;
    potential_restore(u);
    if (kind->start) kind->start(u);
}

void potential_restore(potential *u)
{
    u->n = u->state->n;
    u->kind = potential_kinds[u->state->kind];
    if (u->kind == &potential_strata) u->n = strata_allot(u->parts, u->state->n, u->allot);
    potential_divide(u);
}

void potential_start(potential *u, rng random)
{
    *u->state = (potential_state){.random = random, .noise = rng_beside(&random, RNG_NOISE)};
    potential_straighten(u);
    potential_resize(u, u->kind, u->n);
    memset(u->shake, 0, u->target->dim * sizeof *u->shake);
    for (size_t i = 0; u->list && i < u->target->data->n; i++) u->list[i] = i;
}

/* ---- w as the rows want it ---- */

/* Predictor models: the auxiliary coordinate follows the padding, which is zero. */
static void spread(const potential *u, const double *from, double *to)
{
    const rows *data = u->target->data;
    if (u->target->model->general) {
        memcpy(to, from, u->target->dim * sizeof *to);
        return;
    }
    memset(to, 0, (data->stride + 1) * sizeof *to);
    memcpy(to, from, data->d * sizeof *to);
    if (u->target->dim > data->d) to[data->stride] = from[data->d];
}

/* ---- rows of the batch ---- */

/* Sum of the values over a part of the batch, and of their squares. A wrapped window fills a block
 * in two goes, so that sums do not depend on where it wraps. */
static void sum_part(potential *u, const batch_part *p, double t, terms_values values,
                     double sums[2])
{
    size_t room = p->end - p->begin < POTENTIAL_BLOCK ? p->end - p->begin : POTENTIAL_BLOCK;
    sums[0] = sums[1] = 0.0;
    u->state->kept = false;
    for (size_t done = p->begin; done < p->end;) {
        size_t filled = 0;
        while (filled < room && done < p->end) {
            row_range r = potential_rows(u, done);
            if (r.n > room - filled) r.n = room - filled;
            values(u, r, t, filled);
            terms_weigh(u, r, u->out + filled);
            filled += r.n;
            done += r.n;
        }
        double part[2];
        u->target->k->sum_squares(filled, u->out, 0.0, part);
        sums[0] += part[0];
        sums[1] += part[1];
    }
}

static void sum_slopes(potential *u, const batch_part *p, double t, double sums[2])
{
    if (u->state->turned && t == 0.0)
        slopes_turn(u, p->begin, p->end, sums);
    else if (slopes_apply(u))
        slopes_sum(u, p->begin, p->end, t, sums);
    else
        sum_part(u, p, t, terms_slopes, sums);
}

static void sum_logliks(potential *u, const batch_part *p, double t, double sums[2])
{
    sum_part(u, p, t, terms_logliks, sums);
}

/* sum (g_i - mean)^2 */
static double scatter(const batch_part *p, const double sums[2])
{
    return larger(sums[1] - sums[0] * sums[0] * p->share, 0.0);
}

/* An estimate of the sum over all rows, and its variance. */
typedef struct {
    double total, variance;
} estimate;

/* Sums over a part of the batch at time t, and of squares. */
typedef void (*part_sum)(potential *u, const batch_part *p, double t, double sums[2]);

static estimate sum_rows(potential *u, double t, part_sum sum)
{
    estimate e = {0};
    terms_place(u, t);
    for (size_t i = 0; i < u->part_count; i++) {
        const batch_part *p = &u->part[i];
        double sums[2];
        sum(u, p, t, sums);
        e.total += p->each * sums[0];
        e.variance += p->scatter * scatter(p, sums); /* (10) */
    }
    return e;
}

static double row_scale(const potential *u)
{
    return (double)u->target->data->n / (double)u->n;
}

/* ---- the line ---- */

/* The exact slope of a control variate, -q.(g + H (p - w_hat) + t H q). */
static void aim_control(potential *u, const double *p, const double *q)
{
    potential_state *state = u->state;
    const control *cv = u->cv;
    state->exact_slope = state->exact_rate = 0.0;
    if (!cv) return;
    for (size_t j = 0; j < u->target->dim; j++) {
        state->exact_slope -= q[j] * cv->gradient[j];
        u->taylor.p[j] = p[j] - cv->w[j];
        u->taylor.q[j] = q[j];
    }
    if (!cv->hessian) return;
    size_t stride = u->taylor.stride;
    const kernels *k = u->target->k;
    k->row_products(cv->hessian, stride, NULL, 0, u->target->dim, u->taylor.p, u->taylor.q,
                    u->taylor.hp, u->taylor.hq);
    state->exact_slope -= k->dot(stride, u->taylor.q, u->taylor.hp);
    state->exact_rate = -k->dot(stride, u->taylor.q, u->taylor.hq);
}

void potential_aim(potential *u, const double *p, const double *q)
{
    const posterior *target = u->target;
    spread(u, p, u->p);
    spread(u, q, u->q);
    potential_state *state = u->state;
    state->still = state->kept = state->turned = false;
    state->prior_slope = state->prior_rate = state->speed2 = 0.0;
    aim_control(u, p, q);
    for (size_t j = 0; j < target->dim; j++) {
        state->speed2 += q[j] * q[j];
        state->prior_slope -= q[j] * u->bend[j] * (p[j] - u->centre[j]);
        state->prior_rate -= q[j] * q[j] * u->bend[j];
    }
    potential_aim_leads(u);
}

void potential_turn(potential *u, const double *p, const double *q)
{
    bool kept = u->state->kept;
    potential_aim(u, p, q);
    u->state->kept = u->state->turned = kept;
    u->state->time = 0.0;
}

/* What is known without rows: -d/dt log prior at time t, and a control variate's exact part. */
static double exact_part(const potential *u, double t)
{
    const posterior *target = u->target;
    const potential_state *state = u->state;
    double slope =
        state->exact_slope + state->prior_slope + t * (state->exact_rate + state->prior_rate);
    for (size_t c = 0; c < u->curved_count; c++) {
        size_t j = u->curved[c];
        double q = potential_seen(u, u->q, j), w = potential_seen(u, u->p, j) + t * q;
        slope -= q * prior_slope(&target->priors[j], target->scale[j], w);
    }
    return slope;
}

observation potential_observe_again(potential *u, double t)
{
    estimate e = sum_rows(u, t, sum_slopes);
    u->state->turned = false;
    u->state->time = t;
    observation o = {.slope = exact_part(u, t) - e.total, .variance = e.variance, .rows = u->n};
    if (u->noise > 0.0) {
        for (size_t j = 0; j < u->target->dim; j++)
            o.slope += u->shake[j] * potential_coordinate(u, u->q, j);
        o.variance += u->noise * u->noise * u->state->speed2;
    }
    return o;
}

static void pick(potential *u)
{
    u->state->kept = u->state->turned = false;
    u->kind->pick(u);
    if (u->noise > 0.0)
        for (size_t j = 0; j < u->target->dim; j++)
            u->shake[j] = u->noise * rng_normal(&u->state->noise);
}

observation potential_observe(potential *u, double t)
{
    pick(u);
    return potential_observe_again(u, t);
}

observation potential_observe_likelihood(potential *u, double t)
{
    pick(u);
    estimate e = sum_rows(u, t, sum_slopes);
    double exact = u->state->exact_slope + t * u->state->exact_rate;
    return (observation){exact - e.total, e.variance, u->n};
}

double potential_row_variance(potential *u)
{
    double sums[2], n = (double)u->n, total = (double)u->target->data->n;
    const batch_part whole = {.end = u->n, .share = 1.0 / n};
    pick(u);
    terms_place(u, 0.0);
    sum_slopes(u, &whole, 0.0, sums);
    return scatter(&whole, sums) * total * total / (n - 1.0);
}

void potential_add_squares(potential *u, double factor, double *squares)
{
    size_t n = u->target->data->n;
    u->state->kept = u->state->turned = false;
    terms_place(u, 0.0);
    for (size_t first = 0; first < n; first += POTENTIAL_BLOCK) {
        size_t take = n - first < POTENTIAL_BLOCK ? n - first : POTENTIAL_BLOCK;
        row_range r = rows_from(first, take);
        terms_slopes(u, r, 0.0, 0);
        terms_weigh(u, r, u->out);
        for (size_t i = 0; i < take; i++) squares[first + i] += factor * u->out[i] * u->out[i];
    }
}

/* ---- gradient ---- */

/* What a row of a part counts for, over N/n. */
static double part_factor(const potential *u, const batch_part *p)
{
    return p->each / row_scale(u);
}

static void sum_gradients(potential *u, double t, double *loglik)
{
    u->state->kept = u->state->turned = false; /* `out` is written over */
    terms_place(u, t);
    for (size_t i = 0; i < u->part_count; i++) {
        const batch_part *p = &u->part[i];
        u->factor = part_factor(u, p);
        for (size_t done = p->begin; done < p->end;) {
            row_range r = potential_rows(u, done);
            terms_gradient(u, r, t, loglik);
            done += r.n;
        }
    }
    u->factor = 1.0;
}

static void combine_kept(potential *u)
{
    for (size_t i = 0; i < u->part_count; i++) {
        const batch_part *p = &u->part[i];
        slopes_combine(u, p->begin, p->end, part_factor(u, p));
    }
}

static void gradient_at(potential *u, double *gradient, double *loglik)
{
    const posterior *target = u->target;
    bool general = target->model->general;
    double t = u->state->time;
    memset(u->total, 0, (general ? target->dim : target->data->stride + 1) * sizeof *u->total);
    if (u->state->kept && !loglik)
        combine_kept(u);
    else
        sum_gradients(u, t, loglik);
    double scale = row_scale(u);
    for (size_t j = 0; j < target->dim; j++) {
        double w = potential_coordinate(u, u->p, j) + t * potential_coordinate(u, u->q, j);
        gradient[j] =
            -scale * potential_coordinate(u, u->total, j) - u->bend[j] * (w - u->centre[j]);
        if (u->cv) gradient[j] -= u->cv->gradient[j];
        if (u->cv && u->cv->hessian) gradient[j] -= u->taylor.hp[j] + t * u->taylor.hq[j];
        if (u->noise > 0.0) gradient[j] += u->shake[j];
    }
    potential_pull_leads(u, t, gradient);
    for (size_t c = 0; c < u->curved_count; c++) {
        size_t j = u->curved[c];
        double w = potential_seen(u, u->p, j) + t * potential_seen(u, u->q, j);
        potential_spread(u, j, -prior_slope(&target->priors[j], target->scale[j], w), gradient);
    }
}

void potential_gradient(potential *u, double *gradient)
{
    gradient_at(u, gradient, NULL);
}

/* A line that stands still at w. */
static void stand(potential *u, const double *w)
{
    spread(u, w, u->p);
    memset(u->q, 0,
           (u->target->model->general ? u->target->dim : u->target->data->stride + 1) *
               sizeof *u->q);
    if (u->cv && u->cv->hessian) aim_control(u, w, u->q);
    potential_aim_leads(u);
    u->state->time = 0.0;
    u->state->still = true;
    pick(u);
}

void potential_fresh_gradient(potential *u, const double *w, double *gradient)
{
    stand(u, w);
    potential_gradient(u, gradient);
}

/* ---- value ---- */

static double log_prior(const potential *u, double t)
{
    const posterior *target = u->target;
    double sum = 0.0;
    for (size_t j = 0; j < target->dim; j++) {
        double w = potential_seen(u, u->p, j) + t * potential_seen(u, u->q, j);
        sum += prior_logpdf(&target->priors[j], target->scale[j], w);
    }
    return sum;
}

static double value_at(potential *u, double t, double *sd)
{
    estimate e = sum_rows(u, t, sum_logliks);
    if (sd) *sd = sqrt(e.variance);
    return -log_prior(u, t) - e.total;
}

double potential_fresh_both(potential *u, const double *w, double *gradient)
{
    double loglik = 0.0;
    stand(u, w);
    gradient_at(u, gradient, &loglik);
    return -log_prior(u, 0.0) - row_scale(u) * loglik;
}

double potential_line_value(potential *u, double t)
{
    return value_at(u, t, NULL);
}

void potential_value(potential *u, const double *w, double *value, double *sd)
{
    stand(u, w);
    *value = value_at(u, 0.0, sd);
}

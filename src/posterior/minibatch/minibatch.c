/* Mini-batch estimates of the slope and gradient of U along a line.
 *
 *   U~(w) = -log prior(w) - (N/n) sum_{i in batch} log p_i(w)
 *   G~    = dU~/dt = -d/dt log prior - (N/n) sum_i g_i,      g_i = d/dt log p_i
 *   c^2   = (N^2/n) (1 - n/N) Var_i g_i                                        (10)
 *
 * Var_i is the sample variance (n - 1). A control variate subtracts its Taylor polynomial
 * from each g_i and adds the exact sum, known from p and q alone (control.c). Gaussian noise
 * of sd s on each component of the gradient, if requested, adds s^2 |q|^2 to c^2. The terms
 * of a range of rows are computed in terms_predictor.c and terms_pointwise.c. */
#include "posterior/minibatch/minibatch.h"

#include "linalg/real.h"
#include "posterior/full/prior_draw.h"
#include "posterior/minibatch/row_terms.h"
#include "table/row_sums.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

static const potential_calls calls;

void minibatch_equip(minibatch *u, const control *cv, double noise)
{
    u->cv = cv;
    u->is.reference = cv ? cv->w : NULL;
    u->is.noise = noise;
}

void minibatch_carve(minibatch *u, const batch_kind *kind, const posterior *target, size_t n,
                     arena *memory)
{
    size_t total = target->data->local_rows, wide = target->width;
    size_t block = total < MINIBATCH_BLOCK ? total : MINIBATCH_BLOCK, aux = target->auxiliaries;
    *u = (minibatch){.kind = kind, .target = target, .terms = terms_of(target), .factor = 1.0};
    u->is = (potential){.call = &calls, .facts = minibatch_facts(target), .batch = n};
    u->state = arena_take(memory, sizeof *u->state);
    u->p = arena_doubles(memory, wide);
    u->q = arena_doubles(memory, wide);
    u->centre = arena_doubles(memory, target->dim);
    u->curvature = arena_doubles(memory, target->dim);
    u->centred_priors = arena_take(memory, target->centred * sizeof *u->centred_priors);
    u->added_noise = arena_doubles(memory, target->dim);
    u->list = kind->uses_list ? arena_take(memory, total * sizeof(size_t)) : NULL;
    u->curved = arena_take(memory, target->dim * sizeof(size_t));
    u->block = block;
    double **blocks[] = {&u->eta, &u->deta, &u->y, &u->out, &u->buffer[0], &u->buffer[1]};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        *blocks[i] = arena_doubles(memory, block);
    u->aux = arena_doubles(memory, (aux ? aux : 1) * block);
    u->point = arena_doubles(memory, wide);
    u->aside = arena_doubles(memory, wide);
    u->total = arena_doubles(memory, wide);
    u->scratch = arena_doubles(memory, u->terms->scratch(target, block));
    u->recomputed = arena_doubles(memory, recompute_blocks(target) * block);
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

/* ---- padded points ---- */

/* Copies dim numbers to a padded point; auxiliary coordinates follow the padding, which is
 * zero. */
static void pad_point(const minibatch *u, const double *from, double *to)
{
    const posterior *target = u->target;
    memset(to, 0, target->width * sizeof *to);
    size_t others = target->dim - target->columns;
    memcpy(to, from, target->columns * sizeof *to);
    memcpy(to + target->width - others, from + target->columns, others * sizeof *to);
}

/* ---- rows of the batch ---- */

/* Sums over a part of the batch of the values, and of their squares. A wrapped window fills
 * a block in two steps, so that sums do not depend on where it wraps. */
static void sum_part(minibatch *u, const batch_part *p, double t, terms_values values,
                     double sums[2])
{
    size_t capacity = p->end - p->begin < MINIBATCH_BLOCK ? p->end - p->begin : MINIBATCH_BLOCK;
    sums[0] = sums[1] = 0.0;
    u->state->residuals_kept = false;
    for (size_t done = p->begin; done < p->end;) {
        size_t filled = 0;
        while (filled < capacity && done < p->end) {
            row_range r = minibatch_rows(u, done);
            if (r.n > capacity - filled) r.n = capacity - filled;
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

/* Sums of slopes over a part, by the fastest method that applies. */
static void sum_slopes(minibatch *u, const batch_part *p, double t, double sums[2])
{
    if (u->state->line_reversed && t == 0.0)
        slopes_sum_kept(u, p->begin, p->end, sums);
    else if (slopes_apply(u))
        slopes_sum(u, p->begin, p->end, t, sums);
    else
        sum_part(u, p, t, u->terms->slopes, sums);
}

static void sum_logliks(minibatch *u, const batch_part *p, double t, double sums[2])
{
    sum_part(u, p, t, u->terms->logliks, sums);
}

/* sum (g_i - mean)^2 */
static double scatter(const batch_part *p, const double sums[2])
{
    return larger(sums[1] - sums[0] * sums[0] * p->inverse_size, 0.0);
}

/* An estimate of the sum over all rows, and its variance. */
typedef struct {
    double total, variance;
} estimate;

/* Sums over a part of the batch at time t, and of squares. */
typedef void (*part_sum)(minibatch *u, const batch_part *p, double t, double sums[2]);

/* The estimate of a sum over all rows, from the parts of the batch. */
static estimate sum_rows(minibatch *u, double t, part_sum sum)
{
    estimate e = {0};
    u->terms->prepare(u, t);
    for (size_t i = 0; i < u->part_count; i++) {
        const batch_part *p = &u->part[i];
        double sums[2];
        sum(u, p, t, sums);
        e.total += p->each * sums[0];
        e.variance += p->scatter * scatter(p, sums); /* (10) */
    }
    u->is.had_nan = u->is.had_nan || isnan(e.total);
    return e;
}

/* N / n. */
static double row_scale(const minibatch *u)
{
    return (double)total_rows(u->target->data) / (double)u->is.batch;
}

/* ---- the line ---- */

/* The exact slope of a control variate, -q.(g + H (p - w_hat) + t H q), and its padded
 * vectors. */
static void set_control_line(minibatch *u, const double *p, const double *q)
{
    minibatch_state *state = u->state;
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

/* potential_set_line: pads the line, and computes everything that does not depend on the
 * batch. */
static void set_line(potential *of, const double *p, const double *q)
{
    minibatch *u = minibatch_of(of);
    const posterior *target = u->target;
    pad_point(u, p, u->p);
    pad_point(u, q, u->q);
    minibatch_state *state = u->state;
    state->at_point = state->residuals_kept = state->line_reversed = false;
    state->prior_slope = state->prior_rate = state->speed2 = 0.0;
    set_control_line(u, p, q);
    for (size_t j = 0; j < target->dim; j++) {
        state->speed2 += q[j] * q[j];
        state->prior_slope -= q[j] * u->curvature[j] * (p[j] - u->centre[j]);
        state->prior_rate -= q[j] * q[j] * u->curvature[j];
    }
    minibatch_set_centred(u);
}

/* potential_reverse_line: as set_line, and the stored residuals stay valid. */
static void reverse_line(potential *of, const double *p, const double *q)
{
    minibatch *u = minibatch_of(of);
    bool kept = u->state->residuals_kept;
    set_line(of, p, q);
    u->state->residuals_kept = u->state->line_reversed = kept;
    u->state->time = 0.0;
}

/* The slope without rows: -d/dt log prior at time t, and a control variate's exact part. */
static double exact_part(const minibatch *u, double t)
{
    const posterior *target = u->target;
    const minibatch_state *state = u->state;
    double slope =
        state->exact_slope + state->prior_slope + t * (state->exact_rate + state->prior_rate);
    for (size_t c = 0; c < u->curved_count; c++) {
        size_t j = u->curved[c];
        double q = minibatch_prior_argument(u, u->q, j),
               w = minibatch_prior_argument(u, u->p, j) + t * q;
        slope -= q * prior_slope(&target->priors[j], target->scale[j], w);
    }
    return slope;
}

/* potential_observe_again: slope and variance on the current batch. */
static observation observe_again(potential *of, double t)
{
    minibatch *u = minibatch_of(of);
    estimate e = sum_rows(u, t, sum_slopes);
    u->state->line_reversed = false;
    u->state->time = t;
    observation o = {
        .slope = exact_part(u, t) - e.total, .variance = e.variance, .rows = u->is.batch};
    if (u->is.noise > 0.0) {
        for (size_t j = 0; j < u->target->dim; j++)
            o.slope += u->added_noise[j] * minibatch_coordinate(u, u->q, j);
        o.variance += u->is.noise * u->is.noise * u->state->speed2;
    }
    return o;
}

/* Draws a new batch, and new noise for the gradient. */
static void pick(minibatch *u)
{
    u->state->residuals_kept = u->state->line_reversed = false;
    u->kind->pick(u);
    if (u->is.noise > 0.0)
        for (size_t j = 0; j < u->target->dim; j++)
            u->added_noise[j] = u->is.noise * rng_normal(&u->state->noise);
}

static observation observe(potential *of, double t)
{
    minibatch *u = minibatch_of(of);
    pick(u);
    return observe_again(of, t);
}

observation minibatch_observe_likelihood(minibatch *u, double t)
{
    pick(u);
    estimate e = sum_rows(u, t, sum_slopes);
    double exact = u->state->exact_slope + t * u->state->exact_rate;
    return (observation){exact - e.total, e.variance, u->is.batch};
}

double minibatch_row_variance(minibatch *u)
{
    double sums[2], n = (double)u->is.batch, total = (double)total_rows(u->target->data);
    const batch_part whole = {.end = u->is.batch, .inverse_size = 1.0 / n};
    pick(u);
    u->terms->prepare(u, 0.0);
    sum_slopes(u, &whole, 0.0, sums);
    return scatter(&whole, sums) * total * total / (n - 1.0);
}

/* ---- gradient ---- */

/* Factor of the rows of a part, relative to N/n. */
static double part_factor(const minibatch *u, const batch_part *p)
{
    return p->each / row_scale(u);
}

/* u->total += the batch's weighted gradient at time t, evaluated from scratch. */
static void sum_gradients(minibatch *u, double t, double *loglik)
{
    u->state->residuals_kept = u->state->line_reversed = false; /* `out` is overwritten */
    u->terms->prepare(u, t);
    for (size_t i = 0; i < u->part_count; i++) {
        const batch_part *p = &u->part[i];
        u->factor = part_factor(u, p);
        for (size_t done = p->begin; done < p->end;) {
            row_range r = minibatch_rows(u, done);
            u->terms->gradient(u, r, t, loglik);
            done += r.n;
        }
    }
    u->factor = 1.0;
}

/* grad U~ on the batch of the last observation; *loglik += the batch's log-likelihood unless
 * NULL. */
static void gradient_at(minibatch *u, double *gradient, double *loglik)
{
    const posterior *target = u->target;
    double t = u->state->time;
    memset(u->total, 0, target->width * sizeof *u->total);
    if (u->state->residuals_kept && !loglik) {
        for (size_t i = 0; i < u->part_count; i++) {
            const batch_part *p = &u->part[i];
            slopes_combine(u, p->begin, p->end, part_factor(u, p));
        }
    } else
        sum_gradients(u, t, loglik);
    double scale = row_scale(u);
    for (size_t j = 0; j < target->dim; j++) {
        double w = minibatch_coordinate(u, u->p, j) + t * minibatch_coordinate(u, u->q, j);
        gradient[j] = -scale * minibatch_coordinate(u, u->total, j) -
                      u->curvature[j] * (w - u->centre[j]);
        if (u->cv) gradient[j] -= u->cv->gradient[j];
        if (u->cv && u->cv->hessian) gradient[j] -= u->taylor.hp[j] + t * u->taylor.hq[j];
        if (u->is.noise > 0.0) gradient[j] += u->added_noise[j];
        u->is.had_nan = u->is.had_nan || isnan(gradient[j]);
    }
    minibatch_add_centred(u, t, gradient);
    if (target->model->parameters.joint_prior_gradient)
        target->model->parameters.joint_prior_gradient(target->self, u->p, -1.0, gradient);
    for (size_t c = 0; c < u->curved_count; c++) {
        size_t j = u->curved[c];
        double w =
            minibatch_prior_argument(u, u->p, j) + t * minibatch_prior_argument(u, u->q, j);
        minibatch_spread(u, j, -prior_slope(&target->priors[j], target->scale[j], w), gradient);
    }
}

static void gradient(potential *of, double *gradient)
{
    gradient_at(minibatch_of(of), gradient, NULL);
}

/* Replaces the line by the fixed point w, with a fresh batch. */
static void set_point(minibatch *u, const double *w)
{
    pad_point(u, w, u->p);
    memset(u->q, 0, u->target->width * sizeof *u->q);
    if (u->cv && u->cv->hessian) set_control_line(u, w, u->q);
    minibatch_set_centred(u);
    u->state->time = 0.0;
    u->state->at_point = true;
    pick(u);
}

/* Sums over all rows of a long table use all threads (where there are more than chains) and
 * ranks. Returns false if that does not apply or memory was short. */
static bool evaluate_in_parallel(minibatch *u, const double *w, double *value, double *gradient)
{
    const posterior *target = u->target;
    bool plain = u->kind == &batch_full && !u->cv && u->is.noise == 0.0;
    /* there is no serial alternative */
    bool required = target->data->partition || target->model->transformation.apply;
    if (!plain || (target->data->local_rows <= PART_ROWS && !required)) return false;
    if (posterior_gradient(target, w, value, gradient, NULL) == SBPS_OK) {
        for (size_t j = 0; j < target->dim; j++)
            u->is.had_nan = u->is.had_nan || isnan(gradient[j]);
        return true;
    }
    for (size_t j = 0; required && j < target->dim; j++) gradient[j] = NAN; /* ends the path */
    if (required && value) *value = NAN;
    return required;
}

static void fresh_gradient(potential *of, const double *w, double *gradient)
{
    minibatch *u = minibatch_of(of);
    if (evaluate_in_parallel(u, w, NULL, gradient)) return;
    set_point(u, w);
    gradient_at(u, gradient, NULL);
}

/* ---- value ---- */

/* U~ at time t on the current batch; *sd is that of its noise unless NULL. */
static double value_at(minibatch *u, double t, double *sd)
{
    estimate e = sum_rows(u, t, sum_logliks);
    if (sd) *sd = sqrt(e.variance);
    return -minibatch_log_prior(u, t) - e.total;
}

static double fresh_both(potential *of, const double *w, double *gradient)
{
    minibatch *u = minibatch_of(of);
    double loglik = 0.0, value;
    if (evaluate_in_parallel(u, w, &value, gradient)) return value;
    set_point(u, w);
    gradient_at(u, gradient, &loglik);
    return -minibatch_log_prior(u, 0.0) - row_scale(u) * loglik;
}

static double line_value(potential *of, double t)
{
    return value_at(minibatch_of(of), t, NULL);
}

static void value(potential *of, const double *w, double *value, double *sd)
{
    minibatch *u = minibatch_of(of);
    set_point(u, w);
    *value = value_at(u, 0.0, sd);
}

static double speed2(const potential *of)
{
    return minibatch_const(of)->state->speed2;
}

static double next_kink(const potential *of, double t, double *jump)
{
    return minibatch_next_kink(minibatch_const(of), t, jump);
}

static void draw_prior(const potential *of, rng *random, double *w)
{
    prior_draw_all(minibatch_const(of)->target, random, w);
}

static const potential_calls calls = {
    .set_line = set_line,
    .reverse_line = reverse_line,
    .speed2 = speed2,
    .next_kink = next_kink,
    .observe = observe,
    .observe_again = observe_again,
    .gradient = gradient,
    .value = value,
    .fresh_gradient = fresh_gradient,
    .fresh_both = fresh_both,
    .line_value = line_value,
    .draw_prior = draw_prior,
};

/* ---- properties of a posterior that samplers may depend on ---- */

/* True if U is convex: rows and priors are log-concave. */
static bool convex(const posterior *target)
{
    if (!target->model->facts.log_concave) return false;
    for (size_t j = 0; j < target->dim; j++)
        if (target->scale[j] != SCALE_PLAIN || !target->priors[j].kind->log_concave)
            return false;
    return true;
}

/* Name of the first prior without a bound on its slope; NULL if there is none. */
static const char *unbounded_prior(const posterior *target)
{
    for (size_t j = 0; j < target->dim; j++) {
        const prior_kind *kind = target->priors[j].kind;
        bool known = kind->quadratic || kind->slope_bound;
        if (target->scale[j] != SCALE_PLAIN || !known) return kind->name;
    }
    return NULL;
}

static bool third_bounded(const posterior *target)
{
    const predictor *p = target->model->predictor;
    return p && p->third_bound && target->model->auxiliary_count == 0;
}

potential_facts minibatch_facts(const posterior *target)
{
    return (potential_facts){
        .dim = target->dim,
        .rows = total_rows(target->data),
        .model = target->model->name,
        .convex = convex(target),
        .quadratic = target->model->facts.quadratic,
        .bounded = posterior_bounded(target),
        .third_bounded = third_bounded(target),
        .unbounded_prior = unbounded_prior(target),
        .effects = target->model->row_model && target->model->transformation.apply,
    };
}

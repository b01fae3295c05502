/* Runs on MPI ranks, each with a random part of the rows.
 *
 * If the sampler uses mini-batches, each chain is on one rank and uses the rows of that rank
 * only; after set-up nothing is sent but the memory of the chains between rounds. All ranks
 * then hold all chains and make the same decisions. With T the Taylor polynomial of the sum
 * over all N rows at the reference point, known exactly, and r_i the remainder of row i, the
 * chains on a rank r with n_r rows follow
 *
 *   U_r(w) = -log prior + T(w) - (N/n_r) sum_{i on rank r} r_i(w)                           (1)
 *
 * which differs from U by e_r = U_r - U. A constant has no effect; to first order e_r shifts
 * the mean of a function f of w by -Cov(f, e_r), at most sd(f) sd(e_r) by Cauchy-Schwarz. So
 *
 *   rank_error = root mean square over ranks of the sd of e_r, over draws from the normal
 *                at the mode                                                                (2)
 *
 * bounds, on average over ranks and in posterior sd, the bias of chains that stay on a rank.
 * Chains do not stay: after every round each moves to the next rank, which needs no message
 * because all ranks hold all chains. Every rank's rows then have the same weight in the result,
 * and the first order cancels, since sum n_r e_r = 0. What remains are the effect of unequal
 * n_r and the second order, half the covariance of f with (e_r - mean e_r)^2:
 *
 *   rank_bias^2 = (sd of the mean over ranks of e_r)^2
 *               + (sd of the mean over ranks of (e_r - mean e_r)^2 / 2)^2                   (3)
 *
 * If this is too large, or if the sampler uses all rows for every step, all ranks advance all
 * chains together, and every evaluation is a sum over the rows of all ranks (table/row_sums.h).
 */
#include "inference/run/chains_on_ranks.h"
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "core/text.h"
#include "inference/run/chain.h"
#include "inference/run/run.h"
#include "inference/run/run_files.h"
#include "linalg/dense_matrix.h"
#include "model/prior/prior_kinds.h"
#include "posterior/full/posterior.h"
#include "posterior/mode/laplace.h"
#include "store/checkpoint.h"
#include "table/row_partition.h"
#include "table/row_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- (2) and (3) from a sample of rows ----
 *
 * If the rows of every rank are a random sample of the table, (2) and (3) can be estimated from
 * a sample of them. With r_ik the remainder of row i at draw k, minus its mean over the draws,
 * and S_k^2 the variance of r_ik over rows, a rank with n of N rows has
 *
 *   E (e_k - mean e)^2 = N^2 (1/n - 1/N) S_k^2                                              (4)
 *
 * (Cochran 1977, Sampling Techniques, section 2.6); summed over draws and averaged over ranks
 * this is the square of (2). The second order of (3) is half the mean of R such squares, which
 * varies over draws. With V the variance over draws of the expected square and s^2 its mean,
 * errors that are nearly normal and sum to 0 over ranks give
 *
 *   (V + 2 (V + s^4) / (R - 1)) / 4                                                         (5)
 *
 * and unequal parts n_r leave (1/R - n_r/N) of each rank's first-order error. */

/* A sum over the rows of a rank: of r_ik and its square, for every draw. */
typedef struct {
    const posterior *u;
    const control *cv; /* NULL: no polynomial is subtracted */
    const double *cv_centre;
    size_t draws;
    padded_line at, *draws_at; /* the reference; every draw */
} sampling;

/* Buffers for a block of rows: eta and y at the reference, derivatives of log p there, and eta,
 * log p and the remainder at each draw. */
typedef struct {
    double *eta, *y, *base, *e, *a, *ee, *ea, *aa, *eta_draw, *residual;
} row_buffers;

/* Doubles of scratch memory for row_buffers. */
static size_t row_buffers_size(const sampling *s)
{
    size_t k = s->u->auxiliaries;
    return (6 + 2 * k + packed_size(k) + s->draws) * ROW_BLOCK;
}

/* Divides scratch memory into row_buffers. */
static row_buffers carve_buffers(const sampling *s, double *scratch)
{
    size_t k = s->u->auxiliaries;
    row_buffers at = {.eta = scratch};
    at.y = at.eta + ROW_BLOCK;
    at.base = at.y + ROW_BLOCK;
    at.e = at.base + ROW_BLOCK;
    at.ee = at.e + ROW_BLOCK;
    at.eta_draw = at.ee + ROW_BLOCK;
    at.a = at.eta_draw + ROW_BLOCK;
    at.ea = at.a + k * ROW_BLOCK;
    at.aa = at.ea + k * ROW_BLOCK;
    at.residual = at.aa + packed_size(k) * ROW_BLOCK;
    return at;
}

/* The Taylor polynomial of row i at distance e in eta and away[j] in the auxiliaries from the
 * reference, without its constant term. */
static double polynomial(const sampling *s, const row_buffers *at, size_t i, double e,
                         const double *away)
{
    size_t k = s->u->auxiliaries;
    bool second = s->cv->hessian;
    double sum = at->e[i] * e + (second ? 0.5 * at->ee[i] * e * e : 0.0);
    for (size_t j = 0; j < k; j++) {
        sum += at->a[j * ROW_BLOCK + i] * away[j];
        if (!second) continue;
        sum += at->ea[j * ROW_BLOCK + i] * e * away[j];
        for (size_t l = 0; l < k; l++)
            sum += 0.5 * at->aa[packed_index(j, l) * ROW_BLOCK + i] * away[j] * away[l];
    }
    return sum;
}

/* Computes eta of a range of rows at a point, as a batch for the model's functions. */
static batch predict_batch(const sampling *s, row_range r, const padded_line *line,
                           const row_buffers *at, double *eta)
{
    batch b = predictors_of(s->u, r, line, eta, NULL);
    b.y = at->y;
    b.pitch = ROW_BLOCK;
    return b;
}

/* Computes r_ik of draw k, before its mean over draws is subtracted. */
static void compute_residuals(const sampling *s, row_range r, size_t k, const row_buffers *at)
{
    size_t aux = s->u->auxiliaries;
    double *residual = at->residual + k * ROW_BLOCK, away[aux + 1];
    batch b = predict_batch(s, r, &s->draws_at[k], at, at->eta_draw);
    s->u->model->predictor->loglik(&b, residual);
    for (size_t j = 0; j < aux; j++) away[j] = s->draws_at[k].aux[j] - s->at.aux[j];
    for (size_t i = 0; i < r.n; i++) {
        residual[i] -= at->base[i];
        if (s->cv) residual[i] -= polynomial(s, at, i, at->eta_draw[i] - at->eta[i], away);
    }
    predictors_weigh(s->u, r, residual);
}

/* Adds the sums of r_ik and of its square over a range of rows to total. */
static void add_residual_sums(const void *self, row_range r, double *scratch, double *total)
{
    const sampling *s = self;
    const predictor *model = s->u->model->predictor;
    row_buffers at = carve_buffers(s, scratch);
    const double *y = rows_targets(s->u->data, r, at.y);
    if (y != at.y) memcpy(at.y, y, r.n * sizeof *y);
    batch b = predict_batch(s, r, &s->at, &at, at.eta);
    model->loglik(&b, at.base);
    bool aux = s->u->auxiliaries;
    model->gradient(&b, at.e, aux ? at.a : NULL);
    model->curvature(&b, at.ee, aux ? at.ea : NULL, aux ? at.aa : NULL);
    for (size_t k = 0; k < s->draws; k++) compute_residuals(s, r, k, &at);
    for (size_t i = 0; i < r.n; i++) {
        double mean = 0.0;
        for (size_t k = 0; k < s->draws; k++)
            mean += at.residual[k * ROW_BLOCK + i] / (double)s->draws;
        for (size_t k = 0; k < s->draws; k++) {
            double x = at.residual[k * ROW_BLOCK + i] - mean;
            total[2 * k] += x;
            total[2 * k + 1] += x * x;
        }
    }
}

/* Draws s->draws points from the normal at the mode into w (draws * dim). */
static sbps_status draw_points(const sbps_run *run, sampling *s, double *w, sbps_error *err)
{
    size_t d = run->target->dim;
    rng random = rng_stream(run->options->seed, 2, RNG_AUTO);
    sbps_status status = padded_line_open(&s->at, s->u, run->noise.cv_centre, NULL, err);
    for (size_t k = 0; k < s->draws && status == SBPS_OK; k++) {
        laplace_draw(d, run->reference->w, run->geometry.factor, &random, w + k * d);
        status = padded_line_open(&s->draws_at[k], s->u, w + k * d, NULL, err);
    }
    return status;
}

/* The gathered sums of all ranks: two numbers per draw, the rows sampled and the rows in all.
 */
typedef struct {
    const double *of;
    size_t ranks, points;
    double sampled, all; /* rows of all ranks */
} rank_sums;

/* Number `at` of a rank in the gathered sums. */
static double entry(const rank_sums *s, size_t rank, size_t at)
{
    return s->of[rank * (2 * s->points + 2) + at];
}

/* Wraps the gathered sums and adds up the rows of all ranks. */
static rank_sums sums_take(const ranks *among, size_t points, const double *of)
{
    rank_sums s = {.of = of, .ranks = among->size, .points = points};
    for (size_t r = 0; r < s.ranks; r++) {
        s.sampled += entry(&s, r, 2 * points);
        s.all += entry(&s, r, 2 * points + 1);
    }
    return s;
}

/* Estimates S_k^2. */
static double spread_of(const rank_sums *s, size_t k)
{
    double sum = 0.0, square = 0.0;
    for (size_t r = 0; r < s->ranks; r++) {
        sum += entry(s, r, 2 * k);
        square += entry(s, r, 2 * k + 1);
    }
    return fmax(square - sum * sum / s->sampled, 0.0) / (s->sampled - 1.0);
}

/* Computes (2) and (3) from the gathered sums by (4) and (5). */
static void combine_errors(const rank_sums *s, double *error, double *moved)
{
    double sampling_factor = 0.0, uneven = 0.0, sum = 0.0, squares = 0.0,
           points = (double)s->points;
    for (size_t r = 0; r < s->ranks; r++) {
        double own = entry(s, r, 2 * s->points + 1), even = 1.0 / (double)s->ranks;
        sampling_factor += (1.0 / own - 1.0 / s->all) * even;
        uneven += (even - own / s->all) * (even - own / s->all);
    }
    for (size_t k = 0; k < s->points; k++) {
        double square =
            s->all * s->all * sampling_factor * spread_of(s, k); /* (4), mean over ranks */
        sum += square;
        squares += square * square;
    }
    double variance = (squares - sum * sum / points) / (points - 1.0);
    double error2 = sum / (points - 1.0);
    *error = sqrt(error2);
    double others = fmax((double)s->ranks - 1.0, 1.0);
    variance = fmax(variance, 0.0);
    *moved = sqrt(uneven * error2 +
                  0.25 * (variance + 2.0 * (variance + error2 * error2) / others)); /* (5) */
}

/* Estimates (2) and (3) at `points` draws from the normal at the mode, from at most RANK_SAMPLE
 * rows of each rank. */
static sbps_status rank_sample_errors(const sbps_run *run, size_t points, double *error,
                                      double *moved, sbps_error *err)
{
    size_t d = run->target->dim, width = 2 * points + 2;
    rows few = run->data;
    posterior u = *run->target;
    if (few.local_rows > RANK_SAMPLE) few.local_rows = RANK_SAMPLE;
    few.partition = NULL;
    u.data = &few;
    sampling s = {
        .u = &u, .cv = run->noise.cv, .cv_centre = run->noise.cv_centre, .draws = points};
    s.draws_at = calloc(points, sizeof *s.draws_at);
    double *w = new_doubles(points * d),
           *all = new_doubles((run->ranks.among->size + 1) * width);
    double *own = all + run->ranks.among->size * width;
    sbps_status status =
        s.draws_at && w && all ? draw_points(run, &s, w, err) : fail_memory(err);
    const row_sum what = {.self = &s,
                          .width = 2 * points,
                          .scratch = row_buffers_size(&s),
                          .add = add_residual_sums};
    if (status == SBPS_OK) status = row_sums(&few, &what, own, err);
    if (status == SBPS_OK) {
        own[2 * points] = (double)few.local_rows;
        own[2 * points + 1] = (double)run->data.local_rows;
        ranks_gather(run->ranks.among, own, all, width * sizeof *own);
        const rank_sums sums = sums_take(run->ranks.among, points, all);
        combine_errors(&sums, error, moved);
    }
    for (size_t k = 0; s.draws_at && k < points; k++) free(s.draws_at[k].p);
    free(s.at.p);
    free(s.draws_at);
    free(w);
    free(all);
    return status;
}

/* Draws for (2) and (3); many, since squares of cubic remainders have long tails. */
#define POINTS     ((size_t)32)
#define POINTS_FEW ((size_t)8) /* if each needs a pass through many rows */
#define MANY_ROWS  ((size_t)1 << 20)

/* ---- plans that can run on several ranks ---- */

/* SBPS_BAD_ARG: "WHAT on several ranks: INSTEAD". */
static sbps_status refuse_on_ranks(const char *what, const char *instead, sbps_error *err)
{
    return fail(err, SBPS_BAD_ARG, "%s on several ranks: %s", what, instead);
}

/* Refuses samplers that cannot run on several ranks. */
static sbps_status check_sampler(const run_plan *plan, sbps_error *err)
{
    const sampler_kind *kind = plan->sampler;
    char what[96];
    if (kind->curve || !strcmp(kind->name, "hmc")) return SBPS_OK;
    snprintf(what, sizeof what, "--sampler: %s cannot run", kind->name);
    return refuse_on_ranks(what, "use boomerang, sbps, psbps or hmc", err);
}

sbps_status ranks_check_plan(const sbps_run *run, sbps_error *err)
{
    const sbps_options *o = run->options;
    const model_kind *model = run->plans->model;
    if (!run->ranks.among) return SBPS_OK;
    if (model->facts.no_rows || model->row_model || run->data.member_rows)
        return refuse_on_ranks("--model: models without rows or with groups cannot run",
                               "start one process", err);
    if (o->paper) return refuse_on_ranks("--paper: not available", "start one process", err);
    if (!strcmp(o->minibatch, "random") || !strcmp(o->minibatch, "strata"))
        return refuse_on_ranks("--minibatch: only windows are available",
                               "leave the option out", err);
    if (o->skeleton && *o->skeleton)
        return refuse_on_ranks("--skeleton: cannot be written", "start one process", err);
    if (o->trace && *o->trace)
        return refuse_on_ranks("--trace: cannot be written", "start one process", err);
    return check_sampler(run->plans, err);
}

/* ---- which rank advances which chain ---- */

bool ranks_in_step(const sbps_run *run)
{
    return run->plan->sampler->full;
}

/* A resumed run keeps its number of chains. */
size_t ranks_chains(const sbps_run *run)
{
    size_t size = ranks_size(run->ranks.among), requested = run->options->chains;
    return ranks_in_step(run) || run->ranks.original_options
               ? requested
               : (requested + size - 1) / size * size;
}

/* Number of ranks by which chains have moved since the first round. */
static size_t rank_offset(const sbps_run *run)
{
    size_t size = ranks_size(run->ranks.among);
    return run->state.rounds % size;
}

/* Rank of a chain in this round; chain i starts on rank i R / C. */
static size_t owner_of(const sbps_run *run, size_t index)
{
    size_t size = ranks_size(run->ranks.among);
    return (index * size / run->chain_count + rank_offset(run)) % size;
}

void ranks_own_chains(const sbps_run *run, size_t *first, size_t *count)
{
    size_t size = ranks_size(run->ranks.among), chains = run->chain_count;
    size_t home = (ranks_rank(run->ranks.among) + size - rank_offset(run)) % size;
    *first = (home * chains + size - 1) / size;
    *count = ((home + 1) * chains + size - 1) / size - *first;
}

void ranks_begin_round(sbps_run *run)
{
    size_t first, count;
    if (ranks_in_step(run)) return;
    ranks_own_chains(run, &first, &count);
    for (size_t i = first; i < first + count; i++) {
        minibatch *u = &run->chains[i].batches;
        minibatch_move(u);
        minibatch_resize(u, run->tuned.minibatch, run->tuned.batch);
    }
}

bool ranks_interrupted(sbps_run *run)
{
    bool here = atomic_load_explicit(&run->interrupt, memory_order_relaxed);
    return run->ranks.among && ranks_in_step(run) ? ranks_max(run->ranks.among, here) > 0.0
                                                  : here;
}

/* ---- after a round ---- */

/* Sends the bytes [begin, end) from rank `owner` to all others. */
static void broadcast_bytes(sbps_run *run, size_t owner, void *begin, const void *end)
{
    ranks_broadcast(run->ranks.among, owner, begin,
                    (size_t)((const unsigned char *)end - (unsigned char *)begin));
}

/* Sends a chain from its owner to all ranks. Its memory ends with the draws, of which only new
 * ones are sent. Scratch memory is skipped unless the round was cut short. */
static void broadcast_chain(sbps_run *run, size_t index, size_t owner)
{
    chain *c = &run->chains[index];
    sent_draws *known = &run->ranks.sent[index];
    draws *d = &c->d;
    double *from, *to;
    minibatch_scratch(&c->batches, &from, &to);
    broadcast_bytes(run, owner, c->memory.base, from);
    broadcast_bytes(run, owner, to, d->w);
    if (c->batches.state->residuals_kept) broadcast_bytes(run, owner, from, to);
    if (d->state->spacing != known->spacing || d->state->count < known->draws) known->draws = 0;
    size_t fresh = d->state->count - known->draws;
    ranks_broadcast(run->ranks.among, owner, d->w + known->draws * d->dim,
                    fresh * d->dim * sizeof *d->w);
    ranks_broadcast(run->ranks.among, owner, d->counts + known->draws,
                    fresh * sizeof *d->counts);
}

void ranks_exchange(sbps_run *run)
{
    if (ranks_in_step(run)) return;
    size_t first, count;
    ranks_own_chains(run, &first, &count);
    for (size_t i = first; i < first + count; i++)
        /* the batches of completed chains, which move on, are rows of this rank */
        if (run->chains[i].state->events >= run->tuned.round_events)
            minibatch_move(&run->chains[i].batches);
    for (size_t i = 0; i < run->chain_count; i++) broadcast_chain(run, i, owner_of(run, i));
}

void ranks_record_sent(sbps_run *run)
{
    for (size_t i = 0; i < run->chain_count; i++) {
        const draws_state *d = run->chains[i].d.state;
        run->ranks.sent[i] = (sent_draws){d->count, d->spacing};
    }
}

/* ---- (2) and (3) ---- */

/* The log-likelihood of this rank's rows only, without prior. */
typedef struct {
    rows data;
    posterior u;
    prior *flat;
} shard;

/* The likelihood of this rank's rows; its flat priors are the caller's to free. */
static sbps_status shard_open(const sbps_run *run, shard *s, sbps_error *err)
{
    size_t d = run->target->dim;
    *s = (shard){.data = run->data, .u = *run->target};
    s->data.partition = NULL;
    s->u.data = &s->data;
    s->u.centred = 0;
    s->flat = calloc(d, sizeof *s->flat);
    if (!s->flat) return fail_memory(err);
    for (size_t j = 0; j < d; j++) s->flat[j] = (prior){.kind = &prior_flat};
    s->u.priors = s->flat;
    return SBPS_OK;
}

/* Number of draws for (2) and (3); the same on all ranks. */
static size_t points_of(const sbps_run *run)
{
    return min_local_rows(&run->data) > MANY_ROWS ? POINTS_FEW : POINTS;
}

/* Computes the remainders of the shard's likelihood at the draws. scratch: dim * (dim + 3). */
static sbps_status find_residuals(const sbps_run *run, const shard *s, double *scratch,
                                  double *residual, sbps_error *err)
{
    size_t d = run->target->dim;
    double *gradient = scratch, *w = scratch + d, *away = w + d, *hessian = away + d, at_zero;
    rng random = rng_stream(run->options->seed, 2, RNG_AUTO);
    sbps_status status =
        posterior_gradient(&s->u, run->noise.cv_centre, &at_zero, gradient, err);
    bool second = run->noise.cv && run->noise.cv->hessian;
    if (status == SBPS_OK && second)
        status = posterior_hessian(&s->u, run->noise.cv_centre, hessian, err);
    for (size_t i = 0; i < points_of(run) && status == SBPS_OK; i++) {
        laplace_draw(d, run->reference->w, run->geometry.factor, &random, w);
        for (size_t j = 0; j < d; j++) away[j] = w[j] - run->noise.cv_centre[j];
        status = posterior_value(&s->u, w, &residual[i], err);
        residual[i] -= at_zero;
        if (run->noise.cv) residual[i] -= dot(d, gradient, away);
        if (second) residual[i] -= 0.5 * quadratic_form(d, hessian, away);
    }
    return status;
}

/* Sample variance of `points` numbers. */
static double variance_of(size_t points, const double *e)
{
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < points; i++) mean += e[i] / (double)points;
    for (size_t i = 0; i < points; i++) square += (e[i] - mean) * (e[i] - mean);
    return square / (double)(points - 1);
}

/* e at each draw for one rank, minus its mean. residuals: for every rank its remainders,
 * followed by its factor N/n_r. */
static void rank_errors(const sbps_run *run, const double *residuals, size_t rank, double *e)
{
    const double *of = residuals + rank * (POINTS + 1);
    size_t points = points_of(run);
    double mean = 0.0;
    for (size_t i = 0; i < points; i++) {
        double total = 0.0;
        for (size_t r = 0; r < run->ranks.among->size; r++)
            total += residuals[r * (POINTS + 1) + i];
        e[i] = of[POINTS] * of[i] - total;
        mean += e[i] / (double)points;
    }
    for (size_t i = 0; i < points; i++) e[i] -= mean;
}

/* Computes (2) and (3) from the remainders of all ranks. */
static void note_errors(sbps_run *run, const double *residuals)
{
    size_t points = points_of(run);
    double first[POINTS] = {0}, second[POINTS] = {0}, sum = 0.0,
           size = (double)run->ranks.among->size;
    for (size_t r = 0; r < run->ranks.among->size; r++) {
        double e[POINTS];
        rank_errors(run, residuals, r, e);
        sum += variance_of(points, e) / size;
        for (size_t i = 0; i < points; i++) {
            first[i] += e[i] / size;
            second[i] += 0.5 * e[i] * e[i] / size;
        }
    }
    run->ranks.error = sqrt(sum);
    run->ranks.bias = sqrt(variance_of(points, first) + variance_of(points, second));
}

sbps_status ranks_measure_error(sbps_run *run, sbps_error *err)
{
    if (!run->ranks.among || ranks_in_step(run)) return SBPS_OK;
    /* the rows of a rank are a random sample of the table, so that (4) holds */
    if (run->target->model->predictor && !run->data.table.in_order)
        return rank_sample_errors(run, POINTS, &run->ranks.error, &run->ranks.bias, err);
    shard s;
    size_t d = run->target->dim;
    double own[POINTS + 1] = {0};
    double *scratch = new_doubles(d * (d + 3)),
           *residuals = new_doubles(run->ranks.among->size * (POINTS + 1));
    sbps_status status = shard_open(run, &s, err);
    if (status == SBPS_OK && !(scratch && residuals)) status = fail_memory(err);
    if (status == SBPS_OK) status = find_residuals(run, &s, scratch, own, err);
    if (status == SBPS_OK) {
        own[POINTS] = rows_factor(&run->data);
        ranks_gather(run->ranks.among, own, residuals, sizeof own);
        note_errors(run, residuals);
    }
    free(s.flat);
    free(scratch);
    free(residuals);
    return status;
}

double ranks_rhat(const sbps_run *run)
{
    size_t size = ranks_size(run->ranks.among);
    if (size == 1 || ranks_in_step(run) || run->chain_count % size) return NAN;
    return moments_nested_rhat(run->moments_of, size, run->chain_count / size);
}

/* ---- values of draws ---- */

sbps_status ranks_average_values(const sbps_run *run, result *r, sbps_error *err)
{
    ranks *among = run->ranks.among;
    size_t n = r->chains * r->draws;
    double size = (double)among->size, *own = new_doubles(4 * n), *sum = own + 2 * n;
    if (!own) return fail_memory(err);
    for (size_t from = 0; from < among->size; from++) {
        memcpy(own, r->potential, n * sizeof *own);
        memcpy(own + n, r->potential_sd, n * sizeof *own);
        ranks_broadcast(among, from, own, 2 * n * sizeof *own);
        for (size_t i = 0; i < n; i++) {
            sum[i] += own[i];
            sum[n + i] += own[n + i] * own[n + i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        r->potential[i] = sum[i] / size;
        r->potential_sd[i] = sqrt(sum[n + i]) / size;
    }
    free(own);
    return SBPS_OK;
}

/* ---- resuming on another number of ranks ----
 *
 * Set-up gives the same bits on any number of ranks, so the mode, the control variate, the
 * metric and the bands are the same. The chains keep their number and sampler and all their
 * memory except the mini-batch of the last observation, which is replaced by other rows. A
 * single process can resume such a run too, as one rank. */

/* A damaged or forged checkpoint must not make the run allocate without limit. */
#define CHAINS_MAX ((uint64_t)1 << 24)

rank_record restart_record(const sbps_run *run)
{
    rank_record r = {ranks_size(run->ranks.among), run->chain_count,
                     run->ranks.original_options != NULL, ""};
    snprintf(r.sampler, sizeof r.sampler, "%s", run->plan->sampler->name);
    return r;
}

/* Reads the record of ranks from a checkpoint. *found is false for the checkpoint of a single
 * process and for other files, which are refused elsewhere. */
static sbps_status read_record(const char *path, rank_record *out, bool *found, sbps_error *err)
{
    char *bytes = NULL;
    size_t size;
    *found = checkpoint_peek(path, "ranks", &bytes, &size, NULL) == SBPS_OK;
    bool right = *found && size == sizeof *out;
    if (right) memcpy(out, bytes, sizeof *out);
    free(bytes);
    if (!*found) return SBPS_OK;
    right = right && out->ranks > 0 && out->chains > 0 && out->chains <= CHAINS_MAX &&
            memchr(out->sampler, 0, sizeof out->sampler) && sampler_find(out->sampler);
    return right ? SBPS_OK
                 : fail(err, SBPS_BAD_FILE,
                        "%s: its record of ranks is invalid; the file is damaged", path);
}

/* SBPS_MISMATCH if the file is the checkpoint of a single process. */
static sbps_status refuse_single(const sbps_run *run, const char *path, sbps_error *err)
{
    char *bytes = NULL;
    size_t size;
    bool single = checkpoint_peek(path, "run", &bytes, &size, NULL) == SBPS_OK;
    free(bytes);
    if (!single) return SBPS_OK; /* not a checkpoint: refused by its reader */
    return fail(err, SBPS_MISMATCH,
                "%s: written by a single process and cannot be continued on %zu ranks: resume "
                "with one process, or start a new run",
                path, ranks_size(run->ranks.among));
}

/* Adopts the number of chains and the sampler of the checkpoint. */
static sbps_status take_over(sbps_run *run, const rank_record *from, sbps_error *err)
{
    char chains[32];
    snprintf(chains, sizeof chains, "%" PRIu64, from->chains);
    run->ranks.original_options = files_option_lines(run->options);
    if (!run->ranks.original_options) return fail_memory(err);
    sbps_status status = options_set(run->options, "chains", chains, err);
    return status == SBPS_OK ? options_set(run->options, "sampler", from->sampler, err)
                             : status;
}

sbps_status restart_begin(sbps_run *run, sbps_error *err)
{
    const sbps_options *o = run->options;
    rank_record from;
    bool found;
    if (o->dry_run || !o->resume || !*o->resume) return SBPS_OK;
    sbps_status status = read_record(o->resume, &from, &found, err);
    if (status != SBPS_OK) return status;
    if (!found) return run->ranks.among ? refuse_single(run, o->resume, err) : SBPS_OK;
    run->ranks.moved = from.ranks != ranks_size(run->ranks.among);
    if (run->ranks.among && !run->ranks.moved && !from.restarted) return SBPS_OK;
    if ((status = take_over(run, &from, err)) != SBPS_OK || run->ranks.among) return status;
    if ((status = ranks_single(&run->ranks.alone, err)) != SBPS_OK) return status;
    run->ranks.among = run->ranks.alone;
    return partition_create(run->table->data->local_rows, run->ranks.alone,
                            &run->ranks.partition, err);
}

void restart_end(sbps_run *run)
{
    ranks_close(run->ranks.alone);
    free(run->ranks.partition);
    free(run->ranks.original_options);
}

void restart_unbind(sbps_run *run)
{
    if (!run->ranks.moved || ranks_in_step(run)) return;
    for (size_t i = 0; i < run->chain_count; i++) minibatch_move(&run->chains[i].batches);
}

void restart_restore(sbps_run *run)
{
    if (!run->ranks.moved || ranks_in_step(run)) return;
    run->tuned.batch = plan_batch_max(&run->data, run->tuned.batch);
    chains_take_batch(run);
}

/* Runs on ranks, each of which has a random part of the rows.
 *
 * Where chains look at batches, each lives on a rank and looks at that rank's rows alone: after set-up nothing is sent but
 * what chains have to show between rounds. All ranks then have the memory of all chains, and decide alike. With the
 * Taylor polynomial T of the sum over all N rows at the reference, exact, and r_i what it leaves of row i,
 *
 *   U_r(w) = -log prior + T(w) - (N/n_r) sum_{i on rank r} r_i(w)                                   (1)
 *
 * is what chains of a rank with n_r rows see, off by e_r = U_r - U. A constant does no harm; to the first order e_r moves
 * the mean of a function f of w by -Cov(f, e_r), at most sd(f) sd(e_r) by Cauchy and Schwarz. So
 *
 *   rank_error = root mean square over ranks of the sd of e_r over draws from the normal at the mode           (2)
 *
 * bounds how far chains are off that stay on a rank, in posterior sd, on average over ranks. Chains do not stay: with every
 * round each goes to the next rank, which costs no message, for all ranks have the memory of all chains by then. So every
 * rank's rows count alike in what all chains say, and the first order cancels, the sum of n_r e_r being 0. What is left is
 * what shares of unequal size leave of it, and the second order, half the covariance of f with (e_r - mean e_r)^2:
 *
 *   rank_bias^2 = (sd of the mean over ranks of e_r)^2 + (sd of the mean over ranks of (e_r - mean e_r)^2 / 2)^2   (3)
 *
 * Where it is too much, or looks are at all rows anyhow, all ranks fly all chains in step, and every look is a sum over
 * rows (table/row_sums.h). */
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "inference/run/rank_sample.h"
#include "inference/run/run.h"
#include "linalg/dense_matrix.h"
#include "model/prior/prior_kinds.h"
#include "posterior/mode/laplace.h"

#include <math.h>
#include <string.h>

#define POINTS     ((size_t)32) /* of (2) and (3): squares of cubes have long tails */
#define POINTS_FEW ((size_t)8)  /* where each is a pass through many rows */
#define MANY_ROWS  ((size_t)1 << 20)

/* ---- what several can do ---- */

static sbps_status refuse_on_ranks(const char *what, const char *instead, sbps_error *err)
{
    return fail(err, SBPS_BAD_ARG, "%s on several ranks: %s", what, instead);
}

static sbps_status check_sampler(const run_plan *plan, sbps_error *err)
{
    const sampler_kind *kind = plan->sampler;
    char what[96];
    if (kind->curve || !strcmp(kind->name, "hmc")) return SBPS_OK;
    snprintf(what, sizeof what, "--sampler: there is no %s", kind->name);
    return refuse_on_ranks(what, "boomerang, sbps, psbps and hmc can", err);
}

sbps_status ranks_check_plan(const sbps_run *run, sbps_error *err)
{
    const sbps_options *o = run->options;
    const model_kind *model = run->plans->model;
    if (!run->among) return SBPS_OK;
    if (model->facts.rowless || model->row_model || run->data.member_rows)
        return refuse_on_ranks("--model: there is none without rows of its own, or with groups",
                               "start one process", err);
    if (o->paper) return refuse_on_ranks("--paper: it is not", "start one process", err);
    if (!strcmp(o->minibatch, "random") || !strcmp(o->minibatch, "strata"))
        return refuse_on_ranks("--minibatch: there are but windows", "leave the option out",
                               err);
    if (o->skeleton && *o->skeleton)
        return refuse_on_ranks("--skeleton: it is not written", "start one process", err);
    if (o->trace && *o->trace)
        return refuse_on_ranks("--trace: it is not written", "start one process", err);
    return check_sampler(run->plans, err);
}

/* ---- who flies what ---- */

bool ranks_in_step(const sbps_run *run)
{
    return run->plan->sampler->full;
}

/* A run that is carried on has the chains it had. */
size_t ranks_chains(const sbps_run *run)
{
    size_t size = ranks_size(run->among), requested = run->options->chains;
    return ranks_in_step(run) || run->original_options ? requested
                                                       : (requested + size - 1) / size * size;
}

/* How many ranks further than at first chains are in this round. */
static size_t gone_by(const sbps_run *run)
{
    size_t size = ranks_size(run->among);
    return run->state.rounds % size;
}

/* Chain i begins on rank i R / C. */
static size_t owner_of(const sbps_run *run, size_t index)
{
    size_t size = ranks_size(run->among);
    return (index * size / run->chain_count + gone_by(run)) % size;
}

void ranks_own_chains(const sbps_run *run, size_t *first, size_t *count)
{
    size_t size = ranks_size(run->among), chains = run->chain_count;
    size_t home = (ranks_rank(run->among) + size - gone_by(run)) % size;
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
    return run->among && ranks_in_step(run) ? ranks_max(run->among, here) > 0.0 : here;
}

/* ---- after a round ---- */

static void broadcast_bytes(sbps_run *run, size_t owner, void *begin, const void *end)
{
    ranks_broadcast(run->among, owner, begin,
                    (size_t)((const unsigned char *)end - (unsigned char *)begin));
}

/* A chain's memory ends with its draws, which are sent once: those that others do not have yet. Of its scratch they need
 * nothing, but in a round that was cut short. */
static void broadcast_chain(sbps_run *run, size_t index, size_t owner)
{
    chain *c = &run->chains[index];
    sent_draws *known = &run->sent[index];
    draws *d = &c->d;
    double *from, *to;
    minibatch_scratch(&c->batches, &from, &to);
    broadcast_bytes(run, owner, c->memory.base, from);
    broadcast_bytes(run, owner, to, d->w);
    if (c->batches.state->kept) broadcast_bytes(run, owner, from, to);
    if (d->state->spacing != known->spacing || d->state->count < known->draws) known->draws = 0;
    size_t fresh = d->state->count - known->draws;
    ranks_broadcast(run->among, owner, d->w + known->draws * d->dim,
                    fresh * d->dim * sizeof *d->w);
    ranks_broadcast(run->among, owner, d->counts + known->draws, fresh * sizeof *d->counts);
}

/* Batches are kept for a moment, not from round to round. */
static void let_go(sbps_run *run)
{
    size_t first, count;
    ranks_own_chains(run, &first, &count);
    for (size_t i = first; i < first + count; i++)
        if (run->chains[i].state->events >= run->tuned.round_events)
            minibatch_move(&run->chains[i].batches);
}

void ranks_exchange(sbps_run *run)
{
    if (ranks_in_step(run)) return;
    let_go(run);
    for (size_t i = 0; i < run->chain_count; i++) broadcast_chain(run, i, owner_of(run, i));
}

void ranks_note_draws(sbps_run *run)
{
    for (size_t i = 0; i < run->chain_count; i++) {
        const draws_state *d = run->chains[i].d.state;
        run->sent[i] = (sent_draws){d->count, d->spacing};
    }
}

/* ---- (2) and (3) ---- */

/* The likelihood of this rank's rows: no priors, no ranks. */
typedef struct {
    rows data;
    posterior u;
    prior *flat;
} shard;

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

/* Alike on all ranks. */
static size_t points_of(const sbps_run *run)
{
    return min_local_rows(&run->data) > MANY_ROWS ? POINTS_FEW : POINTS;
}

/* What the control variate's polynomial leaves of the shard at its draws. `room`: dim (dim + 3). */
static sbps_status find_rests(const sbps_run *run, const shard *s, double *scratch,
                              double *rest, sbps_error *err)
{
    size_t d = run->target->dim;
    double *gradient = scratch, *w = scratch + d, *away = w + d, *hessian = away + d, at_zero;
    rng random = rng_stream(run->options->seed, 2, RNG_AUTO);
    sbps_status status = posterior_gradient(&s->u, run->cv_centre, &at_zero, gradient, err);
    bool second = run->cv && run->cv->hessian;
    if (status == SBPS_OK && second)
        status = posterior_hessian(&s->u, run->cv_centre, hessian, err);
    for (size_t i = 0; i < points_of(run) && status == SBPS_OK; i++) {
        laplace_draw(d, run->reference->w, run->factor, &random, w);
        for (size_t j = 0; j < d; j++) away[j] = w[j] - run->cv_centre[j];
        status = posterior_value(&s->u, w, &rest[i], err);
        rest[i] -= at_zero;
        if (run->cv) rest[i] -= dot(d, gradient, away);
        if (second) rest[i] -= 0.5 * quadratic_form(d, hessian, away);
    }
    return status;
}

static double variance_of(size_t points, const double *e)
{
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < points; i++) mean += e[i] / (double)points;
    for (size_t i = 0; i < points; i++) square += (e[i] - mean) * (e[i] - mean);
    return square / (double)(points - 1);
}

/* e[i] of a rank less their mean. rests: of every rank, each with the factor that it takes its own by behind them. */
static void errors_of(const sbps_run *run, const double *rests, size_t rank, double *e)
{
    const double *of = rests + rank * (POINTS + 1);
    size_t points = points_of(run);
    double mean = 0.0;
    for (size_t i = 0; i < points; i++) {
        double total = 0.0;
        for (size_t r = 0; r < run->among->size; r++) total += rests[r * (POINTS + 1) + i];
        e[i] = of[POINTS] * of[i] - total;
        mean += e[i] / (double)points;
    }
    for (size_t i = 0; i < points; i++) e[i] -= mean;
}

static void note_errors(sbps_run *run, const double *rests)
{
    size_t points = points_of(run);
    double first[POINTS] = {0}, second[POINTS] = {0}, sum = 0.0,
           size = (double)run->among->size;
    for (size_t r = 0; r < run->among->size; r++) {
        double e[POINTS];
        errors_of(run, rests, r, e);
        sum += variance_of(points, e) / size;
        for (size_t i = 0; i < points; i++) {
            first[i] += e[i] / size;
            second[i] += 0.5 * e[i] * e[i] / size;
        }
    }
    run->rank_error = sqrt(sum);
    run->rank_bias = sqrt(variance_of(points, first) + variance_of(points, second));
}

sbps_status ranks_measure_error(sbps_run *run, sbps_error *err)
{
    if (!run->among || ranks_in_step(run)) return SBPS_OK;
    if (rank_sample_serves(run))
        return rank_sample_errors(run, POINTS, &run->rank_error, &run->rank_bias, err);
    shard s;
    size_t d = run->target->dim;
    double own[POINTS + 1] = {0};
    double *scratch = new_doubles(d * (d + 3)),
           *rests = new_doubles(run->among->size * (POINTS + 1));
    sbps_status status = shard_open(run, &s, err);
    if (status == SBPS_OK && !(scratch && rests)) status = fail_memory(err);
    if (status == SBPS_OK) status = find_rests(run, &s, scratch, own, err);
    if (status == SBPS_OK) {
        own[POINTS] = rows_factor(&run->data);
        ranks_gather(run->among, own, rests, sizeof own);
        note_errors(run, rests);
    }
    free(s.flat);
    free(scratch);
    free(rests);
    return status;
}

double ranks_rhat(const sbps_run *run)
{
    size_t size = ranks_size(run->among);
    if (size == 1 || ranks_in_step(run) || run->chain_count % size) return NAN;
    return moments_nested_rhat(run->moments_of, size, run->chain_count / size);
}

/* ---- values of draws ---- */

sbps_status ranks_average_values(const sbps_run *run, result *r, sbps_error *err)
{
    ranks *among = run->among;
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

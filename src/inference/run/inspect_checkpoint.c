/* What a checkpoint may hold. It was told apart from another run's and found undamaged, but a checksum
 * can be made right by whoever altered the rest: every count, index, kind and flag is held against what
 * this run could have written before any of it is used, numbers against where they can lie. */
#include "inference/run/replan.h"
#include "linalg/dense_matrix.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#define FARTHEST   1e9
#define EPOCHS_MAX 62 /* of warm-up: they double, and are counted in 64 bits */

static void inspect_chain_state(const chain_state *s, inspection *x)
{
    INSPECT_ANY(x, s->events);
    INSPECT_KIND(x, s->begun, EVENT_STEP);
    INSPECT_FLAG(x, s->failed);
    if (!x->wrong[0]) inspect_that(x, "a path that has ended", !s->failed);
    INSPECT_WHOLE(x, *s);
}

/* Batches that were not left to us are those that were asked for; one size serves all chains. */
static void inspect_batch(const sbps_run *run, const minibatch_state *s, inspection *x)
{
    const minibatch_state *first = run->chains->batches.state;
    if (!run->plan->auto_batch) {
        inspect_same(x, "the rows of a batch", &s->n, sizeof s->n);
        inspect_same(x, "the kind of batches", &s->kind, sizeof s->kind);
    }
    inspect_that(x, "chains with batches of their own",
                 s->n == first->n && s->kind == first->kind);
}

/* No path of a proper posterior leads so far from its mode, in posterior sds there; one that begins so far out
 * would never come back. */
static void inspect_distance(const sbps_run *run, const sampler *s, inspection *x)
{
    size_t d = run->target->dim;
    double square;
    if (run->reference->hessian) {
        square = quadratic_terms(d, run->reference->hessian, s->p_next);
    } else {
        double *y = new_doubles(d);
        if (y) run->a->kind->precision(run->a, s->p_next, y);
        square = y ? dot(d, s->p_next, y) : 0.0;
        free(y);
    }
    inspect_that(x, "a position out of all reach", square < FARTHEST * FARTHEST);
}

void inspect_chain(const sbps_run *run, size_t index, inspection *x)
{
    const chain *c = &run->chains[index];
    inspect_chain_state(c->state, x);
    minibatch_inspect(&c->batches, x);
    inspect_batch(run, c->batches.state, x);
    sampler_inspect(&c->s, run->plan->choose_band && c->s.kind->curve, x);
    if (!x->wrong[0]) inspect_distance(run, &c->s, x);
    moments_inspect(&c->m, x);
    event_counts_inspect(c->counts, x);
    bias_inspect(&c->b, x);
    draws_inspect(&c->d, x);
}

void inspect_run(const sbps_run *run, inspection *x)
{
    const run_state *s = &run->state;
    INSPECT_KIND(x, s->phase, PHASE_DONE);
    INSPECT_ANY(x, s->rounds);
    INSPECT_COUNT(x, s->epoch, EPOCHS_MAX);
    INSPECT_COUNT(x, s->epoch_rounds, ((uint64_t)1 << (s->epoch & 63)));
    INSPECT_COUNT(x, s->settled, 1);
    INSPECT_COUNT(x, s->anchored, 1);
    INSPECT_COUNT(x, s->frozen, 1);
    INSPECT_COUNT(x, s->hmc_took_over, 1);
    INSPECT_REAL(x, s->found, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->spent, 0.0, DBL_MAX);
    INSPECT_COUNT(x, s->surrogate_left, 1);
    INSPECT_REAL(x, s->surrogate_found, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->warmup_proposals, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->warmup_rows, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->seconds_warmup, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->seconds_sampling, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->next_look, 0.0, s->phase == PHASE_SAMPLING ? STOP_CHECK_MAX : DBL_MAX);
    INSPECT_ANY(x, s->skeleton_bytes); /* held against the file itself */
    INSPECT_ANY(x, s->trace_bytes);
    INSPECT_COUNT(x, s->skeleton_gap, 1);
    INSPECT_COUNT(x, s->trace_gap, 1);
    INSPECT_WHOLE(x, *s);
}

static sbps_status reject_block(const char *path, const char *what, const inspection *x,
                                sbps_error *err)
{
    return fail(err, SBPS_BAD_FILE, "%s: %s holds what no run writes: %s", path, what,
                x->wrong);
}

static sbps_status inspect_cv_centre(const sbps_run *run, const char *path, sbps_error *err)
{
    size_t d = run->target->dim;
    inspection x = {.base = (const unsigned char *)run->cv_centre, .size = d * sizeof(double)};
    inspect_reals(&x, "the reference point", run->cv_centre, d, -INSPECT_FARTHEST,
                  INSPECT_FARTHEST);
    return x.wrong[0] ? reject_block(path, "the anchor", &x, err) : SBPS_OK;
}

/* Control variate and strata follow the reference point, and batches are held against them. */
static sbps_status follow_cv_centre(sbps_run *run, sbps_error *err)
{
    size_t bytes = run->target->dim * sizeof *run->cv_centre;
    bool moved = run->cv && memcmp(run->cv_centre, run->cv->w, bytes);
    return moved ? replan_reanchor(run, err) : SBPS_OK;
}

sbps_status inspect_checkpoint(sbps_run *run, const char *path,
                               const unsigned char *const *fresh, sbps_error *err)
{
    inspection x = {.base = (const unsigned char *)&run->state, .size = sizeof run->state};
    inspect_run(run, &x);
    if (x.wrong[0]) return reject_block(path, "the run", &x, err);
    sbps_status status = inspect_cv_centre(run, path, err);
    if (status == SBPS_OK) status = follow_cv_centre(run, err);
    size_t first = 0,
           count = run->chain_count; /* of ranks, each its own: rows are counted there */
    if (run->among && !ranks_in_step(run)) ranks_own_chains(run, &first, &count);
    for (size_t i = first; status == SBPS_OK && i < first + count; i++) {
        const arena *memory = &run->chains[i].memory;
        char name[32];
        snprintf(name, sizeof name, "chain %zu", i + 1);
        x = (inspection){.base = memory->base, .fresh = fresh[i], .size = memory->size};
        inspect_chain(run, i, &x);
        if (x.wrong[0]) status = reject_block(path, name, &x, err);
    }
    return status;
}

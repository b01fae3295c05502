/* Checks the state of a potential that was restored from a file. The line is set anew before
 * the next observation, but the batch of the last observation is evaluated again after a
 * bounce. */
#include "posterior/minibatch/row_terms.h"

#include <float.h>

static size_t kind_count(void)
{
    size_t count = 0;
    while (batch_kinds[count]) count++;
    return count;
}

/* True if batches of this kind can be made with what was carved and set up. */
static bool possible(const minibatch *u, const batch_kind *kind)
{
    if (kind->uses_list) return u->list;
    return kind != &batch_strata || u->parts;
}

static size_t batch_rows(const minibatch *u)
{
    size_t each[STRATA_MAX], n = u->state->n;
    bool parted = batch_kinds[u->state->kind] == &batch_strata;
    return parted ? strata_allot(u->parts, n, each) : n;
}

/* r of every row is stored for predictor models alone, and only while a batch fits in a
 * block. */
static bool can_keep(const minibatch *u)
{
    return u->target->mean != MEAN_OTHER && batch_rows(u) <= MINIBATCH_BLOCK;
}

/* Which rows are in the batch, and what is stored about them. */
static void inspect_batch(const minibatch *u, inspection *x)
{
    const minibatch_state *s = u->state;
    size_t all = u->target->data->local_rows;
    inspect_count(x, "the rows of a batch", &s->n, total_rows(u->target->data));
    inspect_count(x, "the kind of batches", &s->kind, kind_count() - 1);
    INSPECT_COUNT(x, s->first, all - 1);
    for (size_t i = 0; i < STRATA_MAX; i++)
        INSPECT_COUNT(x, s->start[i],
                      u->parts && i < u->parts->count ? u->parts->size[i] - 1 : SIZE_MAX);
    for (size_t i = 0; u->list && i < all; i++)
        inspect_count(x, "a row of a batch", &u->list[i], all - 1);
    INSPECT_COUNT(x, s->still, 1);
    INSPECT_COUNT(x, s->kept, 1);
    INSPECT_COUNT(x, s->turned, 1);
    if (x->wrong[0]) return;
    inspect_that(x, "a batch without rows", s->n > 0);
    inspect_that(x, "batches of a kind this run has not", possible(u, batch_kinds[s->kind]));
    if (x->wrong[0]) return;
    inspect_that(x, "a batch that keeps what it cannot", !s->kept || can_keep(u));
    inspect_that(x, "a batch that was turned and not kept", !s->turned || s->kept);
}

/* Coefficients of the line may hold any number: they are set anew. */
static void inspect_line(const minibatch *u, inspection *x)
{
    const minibatch_state *s = u->state;
    const double *const line[] = {&s->time,        &s->prior_slope, &s->prior_rate,
                                  &s->exact_slope, &s->exact_rate,  &s->speed2};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        inspect_any(x, line[i], sizeof *line[i]);
}

/* Scratch may hold anything. */
static void inspect_scratch(const minibatch *u, inspection *x)
{
    size_t wide = u->target->width, block = u->block, aux = u->target->auxiliaries;
    const double *const blocks[] = {u->eta, u->deta, u->y, u->buffer[0], u->buffer[1]};
    const double *const points[] = {u->p, u->q, u->point, u->aside, u->total};
    const double *const taylor[] = {u->taylor.p, u->taylor.q, u->taylor.hp, u->taylor.hq};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        inspect_any(x, blocks[i], block * sizeof(double));
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        inspect_any(x, points[i], wide * sizeof(double));
    for (size_t i = 0; i < sizeof taylor / sizeof *taylor; i++)
        inspect_any(x, taylor[i], u->taylor.stride * sizeof(double));
    inspect_any(x, u->aux, (aux ? aux : 1) * block * sizeof(double));
    inspect_any(x, u->out, block * sizeof(double));
    inspect_any(x, u->scratch, u->terms->scratch(u->target, block) * sizeof(double));
}

static void inspect_centred_priors(const minibatch *u, inspection *x)
{
    for (size_t i = 0; i < u->target->centred; i++) {
        const centred_prior *centred = &u->centred_priors[i];
        inspect_made(x, "the middle of a prior", &centred->centre, 1);
        inspect_made(x, "the curvature of a prior", &centred->curvature, 1);
        INSPECT_ANY(x, centred->p);
        INSPECT_ANY(x, centred->q);
    }
}

void minibatch_inspect(const minibatch *u, inspection *x)
{
    size_t d = u->target->dim;
    rng_inspect(&u->state->random, x);
    rng_inspect(&u->state->noise, x);
    INSPECT_ANY(x, u->state->ahead);
    inspect_count(x, "words left of a random stream", &u->state->ahead.left, RNG_BLOCK);
    inspect_batch(u, x);
    inspect_line(u, x);
    INSPECT_WHOLE(x, *u->state);
    inspect_scratch(u, x);
    inspect_made(x, "the middle of a prior", u->centre, d);
    inspect_made(x, "the curvature of a prior", u->curvature, d);
    inspect_centred_priors(u, x);
    inspect_same(x, "the list of curved priors", u->curved, d * sizeof *u->curved);
    inspect_finite(x, "the noise of a gradient", u->added_noise, d);
    if (u->state->kept && !x->wrong[0])
        inspect_finite(x, "a row's residual", u->out, batch_rows(u));
}

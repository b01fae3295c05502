/* What a chain remembers of its batches: begun, of another size, read back, or on other rows. */
#include "posterior/minibatch/row_terms.h"

#include <string.h>

void minibatch_resize(minibatch *u, const batch_kind *kind, size_t n)
{
    u->state->n = n;
    u->state->kept = u->state->turned = false;
    for (u->state->kind = 0; batch_kinds[u->state->kind] != kind;) u->state->kind++;
    minibatch_restore(u);
    if (kind->start) kind->start(u);
}

void minibatch_move(minibatch *u)
{
    u->state->kept = u->state->turned = false;
    u->state->first %= rows_min_per_rank(u->target->data); /* which every rank has */
}

void minibatch_scratch(const minibatch *u, double **begin, double **end)
{
    *begin = u->eta;
    *end = u->taylor.p; /* carved next */
}

void minibatch_restore(minibatch *u)
{
    u->is.batch = u->state->n;
    u->kind = batch_kinds[u->state->kind];
    if (u->kind == &batch_strata) u->is.batch = strata_allot(u->parts, u->state->n, u->allot);
    minibatch_divide(u);
}

void minibatch_start(minibatch *u, rng random)
{
    *u->state = (minibatch_state){.random = random, .noise = rng_sibling(&random, RNG_NOISE)};
    minibatch_straighten(u);
    minibatch_resize(u, u->kind, u->is.batch);
    memset(u->added_noise, 0, u->target->dim * sizeof *u->added_noise);
    for (size_t i = 0; u->list && i < u->target->data->n; i++) u->list[i] = i;
}

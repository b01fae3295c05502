/* The state that a chain keeps about its batches: started, resized, restored from a
 * checkpoint, or moved to other rows. */
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
    /* a rank may have fewer rows than another: any rank has this many */
    u->state->first %= min_local_rows(u->target->data);
}

void minibatch_scratch(const minibatch *u, double **begin, double **end)
{
    *begin = u->eta;
    *end = u->taylor.p; /* the arrays carved after the scratch begin here */
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
    minibatch_set_quadratic_priors(u);
    minibatch_resize(u, u->kind, u->is.batch);
    memset(u->added_noise, 0, u->target->dim * sizeof *u->added_noise);
    for (size_t i = 0; u->list && i < u->target->data->local_rows; i++) u->list[i] = i;
}

/* Which rows a batch holds: all, a window, or random ones. Rows are without replacement within a
 * batch and batches are independent, as Theorem 1 of the paper needs. */
#include "potential/potential.h"

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

row_range potential_rows(const potential *u, size_t done)
{
    size_t left = u->n - done, total = u->target->data->n;
    size_t n = left < POTENTIAL_BLOCK ? left : POTENTIAL_BLOCK;
    if (u->kind->uses_list) return (row_range){u->list + done, 0, n};
    size_t first = u->state->first + done;
    if (first >= total) first -= total;
    return (row_range){NULL, first, n < total - first ? n : total - first};
}

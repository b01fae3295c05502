/* Kinds of mini-batch: all rows, a window, random rows, or strata. Rows are drawn without
 * replacement within a batch, and batches are independent, as Theorem 1 of the paper needs. */
#include "posterior/minibatch/windows.h"

static void pick_all(minibatch *u)
{
    u->state->first = 0;
}

/* A window of consecutive shuffled rows at a uniform start, wrapping round: without the wrap
 * the rows at the ends would be drawn less often. */
static void pick_window(minibatch *u)
{
    windows_check_misses(u);
    u->state->first = rng_below(&u->state->random, u->target->data->local_rows);
    windows_next(u);
}

/* The permutation is kept from batch to batch: any order is as good as another to draw from. */
static void pick_random(minibatch *u)
{
    rng_choose(&u->state->random, u->target->data->local_rows, u->is.batch, u->list);
}

const batch_kind batch_full = {
    .name = "full",
    .summary = "all of them, no noise",
    .pick = pick_all,
};

const batch_kind batch_window = {
    .name = "window",
    .summary = "consecutive shuffled rows from a random start, wrapping round",
    .pick = pick_window,
    .start = windows_start,
};

const batch_kind batch_random = {
    .name = "random",
    .summary = "random rows without replacement",
    .pick = pick_random,
    .uses_list = true,
};

/* A window in each stratum, wrapping round within it. */
static void pick_strata(minibatch *u)
{
    for (size_t s = 0; s < u->parts->count; s++)
        u->state->start[s] = u->allot[s] < u->parts->size[s]
                                 ? rng_below(&u->state->random, u->parts->size[s])
                                 : 0;
}

const batch_kind batch_strata = {
    .name = "strata",
    .summary = "rows by strata, those that make most noise most often",
    .pick = pick_strata,
};

const batch_kind *const batch_kinds[] = {&batch_full, &batch_window, &batch_random,
                                         &batch_strata, NULL};

/* Fills a part of `size` rows that stand for `from` rows; factor: the number of table rows
 * that each of these represents. */
static batch_part make_part(size_t begin, size_t size, double from, double factor)
{
    double n = (double)size;
    bool noisy = n < from && n >= 2.0;
    double scatter = noisy ? from * (from - n) / (n * (n - 1.0)) : 0.0;
    return (batch_part){.begin = begin,
                        .end = begin + size,
                        .from = from,
                        .each = factor * from / n,
                        .inverse_size = 1.0 / n,
                        .scatter = factor * factor * scatter};
}

void minibatch_divide(minibatch *u)
{
    u->part_count = 1;
    double factor = rows_factor(u->target->data);
    u->part[0] = make_part(0, u->is.batch, (double)u->target->data->local_rows, factor);
    if (u->kind != &batch_strata) return;
    u->part_count = u->parts->count;
    for (size_t i = 0, begin = 0; i < u->part_count; begin += u->allot[i++])
        u->part[i] = make_part(begin, u->allot[i], (double)u->parts->size[i], factor);
}

row_range minibatch_stratum_rows(const minibatch *u, size_t done)
{
    size_t s = 0;
    while (done >= u->allot[s]) done -= u->allot[s++];
    size_t left = u->allot[s] - done, size = u->parts->size[s];
    size_t at = u->state->start[s] + done;
    if (at >= size) at -= size;
    if (left > MINIBATCH_BLOCK) left = MINIBATCH_BLOCK;
    if (left > size - at) left = size - at;
    return (row_range){u->parts->order + u->parts->first[s] + at, 0, left};
}

/* Which rows a batch holds: all, a window, or random ones. Rows are without replacement within a
 * batch and batches are independent, as Theorem 1 of the paper needs. */
#include "potential/potential.h"

#include "data/read_ahead.h"

static void pick_all(potential *u)
{
    u->state->first = 0;
}

/* ---- windows ----
 *
 * The start of window k is number k of a stream of its own, so that windows to come can be asked for
 * ahead: a second copy of the stream runs in front of the first. */

/* Windows between asking for one and using it: on disk enough to keep its queue full. */
static size_t windows_ahead(const potential *u)
{
    const rows *data = u->target->data;
    return data->mapped ? reader_depth(data, u->n) : 1;
}

/* A table on disk may be in memory all the same. So a window in PROBE_EVERY is looked for there; when
 * one is missing, the next ASK_FOR are asked of the disk unseen. Set-up has been through the whole
 * table: when after DECIDE_AT windows some still are missing, it does not fit, and windows are read
 * past the page cache from then on, everybody's. */
enum { PROBE_EVERY = 16, ASK_FOR = 1024, DECIDE_AT = 2048, MISSES_MOST = 10 /* of 128 */ };

static void ask_disk(potential *u, size_t first)
{
    const rows *data = u->target->data;
    if (first % PROBE_EVERY == 0 && !rows_present(data, first)) {
        u->misses++;
        u->asking = ASK_FOR;
    }
    if (u->asking == 0) return;
    u->asking--;
    rows_want(data, first, u->n);
}

/* What a control variate keeps of each row of a small window; the hardware follows long ones. */
static void prefetch_numbers(const potential *u, size_t first)
{
    enum { LINE = 8, ROWS_MOST = 64 };
    const double *arrays[] = {u->cv ? u->cv->base : u->target->data->y,
                              u->cv ? u->cv->ee : NULL};
    if (u->n > ROWS_MOST) return;
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        for (size_t i = 0; arrays[a] && i < u->n + LINE; i += LINE)
            __builtin_prefetch(arrays[a] + first + i);
}

/* A window of a table in memory into the cache. */
static void prefetch(const potential *u, size_t first)
{
    rows_prefetch(u->target->data, first, u->n);
    prefetch_numbers(u, first);
}

/* The one picked next: the windows ahead of a mapped table are too far ahead for the cache. */
static void prefetch_next(const potential *u)
{
    rng next = u->state->random;
    prefetch(u, rng_below(&next, u->target->data->n));
}

static void look_ahead(potential *u)
{
    const rows *data = u->target->data;
    size_t first = rng_below(&u->state->ahead, data->n);
    if (u->reader)
        reader_ask(u->reader, first);
    else if (data->mapped)
        ask_disk(u, first);
    else
        prefetch(u, first);
}

/* From the window to be picked next. */
static void ask_anew(potential *u)
{
    u->state->ahead = u->state->random;
    for (size_t k = windows_ahead(u); k > 0; k--) look_ahead(u);
}

/* Past the page cache, where that can be. What lies beside x stays there: it is small, and a miss
 * would be waited for. */
static void read_directly(potential *u)
{
    if (u->target->model->general) return;
    u->reader = reader_take(u->target->data, u->n);
    if (u->reader) rows_want_beside(u->target->data);
}

void potential_release(potential *u)
{
    if (u->reader) reader_give(u->target->data, u->reader);
    u->reader = NULL;
}

static void start_windows(potential *u)
{
    const rows *data = u->target->data;
    potential_release(u);
    u->windows = u->misses = u->asking = 0;
    if (data->mapped && reader_known(data)) read_directly(u);
    ask_anew(u);
}

static void decide_reading(potential *u)
{
    if (u->misses <= MISSES_MOST || u->reader) return;
    read_directly(u);
    if (u->reader) ask_anew(u);
}

/* A window of consecutive shuffled rows at a uniform start, wrapping round: without the wrap the
 * rows at the ends would be seen less often. */
static void pick_window(potential *u)
{
    const rows *data = u->target->data;
    if (data->mapped && ++u->windows == DECIDE_AT) decide_reading(u);
    u->state->first = rng_below(&u->state->random, data->n);
    if (u->reader) reader_next(u->reader);
    look_ahead(u);
    if (data->mapped && !u->reader && u->asking == 0) prefetch_next(u);
}

const rows *potential_data(const potential *u, row_range *r)
{
    return u->reader ? reader_rows(u->reader, u->target->data, r) : u->target->data;
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
    .start = start_windows,
};

const potential_kind potential_random = {
    .name = "random",
    .summary = "random rows without replacement",
    .pick = pick_random,
    .uses_list = true,
};

/* A window in each stratum, wrapping round within it. */
static void pick_strata(potential *u)
{
    for (size_t s = 0; s < u->parts->count; s++)
        u->state->start[s] = u->allot[s] < u->parts->size[s]
                                 ? rng_below(&u->state->random, u->parts->size[s])
                                 : 0;
}

const potential_kind potential_strata = {
    .name = "strata",
    .summary = "rows by strata, those that make most noise most often",
    .pick = pick_strata,
};

const potential_kind *const potential_kinds[] = {&potential_full, &potential_window,
                                                 &potential_random, &potential_strata, NULL};

static batch_part part_of(size_t begin, size_t size, double from)
{
    double n = (double)size;
    bool noisy = n < from && n >= 2.0;
    return (batch_part){.begin = begin,
                        .end = begin + size,
                        .from = from,
                        .each = from / n,
                        .share = 1.0 / n,
                        .scatter = noisy ? from * (from - n) / (n * (n - 1.0)) : 0.0};
}

void potential_divide(potential *u)
{
    u->part_count = 1;
    u->part[0] = part_of(0, u->n, (double)u->target->data->n);
    if (u->kind != &potential_strata) return;
    u->part_count = u->parts->count;
    for (size_t i = 0, begin = 0; i < u->part_count; begin += u->allot[i++])
        u->part[i] = part_of(begin, u->allot[i], (double)u->parts->size[i]);
}

row_range potential_stratum_rows(const potential *u, size_t done)
{
    size_t s = 0;
    while (done >= u->allot[s]) done -= u->allot[s++];
    size_t left = u->allot[s] - done, size = u->parts->size[s];
    size_t at = u->state->start[s] + done;
    if (at >= size) at -= size;
    if (left > POTENTIAL_BLOCK) left = POTENTIAL_BLOCK;
    if (left > size - at) left = size - at;
    return (row_range){u->parts->order + u->parts->first[s] + at, 0, left};
}

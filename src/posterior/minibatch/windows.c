/* Prefetching of future windows: from memory into the CPU cache, and from disk into memory.
 *
 * The start of window k is number k of a random stream of its own, so future windows are
 * known: a second copy of the stream runs ahead of the first. */
#include "posterior/minibatch/windows.h"

#include "posterior/minibatch/row_terms.h"
#include "table/read_ahead.h"

/* Windows between requesting one and using it: on disk enough to keep its queue full. */
static size_t windows_ahead(const minibatch *u)
{
    const rows *data = u->target->data;
    return data->storage.mapped ? reader_depth(data, u->is.batch) : 1;
}

/* A mapped table may be in memory all the same. So one window in PROBE_EVERY is tested; when
 * one is missing, the next REQUEST_WINDOWS are requested from disk without a test. Set-up
 * has read the whole table: if some windows are still missing after DECIDE_AT of them, the
 * table does not fit, and from then on all chains bypass the page cache. */
enum {
    PROBE_EVERY = 16,
    REQUEST_WINDOWS = 1024,
    DECIDE_AT = 2048,
    MISSES_MAX = 10 /* of 128 */
};

/* Requests a window of a mapped table, unconditionally for a while after a miss. */
static void request_from_disk(minibatch *u, size_t first)
{
    const rows *data = u->target->data;
    if (first % PROBE_EVERY == 0 && !rows_present(data, first)) {
        u->misses++;
        u->requests_left = REQUEST_WINDOWS;
    }
    if (u->requests_left == 0) return;
    u->requests_left--;
    rows_will_need(data, first, u->is.batch);
}

/* Prefetches the stored numbers of each row of a small window; the hardware follows long
 * ones. */
static void prefetch_numbers(const minibatch *u, size_t first)
{
    enum { LINE = 8, ROWS_MAX = 64 };
    const double *arrays[] = {u->cv ? u->cv->base : u->target->data->y,
                              u->cv ? u->cv->ee : NULL};
    if (u->is.batch > ROWS_MAX) return;
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        for (size_t i = 0; arrays[a] && i < u->is.batch + LINE; i += LINE)
            __builtin_prefetch(arrays[a] + first + i);
}

/* Prefetches a window of a table in memory. */
static void prefetch(const minibatch *u, size_t first)
{
    rows_prefetch(u->target->data, first, u->is.batch);
    prefetch_numbers(u, first);
}

/* Prefetches the window that is picked next: those requested from disk are too far ahead for
 * the cache. */
static void prefetch_next(const minibatch *u)
{
    rng next = u->state->random;
    prefetch(u, rng_below(&next, u->target->data->local_rows));
}

/* Requests the next future window by the means that suits the table. */
static void read_next_ahead(minibatch *u)
{
    const rows *data = u->target->data;
    size_t first = rng_below(&u->state->ahead, data->local_rows);
    if (u->reader)
        reader_request(u->reader, first);
    else if (data->storage.mapped)
        request_from_disk(u, first);
    else
        prefetch(u, first);
}

/* Restarts at the window to be picked next. */
static void restart_read_ahead(minibatch *u)
{
    u->state->ahead = u->state->random;
    for (size_t k = windows_ahead(u); k > 0; k--) read_next_ahead(u);
}

/* Starts reading past the page cache, if possible. The arrays other than x stay mapped: they
 * are small, and a miss would have to be waited for. */
static void read_directly(minibatch *u)
{
    if (!u->terms->by_products) return;
    u->reader = reader_take(u->target->data, u->is.batch);
    if (u->reader) targets_will_need(u->target->data);
}

void minibatch_release(minibatch *u)
{
    if (u->reader) reader_give(u->target->data, u->reader);
    u->reader = NULL;
    gathered_close(u->gathered);
    u->gathered = NULL;
}

void windows_start(minibatch *u)
{
    const rows *data = u->target->data;
    minibatch_release(u);
    u->windows = u->misses = u->requests_left = 0;
    if (data->storage.mapped && reader_known(data)) read_directly(u);
    if (u->terms->by_products)
        u->gathered = gathered_open(data, u->is.batch < u->block ? u->is.batch : u->block);
    restart_read_ahead(u);
}

/* Bypasses the page cache if too many windows were missing. */
static void decide_reading(minibatch *u)
{
    if (u->misses <= MISSES_MAX || u->reader) return;
    read_directly(u);
    if (u->reader) restart_read_ahead(u);
}

void windows_check_misses(minibatch *u)
{
    if (u->target->data->storage.mapped && ++u->windows == DECIDE_AT) decide_reading(u);
}

void windows_next(minibatch *u)
{
    if (u->reader) reader_next(u->reader);
    read_next_ahead(u);
    if (u->target->data->storage.mapped && !u->reader && u->requests_left == 0)
        prefetch_next(u);
}

const rows *minibatch_data(const minibatch *u, row_range *r)
{
    if (u->gathered) return gathered_take(u->gathered, u->target->data, r);
    return u->reader ? reader_rows(u->reader, u->target->data, r) : u->target->data;
}

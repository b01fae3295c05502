/* Batches: kinds, reading ahead, and the state that a chain keeps about them.
 *
 * Kinds of mini-batch: all rows, a window, random rows, or strata. Rows are drawn without
 * replacement within a batch, and batches are independent, as Theorem 1 of the paper needs. */
#include "posterior/minibatch/minibatch.h"
#include "posterior/minibatch/row_terms.h"
#include "table/read_ahead.h"

#include <float.h>
#include <string.h>

/* ---- reading ahead of windows ----
 *
 * Prefetching of future windows: from memory into the CPU cache, and from disk into memory.
 *
 * The start of window k is number k of a random stream of its own, so future windows are
 * known: a second copy of the stream runs ahead of the first. */

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

/* Call when batches become windows. */
static void windows_start(minibatch *u)
{
    const rows *data = u->target->data;
    minibatch_release(u);
    u->windows = u->misses = u->requests_left = 0;
    if (data->storage.mapped && reader_known(data)) read_directly(u);
    if (u->terms->by_products)
        u->gathered = gathered_open(data, u->is.batch < u->block ? u->is.batch : u->block);
    restart_read_ahead(u);
}

/* Call before a window is picked: decides whether to bypass the page cache. */
static void windows_check_misses(minibatch *u)
{
    if (!u->target->data->storage.mapped || ++u->windows != DECIDE_AT) return;
    if (u->misses <= MISSES_MAX || u->reader) return;
    read_directly(u); /* too many windows were missing */
    if (u->reader) restart_read_ahead(u);
}

/* Call after a window was picked: requests one more. */
static void windows_next(minibatch *u)
{
    if (u->reader) reader_next(u->reader);
    read_next_ahead(u);
    if (u->target->data->storage.mapped && !u->reader && u->requests_left == 0) {
        /* windows requested from disk are too far ahead for the cache */
        rng next = u->state->random;
        prefetch(u, rng_below(&next, u->target->data->local_rows));
    }
}

const rows *minibatch_data(const minibatch *u, row_range *r)
{
    if (u->gathered) return gathered_take(u->gathered, u->target->data, r);
    return u->reader ? reader_rows(u->reader, u->target->data, r) : u->target->data;
}

/* ---- kinds ---- */

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

/* ---- state ----
 *
 * The state that a chain keeps about its batches: started, resized, restored from a
 * checkpoint, or moved to other rows. */

void minibatch_resize(minibatch *u, const batch_kind *kind, size_t n)
{
    u->state->n = n;
    u->state->residuals_kept = u->state->line_reversed = false;
    for (u->state->kind = 0; batch_kinds[u->state->kind] != kind;) u->state->kind++;
    minibatch_restore(u);
    if (kind->start) kind->start(u);
}

void minibatch_move(minibatch *u)
{
    u->state->residuals_kept = u->state->line_reversed = false;
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

/* ---- checks of a restored state ----
 *
 * Checks the state of a potential that was restored from a file. The line is set anew before
 * the next observation, but the batch of the last observation is evaluated again after a
 * bounce. */

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
    INSPECT_COUNT(x, s->at_point, 1);
    INSPECT_COUNT(x, s->residuals_kept, 1);
    INSPECT_COUNT(x, s->line_reversed, 1);
    if (x->wrong[0]) return;
    inspect_that(x, "a batch without rows", s->n > 0);
    inspect_that(x, "batches of a kind this run has not", possible(u, batch_kinds[s->kind]));
    if (x->wrong[0]) return;
    inspect_that(x, "residuals of a batch that stores none", !s->residuals_kept || can_keep(u));
    inspect_that(x, "a reversed line without stored residuals",
                 !s->line_reversed || s->residuals_kept);
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
        inspect_made(x, "the centre of a prior", &centred->centre, 1);
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
    inspect_made(x, "the centre of a prior", u->centre, d);
    inspect_made(x, "the curvature of a prior", u->curvature, d);
    inspect_centred_priors(u, x);
    inspect_same(x, "the list of curved priors", u->curved, d * sizeof *u->curved);
    inspect_finite(x, "the noise of a gradient", u->added_noise, d);
    if (u->state->residuals_kept && !x->wrong[0])
        inspect_finite(x, "a row's residual", u->out, batch_rows(u));
}

/* Sums by parts. Threads compute parts as they become free; totals are merged in the order of
 * the parts. A part that is ready before its turn waits in a slot, of which there are two per
 * thread.
 *
 * Ranks compute their parts at the same time and store the totals. Then the total goes from
 * rank to rank, each merging its parts, and from the last to all. A part that begins on one
 * rank and ends on another is sent along unfinished; where borders are between parts there is
 * none. Chains in lockstep use `hurried`: the ranks' totals are gathered in one step. */
#include "table/row_sums.h"
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "core/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS      2             /* per thread, if there are several */
#define SLOT_BYTES (256.0 * 1e6) /* of all slots together: for wide sums fewer threads work */
#define KEPT_BYTES                                                                             \
    (64.0 * 1e6) /* of a rank's stored parts; larger ones are computed when it is
             their turn */

typedef struct {
    const rows *data;
    const row_sum *what;
    double *total;
    double *scratch; /* wide doubles per thread */
    double *parts;   /* width doubles per slot */
    bool *ready;     /* per slot */
    size_t wide, slots;
    size_t from;          /* first row of the first part */
    bool continues_total; /* the first part is the table's first, which continues the total */
    double *kept;         /* stored parts, not merged yet; NULL: parts are merged at once */
    size_t merged;        /* parts merged so far; protected by the lock, like `ready` */
    pthread_mutex_t lock;
    pthread_cond_t slot_free; /* a slot became free */
} sum_job;

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void begin_part(const sum_job *s, size_t index, double *part)
{
    const double *from = index == 0 && s->continues_total ? s->total : s->what->begin;
    for (size_t j = 0; j < s->what->width; j++) part[j] = from ? from[j] : 0.0;
}

static void merge(const row_sum *what, bool first, const double *part, double *total)
{
    if (first)
        memcpy(total, part, what->width * sizeof *part);
    else if (what->merge)
        what->merge(total, part);
    else
        for (size_t j = 0; j < what->width; j++) total[j] += part[j];
}

static size_t part_rows(const rows *data)
{
    return data->sum_part_rows > 0 ? data->sum_part_rows : PART_ROWS;
}

/* Returns whether the stop flag is set. Ranks ignore it, because one of them cannot leave
 * alone. */
static bool is_stopped(const rows *data)
{
    const atomic_bool *stopped =
        data->workers && !data->partition ? data->workers->stopped : NULL;
    return stopped && atomic_load_explicit(stopped, memory_order_relaxed);
}

static void add_row_blocks(const sum_job *s, size_t first, size_t end, double *scratch,
                           double *total)
{
    size_t begin = first;
    for (size_t n; first < end && !(s->what->any && total[0] > 0.0); first += n) {
        n = min_size(end - first, ROW_BLOCK);
        s->what->add(s->what->self, rows_from(first, n), scratch, total);
    }
    struct row_workers *workers = s->what->uncounted ? NULL : s->data->workers;
    if (workers) atomic_fetch_add(&workers->visited, first - begin);
    if (workers && workers->shown) atomic_fetch_add(workers->shown, first - begin);
}

static void add_part(const sum_job *s, size_t index, double *scratch, double *total)
{
    size_t part = part_rows(s->data), first = s->from + index * part;
    if (is_stopped(s->data)) return;
    add_row_blocks(s, first, min_size(s->data->local_rows, first + part), scratch, total);
}

/* Marks a part as ready and merges all parts whose turn it is. */
static void submit_part(sum_job *s, size_t index)
{
    pthread_mutex_lock(&s->lock);
    s->ready[index % s->slots] = true;
    for (size_t at; s->ready[at = s->merged % s->slots]; s->merged++) {
        s->ready[at] = false;
        const double *part = s->parts + at * s->what->width;
        size_t width = s->what->width;
        if (s->kept)
            memcpy(s->kept + s->merged * width, part, width * sizeof *part);
        else
            merge(s->what, s->merged == 0 && s->continues_total, part, s->total);
    }
    pthread_cond_broadcast(&s->slot_free);
    pthread_mutex_unlock(&s->lock);
}

static void make_part(void *self, unsigned worker, size_t index)
{
    sum_job *s = self;
    double *part = s->parts + index % s->slots * s->what->width;
    if (s->what->width > 0) {
        pthread_mutex_lock(&s->lock);
        while (index >= s->merged + s->slots) pthread_cond_wait(&s->slot_free, &s->lock);
        pthread_mutex_unlock(&s->lock);
    }
    begin_part(s, index, part);
    add_part(s, index, s->scratch + worker * s->wide, part);
    if (s->what->width > 0) submit_part(s, index);
}

static sbps_status run_parts(sum_job *s, unsigned threads, size_t parts, sbps_error *err)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->slot_free, NULL);
    sbps_status status = workers_run(threads, parts, make_part, s, err);
    pthread_cond_destroy(&s->slot_free);
    pthread_mutex_destroy(&s->lock);
    return status;
}

static unsigned workers_for(const rows *data, const row_sum *what, size_t parts)
{
    double limit = SLOT_BYTES / (double)(SLOTS * sizeof(double) * (what->width + 1));
    size_t threads = data->workers ? min_size(data->workers->threads, parts) : 1;
    if ((double)threads > limit) threads = (size_t)limit;
    return threads > 1 ? (unsigned)threads : 1;
}

/* Computes `parts` parts from row s->from on. */
static sbps_status make_parts(sum_job *s, size_t parts, sbps_error *err)
{
    unsigned threads = workers_for(s->data, s->what, parts);
    s->slots = threads > 1 ? SLOTS * threads : 1;
    s->merged = 0;
    s->wide = (s->what->scratch + 7) / 8 * 8;
    s->scratch = new_doubles(threads * s->wide + s->slots * s->what->width + 1);
    s->ready = calloc(s->slots, sizeof *s->ready);
    s->parts = s->scratch + threads * s->wide;
    sbps_status status =
        s->scratch && s->ready ? run_parts(s, threads, parts, err) : fail_memory(err);
    free(s->scratch);
    free(s->ready);
    return status;
}

/* ---- over ranks ---- */

/* Sent from rank to rank: the total, and a part that is not complete yet. */
typedef struct {
    double *total, *part; /* consecutive */
    size_t bytes;         /* of both */
} passed;

/* A rank's rows: the rest of a part that the rank before began; then parts of its own; then the
 * beginning of a part that the next rank continues. */
typedef struct {
    size_t head, whole, tail; /* rows, parts, rows */
    bool closes;              /* `head` completes the part that it belongs to */
    bool last;                /* the table ends here, and so does the part in progress */
} local_parts;

static local_parts split_parts(const rows *data)
{
    size_t part = part_rows(data), first = data->partition->first_row;
    local_parts own = {.head = min_size(data->local_rows, (part - first % part) % part)};
    own.last = first + data->local_rows == data->partition->total_rows;
    own.closes = own.head > 0 && ((first + own.head) % part == 0 || own.last);
    own.whole = (data->local_rows - own.head) / part;
    own.tail = data->local_rows - own.head - own.whole * part;
    return own;
}

/* Adds rows of a part that begins or ends on another rank; in the calling thread. */
static sbps_status add_piece(const sum_job *s, size_t first, size_t end, double *total,
                             sbps_error *err)
{
    double *scratch = new_doubles((s->what->scratch + 7) / 8 * 8 + 1);
    if (!scratch) return fail_memory(err);
    add_row_blocks(s, first, end, scratch, total);
    free(scratch);
    return SBPS_OK;
}

static sbps_status merge_own(sum_job *s, const local_parts *own, const passed *p,
                             sbps_error *err)
{
    size_t width = s->what->width, part = part_rows(s->data),
           at = s->data->partition->first_row;
    sbps_status status = SBPS_OK;
    if (own->head > 0) status = add_piece(s, 0, own->head, p->part, err);
    if (own->closes) merge(s->what, at < part, p->part, p->total);
    if (!s->kept) { /* they were too large to be stored */
        s->total = p->total;
        if (status == SBPS_OK) status = make_parts(s, own->whole, err);
    }
    for (size_t i = 0; s->kept && i < own->whole; i++)
        merge(s->what, i == 0 && s->continues_total, s->kept + i * width, p->total);
    if (own->tail == 0 || status != SBPS_OK) return status;
    begin_part(s, own->whole,
               p->part); /* for the table's first part, s->total is the total received */
    status = add_piece(s, s->data->local_rows - own->tail, s->data->local_rows, p->part, err);
    if (own->last) merge(s->what, own->whole == 0 && s->continues_total, p->part, p->total);
    return status;
}

/* Computes this rank's parts, stores them if they fit, and merges them once the total
 * arrives. */
static sbps_status add_local(sum_job *s, const passed *p, double *total, sbps_error *err)
{
    const rows *data = s->data;
    ranks *among = data->partition->among;
    local_parts own = split_parts(data);
    double kept = (double)own.whole * (double)s->what->width * sizeof *total;
    sbps_status status = SBPS_OK;
    s->from = own.head;
    s->continues_total = data->partition->first_row == 0;
    s->total = total;
    if (kept <= KEPT_BYTES) s->kept = new_doubles(own.whole * s->what->width + 1);
    if (s->kept) status = make_parts(s, own.whole, err);
    if (among->rank == 0)
        memcpy(p->total, total, s->what->width * sizeof *total);
    else
        ranks_receive(among, among->rank - 1, p->total, p->bytes);
    if (status == SBPS_OK) status = merge_own(s, &own, p, err);
    free(s->kept);
    if (among->rank + 1 < among->size) ranks_send(among, among->rank + 1, p->total, p->bytes);
    ranks_broadcast(among, among->size - 1, p->total, s->what->width * sizeof *total);
    memcpy(total, p->total, s->what->width * sizeof *total);
    return status;
}

/* Sums whose ranks are added in their order, in one step. */
static sbps_status hurried_sums(sum_job *s, double *total, sbps_error *err)
{
    ranks *among = s->data->partition->among;
    size_t width = s->what->width, part = part_rows(s->data);
    const double *begin = among->rank == 0 ? total : s->what->begin;
    double *all = new_doubles((among->size + 1) * width), *own = all + among->size * width;
    if (!all) return fail_memory(err);
    for (size_t j = 0; begin && j < width; j++) own[j] = begin[j];
    s->total = own;
    s->continues_total = true;
    sbps_status status = make_parts(s, (s->data->local_rows + part - 1) / part, err);
    ranks_gather(among, own, all, width * sizeof *own);
    for (size_t i = 0; i < among->size; i++) merge(s->what, i == 0, all + i * width, total);
    free(all);
    return status;
}

static sbps_status distributed_sums(const rows *data, const row_sum *what, double *total,
                                    sbps_error *err)
{
    sum_job s = {.data = data, .what = what};
    if (data->workers && data->workers->hurried) return hurried_sums(&s, total, err);
    passed p = {.bytes = 2 * what->width * sizeof *total};
    p.total = new_doubles(2 * what->width);
    if (!p.total) return fail_memory(err);
    p.part = p.total + what->width;
    sbps_status status = add_local(&s, &p, total, err);
    free(p.total);
    return status;
}

sbps_status row_sums(const rows *data, const row_sum *what, double *total, sbps_error *err)
{
    size_t part = part_rows(data);
    if (data->partition && what->width > 0) return distributed_sums(data, what, total, err);
    sum_job s = {.data = data, .what = what, .total = total, .continues_total = true};
    sbps_status status = make_parts(&s, (data->local_rows + part - 1) / part, err);
    if (status != SBPS_OK || !is_stopped(data)) return status;
    return fail(err, SBPS_INTERRUPTED, "set-up stopped on request");
}

/* Parts are made by whoever comes first and merged in their order: a part that is ready before its turn
 * waits in a slot, of which there are two a worker. */
#include "data/row_sums.h"
#include "base/memory.h"
#include "base/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS      2             /* a worker, of several */
#define SLOT_BYTES (256.0 * 1e6) /* that all of them may take: with large sums fewer work */

typedef struct {
    const rows *data;
    const row_sum *what;
    double *total;
    double *scratch; /* `wide` doubles a worker */
    double *parts;   /* `width` doubles a slot */
    bool *ready;     /* a slot */
    size_t wide, slots;
    size_t merged; /* parts; with those behind `ready` under the lock */
    pthread_mutex_t lock;
    pthread_cond_t room; /* a slot became free */
} sum_job;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The first part goes on from the total as it was. */
static void begin(const sum_job *s, size_t index, double *part)
{
    const double *from = index == 0 ? s->total : s->what->begin;
    for (size_t j = 0; j < s->what->width; j++) part[j] = from ? from[j] : 0.0;
}

static void merge(const sum_job *s, size_t index, const double *part)
{
    size_t width = s->what->width;
    if (index == 0)
        memcpy(s->total, part, width * sizeof *part);
    else if (s->what->merge)
        s->what->merge(s->total, part);
    else
        for (size_t j = 0; j < width; j++) s->total[j] += part[j];
}

static size_t part_rows(const rows *data)
{
    return data->part > 0 ? data->part : PART_ROWS;
}

static void add_part(const sum_job *s, size_t index, double *scratch, double *total)
{
    size_t part = part_rows(s->data);
    size_t first = index * part, end = least(s->data->n, first + part);
    size_t begin = first;
    for (size_t n; first < end && !(s->what->any && total[0] > 0.0); first += n) {
        n = least(end - first, ROW_BLOCK);
        s->what->add(s->what->self, rows_from(first, n), scratch, total);
    }
    struct row_crew *crew = s->what->beside ? NULL : s->data->crew;
    if (crew) atomic_fetch_add(&crew->visited, first - begin);
    if (crew && crew->shown) atomic_fetch_add(crew->shown, first - begin);
}

static void wait_for_slot(sum_job *s, size_t index)
{
    pthread_mutex_lock(&s->lock);
    while (index >= s->merged + s->slots) pthread_cond_wait(&s->room, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

/* Merges all whose turn it is. */
static void hand_in(sum_job *s, size_t index)
{
    pthread_mutex_lock(&s->lock);
    s->ready[index % s->slots] = true;
    for (size_t at; s->ready[at = s->merged % s->slots]; s->merged++) {
        s->ready[at] = false;
        merge(s, s->merged, s->parts + at * s->what->width);
    }
    pthread_cond_broadcast(&s->room);
    pthread_mutex_unlock(&s->lock);
}

static void make_part(void *self, unsigned worker, size_t index)
{
    sum_job *s = self;
    double *part = s->parts + index % s->slots * s->what->width;
    if (s->what->width > 0) wait_for_slot(s, index);
    begin(s, index, part);
    add_part(s, index, s->scratch + worker * s->wide, part);
    if (s->what->width > 0) hand_in(s, index);
}

static sbps_status share_out(sum_job *s, unsigned threads, size_t parts, sbps_error *err)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->room, NULL);
    sbps_status status = workers_run(threads, parts, make_part, s, err);
    pthread_cond_destroy(&s->room);
    pthread_mutex_destroy(&s->lock);
    return status;
}

static unsigned workers_for(const rows *data, const row_sum *what, size_t parts)
{
    double most = SLOT_BYTES / (double)(SLOTS * sizeof(double) * (what->width + 1));
    size_t threads = data->crew ? least(data->crew->threads, parts) : 1;
    if ((double)threads > most) threads = (size_t)most;
    return threads > 1 ? (unsigned)threads : 1;
}

sbps_status row_sums(const rows *data, const row_sum *what, double *total, sbps_error *err)
{
    size_t part = part_rows(data), parts = (data->n + part - 1) / part;
    unsigned threads = workers_for(data, what, parts);
    sum_job s = {.data = data, .what = what, .total = total};
    s.slots = threads > 1 ? SLOTS * threads : 1;
    s.wide = (what->scratch + 7) / 8 * 8;
    s.scratch = new_doubles(threads * s.wide + s.slots * what->width + 1);
    s.ready = calloc(s.slots, sizeof *s.ready);
    s.parts = s.scratch + threads * s.wide;
    sbps_status status =
        s.scratch && s.ready ? share_out(&s, threads, parts, err) : fail_memory(err);
    free(s.scratch);
    free(s.ready);
    return status;
}

/* Read-ahead. A mapped table is advised as random, because otherwise every page fault would
 * read megabytes around it. A pass over all rows therefore asks for the next ones itself
 * (rows_sweep).
 *
 * A window reader reads with O_DIRECT through the kernel's asynchronous interface (io_submit)
 * into a ring of buffers. Nothing is mapped, so that no mapping has to be removed from other
 * processors, which takes time when a mapped table is larger than memory. A window that could
 * not be read is taken from the mapping instead: slower, with the same numbers. */
#include "table/read_ahead.h"

#include "core/memory.h"
#include "table/mapped_table.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SWEEP_BYTES ((size_t)4 << 20) /* requested at a time, and as far ahead */
#define LINES_MAX   16 /* cache lines of a window; the hardware prefetches the rest */

typedef struct {
    const unsigned char *at;
    size_t bytes;
} span;

/* Returns the bytes of dense rows. Like those below, they end at the end of the table; a window
 * that wraps around is rare. */
static span dense_span(const rows *data, size_t first, size_t n)
{
    size_t row = rows_stride_bytes(data);
    if (n > data->local_rows - first) n = data->local_rows - first;
    const void *x = data->storage.x ? (const void *)data->storage.x : data->storage.x_float;
    return x ? (span){(const unsigned char *)x + first * row, n * row} : (span){0};
}

/* Returns the bytes of entries of sparse rows in one of their arrays. */
static span entries_span(const rows *data, const void *array, size_t each, size_t first,
                         size_t n)
{
    if (n > data->local_rows - first) n = data->local_rows - first;
    size_t begin = data->storage.start[first], count = data->storage.start[first + n] - begin;
    if (!array || count == 0) return (span){0};
    return (span){(const unsigned char *)array + begin * each, count * each};
}

static span columns_span(const rows *data, size_t first, size_t n)
{
    return entries_span(data, data->storage.column, sizeof *data->storage.column, first, n);
}

void rows_prefetch(const rows *data, size_t first, size_t n)
{
    if (data->storage.start) return; /* finding where they begin would itself wait for memory */
    span s = dense_span(data, first, n);
    size_t bytes = s.bytes < LINES_MAX * CACHE_LINE ? s.bytes : LINES_MAX * CACHE_LINE;
    for (size_t at = 0; at < bytes; at += CACHE_LINE) __builtin_prefetch(s.at + at);
}

bool rows_present(const rows *data, size_t first)
{
    char byte;
    span s = data->storage.start ? columns_span(data, first, 1) : dense_span(data, first, 1);
    const struct table_file *f = data->storage.mapped;
    struct iovec to = {&byte, 1};
    if (s.bytes == 0) return true;
    ssize_t got = preadv2(f->file, &to, 1, s.at - f->base, RWF_NOWAIT);
    return got >= 0 || errno != EAGAIN;
}

/* Asks the kernel to read the pages that hold [at, at + bytes). */
static void advise(const void *at, size_t bytes)
{
    uintptr_t begin = (uintptr_t)at / TABLE_PAGE * TABLE_PAGE;
    uintptr_t end = (uintptr_t)at + bytes;
    if (bytes == 0) return;
    int kept = errno;
    madvise((void *)begin, end - begin, MADV_WILLNEED); /* only a hint: failure is harmless */
    errno = kept;
}

static void advise_span(span s)
{
    advise(s.at, s.bytes);
}

static void advise_vectors(const rows *data, size_t first, size_t n)
{
    const double *const vectors[] = {data->y, data->weight, data->offset};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (vectors[i]) advise(vectors[i] + first, n * sizeof **vectors);
    if (data->storage.start)
        advise(data->storage.start + first, (n + 1) * sizeof *data->storage.start);
}

/* y too: it is used more often than x and mostly in memory, but a page fault would wait. */
void rows_will_need(const rows *data, size_t first, size_t n)
{
    if (data->storage.start) {
        advise_span(columns_span(data, first, n));
        advise_span(
            entries_span(data, data->storage.value, sizeof *data->storage.value, first, n));
    } else
        advise_span(dense_span(data, first, n));
    advise_vectors(data, first, n < data->local_rows - first ? n : data->local_rows - first);
}

void targets_will_need(const rows *data)
{
    advise_vectors(data, 0, data->local_rows);
}

/* A sweep requests SWEEP_BYTES at a time, one such part ahead. */
void rows_sweep(const rows *data, size_t first, size_t n)
{
    size_t per_part = SWEEP_BYTES / (rows_row_bytes(data) + 1) + 1;
    size_t part = first / per_part, next = (first + n) / per_part;
    if (first > 0 && part == next) return;
    size_t from = first > 0 ? (next + 1) * per_part : 0, count = (first > 0 ? 1 : 2) * per_part;
    if (from < data->local_rows) rows_will_need(data, from, count);
}

/* ---- windows past the page cache ---- */

#define DEPTH_MAX      ((size_t)256) /* windows in flight: more than disks work on at a time */
#define RING_BYTES_MAX ((size_t)8 << 20) /* of a ring; larger windows are then fewer */
#define PARTS          ((size_t)4)       /* submissions per ring: fewer system calls */
#define SUBMIT         (DEPTH_MAX / PARTS)

typedef struct {
    size_t first, n; /* rows */
    size_t skew;     /* bytes of the buffer before the first row */
    bool in_flight, good;
} window;

struct row_reader {
    row_reader *next; /* in the table's list */
    bool taken;
    int file;
    aio_context_t context;
    size_t n, row, buffer_bytes; /* rows per window; bytes per row; bytes per buffer */
    uint64_t block;              /* alignment of reads, bytes */
    uint64_t begin;              /* of x in the file, bytes */
    size_t total;                /* rows of the table */
    size_t slots;                /* windows in flight, and the one in use */
    size_t requested, used;      /* windows so far; they use the slots in turn */
    size_t waiting;              /* requested and not submitted yet */
    struct iocb *request;
    window *slot;
    unsigned char *buffer;
    rows view; /* a view of the table whose x is the window in use */
};

struct reader_list {
    pthread_mutex_t lock;
    row_reader *first;
};

size_t reader_depth(const rows *data, size_t n)
{
    size_t depth = RING_BYTES_MAX / (n * rows_row_bytes(data) + TABLE_PAGE);
    if (depth > DEPTH_MAX) return DEPTH_MAX;
    return depth > 1 ? depth : 1;
}

/* Submits the requests that are waiting. */
static void submit_requests(row_reader *r)
{
    struct iocb *list[SUBMIT];
    while (r->waiting > 0) {
        size_t count = r->waiting < SUBMIT ? r->waiting : SUBMIT;
        for (size_t i = 0; i < count; i++)
            list[i] = &r->request[(r->requested - r->waiting + i) % r->slots];
        long done = syscall(SYS_io_submit, r->context, (long)count, list);
        if (done < 0 && errno == EAGAIN) continue;
        if (done <= 0) { /* the mapping is read instead */
            r->slot[(r->requested - r->waiting) % r->slots].in_flight = false;
            done = 1;
        }
        r->waiting -= (size_t)done;
    }
}

/* Waits for at least one window and marks those that have arrived. */
static void collect_windows(row_reader *r)
{
    struct io_event events[32];
    long got = syscall(SYS_io_getevents, r->context, 1L, 32L, events, NULL);
    for (long i = 0; i < got; i++) {
        window *w = &r->slot[events[i].data];
        w->in_flight = false;
        w->good = events[i].res >= (int64_t)(w->skew + w->n * r->row);
    }
}

void reader_request(row_reader *r, size_t first)
{
    size_t at = r->requested++ % r->slots,
           n = r->n < r->total - first ? r->n : r->total - first;
    uint64_t from = r->begin + first * r->row, aligned = from / r->block * r->block;
    uint64_t size = (from - aligned + n * r->row + r->block - 1) / r->block * r->block;
    r->slot[at] = (window){first, n, from - aligned, true, false};
    r->request[at] = (struct iocb){.aio_data = at,
                                   .aio_lio_opcode = IOCB_CMD_PREAD,
                                   .aio_fildes = (uint32_t)r->file,
                                   .aio_buf = (uintptr_t)(r->buffer + at * r->buffer_bytes),
                                   .aio_nbytes = size,
                                   .aio_offset = (int64_t)aligned};
    if (++r->waiting * PARTS >= r->slots - 1) submit_requests(r);
}

static void show_window(row_reader *r, const window *w, size_t at)
{
    void *x = r->buffer + at * r->buffer_bytes + w->skew;
    r->view.local_rows = w->n;
    if (r->view.storage.x_float)
        r->view.storage.x_float = x;
    else
        r->view.storage.x = x;
}

void reader_next(row_reader *r)
{
    size_t at = r->used++ % r->slots;
    const window *w = &r->slot[at];
    if (w->in_flight && r->requested - r->used < r->waiting) submit_requests(r);
    while (w->in_flight) collect_windows(r);
    if (w->good) show_window(r, w, at);
}

const rows *reader_rows(const row_reader *r, const rows *data, row_range *range)
{
    const window *w = &r->slot[(r->used + r->slots - 1) % r->slots];
    if (range->list || !w->good || range->first < w->first ||
        range->first + range->n > w->first + w->n)
        return data;
    range->first -= w->first;
    return &r->view;
}

/* ---- list of readers ---- */

/* Waits for all windows in flight; the reader can be used again. */
static void drain(row_reader *r)
{
    submit_requests(r);
    for (size_t i = 0; i < r->slots; i++) {
        while (r->slot[i].in_flight) collect_windows(r);
        r->slot[i].good = false;
    }
    r->requested = r->used = 0;
}

static void reader_destroy(row_reader *r)
{
    if (!r) return;
    if (r->context) {
        drain(r);
        syscall(SYS_io_destroy, r->context);
    }
    if (r->file >= 0) close(r->file);
    free(r->request);
    free(r->slot);
    free(r->buffer);
    free(r);
}

/* Returns the alignment of direct reads: less than a page where the kernel reports it. */
static uint64_t io_alignment(int file)
{
#ifdef STATX_DIOALIGN
    struct statx about;
    if (statx(file, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) == 0 &&
        about.stx_dio_offset_align > 0 && TABLE_PAGE % about.stx_dio_offset_align == 0 &&
        about.stx_dio_mem_align <= about.stx_dio_offset_align)
        return about.stx_dio_offset_align;
#endif
    return TABLE_PAGE;
}

static row_reader *reader_create(const rows *data, size_t n)
{
    char path[64];
    const struct table_file *f = data->storage.mapped;
    row_reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    const void *x = data->storage.x ? (const void *)data->storage.x : data->storage.x_float;
    *r = (row_reader){
        .n = n, .total = data->local_rows, .view = *data, .row = rows_stride_bytes(data)};
    r->view.storage.mapped = NULL;
    r->slots = reader_depth(data, n) + 1;
    r->begin = (uint64_t)((const unsigned char *)x - f->base);
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->file);
    r->file = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    r->block = io_alignment(r->file);
    r->buffer_bytes = ((n * r->row + r->block - 1) / r->block + 1) * r->block;
    r->request = calloc(r->slots, sizeof *r->request);
    r->slot = calloc(r->slots, sizeof *r->slot);
    r->buffer = aligned_alloc(TABLE_PAGE, (r->slots * r->buffer_bytes + TABLE_PAGE - 1) /
                                              TABLE_PAGE * TABLE_PAGE);
    if (r->file >= 0 && r->request && r->slot && r->buffer &&
        syscall(SYS_io_setup, (unsigned)r->slots, &r->context) == 0)
        return r;
    reader_destroy(r);
    return NULL;
}

struct reader_list *readers_create(void)
{
    struct reader_list *l = calloc(1, sizeof *l);
    if (l) pthread_mutex_init(&l->lock, NULL);
    return l;
}

void readers_destroy(struct reader_list *l)
{
    if (!l) return;
    for (row_reader *r = l->first, *next; r; r = next) {
        next = r->next;
        reader_destroy(r);
    }
    pthread_mutex_destroy(&l->lock);
    free(l);
}

bool reader_known(const rows *data)
{
    struct reader_list *l = data->storage.mapped->readers;
    pthread_mutex_lock(&l->lock);
    bool known = l->first;
    pthread_mutex_unlock(&l->lock);
    return known;
}

row_reader *reader_take(const rows *data, size_t n)
{
    struct reader_list *l = data->storage.mapped->readers;
    if (!data->storage.x && !data->storage.x_float) return NULL;
    pthread_mutex_lock(&l->lock);
    row_reader *r = l->first;
    while (r && (r->taken || r->n != n)) r = r->next;
    if (r) r->taken = true;
    pthread_mutex_unlock(&l->lock);
    if (r || !(r = reader_create(data, n))) return r;
    pthread_mutex_lock(&l->lock);
    r->taken = true;
    r->next = l->first;
    l->first = r;
    pthread_mutex_unlock(&l->lock);
    return r;
}

void reader_give(const rows *data, row_reader *r)
{
    if (!r) return;
    drain(r);
    pthread_mutex_lock(&data->storage.mapped->readers->lock);
    r->taken = false;
    pthread_mutex_unlock(&data->storage.mapped->readers->lock);
}

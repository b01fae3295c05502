/* Reads with O_DIRECT through the kernel's asynchronous interface (io_submit), into a ring of
 * buffers. Nothing is mapped, so nothing has to be unmapped from other processors, which costs time when a
 * mapped table is larger than memory. A window that could not be read is
 * taken from the map instead: slower, and the same numbers. */
#include "table/window_reader.h"

#include "core/memory.h"
#include "table/mapped_table.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH_MAX      ((size_t)256)     /* windows under way: more than disks do at a time */
#define RING_BYTES_MAX ((size_t)8 << 20) /* of a ring of large windows */
#define PARTS          ((size_t)4) /* a ring is handed over in so many: fewer calls cost less */
#define SUBMIT         (DEPTH_MAX / PARTS)

typedef struct {
    size_t first, n; /* rows */
    size_t skew;     /* bytes of the buffer before them */
    bool under_way, good;
} window;

struct row_reader {
    row_reader *next; /* of the table's list */
    bool taken;
    int file;
    aio_context_t context;
    size_t n, row, buffer_bytes; /* rows a window; bytes a row; bytes a buffer */
    uint64_t block;              /* bytes: reads begin and end at multiples of it */
    uint64_t begin;              /* of x in the file */
    size_t total;                /* rows of the table */
    size_t slots;                /* windows under way, and one that is being looked at */
    size_t requested, used;      /* windows so far; the slots in turn */
    size_t waiting;              /* asked for and not handed over yet */
    struct iocb *request;
    window *slot;
    unsigned char *buffer;
    rows view; /* the table as the window being looked at shows it */
};

/* The readers of a table, kept by table_file. */
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

static void hand_over(row_reader *r)
{
    struct iocb *list[SUBMIT];
    while (r->waiting > 0) {
        size_t count = r->waiting < SUBMIT ? r->waiting : SUBMIT;
        for (size_t i = 0; i < count; i++)
            list[i] = &r->request[(r->requested - r->waiting + i) % r->slots];
        long done = syscall(SYS_io_submit, r->context, (long)count, list);
        if (done < 0 && errno == EAGAIN) continue;
        if (done <= 0) { /* the map will do */
            r->slot[(r->requested - r->waiting) % r->slots].under_way = false;
            done = 1;
        }
        r->waiting -= (size_t)done;
    }
}

static void collect(row_reader *r)
{
    struct io_event events[32];
    long got = syscall(SYS_io_getevents, r->context, 1L, 32L, events, NULL);
    for (long i = 0; i < got; i++) {
        window *w = &r->slot[events[i].data];
        w->under_way = false;
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
    if (++r->waiting * PARTS >= r->slots - 1) hand_over(r);
}

static void show(row_reader *r, const window *w, size_t at)
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
    if (w->under_way && r->requested - r->used < r->waiting) hand_over(r);
    while (w->under_way) collect(r);
    if (w->good) show(r, w, at);
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

/* ---- from the table's list ---- */

static void drain(row_reader *r)
{
    hand_over(r);
    for (size_t i = 0; i < r->slots; i++) {
        while (r->slot[i].under_way) collect(r);
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

/* What direct reads must be multiples of: less than a page costs less, where the kernel can tell. */
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

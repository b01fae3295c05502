/* Rows ahead of their use. A mapped table is advised as random, or every miss would read megabytes
 * around; so whoever goes through it from end to end asks for what comes next, here. */
#include "table/read_ahead.h"

#include "core/memory.h"
#include "table/mapped_table.h"
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define SWEEP_BYTES ((size_t)4 << 20) /* asked for at a time, as much ahead */
#define LINES_MAX   16                /* of a window; the hardware follows where it goes on */

typedef struct {
    const unsigned char *at;
    size_t bytes;
} span;

/* Where dense rows lie; cut, like those below, at the end of the table, because a window that wraps
 * is rare. */
static span dense_span(const rows *data, size_t first, size_t n)
{
    size_t row = rows_stride_bytes(data);
    if (n > data->local_rows - first) n = data->local_rows - first;
    const void *x = data->storage.x ? (const void *)data->storage.x : data->storage.x_float;
    return x ? (span){(const unsigned char *)x + first * row, n * row} : (span){0};
}

/* Where entries of sparse rows lie in one of their arrays. */
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

static span values_span(const rows *data, size_t first, size_t n)
{
    return entries_span(data, data->storage.value, sizeof *data->storage.value, first, n);
}

void rows_prefetch(const rows *data, size_t first, size_t n)
{
    if (data->storage.start) return; /* where they lie would be waited for */
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

/* Whole pages that hold [at, at + bytes). */
static void want(const void *at, size_t bytes)
{
    uintptr_t begin = (uintptr_t)at / TABLE_PAGE * TABLE_PAGE;
    uintptr_t end = (uintptr_t)at + bytes;
    if (bytes == 0) return;
    int kept = errno;
    madvise((void *)begin, end - begin, MADV_WILLNEED); /* a hint: failing is no harm */
    errno = kept;
}

static void want_span(span s)
{
    want(s.at, s.bytes);
}

static void want_beside(const rows *data, size_t first, size_t n)
{
    const double *const beside[] = {data->y, data->weight, data->offset};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (beside[i]) want(beside[i] + first, n * sizeof **beside);
    if (data->storage.start)
        want(data->storage.start + first, (n + 1) * sizeof *data->storage.start);
}

/* y too: it is used more often than x and mostly there, but a miss would be waited for. */
void rows_want(const rows *data, size_t first, size_t n)
{
    if (data->storage.start) {
        want_span(columns_span(data, first, n));
        want_span(values_span(data, first, n));
    } else
        want_span(dense_span(data, first, n));
    want_beside(data, first, n < data->local_rows - first ? n : data->local_rows - first);
}

void rows_want_beside(const rows *data)
{
    want_beside(data, 0, data->local_rows);
}

void rows_sweep(const rows *data, size_t first, size_t n)
{
    size_t per_part = SWEEP_BYTES / (rows_row_bytes(data) + 1) + 1;
    size_t part = first / per_part, next = (first + n) / per_part;
    if (first > 0 && part == next) return;
    size_t from = first > 0 ? (next + 1) * per_part : 0, count = (first > 0 ? 1 : 2) * per_part;
    if (from < data->local_rows) rows_want(data, from, count);
}

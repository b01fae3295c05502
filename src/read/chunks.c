/* Rows in chunks of about 1 MiB: growing never copies, and freeing chunk by chunk while the rows
 * move into their final table keeps the peak at twice the table. */
#include "read/chunks.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_DOUBLES = 128 * 1024 };

void chunks_init(chunks *c, size_t width, bool packed)
{
    *c = (chunks){.width = width, .per_chunk = 1, .packed = packed};
    if (width < CHUNK_DOUBLES) c->per_chunk = CHUNK_DOUBLES / width;
}

static bool add_chunk(chunks *c, size_t doubles)
{
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 16;
        double **chunk = realloc(c->chunk, capacity * sizeof *chunk);
        if (chunk) c->chunk = chunk;
        size_t *first = realloc(c->first, capacity * sizeof *first);
        if (first) c->first = first;
        if (!chunk || !first) return false;
        c->capacity = capacity;
    }
    double *fresh = calloc(doubles, sizeof *fresh);
    if (!fresh) return false;
    c->first[c->count] = c->rows;
    c->chunk[c->count++] = fresh;
    c->held += (double)(doubles * sizeof *fresh);
    return true;
}

double chunks_bytes(const chunks *c)
{
    return c->held + (double)(c->at_capacity * sizeof *c->at);
}

static double *row_at(const chunks *c, size_t row)
{
    return c->chunk[row / c->per_chunk] + row % c->per_chunk * c->width;
}

double *chunks_next(chunks *c)
{
    if (c->packed) {
        if (!c->line) c->line = calloc(c->width, sizeof *c->line);
        return c->line;
    }
    if (c->rows == c->count * c->per_chunk && !add_chunk(c, c->per_chunk * c->width))
        return NULL;
    return row_at(c, c->rows);
}

/* ---- packed ---- */

/* Doubles of a row with so many entries: their number, slots two by two, values. */
static size_t packed_size(size_t entries)
{
    return 1 + (entries + 1) / 2 + entries;
}

static double *packed_room(chunks *c, size_t doubles)
{
    if (c->rows == c->at_capacity) {
        size_t capacity = c->at_capacity ? 2 * c->at_capacity : 1024;
        double **at = realloc(c->at, capacity * sizeof *at);
        if (!at) return NULL;
        c->at = at;
        c->at_capacity = capacity;
    }
    if (c->room < doubles) {
        size_t size = doubles < CHUNK_DOUBLES ? CHUNK_DOUBLES : doubles;
        if (!add_chunk(c, size)) return NULL;
        c->room = size;
        c->at[c->rows] = c->chunk[c->count - 1];
    } else {
        c->at[c->rows] = c->next;
    }
    c->next = c->at[c->rows] + doubles;
    c->room -= doubles;
    return c->at[c->rows];
}

static bool pack(chunks *c)
{
    size_t entries = 0;
    for (size_t j = 0; j < c->width; j++) entries += c->line[j] != 0.0;
    double *to = packed_room(c, packed_size(entries));
    if (!to) return false;
    uint32_t slot[2] = {0, 0};
    double *slots = to + 1, *value = slots + (entries + 1) / 2;
    *to = (double)entries;
    size_t k = 0;
    for (size_t j = 0; j < c->width; j++) {
        if (c->line[j] == 0.0) continue;
        slot[k % 2] = (uint32_t)j;
        memcpy(slots + k / 2, slot, sizeof slot);
        value[k++] = c->line[j];
    }
    return true;
}

static void unpack(const chunks *c, const double *from)
{
    size_t entries = (size_t)*from;
    const double *slots = from + 1, *value = slots + (entries + 1) / 2;
    memset(c->line, 0, c->width * sizeof *c->line);
    for (size_t k = 0; k < entries; k++) {
        uint32_t slot[2];
        memcpy(slot, slots + k / 2, sizeof slot);
        c->line[slot[k % 2]] = value[k];
    }
}

bool chunks_keep(chunks *c)
{
    if (c->packed && !pack(c)) return false;
    c->rows++;
    return true;
}

const double *chunks_row(chunks *c, size_t row)
{
    if (!c->packed) return row_at(c, row);
    unpack(c, c->at[row]);
    return c->line;
}

void chunks_forget(chunks *c, size_t row)
{
    for (size_t k = 0; k + 1 < c->count && c->first[k + 1] <= row; k++) {
        free(c->chunk[k]);
        c->chunk[k] = NULL;
    }
}

void chunks_clear(chunks *c)
{
    for (size_t k = 0; k < c->count; k++) free(c->chunk[k]);
    free(c->chunk);
    free(c->first);
    free(c->at);
    free(c->line);
    *c = (chunks){.width = c->width, .per_chunk = c->per_chunk, .packed = c->packed};
}

sbps_status memory_holds(const char *source, double rows, double columns, double bytes,
                         sbps_error *err)
{
    double have = machine_memory();
    if (bytes <= MEMORY_SHARE * have) return SBPS_OK;
    return fail(err, SBPS_NO_MEM,
                "%s: %.0f rows of %.0f columns need %.1f GiB of memory while they are read; "
                "this machine has %.1f GiB",
                source, rows, columns, bytes / 0x1p30, have / 0x1p30);
}

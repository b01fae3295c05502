/* Rows in chunks of about 1 MiB: growing never copies, and freeing chunk by chunk while the rows
 * move into their final table keeps the peak at twice the table. */
#include "data/chunks.h"

#include <stdlib.h>
#include <unistd.h>

enum { CHUNK_DOUBLES = 128 * 1024 };

static const double MEMORY_SHARE = 0.8;

void chunks_init(chunks *c, size_t width)
{
    *c = (chunks){.width = width, .per_chunk = 1};
    if (width < CHUNK_DOUBLES) c->per_chunk = CHUNK_DOUBLES / width;
}

static bool add_chunk(chunks *c)
{
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 16;
        double **chunk = realloc(c->chunk, capacity * sizeof *chunk);
        if (!chunk) return false;
        c->chunk = chunk;
        c->capacity = capacity;
    }
    double *fresh = calloc(c->per_chunk * c->width, sizeof *fresh);
    if (!fresh) return false;
    c->chunk[c->count++] = fresh;
    return true;
}

double *chunks_row(const chunks *c, size_t row)
{
    return c->chunk[row / c->per_chunk] + row % c->per_chunk * c->width;
}

double *chunks_next(chunks *c)
{
    if (c->rows == c->count * c->per_chunk && !add_chunk(c)) return NULL;
    return chunks_row(c, c->rows);
}

void chunks_forget(chunks *c, size_t row)
{
    for (size_t k = row / c->per_chunk; k-- > 0 && c->chunk[k];) {
        free(c->chunk[k]);
        c->chunk[k] = NULL;
    }
}

void chunks_clear(chunks *c)
{
    for (size_t k = 0; k < c->count; k++) free(c->chunk[k]);
    free(c->chunk);
    *c = (chunks){.width = c->width, .per_chunk = c->per_chunk};
}

sbps_status memory_holds(const char *source, double rows, double columns, double bytes,
                         sbps_error *err)
{
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (bytes <= MEMORY_SHARE * have) return SBPS_OK;
    return fail(err, SBPS_NO_MEM,
                "%s: %.0f rows of %.0f columns need %.1f GiB of memory while they are read; "
                "this machine has %.1f GiB",
                source, rows, columns, bytes / 0x1p30, have / 0x1p30);
}

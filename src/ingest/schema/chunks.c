/* Rows are stored in blocks of 2 MiB, large enough for large pages. Growing adds a block and
 * copies nothing, and the rows that another thread read are taken over with their blocks. */
#include "ingest/schema/chunks.h"

#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 8 * 1024, BLOCK = 256 * 1024 }; /* doubles */

void chunks_init(chunks *c, size_t width, bool packed)
{
    *c = (chunks){.width = width, .packed = packed};
}

/* Makes room for item number `count`, of `bytes` bytes, in the array whose address is `list`.
 * Returns false without memory. */
static bool grow_array(void *list, size_t count, size_t *capacity, size_t bytes)
{
    void *old;
    if (count < *capacity) return true;
    memcpy(&old, list, sizeof old);
    size_t new_capacity = *capacity ? 2 * *capacity : 16;
    void *grown = realloc(old, new_capacity * bytes);
    if (!grown) return false;
    memcpy(list, &grown, sizeof grown);
    *capacity = new_capacity;
    return true;
}

/* Appends an empty block of at least `min_doubles`; the first is small. */
static bool add_row_block(chunks *c, size_t min_doubles)
{
    size_t doubles = c->block_size ? BLOCK : FIRST_BLOCK;
    if (doubles < min_doubles) doubles = min_doubles;
    if (!grow_array(&c->block, c->blocks, &c->block_capacity, sizeof *c->block)) return false;
    double *fresh = unset_doubles(doubles);
    if (!fresh) return false;
    c->block[c->blocks++] = c->at = fresh;
    c->space = c->block_size = doubles;
    c->run_open = false;
    c->held += (double)(doubles * sizeof *fresh);
    return true;
}

/* Begins a run at the current position. */
static bool open_run(chunks *c)
{
    if (!grow_array(&c->run, c->runs, &c->run_capacity, sizeof *c->run)) return false;
    c->run[c->runs++] = (row_run){.first = c->at, .before = c->rows};
    return c->run_open = true;
}

/* Returns space for a row of this many doubles; NULL: no memory. */
static double *reserve_row(chunks *c, size_t doubles)
{
    if (c->space < doubles && !add_row_block(c, doubles)) return NULL;
    return c->run_open || open_run(c) ? c->at : NULL;
}

/* Counts the row just written, of this many doubles. */
static void close_row(chunks *c, size_t doubles)
{
    c->at += doubles;
    c->space -= doubles;
    c->run[c->runs - 1].rows++;
    c->rows++;
}

double chunks_bytes(const chunks *c)
{
    return c->held + (double)(c->run_capacity * sizeof *c->run);
}

double *chunks_next(chunks *c)
{
    if (!c->packed) return reserve_row(c, c->width);
    if (!c->line) c->line = new_doubles(c->width);
    return c->line;
}

/* ---- packed ---- */

/* One double for the number of entries, half a double per slot (uint32_t), one per value. */
size_t packed_size(size_t entries)
{
    return 1 + (entries + 1) / 2 + entries;
}

/* Appends c->line as a packed row. */
static bool pack_line(chunks *c)
{
    size_t entries = 0; /* NAN != 0: missing cells are kept */
    for (size_t j = 0; j < c->width; j++) entries += c->line[j] != 0.0;
    double *to = reserve_row(c, packed_size(entries));
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
    close_row(c, packed_size(entries));
    return true;
}

void row_unpack(const double *from, size_t width, double *line)
{
    size_t entries = (size_t)*from;
    const double *slots = from + 1, *value = slots + (entries + 1) / 2;
    memset(line, 0, width * sizeof *line);
    for (size_t k = 0; k < entries; k++) {
        uint32_t slot[2];
        memcpy(slot, slots + k / 2, sizeof slot);
        line[slot[k % 2]] = value[k];
    }
}

size_t run_line(const chunks *c)
{
    return c->packed ? c->width : 0;
}

double *run_next(const chunks *c, double **at, double *line)
{
    double *row = *at;
    *at += c->packed ? packed_size((size_t)*row) : c->width;
    if (!c->packed) return row;
    row_unpack(row, c->width, line);
    return line;
}

bool chunks_keep(chunks *c)
{
    if (c->packed) return pack_line(c);
    close_row(c, c->width);
    return true;
}

/* ---- moving and clearing ---- */

bool chunks_move(chunks *from, chunks *to)
{
    /* Runs and blocks are copied behind those of `to`, but counted only when all are there. */
    for (size_t k = 0; k < from->runs; k++) {
        if (!grow_array(&to->run, to->runs + k, &to->run_capacity, sizeof *to->run))
            return false;
        to->run[to->runs + k] = from->run[k];
        to->run[to->runs + k].before += to->rows;
    }
    for (size_t k = 0; k < from->blocks; k++) {
        if (!grow_array(&to->block, to->blocks + k, &to->block_capacity, sizeof *to->block))
            return false;
        to->block[to->blocks + k] = from->block[k];
    }
    to->runs += from->runs;
    to->rows += from->rows;
    to->blocks += from->blocks;
    to->held += from->held;
    to->run_open = from->run_open = false;
    to->space = 0; /* the next row begins a new block */
    from->runs = from->rows = from->blocks = 0;
    from->held = 0;
    return true;
}

/* Frees all blocks and with them all rows. */
static void free_blocks(chunks *c)
{
    for (size_t k = 0; k < c->blocks; k++) free(c->block[k]);
    c->runs = c->rows = c->blocks = c->space = 0;
    c->run_open = false;
    c->held = 0;
}

void chunks_reset(chunks *c)
{
    c->runs = c->rows = 0;
    c->run_open = false;
    if (c->blocks == 0) return;
    double *last = c->block[--c->blocks]; /* kept for reuse */
    free_blocks(c);
    c->block[c->blocks++] = c->at = last;
    c->space = c->block_size;
    c->held = (double)(c->block_size * sizeof *last);
}

void chunks_clear(chunks *c)
{
    free_blocks(c);
    free(c->block);
    free(c->run);
    free(c->line);
    chunks_init(c, c->width, c->packed);
}

sbps_status memory_holds(const char *source, double rows, double columns, double bytes,
                         sbps_error *err)
{
    double have = machine_memory();
    if (bytes <= MEMORY_REQUEST_FRACTION * have) return SBPS_OK;
    return fail(err, SBPS_NO_MEM,
                "%s: %.0f rows of %.0f columns need %.1f GiB of memory while they are read; "
                "this machine or container allows %.1f GiB",
                source, rows, columns, bytes / 0x1p30, have / 0x1p30);
}

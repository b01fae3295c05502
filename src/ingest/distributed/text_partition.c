/* Where the text of a table is cut. Borders lie anywhere; a record belongs to the rank in whose stretch it begins. */
#include "ingest/distributed/text_partition.h"

#include "ingest/design/direct_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One file; *divides is false where it cannot be cut. */
static sbps_status measure_file(const file_list *files, size_t k, const rows_spec *spec,
                                column_types *types, const row_source *first, text_partition *c,
                                bool *divides, sbps_error *err)
{
    row_source s;
    sbps_status status = table_file_open(&files->input[k], spec, types, first, &s, err);
    if (status == SBPS_OK) {
        size_t size = bytes_of_rows(&s);
        c->start[k] = text_file_offset(s.source);
        c->size[k] = size > c->start[k] ? size : c->start[k];
        *divides = *divides && size > 0;
    }
    source_close(&s);
    return status;
}

static sbps_status measure_all(const file_list *files, const rows_spec *spec,
                               column_types *types, const row_source *first, text_partition *c,
                               bool *divides, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    *divides = true;
    for (size_t k = 0; status == SBPS_OK && *divides && k < files->count; k++)
        status = measure_file(files, k, spec, types, first, c, divides, err);
    return status;
}

/* What the first rank has found, to all. */
static void agree(text_partition *c, ranks *among, bool divides)
{
    size_t bytes = c->files * sizeof *c->start, whole;
    unsigned char cut = divides;
    ranks_broadcast(among, 0, &cut, sizeof cut);
    ranks_broadcast(among, 0, c->start, bytes);
    ranks_broadcast(among, 0, c->size, bytes);
    for (size_t k = 0; cut && k < c->files; k++)
        c->base[k + 1] = c->base[k] + c->size[k] - c->start[k];
    whole = c->base[c->files];
    c->from =
        whole / among->size * among->rank + whole % among->size * among->rank / among->size;
    c->to = whole / among->size * (among->rank + 1) +
            whole % among->size * (among->rank + 1) / among->size;
}

sbps_status text_partition_open(const file_list *files, const rows_spec *spec,
                                column_types *types, const row_source *first, text_partition *c,
                                sbps_error *err)
{
    sbps_status status = SBPS_OK;
    bool divides = false;
    *c = (text_partition){.files = files->count,
                          .start = calloc(files->count, sizeof *c->start),
                          .size = calloc(files->count, sizeof *c->size),
                          .base = calloc(files->count + 1, sizeof *c->base)};
    if (!c->start || !c->size || !c->base) return fail_memory(err);
    if (spec->among->rank == 0)
        status = measure_all(files, spec, types, first, c, &divides, err);
    if (status == SBPS_OK) agree(c, spec->among, divides);
    return status;
}

void text_partition_close(text_partition *c)
{
    free(c->start);
    free(c->size);
    free(c->base);
    *c = (text_partition){0};
}

size_t text_partition_bytes(const text_partition *c)
{
    return c->base[c->files];
}

size_t text_partition_file(const text_partition *c, size_t position)
{
    size_t low = 0, high = c->files;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->base[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t text_partition_byte(const text_partition *c, size_t k, size_t position)
{
    if (position >= c->base[k + 1]) return c->size[k];
    return c->start[k] + (position > c->base[k] ? position - c->base[k] : 0);
}

/* ---- lines ---- */

/* Line breaks of file k in this rank's stretch; what comes before the rows counts with the first of them. */
static sbps_status count_here(const text_partition *c, const file_list *files, size_t k,
                              size_t *count, sbps_error *err)
{
    size_t from = c->from <= c->base[k] ? 0 : text_partition_byte(c, k, c->from);
    if (c->to <= c->base[k]) return SBPS_OK;
    int file = text_input_open(&files->input[k]);
    char *buffer = malloc(SCAN_BYTES);
    bool done = file >= 0 && buffer &&
                count_breaks(file, from, text_partition_byte(c, k, c->to), buffer, count);
    free(buffer);
    if (file >= 0) close(file);
    return done ? SBPS_OK : fail(err, SBPS_NO_FILE, "%s: cannot be read", files->path[k]);
}

sbps_status text_partition_breaks(const text_partition *c, const file_list *files, ranks *among,
                                  size_t *breaks, sbps_error *err)
{
    size_t own = text_partition_file(c, c->from), next = text_partition_file(c, c->to),
           count = 0;
    uint64_t *all = calloc(2 * among->size, sizeof *all);
    sbps_status status = all ? count_here(c, files, next, &count, err) : fail_memory(err);
    if (status == SBPS_OK) {
        const uint64_t mine[2] = {next, count};
        ranks_gather(among, mine, all, sizeof mine);
    }
    *breaks = 0;
    for (size_t r = 0; status == SBPS_OK && r < among->rank; r++)
        if (all[2 * r] == own) *breaks += all[2 * r + 1];
    free(all);
    return status;
}

/* Combines the reports, types, errors and levels of ranks. Messages are small: a few numbers
 * per rank, types of columns, levels. */
#include "ingest/distributed/partition_report.h"

#include "core/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- reports ---- */

/* Checks that stretches fit together up to the first error, and adds up the counts. */
static void combine_reports(const partition_report *all, size_t size, size_t rank, size_t bytes,
                            partition_verdict *out)
{
    uint64_t at = 0;
    *out = (partition_verdict){.fits = true, .trouble = size};
    for (size_t r = 0; out->trouble == size && r < size; r++) {
        const partition_report *of = &all[r];
        if (r == rank) out->before = out->kept;
        /* A rank without records, as when a record spans its stretch, fits anywhere. */
        if (of->begin < of->end || of->trouble) out->fits = out->fits && of->begin == at;
        out->fits = out->fits && !of->broken;
        if (of->begin < of->end) at = of->end;
        if (of->trouble) out->trouble = r;
        out->kept += of->kept;
        out->dropped += of->dropped;
        out->numbers += of->numbers;
    }
    if (out->trouble == size) out->fits = out->fits && at == bytes;
}

sbps_status partition_compare(ranks *among, const partition_report *own, size_t bytes,
                              partition_verdict *out, sbps_error *err)
{
    partition_report *all = calloc(among->size, sizeof *all);
    if (!all) return fail_memory(err);
    ranks_gather(among, own, all, sizeof *own);
    combine_reports(all, among->size, among->rank, bytes, out);
    free(all);
    return SBPS_OK;
}

/* ---- errors ---- */

sbps_status partition_broadcast(ranks *among, size_t from, column_types *types,
                                sbps_status status, sbps_error *err)
{
    struct {
        sbps_error err;
        bool changed;
    } message = {.changed = types->changed};
    if (err) message.err = *err;
    message.err.status = status;
    ranks_broadcast(among, from, &message, sizeof message);
    ranks_broadcast(among, from, types->of, types->count * sizeof *types->of);
    ranks_broadcast(among, from, types->line, types->count * sizeof *types->line);
    types->changed = message.changed;
    if (err) *err = message.err;
    return message.err.status;
}

/* ---- levels ---- */

static void add_number(text *to, size_t number)
{
    const uint64_t word = number;
    text_bytes(to, (const char *)&word, sizeof word);
}

/* Packs the counts of missing cells of every column, and the length, row count and bytes of
 * every level. The caller frees the result; NULL: no memory. */
static char *pack_schema(const column_schema *p, size_t *size)
{
    text to = {0};
    for (size_t i = 0; i < p->columns->count; i++) {
        const levels *l = p->use[i].levels;
        add_number(&to, p->use[i].missing);
        add_number(&to, l ? l->count : 0);
        for (size_t k = 0; l && k < l->count; k++) {
            add_number(&to, l->item[k].length);
            add_number(&to, l->item[k].rows);
            text_bytes(&to, l->item[k].text, l->item[k].length);
        }
    }
    *size = to.length;
    return text_take(&to);
}

static size_t take_number(const char **at)
{
    uint64_t word;
    memcpy(&word, *at, sizeof word);
    *at += sizeof word;
    return word;
}

/* Adds `count` packed levels at *at, which moves behind them; returns false without memory. */
static bool take_levels(levels *l, size_t count, const char **at)
{
    for (size_t k = 0; k < count; k++) {
        size_t code, length = take_number(at), row_count = take_number(at);
        if (!levels_code(l, *at, *at + length, &code)) return false;
        l->item[code].rows += row_count;
        *at += length;
    }
    return true;
}

/* Adds a packed schema to `p`; returns false without memory. */
static bool unpack_schema(const column_schema *p, const char *at)
{
    bool whole = true;
    for (size_t i = 0; whole && i < p->columns->count; i++) {
        p->use[i].missing += take_number(&at);
        size_t count = take_number(&at);
        whole = take_levels(p->use[i].levels, count, &at);
    }
    return whole;
}

/* Adds the schemas of all ranks to `p`, in the order of ranks, which is that of the text. */
static bool merge_rank_schemas(ranks *among, const column_schema *p, const char *own,
                               size_t own_size)
{
    bool whole = true;
    for (size_t r = 0; r < among->size; r++) {
        size_t size = own_size;
        ranks_broadcast(among, r, &size, sizeof size);
        char *bytes = malloc(size + 1);
        if (!bytes) return false;
        if (r == among->rank) memcpy(bytes, own, size);
        ranks_broadcast(among, r, bytes, size);
        whole = whole && unpack_schema(p, bytes);
        free(bytes);
    }
    return whole;
}

sbps_status partition_merge_schemas(ranks *among, column_schema *p, sbps_error *err)
{
    size_t size;
    if (p->categories == 0 && !p->drop_missing) return SBPS_OK; /* on all ranks alike */
    char *own = pack_schema(p, &size);
    if (!own) return fail_memory(err);
    for (size_t i = 0; i < p->columns->count; i++) {
        p->use[i].missing = 0;
        if (p->use[i].levels) levels_reset(p->use[i].levels);
    }
    bool whole = merge_rank_schemas(among, p, own, size);
    free(own);
    return whole ? SBPS_OK : fail_memory(err);
}

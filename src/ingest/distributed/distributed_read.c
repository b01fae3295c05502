/* Distributed reading: the text is divided into one stretch per rank (text_partition.c), and
 * every rank reads its stretch twice.
 *
 *   1. The survey counts rows and nonzero cells, collects the levels of categories and finds
 *      errors. It keeps no rows.
 *   2. Ranks combine their reports (partition_compare). The stretches must fit together. If
 *      there are errors, the first rank with one counts the lines before its stretch and
 *      reports it as a single process would.
 *   3. The second pass sends each row to the rank that keeps it (partition_table.c).
 *
 * After a cell that contradicts the type of its column, all ranks begin again with the types
 * that the first such rank inferred from the rest of the file. */
#include "ingest/distributed/distributed_read.h"

#include "ingest/design/direct_text.h"
#include "ingest/design/shuffle_stream.h"
#include "ingest/design/storage.h"

#include <string.h>

#define DISTRIBUTE_MIN ((size_t)8 << 20) /* bytes: every rank reads a smaller text whole */

/* ---- the survey ---- */

typedef struct {
    const column_schema *schema;
    bool counted;   /* count nonzero numbers: the storage depends on them */
    size_t numbers; /* their number */
} survey;

/* A row_taker: counts the nonzero numbers of rows and drops them. */
static sbps_status survey_chunk(void *self, chunks *read, sbps_error *err)
{
    survey *s = self;
    bool ones = true;
    (void)err;
    for (size_t k = 0; s->counted && k < read->runs; k++)
        for (size_t i = 0; i < read->run[k].rows; i++)
            s->numbers += count_numbers(s->schema, read->run[k].first + i * read->width, &ones);
    return SBPS_OK;
}

/* Reads the stretch and fills s->report. `learns`: after a contradicting cell, infer types to
 * the end of the file. */
static sbps_status survey_once(distributed_read *s, bool learns, sbps_error *err)
{
    partition_cursor c = partition_cursor_start(s, s->first.schema);
    survey counts = {.schema = s->first.schema,
                     .counted = storage_depends(s->spec) && !s->first.schema->formula};
    const row_taker taker = {survey_chunk, &counts, false};
    c.learns = learns;
    c.more = HALF_WAY;
    sbps_status status = partition_cursor_read(&c, SIZE_MAX, &taker, err);
    partition_cursor_close(&c);
    s->report = (partition_report){.begin = c.begin,
                                   .end = c.at,
                                   .kept = c.kept,
                                   .dropped = c.dropped,
                                   .numbers = counts.numbers,
                                   .trouble = status != SBPS_OK,
                                   .broken = c.broken};
    return status;
}

/* ---- errors ---- */

static sbps_status open_first(distributed_read *s, sbps_error *err)
{
    return table_files_open(s->files, s->spec, s->types, &s->first, err);
}

/* Copies types; returns false without memory. */
static bool types_copy(const column_types *from, column_types *to)
{
    *to = (column_types){0};
    if (column_types_fit(to, from->count, "", NULL) != SBPS_OK) return false;
    memcpy(to->of, from->of, from->count * sizeof *to->of);
    memcpy(to->line, from->line, from->count * sizeof *to->line);
    return true;
}

/* Repeats the survey from the types `before` it, which it takes over, now with the right line
 * numbers. */
static sbps_status survey_again(distributed_read *s, column_types *before, sbps_error *err)
{
    column_types_clear(s->types);
    *s->types = *before;
    *before = (column_types){0};
    source_close(&s->first);
    sbps_status status = open_first(s, err);
    if (status == SBPS_OK) status = survey_once(s, true, err);
    return status != SBPS_OK || s->types->changed
               ? status
               : fail(err, SBPS_BAD_FILE, "%s: the file changed while it was read",
                      s->files->path[0]);
}

/* The first rank with an error determines what it is, and all ranks return it. SBPS_OK: a type
 * changed; begin again. */
static sbps_status resolve_trouble(distributed_read *s, column_types *before, sbps_error *err)
{
    size_t first_failed = s->verdict.trouble;
    sbps_error own = {0};
    sbps_status status = text_partition_breaks(&s->cut, s->files, s->among, &s->breaks, err);
    if (status != SBPS_OK) return status;
    if (s->among->rank == first_failed) status = survey_again(s, before, &own);
    status = partition_broadcast(s->among, first_failed, s->types, status, &own);
    if (column_types_again(s->types)) return SBPS_OK;
    if (err) *err = own;
    return status;
}

/* ---- the whole read ---- */

/* Returns whether the text is large enough and the formula needs no pass over all rows
 * first. */
static bool can_be_distributed(const distributed_read *s)
{
    const rows_spec *spec = s->spec;
    size_t min_bytes = spec->distribute_min_bytes ? spec->distribute_min_bytes : DISTRIBUTE_MIN;
    return text_partition_bytes(&s->cut) >= min_bytes &&
           !formula_needs_all_rows(s->first.schema->formula);
}

/* Divides the text, unless that was done before; *done is whether it can be read in
 * stretches. */
static sbps_status measure_text(distributed_read *s, bool *done, sbps_error *err)
{
    *done = s->first.names.types != NULL;
    if (!*done || s->cut.base) return SBPS_OK;
    sbps_status status =
        text_partition_open(s->files, s->spec, s->types, &s->first, &s->cut, err);
    *done = status == SBPS_OK && can_be_distributed(s);
    return status;
}

/* Builds the table after a survey without errors. */
static sbps_status build_partition(distributed_read *s, rows **out, sbps_error *err)
{
    sbps_status status = partition_merge_schemas(s->among, s->first.schema, err);
    if (status == SBPS_OK)
        status =
            check_row_count(s->first.schema->path, s->verdict.kept, s->verdict.dropped, err);
    if (status == SBPS_OK) status = partition_build_table(s, out, err);
    if (status == SBPS_OK) status = rows_note_dropped(*out, s->first.schema, err);
    if (status == SBPS_OK || !*out) return status;
    rows_destroy(*out);
    *out = NULL;
    return status;
}

/* Reads once with the types known so far; *again: a type changed and all ranks begin again. */
static sbps_status try_once(distributed_read *s, rows **out, bool *done, bool *again,
                            sbps_error *err)
{
    column_types before = {0};
    sbps_status status = open_first(s, err);
    *again = false;
    if (status == SBPS_OK) status = measure_text(s, done, err);
    if (status != SBPS_OK || !*done) return status;
    if (!types_copy(s->types, &before)) return fail_memory(err);
    /* Errors of this survey have wrong line numbers: only their existence is reported. */
    survey_once(s, false, NULL);
    status = partition_compare(s->among, &s->report, text_partition_bytes(&s->cut), &s->verdict,
                               err);
    *done = s->verdict.fits;
    bool trouble = s->verdict.trouble < s->among->size;
    if (status == SBPS_OK && *done)
        status = trouble ? resolve_trouble(s, &before, err) : build_partition(s, out, err);
    *again = trouble && *done && status == SBPS_OK;
    column_types_clear(&before);
    return status;
}

sbps_status rows_read_distributed(const file_list *files, const rows_spec *spec, rows **out,
                                  bool *done, sbps_error *err)
{
    column_types types = {0};
    distributed_read s = {.files = files, .spec = spec, .among = spec->among, .types = &types};
    sbps_status status;
    bool again;
    *out = NULL;
    *done = false;
    do {
        status = try_once(&s, out, done, &again, err);
        source_close(&s.first);
        s.first = (row_source){0};
    } while (again);
    text_partition_close(&s.cut);
    column_types_clear(&types);
    return status;
}

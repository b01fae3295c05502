/* The text of a table is cut into a stretch for each rank (share_cut.c), which is looked at twice. The first look finds
 * out what the second must know: how many rows there are, the levels of categories, how many cells are not 0, and
 * whether anything is wrong. It keeps no rows. Then ranks agree (share_agree.c): the stretches must fit together, and
 * of several things that are wrong the first is told, in the words of one process, by the rank that has met it, once it
 * knows how many lines are before it. The second look sends each row to the rank that keeps it (share_deal.c).
 *
 * Where a cell contradicts the type of its column all ranks begin once more with what the first that met one has learned
 * of the rest of that file. */
#include "read/shares.h"

#include "read/direct.h"
#include "read/passage.h"
#include "read/share_table.h"
#include "read/storage.h"

#include <string.h>

#define SHARE_LEAST ((size_t)8 << 20) /* bytes of text, below which all may as well read all */

/* ---- the first look ---- */

typedef struct {
    const plan *plan;
    bool counted;
    size_t numbers;
} survey;

static sbps_status look_at(void *self, chunks *read, sbps_error *err)
{
    survey *s = self;
    bool ones = true;
    (void)err;
    for (size_t k = 0; s->counted && k < read->runs; k++)
        for (size_t i = 0; i < read->run[k].rows; i++)
            s->numbers += count_numbers(s->plan, read->run[k].first + i * read->width, &ones);
    return SBPS_OK;
}

static sbps_status look_once(sharing *s, bool learns, sbps_error *err)
{
    share_cursor c = share_cursor_of(s, s->first.plan);
    survey found = {.plan = s->first.plan,
                    .counted = storage_depends(s->spec) && !s->first.plan->formula};
    const row_taker taker = {look_at, &found, false};
    c.learns = learns;
    c.more = HALF_WAY;
    sbps_status status = share_cursor_read(&c, SIZE_MAX, &taker, err);
    share_cursor_close(&c);
    s->report = (share_report){.begin = c.begin,
                               .end = c.at,
                               .kept = c.kept,
                               .dropped = c.dropped,
                               .numbers = found.numbers,
                               .trouble = status != SBPS_OK,
                               .broken = c.broken};
    return status;
}

/* ---- trouble ---- */

static sbps_status open_first(sharing *s, sbps_error *err)
{
    return table_files_open(s->files, s->spec, s->found, &s->first, err);
}

static bool types_copy(const column_types *from, column_types *to)
{
    *to = (column_types){0};
    if (column_types_fit(to, from->count, "", NULL) != SBPS_OK) return false;
    memcpy(to->of, from->of, from->count * sizeof *to->of);
    memcpy(to->line, from->line, from->count * sizeof *to->line);
    return true;
}

/* As nothing had been read, and now with the right lines. */
static sbps_status look_again(sharing *s, column_types *before, sbps_error *err)
{
    column_types_clear(s->found);
    *s->found = *before;
    *before = (column_types){0};
    source_close(&s->first);
    sbps_status status = open_first(s, err);
    if (status == SBPS_OK) status = look_once(s, true, err);
    return status != SBPS_OK || s->found->changed
               ? status
               : fail(err, SBPS_BAD_FILE, "%s: has changed while it was read",
                      s->files->path[0]);
}

/* The first rank in trouble finds out what it is, and says so; SBPS_OK: begin once more. */
static sbps_status settle_trouble(sharing *s, column_types *before, sbps_error *err)
{
    size_t speaker = s->verdict.trouble;
    sbps_error own = {0};
    sbps_status status = share_cut_breaks(&s->cut, s->files, s->among, &s->breaks, err);
    if (status != SBPS_OK) return status;
    if (s->among->rank == speaker) status = look_again(s, before, &own);
    status = share_tell(s->among, speaker, s->found, status, &own);
    if (column_types_again(s->found)) return SBPS_OK;
    if (err) *err = own;
    return status;
}

/* ---- all of it ---- */

static bool can_be_shared(const sharing *s)
{
    const rows_spec *spec = s->spec;
    size_t least = spec->share_least ? spec->share_least : SHARE_LEAST;
    return share_cut_bytes(&s->cut) >= least && !formula_waits(s->first.plan->formula);
}

static sbps_status measure(sharing *s, bool *done, sbps_error *err)
{
    *done = s->first.names.types != NULL;
    if (!*done || s->cut.base) return SBPS_OK;
    sbps_status status = share_cut_open(s->files, s->spec, s->found, &s->first, &s->cut, err);
    *done = status == SBPS_OK && can_be_shared(s);
    return status;
}

/* The table, now that nothing is wrong with the text. */
static sbps_status make_table(sharing *s, rows **out, sbps_error *err)
{
    sbps_status status = share_join_plan(s->among, s->first.plan, err);
    if (status == SBPS_OK)
        status = check_row_count(s->first.plan->path, s->verdict.kept, s->verdict.dropped, err);
    if (status == SBPS_OK) status = share_table(s, out, err);
    if (status == SBPS_OK) status = rows_tell_dropped(*out, s->first.plan, err);
    if (status == SBPS_OK || !*out) return status;
    rows_destroy(*out);
    *out = NULL;
    return status;
}

/* *again: a type has changed. */
static sbps_status try_once(sharing *s, rows **out, bool *done, bool *again, sbps_error *err)
{
    column_types before = {0};
    sbps_status status = open_first(s, err);
    *again = false;
    if (status == SBPS_OK) status = measure(s, done, err);
    if (status != SBPS_OK || !*done) return status;
    if (!types_copy(s->found, &before)) return fail_memory(err);
    look_once(s, false, NULL);
    status = share_compare(s->among, &s->report, share_cut_bytes(&s->cut), &s->verdict, err);
    *done = s->verdict.fits;
    bool trouble = s->verdict.trouble < s->among->size;
    if (status == SBPS_OK && *done)
        status = trouble ? settle_trouble(s, &before, err) : make_table(s, out, err);
    *again = trouble && *done && status == SBPS_OK;
    column_types_clear(&before);
    return status;
}

sbps_status rows_from_shares(const file_list *files, const rows_spec *spec, rows **out,
                             bool *done, sbps_error *err)
{
    column_types found = {0};
    sharing s = {.files = files, .spec = spec, .among = spec->among, .found = &found};
    sbps_status status;
    bool again;
    *out = NULL;
    *done = false;
    do {
        status = try_once(&s, out, done, &again, err);
        source_close(&s.first);
        s.first = (row_source){0};
    } while (again);
    share_cut_close(&s.cut);
    column_types_clear(&found);
    return status;
}

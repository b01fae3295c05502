/* Opening a file of new rows. Its columns may be in another order and others may be among them;
 * those that are needed are read into the slots of the saved schema. */
#include "ingest/design/saved_schema.h"

#include "core/printable.h"
#include "ingest/text/source.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void need_program(const saved_schema *b, const program *g, bool *needed)
{
    for (size_t k = 0; k < g->steps; k++)
        if (g->step[k].kind == DO_COLUMN)
            needed[b->formula->column[g->step[k].column].source] = true;
}

static void need_role(const saved_schema *b, column_role role, bool *needed)
{
    if (b->of[role] != SIZE_MAX) needed[b->of[role]] = true;
}

/* Finds the columns that a request needs. */
static void need_columns(const saved_schema *b, new_row_request request, bool *needed)
{
    const formula *f = b->formula;
    for (size_t k = 0; k < b->columns; k++) needed[k] = b->column[k].needed;
    if (request.target || request.trials) {
        need_role(b, ROLE_TRIALS, needed);
        if (f) need_program(b, &f->n, needed);
    }
    if (request.target || (request.trials && f && f->failures)) {
        need_role(b, ROLE_TARGET, needed);
        if (f) need_program(b, &f->y, needed);
    }
    if (!request.target) return;
    need_role(b, ROLE_WEIGHTS, needed);
    if (f) need_program(b, &f->w, needed);
}

static sbps_status fail_missing_column(const saved_schema *b, const char *path,
                                       const columns *c, size_t column, sbps_error *err)
{
    const char **names = malloc((c->count + 1) * sizeof *names);
    size_t known = 0;
    if (!names) return fail_memory(err);
    for (size_t i = 0; i < c->count; i++)
        if (c->name[i] && c->name[i][0]) names[known++] = c->name[i];
    name_hint hint = did_you_mean(",", b->column[column].name, names, known);
    free(names);
    return fail(err, SBPS_BAD_DATA, "%s: the run's column '%s' is missing%s", path,
                show_name(b->column[column].name).text, hint.text);
}

/* ---- column schema ---- */

static bool add_levels(levels *l, const char *const *from, size_t count)
{
    size_t code;
    for (size_t k = 0; k < count; k++)
        if (!levels_code(l, from[k], from[k] + strlen(from[k]), &code)) return false;
    return true;
}

/* Returns the kind of a column: some numbers need the careful parser, as in any schema. */
static use_kind kind_of(const column_schema *p, size_t i, use_kind kind)
{
    const columns *c = p->columns;
    bool comma = c->types && c->types->of[i] == TYPE_DECIMAL;
    bool na_numbers = c->missing && c->missing->numbers;
    return kind == USE_NUMBER && (comma || na_numbers) ? USE_CAREFUL : kind;
}

static sbps_status use_column(const saved_schema *b, column_schema *p, size_t i, size_t k,
                              sbps_error *err)
{
    const saved_column *c = &b->column[k];
    column_use *use = &p->use[i];
    bool target = c->role == ROLE_TARGET;
    use->kind = kind_of(p, i, c->kind);
    use->slot = p->slot[i] = k;
    p->feature[k] = i;
    if (c->kind != USE_CATEGORY) return SBPS_OK;
    p->categories++;
    use->levels = levels_create();
    bool ready = use->levels && add_levels(use->levels, target ? b->label : c->level,
                                           target ? b->labels : c->levels);
    if (ready && !target) use->levels->known = c->levels;
    return ready ? SBPS_OK : fail_memory(err);
}

static size_t find_named(const saved_schema *b, const char *name)
{
    for (size_t k = 0; name && k < b->columns; k++)
        if (strcmp(b->column[k].name, name) == 0) return k;
    return SIZE_MAX;
}

static sbps_status use_columns(const saved_schema *b, column_schema *p, const bool *needed,
                               sbps_error *err)
{
    const columns *c = p->columns;
    sbps_status status = SBPS_OK;
    for (size_t k = 0; k < b->columns; k++) p->feature[k] = SIZE_MAX;
    for (size_t i = 0; status == SBPS_OK && i < c->count; i++) {
        size_t k = find_named(b, c->name[i]);
        if (k != SIZE_MAX && needed[k]) status = use_column(b, p, i, k, err);
    }
    for (size_t k = 0; status == SBPS_OK && k < b->columns; k++)
        if (needed[k] && p->feature[k] == SIZE_MAX)
            status = fail_missing_column(b, p->path, c, k, err);
    for (size_t i = c->count; i-- > 0;)
        p->numbers[i] = p->use[i].kind == USE_NUMBER ? p->numbers[i + 1] + 1 : 0;
    return status;
}

/* Creates a schema that only reads cells; feature[slot] is the column of the file. */
static sbps_status create_read_schema(const saved_schema *b, const char *path, const columns *c,
                                      const bool *needed, column_schema **out, sbps_error *err)
{
    column_schema *p = *out = calloc(1, sizeof *p);
    if (!p) return fail_memory(err);
    *p = (column_schema){.path = path,
                         .columns = c,
                         .use = calloc(c->count + 1, sizeof *p->use),
                         .slot = calloc(c->count + 1, sizeof *p->slot),
                         .numbers = calloc(c->count + 1, sizeof *p->numbers),
                         .feature = calloc(b->columns + 1, sizeof *p->feature),
                         .target = SIZE_MAX,
                         .weight = SIZE_MAX,
                         .offset = SIZE_MAX,
                         .trials = SIZE_MAX,
                         .weight_slot = SIZE_MAX,
                         .offset_slot = SIZE_MAX,
                         .first = b->columns,
                         .width = b->columns + 1,
                         .drop_missing = true,
                         .keeps_missing = true,
                         .c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    bool ready = p->use && p->slot && p->numbers && p->feature && p->c_locale;
    return ready ? use_columns(b, p, needed, err) : fail_memory(err);
}

sbps_status saved_schema_match(const saved_schema *b, const char *path, const columns *c,
                               new_row_request request, column_schema **out, sbps_error *err)
{
    bool *needed = calloc(b->columns + 1, sizeof *needed);
    *out = NULL;
    if (!needed) return fail_memory(err);
    need_columns(b, request, needed);
    sbps_status status = create_read_schema(b, path, c, needed, out, err);
    free(needed);
    return status;
}

sbps_status saved_schema_open(const saved_schema *b, const char *path, new_row_request request,
                              column_types *types, row_source *s, sbps_error *err)
{
    const rows_spec spec = {
        .no_header = b->no_header, .na = b->na, .encoding = request.encoding};
    *s = (row_source){.of_several = true};
    sbps_status status = source_begin(&(text_input){path, -1}, &spec, types, s, err);
    s->of_several = true;
    if (status != SBPS_OK) return status;
    return saved_schema_match(b, s->source->path, &s->names, request, &s->schema, err);
}

/* Notes on the types that columns were found to have and what follows from them, so that users
 * can correct them. */
#include "ingest/design/design_matrix.h"

#include "core/printable.h"
#include "core/text.h"
#include "ingest/schema/levels.h"
#include <stdlib.h>
#include <string.h>

#define FEW_NUMBERS         20             /* numbers that may be levels among texts */
#define NAMED_MAX           8              /* columns in a note */
#define IDENTIFIER_MIN      100            /* levels from which a few may occur twice */
#define IDENTIFIER_FRACTION 0.9            /* of the rows */
#define MANY_LEVELS         ((size_t)1000) /* levels from which a group is suggested */

/* Returns the number of levels that rows have; *row_count is the number of those rows. */
static size_t count_used(const levels *l, size_t *row_count)
{
    size_t used = 0;
    *row_count = 0;
    for (size_t k = 0; k < l->count; k++) {
        used += l->item[k].rows > 0;
        *row_count += l->item[k].rows;
    }
    return used;
}

bool is_identifier(const column_use *use)
{
    size_t row_count;
    if (!use->inferred || !use->levels) return false;
    size_t used = count_used(use->levels, &row_count);
    bool nearly =
        used >= IDENTIFIER_MIN && (double)used > IDENTIFIER_FRACTION * (double)row_count;
    return used > 1 && (used == row_count || nearly);
}

static const char *column_name(const design *g, size_t f)
{
    return g->schema->columns->name[g->schema->feature[f]];
}

static const column_use *use_of(const design *g, size_t f)
{
    return &g->schema->use[g->schema->feature[f]];
}

/* ---- notes ---- */

typedef enum { NOTE_CATEGORY, NOTE_IDENTIFIER, NOTE_DATE, NOTE_TIME, NOTE_NONE } note_kind;

static note_kind note_kind_of(const column_use *use)
{
    if (use->kind == USE_DATE) return NOTE_DATE;
    if (use->kind == USE_TIME) return NOTE_TIME;
    if (!use->inferred) return NOTE_NONE;
    return is_identifier(use) ? NOTE_IDENTIFIER : NOTE_CATEGORY;
}

/* One note for all columns of a kind: `one` for a single column, `several` for more. */
static sbps_status note_columns(const design *g, note_kind what, const char *one,
                                const char *several, sbps_error *err)
{
    text names = {0};
    size_t count = 0;
    for (size_t f = 0; f < g->schema->features; f++) {
        if (note_kind_of(use_of(g, f)) != what || ++count > NAMED_MAX) continue;
        if (count > 1) text_add(&names, ", ");
        size_t row_count;
        const column_use *use = use_of(g, f);
        text_add(&names, "'%s'", show_name(column_name(g, f)).text);
        if (use->levels) text_add(&names, " (%zu levels)", count_used(use->levels, &row_count));
    }
    if (count > NAMED_MAX) text_add(&names, " and %zu more", count - NAMED_MAX);
    char *list = text_take(&names);
    sbps_status status = list ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && count > 0)
        status = rows_note(g->r, err, "%s %s %s", count > 1 ? "columns" : "column", list,
                           count > 1 ? several : one);
    free(list);
    return status;
}

static bool is_number(const level *l, locale_t c_locale)
{
    return cell_type(l->text, l->text + l->length, false, c_locale) == TYPE_NUMBER;
}

/* Fails for columns of numbers with a few texts: a text may stand for a missing number, or be
 * an error. A few numbers among texts are levels: 0, 1, 2, 3+. */
static sbps_status refuse_mixed(const design *g, size_t f, sbps_error *err)
{
    const column_use *use = use_of(g, f);
    size_t column = g->schema->feature[f], numbers = 0, count = use->levels->count;
    const level *non_number = NULL;
    for (size_t k = 0; k < count; k++)
        if (is_number(&use->levels->item[k], g->schema->c_locale))
            numbers++;
        else if (!non_number)
            non_number = &use->levels->item[k];
    bool many = numbers > FEW_NUMBERS || is_identifier(use);
    if (!non_number || 2 * numbers <= count || !many) return SBPS_OK;
    return fail(
        err, SBPS_BAD_FILE,
        "%s:%zu: column '%s': '%s' is not a number, as most of its cells are; --na lists "
        "texts that mean a missing value, --exclude leaves the column out, --categorical "
        "makes each of its %zu texts a level",
        g->schema->path, g->schema->columns->types->line[column],
        show_name(column_name(g, f)).text,
        show(non_number->text, non_number->text + non_number->length).text, count);
}

static sbps_status note_many_levels(const design *g, size_t f, sbps_error *err)
{
    size_t row_count, used = count_used(use_of(g, f)->levels, &row_count);
    shown name = show_name(column_name(g, f));
    if (used <= MANY_LEVELS) return SBPS_OK;
    return rows_note(
        g->r, err,
        "column '%s' has %zu levels, each with a coefficient and a prior of its own; "
        "as a group, (1 | %s) in a formula, they share information",
        name.text, used, name.text);
}

static bool is_foreign(const levels *l)
{
    for (size_t k = 0; l && k < l->count; k++)
        if (!is_utf8(l->item[k].text, l->item[k].length)) return true;
    return false;
}

/* Notes the first column whose texts are not UTF-8. */
static sbps_status note_encoding(const design *g, sbps_error *err)
{
    const column_schema *p = g->schema;
    for (size_t i = 0; i < p->columns->count; i++)
        if (is_foreign(p->use[i].levels))
            return rows_note(g->r, err,
                             "texts of column '%s' are not UTF-8 and read as Latin-1; "
                             "--encoding latin1 does so for all text",
                             show_name(p->columns->name[i]).text);
    return SBPS_OK;
}

sbps_status design_note_types(const design *g, sbps_error *err)
{
    sbps_status status = note_columns(g, NOTE_CATEGORY, "holds text and is a category",
                                      "hold text and are categories", err);
    if (status == SBPS_OK)
        status = note_columns(g, NOTE_IDENTIFIER,
                              "holds nearly as many texts as there are rows and is left out; "
                              "--categorical keeps it",
                              "hold nearly as many texts as there are rows and are left out; "
                              "--categorical keeps them",
                              err);
    if (status == SBPS_OK)
        status = note_columns(g, NOTE_DATE, "holds dates: days since 1970-01-01",
                              "hold dates: days since 1970-01-01", err);
    if (status == SBPS_OK)
        status = note_columns(g, NOTE_TIME, "holds times: seconds since 1970-01-01 00:00 UTC",
                              "hold times: seconds since 1970-01-01 00:00 UTC", err);
    for (size_t f = 0; status == SBPS_OK && f < g->schema->features; f++) {
        const column_use *use = use_of(g, f);
        if (!use->levels || use->group) continue;
        if (use->inferred && !g->schema->columns->typed) status = refuse_mixed(g, f, err);
        if (status == SBPS_OK && !is_identifier(use)) status = note_many_levels(g, f, err);
    }
    return status == SBPS_OK ? note_encoding(g, err) : status;
}

/* Returns the column for which most rows were dropped, of those with fewer than `below`, or as
 * many and after column `after`; SIZE_MAX: none. */
static size_t next_missing(const column_schema *p, size_t below, size_t after)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < p->columns->count; i++) {
        size_t count = p->use[i].missing;
        bool left = count > 0 && (count < below || (count == below && i > after));
        if (left && (found == SIZE_MAX || count > p->use[found].missing)) found = i;
    }
    return found;
}

sbps_status rows_note_dropped(rows *r, const column_schema *p, sbps_error *err)
{
    text column_list = {0};
    if (r->table.dropped == 0) return SBPS_OK;
    size_t i = next_missing(p, SIZE_MAX, 0);
    for (size_t k = 0; i != SIZE_MAX && k < NAMED_MAX; k++) {
        text_add(&column_list, "%s'%s' (%zu)", k ? ", " : "",
                 show_name(p->columns->name[i]).text, p->use[i].missing);
        i = next_missing(p, p->use[i].missing, i);
    }
    if (i != SIZE_MAX) text_add(&column_list, ", ...");
    char *list = text_take(&column_list);
    sbps_status status =
        list ? rows_note(r, err, "dropped %zu of %zu rows with missing values: %s",
                         r->table.dropped, r->table.dropped + total_rows(r), list)
             : fail_memory(err);
    free(list);
    return status;
}

/* ---- references ---- */

static sbps_status fail_level(const column_schema *p, size_t column, const size_t *order,
                              size_t used, sbps_error *err)
{
    const column_use *use = &p->use[column];
    const char **names = malloc((used + 1) * sizeof *names);
    if (!names) return fail_memory(err);
    for (size_t i = 0; i < used; i++) names[i] = use->levels->item[order[i]].text;
    name_hint hint = nearest_or_all(use->reference, names, used);
    free(names);
    return fail(err, SBPS_BAD_ARG, "%s: --reference: column '%s' has no level '%s'%s", p->path,
                show_name(p->columns->name[column]).text, show_name(use->reference).text,
                hint.text);
}

sbps_status put_reference_first(const column_schema *p, size_t column, size_t *order,
                                size_t used, sbps_error *err)
{
    const column_use *use = &p->use[column];
    if (!use->reference) return SBPS_OK;
    for (size_t i = 0; i < used; i++) {
        const char *own = use->levels->item[order[i]].text;
        if (strcmp(own, use->reference) != 0 && !same_decimal(own, use->reference)) continue;
        size_t chosen = order[i];
        memmove(order + 1, order, i * sizeof *order);
        order[0] = chosen;
        return SBPS_OK;
    }
    return fail_level(p, column, order, used, err);
}

/* The design of a formula: its variables are evaluated in each row as read, and its terms
 * multiplied. */
#include "ingest/design/formula_design.h"

#include "core/memory.h"
#include "core/printable.h"
#include "ingest/schema/levels.h"
#include "table/row_groups.h"
#include <stdlib.h>
#include <string.h>

/* ---- levels ---- */

/* Copies the names of ranked levels. */
static sbps_status name_levels(const levels *l, const size_t *order, coded_levels *to,
                               sbps_error *err)
{
    for (size_t i = 0; i < to->count; i++) {
        const level *from = &l->item[order[i]];
        to->rank[order[i]] = i;
        if (!(to->name[i] = utf8_copy(from->text, from->length))) return fail_memory(err);
    }
    return SBPS_OK;
}

/* Ranks the levels that rows have, the reference first. */
static sbps_status rank_levels(const column_schema *p, size_t column, coded_levels *to,
                               sbps_error *err)
{
    const levels *l = p->use[column].levels;
    size_t *order = malloc((l->count + 1) * sizeof *order);
    to->rank = calloc(l->count + 1, sizeof *to->rank);
    to->name = calloc(l->count + 1, sizeof *to->name);
    sbps_status status = SBPS_OK;
    if (!order || !to->rank || !to->name)
        status = fail_memory(err);
    else
        status = levels_order(l, order, &to->count, err);
    if (status == SBPS_OK) status = put_reference_first(p, column, order, to->count, err);
    if (status == SBPS_OK) status = name_levels(l, order, to, err);
    if (status == SBPS_OK) levels_rank_joined(l, to->rank);
    free(order);
    return status;
}

/* Returns the number of levels: 0 for a column with a level of its own in nearly every row,
 * unless it is a group. */
static size_t levels_taken(const column_schema *p, const formula_column *c,
                           const coded_levels *l)
{
    return is_identifier(&p->use[c->source]) && !c->group ? 0 : l->count;
}

static sbps_status note_single_level(design *g, const formula_column *c, sbps_error *err)
{
    if (c->levels != 1 || c->group) return SBPS_OK;
    return rows_note(g->r, err, "column '%s' has a single level ('%s') and no effect",
                     show_name(c->name).text, show_name(c->level[0]).text);
}

/* Ranks the levels of all categories, and hands them to the formula. */
static sbps_status code_columns(design *g, sbps_error *err)
{
    const column_schema *p = g->schema;
    formula *f = p->formula;
    sbps_status status = SBPS_OK;
    g->coded = calloc(f->columns + 1, sizeof *g->coded);
    if (!g->coded) return fail_memory(err);
    for (size_t k = 0; status == SBPS_OK && k < f->columns; k++) {
        formula_column *c = &f->column[k];
        if (!c->category) continue;
        status = rank_levels(p, c->source, &g->coded[k], err);
        c->rank = g->coded[k].rank;
        c->level = g->coded[k].name;
        c->levels = levels_taken(p, c, &g->coded[k]);
        if (status == SBPS_OK) status = note_single_level(g, c, err);
    }
    return status;
}

void formula_design_clear(design *g)
{
    for (size_t k = 0; g->coded && k < g->schema->formula->columns; k++) {
        free(g->coded[k].rank);
        free_texts(g->coded[k].name, g->coded[k].count);
    }
    free(g->coded);
}

/* ---- columns ---- */

/* Returns the column of the file that a term consists of; NULL: it is computed. */
static const char *source_of(const formula *f, const design_term *t)
{
    const variable *v = &f->variable[t->variable[0]];
    bool plain = t->count == 1 && v->of->kind == NODE_NAME;
    return plain ? v->of->name : NULL;
}

static sbps_status add_term_columns(design *g, const formula_design *d, const design_term *t,
                                    sbps_error *err)
{
    const formula *f = g->schema->formula;
    const char *source = source_of(f, t);
    const variable *v = &f->variable[t->variable[0]];
    bool names_levels = source && v->levels && !t->full[0];
    char *const *names = names_levels ? f->column[v->column].level : NULL;
    sbps_status status = SBPS_OK;
    for (size_t c = 0; status == SBPS_OK && c < t->width; c++) {
        const char *name = d->names[t->first + c];
        status = add_column(g->r, name, source ? source : name, names ? names[c + 1] : NULL,
                            names ? names[0] : NULL, err);
    }
    return status;
}

sbps_status formula_design_place(design *g, sbps_error *err)
{
    formula *f = g->schema->formula;
    const formula_design *d = &f->fixed;
    sbps_status status = code_columns(g, err);
    f->limits = (formula_limits){.dense = g->spec->dense, .effects = GROUP_EFFECTS};
    if (status == SBPS_OK) status = formula_fit(f, g->all, err);
    if (status != SBPS_OK) return status;
    g->r->intercept = d->intercept;
    if (d->intercept) status = add_column(g->r, "intercept", NULL, NULL, NULL, err);
    for (size_t t = 0; status == SBPS_OK && t < d->terms.terms; t++)
        status = add_term_columns(g, d, &d->term[t], err);
    return status;
}

/* ---- rows ---- */

size_t formula_design_entries(const design *g, const formula_scratch *s, const double *row,
                              uint32_t *column, double *value)
{
    const formula *f = g->schema->formula;
    formula_values(f, row, s);
    return design_row(f, &f->fixed, s, column, value);
}

void formula_design_put(const design *g, const formula_scratch *s, const double *row, size_t to)
{
    const rows *r = g->r;
    double *x = r->storage.x + to * r->stride;
    size_t n = formula_design_entries(g, s, row, s->column, s->value);
    memset(x, 0, r->stride * sizeof *x);
    if (r->intercept) x[0] = 1.0;
    for (size_t k = 0; k < n; k++) x[s->column[k]] = s->value[k];
}

/* row_values.all: values in all rows of chunks. */
static sbps_status all_of_chunks(void *self, const program *of, double *value, sbps_error *err)
{
    const chunk_values *from = self;
    const chunks *c = from->read;
    double *line = run_line(c) ? new_doubles(run_line(c)) : NULL;
    if (run_line(c) && !line) return fail_memory(err);
    for (size_t k = 0; k < c->runs; k++) {
        double *at = c->run[k].first;
        for (size_t i = 0; i < c->run[k].rows; i++)
            *value++ = formula_number(from->of, of, run_next(c, &at, line));
    }
    free(line);
    return SBPS_OK;
}

row_values values_of_chunks(chunk_values *from)
{
    return (row_values){all_of_chunks, from, from->read->rows};
}

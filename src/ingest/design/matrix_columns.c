/* Names, places and origins of the design's columns. */
#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "ingest/design/design_matrix.h"
#include "ingest/schema/levels.h"
#include "linalg/dense_cost.h"
#include "linalg/kernels.h"
#include "table/row_groups.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDE ((size_t)2000) /* columns from which the user is warned */
/* Seconds on one processor with 10,000 sparse columns, scaled by the cube of their number: 13
 * Newton steps, and all of set-up of a logistic regression. Measured at 3000 columns. */
#define WIDE_MODE   530.0
#define WIDE_SET_UP 2500.0

static const char *feature_name(const column_schema *p, size_t f)
{
    return p->columns->name[p->feature[f]];
}

static char *name_of(const level *l)
{
    return utf8_copy(l->text, l->length);
}

static sbps_status name_level(const char *column, const level *l, char **out, sbps_error *err)
{
    char *level_name = name_of(l);
    int made = level_name ? asprintf(out, "%s=%s", column, level_name) : -1;
    free(level_name);
    return made < 0 ? fail_memory(err) : SBPS_OK;
}

/* Adds the origin of the column named last, which belongs to the table from now on. */
static sbps_status add_origin(rows *r, const char *column, const char *own,
                              const char *reference, sbps_error *err)
{
    column_origin *all = realloc(r->table.origin, (r->d + 1) * sizeof *all);
    if (!all) {
        free(r->table.names[r->d]);
        return fail_memory(err);
    }
    r->table.origin = all;
    all[r->d] =
        (column_origin){copy_text(column), copy_text(own), copy_text(reference), 0.0, 1.0};
    const column_origin *made = &all[r->d++];
    bool whole = (!column || made->column) && (!own || (made->level && made->reference));
    return whole ? SBPS_OK : fail_memory(err);
}

/* A category of one level has no column. Without an intercept that level would be lost. */
static sbps_status note_single(design *g, size_t f, const char *level_text, sbps_error *err)
{
    const column_schema *p = g->schema;
    shown column = show_name(feature_name(p, f)), only = show_name(level_text);
    if (g->spec->intercept)
        return rows_note(g->r, err, "column '%s' has a single level ('%s') and is left out",
                         column.text, only.text);
    return fail(err, SBPS_BAD_DATA, "%s: column '%s' has a single level ('%s'): leave it out",
                p->path, column.text, only.text);
}

/* Ranks the levels of a category and appends its columns (1) at r->d. */
static sbps_status place_category(design *g, size_t f, sbps_error *err)
{
    const column_schema *p = g->schema;
    const levels *l = p->use[p->feature[f]].levels;
    rows *r = g->r;
    size_t used = 0, *order = malloc((l->count + 1) * sizeof *order);
    g->place[f].rank = calloc(l->count + 1, sizeof *order);
    char **names = NULL, *reference = NULL;
    const char *column = feature_name(p, f);
    sbps_status status = SBPS_OK;
    if (!order || !g->place[f].rank)
        status = fail_memory(err);
    else
        status = levels_order(l, order, &used, err);
    if (status == SBPS_OK) status = put_reference_first(p, p->feature[f], order, used, err);
    if (status == SBPS_OK && is_identifier(&p->use[p->feature[f]]))
        used = 0;
    else if (status == SBPS_OK && used < 2)
        status = note_single(g, f, used ? l->item[order[0]].text : "", err);
    if (status == SBPS_OK && used > 0 &&
        !(names = realloc(r->table.names, (r->d + used) * sizeof *names)))
        status = fail_memory(err);
    if (names) r->table.names = names;
    if (status == SBPS_OK && used > 0 && !(reference = name_of(&l->item[order[0]])))
        status = fail_memory(err);
    for (size_t i = 0; status == SBPS_OK && i < used; i++) g->place[f].rank[order[i]] = i;
    if (status == SBPS_OK) levels_rank_joined(l, g->place[f].rank);
    for (size_t i = 1; status == SBPS_OK && i < used; i++) {
        status = name_level(column, &l->item[order[i]], &names[r->d], err);
        const char *own = names[r->d];
        if (status == SBPS_OK)
            status = add_origin(r, column, own + strlen(column) + 1, reference, err);
    }
    free(reference);
    free(order);
    return status;
}

sbps_status add_column(rows *r, const char *name, const char *column, const char *own,
                       const char *reference, sbps_error *err)
{
    char **names = realloc(r->table.names, (r->d + 1) * sizeof *names);
    if (!names) return fail_memory(err);
    r->table.names = names;
    if (!(names[r->d] = copy_text(name))) return fail_memory(err);
    return add_origin(r, column, own, reference, err);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Fails where two columns would have the same name. */
static sbps_status check_names(const column_schema *p, const rows *r, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    if (r->d < 2) return SBPS_OK;
    const char **sorted = malloc(r->d * sizeof *sorted);
    if (!sorted) return fail_memory(err);
    memcpy(sorted, r->table.names, r->d * sizeof *sorted);
    qsort(sorted, r->d, sizeof *sorted, by_text);
    for (size_t j = 1; status == SBPS_OK && j < r->d; j++)
        if (strcmp(sorted[j - 1], sorted[j]) == 0)
            status = fail(err, SBPS_BAD_DATA,
                          "%s: two coefficients would be named '%s'; rename the column",
                          p->path, show_name(sorted[j]).text);
    free(sorted);
    return status;
}

/* Returns the category with the most levels; NULL: there is none. */
static const char *widest_category(const design *g, size_t *count)
{
    const char *name = NULL;
    *count = 0;
    for (size_t f = 0; f < g->schema->features; f++) {
        const column_use *use = &g->schema->use[g->schema->feature[f]];
        const levels *l = use->levels;
        if (!l || use->group || l->count <= *count) continue;
        *count = l->count;
        name = feature_name(g->schema, f);
    }
    return name;
}

typedef struct {
    char text[32];
} time_shown;

static time_shown show_time(double seconds)
{
    time_shown t;
    double minutes = seconds / 60.0, hours = minutes / 60.0;
    if (minutes < 1.5)
        decimal_print(t.text, sizeof t.text, "%.2g seconds", seconds);
    else if (hours < 1.5)
        decimal_print(t.text, sizeof t.text, "%.2g minutes", minutes);
    else
        decimal_print(t.text, sizeof t.text, "%.3g hours", hours);
    return t;
}

/* Notes what set-up of a wide table costs, before it begins. */
static sbps_status note_width(design *g, sbps_error *err)
{
    rows *r = g->r;
    double d = (double)r->d, scale = d / 10000.0;
    size_t count;
    char *all, of[120] = "", size[32];
    if (r->d < WIDE) return SBPS_OK;
    const char *name = widest_category(g, &count);
    if (name)
        snprintf(of, sizeof of, ", most of them levels of '%s' (%zu)", show_name(name).text,
                 count);
    double cube = scale * scale * scale;
    decimal_print(size, sizeof size, "%.2g GB", dense_bytes(d) / 1e9);
    if (asprintf(&all,
                 "%s%zu coefficients%s: set-up makes matrices of %zu x %zu numbers, %s each "
                 "and up to %d at a time; on one processor the mode takes about %s or more, "
                 "and all of set-up before sampling about %s; merging rare levels makes it "
                 "shorter\n",
                 r->table.notes ? r->table.notes : "", r->d, of, r->d, r->d, size,
                 SETUP_MATRICES, show_time(WIDE_MODE * cube).text,
                 show_time(WIDE_SET_UP * cube).text) < 0)
        return fail_memory(err);
    free(r->table.notes);
    r->table.notes = all;
    return SBPS_OK;
}

/* Appends the columns of all features, without a formula. */
static sbps_status place_features(design *g, sbps_error *err)
{
    const column_schema *p = g->schema;
    rows *r = g->r;
    sbps_status status = SBPS_OK;
    r->intercept = g->spec->intercept;
    if (r->intercept) status = add_column(r, "intercept", NULL, NULL, NULL, err);
    for (size_t f = 0; status == SBPS_OK && f < p->features; f++) {
        g->place[f].column = r->d;
        if (p->use[p->feature[f]].levels)
            status = place_category(g, f, err);
        else
            status = add_column(r, feature_name(p, f), feature_name(p, f), NULL, NULL, err);
    }
    return status;
}

static const char *target_name(const column_schema *p)
{
    if (p->target != SIZE_MAX) return p->columns->name[p->target];
    return p->formula ? p->formula->response_name : "";
}

/* Joins the spellings of a number (1, 1.0) in columns of numbers that are categories. */
static sbps_status join_numbers(const column_schema *p, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t f = 0; status == SBPS_OK && f < p->features; f++) {
        levels *l = p->use[p->feature[f]].levels;
        if (l && !l->listed) status = levels_join_numbers(l, p->c_locale, err);
    }
    return status;
}

sbps_status design_place(design *g, sbps_error *err)
{
    const column_schema *p = g->schema;
    rows *r = g->r;
    r->table.notes = copy_text(p->columns->notes);
    sbps_status status = join_numbers(p, err);
    if (status == SBPS_OK)
        status = p->formula ? formula_design_place(g, err) : place_features(g, err);
    r->table.target = copy_text(target_name(p));
    bool whole = r->table.target && (r->table.notes || !p->columns->notes);
    if (!whole && status == SBPS_OK) status = fail_memory(err);
    r->storage.kind = &storage_double;
    r->stride = (r->d + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    bool groups = p->formula && p->formula->groups > 0;
    if (status == SBPS_OK && (p->features > 0 || p->formula) && r->d == 0 && !groups)
        status = fail(err, SBPS_BAD_DATA,
                      "%s: no feature is left and there is no intercept: nothing to estimate",
                      p->path);
    if (status == SBPS_OK) status = design_note_types(g, err);
    if (status == SBPS_OK) status = note_width(g, err);
    return status != SBPS_OK ? status : check_names(p, r, err);
}

/* ---- formula design ----
 *
 * The design of a formula: its variables are evaluated in each row as read, and its terms
 * multiplied. */

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
        /* none if nearly every row has a level of its own, unless these are groups */
        c->levels = is_identifier(&p->use[c->source]) && !c->group ? 0 : g->coded[k].count;
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
    if (d->intercept) status = add_column(g->r, d->names[0], NULL, NULL, NULL, err);
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

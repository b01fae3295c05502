/* Writing the saved schema: every column that was used, and what was computed from all rows.
 * docs/design.md describes the keys. */
#include "ingest/design/saved_schema.h"

#include "core/memory.h"
#include "core/printable.h"
#include "ingest/design/design_matrix.h"
#include "table/rows.h"
#include <stdlib.h>
#include <string.h>

static void add_key(text *t, const char *key)
{
    json_string(t, key);
    text_add(t, ":");
}

static void add_text(text *t, const char *key, const char *value)
{
    text_add(t, ",");
    add_key(t, key);
    if (value)
        json_string(t, value);
    else
        text_add(t, "null");
}

static void add_flag(text *t, const char *key, bool value)
{
    text_add(t, ",");
    add_key(t, key);
    text_add(t, value ? "true" : "false");
}

static void add_texts(text *t, const char *key, char *const *value, size_t count)
{
    text_add(t, ",");
    add_key(t, key);
    for (size_t k = 0; k < count; k++) {
        text_add(t, k ? "," : "[");
        json_string(t, value[k]);
    }
    text_add(t, count ? "]" : "[]");
}

static void add_numbers(text *t, const double *value, size_t count)
{
    text_add(t, "[");
    for (size_t k = 0; k < count; k++) {
        if (k) text_add(t, ",");
        json_number(t, value[k]);
    }
    text_add(t, "]");
}

/* ---- columns ---- */

static const char *kind_name(use_kind kind)
{
    return kind == USE_CATEGORY ? "category"
           : kind == USE_DATE   ? "date"
           : kind == USE_TIME   ? "time"
                                : "number";
}

static const char *role_name(const column_schema *p, size_t column)
{
    return column == p->target   ? "target"
           : column == p->offset ? "offset"
           : column == p->trials ? "trials"
           : column == p->weight ? "weights"
                                 : "feature";
}

/* Returns whether a column only groups rows, so that its levels are not stored. */
static bool only_groups(const column_schema *p, size_t column)
{
    if (!p->formula) return false;
    for (size_t k = 0; k < p->formula->columns; k++) {
        const formula_column *c = &p->formula->column[k];
        if (c->source == column) return c->group && !c->bare && !c->number;
    }
    return false;
}

/* Returns the names of levels by rank; NULL: no memory. */
static char **levels_by_rank(const design *g, size_t column, size_t *count)
{
    const column_schema *p = g->schema;
    const levels *l = p->use[column].levels;
    const size_t *rank = NULL;
    for (size_t f = 0; !p->formula && f < p->features; f++)
        if (p->feature[f] == column) rank = g->place[f].rank;
    for (size_t k = 0; p->formula && k < p->formula->columns; k++)
        if (p->formula->column[k].source == column) rank = g->coded[k].rank;
    char **name = calloc(l->count + 1, sizeof *name);
    *count = 0;
    for (size_t code = 0; name && rank && code < l->count; code++) {
        if (l->item[code].rows == 0) continue;
        name[rank[code]] = utf8_copy(l->item[code].text, l->item[code].length);
        ++*count;
    }
    return name;
}

static void add_levels(text *t, const design *g, size_t column)
{
    size_t count;
    char **name = levels_by_rank(g, column, &count);
    for (size_t k = 0; name && k < count; k++) t->failed |= !name[k];
    t->failed |= !name;
    if (!t->failed) add_texts(t, "levels", name, count);
    for (size_t k = 0; name && k < g->schema->use[column].levels->count; k++) free(name[k]);
    free(name);
}

static void write_column(text *t, const design *g, size_t column, bool first)
{
    const column_schema *p = g->schema;
    const column_use *use = &p->use[column];
    text_add(t, first ? "\n{" : ",\n{");
    add_key(t, "name");
    json_string(t, p->columns->name[column]);
    add_text(t, "is", kind_name(use->kind));
    add_text(t, "role", role_name(p, column));
    if (only_groups(p, column))
        add_flag(t, "groups", true);
    else if (use->levels && column != p->target) {
        bool out = is_identifier(use) && !use->group;
        add_flag(t, "left_out", out);
        if (!out) add_levels(t, g, column);
    }
    text_add(t, "}");
}

static void add_columns(text *t, const design *g)
{
    const column_schema *p = g->schema;
    bool first = true;
    text_add(t, ",\n\"columns\":[");
    for (size_t i = 0; i < p->columns->count; i++) {
        if (p->use[i].kind == USE_NONE) continue;
        write_column(t, g, i, first);
        first = false;
    }
    text_add(t, "]");
}

/* Without a formula: the order of the features. */
static void add_features(text *t, const column_schema *p)
{
    text_add(t, ",\n\"features\":[");
    for (size_t f = 0; f < p->features; f++) {
        if (f) text_add(t, ",");
        json_string(t, p->columns->name[p->feature[f]]);
    }
    text_add(t, "]");
}

/* ---- computed from all rows ---- */

static void add_learned(text *t, const formula *f)
{
    text_add(t, ",\n\"learned\":[");
    for (size_t k = 0; k < f->variables; k++) {
        size_t count = formula_learned(f, k, NULL);
        double *learned = new_doubles(count + 1);
        t->failed |= !learned;
        if (k) text_add(t, ",");
        if (learned) formula_learned(f, k, learned);
        if (learned) add_numbers(t, learned, count);
        free(learned);
    }
    text_add(t, "]");
}

static void add_scales(text *t, const design *g)
{
    const rows *r = g->r;
    text_add(t, ",\n\"standardize\":");
    if (!g->spec->standardize || !r->table.origin) {
        text_add(t, "null");
        return;
    }
    for (int part = 0; part < 2; part++) {
        text_add(t, part ? ",\"sd\":[" : "{\"mean\":[");
        for (size_t j = 0; j < r->d; j++) {
            if (j) text_add(t, ",");
            json_number(t, part ? r->table.origin[j].sd : r->table.origin[j].mean);
        }
        text_add(t, "]");
    }
    text_add(t, "}");
}

static void add_target(text *t, const design *g)
{
    static char *const signs[] = {"-1", "1"};
    const rows *r = g->r;
    text_add(t, ",\n\"target\":{");
    add_key(t, "name");
    json_string(t, r->table.target);
    add_flag(t, "text", g->label);
    if (g->signs)
        add_texts(t, "labels", signs, 2);
    else if (r->table.labels)
        add_texts(t, "labels", r->table.labels, r->table.label_count);
    text_add(t, "}");
}

sbps_status saved_schema_write(const design *g, char **out, sbps_error *err)
{
    text t = {0};
    const rows_spec *spec = g->spec;
    text_add(&t, "{\"version\":%d", SAVED_SCHEMA_VERSION);
    add_flag(&t, "header", !spec->no_header);
    add_text(&t, "na", nonblank_text(spec->na));
    add_flag(&t, "intercept", g->r->intercept);
    add_text(&t, "formula", g->schema->formula ? g->schema->formula->text : NULL);
    add_target(&t, g);
    add_columns(&t, g);
    if (g->schema->formula)
        add_learned(&t, g->schema->formula);
    else
        add_features(&t, g->schema);
    add_texts(&t, "design", g->r->table.names, g->r->d);
    add_scales(&t, g);
    text_add(&t, "}\n");
    return text_give(&t, out, err);
}

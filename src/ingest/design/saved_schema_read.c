/* Parsing a saved schema. The text comes from a file: nothing in it is used before it was
 * checked. Then questions about the terms of its formula. */
#include "core/decimal.h"
#include "core/memory.h"
#include "ingest/design/saved_schema.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *path;
    saved_schema *b;
    sbps_error *err;
} parsing;

static sbps_status fail_part(const parsing *p, const char *part)
{
    return fail(p->err, SBPS_BAD_FILE, "%s: the saved design cannot be read: %s", p->path,
                part);
}

/* ---- lists ---- */

static bool take_texts(const json *list, const char ***out, size_t *count)
{
    if (!list || list->kind != JSON_ARRAY) return false;
    *out = calloc(list->count + 1, sizeof **out);
    *count = 0;
    for (const json *v = *out ? list->first : NULL; v; v = v->next) {
        if (!json_text(v)) return false;
        (*out)[(*count)++] = json_text(v);
    }
    return *out;
}

static double *take_numbers(const json *list, size_t *count)
{
    if (!list || list->kind != JSON_ARRAY) return NULL;
    double *out = new_doubles(list->count + 1);
    *count = 0;
    for (const json *v = out ? list->first : NULL; v; v = v->next)
        out[(*count)++] = json_double(v, NAN);
    return out;
}

/* ---- columns ---- */

/* Returns the index of a text in a list; SIZE_MAX: it is not there. */
static size_t string_index(const char *string, const char *const *of, size_t count)
{
    for (size_t k = 0; string && k < count; k++)
        if (strcmp(string, of[k]) == 0) return k;
    return SIZE_MAX;
}

static sbps_status read_levels(const parsing *p, const json *from, saved_column *c)
{
    c->groups = json_true(json_member(from, "groups"));
    c->left_out = json_true(json_member(from, "left_out"));
    if (c->groups || c->role == ROLE_TARGET) return SBPS_OK;
    if (!c->left_out && !take_texts(json_member(from, "levels"), &c->level, &c->levels))
        return fail_part(p, "a category has no levels");
    c->rank = calloc(c->levels + 1, sizeof *c->rank);
    if (!c->rank) return fail_memory(p->err);
    for (size_t k = 0; k < c->levels; k++) c->rank[k] = k;
    return SBPS_OK;
}

static sbps_status read_column(const parsing *p, const json *from, size_t index)
{
    static const char *const kinds[] = {"number", "category", "date", "time"};
    static const use_kind uses[] = {USE_NUMBER, USE_CATEGORY, USE_DATE, USE_TIME};
    static const char *const roles[ROLES] = {
        [ROLE_FEATURE] = "feature", [ROLE_TARGET] = "target", [ROLE_WEIGHTS] = "weights",
        [ROLE_OFFSET] = "offset",   [ROLE_TRIALS] = "trials",
    };
    saved_column *c = &p->b->column[index];
    size_t kind = string_index(json_text(json_member(from, "is")), kinds, 4);
    size_t role = string_index(json_text(json_member(from, "role")), roles, ROLES);
    c->name = json_text(json_member(from, "name"));
    if (!c->name || kind == SIZE_MAX || role == SIZE_MAX)
        return fail_part(p, "a column has no name, type or role");
    c->kind = uses[kind];
    c->role = (column_role)role;
    c->column = SIZE_MAX;
    if (role != ROLE_FEATURE) p->b->of[role] = index;
    return c->kind == USE_CATEGORY ? read_levels(p, from, c) : SBPS_OK;
}

static sbps_status read_columns(const parsing *p, const json *list)
{
    saved_schema *b = p->b;
    if (!list || list->kind != JSON_ARRAY) return fail_part(p, "it has no columns");
    b->column = calloc(list->count + 1, sizeof *b->column);
    if (!b->column) return fail_memory(p->err);
    for (size_t k = 0; k < ROLES; k++) b->of[k] = SIZE_MAX;
    for (const json *v = list->first; v; v = v->next) {
        sbps_status status = read_column(p, v, b->columns++);
        if (status != SBPS_OK) return status;
    }
    return SBPS_OK;
}

/* ---- target ---- */

static sbps_status read_target(const parsing *p, const json *from)
{
    saved_schema *b = p->b;
    const json *labels = json_member(from, "labels");
    b->target = json_text(json_member(from, "name"));
    b->text_labels = json_true(json_member(from, "text"));
    if (!b->target) return fail_part(p, "it has no target");
    if (!labels) return SBPS_OK;
    if (!take_texts(labels, &b->label, &b->labels))
        return fail_part(p, "its labels are not texts");
    b->label_value = new_doubles(b->labels + 1);
    if (!b->label_value) return fail_memory(p->err);
    for (size_t k = 0; k < b->labels; k++) b->label_value[k] = decimal_read(b->label[k], NULL);
    return SBPS_OK;
}

/* ---- without a formula ---- */

static saved_column *find_column(const saved_schema *b, const char *name)
{
    for (size_t k = 0; k < b->columns; k++)
        if (strcmp(b->column[k].name, name) == 0) return &b->column[k];
    return NULL;
}

static sbps_status place_features(const parsing *p, const json *list)
{
    saved_schema *b = p->b;
    size_t at = b->intercept;
    if (!list || list->kind != JSON_ARRAY) return fail_part(p, "it has no features");
    for (const json *v = list->first; v; v = v->next) {
        saved_column *c = json_text(v) ? find_column(b, json_text(v)) : NULL;
        if (!c) return fail_part(p, "a feature is no column");
        size_t width = c->kind != USE_CATEGORY ? 1 : c->levels ? c->levels - 1 : 0;
        c->column = at;
        c->needed = !c->left_out;
        at += width;
    }
    return at == b->names ? SBPS_OK : fail_part(p, "the number of its columns is wrong");
}

/* ---- with a formula ---- */

static void need_program(saved_schema *b, const program *g)
{
    for (size_t k = 0; k < g->steps; k++)
        if (g->step[k].kind == DO_COLUMN || g->step[k].kind == DO_LEVEL)
            b->column[b->formula->column[g->step[k].column].source].needed = true;
}

/* Marks the columns that the linear predictor needs. */
static void need_columns(saved_schema *b)
{
    formula *f = b->formula;
    for (size_t k = 0; k < f->variables; k++) {
        const variable *v = &f->variable[k];
        if (v->column != SIZE_MAX)
            b->column[f->column[v->column].source].needed = true;
        else
            need_program(b, &v->value);
    }
    for (size_t k = 0; k < f->offsets; k++) need_program(b, &f->offset[k]);
    for (size_t k = 0; k < f->groups; k++)
        for (size_t j = 0; j < f->group[k].columns; j++)
            b->column[f->column[f->group[k].column[j]].source].needed = true;
}

static sbps_status bind(const parsing *p, formula *f)
{
    saved_schema *b = p->b;
    char **name = b->source = calloc(b->columns + 1, sizeof *name);
    bool *apart = calloc(b->columns + 1, sizeof *apart);
    sbps_status status = name && apart ? SBPS_OK : fail_memory(p->err);
    for (size_t k = 0; status == SBPS_OK && k < b->columns; k++) {
        column_role role = b->column[k].role;
        if (!(name[k] = copy_text(b->column[k].name))) status = fail_memory(p->err);
        apart[k] = role == ROLE_WEIGHTS || role == ROLE_OFFSET || role == ROLE_TRIALS;
    }
    if (status == SBPS_OK) status = formula_bind(f, name, apart, b->columns, p->err);
    for (size_t k = 0; status == SBPS_OK && k < f->columns; k++) {
        formula_column *c = &f->column[k];
        const saved_column *from = &b->column[c->source];
        c->slot = c->source;
        c->category = from->kind == USE_CATEGORY;
        c->levels = from->levels;
        c->rank = from->rank;
    }
    free(apart);
    return status;
}

/* Copies the names of levels into the formula's pool. */
static sbps_status name_levels(const parsing *p, formula *f)
{
    for (size_t k = 0; k < f->columns; k++) {
        formula_column *c = &f->column[k];
        const saved_column *from = &p->b->column[c->source];
        char **name = pool_array(&f->pool, from->levels + 1, sizeof *name);
        if (!name) return fail_memory(p->err);
        for (size_t j = 0; j < from->levels; j++)
            if (!(name[j] = pool_text(&f->pool, from->level[j], strlen(from->level[j]))))
                return fail_memory(p->err);
        c->level = name;
    }
    return SBPS_OK;
}

static sbps_status recall(const parsing *p, formula *f, const json *list)
{
    size_t count = list && list->kind == JSON_ARRAY ? list->count : 0;
    learned_numbers *learned = calloc(f->variables + 1, sizeof *learned);
    sbps_status status = learned ? SBPS_OK : fail_memory(p->err);
    if (status == SBPS_OK && count != f->variables)
        status = fail_part(p, "the numbers that its formula has learned are incomplete");
    const json *v = status == SBPS_OK && list ? list->first : NULL;
    for (size_t k = 0; status == SBPS_OK && v; v = v->next, k++) {
        learned[k].number = take_numbers(v, &learned[k].count);
        if (!learned[k].number)
            status = fail_part(p, "the numbers that its formula has learned are incomplete");
    }
    if (status == SBPS_OK) status = formula_recall(f, learned, p->err);
    for (size_t k = 0; learned && k < f->variables; k++) {
        double *number;
        memcpy(&number, &learned[k].number,
               sizeof number); /* ours, although const for the formula */
        free(number);
    }
    free(learned);
    return status;
}

static sbps_status read_formula(const parsing *p, const char *source, const json *learned)
{
    saved_schema *b = p->b;
    sbps_status status = formula_parse(source, &b->formula, p->err);
    if (status == SBPS_OK) status = bind(p, b->formula);
    if (status == SBPS_OK) status = formula_resolve(b->formula, p->err);
    if (status == SBPS_OK) status = name_levels(p, b->formula);
    if (status == SBPS_OK) status = recall(p, b->formula, learned);
    if (status != SBPS_OK) return status;
    need_columns(b);
    return b->formula->fixed.columns == b->names
               ? SBPS_OK
               : fail_part(p, "the number of its columns is wrong");
}

/* ---- schema ---- */

static sbps_status read_scales(const parsing *p, const json *from)
{
    saved_schema *b = p->b;
    size_t means = 0, sds = 0;
    if (!from || from->kind != JSON_OBJECT) return SBPS_OK;
    b->mean = take_numbers(json_member(from, "mean"), &means);
    b->sd = take_numbers(json_member(from, "sd"), &sds);
    bool whole = b->mean && b->sd && means == b->names && sds == b->names;
    return whole ? SBPS_OK : fail_part(p, "its standardisation is incomplete");
}

static sbps_status check_version(const parsing *p, const json *all)
{
    double version = json_double(json_member(all, "version"), NAN);
    if (version == SAVED_SCHEMA_VERSION) return SBPS_OK;
    if (version > SAVED_SCHEMA_VERSION)
        return fail(
            p->err, SBPS_BAD_FILE,
            "%s: its design has version %g, and this program reads version %d: use a newer "
            "sbps",
            p->path, version, SAVED_SCHEMA_VERSION);
    return fail_part(p, "its version is missing or unknown");
}

static sbps_status read_all(const parsing *p)
{
    saved_schema *b = p->b;
    const json *all = b->text.value;
    const char *source = json_text(json_member(all, "formula"));
    sbps_status status = check_version(p, all);
    if (status != SBPS_OK) return status;
    b->intercept = json_true(json_member(all, "intercept"));
    b->no_header = !json_true(json_member(all, "header"));
    b->na = json_text(json_member(all, "na"));
    if (!take_texts(json_member(all, "design"), &b->name, &b->names))
        return fail_part(p, "it names no columns");
    if ((status = read_columns(p, json_member(all, "columns"))) != SBPS_OK) return status;
    if ((status = read_target(p, json_member(all, "target"))) != SBPS_OK) return status;
    if ((status = read_scales(p, json_member(all, "standardize"))) != SBPS_OK) return status;
    if (b->of[ROLE_OFFSET] != SIZE_MAX) b->column[b->of[ROLE_OFFSET]].needed = true;
    return source ? read_formula(p, source, json_member(all, "learned"))
                  : place_features(p, json_member(all, "features"));
}

sbps_status saved_schema_parse(const char *source, const char *path, saved_schema **out,
                               sbps_error *err)
{
    const char *wrong = NULL;
    *out = NULL;
    saved_schema *b = calloc(1, sizeof *b);
    if (!b) return fail_memory(err);
    const parsing p = {path, b, err};
    sbps_status status = json_parse(source, &b->text, &wrong, err);
    if (status == SBPS_OK && wrong) status = fail_part(&p, wrong);
    if (status == SBPS_OK) status = read_all(&p);
    if (status == SBPS_OK)
        *out = b;
    else
        saved_schema_destroy(b);
    return status;
}

void saved_schema_destroy(saved_schema *b)
{
    if (!b) return;
    for (size_t k = 0; b->column && k < b->columns; k++) {
        free(b->column[k].level);
        free(b->column[k].rank);
    }
    formula_destroy(b->formula);
    free_texts(b->source, b->columns);
    free(b->column);
    free(b->label);
    free(b->label_value);
    free(b->name);
    free(b->mean);
    free(b->sd);
    json_clear(&b->text);
    free(b);
}

/* ---- terms that use a column ---- */

static bool uses_column(const node *n, const char *column)
{
    if (n->kind == NODE_NAME) return strcmp(n->name, column) == 0;
    for (const node *k = n->first; k; k = k->next)
        if (uses_column(k, column)) return true;
    return false;
}

/* Returns whether a variable is an increasing function of a number, which can replace it in
 * poly() and ns(). */
static bool is_rescaled(const variable *v)
{
    static const char *const calls[] = {"log",  "log2", "log10", "log1p",
                                        "sqrt", "exp",  "scale"};
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        if (is_call(v->of, calls[k])) return true;
    return false;
}

static bool is_flexible(const variable *v)
{
    return is_call(v->of, "poly") || is_call(v->of, "ns") || is_call(v->of, "bs");
}

static bool term_has(const formula *f, const design_term *t, const char *column)
{
    for (size_t k = 0; k < t->count; k++)
        if (uses_column(f->variable[t->variable[k]].of, column)) return true;
    return false;
}

formula_use saved_schema_use(const saved_schema *b, const char *column)
{
    const formula *f = b->formula;
    formula_use use = {0};
    if (!f) return (formula_use){.term = column, .terms = 1, .plain = true, .alone = true};
    for (size_t i = 0; i < f->fixed.terms.terms; i++) {
        const design_term *t = &f->fixed.term[i];
        if (!term_has(f, t, column)) continue;
        use.alone |= t->count == 1;
        if (t->count > 1) continue;
        const variable *v = &f->variable[*t->variable];
        use.terms++;
        use.plain |= v->of->kind == NODE_NAME;
        use.flexible |= is_flexible(v);
        use.rescaled |= is_rescaled(v);
        if (!use.term || is_flexible(v)) use.term = v->name;
    }
    return use;
}

bool saved_schema_interacts(const saved_schema *b, const char *column, const char *other)
{
    const formula *f = b->formula;
    for (size_t i = 0; f && i < f->fixed.terms.terms; i++)
        if (term_has(f, &f->fixed.term[i], column) && term_has(f, &f->fixed.term[i], other))
            return true;
    return false;
}

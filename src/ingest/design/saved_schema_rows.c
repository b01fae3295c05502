/* Encoding new rows, one by one: from files and from converted tables. A converted table holds
 * rows as the model needs them and the design that made them; it can be used for a run with the
 * same design. Numbers that were summed in another order differ in their last digits. */
#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "ingest/design/saved_schema.h"
#include "table/mapped_table.h"
#include "table/row_groups.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- group terms ---- */

size_t saved_schema_terms(const saved_schema *b)
{
    return b->formula ? b->formula->groups : 0;
}

const char *saved_schema_factor(const saved_schema *b, size_t index, bool *correlated)
{
    *correlated = b->formula->group[index].correlated;
    return b->formula->group[index].name;
}

size_t saved_schema_effects(const saved_schema *b, size_t index)
{
    return b->formula->group[index].design.columns;
}

const char *saved_schema_effect(const saved_schema *b, size_t of, size_t index)
{
    const formula_design *d = &b->formula->group[of].design;
    return d->intercept && index == 0 ? "Intercept" : d->names[index];
}

static size_t all_effects(const saved_schema *b)
{
    size_t sum = 0;
    for (size_t k = 0; k < saved_schema_terms(b); k++) sum += saved_schema_effects(b, k);
    return sum;
}

sbps_status encoded_row_open(const saved_schema *b, encoded_row *to, sbps_error *err)
{
    size_t padded =
        (b->names / KERNEL_LANES + 1) * KERNEL_LANES; /* padded like rows of a table */
    *to = (encoded_row){.x = new_doubles(padded),
                        .z = new_doubles(all_effects(b) + 1),
                        .level = calloc(saved_schema_terms(b) + 1, sizeof *to->level),
                        .terms = saved_schema_terms(b)};
    if (!to->x || !to->z || !to->level) return fail_memory(err);
    return b->formula ? scratch_open(b->formula, &to->scratch, err) : SBPS_OK;
}

void encoded_row_close(encoded_row *to)
{
    free(to->x);
    free(to->z);
    for (size_t k = 0; to->level && k < to->terms; k++) text_free(&to->level[k]);
    free(to->level);
    scratch_close(&to->scratch);
}

/* ---- cells ---- */

static bool is_read(const column_schema *p, size_t k)
{
    return p->feature[k] != SIZE_MAX;
}

static const level *level_read(const column_schema *p, const double *row, size_t k)
{
    return &p->use[p->feature[k]].levels->item[(size_t)row[k]];
}

static row_state refuse_level(const saved_schema *b, const column_schema *p, const double *row,
                              size_t k, encoded_row *to)
{
    const level *l = level_read(p, row, k);
    to->column = b->column[k].name;
    to->value = show(l->text, l->text + l->length);
    return ROW_UNKNOWN_LEVEL;
}

/* Returns whether all cells needed are there and all levels known. */
static row_state check_cells(const saved_schema *b, const column_schema *p, double *row,
                             encoded_row *to)
{
    for (size_t k = 0; k < b->columns; k++) {
        const saved_column *c = &b->column[k];
        if (c->left_out) row[k] = 0.0;
        if (!is_read(p, k) || c->left_out) continue;
        to->column = c->name;
        if (isnan(row[k])) return ROW_LACKS;
        bool target = c->role == ROLE_TARGET;
        size_t known = target ? b->labels : c->levels;
        if (c->kind == USE_CATEGORY && !c->groups && (size_t)row[k] >= known)
            return refuse_level(b, p, row, k, to);
    }
    return ROW_WHOLE;
}

/* ---- without a formula ---- */

static void put_features(const saved_schema *b, const double *row, double *x)
{
    memset(x, 0, b->names * sizeof *x);
    if (b->intercept) x[0] = 1.0;
    for (size_t k = 0; k < b->columns; k++) {
        const saved_column *c = &b->column[k];
        if (c->column == SIZE_MAX || c->left_out) continue;
        if (c->kind != USE_CATEGORY)
            x[c->column] = row[k];
        else if (row[k] > 0.0)
            x[c->column + (size_t)row[k] - 1] = 1.0;
    }
}

/* ---- with a formula ---- */

static row_state refuse_value(const variable *v, double value, encoded_row *to)
{
    number_shown s = number_as_written(value, 15);
    to->column = v->name;
    to->value = show_name(s.text);
    return isfinite(value) ? ROW_UNKNOWN_LEVEL : ROW_NOT_FINITE;
}

static row_state check_variable(const formula *f, const double *row, size_t k, encoded_row *to)
{
    const variable *v = &f->variable[k];
    if (v->column != SIZE_MAX) return ROW_WHOLE;
    if (v->levels && to->scratch.level[k] == SIZE_MAX)
        return refuse_value(v, formula_number(f, &v->value, row), to);
    for (size_t j = 0; !v->levels && j < v->width; j++)
        if (!isfinite(to->scratch.number[v->at + j]))
            return refuse_value(v, to->scratch.number[v->at + j], to);
    return ROW_WHOLE;
}

static void put_design(const formula *f, const formula_design *d, const formula_scratch *s,
                       double *x)
{
    size_t n = design_row(f, d, s, s->column, s->value);
    memset(x, 0, d->columns * sizeof *x);
    if (d->intercept) x[0] = 1.0;
    for (size_t k = 0; k < n; k++) x[s->column[k]] = s->value[k];
}

static void add_level(const saved_schema *b, const column_schema *p, const double *row,
                      size_t k, text *to)
{
    if (b->column[k].kind != USE_CATEGORY) {
        text_add(to, "%s", number_as_level(row[k]).text);
        return;
    }
    const level *l = level_read(p, row, k);
    char *name = utf8_copy(l->text, l->length);
    to->failed |= !name;
    if (name) text_bytes(to, name, strlen(name));
    free(name);
}

/* Writes the name of a row's group, "a" or "a:b". */
static void name_group(const saved_schema *b, const column_schema *p, const double *row,
                       const formula_group *g, text *to)
{
    text_cut(to, 0);
    for (size_t j = 0; j < g->columns; j++) {
        if (j) text_add(to, ":");
        add_level(b, p, row, b->formula->column[g->column[j]].source, to);
    }
}

static row_state encode_formula(const saved_schema *b, const column_schema *p,
                                const double *row, encoded_row *to)
{
    const formula *f = b->formula;
    double *z = to->z;
    formula_values(f, row, &to->scratch);
    for (size_t k = 0; k < f->variables; k++) {
        row_state state = check_variable(f, row, k, to);
        if (state != ROW_WHOLE) return state;
    }
    put_design(f, &f->fixed, &to->scratch, to->x);
    for (size_t k = 0; k < f->groups; k++) {
        put_design(f, &f->group[k].design, &to->scratch, z);
        name_group(b, p, row, &f->group[k], &to->level[k]);
        z += f->group[k].design.columns;
    }
    to->offset += formula_offset(f, row);
    to->column = "offset";
    return isfinite(to->offset) ? ROW_WHOLE : ROW_NOT_FINITE;
}

static void standardize(const saved_schema *b, double *x)
{
    if (!b->mean) return;
    for (size_t j = b->intercept; j < b->names; j++)
        x[j] = b->sd[j] > 0.0 ? (x[j] - b->mean[j]) / b->sd[j] : 0.0;
}

/* ---- target, weight, trials ---- */

static double cell_of(const saved_schema *b, const column_schema *p, const double *row,
                      column_role role, double fallback)
{
    size_t k = b->of[role];
    return k != SIZE_MAX && is_read(p, k) ? row[k] : fallback;
}

static double response_of(const saved_schema *b, const column_schema *p, const double *row)
{
    bool calculated = b->formula && b->of[ROLE_TARGET] == SIZE_MAX;
    return calculated ? formula_number(b->formula, &b->formula->y, row)
                      : cell_of(b, p, row, ROLE_TARGET, 0.0);
}

/* cbind(y, m) has y + m trials. */
static void read_trials(const saved_schema *b, const column_schema *p, const double *row,
                        encoded_row *to)
{
    const formula *f = b->formula;
    to->trials = cell_of(b, p, row, ROLE_TRIALS, 1.0);
    if (f && f->n.steps > 0) to->trials = formula_number(f, &f->n, row);
    if (f && f->failures) to->trials += response_of(b, p, row);
}

/* Returns the number of a label; SIZE_MAX: it is none. */
static size_t label_of(const saved_schema *b, double y)
{
    for (size_t k = 0; k < b->labels; k++)
        if (b->label_value[k] == y) return k;
    return SIZE_MAX;
}

bool saved_schema_has_trials(const saved_schema *b)
{
    const formula *f = b->formula;
    return b->of[ROLE_TRIALS] != SIZE_MAX || (f && (f->trials || f->failures));
}

static row_state read_target(const saved_schema *b, const column_schema *p, const double *row,
                             encoded_row *to)
{
    const formula *f = b->formula;
    bool counted = saved_schema_has_trials(b);
    double y = response_of(b, p, row);
    to->column = b->target;
    if (b->label && !b->text_labels) {
        size_t label = label_of(b, y);
        to->value = show_name(number_as_written(y, 15).text);
        if (label == SIZE_MAX) return ROW_UNKNOWN_LEVEL;
        y = (double)label;
    }
    to->weight = cell_of(b, p, row, ROLE_WEIGHTS, 1.0);
    if (f && f->weights) to->weight = formula_number(f, &f->w, row);
    to->y = !counted ? y : to->trials > 0.0 ? y / to->trials : 0.0;
    if (counted) to->weight *= to->trials;
    bool fine = isfinite(to->y) && isfinite(to->weight) && to->weight >= 0.0;
    return fine ? ROW_WHOLE : ROW_NOT_FINITE;
}

bool saved_schema_encode_row(const saved_schema *b, const column_schema *p, double *row,
                             new_row_request request, encoded_row *to, row_state *state)
{
    *state = check_cells(b, p, row, to);
    if (*state != ROW_WHOLE) return true;
    to->offset = cell_of(b, p, row, ROLE_OFFSET, 0.0);
    to->weight = to->trials = 1.0;
    if (!b->formula)
        put_features(b, row, to->x);
    else
        *state = encode_formula(b, p, row, to);
    if (*state != ROW_WHOLE) return true;
    standardize(b, to->x);
    if (request.target || request.trials) read_trials(b, p, row, to);
    if (request.target) *state = read_target(b, p, row, to);
    bool whole = true;
    for (size_t k = 0; k < to->terms; k++) whole = whole && !to->level[k].failed;
    return whole;
}

/* ---- converted tables ---- */

#define ROUNDING 1e-9

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) ||
           fabs(a - b) <= ROUNDING * fmax(1.0, fmax(fabs(a), fabs(b)));
}

/* Compares texts ignoring blanks, which formulas may have anywhere. */
static bool same_ignoring_blanks(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \t\n");
        b += strspn(b, " \t\n");
        if (*a != *b || !*a) return *a == *b;
    }
}

/* Compares two JSON values; NULL is a missing one. Numbers may differ by rounding. */
static bool same_json(const json *a, const json *b)
{
    if (!a || !b) return !a && !b;
    if (a->kind != b->kind || a->count != b->count) return false;
    if (a->kind == JSON_NUMBER) return same_number(a->number, b->number);
    if (a->kind == JSON_TEXT) return same_ignoring_blanks(a->text, b->text);
    const json *p = a->first, *q = b->first;
    for (; p && q; p = p->next, q = q->next) {
        if (p->key && q->key && strcmp(p->key, q->key) != 0) return false;
        if (!same_json(p, q)) return false;
    }
    return !p && !q;
}

/* Returns whether labels are the numbers 0, 1, ...: a table converted without a model does not
 * list these. */
static bool are_numbers(const saved_schema *b)
{
    bool numbered = b->label && !b->text_labels;
    for (size_t k = 0; numbered && k < b->labels; k++)
        numbered = b->label_value[k] == (double)k;
    return numbered;
}

static bool same_target(const saved_schema *b, const json *own, const json *other)
{
    if (same_json(own, other)) return true;
    const char *name = json_text(json_member(other, "name"));
    return are_numbers(b) && name && strcmp(name, b->target) == 0 &&
           !json_member(other, "labels");
}

static sbps_status compare_designs(const saved_schema *b, const char *path, const json *table,
                                   sbps_error *err)
{
    static const struct {
        const char *key, *phrase;
    } parts[] = {
        {"formula", "its formula is"},
        {"target", "its target, or the labels of it, are"},
        {"columns", "its columns, or levels of them, are"},
        {"features", "its columns are"},
        {"design", "its columns are"},
        {"learned", "what its formula has computed from its rows is"},
        {"standardize", "the means and sds that --standardize removed are"},
    };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const json *own = json_member(b->text.value, parts[k].key);
        const json *other = json_member(table, parts[k].key);
        bool target = strcmp(parts[k].key, "target") == 0;
        if (!(target ? same_target(b, own, other) : same_json(own, other)))
            return fail(err, SBPS_BAD_DATA,
                        "%s: %s not the run's, which a converted table cannot change: use the "
                        "text file "
                        "that it was made from",
                        path, parts[k].phrase);
    }
    return SBPS_OK;
}

/* Fails for trials with other weights: the table stores only their product. */
static sbps_status check_trials(const saved_schema *b, const char *path, sbps_error *err)
{
    bool weighted = b->of[ROLE_WEIGHTS] != SIZE_MAX || (b->formula && b->formula->weights);
    if (!saved_schema_has_trials(b) || !weighted) return SBPS_OK;
    return fail(
        err, SBPS_BAD_DATA,
        "%s: a converted table does not store trials and weights: use the text file that "
        "it was made from",
        path);
}

static sbps_status check_design(const saved_schema *b, const char *path, const rows *r,
                                sbps_error *err)
{
    json_document own = {0};
    const char *wrong = NULL;
    if (!r->table.design)
        return fail(
            err, SBPS_BAD_FILE,
            "%s: the table has an earlier version without its design: convert it again, or use "
            "the text file that it was made from",
            path);
    sbps_status status = json_parse(r->table.design, &own, &wrong, err);
    if (status == SBPS_OK && !wrong) status = compare_designs(b, path, own.value, err);
    bool whole = !wrong && r->d == b->names &&
                 (r->groups ? r->groups->terms : 0) == saved_schema_terms(b);
    if (status == SBPS_OK && !whole)
        status = fail(
            err, SBPS_BAD_DATA,
            "%s: its design is not the run's: use the text file that it was made from", path);
    json_clear(&own);
    return status == SBPS_OK ? check_trials(b, path, err) : status;
}

sbps_status saved_schema_map_table(const saved_schema *b, const char *path, rows **out,
                                   sbps_error *err)
{
    table_making how;
    sbps_status status = table_map(path, out, &how, err);
    if (status == SBPS_OK) status = check_design(b, path, *out, err);
    if (status == SBPS_OK) return SBPS_OK;
    rows_destroy(*out);
    *out = NULL;
    return status;
}

static void read_groups(const row_groups *g, size_t i, encoded_row *to)
{
    double *z = to->z;
    for (size_t t = 0; g && t < g->terms; t++) {
        const group_term *own = &g->term[t];
        const group_factor *factor = &g->factor[own->factor];
        text_cut(&to->level[t], 0);
        text_add(&to->level[t], "%s", factor->level[factor->of[i]]);
        for (size_t j = 0; j < own->count; j++)
            *z++ = own->column[j] == GROUP_CONSTANT ? 1.0 : g->z[i * g->width + own->column[j]];
    }
}

bool saved_schema_table_row(const saved_schema *b, const rows *r, size_t i, encoded_row *to)
{
    r->storage.kind->decode(r, i, to->x);
    to->offset = r->offset ? r->offset[i] : 0.0;
    to->y = r->y[i];
    to->weight = r->weight ? r->weight[i] : 1.0;
    to->trials = saved_schema_has_trials(b) ? to->weight : 1.0;
    read_groups(r->groups, i, to);
    bool whole = true;
    for (size_t k = 0; k < to->terms; k++) whole = whole && !to->level[k].failed;
    return whole;
}

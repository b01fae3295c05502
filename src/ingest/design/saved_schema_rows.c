/* New rows, one by one, as a model sees them. */
#include "ingest/design/saved_schema.h"

#include "core/memory.h"
#include "core/printable.h"
#include "ingest/formula/number_format.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- terms of groups ---- */

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

sbps_status seen_open(const saved_schema *b, seen_row *to, sbps_error *err)
{
    size_t padded = (b->names / KERNEL_LANES + 1) * KERNEL_LANES; /* as tables have rows */
    *to = (seen_row){.x = new_doubles(padded),
                     .z = new_doubles(all_effects(b) + 1),
                     .level = calloc(saved_schema_terms(b) + 1, sizeof *to->level),
                     .terms = saved_schema_terms(b)};
    if (!to->x || !to->z || !to->level) return fail_memory(err);
    return b->formula ? scratch_open(b->formula, &to->scratch, err) : SBPS_OK;
}

void seen_close(seen_row *to)
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
                              size_t k, seen_row *to)
{
    const level *l = level_read(p, row, k);
    to->column = b->column[k].name;
    to->value = show(l->text, l->text + l->length);
    return ROW_UNKNOWN_LEVEL;
}

/* Is everything there, and known? */
static row_state check_cells(const saved_schema *b, const column_schema *p, double *row,
                             seen_row *to)
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

/* ---- columns as they are ---- */

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

/* ---- a formula ---- */

static row_state refuse_value(const variable *v, double value, seen_row *to)
{
    number_shown s = number_as_written(value, 15);
    to->column = v->name;
    to->value = show_name(s.text);
    return isfinite(value) ? ROW_UNKNOWN_LEVEL : ROW_NOT_FINITE;
}

static row_state check_variable(const formula *f, const double *row, size_t k, seen_row *to)
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

/* "a", or "a:b". */
static void name_group(const saved_schema *b, const column_schema *p, const double *row,
                       const formula_group *g, text *to)
{
    text_cut(to, 0);
    for (size_t j = 0; j < g->columns; j++) {
        if (j) text_add(to, ":");
        add_level(b, p, row, b->formula->column[g->column[j]].source, to);
    }
}

static row_state form(const saved_schema *b, const column_schema *p, const double *row,
                      seen_row *to)
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

/* ---- beside the linear predictor ---- */

static double cell_of(const saved_schema *b, const column_schema *p, const double *row,
                      column_role role, double fallback)
{
    size_t k = b->of[role];
    return k != SIZE_MAX && is_read(p, k) ? row[k] : fallback;
}

static void see_trials(const saved_schema *b, const column_schema *p, const double *row,
                       seen_row *to)
{
    const formula *f = b->formula;
    to->trials = cell_of(b, p, row, ROLE_TRIALS, 1.0);
    if (f && f->n.steps > 0) to->trials = formula_number(f, &f->n, row);
}

/* The number of a label; SIZE_MAX: it is none. */
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

static row_state see_target(const saved_schema *b, const column_schema *p, const double *row,
                            seen_row *to)
{
    const formula *f = b->formula;
    bool counted = saved_schema_has_trials(b);
    bool calculated = f && b->of[ROLE_TARGET] == SIZE_MAX;
    double y =
        calculated ? formula_number(f, &f->y, row) : cell_of(b, p, row, ROLE_TARGET, 0.0);
    to->column = b->target;
    if (f && f->failures) to->trials += y;
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
                             new_row_request wants, seen_row *to, row_state *state)
{
    *state = check_cells(b, p, row, to);
    if (*state != ROW_WHOLE) return true;
    to->offset = cell_of(b, p, row, ROLE_OFFSET, 0.0);
    to->weight = to->trials = 1.0;
    if (!b->formula)
        put_features(b, row, to->x);
    else
        *state = form(b, p, row, to);
    if (*state != ROW_WHOLE) return true;
    standardize(b, to->x);
    if (wants.target || wants.trials) see_trials(b, p, row, to);
    if (wants.target) *state = see_target(b, p, row, to);
    bool whole = true;
    for (size_t k = 0; k < to->terms; k++) whole = whole && !to->level[k].failed;
    return whole;
}

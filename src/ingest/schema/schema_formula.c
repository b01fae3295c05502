/* The plan of a table that a formula asks for. A row has a slot for every column that is named, and behind
 * them one for weights and one for the offset where those are calculated. */
#include "ingest/schema/roles.h"

#include "core/printable.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

static sbps_status refuse_options(const column_schema *p, const rows_spec *spec,
                                  sbps_error *err)
{
    const struct {
        const char *name, *value;
    } options[] = {{"target", spec->target}, {"features", spec->features}};
    for (size_t k = 0; k < 2; k++)
        if (nonblank_text(options[k].value))
            return fail(err, SBPS_BAD_ARG,
                        "%s: --%s: the formula says what is explained, and by what", p->path,
                        options[k].name);
    if (spec->no_columns || spec->no_target)
        return fail(err, SBPS_BAD_ARG,
                    "%s: --formula: the model does not explain a target by columns", p->path);
    if (!spec->intercept)
        return fail(err, SBPS_BAD_ARG,
                    "%s: --no-intercept: a formula says so itself: y ~ 0 + x", p->path);
    return SBPS_OK;
}

/* Whoever has a part already, or none, is not what the dot stands for. */
static sbps_status bind(column_schema *p, sbps_error *err)
{
    size_t count = p->columns->count;
    bool *apart = calloc(count + 1, sizeof *apart);
    if (!apart) return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        apart[i] = p->use[i].excluded || p->use[i].kind != USE_NONE;
    sbps_status status = formula_bind(p->formula, p->columns->name, apart, count, err);
    free(apart);
    return status;
}

static sbps_status assign_response(column_schema *p, sbps_error *err)
{
    size_t k = formula_column_of(p->formula, p->formula->response);
    if (k == SIZE_MAX || p->formula->failures) return SBPS_OK; /* it is calculated */
    size_t column = p->formula->column[k].source;
    sbps_status status = assign_role(p, column, "formula", err);
    if (status == SBPS_OK) p->target = column;
    return status;
}

static sbps_status assign_formula_features(column_schema *p, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < p->formula->columns; k++) {
        const formula_column *c = &p->formula->column[k];
        column_use *use = &p->use[c->source];
        if (use->kind != USE_NONE) continue;
        status = assign_role(p, c->source, "formula", err);
        p->feature[p->features++] = c->source;
        use->group = c->group;
        use->exact = c->factor || c->group;
        use->number = c->plain || c->number;
        if (status == SBPS_OK && c->group && !c->bare && !c->number)
            status = make_category(p, c->source, err);
    }
    return status;
}

static sbps_status assign_categories(column_schema *p, const column_index *x, const char *list,
                                     sbps_error *err)
{
    if (!list) return SBPS_OK;
    char *name = malloc(strlen(list) + 1);
    sbps_status status = name ? SBPS_OK : fail_memory(err);
    while (status == SBPS_OK && next_in_list(&list, name)) {
        size_t column = 0;
        status = column_index_find(x, p->path, "categorical", name, &column, err);
        if (status == SBPS_OK && p->use[column].kind == USE_NONE)
            status =
                fail(err, SBPS_BAD_ARG, "%s: --categorical: the formula has no column '%s'",
                     p->path, show_name(name).text);
        if (status == SBPS_OK && !p->use[column].group) status = make_category(p, column, err);
    }
    free(name);
    return status;
}

static sbps_status assign_trials(column_schema *p, const rows_spec *spec, sbps_error *err)
{
    const formula *f = p->formula;
    if (nonblank_text(spec->trials) && (f->trials || f->failures || p->target == SIZE_MAX))
        return fail(err, SBPS_BAD_ARG, "%s: --trials: the formula says what is counted",
                    p->path);
    if (nonblank_text(spec->weights) && f->weights)
        return fail(err, SBPS_BAD_ARG, "%s: --weights: the formula has weights()", p->path);
    if (p->trials != SIZE_MAX && p->weight == SIZE_MAX && !f->weights) p->weight = p->trials;
    return SBPS_OK;
}

sbps_status assign_formula_roles(column_schema *p, const column_index *x, const rows_spec *spec,
                                 sbps_error *err)
{
    sbps_status status = refuse_options(p, spec, err);
    if (status == SBPS_OK) status = formula_parse(spec->formula, &p->formula, err);
    if (status == SBPS_OK)
        status = assign_named_role(p, x, "weights", spec->weights, &p->weight, err);
    if (status == SBPS_OK)
        status = assign_named_role(p, x, "offset", spec->offset, &p->offset, err);
    if (status == SBPS_OK)
        status = assign_named_role(p, x, "trials", spec->trials, &p->trials, err);
    if (status == SBPS_OK) status = bind(p, err);
    if (status == SBPS_OK) status = assign_response(p, err);
    if (status == SBPS_OK) status = assign_trials(p, spec, err);
    if (status == SBPS_OK) status = assign_formula_features(p, err);
    if (status == SBPS_OK)
        status = assign_categories(p, x, nonblank_text(spec->categorical), err);
    return status;
}

static bool calculates_weights(const formula *f)
{
    return f->weights || f->trials || f->failures;
}

sbps_status bind_formula_slots(column_schema *p, sbps_error *err)
{
    formula *f = p->formula;
    if (!f) return SBPS_OK;
    if (calculates_weights(f)) p->weight_slot = p->width++;
    if (f->offsets > 0) p->offset_slot = p->width++;
    for (size_t k = 0; k < f->columns; k++) {
        const column_use *use = &p->use[f->column[k].source];
        f->column[k].slot = use->slot;
        f->column[k].category = use->kind == USE_CATEGORY;
    }
    return formula_resolve(f, err);
}

/* ---- rows ---- */

static sbps_status fail_fault(const column_schema *p, const formula_fault *fault, size_t line,
                              sbps_error *err)
{
    if (isfinite(fault->value))
        return fail(err, SBPS_BAD_DATA, "%s:%zu: '%s': %g lies outside its intervals or levels",
                    p->path, line, fault->term, fault->value);
    return fail(err, SBPS_BAD_DATA, "%s:%zu: '%s' is %s in this row, not a finite number",
                p->path, line, fault->term,
                isnan(fault->value)  ? "not a number"
                : fault->value > 0.0 ? "infinite"
                                     : "minus infinity");
}

/* Successes of so many become a share. */
static sbps_status take_proportion(const column_schema *p, double *row, size_t line,
                                   double *trials, sbps_error *err)
{
    const formula *f = p->formula;
    double successes = row[0], other = formula_number(f, &f->n, row);
    *trials = f->failures ? successes + other : other;
    bool whole = *trials == floor(*trials) && successes == floor(successes);
    if (!whole || successes < 0.0 || successes > *trials)
        return fail(err, SBPS_BAD_DATA,
                    "%s:%zu: %g successes of %g trials: both count, 0, 1, 2, ...", p->path,
                    line, successes, *trials);
    row[0] = *trials > 0.0 ? successes / *trials : 0.0;
    return SBPS_OK;
}

static sbps_status take_weight(const column_schema *p, double *row, size_t line, double trials,
                               sbps_error *err)
{
    const formula *f = p->formula;
    double own = f->weights              ? formula_number(f, &f->w, row)
                 : p->weight != SIZE_MAX ? row[p->use[p->weight].slot]
                                         : 1.0;
    if (own < 0.0)
        return fail(err, SBPS_BAD_DATA, "%s:%zu: the weight %g is negative", p->path, line,
                    own);
    row[p->weight_slot] = own * trials;
    return SBPS_OK;
}

sbps_status schema_calculate_row(const column_schema *p, double *row, size_t line,
                                 sbps_error *err)
{
    const formula *f = p->formula;
    formula_fault fault;
    double trials = 1.0;
    sbps_status status = SBPS_OK;
    if (!formula_check(f, row, &fault)) return fail_fault(p, &fault, line, err);
    if (p->target == SIZE_MAX) row[0] = formula_number(f, &f->y, row);
    if (f->trials || f->failures) status = take_proportion(p, row, line, &trials, err);
    if (status == SBPS_OK && calculates_weights(f))
        status = take_weight(p, row, line, trials, err);
    if (f->offsets == 0) return status;
    double column_offset = p->offset == SIZE_MAX ? 0.0 : row[p->use[p->offset].slot];
    row[p->offset_slot] = column_offset + formula_offset(f, row);
    return status;
}

/* All rows are read: bases that depend on them, and from then on rows to values. */
#include "ingest/formula/formula.h"

#include "core/memory.h"
#include <stdlib.h>
#include <string.h>

static sbps_status fit_variable(formula *f, variable *v, const row_values *from, double *value,
                                sbps_error *err)
{
    const call c = {f->text, v->of, &f->pool, err};
    sbps_status status = from->all(from->self, &v->value, value, err);
    return status == SBPS_OK ? v->kind->fit(&c, v->self, value, from->rows) : status;
}

bool variable_waits(const variable *v)
{
    return v->kind && v->kind->fit;
}

static void set_widths(formula *f)
{
    f->numbers = 0;
    for (size_t k = 0; k < f->variables; k++) {
        variable *v = &f->variable[k];
        if (v->column != SIZE_MAX && !v->place)
            v->width = f->column[v->column].levels;
        else if (v->kind)
            v->width = v->kind->width(v->self);
        v->at = f->numbers;
        if (!v->levels) f->numbers += v->width;
    }
}

/* Everything is known: columns of all designs. */
static sbps_status complete(formula *f, sbps_error *err)
{
    sbps_status status = formula_order(f, err);
    if (status != SBPS_OK) return status;
    set_widths(f);
    status = design_columns(f, &f->fixed, NULL, err);
    for (size_t k = 0; status == SBPS_OK && k < f->groups; k++)
        status = design_columns(f, &f->group[k].design, &f->group[k], err);
    return status;
}

sbps_status formula_fit(formula *f, const row_values *from, sbps_error *err)
{
    double *value = NULL;
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < f->variables; k++) {
        if (!variable_waits(&f->variable[k])) continue;
        if (!value && !(value = unset_doubles(from->rows))) status = fail_memory(err);
        if (status == SBPS_OK) status = fit_variable(f, &f->variable[k], from, value, err);
    }
    free(value);
    return status == SBPS_OK ? complete(f, err) : status;
}

size_t formula_learned(const formula *f, size_t index, double *out)
{
    const variable *v = &f->variable[index];
    return variable_waits(v) ? v->kind->learned(v->self, out) : 0;
}

sbps_status formula_recall(formula *f, const learned_numbers *learned, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < f->variables; k++) {
        const variable *v = &f->variable[k];
        const call c = {f->text, v->of, &f->pool, err};
        if (variable_waits(v))
            status = v->kind->recall(&c, v->self, learned[k].number, learned[k].count);
        else if (learned[k].count > 0)
            status = fail_recall(&c);
    }
    return status == SBPS_OK ? complete(f, err) : status;
}

sbps_status scratch_open(const formula *f, formula_scratch *s, sbps_error *err)
{
    *s = (formula_scratch){.number = calloc(f->numbers + 1, sizeof *s->number),
                           .level = calloc(f->variables + 1, sizeof *s->level),
                           .column = calloc(f->entries_max + 1, sizeof *s->column),
                           .value = calloc(f->entries_max + 1, sizeof *s->value)};
    return s->number && s->level && s->column && s->value ? SBPS_OK : fail_memory(err);
}

void scratch_close(formula_scratch *s)
{
    free(s->number);
    free(s->level);
    free(s->column);
    free(s->value);
}

void formula_values(const formula *f, const double *row, const formula_scratch *s)
{
    for (size_t k = 0; k < f->variables; k++) {
        const variable *v = &f->variable[k];
        double *to = s->number + v->at;
        if (v->plain != SIZE_MAX)
            *to = row[v->plain];
        else if (v->column != SIZE_MAX) {
            const formula_column *c = &f->column[v->column];
            size_t rank = c->rank[(size_t)row[c->slot]];
            s->level[k] = v->place ? v->place[rank] : rank;
        } else {
            double x = program_run(&v->value, row, f->slot);
            if (v->levels)
                s->level[k] = v->kind->level(v->self, x);
            else if (v->kind)
                v->kind->numbers(v->self, x, to);
            else
                *to = x;
        }
    }
}

/* One fuzz case: any text is a formula whose columns can be computed, or gives an error message
 * with a position. */
#ifndef TESTS_FUZZ_FORMULA_CASE_H
#define TESTS_FUZZ_FORMULA_CASE_H

#include "ingest/formula/formula.h"
#include <stdio.h>
#include <string.h>

enum { FORMULA_ROWS = 4, FORMULA_COLUMNS = 8 };

static char formula_name[FORMULA_COLUMNS][12] = {"y", "x", "z", "n", "a", "b", "g", "odd name"};
static const double formula_rows[FORMULA_ROWS][FORMULA_COLUMNS] = {{1, 0.5, 2, 3, 0, 0, 0, 1},
                                                                   {0, -1, 1, 5, 1, 1, 1, 2},
                                                                   {1, 2, 4, 1, 0, 2, 1, 0},
                                                                   {0, 1, 3, 2, 1, 0, 0, -3}};
static const size_t formula_rank[] = {0, 1, 2};
static char formula_level[3][4] = {"u", "v", "w w"};

static sbps_status formula_all(void *self, const program *of, double *value, sbps_error *err)
{
    (void)err;
    for (size_t i = 0; i < FORMULA_ROWS; i++)
        value[i] = formula_number(self, of, formula_rows[i]);
    return SBPS_OK;
}

static sbps_status formula_make(formula *f, sbps_error *err)
{
    static char *const level[] = {formula_level[0], formula_level[1], formula_level[2]};
    char *name[FORMULA_COLUMNS];
    for (size_t c = 0; c < FORMULA_COLUMNS; c++) name[c] = formula_name[c];
    sbps_status status = formula_bind(f, name, NULL, FORMULA_COLUMNS, err);
    for (size_t k = 0; status == SBPS_OK && k < f->columns; k++) {
        formula_column *c = &f->column[k];
        c->slot = c->source;
        c->category = c->source >= 4 && c->source < 7;
        c->levels = c->source == 5 ? 3 : 2;
        c->level = level;
        c->rank = formula_rank;
    }
    if (status == SBPS_OK) status = formula_resolve(f, err);
    return status;
}

static const char *broken_design(const formula *f, const formula_design *d,
                                 const formula_scratch *s)
{
    size_t n = design_row(f, d, s, s->column, s->value);
    if (n > d->entries_max) return "entries";
    for (size_t k = 0; k < n; k++)
        if (s->column[k] < d->intercept || s->column[k] >= d->columns ||
            (k > 0 && s->column[k] <= s->column[k - 1]))
            return "columns";
    for (size_t j = 0; j < d->columns; j++)
        if (!d->names[j] || !d->names[j][0]) return "names";
    return NULL;
}

/* NULL, or the invariant that rows violate. */
static const char *broken_rows(formula *f, sbps_error *err, sbps_status *status)
{
    formula_fault fault;
    formula_scratch s;
    const char *wrong = NULL;
    for (size_t i = 0; i < FORMULA_ROWS; i++)
        if (!formula_check(f, formula_rows[i], &fault)) return fault.term ? NULL : "fault";
    const row_values from = {formula_all, f, FORMULA_ROWS};
    *status = formula_fit(f, &from, err);
    if (*status != SBPS_OK || f->fixed.columns > 4096) return NULL;
    *status = scratch_open(f, &s, err);
    for (size_t i = 0; !wrong && *status == SBPS_OK && i < FORMULA_ROWS; i++) {
        formula_values(f, formula_rows[i], &s);
        wrong = broken_design(f, &f->fixed, &s);
        for (size_t k = 0; !wrong && k < f->groups; k++)
            wrong = broken_design(f, &f->group[k].design, &s);
    }
    scratch_close(&s);
    return wrong;
}

static const char *formula_case(const char *text, bool *accepted)
{
    sbps_error err = {0};
    formula *f = NULL;
    const char *wrong = NULL;
    sbps_status status = formula_parse(text, &f, &err);
    if (status == SBPS_OK) status = formula_make(f, &err);
    if (status == SBPS_OK) wrong = broken_rows(f, &err, &status);
    formula_destroy(f);
    *accepted = status == SBPS_OK;
    if (status != SBPS_OK && strncmp(err.text, "formula, column ", 16) != 0) return "sentence";
    if (status != SBPS_OK && !strchr(err.text, '^')) return "caret";
    return wrong;
}

#endif

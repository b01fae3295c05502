/* A converted table holds rows as the model sees them, and the design that they were made by: it will do for a run whose
 * design is the same. Numbers that were summed in another order differ in their last digits. */
#include "ingest/design/saved_schema.h"

#include "table/mapped_table.h"
#include "table/row_groups.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) ||
           fabs(a - b) <= ROUNDING * fmax(1.0, fmax(fabs(a), fabs(b)));
}

/* But for blanks, of which formulas may have any. */
static bool same_ignoring_blanks(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \t\n");
        b += strspn(b, " \t\n");
        if (*a != *b || !*a) return *a == *b;
    }
}

/* NULL is what is not there. */
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

/* Labels that are the numbers 0, 1, ... need no mention: a table that was converted without a model has numbers there. */
static bool are_numbers(const saved_schema *b)
{
    bool so = b->label && !b->text_labels;
    for (size_t k = 0; so && k < b->labels; k++) so = b->label_value[k] == (double)k;
    return so;
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
        {"learned", "what its formula has learned of its rows is"},
        {"standardize", "the means and sds that --standardize took out are"},
    };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const json *own = json_member(b->text.value, parts[k].key);
        const json *other = json_member(table, parts[k].key);
        bool target = strcmp(parts[k].key, "target") == 0;
        if (!(target ? same_target(b, own, other) : same_json(own, other)))
            return fail(err, SBPS_BAD_DATA,
                        "%s: %s not the run's, and a converted table cannot be treated "
                        "otherwise: name the text that it was made of",
                        path, parts[k].phrase);
    }
    return SBPS_OK;
}

/* Shares of trials have the trials as their weights; where there are other weights, too, the trials are lost. */
static sbps_status check_trials(const saved_schema *b, const char *path, sbps_error *err)
{
    bool weighted = b->of[ROLE_WEIGHTS] != SIZE_MAX || (b->formula && b->formula->weights);
    if (!saved_schema_has_trials(b) || !weighted) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "%s: a converted table keeps no trials beside weights: name the text that it "
                "was made of",
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
            "%s: a table of an earlier version, which does not know its design: convert "
            "it again, or name the text that it was made of",
            path);
    sbps_status status = json_parse(r->table.design, &own, &wrong, err);
    if (status == SBPS_OK && !wrong) status = compare_designs(b, path, own.value, err);
    bool whole = !wrong && r->d == b->names &&
                 (r->groups ? r->groups->terms : 0) == saved_schema_terms(b);
    if (status == SBPS_OK && !whole)
        status =
            fail(err, SBPS_BAD_DATA,
                 "%s: its design is not the run's: name the text that it was made of", path);
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

static void see_groups(const row_groups *g, size_t i, seen_row *to)
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

bool saved_schema_table_row(const saved_schema *b, const rows *r, size_t i, seen_row *to)
{
    r->storage.kind->decode(r, i, to->x);
    to->offset = r->offset ? r->offset[i] : 0.0;
    to->y = r->y[i];
    to->weight = r->weight ? r->weight[i] : 1.0;
    to->trials = saved_schema_has_trials(b) ? to->weight : 1.0;
    see_groups(r->groups, i, to);
    bool whole = true;
    for (size_t k = 0; k < to->terms; k++) whole = whole && !to->level[k].failed;
    return whole;
}

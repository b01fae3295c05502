/* The terms of a design's formula that use a column of the table. */
#include "ingest/design/saved_schema.h"

#include <string.h>

static bool mentions(const node *n, const char *column)
{
    if (n->kind == NODE_NAME) return strcmp(n->name, column) == 0;
    for (const node *k = n->first; k; k = k->next)
        if (mentions(k, column)) return true;
    return false;
}

/* Functions of one number that keep its order, whose value can take its place in poly() and ns(). */
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
        if (mentions(f->variable[t->variable[k]].of, column)) return true;
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

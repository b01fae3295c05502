/* Columns along which residuals are off. */
#include "output/check/findings.h"

#include <math.h>
#include <string.h>

#define NAMED_MAX 3

static bool has_curve(const check_panel *p)
{
    return p->off && fabs(p->trend_z) > 3.0;
}

static double badness(const check_panel *p)
{
    return fmax(fabs(p->cell[p->worst].z), fabs(p->trend_z));
}

/* The next of the panels in question after those told, the worst first; NULL: none is left. */
static const check_panel *next_worst(const check_panels *all, bool curved,
                                     const check_panel *last)
{
    const check_panel *found = NULL;
    for (size_t k = 0; k < all->count; k++) {
        const check_panel *p = &all->panel[k];
        if (!p->off || has_curve(p) != curved) continue;
        bool reported =
            last && (badness(p) > badness(last) || (badness(p) == badness(last) && p <= last));
        if (!reported && (!found || badness(p) > badness(found))) found = p;
    }
    return found;
}

static void name_panel(text *t, const check_panel *p)
{
    text_add(t, "'");
    text_name(t, p->of);
    text_add(t, "'");
    if (p->class) text_add(t, " (class %s)", p->class);
}

static void add_cell(text *t, const check_panel *p)
{
    const check_cell *c = &p->cell[p->worst];
    if (c->label)
        text_add(t, "level '%s'", c->label);
    else if (c->from == c->to)
        add_formatted(t, "%.4g", c->from);
    else
        add_formatted(t, "%.4g to %.4g", c->from, c->to);
    add_formatted(t, ": %.3g %s what was predicted, z %.1f)", fabs(c->observed),
                  c->observed > 0.0 ? "above" : "below", c->z);
}

/* A curve that replaces the present term of the column: of log(x) one of log(x). */
static void advise_curve(assessment *j, const char *column, bool steps)
{
    const formula_use use = saved_schema_use(j->s->f->b, column);
    const char *of = use.rescaled && !use.plain ? use.term : column;
    text *t = &j->remedy;
    if (use.flexible)
        text_add(t, "more degrees of freedom for '%s' than %s gives it", column, use.term);
    else if (use.terms > 1)
        text_add(t, "ns(%s, 4) in the formula instead of all terms of '%s'", column, column);
    else if (steps)
        text_add(t, "ns(%s, 4) in the formula instead of '%s'", of,
                 use.term ? use.term : column);
    else
        text_add(t, "poly(%s, 2) or ns(%s, 3) in the formula instead of '%s'", of, of,
                 use.term ? use.term : column);
    if (steps && use.plain && !use.flexible)
        text_add(t, ", or factor(%s) where it has few values", column);
}

void diagnose_curves(assessment *j)
{
    const check_panels *all = &j->c->residuals;
    const check_panel *p = next_worst(all, true, NULL);
    if (!p) return;
    j->columns_off = true;
    text_add(&j->seen, "rows bend along ");
    for (int reported = 0; p && reported < NAMED_MAX;
         reported++, p = next_worst(all, true, p)) {
        text_add(&j->seen, reported ? "; " : "");
        name_panel(&j->seen, p);
        add_formatted(&j->seen, " (z of the curve %.1f; worst at ", p->trend_z);
        add_cell(&j->seen, p);
    }
    p = next_worst(all, true, NULL);
    advise_curve(j, p->of, false);
}

/* Another column that no interaction joins to this one, the worst first; NULL: there is none. */
static const char *partner_of(const assessment *j, const char *column)
{
    const row_sample *s = j->s;
    for (size_t k = 0; k < s->columns; k++)
        if (strcmp(s->column[k].name, column) != 0 &&
            !saved_schema_interacts(s->f->b, column, s->column[k].name))
            return s->column[k].name;
    return NULL;
}

static void advise_interaction(assessment *j, const char *column)
{
    const char *other = partner_of(j, column);
    if (other)
        text_add(&j->remedy, "its interactions, such as %s:%s", column, other);
    else
        text_add(&j->remedy, "columns that are not in the formula yet");
}

/* Classes taken in a wrong order are off along everything. */
static void advise_levels(assessment *j, const char *column)
{
    bool ordinal = !strcmp(j->c->model, "ordinal");
    if (ordinal)
        text_add(&j->remedy, "`sbps sample` with --levels, if the classes do not come in the "
                             "order given; else ");
    else if (!saved_schema_use(j->s->f->b, column).alone)
        text_add(&j->remedy, "'%s' in the formula by itself; or ", column);
    advise_interaction(j, column);
    if (ordinal)
        text_add(&j->remedy, ", or `sbps sample` with --model softmax, which has no order");
}

void diagnose_columns(assessment *j)
{
    const check_panels *all = &j->c->residuals;
    const check_panel *p = j->strong_priors ? NULL : next_worst(all, false, NULL);
    if (!p) return;
    j->columns_off = true;
    text_add(&j->seen, "residuals are off along ");
    for (int reported = 0; p && reported < NAMED_MAX;
         reported++, p = next_worst(all, false, p)) {
        text_add(&j->seen, reported ? "; " : "");
        name_panel(&j->seen, p);
        text_add(&j->seen, " (");
        add_cell(&j->seen, p);
    }
    p = next_worst(all, false, NULL);
    if (p->cell[p->worst].label)
        advise_levels(j, p->of);
    else
        advise_curve(j, p->of, true);
}

/* Columns along which residuals are off. */
#include "check/findings.h"

#include <math.h>
#include <string.h>

#define NAMED_MOST 3

static bool bends(const check_panel *p)
{
    return p->p < CHECK_LEVEL && fabs(p->bend) > 3.0;
}

/* Is the column bent already, as in poly(x, 2) or ns(x, 3)? */
static bool is_bent(const result *r, const char *column)
{
    static const char *const calls[] = {"poly(", "ns(", "bs("};
    for (size_t k = 0; r->info.formula && k < sizeof calls / sizeof *calls; k++)
        for (const char *at = r->info.formula; (at = strstr(at, calls[k]));) {
            at += strlen(calls[k]);
            if (strncmp(at, column, strlen(column)) == 0) return true;
        }
    return false;
}

static double badness(const check_panel *p)
{
    return fmax(fabs(p->cell[p->worst].z), fabs(p->bend));
}

/* The next of the panels in question after those told, the worst first; NULL: none is left. */
static const check_panel *next_worst(const check_panels *all, bool bent,
                                     const check_panel *last)
{
    const check_panel *found = NULL;
    for (size_t k = 0; k < all->count; k++) {
        const check_panel *p = &all->panel[k];
        if (p->p >= CHECK_LEVEL || bends(p) != bent) continue;
        bool told =
            last && (badness(p) > badness(last) || (badness(p) == badness(last) && p <= last));
        if (!told && (!found || badness(p) > badness(found))) found = p;
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

static void tell_cell(text *t, const check_panel *p)
{
    const check_cell *c = &p->cell[p->worst];
    if (c->label)
        text_add(t, "level '%s'", c->label);
    else if (c->from == c->to)
        tell(t, "%.4g", c->from);
    else
        tell(t, "%.4g to %.4g", c->from, c->to);
    tell(t, ": %.3g %s what was predicted, z %.1f)", fabs(c->observed),
         c->observed > 0.0 ? "above" : "below", c->z);
}

void judge_bends(judgement *j)
{
    const check_panels *all = &j->c->residuals;
    const check_panel *p = next_worst(all, true, NULL);
    if (!p) return;
    j->bent = true;
    bool again = is_bent(j->r, p->of);
    text_add(&j->seen, "rows bend along ");
    for (int told = 0; p && told < NAMED_MOST; told++, p = next_worst(all, true, p)) {
        text_add(&j->seen, told ? "; " : "");
        name_panel(&j->seen, p);
        tell(&j->seen, " (z of the curve %.1f; worst at ", p->bend);
        tell_cell(&j->seen, p);
    }
    p = next_worst(all, true, NULL);
    if (again)
        text_add(&j->remedy, "more freedom for '%s' than it has in the formula", p->of);
    else
        text_add(&j->remedy, "poly(%s, 2) or ns(%s, 3) in the formula in the place of '%s'",
                 p->of, p->of, p->of);
}

/* Classes taken in a wrong order are off along everything. */
static void advise_levels(judgement *j, const char *column)
{
    if (!strcmp(j->c->model, "ordinal"))
        text_add(&j->remedy,
                 "--levels, if the classes do not come in the order that was told; else "
                 "interactions, %s:column, or --model softmax, which has no order",
                 column);
    else
        text_add(&j->remedy,
                 "'%s' in the formula, and by itself; or its interactions, %s:column", column,
                 column);
}

void judge_columns(judgement *j)
{
    const check_panels *all = &j->c->residuals;
    const check_panel *p = j->held_back ? NULL : next_worst(all, false, NULL);
    if (!p) return;
    j->bent = true;
    text_add(&j->seen, "residuals are off along ");
    for (int told = 0; p && told < NAMED_MOST; told++, p = next_worst(all, false, p)) {
        text_add(&j->seen, told ? "; " : "");
        name_panel(&j->seen, p);
        text_add(&j->seen, " (");
        tell_cell(&j->seen, p);
    }
    p = next_worst(all, false, NULL);
    if (p->cell[p->worst].label)
        advise_levels(j, p->of);
    else
        text_add(&j->remedy,
                 "ns(%s, 4) in the formula in the place of '%s', or factor(%s) where "
                 "it has few values",
                 p->of, p->of, p->of);
}

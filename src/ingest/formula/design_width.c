/* Numbers of columns. A product of many factors has more columns than a size_t counts, so that sums and products are
 * of doubles until they are known to be small. */
#include "ingest/formula/design_width.h"

#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "core/text.h"
#include "linalg/dense_cost.h"
#include <stdlib.h>

#define COLUMNS_MAX         ((size_t)1 << 20)
#define NAMED_VARIABLES_MAX 4 /* variables of a term that a sentence names */

size_t width_in_term(const formula *f, const design_term *t, size_t k)
{
    const variable *v = &f->variable[t->variable[k]];
    return v->levels && !t->full[k] && v->width > 0 ? v->width - 1 : v->width;
}

static double count_columns(const formula *f, const design_term *t)
{
    double width = 1.0;
    for (size_t k = 0; k < t->count; k++) width *= (double)width_in_term(f, t, k);
    return width;
}

/* The term with the most columns, and how many all have. */
static const design_term *widest_term(const formula *f, const formula_design *d,
                                      double *columns)
{
    const design_term *widest = NULL;
    double largest = 0.0;
    *columns = d->intercept;
    for (size_t t = 0; t < d->terms.terms; t++) {
        double own = count_columns(f, &d->term[t]);
        *columns += own;
        if (widest && own <= largest) continue;
        widest = &d->term[t];
        largest = own;
    }
    return widest;
}

typedef struct {
    char text[32];
} count_shown;

static count_shown show_count(double count)
{
    count_shown s;
    decimal_print(s.text, sizeof s.text, count < 1e15 ? "%.0f" : "%.3g", count);
    return s;
}

/* "a:b", or "a:b:c:d:..." */
static void add_name(text *to, const formula *f, const design_term *t)
{
    for (size_t k = 0; k < t->count && k < NAMED_VARIABLES_MAX; k++) {
        if (k > 0) text_add(to, ":");
        text_add(to, "%s", show_name(f->variable[t->variable[k]].name).text);
    }
    if (t->count > NAMED_VARIABLES_MAX) text_add(to, ":...");
}

/* The remedy: a grouping factor instead of columns, where the term has only categories. */
static void add_remedy(text *to, const formula *f, const design_term *t)
{
    bool levels = t->count <= NAMED_VARIABLES_MAX;
    for (size_t k = 0; k < t->count; k++) {
        const variable *v = &f->variable[t->variable[k]];
        levels = levels && v->levels && v->column != SIZE_MAX;
    }
    text_add(to, "; ");
    if (levels) {
        text_add(to, "(1 | ");
        add_name(to, f, t);
        text_add(to, ") makes the levels a grouping of the rows, or merge levels");
    } else
        text_add(to, "leave terms out, or take a lower power");
}

static sbps_status fail_wide(const formula *f, const design_term *t, text *why, sbps_error *err)
{
    char *made = text_take(why);
    size_t at = t->count > 0 ? f->variable[t->variable[0]].of->at : 0;
    sbps_status status = made ? fail_at(f->text, at, err, "%s", made) : fail_memory(err);
    free(made);
    return status;
}

/* "'a:b' has 998001 columns, the whole formula 1000000" */
static void add_counts(text *to, const formula *f, const design_term *t, double columns,
                       const char *what)
{
    double own = count_columns(f, t);
    text_add(to, "'");
    add_name(to, f, t);
    text_add(to, "' has %s %s, ", show_count(own).text, what);
    text_add(to, "all terms together %s", show_count(columns).text);
}

static sbps_status check_group(const formula *f, const formula_group *g, const design_term *t,
                               double columns, sbps_error *err)
{
    text why = {0};
    if (f->limits.effects == 0 || columns <= (double)f->limits.effects) return SBPS_OK;
    text_add(&why, "(... | %s): ", show_name(g->name).text);
    add_counts(&why, f, t, columns, "effects a level");
    text_add(&why, "; at most %zu effects a level can be sampled", f->limits.effects);
    return fail_wide(f, t, &why, err);
}

static sbps_status check_fixed(const formula *f, const design_term *t, double columns,
                               sbps_error *err)
{
    text why = {0};
    char need[64];
    bool fits = !f->limits.dense || setup_fits(columns);
    if (fits && columns <= (double)COLUMNS_MAX) return SBPS_OK;
    add_counts(&why, f, t, columns, "columns");
    if (fits)
        text_add(&why, "; a table has at most %zu", COLUMNS_MAX);
    else {
        decimal_print(need, sizeof need, "%.3g GiB, and this machine has %.3g GiB",
                      setup_bytes(columns) / 0x1p30, machine_memory() / 0x1p30);
        text_add(&why, ": the matrices that set-up makes of them need %s", need);
    }
    add_remedy(&why, f, t);
    return fail_wide(f, t, &why, err);
}

/* Numbers that a row has in the term: of levels it has one. */
static size_t count_numbers(const formula *f, const design_term *t)
{
    size_t numbers = 1;
    for (size_t k = 0; k < t->count; k++)
        if (!f->variable[t->variable[k]].levels) numbers *= width_in_term(f, t, k);
    return numbers;
}

sbps_status design_widths(const formula *f, formula_design *d, const formula_group *g,
                          sbps_error *err)
{
    double columns;
    const design_term *widest = widest_term(f, d, &columns);
    sbps_status status = SBPS_OK;
    if (widest)
        status =
            g ? check_group(f, g, widest, columns, err) : check_fixed(f, widest, columns, err);
    if (status != SBPS_OK) return status;
    d->columns = d->intercept;
    d->entries_max = 0;
    for (size_t t = 0; t < d->terms.terms; t++) {
        design_term *own = &d->term[t];
        own->first = d->columns;
        own->width = (size_t)count_columns(f, own);
        d->columns += own->width;
        if (own->width > 0) d->entries_max += count_numbers(f, own);
    }
    return SBPS_OK;
}

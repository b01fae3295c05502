/* How many columns terms have, counted before any is made. */
#ifndef INGEST_DESIGN_WIDTH_H
#define INGEST_DESIGN_WIDTH_H

#include "ingest/formula/formula.h"

#define TERM_VARIABLES_MAX ((size_t)32) /* variables of a term */

/* Columns of variable k of a coded term. */
size_t width_in_term(const formula *f, const design_term *t, size_t k);
/* Places of the terms, all coded, and the number of columns; fails where the limits of the formula, or of any
 * table, are exceeded. `g`: the group term whose design it is; NULL: the fixed columns. */
sbps_status design_widths(const formula *f, formula_design *d, const formula_group *g,
                          sbps_error *err);

#endif

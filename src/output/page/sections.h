/* The sections of a page, in files of their own. Each adds what stands below its heading. */
#ifndef OUTPUT_SECTIONS_H
#define OUTPUT_SECTIONS_H

#include "output/page/page_view.h"

/* verdict.c: can it be trusted, and why. */
void page_verdict(text *t, const view *v);
/* forest.c: intervals of coefficients. */
void page_forest(text *t, const view *v);
/* errors.c: stated bias beside Monte Carlo error. */
void page_errors(text *t, const view *v);
/* chains.c: traces and ranks. */
void page_chains(text *t, const view *v);
/* growth.c: effective sample size by draws. */
void page_growth(text *t, const view *v);
/* densities.c: posteriors against priors. */
void page_densities(text *t, const view *v);
/* pairs.c: the most correlated. */
void page_pairs(text *t, const view *v);
/* table.c: leave-one-out; whether there is a table, sensitivities; what the table took, NAN: there is none. */
void page_loo(text *t, const view *v);
bool page_has_rows(const view *v);
bool page_has_own_rows(const view *v); /* of the run's table, or unknown */
bool page_has_sensitivity(const view *v);
/* What checks found to be off: of rows; of priors. */
size_t page_misfits(const view *v);
size_t page_priors_weigh(const view *v);
double page_table_seconds(const view *v);
/* checks.c: rows beside those that the model makes up. */
void page_checks(text *t, const view *v);
/* sensitivity.c: to priors and likelihood. */
void page_sensitivity(text *t, const view *v);
/* everything.c: a plain table, where there are too many for the others. */
void page_everything(text *t, const view *v);
/* origin.c: what was run. */
void page_origin(text *t, const view *v);

#endif

/* The view of a run that the sections of a page share: the parameters that are shown and their
 * draws; and the sections. */
#ifndef OUTPUT_PAGE_VIEW_H
#define OUTPUT_PAGE_VIEW_H

#include "output/page/page.h"
#include "output/summary/summary.h"

/* Limits of what is shown; the table at the end of the page has all parameters. */
enum {
    MAX_ROWS = 500,      /* parameters up to which every one has a row in all tables */
    SELECTED_ROWS = 200, /* parameters that have one if there are more */
    MAX_TRACED = 8,
    MAX_DENSITIES = 24,
    MAX_PAIRS = 6
};

typedef struct {
    const result *r;
    const page_table *table;          /* NULL: no table was given */
    const sbps_parameter *parameters; /* dim */
    size_t *shown;                    /* parameters in tables, in the order of the file */
    size_t shown_count;
    size_t *worst; /* parameters that mix worst, worst first */
    size_t worst_count;
    size_t *clearest; /* parameters farthest from 0 in sds, farthest first */
    size_t clearest_count;
    size_t
        slowest; /* the parameter whose path has the smallest ESS, always shown; dim: unknown */
    double *draws; /* scratch: three times the draws of one parameter */
} view;

/* Selects the parameters to show. `r` and `parameters` (a row of the summary for each) are
 * borrowed. */
sbps_status view_open(const result *r, const sbps_parameter *parameters, view *out,
                      sbps_error *err);
void view_close(view *v);

/* Returns the number of draws of all chains. */
size_t view_draws(const view *v);
/* Copies the draws of parameter j, chain after chain, to v->draws and returns it. */
const double *view_gather(const view *v, size_t j);
/* The same in increasing order; the result follows the unsorted draws in v->draws. */
const double *view_sorted(const view *v, size_t j);
/* True if the parameter varies and is finite, so that it can be drawn. */
bool view_varies(const view *v, size_t j);
/* Returns the smaller ESS of mean and square of the whole path; NAN: unknown. */
double view_path_ess(const view *v, size_t j);
const char *view_name(const view *v, size_t j);

/* ---- sections ----
 *
 * Each page_X appends the part of its section below the heading; page.c lists the sections in
 * order. */

/* verdict.c: can the results be trusted, and why. */
void page_verdict(text *t, const view *v);
/* parameter_tables.c: intervals; stated bias and Monte Carlo error; a plain table of all
 * parameters. */
void page_forest(text *t, const view *v);
void page_errors(text *t, const view *v);
void page_everything(text *t, const view *v);
/* chains.c: traces and ranks; effective sample size against draws. */
void page_chains(text *t, const view *v);
void page_growth(text *t, const view *v);
/* densities.c: posteriors against priors. */
void page_densities(text *t, const view *v);
void page_pairs(text *t, const view *v);
/* check_plots.c: rows against replicated tables. */
void page_checks(text *t, const view *v);
/* page_table.c: leave-one-out; sensitivity to priors and likelihood. */
void page_loo(text *t, const view *v);
void page_sensitivity(text *t, const view *v);
/* run_provenance.c: what was run. */
void page_origin(text *t, const view *v);

/* ---- the table of the run: page_table.c ---- */

bool page_has_rows(const view *v);        /* a table was given */
bool page_has_own_rows(const view *v);    /* it is that of the run, or this is unknown */
bool page_has_sensitivity(const view *v); /* sensitivities are known */
/* The number of findings on the model, and on priors. */
size_t page_misfits(const view *v);
size_t page_prior_findings(const view *v);
/* Seconds that the table took; NAN: there is none. */
double page_table_seconds(const view *v);

#endif

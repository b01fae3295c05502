/* What the sections of a page look at. */
#ifndef OUTPUT_PAGE_VIEW_H
#define OUTPUT_PAGE_VIEW_H

#include "output/page/page.h"
#include "output/summary/summary.h"

/* Most that is drawn; the table at the end has all. */
enum {
    MAX_ROWS = 500,      /* parameters with a row in every table */
    SELECTED_ROWS = 200, /* of more than those */
    MAX_TRACED = 8,
    MAX_DENSITIES = 24,
    MAX_PAIRS = 6
};

typedef struct {
    const result *r;
    const page_table *table;          /* NULL: none was given */
    const sbps_parameter *parameters; /* dim */
    size_t *shown;                    /* those in tables, in the file's order */
    size_t shown_count;
    size_t *worst; /* drawn ones that mix worst, worst first */
    size_t worst_count;
    size_t *clearest; /* drawn ones farthest from 0 in sds, clearest first */
    size_t clearest_count;
    size_t slowest; /* the one whose path has the smallest ESS: always shown; dim: unknown */
    double *draws;  /* room for those of one parameter, and twice more */
} view;

sbps_status view_open(const result *r, const sbps_parameter *parameters, view *out,
                      sbps_error *err);
void view_close(view *v);

size_t view_draws(const view *v); /* all chains' */
/* Those of parameter j, chain after chain, in v->draws. */
const double *view_gather(const view *v, size_t j);
/* The same in increasing order, behind them. */
const double *view_sorted(const view *v, size_t j);
/* Whether it varies and is finite, so that it can be drawn. */
bool view_varies(const view *v, size_t j);
/* Of mean and square, whichever is smaller, by the whole path. */
double view_path_ess(const view *v, size_t j);
const char *view_name(const view *v, size_t j);

#endif

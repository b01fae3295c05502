/* Fitting the polynomials of groups by their rows at the points of a grid. For the files of
 * this folder. */
#ifndef MODEL_GROUP_POLYNOMIAL_FIT_H
#define MODEL_GROUP_POLYNOMIAL_FIT_H

#include "model/mixed/group_polynomial.h"

/* The grid that polynomials are fitted on. The caller sets m, s, w and misfit. */
typedef struct {
    const mixed *m;
    group_polynomials *s;
    const double *w; /* the reference point */
    double misfit;   /* root mean square error that a fit may have, in log units */
    size_t points;
    double *node;    /* points * effects; owns the arrays below, too */
    double *weight;  /* points */
    double *project; /* terms * points: weight He_a / E He_a^2 */
    double *bases;   /* terms * points: He_a */
} polynomial_grid;

/* Sums over the rows of one group; width = polynomial_width, the columns of x (padded) and then
 * the auxiliaries. */
typedef struct {
    double *height;            /* points: log-likelihood there */
    double *place;             /* points * effects: v */
    double *slope_z, *slope_r; /* slopes * q, slopes * width */
    double *zz, *zr, *rr;      /* curvatures times q * q, q * width, width * width */
    /* a block of rows at one point: eta, log p and its derivatives */
    double *eta, *value, *g, *c, *g_aux, *c_aux, *aux_aux;
    /* a block of rows: weights of x_i, projected on terms; a weight; one row's columns */
    double *g_by, *c_by, *ca_by, *weigh, *padded;
} polynomial_sums;

/* Do the coordinates of (1) and of the effects' covariance make up all of phi? */
bool polynomial_is_complete(const mixed *m);
/* Sets sizes and terms, and allocates nothing. */
void polynomials_shape(const mixed *m, group_polynomials *s);
/* Fits polynomials of all groups around w, with posterior sds `sd`, and stores the groups'
 * modes as m->centre. If they would need more memory than the rows, m->polynomials stays NULL,
 * which is not a failure. */
sbps_status polynomials_fit(mixed *m, const rows *groups, const double *w, const double *sd,
                            sbps_error *err);

/* Places the sums in base; returns their size in doubles. NULL base: size only. */
size_t polynomial_carve_sums(const polynomial_grid *grid, double *base, polynomial_sums *r);
/* Makes the grid; grid->node is to be freed. */
sbps_status polynomial_grid_open(polynomial_grid *grid, sbps_error *err);
/* Fits the polynomial of group g around grid->w, where v was begun. */
void polynomial_fit(const polynomial_grid *grid, group_view *v, size_t g,
                    const group_polynomial *out, double *scratch);

#endif

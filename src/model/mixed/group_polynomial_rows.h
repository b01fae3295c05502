/* What the rows of a group say at the points of a grid, projected on polynomials. For the files of this folder. */
#ifndef MODEL_GROUP_POLYNOMIAL_ROWS_H
#define MODEL_GROUP_POLYNOMIAL_ROWS_H

#include "model/mixed/group_polynomial.h"

/* The grid that polynomials are fitted on. */
typedef struct {
    const mixed *m;
    group_polynomials *s;
    const double *w;
    double misfit; /* nats that a polynomial may be off: root of the mean square */
    size_t points;
    double *node;    /* points * effects */
    double *weight;  /* points */
    double *project; /* terms * points: weight He_a / E He_a^2 */
    double *bases;   /* terms * points: He_a */
} polynomial_grid;

/* What rows of one group say: sums, and a block's room. */
typedef struct {
    double *height;            /* points: log likelihood there */
    double *place;             /* points * effects: v */
    double *slope_z, *slope_r; /* slopes * q, slopes * (stride + auxiliaries) */
    double *zz, *zr, *rr;      /* bends * (q * q), bends * (q * wide), bends * (wide * wide) */
    double *eta, *value, *g, *c, *g_aux, *c_aux, *aux_aux;
    /* by rows of the block, projected: what weighs x_i */
    double *g_by, *c_by, *ca_by, *weigh, *padded;
} polynomial_sums;

/* Numbers of r as they lie in sums: columns, padded, and auxiliaries. */
size_t polynomial_width(const mixed *m);
size_t polynomial_column(const mixed *m, size_t j);
/* Doubles that the sums take, laid out over base unless that is NULL. */
size_t polynomial_carve_sums(const polynomial_grid *grid, double *base, polynomial_sums *r);
/* Of the group seen, around its mode. */
void polynomial_sum_rows(const polynomial_grid *grid, const group_view *v, polynomial_sums *r);

/* polynomial_fit.c: the grid, of which m, s, w and misfit are given; grid->node is to be freed. */
sbps_status polynomial_grid_open(polynomial_grid *grid, sbps_error *err);
/* Of one group around w, where v was begun. */
void polynomial_fit(const polynomial_grid *grid, group_view *v, size_t g,
                    const group_polynomial *out, double *scratch);

#endif

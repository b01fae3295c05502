/* What the rows of a group say at the points of a grid, projected on polynomials. For the files of this folder. */
#ifndef MIXED_SKETCH_ROWS_H
#define MIXED_SKETCH_ROWS_H

#include "mixed/sketch.h"

/* The grid that polynomials are fitted on. */
typedef struct {
    const mixed *m;
    sketches *s;
    const double *w;
    double misfit; /* nats that a polynomial may be off: root of the mean square */
    size_t points;
    double *node;    /* points * effects */
    double *weight;  /* points */
    double *project; /* terms * points: weight He_a / E He_a^2 */
    double *bases;   /* terms * points: He_a */
} sketch_grid;

/* What rows of one group say: sums, and a block's room. */
typedef struct {
    double *height;            /* points: log likelihood there */
    double *place;             /* points * effects: v */
    double *slope_z, *slope_r; /* slopes * q, slopes * (stride + auxiliaries) */
    double *zz, *zr, *rr;      /* bends * (q * q), bends * (q * wide), bends * (wide * wide) */
    double *eta, *value, *g, *c, *g_aux, *c_aux, *aux_aux;
    /* by rows of the block, projected: what weighs x_i */
    double *g_by, *c_by, *ca_by, *weigh, *padded;
} sketch_sums;

/* Numbers of r as they lie in sums: columns, padded, and auxiliaries. */
size_t sketch_wide(const mixed *m);
size_t sketch_place(const mixed *m, size_t j);
/* Doubles that the sums take, laid out over base unless that is NULL. */
size_t sketch_lay_out(const sketch_grid *grid, double *base, sketch_sums *r);
/* Of the group seen, around its mode. */
void sketch_see_rows(const sketch_grid *grid, const group_view *v, sketch_sums *r);

/* sketch_make.c: the grid, of which m, s, w and misfit are given; grid->node is to be freed. */
sbps_status sketch_grid_open(sketch_grid *grid, sbps_error *err);
/* Of one group around w, where v was begun. */
void sketch_make(const sketch_grid *grid, group_view *v, size_t g, const sketch *out,
                 double *scratch);

#endif

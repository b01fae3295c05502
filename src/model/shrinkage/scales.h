/* Scales of a block of weights: precisions p_j by (2) and (3) of shrink.h, and their
 * derivatives. */
#ifndef MODEL_SCALES_H
#define MODEL_SCALES_H

#include "model/shrinkage/shrink.h"

/* Instance of a regression with shrunk weights. */
typedef struct {
    shrink_shape *shape; /* owned */
    const rows *data;
    const kernels *k;
    void *rows_self;            /* instance of the regression; owned */
    size_t d, auxiliaries, dim; /* columns, auxiliaries, coordinates */
    size_t sigma;               /* coordinate of log sigma; SIZE_MAX: there is none */
    const shrink_block **in;    /* by column: the block of its weight; NULL: not shrunk */
} shrunk;

/* A block at one point w. */
typedef struct {
    const shrunk *m;
    const shrink_block *b;
    const double *w;
    double slab;       /* horseshoe: 1/c^2; R2-D2: 0 */
    double log_common; /* horseshoe: log tau sigma; R2-D2: log sigma^2 a/(b sum g) */
    double all;        /* sum over weights of the derivatives by log_common, so far */
} scale_view;

/* The block at w, which stays the caller's. */
scale_view scales_at(const shrunk *m, const shrink_block *b, const double *w);
/* p of the i-th weight of the block. */
double scales_precision(const scale_view *v, size_t i);
/* The rate of log_common along u. */
double scales_common_rate(const scale_view *v, const double *u);
/* The rate of p, the precision of weight i, along u; `common` is scales_common_rate. */
double scales_rate(const scale_view *v, size_t i, double p, const double *u, double common);
/* Adds the gradient in w of a function whose derivative by the precision p of weight i is dp;
 * collects in *v what scales_end adds. */
void scales_pull(scale_view *v, size_t i, double p, double dp, double *out);
/* Call it once, after scales_pull for every weight of the block: adds the derivatives by the
 * scales that the weights have in common. */
void scales_end(const scale_view *v, double *out);
/* The prior of a common or local scale, by its coordinate. */
prior scales_prior(const shrink_block *b, size_t coordinate);
/* The quantity that is reported for it at w: tau, c, lambda; R2, a/b, g/sum g. */
double scales_value(const shrink_block *b, const double *w, size_t coordinate);

#endif

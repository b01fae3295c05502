/* Scales of a block of weights: precisions by (2) and (3) of shrink.h, and back. */
#ifndef MODEL_SCALES_H
#define MODEL_SCALES_H

#include "model/shrinkage/shrink.h"

/* A regression whose weights are shrunk. */
typedef struct {
    shrink_shape *shape;
    const rows *data;
    const kernels *k;
    void *rows_self; /* of the regression */
    size_t d, auxiliaries, dim;
    size_t sigma;            /* coordinate of its logarithm; SIZE_MAX: none */
    const shrink_block **in; /* d: the block of a weight; NULL: it is not shrunk */
} shrunk;

/* A block at w. */
typedef struct {
    const shrunk *m;
    const shrink_block *b;
    const double *w;
    double slab,
        log_common; /* of the horseshoe: 1/c^2, log tau sigma; of R2-D2: 0, log sigma^2 a/(b sum g) */
    double all; /* derivatives that every weight has, so far */
} scale_view;

scale_view scales_at(const shrunk *m, const shrink_block *b, const double *w);
/* p of weight i of the block. */
double scales_precision(const scale_view *v, size_t i);
/* Along u: what every weight of the block has in common, and the rate of p. */
double scales_common_rate(const scale_view *v, const double *u);
double scales_rate(const scale_view *v, size_t i, double p, const double *u, double common);
/* out += gradient in w of what has the derivatives dp in the p: one weight after another, then the end. */
void scales_pull(scale_view *v, size_t i, double p, double dp, double *out);
void scales_end(const scale_view *v, double *out);
/* Of a common or local scale: its prior, and what is reported of it. */
prior scales_prior(const shrink_block *b, size_t coordinate);
double scales_value(const shrink_block *b, const double *w, size_t coordinate);

#endif

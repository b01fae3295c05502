/* A block of rows as a posterior N(centre, H^-1), H = L L', sees them: z_i = L^-1 x_i, and what their model says
 * at the reference. For influence.c, whose equations have the names. */
#ifndef POSTERIOR_WHITENED_H
#define POSTERIOR_WHITENED_H

#include "posterior/influence.h"

#define WHITENED_ROWS ((size_t)256) /* of a block, at most */

typedef struct {
    const posterior *u;
    const influence_place *at;
    size_t auxiliaries;
    size_t pitch; /* of z */
    size_t first, n;
    double *memory;
    double *z;            /* WHITENED_ROWS * pitch */
    double *reference;    /* padded to the stride */
    double *away;         /* centre - reference, likewise */
    double *eta, *shift;  /* predictors at the reference, and how far off the centre's are */
    double *moved;        /* predictors at a node */
    double *lever, *rest; /* |z|^2, and without the auxiliaries' part */
    double *g, *g0,
        *ee; /* d log p/d eta at a node and at the reference, and the second there */
    double *sum[INFLUENCE_ORDERS];
    /* as many for each auxiliary: the last of z, 2 M'z_a, derivatives as above; aa for each two of them */
    double *z_aux, *beside, *ga, *ga0, *ea, *aa;
    /* auxiliaries: squared M and M'M; node, how far that is from the reference, and where */
    double *inverse, *square, *node, *off, *at_node;
} whitened;

/* Give back with free(b->memory). */
sbps_status whitened_open(whitened *b, const posterior *u, const influence_place *at,
                          sbps_error *err);
/* A block of rows, and the model's derivatives at the reference. */
void whitened_take(whitened *b, size_t first, size_t n);
/* The block with these predictors and auxiliary coordinates. */
batch whitened_look(const whitened *b, const double *eta, const double *aux);
double whitened_weight(const whitened *b, size_t i);

#endif

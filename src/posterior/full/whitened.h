/* Rows in the coordinates of a posterior N(centre, H^-1), H = L L': z_i = L^-1 x_i, with the
 * derivatives of the model at the reference. Internal to influence.c, whose equations define
 * the names. */
#ifndef POSTERIOR_WHITENED_H
#define POSTERIOR_WHITENED_H

#include "model/likelihood/model.h"
#include "posterior/full/influence.h"
#include "posterior/full/posterior.h"

#include <pthread.h>
#include <stdatomic.h>

#define WHITENED_ROWS ((size_t)256) /* largest block */

/* What all rows have in common. */
struct influence_meter {
    const posterior *u;
    size_t auxiliaries;
    size_t pitch; /* distance between the z of two rows, in doubles */
    influence_target to;
    bool apart; /* centre and reference differ */
    double *memory;
    double *reference, *centre; /* dim */
    double *factor;             /* dim*dim: L */
    padded_line line;           /* the reference, and the direction from it to the centre */
    double *inverse, *square;   /* auxiliaries squared: M and M'M */
    double *sd;                 /* dim: posterior sds, the unit of effects */
    double *sum;                /* influence_width numbers */
    pthread_mutex_t lock;       /* guards to.effects */
    _Atomic uint64_t steepness; /* sum of (5), times STEEP_UNIT */
};

/* A block of rows; its arrays lie in the scratch of one thread. */
typedef struct {
    const influence_meter *in;
    size_t first, n;
    double *z;               /* WHITENED_ROWS * pitch */
    double *eta, *shift;     /* predictors at the reference; those at the centre minus these */
    double *moved;           /* predictors at a quadrature node */
    double *leverage, *rest; /* |z|^2, and |z| without the auxiliaries' part */
    double *g, *g0, *ee; /* d log p/d eta at a node and at the reference; l_ee at the latter */
    double *sum[INFLUENCE_ORDERS]; /* (1) or (2) of every row */
    /* WHITENED_ROWS numbers per auxiliary: z_a, the cross term 2 M'z_a, derivatives as
     * above; aa has WHITENED_ROWS numbers per pair of auxiliaries. */
    double *z_aux, *cross, *ga, *ga0, *ea, *aa;
    /* One number per auxiliary: node s, offset from the reference, and the coordinate there. */
    double *node, *off, *at_node;
    double *move;    /* dim */
    double *targets; /* scratch for y */
    const double *y;
} whitened;

/* Points the arrays of b into base and returns the doubles they take; base NULL: only
 * counts. */
size_t whitened_carve(const influence_meter *in, whitened *b, double *base);
/* Sets M (in->inverse) and M'M (in->square) from in->factor. */
void whitened_invert(influence_meter *in);
/* Loads n rows from `first` on: z, predictors and derivatives at the reference. */
void whitened_load(whitened *b, size_t first, size_t n);
/* The block as a batch with these predictors and auxiliary coordinates. */
batch whitened_batch(const whitened *b, const double *eta, const double *aux);
/* Weight of row i of the block. */
double whitened_weight(const whitened *b, size_t i);

#endif

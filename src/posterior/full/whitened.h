/* Rows as a posterior N(centre, H^-1), H = L L', sees them: z_i = L^-1 x_i, and what their model says at the
 * reference. For influence.c, whose equations have the names. */
#ifndef POSTERIOR_WHITENED_H
#define POSTERIOR_WHITENED_H

#include "posterior/full/influence.h"
#include "posterior/full/predictors.h"

#include <pthread.h>
#include <stdatomic.h>

#define WHITENED_ROWS ((size_t)256) /* of a block, at most */

/* What is the same for every row. */
struct influence_meter {
    const posterior *u;
    size_t auxiliaries;
    size_t pitch; /* of z */
    influence_target to;
    bool apart; /* centre and reference */
    double *memory;
    double *reference, *centre; /* dim */
    double *factor;             /* dim*dim */
    padded_line line;           /* the reference, padded, and the way from it to the centre */
    double *inverse, *square;   /* auxiliaries squared: M and M'M */
    double *sd;                 /* dim: of effects */
    double *sum;                /* of a row_reach, and counts */
    pthread_mutex_t lock;       /* of the effects */
    _Atomic uint64_t steepness; /* in units of 1/STEEP_UNIT; once d times too large */
};

/* Some rows, in the scratch of whoever works on them. */
typedef struct {
    const influence_meter *in;
    size_t first, n;
    double *z;            /* WHITENED_ROWS * pitch */
    double *eta, *shift;  /* predictors at the reference, and how far off the centre's are */
    double *moved;        /* predictors at a node */
    double *lever, *rest; /* |z|^2, and |z| without the auxiliaries' part */
    double *g, *g0, *ee;  /* d log p/d eta at a node and at the reference, the second there */
    double *sum[INFLUENCE_ORDERS];
    /* WHITENED_ROWS for each auxiliary: the last of z, 2 M'z_a, derivatives as above; aa for each two of them */
    double *z_aux, *beside, *ga, *ga0, *ea, *aa;
    /* auxiliaries: node, how far that is from the reference, and where */
    double *node, *off, *at_node;
    double *move;    /* dim */
    double *targets; /* room for y */
    const double *y;
} whitened;

/* Doubles that a block takes; base: where they are, NULL: only counted. */
size_t whitened_carve(const influence_meter *in, whitened *b, double *base);
/* M and M'M of in->factor. */
void whitened_invert(influence_meter *in);
/* Rows, and the model's derivatives at the reference. */
void whitened_take(whitened *b, size_t first, size_t n);
/* The block with these predictors and auxiliary coordinates. */
batch whitened_batch(const whitened *b, const double *eta, const double *aux);
double whitened_weight(const whitened *b, size_t i);
/* moving.c: rows of a block that may move something; what ranks have of them; sd_j = |L^-1 e_j|, the posterior's at the mode
 * (`room`: dim). */
void row_effects_add(const whitened *b, influence_meter *in);
void moving_merge(const row_partition *partition, row_effects *kept);
void row_effects_scale(size_t d, const double *factor, double *scratch, double *sd);
/* reach.c: of the rows of a block, bend += their part of it in z; and when all are seen. */
void reach_add(const whitened *b, const row_reach *to, double *third_sum);
void reach_finish(const influence_meter *in, const double *sum);

#endif

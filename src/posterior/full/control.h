/* Control variates: what is known exactly at a reference point is taken out of the mini-batch
 * noise, to the first order (gradient) or the second (Hessian). Immutable, shared by all chains. */
#ifndef POSTERIOR_CONTROL_H
#define POSTERIOR_CONTROL_H

#include "posterior/full/posterior.h"

typedef enum { CONTROL_GRADIENT, CONTROL_HESSIAN } control_order;

typedef struct control {
    double *w;        /* dim: the reference */
    double *gradient; /* dim: sum over all rows of weight_i grad log p_i there */
    double *hessian; /* second order: of the same sum, rows padded to KERNEL_LANES; else NULL */
    /* Predictor models, derivatives of log p of every row there: by eta and by the auxiliaries, one after
     * another (NULL without such); in the second order eta itself and the second derivatives. */
    double *d_eta, *d_aux;
    double *eta, *ee, *ea, *aa;
    /* Models that expand: of every row the gradient there and, in the second order, the lower triangle of the
     * Hessian, packed: `each_size` numbers. NULL: they are asked again. */
    double *each;
    size_t each_size;
    /* Models with a mean function, see slope_terms: y - d_eta, in the second order + ee eta. */
    double *base;
    /* Of tables that are lean, see rows.h: w as the rows want it, and of a predictor's model no number of any row, which
     * are asked again at every look. Else NULL. */
    double *at;
} control;

/* hessian: the posterior's at w, dim*dim, where it is known already, or NULL. */
sbps_status control_create(const posterior *target, const double *w, control_order order,
                           const double *hessian, control **out, sbps_error *err);
void control_destroy(control *c);

/* In parts, for who sees the rows anyhow: room; the numbers of rows whose predictors at c->w are in the batch,
 * by any number of threads; the sums, from gradient and Hessian of the posterior (`room`: dim*dim). */
sbps_status control_allocate(const posterior *u, control_order order, control **out,
                             sbps_error *err);
void control_visit(const posterior *u, control *c, row_range r, const batch *b);
void control_sums(const posterior *u, control *c, const double *gradient, const double *hessian,
                  double *scratch);
/* From the second order to the first. */
void control_reduce(const posterior *u, control *c);

#endif

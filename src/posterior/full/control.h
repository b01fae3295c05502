/* Control variates: the gradient (and Hessian) at a reference point is known exactly and
 * taken out of the mini-batch noise, to first order (gradient) or second order (Hessian).
 * Immutable once created and shared by all chains. The equations are in control.c. */
#ifndef POSTERIOR_CONTROL_H
#define POSTERIOR_CONTROL_H

#include "model/likelihood/model.h"

struct posterior;

typedef enum { CONTROL_GRADIENT, CONTROL_HESSIAN } control_order;

typedef struct control {
    double *w;        /* dim: the reference point */
    double *gradient; /* dim: sum over all rows of weight_i grad log p_i at w */
    /* Second order: Hessian of the same sum, each row padded to KERNEL_LANES; else NULL. */
    double *hessian;
    /* Predictor models: derivatives of log p of every row at w, by eta (n) and by each
     * auxiliary (n numbers per auxiliary; NULL without auxiliaries). Second order: also eta
     * itself and the second derivatives by (eta, eta), (eta, auxiliary) and (auxiliary,
     * auxiliary). */
    double *d_eta, *d_aux;
    double *eta, *ee, *ea, *aa;
    /* Models that expand: `each_size` numbers per row, its gradient at w and, in second
     * order, the lower triangle of its Hessian, packed. NULL: rows are evaluated again when
     * they are needed. */
    double *each;
    size_t each_size;
    /* Models with a mean function, see slope_terms: y - d_eta, in second order + ee eta. */
    double *base;
    /* Tables with recompute_rows, see rows.h: w as a padded point; a predictor model then
     * stores no number per row and evaluates the rows again at every use. Else NULL. */
    double *at;
} control;

/* Computes a control variate at w. hessian: Hess U(w), dim*dim, if the caller knows it, or
 * NULL. */
sbps_status control_create(const struct posterior *target, const double *w, control_order order,
                           const double *hessian, control **out, sbps_error *err);
/* Frees c; NULL is fine. */
void control_destroy(control *c);

/* The same in steps, for a caller that sums over the rows anyway (row_cache.c). */

/* Allocates the arrays; c->w is still to be set. */
sbps_status control_allocate(const struct posterior *u, control_order order, control **out,
                             sbps_error *err);
/* Stores the numbers of rows r, whose predictors at c->w are in b. Safe from several
 * threads. */
void control_visit(const struct posterior *u, control *c, row_range r, const batch *b);
/* Visits all rows of a predictor model. */
sbps_status control_visit_all(const struct posterior *u, control *c, sbps_error *err);
/* Sets the sums from gradient and Hessian of U at c->w; scratch: dim*dim. */
void control_sums(const struct posterior *u, control *c, const double *gradient,
                  const double *hessian, double *scratch);
/* Drops the second order: a Hessian control variate becomes a gradient one. */
void control_reduce(const struct posterior *u, control *c);

#endif

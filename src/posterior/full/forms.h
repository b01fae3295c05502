/* How sums over rows are computed: one table of functions per form of model.
 *
 *   form_predictor    log p depends on w through the linear predictor, and on a few auxiliaries
 *   form_pointwise    the model is evaluated at w itself
 *   form_transformed  the model is evaluated at a transformed point T(w)
 *
 * Internal to this folder: posterior.c dispatches to it. */
#ifndef POSTERIOR_FORMS_H
#define POSTERIOR_FORMS_H

#include "posterior/full/posterior.h"

struct control;

typedef struct posterior_form {
    /* As posterior_value, _gradient (value may be NULL), _hessian and _hessian_vector. */
    sbps_status (*value)(const posterior *u, const double *w, double *value, sbps_error *err);
    sbps_status (*gradient)(const posterior *u, const double *w, double *value,
                            double *gradient, sbps_error *err);
    sbps_status (*hessian)(const posterior *u, const double *w, double *hessian,
                           sbps_error *err);
    sbps_status (*hessian_vector)(const posterior *u, const double *w, const double *v,
                                  double *hv, sbps_error *err);
    /* Value, gradient and Hessian in one pass, where posterior_expands. Only forms that
     * store numbers of every row call the visitor. */
    sbps_status (*expand)(const posterior *u, const double *w, const expansion *out,
                          const row_visitor *visitor, sbps_error *err);
    /* Optional: fills the arrays that a control variate stores for every row, at c->w. */
    sbps_status (*rows)(const posterior *u, struct control *c, sbps_error *err);
} posterior_form;

extern const posterior_form form_predictor, form_pointwise, form_transformed;

#endif

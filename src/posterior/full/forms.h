/* How the sums over rows are made: models come in three forms. For the files of this folder. */
#ifndef POSTERIOR_FORMS_H
#define POSTERIOR_FORMS_H

#include "posterior/full/control.h"

typedef struct posterior_form {
    sbps_status (*value)(const posterior *u, const double *w, double *value, sbps_error *err);
    /* value may be NULL */
    sbps_status (*gradient)(const posterior *u, const double *w, double *value,
                            double *gradient, sbps_error *err);
    sbps_status (*hessian)(const posterior *u, const double *w, double *hessian,
                           sbps_error *err);
    sbps_status (*hessian_vector)(const posterior *u, const double *w, const double *v,
                                  double *hv, sbps_error *err);
    /* All of these at once, where posterior_expands, and rows shown to the company, which is for forms that keep
     * something of every row. */
    sbps_status (*expand)(const posterior *u, const double *w, const expansion *out,
                          const row_visitor *beside, sbps_error *err);
    /* Optional: what a control variate keeps of every row. */
    sbps_status (*rows)(const posterior *u, control *c, sbps_error *err);
} posterior_form;

extern const posterior_form form_predictor, form_pointwise, form_transformed;

/* control.c: that of predictors. */
sbps_status control_rows(const posterior *u, control *c, sbps_error *err);

#endif

/* Categorical regression: y is one of the classes 0, ..., K-1. Class 0 is the reference; every
 * other class has a vector of weights,
 *
 *   p_k = e^(x.w_k) / (1 + sum_l e^(x.w_l)),   l = 1, ..., K-1,   w_0 = 0                 (1)
 *
 * that is, one layer of K-1 units (layers.h). It is the softmax model without its redundant
 * class: the rows determine every weight. Agresti (2013), Categorical Data Analysis, 3rd
 * edition, section 8.1. */
#include "core/status.h"
#include "model/likelihood/layers.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <stdio.h>
#include <stdlib.h>

/* One layer, with a unit for each class of the target but the first. */
static sbps_status categorical_open(const model_kind *kind, const rows *data,
                                    const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    (void)shape;
    size_t classes;
    *self = NULL;
    layers *net = calloc(1, sizeof *net);
    if (!net) return fail_memory(err);
    net->top = &head_categorical;
    net->count = 1;
    sbps_status status = classes_count(data, "categorical", &classes, err);
    if (status == SBPS_OK) net->units[0] = classes - 1;
    if (status == SBPS_OK) status = layers_open(net, data, err);
    if (status == SBPS_OK)
        *self = net;
    else
        free(net);
    return status;
}

/* CLASS:COLUMN, with the class's label if it has one. */
static void categorical_name(const void *self, size_t j, size_t size, char *text)
{
    size_t layer, unit, column;
    layers_locate(self, j, &layer, &unit, &column);
    layers_class_name(self, unit + 1, column, size, text);
}

/* As for regressions, in every class: 2.5/sd of the column, and 10 for the intercept. */
static double categorical_prior_sd(const void *self, size_t j)
{
    size_t layer, unit, column;
    layers_locate(self, j, &layer, &unit, &column);
    return layers_column_sd(self, column, 2.5, 10.0);
}

const model_kind model_categorical = {
    .name = "categorical",
    .summary = "Categorical regression: y is a class 0, 1, 2, ..., the first of which is the "
               "reference.",
    .facts.log_concave = true,
    .support = SUPPORT_CLASSES,
    .facts.reference_class = true,
    .facts.mode_optional = true,
    .facts.bounded_above = true,
    .facts.any_storage = true,
    .facts.weights_by_column = true,
    .open = categorical_open,
    .close = layers_close,
    .parameters.dim = layers_dim,
    .parameters.name = categorical_name,
    .parameters.prior_sd = categorical_prior_sd,
    .parameters.intercept = layers_intercept,
    .rows.scratch = layers_scratch,
    .rows.loglik = layers_loglik,
    .rows.slope = layers_slope,
    .rows.gradient = layers_gradient,
    .rows.hessian_vector = layers_hessian_vector,
};

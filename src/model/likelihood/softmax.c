/* Softmax regression: y is one of the classes 0, ..., K-1, with a vector of weights w_k for
 * each,
 *
 *   p_k = e^(x.w_k) / sum_l e^(x.w_l)                                                     (1)
 *
 * that is, one layer of K units (layers.h). Adding the same vector to every w_k changes
 * nothing: only the prior determines those directions. Bohning (1992), Multinomial logistic
 * regression algorithm, Annals of the Institute of Statistical Mathematics 44, 197-200. */
#include "core/status.h"
#include "model/likelihood/layers.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <stdlib.h>

/* One layer, with a unit for each class of the target. */
static sbps_status softmax_open(const model_kind *kind, const rows *data,
                                const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    (void)shape;
    *self = NULL;
    layers *net = calloc(1, sizeof *net);
    if (!net) return fail_memory(err);
    net->top = &head_softmax;
    net->count = 1;
    sbps_status status = classes_count(data, "softmax", &net->units[0], err);
    if (status == SBPS_OK) status = layers_open(net, data, err);
    if (status == SBPS_OK)
        *self = net;
    else
        free(net);
    return status;
}

/* CLASS:COLUMN, with the class's label if it has one. */
static void softmax_name(const void *self, size_t j, size_t size, char *text)
{
    size_t layer, class, column;
    layers_locate(self, j, &layer, &class, &column);
    layers_class_name(self, class, column, size, text);
}

/* As for regressions, in every class: 2.5/sd of the column, and 10 for the intercept. */
static double softmax_prior_sd(const void *self, size_t j)
{
    size_t layer, class, column;
    layers_locate(self, j, &layer, &class, &column);
    return layers_column_sd(self, column, 2.5, 10.0);
}

const model_kind model_softmax = {
    .name = "softmax",
    .summary = "Softmax regression: y is a class 0, 1, 2, ..., each with weights of its own.",
    .facts.log_concave = true,
    .support = SUPPORT_CLASSES,
    .facts.mode_optional = true,
    .facts.bounded_above = true,
    .facts.any_storage = true,
    .facts.weights_by_column = true,
    .open = softmax_open,
    .close = layers_close,
    .parameters.dim = layers_dim,
    .parameters.name = softmax_name,
    .parameters.prior_sd = softmax_prior_sd,
    .parameters.intercept = layers_intercept,
    .rows.scratch = layers_scratch,
    .rows.loglik = layers_loglik,
    .rows.slope = layers_slope,
    .rows.gradient = layers_gradient,
    .rows.hessian_vector = layers_hessian_vector,
    .facts.needs_prior = "adding the same to the weights of every class changes nothing",
};

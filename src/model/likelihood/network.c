/* A feed-forward network over the columns of a table: hidden layers of tanh or ReLU units, then
 * either one unit for each class (softmax) or one unit whose value is the mean of y (gaussian,
 * sd 1).
 *
 *   a_0 = x,   a_l = f(W_l a_{l-1}),   log p(y) = head(W_L a_{L-1})                       (1)
 *
 * Default priors: the input of a unit has an sd of 2.5 (in the last layer 10) whatever the
 * number of its inputs, after Neal (1996), Bayesian Learning for Neural Networks, section 2.1.
 * Without hidden layers they are those of softmax regression. */
#include "model/likelihood/targets.h"

#include "core/printable.h"
#include "model/likelihood/layers.h"
#include "model/likelihood/model_kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_MAX 10000 /* of a layer */
/* Sizes of hidden layers by default. */
#define HIDDEN "4"
/* Prior sds of a unit's input: in hidden layers, and in the last. */
#define HIDDEN_SD 2.5
#define HEAD_SD   10.0
#define START_SD  0.5 /* prior sd of a unit's input at the start of the search */

/* ---- the options ---- */

static sbps_status bad_hidden(const char *text, sbps_error *err)
{
    return fail(
        err, SBPS_BAD_ARG,
        "--hidden: '%.80s' is not a list of layers: give for example 4, or 8,8 for two, or 0 "
        "for none (at most %d layers of %d units)",
        text, LAYERS_MAX - 1, UNITS_MAX);
}

/* Reads the sizes of the hidden layers from text into net; "0" is no hidden layer. */
static sbps_status read_hidden(const char *text, layers *net, sbps_error *err)
{
    const char *at = text;
    if (strcmp(text, "0") == 0) return SBPS_OK;
    for (;;) {
        char *end = NULL;
        long units = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
        if (units < 1 || units > UNITS_MAX || net->count == LAYERS_MAX - 1)
            return bad_hidden(text, err);
        net->units[net->count++] = (size_t)units;
        if (!*end) return SBPS_OK;
        if (*end != ',') return bad_hidden(text, err);
        at = end + 1;
    }
}

/* The activation of this name; NULL: the first. */
static sbps_status read_activation(const char *name, layers *net, sbps_error *err)
{
    for (size_t i = 0; activations[i]; i++)
        if (!name || strcmp(activations[i]->name, name) == 0) {
            net->act = activations[i];
            return SBPS_OK;
        }
    return fail(err, SBPS_BAD_ARG, "--activation: '%.80s' is unknown", name);
}

/* The head of this name; NULL: the first. */
static sbps_status read_head(const char *name, layers *net, sbps_error *err)
{
    for (size_t i = 0; heads[i]; i++)
        if (!name || strcmp(heads[i]->name, name) == 0) {
            net->top = heads[i];
            return SBPS_OK;
        }
    return fail(err, SBPS_BAD_ARG, "--head: '%.80s' is unknown", name);
}

/* Targets of a gaussian head are finite numbers. */
static sbps_status check_numbers(const rows *data, sbps_error *err)
{
    for (size_t i = 0; i < data->local_rows; i++)
        if (!isfinite(data->y[i]))
            return fail(
                err, SBPS_BAD_DATA, "target '%s' holds %g; network needs finite numbers",
                show_name(data->table.target ? data->table.target : "y").text, data->y[i]);
    return SBPS_OK;
}

/* Sets the layers by the options, the last one by the target. */
static sbps_status shape_layers(const rows *data, const model_shape *shape, layers *net,
                                sbps_error *err)
{
    size_t last = 1;
    sbps_status status = read_hidden(shape->hidden ? shape->hidden : HIDDEN, net, err);
    if (status == SBPS_OK) status = read_activation(shape->activation, net, err);
    if (status == SBPS_OK) status = read_head(shape->head, net, err);
    if (status != SBPS_OK) return status;
    status = net->top->classes ? classes_count(data, "network", &last, err)
                               : check_numbers(data, err);
    net->units[net->count++] = last;
    return status == SBPS_OK ? layers_open(net, data, err) : status;
}

/* The layers by the options; the number of classes by the target. */
static sbps_status network_open(const model_kind *kind, const rows *data,
                                const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    *self = NULL;
    layers *net = calloc(1, sizeof *net);
    if (!net) return fail_memory(err);
    sbps_status status = shape_layers(data, shape, net, err);
    if (status == SBPS_OK)
        *self = net;
    else
        free(net);
    return status;
}

/* ---- its weights ---- */

/* The weight "l2:1:u3" is that of unit 3 of layer 1 in unit 1 of layer 2. Units of a softmax
 * layer are numbered as the classes, from 0; all others from 1. */
static void network_name(const void *self, size_t j, size_t size, char *text)
{
    const layers *net = self;
    size_t layer, unit, input;
    layers_locate(net, j, &layer, &unit, &input);
    if (layer + 1 < net->count || !net->top->classes) unit++;
    char *const *columns = net->data->table.names;
    if (layer == 0)
        snprintf(text, size, "l1:%zu:%s", unit, columns ? columns[input] : "column");
    else if (input == 0)
        snprintf(text, size, "l%zu:%zu:%s", layer + 1, unit,
                 columns && net->data->intercept ? columns[0] : "intercept");
    else
        snprintf(text, size, "l%zu:%zu:u%zu", layer + 1, unit, input);
}

/* The prior sd of a weight: that of a unit's input over the root of the number of inputs; in
 * the first layer also over the sd of the column. */
static double network_prior_sd(const void *self, size_t j)
{
    const layers *net = self;
    size_t layer, unit, input;
    layers_locate(net, j, &layer, &unit, &input);
    if (net->count == 1) return layers_column_sd(net, input, HIDDEN_SD, HEAD_SD);
    double sd = layer + 1 < net->count ? HIDDEN_SD : HEAD_SD;
    if (layer > 0) return input == 0 ? sd : sd / sqrt((double)net->units[layer - 1]);
    double columns = (double)(net->data->d - net->data->intercept);
    return layers_column_sd(net, input, sd / sqrt(fmax(columns, 1.0)), sd);
}

/* At 0 all hidden units are alike and the search could not separate them: it begins at small
 * random weights, always the same, on the scale of the columns. */
static void network_start(const void *self, double *w)
{
    const layers *net = self;
    const rows *data = net->data;
    rng r = rng_stream(1, 0, RNG_START);
    for (size_t j = 0; j < net->dim; j++) {
        size_t layer, unit, input;
        layers_locate(net, j, &layer, &unit, &input);
        double inputs = layer == 0 ? (double)data->d : (double)net->units[layer - 1];
        double size = layer == 0 ? hypot(data->table.mean[input], data->table.sd[input]) : 1.0;
        w[j] = START_SD * rng_normal(&r) / (sqrt(inputs) * (size > 0.0 ? size : 1.0));
        if (layers_intercept(net, j)) w[j] = 0.0;
    }
}

static target_support network_support(const model_shape *shape)
{
    bool gaussian = shape->head && !strcmp(shape->head, "gaussian");
    return gaussian ? SUPPORT_REAL : SUPPORT_CLASSES;
}

const model_kind model_network = {
    .name = "network",
    .summary =
        "Feed-forward network: --hidden layers of tanh or ReLU units, softmax or gaussian "
        "--head.",
    .support_of = network_support,
    .facts.mode_optional = true,
    .facts.bounded_above = true,
    .facts.any_storage = true,
    .open = network_open,
    .close = layers_close,
    .parameters.dim = layers_dim,
    .parameters.name = network_name,
    .parameters.prior_sd = network_prior_sd,
    .parameters.intercept = layers_intercept,
    .rows.scratch = layers_scratch,
    .rows.loglik = layers_loglik,
    .rows.slope = layers_slope,
    .rows.gradient = layers_gradient,
    .rows.hessian_vector = layers_hessian_vector,
    .facts.needs_prior =
        "its weights can grow without limit and leave its predictions unchanged",
    .parameters.start = network_start,
};

/* Layers forwards, along a direction and backwards; activations and heads. A dash is the rate
 * along the direction U of the weights W (' after a matrix in (2) to (4): transposed), f the
 * activation, a_0 = x, a_l = f(z_l) and e_l = d log p/dz_l:
 *
 *   z_l  = W_l a_{l-1}                     z_l' = U_l a_{l-1} + W_l a_{l-1}'                (1)
 *   e_{l-1} = f'(z) W_l' e_l               d log p/dW_l = e_l a_{l-1}'                      (2)
 *   e_{l-1}' = f'(z) (U_l' e_l + W_l' e_l') + f''(z) z' W_l' e_l                            (3)
 *   Hessian product: e_l' a_{l-1}' + e_l (a_{l-1}')'                                        (4)
 *
 * A slope is the head's slope along z', so it costs two passes forwards and none back. In a
 * block of rows every unit has an array of its own, on which the vector kernels work. With z
 * the units of the last layer (heads) or of a hidden one (activations):
 *
 *   softmax    p_k = e^z_k / sum_l e^z_l,       log p(y) = z_y - log sum_l e^z_l            (5)
 *              d/dz_k = [y = k] - p_k,          (d/dz_k)' = -p_k (z_k' - sum_l p_l z_l')    (6)
 *   categorical: (5) and (6) with z_0 = 0, which is no unit
 *   gaussian   log p(y) = -log(2 pi)/2 - (y - z)^2/2
 *              d/dz = y - z,                    (d/dz)' = -z'                               (7)
 *   tanh       f' = 1 - a^2,                    f'' z' = -2 a a'                            (8)
 *   relu       f' = [a > 0],                    f'' = 0                                     (9)
 *
 * Exponentials are taken of z minus the largest z, so that none overflows.
 *
 * Pearlmutter (1994), Fast exact multiplication by the Hessian, Neural Computation 6,
 * 147-160. */
#include "model/likelihood/layers.h"
#include "core/status.h"
#include "linalg/dense_matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE ((size_t)8) /* doubles of a cache line, to which arrays are aligned */

/* The arrays of a call on n rows. */
typedef struct {
    const layers *net;
    row_range r;
    size_t pitch;
    /* weights and direction of the first layer, each unit padded to the stride; sums by
     * column */
    double *w, *u, *total;
    double *y, *buffer;      /* one array; two arrays */
    double *a, *da, *e, *de; /* one array for each unit of all layers */
} work;

/* n rounded up to whole cache lines. */
static size_t lines(size_t n)
{
    return (n + LINE - 1) / LINE * LINE;
}

/* The units of all layers together. */
static size_t all_units(const layers *net)
{
    size_t units = 0;
    for (size_t l = 0; l < net->count; l++) units += net->units[l];
    return units;
}

/* Places the arrays in base; returns their size in doubles. NULL base: size only. */
static size_t carve_work(work *s, const layers *net, size_t n, double *base)
{
    size_t pitch = lines(n), first = net->units[0] * net->data->stride;
    size_t each = all_units(net) * pitch, used = 0;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&s->w, first}, {&s->u, first},          {&s->total, net->data->stride},
                 {&s->y, pitch}, {&s->buffer, 2 * pitch}, {&s->a, each},
                 {&s->da, each}, {&s->e, each},           {&s->de, each}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += lines(parts[i].size);
    }
    s->net = net;
    s->pitch = pitch;
    return used;
}

size_t layers_scratch(const void *self, size_t n)
{
    work s;
    return carve_work(&s, self, n, NULL);
}

/* Inputs of a unit of layer l, including the intercept. */
static size_t inputs(const layers *net, size_t l)
{
    return l == 0 ? net->data->d : net->units[l - 1] + 1;
}

/* ---- forwards ---- */

/* Copies the weights of the first layer, padding those of each unit to the stride with
 * zeros. */
static void pad(const layers *net, const double *from, double *to)
{
    size_t d = net->data->d, stride = net->data->stride;
    for (size_t j = 0; j < net->units[0]; j++) {
        memcpy(to + j * stride, from + j * d, d * sizeof *to);
        memset(to + j * stride + d, 0, (stride - d) * sizeof *to);
    }
}

/* The work of a call on these rows: arrays placed, y filled. */
static work prepare_work(const layers *net, row_range r, double *scratch)
{
    work s;
    const rows *data = net->data;
    carve_work(&s, net, r.n, scratch);
    s.r = r;
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        s.y[i] = data->y[row] - (data->offset ? data->offset[row] : 0.0);
    }
    return s;
}

/* z (and z' along u unless NULL) of the first layer, by products with rows. */
static void apply_first_layer(const work *s, const double *w, const double *u)
{
    const layers *net = s->net;
    const rows *data = net->data;
    pad(net, w, s->w);
    if (u) pad(net, u, s->u);
    for (size_t j = 0; j < net->units[0]; j++) {
        size_t at = j * data->stride, array = j * s->pitch;
        rows_products(data, net->k, s->r, s->w + at, u ? s->u + at : NULL, s->a + array,
                      u ? s->da + array : NULL);
    }
}

static void fill_constant(size_t n, double value, double *out)
{
    for (size_t i = 0; i < n; i++) out[i] = value;
}

/* (1) of a unit with weights w (direction u or NULL) and `in` inputs: a and da of the layer
 * before give z and dz. */
static void apply_unit(const work *s, size_t in, const double *w, const double *u,
                       const double *a, const double *da, double *z, double *dz)
{
    const kernels *k = s->net->k;
    fill_constant(s->r.n, w[0], z);
    for (size_t i = 0; i < in; i++) k->axpy(s->r.n, w[1 + i], a + i * s->pitch, z);
    if (!u) return;
    fill_constant(s->r.n, u[0], dz);
    for (size_t i = 0; i < in; i++) {
        k->axpy(s->r.n, u[1 + i], a + i * s->pitch, dz);
        k->axpy(s->r.n, w[1 + i], da + i * s->pitch, dz);
    }
}

/* Replaces z by a, and z' by a', for `units` units from `first` on. */
static void activate(const work *s, size_t first, size_t units, bool rates)
{
    const activation *act = s->net->act;
    for (size_t j = first; j < first + units; j++) {
        double *a = s->a + j * s->pitch;
        act->apply(s->net->k, s->r.n, a);
        if (rates) act->times_slope(s->r.n, a, s->da + j * s->pitch);
    }
}

/* Evaluates all layers at w, along u unless NULL, and returns z and z' of the last one. */
static outputs forwards(const work *s, const double *w, const double *u)
{
    const layers *net = s->net;
    size_t first = 0, at = net->units[0] * net->data->d; /* unit and weight of a layer */
    apply_first_layer(s, w, u);
    for (size_t l = 1; l < net->count; l++) {
        size_t in = net->units[l - 1], before = first * s->pitch;
        activate(s, first, in, u);
        first += in;
        for (size_t j = 0; j < net->units[l]; j++, at += in + 1) {
            size_t array = (first + j) * s->pitch;
            apply_unit(s, in, w + at, u ? u + at : NULL, s->a + before, s->da + before,
                       s->a + array, s->da + array);
        }
    }
    return (outputs){.k = net->k,
                     .n = s->r.n,
                     .pitch = s->pitch,
                     .units = net->units[net->count - 1],
                     .y = s->y,
                     .z = s->a + first * s->pitch,
                     .dz = u ? s->da + first * s->pitch : NULL,
                     .buffer = s->buffer,
                     .fixed = net->top->fixed};
}

void layers_loglik(const void *self, row_range r, const double *w, double *scratch, double *out)
{
    const layers *net = self;
    work s = prepare_work(net, r, scratch);
    outputs o = forwards(&s, w, NULL);
    net->top->loglik(&o, out);
}

void layers_slope(const void *self, row_range r, const double *w, const double *u,
                  double *scratch, double *out)
{
    const layers *net = self;
    work s = prepare_work(net, r, scratch);
    outputs o = forwards(&s, w, u);
    net->top->slope(&o, out);
}

/* ---- backwards ---- */

/* Adds the gradient (2), or with rates the Hessian product (4), by the weights of one unit of a
 * later layer. `before` is the first unit of its inputs. */
static void add_unit_gradient(const work *s, size_t unit, size_t before, size_t in, bool rates,
                              double *out)
{
    const kernels *k = s->net->k;
    const double *e = s->e + unit * s->pitch, *de = s->de + unit * s->pitch;
    out[0] += sum(s->r.n, rates ? de : e);
    for (size_t i = 0; i < in; i++) {
        const double *a = s->a + (before + i) * s->pitch, *da = s->da + (before + i) * s->pitch;
        out[1 + i] += k->dot(s->r.n, rates ? de : e, a);
        if (rates) out[1 + i] += k->dot(s->r.n, e, da);
    }
}

/* Computes e and e' of input i of layer l by (2) and (3). w (and u unless NULL) are the weights
 * of the layer, whose first unit is `first`. */
static void backpropagate_unit(const work *s, size_t l, size_t i, size_t first, const double *w,
                               const double *u)
{
    const layers *net = s->net;
    size_t in = net->units[l - 1], n = s->r.n, unit = first - in + i;
    double *e = s->e + unit * s->pitch, *de = s->de + unit * s->pitch;
    const double *a = s->a + unit * s->pitch, *da = s->da + unit * s->pitch;
    fill_constant(n, 0.0, e);
    if (u) fill_constant(n, 0.0, de);
    for (size_t j = 0; j < net->units[l]; j++) {
        size_t at = j * (in + 1) + 1 + i, above = (first + j) * s->pitch;
        net->k->axpy(n, w[at], s->e + above, e);
        if (!u) continue;
        net->k->axpy(n, w[at], s->de + above, de);
        net->k->axpy(n, u[at], s->e + above, de);
    }
    if (u) {
        net->act->times_slope(n, a, de);
        if (net->act->add_curvature) net->act->add_curvature(n, a, da, e, de);
    }
    net->act->times_slope(n, a, e);
}

/* Adds (2) or (4) by the weights of the first layer, by combining rows. */
static void add_first_layer_gradient(const work *s, const double *e, double *out)
{
    const rows *data = s->net->data;
    for (size_t j = 0; j < s->net->units[0]; j++) {
        memset(s->total, 0, data->stride * sizeof *s->total);
        rows_combine(data, s->net->k, s->r, e + j * s->pitch, s->total);
        for (size_t i = 0; i < data->d; i++) out[j * data->d + i] += s->total[i];
    }
}

/* From e of the last layer to derivatives by all weights, added to out. */
static void backwards(const work *s, const double *w, const double *u, double *out)
{
    const layers *net = s->net;
    size_t first = all_units(net), at = net->dim;
    for (size_t l = net->count - 1; l > 0; l--) {
        size_t in = net->units[l - 1], units = net->units[l];
        first -= units;
        at -= units * (in + 1);
        for (size_t j = 0; j < units; j++)
            add_unit_gradient(s, first + j, first - in, in, u, out + at + j * (in + 1));
        for (size_t i = 0; i < in; i++)
            backpropagate_unit(s, l, i, first, w + at, u ? u + at : NULL);
    }
    add_first_layer_gradient(s, u ? s->de : s->e, out);
}

/* Adds the gradient, or unless u is NULL the Hessian's product with u. */
static void differentiate(const layers *net, row_range r, const double *w, const double *u,
                          const double *factor, double *scratch, double *out)
{
    work s = prepare_work(net, r, scratch);
    outputs o = forwards(&s, w, u);
    size_t last = (all_units(net) - o.units) * s.pitch;
    net->top->pull(&o, factor, s.e + last, u ? s.de + last : NULL);
    backwards(&s, w, u, out);
}

void layers_gradient(const void *self, row_range r, const double *w, const double *factor,
                     double *scratch, double *out)
{
    differentiate(self, r, w, NULL, factor, scratch, out);
}

void layers_hessian_vector(const void *self, row_range r, const double *w, const double *v,
                           const double *factor, double *scratch, double *out)
{
    differentiate(self, r, w, v, factor, scratch, out);
}

/* ---- instances ---- */

sbps_status layers_open(layers *net, const rows *data, sbps_error *err)
{
    if (data->offset && net->top->classes)
        return fail(err, SBPS_BAD_ARG,
                    "--offset: the same offset in every class changes nothing; use it with "
                    "logistic, poisson or linear");
    net->data = data;
    net->k = kernels_best();
    net->dim = 0;
    for (size_t l = 0; l < net->count; l++) net->dim += net->units[l] * inputs(net, l);
    return SBPS_OK;
}

void layers_close(void *self)
{
    free(self);
}

size_t layers_dim(const void *self)
{
    return ((const layers *)self)->dim;
}

void layers_locate(const layers *net, size_t j, size_t *layer, size_t *unit, size_t *input)
{
    size_t l = 0;
    while (j >= net->units[l] * inputs(net, l)) {
        j -= net->units[l] * inputs(net, l);
        l++;
    }
    *layer = l;
    *unit = j / inputs(net, l);
    *input = j % inputs(net, l);
}

bool layers_intercept(const void *self, size_t j)
{
    const layers *net = self;
    size_t layer, unit, input;
    layers_locate(net, j, &layer, &unit, &input);
    return input == 0 && (layer > 0 || net->data->intercept);
}

double layers_column_sd(const layers *net, size_t column, double sd, double intercept)
{
    const rows *data = net->data;
    if (data->intercept && column == 0) return intercept;
    return sd / (data->table.sd[column] > 0.0 ? data->table.sd[column] : 1.0);
}

void layers_class_name(const layers *net, size_t class, size_t column, size_t size, char *text)
{
    const char *name = net->data->table.names ? net->data->table.names[column] : "column";
    if (class < net->data->table.label_count)
        snprintf(text, size, "%s:%s", net->data->table.labels[class], name);
    else
        snprintf(text, size, "%zu:%s", class, name);
}

/* ---- activations and heads ---- */

/* ---- activations ---- */

/* tanh z = 2 / (1 + e^-2z) - 1, by the vector kernel. Its absolute error is that of a
 * rounding. */
static void tanh_apply(const kernels *k, size_t n, double *z)
{
    for (size_t i = 0; i < n; i++) z[i] *= 2.0;
    k->sigmoid(n, z, z);
    for (size_t i = 0; i < n; i++) z[i] = 2.0 * z[i] - 1.0;
}

/* f' of (8). */
static void tanh_times_slope(size_t n, const double *a, double *e)
{
    for (size_t i = 0; i < n; i++) e[i] *= 1.0 - a[i] * a[i];
}

/* f'' z' of (8), times e. */
static void tanh_add_curvature(size_t n, const double *a, const double *da, const double *e,
                               double *de)
{
    for (size_t i = 0; i < n; i++) de[i] -= 2.0 * a[i] * da[i] * e[i];
}

/* max(z, 0) */
static void relu_apply(const kernels *k, size_t n, double *z)
{
    (void)k;
    for (size_t i = 0; i < n; i++) z[i] = z[i] > 0.0 ? z[i] : 0.0;
}

/* f' of (9). */
static void relu_times_slope(size_t n, const double *a, double *e)
{
    for (size_t i = 0; i < n; i++) e[i] = a[i] > 0.0 ? e[i] : 0.0;
}

static const activation activation_tanh = {
    .name = "tanh",
    .apply = tanh_apply,
    .times_slope = tanh_times_slope,
    .add_curvature = tanh_add_curvature,
};

static const activation activation_relu = {
    .name = "relu",
    .apply = relu_apply,
    .times_slope = relu_times_slope,
};

const activation *const activations[] = {&activation_tanh, &activation_relu, NULL};

/* ---- softmax, categorical ---- */

/* True if the class of row i is the reference. */
static bool is_fixed(const outputs *o, size_t i)
{
    return o->y[i] < (double)o->fixed;
}

/* The array of the unit of row i's class. */
static size_t own_unit(const outputs *o, size_t i)
{
    return ((size_t)o->y[i] - o->fixed) * o->pitch;
}

/* z_k becomes e^(z_k - max); buffer[0..n] their sum; if with_own, buffer[pitch..] = z_y -
 * max. Maximum and sum include the 0 of the reference. */
static void exponentiate(const outputs *o, bool with_own)
{
    double *sum = o->buffer, *own = o->buffer + o->pitch, *top = sum;
    if (o->fixed)
        fill_constant(o->n, 0.0, top);
    else
        memcpy(top, o->z, o->n * sizeof *top);
    for (size_t u = o->fixed ? 0 : 1; u < o->units; u++) {
        const double *z = o->z + u * o->pitch;
        for (size_t i = 0; i < o->n; i++) top[i] = z[i] > top[i] ? z[i] : top[i];
    }
    for (size_t i = 0; with_own && i < o->n; i++)
        own[i] = (is_fixed(o, i) ? 0.0 : o->z[own_unit(o, i) + i]) - top[i];
    for (size_t u = 0; u < o->units; u++) {
        double *z = o->z + u * o->pitch;
        for (size_t i = 0; i < o->n; i++) z[i] -= top[i];
        o->k->exp(o->n, z, z);
    }
    if (o->fixed) {
        for (size_t i = 0; i < o->n; i++) sum[i] = -top[i];
        o->k->exp(o->n, sum, sum);
    } else
        memcpy(sum, o->z, o->n * sizeof *sum);
    for (size_t u = o->fixed ? 0 : 1; u < o->units; u++)
        for (size_t i = 0; i < o->n; i++) sum[i] += o->z[u * o->pitch + i];
}

/* (5) */
static void softmax_loglik(const outputs *o, double *out)
{
    exponentiate(o, true);
    for (size_t i = 0; i < o->n; i++) out[i] = o->buffer[o->pitch + i] - log(o->buffer[i]);
}

/* Sets the second array of the buffer to sum_l e^z_l z_l', and returns it. */
static double *weighted_rates(const outputs *o)
{
    double *mean = o->buffer + o->pitch;
    memset(mean, 0, o->n * sizeof *mean);
    for (size_t u = 0; u < o->units; u++) {
        const double *z = o->z + u * o->pitch, *dz = o->dz + u * o->pitch;
        for (size_t i = 0; i < o->n; i++) mean[i] += z[i] * dz[i];
    }
    return mean;
}

/* z_y' - sum_l p_l z_l', the slope of (5). */
static void softmax_slope(const outputs *o, double *out)
{
    exponentiate(o, false);
    const double *mean = weighted_rates(o), *sum = o->buffer;
    for (size_t i = 0; i < o->n; i++)
        out[i] = (is_fixed(o, i) ? 0.0 : o->dz[own_unit(o, i) + i]) - mean[i] / sum[i];
}

/* (6) */
static void softmax_pull(const outputs *o, const double *factor, double *e, double *de)
{
    exponentiate(o, false);
    double *sum = o->buffer, *mean = de ? weighted_rates(o) : NULL;
    for (size_t i = 0; i < o->n; i++) sum[i] = 1.0 / sum[i];
    for (size_t i = 0; de && i < o->n; i++) mean[i] *= sum[i];
    for (size_t u = 0; u < o->units; u++) {
        const double *z = o->z + u * o->pitch, *dz = de ? o->dz + u * o->pitch : NULL;
        double *pull = e + u * o->pitch, *rate = de ? de + u * o->pitch : NULL;
        for (size_t i = 0; i < o->n; i++)
            pull[i] =
                factor[i] * ((o->y[i] == (double)(u + o->fixed) ? 1.0 : 0.0) - z[i] * sum[i]);
        for (size_t i = 0; de && i < o->n; i++)
            rate[i] = -factor[i] * z[i] * sum[i] * (dz[i] - mean[i]);
    }
}

const head head_softmax = {
    .name = "softmax",
    .classes = true,
    .loglik = softmax_loglik,
    .slope = softmax_slope,
    .pull = softmax_pull,
};

const head head_categorical = {
    .name = "categorical",
    .classes = true,
    .fixed = 1,
    .loglik = softmax_loglik,
    .slope = softmax_slope,
    .pull = softmax_pull,
};

/* ---- gaussian ---- */

/* log p(y) of (7)'s density. */
static void gaussian_loglik(const outputs *o, double *out)
{
    for (size_t i = 0; i < o->n; i++) {
        double r = o->y[i] - o->z[i];
        out[i] = -0.5 * log(2.0 * M_PI) - 0.5 * r * r;
    }
}

/* (7) times z'. */
static void gaussian_slope(const outputs *o, double *out)
{
    for (size_t i = 0; i < o->n; i++) out[i] = (o->y[i] - o->z[i]) * o->dz[i];
}

/* (7) and its rate, times the rows' factors. */
static void gaussian_pull(const outputs *o, const double *factor, double *e, double *de)
{
    for (size_t i = 0; i < o->n; i++) e[i] = factor[i] * (o->y[i] - o->z[i]);
    for (size_t i = 0; de && i < o->n; i++) de[i] = -factor[i] * o->dz[i];
}

static const head head_gaussian = {
    .name = "gaussian",
    .loglik = gaussian_loglik,
    .slope = gaussian_slope,
    .pull = gaussian_pull,
};

const head *const heads[] = {&head_softmax, &head_gaussian, NULL};

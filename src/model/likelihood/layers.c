/* Layers forwards, along a direction and backwards. With a_0 = x, a_l = f(z_l), a dash for the rate
 * along the direction U of the weights W, e_l = d log p/dz_l:
 *
 *   z_l  = W_l a_{l-1}                     z_l' = U_l a_{l-1} + W_l a_{l-1}'                (1)
 *   e_{l-1} = f'(z) W_l' e_l               d log p/dW_l = e_l a_{l-1}'                      (2)
 *   e_{l-1}' = f'(z) (U_l' e_l + W_l' e_l') + f''(z) z' W_l' e_l                            (3)
 *   Hessian product: e_l' a_{l-1}' + e_l (a_{l-1}')'                                        (4)
 *
 * (transposes where the sense asks for them). A slope is the head's on z', so it costs two passes
 * forwards and none back. A block of rows lies unit by unit, an array each: the vector kernels do
 * the rest. Pearlmutter (1994), Fast exact multiplication by the Hessian, Neural Computation 6. */
#include "model/likelihood/layers.h"

#include "linalg/dense_matrix.h"

#include <stdlib.h>
#include <string.h>

#define LINE ((size_t)8) /* doubles */

/* Scratch of a call on n rows. */
typedef struct {
    const layers *net;
    row_range r;
    size_t pitch;
    double *w, *u, *total;   /* first layer, unit by unit padded to the stride; one unit */
    double *y, *buffer;      /* an array; two */
    double *a, *da, *e, *de; /* an array for each unit of all layers */
} work;

static size_t lines(size_t n)
{
    return (n + LINE - 1) / LINE * LINE;
}

static size_t all_units(const layers *net)
{
    size_t units = 0;
    for (size_t l = 0; l < net->count; l++) units += net->units[l];
    return units;
}

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

static size_t inputs(const layers *net, size_t l)
{
    return l == 0 ? net->data->d : net->units[l - 1] + 1;
}

/* ---- forwards ---- */

static void pad(const layers *net, const double *from, double *to)
{
    size_t d = net->data->d, stride = net->data->stride;
    for (size_t j = 0; j < net->units[0]; j++) {
        memcpy(to + j * stride, from + j * d, d * sizeof *to);
        memset(to + j * stride + d, 0, (stride - d) * sizeof *to);
    }
}

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

/* The first layer: row products. */
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

/* (1) of one unit: w, u its weights, a and da the layer before. */
static void feed(const work *s, size_t in, const double *w, const double *u, const double *a,
                 const double *da, double *z, double *dz)
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

static void activate(const work *s, size_t first, size_t units, bool rates)
{
    const activation *act = s->net->act;
    for (size_t j = first; j < first + units; j++) {
        double *a = s->a + j * s->pitch;
        act->apply(s->net->k, s->r.n, a);
        if (rates) act->times_slope(s->r.n, a, s->da + j * s->pitch);
    }
}

/* All layers at w, along u unless NULL: the last one's z and z'. */
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
            feed(s, in, w + at, u ? u + at : NULL, s->a + before, s->da + before, s->a + array,
                 s->da + array);
        }
    }
    return (outputs){.k = net->k,
                     .n = s->r.n,
                     .pitch = s->pitch,
                     .units = net->units[net->count - 1],
                     .y = s->y,
                     .z = s->a + first * s->pitch,
                     .dz = u ? s->da + first * s->pitch : NULL,
                     .buffer = s->buffer};
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

/* (2), or with rates (4), of one unit of a later layer; `before` is the first unit of its inputs. */
static void collect(const work *s, size_t unit, size_t before, size_t in, bool rates,
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

/* (2) and (3) of input i of a layer with weights w (and u) whose first unit is `first`. */
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

/* The first layer's part of (2) or (4): rows combined. */
static void add_first_layer_gradient(const work *s, const double *e, double *out)
{
    const rows *data = s->net->data;
    for (size_t j = 0; j < s->net->units[0]; j++) {
        memset(s->total, 0, data->stride * sizeof *s->total);
        rows_combine(data, s->net->k, s->r, e + j * s->pitch, s->total);
        for (size_t i = 0; i < data->d; i++) out[j * data->d + i] += s->total[i];
    }
}

static void backwards(const work *s, const double *w, const double *u, double *out)
{
    const layers *net = s->net;
    size_t first = all_units(net), at = net->dim;
    for (size_t l = net->count - 1; l > 0; l--) {
        size_t in = net->units[l - 1], units = net->units[l];
        first -= units;
        at -= units * (in + 1);
        for (size_t j = 0; j < units; j++)
            collect(s, first + j, first - in, in, u, out + at + j * (in + 1));
        for (size_t i = 0; i < in; i++)
            backpropagate_unit(s, l, i, first, w + at, u ? u + at : NULL);
    }
    add_first_layer_gradient(s, u ? s->de : s->e, out);
}

/* u NULL: the gradient; else the Hessian's product with u. */
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

/* ---- shape ---- */

sbps_status layers_open(layers *net, const rows *data, sbps_error *err)
{
    if (data->offset && net->top->classes)
        return fail(
            err, SBPS_BAD_ARG,
            "--offset: added to every class alike it changes nothing; logistic, poisson "
            "and linear have a use for it");
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
    return sd / (data->sd[column] > 0.0 ? data->sd[column] : 1.0);
}

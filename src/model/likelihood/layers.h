/* Layers of units over the rows of a table: what softmax regression (no hidden layer) and networks
 * are made of. Weights lie layer by layer, unit by unit; a unit's are its intercept and those of its
 * inputs. Inputs of the first layer are the columns of the table, so that its intercept is there
 * when the table has one; units of later layers always have one. */
#ifndef MODEL_LAYERS_H
#define MODEL_LAYERS_H

#include "model/likelihood/model.h"

/* Arrays of a block of n rows, one beside the other, `pitch` doubles from one to the next. */
typedef struct {
    const kernels *k;
    size_t n, pitch, units;
    const double *y; /* n, less the offset */
    double *z, *dz;  /* units: of the last layer, and their rates (NULL where none is asked) */
    double *buffer;  /* 2 more arrays */
} outputs;

/* What a hidden unit makes of its input z: a = f(z). Derivatives are told from a. */
typedef struct {
    const char *name;
    void (*apply)(const kernels *k, size_t n, double *z);      /* z becomes a */
    void (*times_slope)(size_t n, const double *a, double *e); /* e *= f' */
    /* Optional: de += f'' z' e, given a and a' = f' z'. NULL: f'' is 0. */
    void (*add_curvature)(size_t n, const double *a, const double *da, const double *e,
                          double *de);
} activation;

/* What the last layer's z say of y. Called at most once on the same z, which becomes scratch. */
typedef struct {
    const char *name;
    bool classes; /* y is a class, one unit each; else one unit */
    void (*loglik)(const outputs *o, double *out);
    void (*slope)(const outputs *o, double *out);
    /* e = factor d log p/dz of each unit; unless de is NULL also its rate de */
    void (*pull)(const outputs *o, const double *factor, double *e, double *de);
} head;

extern const activation *const activations[]; /* NULL at the end: tanh, relu */
extern const head *const heads[];             /* NULL at the end: softmax, gaussian */
extern const head head_softmax;

#define LAYERS_MAX 16

typedef struct {
    const rows *data;
    const kernels *k;
    const activation *act; /* of hidden units; NULL without any */
    const head *top;
    size_t count;             /* layers, the last (the head's) included */
    size_t units[LAYERS_MAX]; /* of each */
    size_t dim;
} layers;

/* Adds up the dimension and checks that an offset can be used; units, act and top are set. */
sbps_status layers_open(layers *net, const rows *data, sbps_error *err);
/* Where coordinate j lies: layer, unit, and input (0 is the intercept, except that the first layer's
 * inputs are the table's columns). */
void layers_locate(const layers *net, size_t j, size_t *layer, size_t *unit, size_t *input);
/* Default prior of a weight of the first layer: `sd` per sd of its column, `intercept` of that. */
double layers_column_sd(const layers *net, size_t column, double sd, double intercept);

/* Members of a model whose self is a `layers`. */
void layers_close(void *self);
size_t layers_dim(const void *self);
bool layers_intercept(const void *self, size_t j);
size_t layers_scratch(const void *self, size_t n);
void layers_loglik(const void *self, row_range r, const double *w, double *scratch,
                   double *out);
void layers_slope(const void *self, row_range r, const double *w, const double *u,
                  double *scratch, double *out);
void layers_gradient(const void *self, row_range r, const double *w, const double *factor,
                     double *scratch, double *out);
void layers_hessian_vector(const void *self, row_range r, const double *w, const double *v,
                           const double *factor, double *scratch, double *out);

#endif

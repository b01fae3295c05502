/* Layers of units over the rows of a table, of which softmax regression (no hidden layer) and
 * networks are made.
 *
 * Weights are stored layer by layer, unit by unit; those of a unit are its intercept and then
 * one for each input. The inputs of the first layer are the columns of the table, so that its
 * intercept is the table's, if it has one. Units of later layers always have an intercept. */
#ifndef MODEL_LAYERS_H
#define MODEL_LAYERS_H

#include "model/likelihood/model.h"

/* Output of the last layer for a block of n rows: an array of n numbers for each unit, `pitch`
 * doubles from one array to the next. */
typedef struct {
    const kernels *k;
    size_t n, pitch, units;
    const double *y; /* n targets, less the offset */
    double *z;       /* units: z of the last layer */
    double *dz;      /* units: their rates d z/dt; NULL unless slopes are requested */
    double *buffer;  /* scratch: 2 arrays */
    size_t fixed;    /* classes before those of the units, with z = 0: 0 or 1 */
} outputs;

/* The function a = f(z) of a hidden unit. Derivatives are computed from a. */
typedef struct {
    const char *name;
    /* Replaces z by a. */
    void (*apply)(const kernels *k, size_t n, double *z);
    /* e *= f' */
    void (*times_slope)(size_t n, const double *a, double *e);
    /* Optional: de += f'' z' e, given a and a' = f' z'. NULL: f'' is 0. */
    void (*add_curvature)(size_t n, const double *a, const double *da, const double *e,
                          double *de);
} activation;

/* The distribution of y given z of the last layer. Only one of the three functions is called
 * for the same outputs, and at most once: it may overwrite z. */
typedef struct {
    const char *name;
    bool classes; /* y is a class, with one unit each; else there is one unit */
    size_t fixed; /* 1: class 0 is the reference, with z = 0 and no unit */
    void (*loglik)(const outputs *o, double *out);
    void (*slope)(const outputs *o, double *out);
    /* e = factor d log p/dz of each unit, and unless de is NULL its rate de. */
    void (*pull)(const outputs *o, const double *factor, double *e, double *de);
} head;

extern const activation *const activations[]; /* NULL at the end: tanh, relu */
extern const head *const heads[];             /* NULL at the end: softmax, gaussian */
extern const head head_softmax;
extern const head head_categorical; /* of no option: model `categorical` */

#define LAYERS_MAX 16

/* Instance of a model that is made of layers. */
typedef struct {
    const rows *data; /* the caller's */
    const kernels *k;
    const activation *act;    /* of hidden units; NULL if there are none */
    const head *top;          /* distribution of y */
    size_t count;             /* layers, including the last */
    size_t units[LAYERS_MAX]; /* of each layer */
    size_t dim;               /* weights of all layers */
} layers;

/* Completes a network whose units, act and top are set: computes dim, and fails if the table
 * has an offset that the head cannot use. */
sbps_status layers_open(layers *net, const rows *data, sbps_error *err);
/* Finds layer, unit and input of coordinate j. Input 0 is the intercept, except in the first
 * layer, whose inputs are the table's columns. */
void layers_locate(const layers *net, size_t j, size_t *layer, size_t *unit, size_t *input);
/* Default prior sd of a first-layer weight: `sd` over the sd of its column, or `intercept`. */
double layers_column_sd(const layers *net, size_t column, double sd, double intercept);

/* The name CLASS:COLUMN of a first-layer weight, with the class's label if it has one. */
void layers_class_name(const layers *net, size_t class, size_t column, size_t size, char *text);

/* ---- members of a model_kind whose self is a `layers` ---- */

/* Frees it; NULL is fine. */
void layers_close(void *self);
/* The number of weights of all layers. */
size_t layers_dim(const void *self);
/* Is coordinate j the intercept of a unit? */
bool layers_intercept(const void *self, size_t j);
/* Doubles of scratch of a call on n rows: four arrays for each unit, and the padded first
 * layer. */
size_t layers_scratch(const void *self, size_t n);
/* log p of each row, by one pass forwards. */
void layers_loglik(const void *self, row_range r, const double *w, double *scratch,
                   double *out);
/* The slope costs two passes forwards: (1) of layers.c. */
void layers_slope(const void *self, row_range r, const double *w, const double *u,
                  double *scratch, double *out);
/* Backwards by (2) of layers.c; adds to out. */
void layers_gradient(const void *self, row_range r, const double *w, const double *factor,
                     double *scratch, double *out);
/* By (3) and (4) of layers.c, exactly; adds to out. */
void layers_hessian_vector(const void *self, row_range r, const double *w, const double *v,
                           const double *factor, double *scratch, double *out);

#endif

/* Metric: w = A z as two maps. Velocities live in z on the unit sphere, u = A v in w. */
#ifndef LINALG_METRIC_H
#define LINALG_METRIC_H

#include "core/rng.h"
#include "core/status.h"
#include "linalg/kernels.h"

typedef struct metric_kind metric_kind;

typedef struct {
    const metric_kind *kind;
    size_t d;
    const kernels *k;
    double *data; /* kind's own: nothing, d, 2*d, 3*d*d numbers */
} metric;

struct metric_kind {
    const char *name;
    /* From the Hessian of U at a reference (d*d, symmetric positive definite). */
    sbps_status (*build)(metric *m, const double *hessian, sbps_error *err);
    void (*forward)(const metric *m, const double *v, double *u);   /* u = A v */
    void (*transpose)(const metric *m, const double *g, double *h); /* h = A' g */
    void (*precision)(const metric *m, const double *x, double *y); /* y = (A A')^-1 x */
    /* u'Hu = 1 for every velocity at the reference; or about 1: on average, and where d is large for
     * most. */
    bool white, nearly_white;
    /* Optional: multiplications of a map. NULL: at most d. */
    double (*work)(const metric *m);
    /* Optional: what was kept of the Hessian, in words. NULL: the name says it. */
    void (*describe)(const metric *m, size_t size, char *text);
    /* Optional: the metric learns, and every chain has one of its own. NULL: it is fixed. */
    size_t (*numbers)(size_t d); /* of its data */
    void (*see)(metric *m, const double *gradient, double beta);
    /* A from what was seen. */
    void (*update)(metric *m, double eps);
    /* What was seen moves by this share to what the other saw. */
    void (*blend)(metric *into, const metric *other, double fraction);
};

extern const metric_kind *const metric_kinds[]; /* NULL at the end */

const metric_kind *metric_find(const char *name); /* NULL when unknown */

sbps_status metric_create(const metric_kind *kind, size_t d, const double *hessian,
                          metric **out, sbps_error *err);
void metric_destroy(metric *m);

/* A Hessian that is known by its products with vectors. */
typedef struct {
    const void *self;
    sbps_status (*product)(const void *self, const double *v, double *hv, sbps_error *err);
    double work; /* of a gradient, in numbers multiplied */
} metric_source;

/* Coordinates whose block of it is kept whole; by itself each of the others has about the curvature 1. */
typedef struct {
    const size_t *at;
    size_t count;
} metric_core;

/* Low rank and a core: products.c. Takes core->count products and twice `steps` gradients' worth; 0: no pairs at all. */
sbps_status metric_from_products(size_t d, const metric_core *core, size_t steps,
                                 metric_source h, metric **out, sbps_error *err);

/* Mean of u'Hu over the velocities u = A v, v uniform on the unit sphere: trace(A'HA) / d. */
sbps_status metric_mean_curvature(const metric *m, const double *hessian, double *out,
                                  sbps_error *err);
/* One of them into u; v is scratch. */
void metric_draw_direction(const metric *m, rng *random, double *v, double *u);

#endif

/* Metrics: w = A z as two maps. Velocities are on the unit sphere in z, u = A v in w. */
#ifndef LINALG_METRIC_H
#define LINALG_METRIC_H

#include "core/rng.h"
#include "core/status.h"
#include "linalg/kernels.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct metric_kind metric_kind;

typedef struct metric {
    const metric_kind *kind;
    size_t d;
    const kernels *k;
    double *data; /* of the kind: 0, d, 2 d or 3 d*d numbers, or more */
} metric;

struct metric_kind {
    const char *name;
    /* Sets m->data from the Hessian of U at a reference (d*d, symmetric positive definite). */
    sbps_status (*build)(metric *m, const double *hessian, sbps_error *err);
    void (*forward)(const metric *m, const double *v, double *u);   /* u = A v */
    void (*transpose)(const metric *m, const double *g, double *h); /* h = A' g */
    void (*precision)(const metric *m, const double *x, double *y); /* y = (A A')^-1 x */
    /* white: u'Hu = 1 for every velocity at the reference. nearly_white: about 1, on average
     * and, where d is large, for most velocities. */
    bool white, nearly_white;
    /* Optional: multiplications per map. NULL: at most d. */
    double (*cost)(const metric *m);
    /* Optional: describes the metric in words. NULL: the name suffices. */
    void (*describe)(const metric *m, size_t size, char *text);
    /* Optional, all or none, for a metric that learns; every chain then has a copy. NULL: it
     * is fixed. numbers: the length of its data. */
    size_t (*numbers)(size_t d); /* of its data */
    /* Learns from a gradient in w; beta: weight of the past. */
    void (*learn)(metric *m, const double *gradient, double beta);
    /* Recomputes A from what it has learned. */
    void (*update)(metric *m, double eps);
    /* Moves what was learned by a fraction towards that of `other`. */
    void (*blend)(metric *into, const metric *other, double fraction);
};

extern const metric_kind *const metric_kinds[]; /* NULL at the end */

const metric_kind *metric_find(const char *name); /* NULL when unknown */

/* Creates a metric of this kind. The caller destroys *out, which is NULL on failure. */
sbps_status metric_create(const metric_kind *kind, size_t d, const double *hessian,
                          metric **out, sbps_error *err);
/* Frees m; NULL is fine. */
void metric_destroy(metric *m);

/* A Hessian that is known by its products with vectors only. */
typedef struct {
    const void *self;
    sbps_status (*product)(const void *self, const double *v, double *hv, sbps_error *err);
    double gradient_cost; /* cost of a gradient, in multiplications */
} metric_source;

/* Coordinates whose block of the Hessian is stored completely; the others have curvature
 * about 1 each. */
typedef struct {
    const size_t *at;
    size_t count;
} metric_core;

/* Creates a metric of low rank and a core, see products.c, from core->count products and 2 *
 * steps gradients' cost; steps 0: no eigenpairs. The caller destroys *out, NULL on failure. */
sbps_status metric_from_products(size_t d, const metric_core *core, size_t steps,
                                 metric_source h, metric **out, sbps_error *err);

/* Mean of u'Hu over the velocities u = A v, v uniform on the unit sphere: trace(A'HA) / d. */
sbps_status metric_mean_curvature(const metric *m, const double *hessian, double *out,
                                  sbps_error *err);
/* Draws such a velocity u; v is scratch. */
void metric_draw_direction(const metric *m, rng *random, double *v, double *u);

/* ---- warped coordinates ----
 *
 * w = centre + g(x) one by one, x = A z. For posteriors with a boundary on one side (half a
 * normal), which no linear map can make an ellipsoid. */

typedef struct {
    size_t j;    /* coordinate */
    double sign; /* +1: the boundary is below, -1: above */
    double unit; /* sd of x_j where z is standard normal */
    /* Scales on the side of the boundary and on the other, in units of w, as sds of a
     * normal: 0 < boundary < reach. */
    double boundary, reach; /* 0 < boundary < reach */
    /* where the boundary begins, relative to the centre, see metric.c; usually negative */
    double start;
} warp;

typedef struct {
    size_t count;
    /* A boundary runs between coordinates, such as two classes' coefficients of one level:
     * warping one of them does not straighten it. */
    bool oblique;
    warp list[];
} warps;

typedef struct {
    double value;          /* w - centre */
    double slope;          /* dw/dx > 0 */
    double log_slope_rate; /* d log(slope) / dx */
} warped;

/* g at x, and its derivatives. */
warped warp_at(const warp *b, double x);
/* The x of a value w - centre. */
double warp_inverse(const warp *b, double value);

#endif

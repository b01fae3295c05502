/* Metric: w = A z as two maps. Velocities live in z on the unit sphere, u = A v in w. */
#ifndef METRIC_METRIC_H
#define METRIC_METRIC_H

#include "base/status.h"

typedef struct metric_kind metric_kind;

typedef struct {
    const metric_kind *kind;
    size_t d;
    double *data; /* kind's own: nothing, d, or 2*d*d numbers */
} metric;

struct metric_kind {
    const char *name;
    /* From the Hessian of U at a reference (d*d, symmetric positive definite). */
    sbps_status (*build)(metric *m, const double *hessian, sbps_error *err);
    void (*forward)(const metric *m, const double *v, double *u);   /* u = A v */
    void (*transpose)(const metric *m, const double *g, double *h); /* h = A' g */
    void (*precision)(const metric *m, const double *x, double *y); /* y = (A A')^-1 x */
};

extern const metric_kind *const metric_kinds[]; /* NULL at the end: none, diagonal, dense */

sbps_status metric_create(const metric_kind *kind, size_t d, const double *hessian,
                          metric **out, sbps_error *err);
void metric_destroy(metric *m);

#endif

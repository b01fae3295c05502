/* Per-row numbers that a run needs at its reference point (control variate, influence and
 * reach of the rows), gathered during the passes over the rows that find the point. For
 * models evaluated at w itself only the sums are gathered. */
#ifndef POSTERIOR_ROW_CACHE_H
#define POSTERIOR_ROW_CACHE_H

#include "core/status.h"

struct control;
struct expansion;
struct influence_meter;
struct influence_target;
struct posterior;

typedef struct row_cache {
    const struct posterior *u;
    bool complete;              /* the numbers of every row at control->w are stored */
    struct control *control;    /* of second order; control_reduce makes it first order */
    struct influence_meter *in; /* NULL: influence is not requested */
    double *factor;             /* dim*dim: Cholesky factor of a Hessian near the reference */
    double *sum;                /* sums of the influence meter */
} row_cache;

/* Opens a cache. to: where influence is written, or NULL. *out must be closed also after a
 * failure. */
sbps_status row_cache_open(const struct posterior *u, const struct influence_target *to,
                           row_cache **out, sbps_error *err);
/* Frees the cache; NULL is fine. */
void row_cache_close(row_cache *g);

/* posterior_expand at w that also fills the cache, replacing what it held. near: the Hessian
 * at a point close to w; if it is not positive definite nothing is cached and `complete` is
 * false. */
sbps_status row_cache_expand(row_cache *g, const double *w, const double *near,
                             const struct expansion *out, sbps_error *err);

#endif

/* The mode of the posterior and the curvature there. */
#ifndef POSTERIOR_MODE_H
#define POSTERIOR_MODE_H

#include "linalg/metric/metric.h"
#include "posterior/full/row_cache.h"

typedef struct {
    double *w; /* dim: the mode */
    double *
        hessian; /* dim*dim there, made positive definite by a ridge where it was not; NULL: of mode_find_wide */
    double value;         /* U at the mode */
    double gradient_norm; /* in the metric of the Hessian: sqrt(g' H^-1 g) */
    double plain_norm;    /* |g| */
    double ridge;         /* added to the diagonal, relative to it; 0 mostly */
    bool bare; /* `hessian` is that of U itself: no ridge, kink or covariance in it */
    size_t iterations;
    double epochs;      /* passes through the rows of SAG; 0 for others */
    const char *method; /* that found it */
    sbps_error
        lost; /* why a path in the metric of `hessian` would not cross the posterior; SBPS_OK: it does */
} mode;

/* How a mode is to be found. */
typedef struct {
    const char *method; /* auto, newton, lbfgs, sag */
    double
        tolerance; /* of lbfgs and sag: they end at sqrt(g' H^-1 g) <= this; Newton at 1e-8 */
    double max_epochs; /* of sag */
    uint64_t seed;     /* of sag */
    size_t
        max_steps; /* of Newton: where there is no mode within so many, the best point reached takes its place; 0: all
                          that it takes, and a mode */
} mode_request;

/* For a model whose surface may have no mode within reach, the best point reached takes its
 * place: then `gradient_norm` is large and a ridge of 1e-3 or more shows in `ridge`.
 *
 * Newton with line search where the Hessian is affordable, L-BFGS to get near first. Starts from
 * `start` (NULL: zeros, log sigma at log sd(y)). SBPS_NO_MODE with a sentence that explains a
 * separable table with a flat prior (names the columns whose weights run away) and what to do. */
sbps_status mode_find(const posterior *u, const double *start, mode **out, sbps_error *err);
/* The same for a reference point: a fifth of a posterior sd a coordinate is near enough in a long table,
 * where that takes less than three passes over the rows. beside: NULL, or gathers at the point found; whole unless it says
 * otherwise. */
sbps_status mode_near(const posterior *u, const double *start, row_cache *beside, mode **out,
                      sbps_error *err);
/* The mode of the first rows, one in `share` of them or somewhat more, with a Hessian as of all; NULL: the table is
 * short, or these have no mode. */
mode *mode_of_part(const posterior *u, size_t one_in);
/* By the method asked for; one that cannot says which can. */
sbps_status mode_find_by(const posterior *u, const double *start, const mode_request *how,
                         mode **out, sbps_error *err);
/* Takes w as it is for the mode. precision: dim*dim in the Hessian's place, positive definite; NULL:
 * the Hessian at w. */
sbps_status mode_take(const posterior *u, const double *w, const double *precision, mode **out,
                      sbps_error *err);
/* Without a Hessian, in the scales of a metric: until |A' grad| <= goal, or no step lowers U. Coordinates that are held,
 * by dim, stay where they are; NULL: none is. */
sbps_status mode_find_wide(const posterior *u, const double *start, const metric *a,
                           const bool *held, double goal, mode **out, sbps_error *err);
void mode_destroy(mode *m);

#endif

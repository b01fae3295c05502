/* Linear response of means and sds to missed bounces: bias_response.c has the mathematics. The
 * full response uses draws of the posterior; the quick one its first order only, with the
 * covariance at the mode, for progress reports and where draws are too few. */
#ifndef ESTIMATE_BIAS_RESPONSE_H
#define ESTIMATE_BIAS_RESPONSE_H

#include "core/status.h"
#include "estimate/bias.h"

/* y = (d Cov(u))^-1 x; (A A')^-1 x for velocities uniform on a sphere mapped by A. */
typedef struct {
    const void *self;
    void (*apply)(const void *self, const double *x, double *y);
} precision_map;

/* Draws of the posterior in w, less the centre: `count` rows of dim numbers. */
typedef struct {
    const double *x;
    size_t count;
} draw_block;

/* The relative error of the linear response itself: where the truth was resolved it was 0.7 to
 * 1.3 times the stated bias. */
#define BIAS_REL_ERROR 0.15

/* Shift of every mean in posterior sds and relative error of every sd, each with its standard
 * error. The latter two are NAN if the second order is not kept. Memory of the caller, dim
 * each. */
typedef struct {
    double *mean, *mean_error, *sd, *sd_error;
} bias_statement;

/* Computes the statement from all chains; `blocks` holds the draws of each. Returns
 * SBPS_BAD_ARG if the draws do not span the space. */
sbps_status bias_respond(const bias *chains, size_t count, const draw_block *blocks,
                         precision_map map, const bias_statement *out, sbps_error *err);

/* ---- first order, with the covariance at the mode ---- */

typedef struct {
    precision_map map;
    const double *factor; /* dim*dim: Cholesky factor of the Hessian H at the mode */
    const double *sd;     /* dim: posterior sds of w */
} quick_response;

/* Computes H^-1 P (d/T) push, P the map: the shift of every mean in posterior sds. */
void quick_shift(const quick_response *q, size_t dim, double time, const double *push,
                 double *shift);
/* Returns the largest shift by the sums of all chains; NAN: no memory. */
double quick_worst(const quick_response *q, const bias *chains, size_t count);
/* As bias_respond; sd and sd_error are NAN. */
sbps_status quick_respond(const quick_response *q, const bias *chains, size_t count,
                          const bias_statement *out, sbps_error *err);

#endif

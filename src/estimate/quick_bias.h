/* The first order of the response alone (see response.c), with the covariance that the mode promises in
 * place of that of draws: for progress, and where draws are too few. */
#ifndef ESTIMATE_QUICK_BIAS_H
#define ESTIMATE_QUICK_BIAS_H

#include "estimate/bias.h"

typedef struct {
    precision_map map;
    const double *factor; /* dim*dim: Cholesky of the Hessian H at the mode */
    const double *sd;     /* dim: of the posterior, of w */
} quick_response;

/* H^-1 P (d/T) push, P the map: shift of every mean, in posterior sds. */
void quick_shift(const quick_response *q, size_t dim, double time, const double *push,
                 double *shift);
/* The largest of all chains together; NAN: no memory. */
double quick_worst(const quick_response *q, const bias *chains, size_t count);
/* As bias_respond; nothing is known of sds. */
sbps_status quick_respond(const quick_response *q, const bias *chains, size_t count,
                          const bias_statement *out, sbps_error *err);

#endif

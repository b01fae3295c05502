/* Models: what one row says about w. A predictor model sees batches of the linear predictor
 * eta = x.w (+ offset), of its rate d eta/dt along a flight, and of y; a model may also have one
 * auxiliary coordinate `aux` that is no coefficient (linear: log sigma). It knows nothing of
 * mini-batches, N/n, priors, samplers or files. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "base/kernels.h"
#include "base/rng.h"
#include "data/rows.h"

typedef struct {
    const kernels *k;
    size_t n;
    const double *eta, *y;
    const double *deta; /* NULL where no slope is asked */
    double aux, daux;   /* the auxiliary coordinate and its rate; 0 without one */
} batch;

typedef struct model_kind {
    const char *name;
    const char *summary;
    const char *aux_name; /* NULL: the model has none. Reported as exp(aux). */
    /* Are these targets possible? Names the row (before the shuffle unknown: the value). */
    sbps_status (*check)(const rows *r, sbps_error *err);
    /* log p(y | eta, aux) per row, every constant included */
    void (*loglik)(const batch *b, double *out);
    /* d/dt log p along the flight, per row */
    void (*slope)(const batch *b, double *out);
    /* d log p / d eta per row; d log p / d aux per row unless d_aux is NULL */
    void (*gradient)(const batch *b, double *d_eta, double *d_aux);
    /* second derivatives per row: eta-eta; eta-aux and aux-aux unless NULL */
    void (*curvature)(const batch *b, double *ee, double *ea, double *aa);
    /* Optional: one y given eta and aux. NULL: cannot be simulated. */
    double (*simulate)(rng *r, double eta, double aux);
    /* Scale of y for default priors: sd(y) for linear, 1 (NULL) otherwise. */
    bool scales_with_target;
} model_kind;

extern const model_kind *const model_kinds[]; /* NULL at the end */

const model_kind *model_find(const char *name); /* NULL when unknown */

#endif

/* A check of models written by the user: do gradient and slope agree with differences of the
 * log-likelihood? */
#ifndef MODEL_AGREEMENT_H
#define MODEL_AGREEMENT_H

#include "core/status.h"

/* A user's model, one row at a time. All members are required unless marked. */
typedef struct {
    const char *label; /* begins error messages: file or name of the model */
    const void *self;  /* passed to every function; borrowed */
    size_t dim, rows;
    /* log p of a row at w */
    double (*loglik)(const void *self, size_t row, const double *w);
    /* its gradient, dim numbers */
    void (*gradient)(const void *self, size_t row, const double *w, double *out);
    /* Its derivative along u; scratch has dim numbers. NULL: the gradient times u. */
    double (*slope)(const void *self, size_t row, const double *w, const double *u,
                    double *scratch);
    /* The name of parameter j, for messages. */
    void (*name)(const void *self, size_t j, size_t size, char *text);
    /* Where the search for the mode begins; the check is made near it. */
    void (*start)(const void *self, double *w);
} own_model;

/* Compares gradient and slope of a few rows with central differences of loglik at a random
 * point near the start. SBPS_BAD_FILE: they disagree; the message names the parameter. */
sbps_status agreement_check(const own_model *m, sbps_error *err);

#endif

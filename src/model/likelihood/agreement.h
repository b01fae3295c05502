/* Models of the user's own: are their derivatives those of their values? */
#ifndef MODEL_AGREEMENT_H
#define MODEL_AGREEMENT_H

#include "core/status.h"

typedef struct {
    const char *label; /* for sentences */
    const void *self;
    size_t dim, rows;
    double (*loglik)(const void *self, size_t row, const double *w);
    void (*gradient)(const void *self, size_t row, const double *w, double *out);
    /* scratch: dim. NULL: the gradient times u */
    double (*slope)(const void *self, size_t row, const double *w, const double *u,
                    double *scratch);
    void (*name)(const void *self, size_t j, size_t size, char *text);
    void (*start)(const void *self, double *w);
} own_model;

/* A few rows at a random point near the start: gradient and slope against differences of loglik. */
sbps_status agreement_check(const own_model *m, sbps_error *err);

#endif

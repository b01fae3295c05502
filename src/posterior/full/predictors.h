/* The linear predictors of a run of rows, at a point and along a direction. For models that see w through
 * them, and the files of this folder. */
#ifndef POSTERIOR_PREDICTORS_H
#define POSTERIOR_PREDICTORS_H

#include "posterior/full/posterior.h"

/* A point and a direction as the rows want them. */
typedef struct {
    double *p, *q;            /* padded to the stride; q NULL: along nothing */
    const double *aux, *daux; /* in w and v, which are borrowed */
} padded_line;

/* w and, unless it is NULL, v. Give back with free(line->p). */
sbps_status padded_line_open(padded_line *line, const posterior *u, const double *w,
                             const double *v, sbps_error *err);
/* eta and, where there is a direction, its rate deta, each as long as the run; y lies in the table, or is NULL. What is
 * said about one auxiliary is a run away from what is said about the next. */
batch predictors_of(const posterior *u, row_range run, const padded_line *line, double *eta,
                    double *deta);
/* Each value times its row's weight. */
void predictors_weigh(const posterior *u, row_range run, double *values);

#endif
